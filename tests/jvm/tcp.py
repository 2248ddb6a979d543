"""TCP on the loopback (issue 8): discovery, the token, both protocols, the live stream. The peers are
bare bytes; the stock client has tests of its own."""

import contextlib
import os
import re
import socket
import struct
import subprocess
import sys
import time

import harness
from harness import AGENT, CLIENT, Scenario, class_path
from snapshot import same

NETTY = "4.1.140.Final"
V1 = b"\xAC\xED\x00\x05"


@contextlib.contextmanager
def program(bench, options, *flags):
    """com.app.Probes serve, which leaks at two places; ends in order."""
    process = subprocess.Popen([bench.jdk.java, f"-agentpath:{AGENT}=include=com.app,{options}",
                                *flags,
                                f"-Djava.io.tmpdir={bench.folder}", "-cp",
                                class_path("probes", NETTY), "com.app.Probes", "serve"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=bench.env,
                               stderr=open(bench.path("stderr"), "w", encoding="utf-8"), text=True)
    try:
        same("first line", process.stdout.readline(), "READY\n")
        yield process
    finally:
        process.stdin.close()
        process.wait(60)
    same("exit", process.returncode, 0)


def properties(bench, process):
    jcmd = os.path.join(os.path.dirname(harness.javac()), "jcmd")
    text = bench.run([jcmd, str(process.pid), "VM.system_properties"]).stdout
    found = dict(re.findall(r"^(btrace\.[\w.]+)=(.*)$", text, re.M))
    return {name: value.replace("\\", "") for name, value in found.items()}


class Peer:
    def __init__(self, port, first):
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.settimeout(30)
        self.sock.sendall(first)

    def take(self, n):
        data = b""
        while len(data) < n:
            piece = self.sock.recv(n - len(data))
            if not piece:
                break
            data += piece
        return data

    def rest(self):
        with contextlib.suppress(ConnectionResetError):
            return self.take(1 << 30)
        return b""

    def text(self):
        n, = struct.unpack(">i", self.take(4))
        return self.take(n).decode()


def bound(port, first=b"", accepted=b""):
    """A v2 client with its probe."""
    peer = Peer(port, first + b"BTR2\x03\x0E\0\0\0\0")
    same("answer to the start", peer.take(len(accepted) + 4), accepted + b"BTR2")
    same("probes", peer.take(6), b"\x03\x0E\0\0\0\x01")
    probe = peer.text().split()[0].encode()
    peer.sock.sendall(b"\x03\x10" + struct.pack(">i", len(probe)) + probe)
    same("bound", peer.take(7), b"\x03\x06\0\0\0\x08\x01")
    return peer


def ask(peer, event):
    peer.sock.sendall(b"\x03\x01" + struct.pack(">i", len(event)) + event)


def message(peer):
    """The next MESSAGE: its time and text."""
    same("a message", peer.take(2), b"\x03\x04")
    at, flags = struct.unpack(">qh", peer.take(10))
    same("flags", flags, 0)
    return at, peer.text()


def with_token(bench):
    """By default a token: 0600, named by the properties, gone with the JVM; nothing without it."""
    with program(bench, "port=0") as process:
        found = properties(bench, process)
        port, path = int(found["btrace.port"]), found.get("btrace.auth.tokenFile", "")
        same("properties", {k: v for k, v in found.items() if k not in
                            ("btrace.port", "btrace.auth.tokenFile")},
             {"btrace.address": "127.0.0.1", "btrace.wireio": "1", "btrace.auth.required": "true"})
        same("folder", os.path.dirname(path), bench.folder)
        same("mode", os.stat(path).st_mode & 0o7777, 0o600)
        with open(path, "rb") as file:
            token = file.read()
        same("length", len(token), 43)
        for wrong in (b"BTR2", V1, b"BTA1" + struct.pack(">i", 43) + bytes(43)):
            same(f"{wrong[:4]}", Peer(port, wrong).rest(), b"BTAF")
        peer = bound(port, b"BTA1" + struct.pack(">i", 43) + token, b"BTAK")
        ask(peer, b"tree")
        peer.sock.sendall(b"\x03\x0F\0\0\0\0")
        tree = peer.rest()
        assert b"LEAK" in tree and b"Steps.leaky" in tree, tree
        status = bench.run([CLIENT, "status", str(process.pid)])
        assert f"127.0.0.1:{port}, 3 without the token" in status.stdout, status.stdout
    assert not os.path.exists(path), "the token's file is still there"


def own_token_file(bench):
    """auth=FILE: read where it is, never deleted; refused where others can read it."""
    path = bench.path("my.token")
    with open(path, "w", encoding="ascii") as file:
        file.write("my own secret\n")
    os.chmod(path, 0o644)
    with program(bench, f"port=0,auth={path}") as process:
        same("properties", properties(bench, process), {})
        with open(bench.path("stderr"), encoding="utf-8") as log:
            text = log.read()
        assert "open to others" in text, text
        same("the socket's status", bench.run([CLIENT, "status", str(process.pid)]).returncode, 0)
    os.chmod(path, 0o600)
    with program(bench, f"port=0,auth={path}") as process:
        found = properties(bench, process)
        same("token's file", found["btrace.auth.tokenFile"], path)
        bound(int(found["btrace.port"]), b"BTA1\0\0\0\x0Dmy own secret", b"BTAK")
    assert os.path.exists(path), "a file that is not ours was deleted"


def token_file_by_property(bench):
    """-Dbtrace.auth.tokenFile=FILE is auth=FILE: its rules, made if it is not there and deleted with
    the JVM then; after a stop the property is as it was given. Another BTrace's is left alone."""
    path = bench.path("property.token")
    flag = f"-Dbtrace.auth.tokenFile={path}"
    with program(bench, "port=0", flag) as process:
        with open(path, encoding="ascii") as file:
            token = file.read()
        port = properties(bench, process)["btrace.port"]
        same("properties", properties(bench, process),
             {"btrace.port": port, "btrace.address": "127.0.0.1", "btrace.wireio": "1",
              "btrace.auth.required": "true", "btrace.auth.tokenFile": path})
        for words, code in (((), 4), (("--token-file", path), 0)):
            done = bench.run([CLIENT, "status", f"127.0.0.1:{port}", *words])
            same(f"{words}: {done.stderr}", done.returncode, code)
        same("length", len(token), 43)
        same("stop", bench.run([CLIENT, "stop", str(process.pid)]).returncode, 0)
        until = time.time() + 30
        while len(properties(bench, process)) > 1 and time.time() < until:
            time.sleep(0.1)
        same("after the stop", properties(bench, process), {"btrace.auth.tokenFile": path})
    assert not os.path.exists(path), "the file that we made is still there"
    with open(path, "w", encoding="ascii") as file:
        file.write("open to others\n")
    os.chmod(path, 0o644)
    with program(bench, "port=0", flag) as process:
        same("not served", properties(bench, process), {"btrace.auth.tokenFile": path})
        with open(bench.path("stderr"), encoding="utf-8") as log:
            assert "open to others" in log.read()
    with program(bench, "port=0", flag, "-Dbtrace.port=2020") as process:
        found = properties(bench, process)["btrace.auth.tokenFile"]
        assert found != path and found.endswith(".token"), found


def without_token(bench):
    """auth=off: said in the log; v1 and v2; every event; the live stream; stop takes it all away."""
    with program(bench, "port=0,auth=off,loglevel=warn") as process:
        found = properties(bench, process)
        port = int(found["btrace.port"])
        same("properties", found, {"btrace.port": str(port), "btrace.address": "127.0.0.1",
                                   "btrace.wireio": "1", "btrace.auth.required": "false"})
        with open(bench.path("stderr"), encoding="utf-8") as log:
            assert "auth=off" in log.read()
        peer = Peer(port, V1)
        same("v1's header", peer.take(4), V1)
        peer.sock.sendall(b"\x77\x05\x0E\0\0\0\0")
        answer = peer.take(2 + 1 + 52)
        assert answer.endswith(b" [bbflow]"), answer
        probe = answer[-45:-9]
        peer.sock.sendall(b"\x79\x77\x27\x10\0\x24" + probe)
        same("bound", peer.take(8), b"\x79\x77\x05\x06\0\0\0\x08")
        for event, words in ((b"top", (b"leaky", b"oldest_s", b"java.lang.Long")),
                             (b"leaks", (b"LEAK heap: ", b" buffers, ", b"com.app.Steps.leaky")),
                             (b"flows", (b"LEAK", b"Steps.leaky")), (b"help", (b"watch",))):
            peer.sock.sendall(b"\x79\x77" + bytes([3 + len(event)]) + b"\x01\0" +
                              bytes([len(event)]) + event + b"\x79\x77\x05\x0E\0\0\0\0")
            got = b""
            while not got.endswith(b" [bbflow]"):
                got += peer.take(1)
            for word in words:
                assert word in got, f"{event}: no {word} in {got}"
        watcher = bound(port)
        ask(watcher, b"watch")
        lines = [message(watcher) for _ in range(2)]
        assert any("Steps.leaky" in text for _, text in lines), lines
        assert all(text.startswith("LEAK ") and abs(at / 1000 - time.time()) < 600
                   for at, text in lines), lines
        # After a reset the same places are new again.
        same("reset", bench.run([CLIENT, "reset", str(process.pid)]).returncode, 0)
        assert "LEAK " in message(watcher)[1]
        same("stop", bench.run([CLIENT, "stop", str(process.pid)]).returncode, 0)
        watcher.rest()
        until = time.time() + 30
        while properties(bench, process) and time.time() < until:
            time.sleep(0.1)
        same("properties after the stop", properties(bench, process), {})


def events(bench):
    """What `help` names is what docs/protocol.md lists, and each of them is answered."""
    with open(os.path.join(harness.ROOT, "docs/protocol.md"), encoding="utf-8") as page:
        table = page.read().split("\n## Events\n")[1].split("\n## ")[0]
    documented = [name for row in re.findall(r"^\| (`[^|]*) \|", table, re.M)
                  for name in re.findall(r"`([^`]+)`", row)]
    with program(bench, "port=off") as process:
        pid = str(process.pid)
        text = bench.run([CLIENT, "event", pid, "help"]).stdout
        named = re.fullmatch(r"events: ([a-z ,]+); with \" gc\" behind a name up to (\w+) .*\n", text)
        assert named, text
        known = named[1].split(", ")
        same("events in docs/protocol.md", documented, known)
        for name in [n for n in known if n not in ("watch", "stop")] + ["stop"]:
            for event in (name, name + " gc"):
                done = bench.run([CLIENT, "event", pid, event])
                good = event == name or known.index(name) <= known.index(named[2])
                same(f"{event}: {done.stdout}{done.stderr}", done.returncode, 0 if good else 5)
                assert (done.stdout if good else done.stderr).strip(), event
                if event == "stop":
                    return


FLOOD = """
import os, socket, sys, time
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
how, port, held = sys.argv[1], int(sys.argv[2]), []
while True:
    if how == "drip" and len(held) == 300:
        time.sleep(1)
        for peer in held:
            try:
                peer.send(b"B")
            except OSError:
                held = [p for p in held if p is not peer]
        continue
    try:
        held.append(socket.create_connection(("127.0.0.1", port)))
    except OSError:
        pass
    if how == "half open":
        held[-1].send(b"BTA1\\0")
    if len(held) > 400:
        held.pop(0).close()
    time.sleep(0.002)
"""


def flood(bench):
    """Another user opens a connection every 2 ms, holds hundreds half open, or sends a byte a second:
    20 of 20 commands with the token are served, and `status` counts those that were not."""
    with program(bench, "port=0") as process:
        found = properties(bench, process)
        address = f"127.0.0.1:{found['btrace.port']}"
        for how in ("silent", "half open", "drip"):
            hostile = subprocess.Popen([sys.executable, "-c", FLOOD, how, found["btrace.port"]],
                                       stderr=subprocess.DEVNULL)
            try:
                time.sleep(1)
                done = [bench.run([CLIENT, "status", address, "--token-file",
                                   found["btrace.auth.tokenFile"]]) for _ in range(20)]
                same(f"{how}: {[d.stderr for d in done if d.returncode][:1]}",
                     sum(d.returncode == 0 for d in done), 20)
                same("the flood still runs", hostile.poll(), None)
                wrong = bench.run([CLIENT, "status", address])
                assert "asks for a token: --token-file" in wrong.stderr, wrong.stderr
            finally:
                hostile.kill()
                hostile.wait()
        dropped = re.search(r"(\d+) dropped while waiting for others", done[-1].stdout)
        assert dropped and int(dropped[1]) > 300, done[-1].stdout


def resident(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"^RssAnon:\s+(\d+) kB", file.read(), re.M)[1]) << 10


