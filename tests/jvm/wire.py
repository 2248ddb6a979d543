"""Beside the real BTrace 2.2.6 (issue 8): its codec, its agent, its client."""

import functools
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import other_agents
import harness
import tcp
from harness import OUT, ROOT, Scenario, javac, tool
from snapshot import same

VERSION = "2.2.6"
SOURCES = os.path.join(ROOT, "tests/jvm/wire")
CODEC = os.path.join(os.path.dirname(harness.BODIES), "wire_codec")


@functools.lru_cache(None)
def btrace():
    """Folder of BTrace's three jars under the names that it looks for beside each other."""
    folder = os.path.join(OUT, "btrace")
    os.makedirs(folder, exist_ok=True)
    names = ("agent", "boot", "client")
    for name, jar in zip(names, other_agents.jars(*(f"io.btrace:btrace-{n}:{VERSION}" for n in names))):
        # Another worker's JVM may read the jar at its name.
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as copy:
            shutil.copy(jar, copy.name)
        os.replace(copy.name, os.path.join(folder, f"btrace-{name}.jar"))
    return folder


def jars():
    return ":".join(os.path.join(btrace(), f"btrace-{n}.jar") for n in ("client", "boot", "agent"))


def compile_here(bench, *names):
    subprocess.run([javac(), "-encoding", "UTF-8", "--release", "11", "-nowarn", "-cp", jars(),
                    "-d", bench.folder,
                    *(os.path.join(SOURCES, n + ".java") for n in names)], check=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_listening(port):
    end = time.time() + 60
    while time.time() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"no process listens on {port}")


def stock_env():
    return {"JAVA_HOME": os.path.dirname(os.path.dirname(tool("java")))}


def stock_command():
    """The stock client's command line; it runs on 17, whatever the application has."""
    return [tool("java"), "--add-exports", "jdk.internal.jvmstat/sun.jvmstat.monitor=ALL-UNNAMED",
            "-cp", jars(), "org.openjdk.btrace.client.Main"]


def stock(bench, *args, code=0):
    done = bench.run([*stock_command(), *args], env=stock_env())
    same(f"exit of btrace {args}: {done.stdout[-500:]}{done.stderr[-500:]}", done.returncode, code)
    return done.stdout


def ours(bench, *args, code=0):
    done = bench.run([harness.CLIENT, *args])
    same(f"exit of bbflow {args}: {done.stdout[-300:]}{done.stderr}", done.returncode, code)
    return done.stdout


def watch_until(bench, target, words, *flags):
    """bbflow watch until all words have come, then Ctrl-C: its output."""
    path = bench.path("watched")
    with open(path, "w", encoding="utf-8") as out:
        process = subprocess.Popen([harness.CLIENT, "watch", target, *flags], stdout=out,
                                   stderr=subprocess.DEVNULL, env=bench.env)
        end = time.time() + 60
        text = ""
        while time.time() < end and process.poll() is None and not all(w in text for w in words):
            time.sleep(0.1)
            with open(path, encoding="utf-8") as file:
                text = file.read()
        process.send_signal(signal.SIGINT)
        same("exit of watch", process.wait(30), 0)
    for word in words:
        assert word in text, f"no {word!r} in {text[-500:]!r}"
    return text


# ---- the codec -----------------------------------------------------------------------------------

def codec(bench):
    """Every command that the real writer writes, read and written again by us, is to the real
    reader what it was."""
    compile_here(bench, "Codec")
    java = [tool("java"), "-cp", f"{bench.folder}:{jars()}", "Codec"]
    theirs, copy = bench.path("theirs"), bench.path("ours")
    same("write", bench.run([*java, "write", theirs]).returncode, 0)
    done = bench.run([CODEC, "copy", theirs, copy])
    same(f"copy: {done.stderr}", done.returncode, 0)
    expected, got = (bench.run([*java, "show", path]).stdout.splitlines()
                     for path in (theirs, copy))
    same("commands", len(expected), 27)
    same("the last line", expected[-1], "end")
    for one, other in zip(expected, got):
        same("read from our stream", other, one)
    same("our commands", len(got), len(expected))


# ---- the real agent, our client ----------------------------------------------------------------------

