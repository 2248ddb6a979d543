"""handlers=: the application's MetricHandlers, found in every way, get each loss once (docs/java-api.md)."""

import json
import os
import re
import subprocess
import time

import harness
from attach import NETTY, NO_LEAK_DETECTOR, Program
from harness import ROOT, Case, Scenario, class_path
from snapshot import Snapshot, same

API = os.path.join(ROOT, "build/release/bbflow-api.jar")
SERVICES = "META-INF/services/com.example.bytebuf.api.metrics.MetricHandler"


def compiled(sources):
    return ("handlers", NETTY, sources, lambda: [API])


def libraries():
    """The API, and a folder that names the services."""
    folder = os.path.join(harness.OUT, "handlers-services")
    os.makedirs(os.path.join(folder, os.path.dirname(SERVICES)), exist_ok=True)
    with open(os.path.join(folder, SERVICES), "w", encoding="utf-8") as file:
        file.write("com.hand.Service\n")
    return [API, folder]


def status(run):
    lines = [line for line in run.client("status", str(run.pid))[0].splitlines() if line.startswith("handlers ")]
    return "".join(line[19:] for line in lines)


def until(run, good):
    end = time.time() + 60
    while not good(status(run)):
        assert time.time() < end, status(run)
        time.sleep(0.2)


def off_and_on(run):
    """set handlers=off and on: the registered handlers get the losses from then on."""
    until(run, lambda text: text.startswith("3 in 1 copies of the API; ") and text.endswith("; failures: 0"))
    run.client("set", str(run.pid), "handlers=off")
    until(run, lambda text: text == "")
    run.client("set", str(run.pid), "handlers=lazy")
    until(run, lambda text: " in 1 copies of the API; " in text)


def sums(run):
    lines = [line[4:] for line in run.stdout.splitlines() if line.startswith("SUM ")]
    same("sums", sorted(lines), sorted(
        f"{loader} {name} {direct} {0 if name == 'Named' else heap} made 1"
        for loader, direct, heap in (("first", 3, 2), ("other", 1, 0), ("both", 4, 2), ("again", 6, 2))
        for name in ("Named", "Registered", "Service")))
    assert "UNLOADED true\n" in run.stdout, run.stdout
    assert "REGISTERED 2\n" in run.stdout, run.stdout
    root = "io.netty.buffer.UnpooledByteBufAllocator."
    same("flows", {line for line in run.stdout.splitlines() if line.startswith("FLOW ")}, {
        f"FLOW {count} {kind} root={root}{kind}Buffer|final_ref=1|path="
        f"{root}{kind}Buffer[ref=1] -> com.hand.Main.lose{kind.capitalize()}[ref=1] -> com.hand.Main.keep[ref=1]"
        for kind, count in (("direct", 6), ("heap", 2))})
    same("leaked", run.json.totals["leaked"], 8)


def stop_and_attach(run):
    """With a handler that hangs: stop does not wait for it, and the next attach does not call it again."""
    until(run, lambda text: re.match(r"8 in 1 copies of the API; snapshots: \d+ delivered, \d+ left out because the "
                                     r"handler was busy \([12] now\); failures: \d\d", text))
    begin = time.time()
    run.client("stop", str(run.pid))
    assert time.time() - begin < 20, time.time() - begin
    run.client("attach", "--agent", harness.AGENT, str(run.pid), "include=com.hand", "handlers=on", "pushInterval=1s",
               f"file={run.json_path}")
    until(run, lambda text: text.startswith("8 in 1 copies of the API; "))


def hostile(run):
    for line in ("SUMS first", "SUMS again", "HANGS 1, PUSHERS 1"):
        assert line + "\n" in run.stdout, run.stdout
    assert "WRONG" not in run.stdout, run.stdout


NODES = [("com.user.Pool.take[1]", "5 0 0"), ("take > com.user.Work.run[1]", "3 0 1"),
         ("take > run > com.user.Pool.giveBack[1]", "2 0 0"),
         ("take > run > giveBack > com.hand.Manual$Lease.closed[0]", "2 2 0"),
         ("take > com.user.Work.run[3]", "2 0 1"), ("take > run > com.user.Pool.giveBack[3]", "1 0 0"),
         ("take > run > giveBack > com.hand.Manual$Lease.closed[0]", "1 1 0")]

HEAP = "io.netty.buffer.UnpooledByteBufAllocator.heapBuffer"
MANUAL = [
    "REFUSED in the handler",
    "STATS true Seen: 14, Cleaned: 9, Leaked: 5 (35.71%), GC-detected: 5, Active: 0",
    "TRIE 5 true 5000 50 [com.hand.Files$Handle.<init>, com.hand.Manual$Connection.<init>, com.hand.Manual$Pooled.<init>, "
    "com.user.Pool.take, " + HEAP + "]",
    *(f"NODE {name} {counts}" for name, counts in NODES),
    "TREE true true true false",
    "HANDLERS 2 com.hand.Manual$Connection",
    "RESET 0 0 Seen: 0, Cleaned: 0, Leaked: 0 (0.00%), GC-detected: 0, Active: 0",
    "MANY Seen: 8000, Cleaned: 8000, Leaked: 0 (0.00%), GC-detected: 0, Active: 0"]