def set_often(bench):
    """100,000 times `set` keep no memory: settings without a reader are freed. Memory that is kept
    counts in memory=, and `status` shows it. Among them the classes that are followed change, while
    classes load."""
    def change(peer, name, values):
        frame = [b"\x03\x0D\0\0\0\x01" + struct.pack(">i", len(name)) + name + b"\x01" +
                 struct.pack(">i", len(v)) + v for v in values]
        peer.sock.sendall(b"".join(frame))
        got, wanted = b"", len(values)
        while got.count(name + b"=") < wanted:
            piece = peer.sock.recv(1 << 16)
            assert piece, got[-200:]
            got += piece
        assert b"error" not in got.lower(), got[-300:]

    with program(bench, "port=0,auth=off", "-Xmx64m", "-Xint") as process:
        peer = bound(int(properties(bench, process)["btrace.port"]))
        for i in range(1000):
            change(peer, b"age", [b"5m", b"10m"] * 50)
            if i == 200:
                before = resident(process)
            if i % 100 == 0:
                change(peer, b"include", [b"com.app+org.nowhere", b"com.app"])
        grown = resident(process) - before
        status = bench.run([CLIENT, "status", str(process.pid)]).stdout
        assert grown < 6 << 20, f"{grown >> 10} KiB more after 80,000 times set"
        kept = re.search(r"^old settings +(\d+) still read, (\d+) bytes in memory=$", status, re.M)
        assert kept and int(kept[1]) < 4, status