def stock_agent(bench):
    """bbflow beside an agent of BTrace 2.2.6: list, watch and event of a probe; the probe stays."""
    compile_here(bench, "Loop")
    port = free_port()
    target = f"127.0.0.1:{port}"
    agent = os.path.join(btrace(), "btrace-agent.jar")
    process = subprocess.Popen([bench.jdk.java, f"-javaagent:{agent}=port={port}", "-cp",
                                bench.folder, "Loop"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env=bench.env, cwd=bench.folder)
    try:
        same("first line", process.stdout.readline(), "READY\n")
        wait_listening(port)
        same("no probe yet", ours(bench, "list", target, "--protocol", "1"), "")
        stock(bench, "-host", "localhost", "-p", str(port), "-x", str(process.pid),
              os.path.join(SOURCES, "Trace.java"))
        line = ours(bench, "list", target)
        found = re.fullmatch(r"([0-9a-f-]{36}) \[.*Trace\]\n", line)
        assert found, line
        probe = ("--protocol", "1", "--probe", found[1])
        text = watch_until(bench, target, ("tick", "answer = 42", "sizes", "value: count", "calls"),
                           *probe)
        assert re.search(r"^  work  +\d+$", text, re.M), text
        same("the probe stays", ours(bench, "list", target, "--protocol", "1"), line)
        ours(bench, "event", target, "hello", *probe)
        done = bench.run([harness.CLIENT, "status", target, "--protocol", "1"])
        same("no bbflow there", done.returncode, 3)
        assert "no bbflow probe" in done.stderr, done.stderr
        assert process.poll() is None
    finally:
        process.stdin.close()
        process.wait(30)


# ---- the real client, our agent ----------------------------------------------------------------------

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def alive(bench, process, probe):
    """The application and its tracker keep running."""
    assert process.poll() is None
    same("the probe", ours(bench, "list", str(process.pid)), f"{probe} [bbflow]\n")
    assert "LEAK" in ours(bench, "tree", "--gc", str(process.pid))


def marked(bench, pid):
    """Its -l has "(+)" where btrace.port is set. It asks every JVM of this user, and a foreign one
    that ends or does not answer meanwhile breaks the list off or holds it up: then once more."""
    for _ in range(6):
        try:
            done = bench.run([*stock_command(), "-l"], env=stock_env(), timeout=15)
        except subprocess.TimeoutExpired:
            continue
        if any(line.startswith(f"(+) {pid} ") for line in done.stdout.splitlines()):
            return True
    return False


def stock_client(bench):
    """BTrace 2.2.6's own command line against bbflow with auth=off, command by command."""
    with tcp.program(bench, "port=0,auth=off") as process:
        pid = str(process.pid)
        port = tcp.properties(bench, process)["btrace.port"]
        there = ("-host", "localhost", "-p", port)
        probe = re.fullmatch(f"({UUID}) \\[bbflow\\]\n", ours(bench, "list", f"localhost:{port}"))[1]
        ours(bench, "tree", "--gc", pid)
        tree = stock(bench, *there, "-r", probe, "event", "tree", pid)
        assert "LEAK" in tree and "Steps.leaky" in tree, tree
        assert "tree" in stock(bench, *there, "-r", probe, "event", "help", pid)
        alive(bench, process, probe)
        # A script is refused, whether the client stays or not.
        for flags in ((), ("-x",)):
            stock(bench, *there, *flags, pid, os.path.join(SOURCES, "Trace.java"), code=1)
        alive(bench, process, probe)
        stock(bench, *there, "-r", "00000000-0000-0000-0000-000000000000", pid, code=1)
        interrupted(bench, process, there, probe)
        alive(bench, process, probe)
        assert marked(bench, pid)
        # Its -lp loads BTrace's own agent into the application, which finds its port taken.
        assert f"{probe} [bbflow]" in stock(bench, "-p", port, "-lp", pid)
        alive(bench, process, probe)


def interrupted(bench, process, there, probe):
    """Ctrl-C in the stream: the client sends EXIT, and the tracker keeps running."""
    path = bench.path("stream")
    with open(path, "w", encoding="utf-8") as out:
        client = subprocess.Popen([*stock_command(), *there, "-r", probe, str(process.pid)],
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                  env={**bench.env, **stock_env()}, cwd=bench.folder)
        end = time.time() + 60
        while time.time() < end and "LEAK" not in open(path, encoding="utf-8").read():
            assert client.poll() is None, open(path, encoding="utf-8").read()
            ours(bench, "tree", "--gc", str(process.pid))  # finds what leaked
            time.sleep(0.2)
        client.send_signal(signal.SIGINT)
        client.wait(30)
    text = open(path, encoding="utf-8").read()
    assert "LEAK" in text, text


def our_client(bench):
    """bbflow over TCP, with the token that the JVM's property names, v2 and v1; watch."""
    with tcp.program(bench, "port=0") as process:
        found = tcp.properties(bench, process)
        target = "127.0.0.1:" + found["btrace.port"]
        same("no token", bench.run([harness.CLIENT, "status", target]).returncode, 4)
        token = ("--token-file", found["btrace.auth.tokenFile"])
        for protocol in ("1", "2", "auto"):
            flags = (*token, "--protocol", protocol)
            tree = ours(bench, "tree", "--gc", target, *flags)
            assert "LEAK" in tree and "Steps.leaky" in tree, tree
            same(f"{protocol}: set", ours(bench, "set", target, "maxDepth=77", *flags)[:8], "maxDepth")
            assert "maxDepth=77" in ours(bench, "status", target, *flags)
            assert "tree" in ours(bench, "event", target, "help", *flags)
            assert re.fullmatch(f"{UUID} \\[bbflow\\]\n", ours(bench, "list", target, *flags))
        text = watch_until(bench, target, ("LEAK ", "Steps.leaky"), *token)
        assert re.search(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d LEAK ", text, re.M), text
        assert "LEAK" in ours(bench, "tree", target, *token)  # the tracker still runs


def cases():
    yield Scenario("wire/codec", codec, jdk=(17,), quick=True)
    # Its runtime fails to load on 25.
    yield Scenario("wire/stock agent", stock_agent, jdk=(17,))
    yield Scenario("wire/stock client", stock_client, short=(17,))
    yield Scenario("wire/our client", our_client, quick=True, short=(17,))
