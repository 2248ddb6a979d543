"""jmx=: the MBeans by a JMX client over RMI, lazily, under the Java tracker's name, and without java.management."""

import subprocess
import time

import harness
from attach import NO_LEAK_DETECTOR, Program
from harness import Case, Scenario
from snapshot import same

READ = {"note": "3 192 heap", "LeakedBuffers": "3", "LeakedBytes": "192", "Lives": "3", "ActiveFlows": "0",
        "RootCount": "1", "LeakPaths": "1", "Formats": "true", "tree": "true", "json": "true",
        "binary": "!bbflow: no such text format: 'pprof'; the attribute Formats has them", "Status": "true",
        "export": "true", "exported": "true", "again": "true", "refused": "true", "kept": "mine",
        "reset": "counters are zero, nodes and open lives stay", "LeakedBuffers after": "0", "done": "yes"}
COMPAT = {"compat": "true", "ActiveFlowCount": "0", "RootCount": "1", "TreeView": "true", "LLMView": "true",
          "Summary": "=== ByteBuf Flow Tracking Status ==="}


def read(run):
    """What the client printed is what the program did."""
    lines = dict(line[4:].split("=", 1) for line in run.stdout.splitlines() if line.startswith("JMX "))
    for key, value in {**READ, **(COMPAT if "compat" in run.case.args else {"compat": "false"})}.items():
        same(key, lines.get(key), value)
    assert "Steps.leaky" in lines["line"], lines["line"]
    assert lines["unknown"].startswith("!bbflow: Unknown format: word; supported formats: "), lines["unknown"]


def status(pid, env):
    text = subprocess.run([harness.CLIENT, "status", pid], stdout=subprocess.PIPE, env=env, check=True, text=True).stdout
    return "".join(line[19:] for line in text.splitlines() if line.startswith("jmx "))


def until(words, pid, env):
    end = time.time() + 20
    while status(pid, env) != words:
        assert time.time() < end, f"{words!r}: {status(pid, env)!r}"
        time.sleep(0.2)


def without_module(bench):
    """lazy waits and makes no server; in a JVM without java.management jmx=on is refused, and the program runs."""
    jvm = [NO_LEAK_DETECTOR, "-Xlog:class+load:stdout", f"-agentpath:{harness.AGENT}=include=com.app,jmx=lazy"]
    with Program(bench, "losing", ready="READY", jvm=jvm) as program:
        until("waits: nothing has made the platform MBean server yet", str(program.pid), bench.env)
        assert "java.lang.management.ManagementFactory" not in program.read(0)
        subprocess.run([harness.CLIENT, "set", str(program.pid), "jmx=on"], env=bench.env, check=True, stdout=subprocess.DEVNULL)
        until("registered as io.bbflow:type=Tracker", str(program.pid), bench.env)
        subprocess.run([harness.CLIENT, "set", str(program.pid), "jmx=off"], env=bench.env, check=True, stdout=subprocess.DEVNULL)
        until("", str(program.pid), bench.env)
        same("exit", program.end(), 0)
    jvm = [NO_LEAK_DETECTOR, "--limit-modules=java.base,java.logging,jdk.unsupported",
           f"-agentpath:{harness.AGENT}=include=com.app,jmx=on"]
    with Program(bench, "losing", ready="READY", jvm=jvm) as program:
        until("no MBean is registered: this JVM has no module java.management", str(program.pid), bench.env)
        same("exit", program.end(), 0)


def gone(bench):
    """Neither `set jmx=off` nor `stop` leaves an MBean behind."""
    jvm = [NO_LEAK_DETECTOR, f"-agentpath:{harness.AGENT}=include=com.app,jmx=compat"]
    for command in (["set", "jmx=off"], ["stop"]):
        with Program(bench, "jmx", "gone", ready="REGISTERED", jvm=jvm) as program:
            program.ask(command[0], str(program.pid), *command[1:])
            program.wait_for("GONE")


def cases():
    yield Case("jmx/lazy", "com.app.Probes", "jmx", agent="include=com.app,jmx=lazy", check=read, own_jvm=True,
               jvm=(NO_LEAK_DETECTOR,), short=(25,))
    yield Case("jmx/compat", "com.app.Probes", "jmx", "compat", agent="include=com.app,jmx=compat", check=read,
               own_jvm=True, jvm=(NO_LEAK_DETECTOR,), short=(17,))
    yield Scenario("jmx/gone", gone, short=(17,))
    yield Scenario("jmx/without-module", without_module, short=(25,))