def manual(run):
    """bbflow-api.jar as the Java tracker's users call it: 5 leases, 3 buffers, 4 and 2 objects of handlers."""
    same("the program", run.stdout.splitlines(), MANUAL)
    for name in ("misuse", "undone", "unknown", "dropped_lives", "raced_steps", "internal_errors", "steps_after_release"):
        same(name, run.json.totals.get(name, 0), 0)


PROPERTIES = [
    "bbflow has no property bytebuf.tracker.maxNode; it has bytebuf.tracker.maxNodes, bytebuf.tracker.maxDepth and "
    "bytebuf.metrics.pushInterval",
    "-Dbytebuf.tracker.maxDepth=9,include=x is no number; it is ignored",
    "-Dbytebuf.tracker.maxNodes: option 'maxNodes': 99999999 is out of range; it takes 1 to 1048576; it is ignored",
    "-Dbytebuf.metrics.pushInterval=1m is no number of seconds from 1 to 86400; it is 60"]


def come_and_go(bench):
    """The API before bbflow, attached, stopped, attached again; a loader with a copy of it is unloaded."""
    process = subprocess.Popen(
        [bench.jdk.java, "-XX:+EnableDynamicAgentLoading", NO_LEAK_DETECTOR, "-Dbytebuf.tracker.maxNode=1",
         "-Dbytebuf.tracker.maxDepth=9,include=x", "-Dbytebuf.tracker.maxNodes=99999999", "-Dbytebuf.metrics.pushInterval=1m", "-cp",
         ":".join([harness.class_path("handlers", NETTY), API]), "com.hand.Manual", "rounds"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=bench.env, text=True)
    pid = str(process.pid)

    def client(*args):
        done = bench.run([harness.CLIENT, *args])
        same(f"bbflow {args[0]}: exit code ({done.stderr.strip()})", done.returncode, 0)
        return done.stdout

    def turn(byte="m"):
        process.stdin.write(byte)
        process.stdin.flush()
        return process.stdout.readline().rstrip("\n")

    def totals():
        t = Snapshot(client("dump", "--gc", pid)).totals
        return [t[name] for name in ("lives", "released", "leaked", "live", "unknown")]

    nothing = "MADE Seen: 0, Cleaned: 0, Leaked: 0 (0.00%), GC-detected: 0, Active: 0"
    try:
        same("the program", process.stdout.readline(), "READY\n")
        same("without bbflow", turn(), nothing)
        client("attach", "--agent", harness.AGENT, pid, "include=com.hand")
        time.sleep(1.1)  # the API looks for bbflow once a second
        assert turn().startswith("MADE Seen: 4, Cleaned: 2, Leaked: "), "attached"
        same("attached", totals(), [4, 2, 2, 0, 0])
        same("a kind that is no class", turn("n"), "HANDLERS 2")
        same("another loader", turn("u"), "UNLOADED true")
        same("with it", totals(), [5, 2, 3, 0, 0])
        client("stop", pid)
        same("stopped", turn(), nothing)
        client("attach", "--agent", harness.AGENT, pid, "include=com.hand")
        turn()
        same("again, without the handler", totals(), [2, 1, 1, 0, 0])
        process.stdin.close()
        lines = harness.agent_lines(process.stderr.read())
        same("stderr", sorted(lines), sorted(2 * [f"[bbflow] error: {line}" for line in PROPERTIES] + [
            "[bbflow] error: an object type was not registered: track: 'no class + at:all:close' is not one class"]))
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()
        process.stderr.close()


def beans(bench):
    """jmx=lazy under -Xcheck:jni: a listener that hangs keeps neither `set jmx=off` nor the next listener; long texts over RMI."""
    jvm = [NO_LEAK_DETECTOR, "-Xcheck:jni", f"-agentpath:{harness.AGENT}=include=com.hand,jmx=lazy"]
    with Program(bench, main="com.hand.Beans", ready="READY", jvm=jvm,
                 path=":".join([harness.class_path("handlers", NETTY), API])) as program:
        begin = time.time()
        program.ask("set", str(program.pid), "jmx=off")
        program.wait_for("GONE\n")
        assert time.time() - begin < 30, time.time() - begin
        program.ask("set", str(program.pid), "jmx=lazy")
        program.wait_for("HEARD")
        same("exit", program.end(), 0)
        out = program.read(0)
    same("the program, and no warning of -Xcheck:jni", out.splitlines(), [
        "HUNG true", "LLM true [cut: the first N of N bytes; exportToFile and 'bbflow dump' have all]",
        "JSON bbflow: json: the document is longer than 1048576 bytes; use exportToFile", "SUMMARY true", "READY", "GONE",
        "HEARD true 1"])


def bare_image(bench):
    """An image by jlink without java.management: jmx=on is refused, the program runs, and so does the API."""
    image = os.path.join(harness.OUT, "bare-image")
    if not os.path.exists(os.path.join(image, "bin/java")):
        subprocess.run([harness.tool("jlink"), "--add-modules", "java.base,java.logging,jdk.unsupported", "--output", image],
                       check=True)
    done = bench.run([os.path.join(image, "bin/java"), NO_LEAK_DETECTOR,
                      f"-agentpath:{harness.AGENT}=include=com.hand,jmx=on,handlers=on", "-Dobject.tracker.handlers=com.hand.Files",
                      "-Dbytebuf.tracker.maxNodes=5000", "-Dbytebuf.tracker.maxDepth=50", "-cp",
                      ":".join([harness.class_path("handlers", NETTY), API]), "com.hand.Manual"])
    same("exit", done.returncode, 0)
    same("stderr", harness.agent_lines(done.stderr),
         ["[bbflow] error: jmx: no MBean is registered: this JVM has no module java.management"])
    same("the program", done.stdout.splitlines(), MANUAL)


def sums_of(program):
    """(direct buffers, snapshots) that the handler got so far."""
    program.tell("sums")
    found = re.findall(r"^SUMS (\d+) 0 made 1 in (\d+)$", program.read(0), re.M)
    assert found, program.read(0)
    return int(found[-1][0]), int(found[-1][1])


def until_sums(program, good):
    end = time.time() + 60
    while not good(*sums_of(program)):
        assert time.time() < end, sums_of(program)
        program.tell("gc")
        time.sleep(0.1)


def leaked(program):
    return json.loads(program.ask("dump", str(program.pid)))["totals"]["leaked"]


def reset_between(bench):
    """Losses between a snapshot and a reset are in no snapshot; those after it are in one."""
    path = ":".join([class_path("handlers", NETTY), *libraries()])
    with Program(bench, main="com.hand.OnRequest", ready="READY", path=path, jvm=[
            NO_LEAK_DETECTOR, f"-agentpath:{harness.AGENT}=include=com.hand,handlers=on,pushInterval=1s"]) as program:
        pid, lost = str(program.pid), 3
        program.tell("lose 3")
        until_sums(program, lambda direct, _: direct == 3)
        program.ask("set", pid, "pushInterval=1h")
        delivered = lost  # a snapshot that was under way at the set may have had what is lost now: then once more
        for _ in range(5):
            program.tell("lose 2")
            lost += 2
            end = time.time() + 60
            while leaked(program) != lost:
                assert time.time() < end, leaked(program)
                program.tell("gc")
                time.sleep(0.1)
            delivered, snapshots = sums_of(program)
            if delivered == lost - 2:
                break
        same("not delivered before the reset", lost - delivered, 2)
        program.ask("reset", pid)
        same("leaked after the reset", leaked(program), 0)
        program.ask("set", pid, "pushInterval=1s")
        program.tell("lose 1")
        until_sums(program, lambda direct, n: direct == delivered + 1 and n > snapshots)
        _, snapshots = sums_of(program)
        until_sums(program, lambda _, n: n > snapshots + 1)
        same("delivered in all", sums_of(program)[0], delivered + 1)


def cases():
    yield Scenario("handlers/reset between", reset_between, jdk=(25,), short=(25,), classes="handlers")
    yield Case("handlers/api", "com.hand.Manual", agent="include=com.hand", classes="handlers", libraries=libraries,
               check=manual, jvm=(NO_LEAK_DETECTOR, "-Dbytebuf.tracker.maxNodes=5000", "-Dbytebuf.tracker.maxDepth=50",
                    "-Dobject.tracker.handlers=com.hand.Files"),
               own_jvm=True)
    yield Scenario("handlers/api, attach, stop, attach", come_and_go, short=(25,), classes="handlers")
    yield Scenario("jmx/hanging listener", beans, short=(17,), classes="handlers")
    yield Scenario("jmx/bare image", bare_image, jdk=(17,), short=(), classes="handlers")  # jlink takes 20 s
    yield Case("handlers/push", "com.hand.Main", agent="include=com.hand,handlers=on,pushInterval=1s",
               classes="handlers", libraries=libraries, live=off_and_on, check=sums,
               jvm=(NO_LEAK_DETECTOR, "-Dmetric.handlers=com.hand.Named"), short=(25,))
    yield Case("handlers/hostile", "com.hand.Hostile", agent="include=com.hand,handlers=on,pushInterval=1s",
               classes="handlers", libraries=libraries, live=stop_and_attach, check=hostile,
               jvm=(NO_LEAK_DETECTOR, "-Dmetric.handlers=com.hand.Missing, com.hand.Hostile$Hidden,com.hand.Main,"
                    "com.hand.Hostile$Initialized"), short=(17,))