def port_in_use(bench):
    """A port that is taken costs TCP and nothing else; `status` says which port is served."""
    with program(bench, "port=0") as process:
        port = properties(bench, process)["btrace.port"]
        status = bench.run([CLIENT, "status", str(process.pid)]).stdout
        assert f"  port=0 (127.0.0.1:{port} is served)\n" in status, status
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with program(bench, f"port={taken.getsockname()[1]}") as process:
            same("properties", properties(bench, process), {})
            same("tokens", [f for f in os.listdir(bench.folder) if f.endswith(".token")], [])
            with open(bench.path("stderr"), encoding="utf-8") as log:
                assert "Address already in use" in log.read()
            status = bench.run([CLIENT, "status", str(process.pid)]).stdout
            port = taken.getsockname()[1]
            assert f"  port={port} (not served: 127.0.0.1:{port}: Address already in use)\n" in status, \
                status


def cases():
    yield Scenario("tcp/token", with_token, jdk=(11, 17, 21, 25), quick=True, short=(17,))
    yield Scenario("tcp/own token file", own_token_file, jdk=(17,))
    yield Scenario("tcp/no token, v1, live stream", without_token, jdk=(11, 17, 21, 25),
                   short=(25,))
    yield Scenario("tcp/token file by a property", token_file_by_property, jdk=(11, 17, 21, 25),
                   short=(17,))
    yield Scenario("events", events, jdk=(17,))
    yield Scenario("tcp/set often", set_often, jdk=(17, 25), short=(25,))
    if os.geteuid() == 0:
        yield Scenario("tcp/flood", flood, jdk=(17, 25), short=(17,))
    yield Scenario("tcp/port in use", port_in_use, jdk=(17,))
