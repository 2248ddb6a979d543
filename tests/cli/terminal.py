#!/usr/bin/env python3
"""tests/cli/terminal.py BBFLOW FAKE_AGENT [PART] - what the command shows on a terminal (a pty of a
given width) and in a pipe: nothing that a terminal obeys from any sender, no forged line, an end to
every answer; and how it looks: width, colours, ASCII."""

import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unicodedata

BBFLOW, FAKE = sys.argv[1], sys.argv[2]
SANITIZED = bool(os.environ.get("BBF_SANITIZE"))


def memory(mib):
    """A bound on memory, in MiB: a sanitizer shadows all, and keeps 256 MiB that were freed."""
    return 3 * mib + 400 if SANITIZED else mib


PART = sys.argv[3] if len(sys.argv) > 3 else ""
HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parent / "golden" / "render"
sys.argv = ["peer.py", "2"]
sys.path.insert(0, str(HERE))
import peer  # noqa: E402 (reads sys.argv)

WORK = pathlib.Path(tempfile.mkdtemp(prefix="bbf-terminal-", dir="/tmp"))
BASE = {k: v for k, v in os.environ.items()
        if not k.startswith("LC_") and k not in ("LANG", "NO_COLOR", "COLUMNS", "BBFLOW_TOKEN_FILE")}
BASE.update(LC_ALL="C.UTF-8", TERM="xterm", XDG_RUNTIME_DIR=str(WORK), TZ="UTC")
counts = [0, 0]


def check(name, good, detail=""):
    counts[0 if good else 1] += 1
    if not good:
        print(f"FAILED {name}: {str(detail)[:700]}", flush=True)


# ---- Running it ----------------------------------------------------------------------------------

class Result:
    def __init__(self, code, out, err=b"", peak=0, seconds=0.0):
        self.code, self.out, self.err, self.peak, self.seconds = code, out, err, peak, seconds

    @property
    def text(self):
        return self.out.decode(errors="surrogateescape")


def environment(env):
    merged = {**BASE, **(env or {})}
    return {k: v for k, v in merged.items() if v is not None}


def on_terminal(*args, width=80, env=None, stop_at=None):
    """stdout and stderr are a terminal; "\\r\\n" of its driver is undone."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        os.execve(BBFLOW, ["bbflow", *args], environment(env))
    out = b""
    while True:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        out += piece
        if stop_at is not None and stop_at in out:
            os.kill(pid, signal.SIGTERM)
            stop_at = None
    _, status = os.waitpid(pid, 0)
    os.close(fd)
    return Result(os.waitstatus_to_exitcode(status), out.replace(b"\r\n", b"\n"))


def in_pipe(*args, env=None, out=subprocess.PIPE, stop_after=None):
    began = time.monotonic()
    process = subprocess.Popen([BBFLOW, *args], env=environment(env), stdin=subprocess.DEVNULL,
                               stdout=out, stderr=subprocess.PIPE)
    if stop_after is not None:
        threading.Timer(stop_after, process.terminate).start()
    try:
        got, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        got, err = process.communicate()
        err += b"[killed after 60 s]"
    return Result(process.returncode, got or b"", err, 0, time.monotonic() - began)


def measured(*args, most=120 if SANITIZED else 60):
    """Like in_pipe with stdout to nowhere; knows the peak of its memory in MiB. Ends after `most` s."""
    err = open(WORK / "err", "wb+")
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_RDWR), 1)
        os.dup2(err.fileno(), 2)
        os.execve(BBFLOW, ["bbflow", *args], environment(None))
    timer = threading.Timer(most, os.kill, (pid, signal.SIGKILL))
    timer.start()
    _, status, usage = os.wait4(pid, 0)
    timer.cancel()
    err.seek(0)
    return Result(os.waitstatus_to_exitcode(status), b"", err.read(), usage.ru_maxrss / 1024,
                  time.monotonic() - began)


# ---- What is looked for --------------------------------------------------------------------------

INVISIBLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e"
                       "\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\udc80-\udcff]")
SGR = re.compile("\x1b\\[[0-9;]*m")


def clean(name, data, tabs=False):
    """No byte that a terminal obeys but line ends and our colours."""
    text = SGR.sub("", data.decode("utf-8", "surrogateescape"))
    if tabs:
        text = text.replace("\t", "")
    found = INVISIBLE.search(text)
    check(f"{name}: nothing raw", found is None,
          found and repr(text[max(0, found.start() - 60):found.end() + 20]))
    forged = re.search("^bbflow: (forged|FORGED)", text, re.M)
    check(f"{name}: no forged line", forged is None, forged and repr(text))


def columns(text):
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


# ---- Hostile command lines -----------------------------------------------------------------------

EVIL = (b"x\x1b]0;pwned\x07\x1b[2J\r\x08\x7f\xc2\x85\xc2\x9b31m\x9b\x90\xe2\x80\xae\xe2\x81\xa6"
        b"\xe2\x80\x8b\xe2\x80\xa8\xef\xbb\xbf\xed\xa0\x80\xc0\x8a\xd8\x9c\nbbflow: forged\n"
        b"bbflow: FORGED\ty")


def processes():
    sockets = WORK / "sockets"
    sockets.mkdir()
    for name in ("libjvm.so", "libbbflow.so"):
        (WORK / name).write_text("x\n")
    env = {**BASE, "FAKE_JSON": str(GOLDEN / "basic.json"), "FAKE_SOCKETS": str(sockets)}
    bare = {**env, "FAKE_MUTE": "1", "FAKE_MAP": str(WORK / "libjvm.so")}
    mute = {**bare, "FAKE_MAP": f"{WORK}/libjvm.so:{WORK}/libbbflow.so"}

    def start(argv, env):
        process = subprocess.Popen(argv, executable=FAKE, env=env, stdout=subprocess.PIPE)
        check("fake agent starts", process.stdout.readline() == b"ready\n")
        return process

    # Two with the agent, so that a target is ambiguous; two without, and one other process.
    all_of_them = [start([b"java", b"-jar", b"evil1" + EVIL + b".jar"], env),
                   start([b"java", b"com.Evil2" + EVIL], env),
                   start([b"java", b"-m", b"mod/evil3" + EVIL], bare),
                   start([b"java", b"evil4" + EVIL], mute),
                   start([b"evil5" + EVIL.replace(b"/", b"")], {**env, "FAKE_MUTE": "1"})]
    one, two, no_agent, unanswered, other = (str(p.pid) for p in all_of_them)
    at = ["--socket", str(sockets)]
    try:
        for name, args in {
            "list": ["list", *at],
            "list without JVMs": ["list", "--socket", str(WORK / "nothing\x1b[2J")],
            "status of one": ["status", one, *at],
            "status, refused": ["status", one, "--protocol", "1", "--timeout", "0.3", *at],
            "set, refused": ["set", two, "nosuch=1", *at],
            "tree without a target": ["tree", *at],
            "tree of several": ["tree", "vil", *at],
            "tree of no match": ["tree", "zzz", *at],
            "tree without the agent": ["tree", no_agent, *at],
            "tree without an answer": ["tree", unanswered, *at],
            "tree of no JVM": ["tree", other, *at],
            "attach without a target": ["attach", *at],
            "attach to several": ["attach", "evil", *at],
            "attach to one": ["attach", no_agent, *at],
            "attach to one that has it": ["attach", one, *at],
            "stop": ["stop", "zzz", *at],
            "watch": ["watch", "zzz", *at],
            # What the user wrote.
            "file": ["tree", "no\x1b[2J\nbbflow: forged.json"],
            "output": ["tree", str(GOLDEN / "basic.json"), "-o", "/nosuch/\x1b[2J\nbbflow: forged"],
            "extension": ["tree", str(GOLDEN / "basic.json"), "-o", "x.\x1b[2J\nbbflow: forged"],
            "command": ["tr\x1b[2J\nbbflow: forged"],
            "flag": ["tree", "--no\x1b[2J\nbbflow: forged"],
            "option": ["attach", one, "inc\x1b[2J\nbbflow: forged=1"],
            "token": ["status", "127.0.0.1:1", "--token-file", "no\x1b[2J\nbbflow: forged"],
            "agent": ["attach", no_agent, "--agent", "no\x1b[2J\nbbflow: forged", *at],
        }.items():
            result = on_terminal(*args, width=80)
            clean(name, result.out)
            check(f"{name}: says something", len(result.out) > 10, result.out)
            piped = in_pipe(*args)
            clean(f"{name}, piped", piped.out + piped.err)
        shown = on_terminal("list", "--wide", *at).text
        check("list: escapes are readable", "evil1x\\u001b]0;pwned\\u0007\\u001b[2J" in shown, shown)
        check("list: one line each", len(shown.splitlines()) == 2, shown)
    finally:
        for process in all_of_them:
            process.kill()
            process.wait()


# ---- A hostile agent -----------------------------------------------------------------------------

def text(data):
    data = data if isinstance(data, bytes) else data.encode()
    return peer.integer(len(data)) + data


class Hostile(peer.Peer):
    """Whatever is asked, the answer is out to harm the terminal or never ends."""
    manner = "texts"

    def document(self, data, at=0):
        self.send(peer.MESSAGE, struct.pack(">q??i", at, False, False, len(data)) + data)

    def probes(self):
        probes = [b"1" + EVIL + b" [x]", peer.PROBE.encode() + b" [bbflow]"]
        if self.manner == "endless probes":
            self.forever(lambda: self.status(8, True))
        self.send(peer.LIST_PROBES, peer.integer(len(probes)) + b"".join(map(text, probes)))

    def forever(self, send):
        try:
            while True:
                send()
        except OSError:
            raise EOFError from None

    def kinds(self):
        self.document(EVIL + b"\n")
        self.document(EVIL + b"\nsecond", 1)
        self.send(peer.NUMBER, text(EVIL) + b"\1" + peer.integer(7))
        self.send(peer.STRING_MAP, text(EVIL) + peer.integer(1) + text(EVIL) + text(EVIL))
        self.send(peer.NUMBER_MAP, text(EVIL) + peer.integer(1) + text(EVIL) + b"\1" + peer.integer(1))
        cell = b"\1" + text(EVIL)
        self.send(peer.GRID, text(EVIL) + peer.integer(2) + text(EVIL) + text("n") + peer.integer(1)
                  + peer.integer(2) + cell + b"\1" + text(b"HistogramData[1\x1b[2J, \n2][3, 4]"))
        self.send(5, text(EVIL))  # RENAME
        self.send(12, text(EVIL) + peer.integer(1) + peer.integer(2))  # RETRANSFORM_CLASS

    def fail(self):
        self.send(peer.ERROR, text(EVIL) + text(EVIL) + text(EVIL + b"\n\tat a.B.c\n"))

    def event(self, name):
        manner = self.manner
        if manner == "endless":
            piece = b"{" + b" " * (1 << 20)
            self.forever(lambda: self.document(piece))
        elif manner == "drip":
            self.forever(lambda: (self.document(b"x\n"), time.sleep(0.02)))
        elif manner == "status":
            self.forever(lambda: self.status(8, True))
        elif manner == "bytes":  # a frame that never is complete
            self.sock.sendall(bytes([3, peer.MESSAGE]) + struct.pack(">q??i", 0, 0, 0, 1 << 26))
            self.forever(lambda: (self.sock.sendall(b"x"), time.sleep(0.02)))
        elif manner == "frame":  # one that is too long
            self.sock.sendall(bytes([3, peer.MESSAGE]) + struct.pack(">q??i", 0, 0, 0, 100 << 20))
            self.forever(lambda: self.sock.sendall(b"x" * (1 << 20)))
        elif manner == "grid":  # one wide cell makes every row wide
            rows = peer.integer(1) + b"\1" + text(b"w" * 100000)
            rows += b"".join(peer.integer(2) + b"\1" + text("n") + b"\3" + struct.pack(">q", i)
                             for i in range(20000))
            self.send(peer.GRID, text("g") + peer.integer(0) + peer.integer(20001) + rows)
        elif manner == "histogram":  # each of its lines would be indented by all the cells before it
            buckets = ",".join(["1"] * 10000)
            self.send(peer.GRID, text("g") + peer.integer(0) + peer.integer(1) + peer.integer(256)
                      + (b"\1" + text(b"w" * 200)) * 255
                      + b"\1" + text(f"HistogramData[{buckets}][{buckets}]"))
        elif manner == "rows":  # the first row makes each cell of the others wide
            self.send(peer.GRID, text("g") + peer.integer(0) + peer.integer(2001) + peer.integer(255)
                      + (b"\1" + text(b"w" * 200)) * 255
                      + (peer.integer(255) + (b"\1" + text("n")) * 255) * 2000)
        elif name.startswith("fail") or manner == "refuses":
            self.fail()
        elif name == "kinds":
            self.kinds()
        elif name == "watch":
            self.document(EVIL, 1)
            self.document(b"last", 1)
        else:
            self.document(EVIL + b"\n" + EVIL[::-1])

    def serve(self):
        self.choose()
        while True:
            kind = self.take(2)[1]
            if kind == peer.LIST_PROBES:
                self.take(4)
                self.probes()
            elif kind == peer.SET_PARAMS:
                self.file.read1(65536)
                self.document(EVIL)
                self.status(4, self.manner != "refuses")
            else:
                words = self.string()
                if kind == peer.RECONNECT:
                    self.status(8, True)
                elif kind == peer.EVENT:
                    self.event(words)
                elif kind == peer.DISCONNECT:
                    self.words(peer.DISCONNECT, peer.PROBE)
                    return


def hostile(manner):
    os.environ["PEER_LOG"] = "/dev/null"
    listener = socket.create_server(("127.0.0.1", 0))
    kind = type("Kind", (Hostile,), {"manner": manner})

    def run(sock):
        try:
            kind(sock).serve()
        except (EOFError, OSError):
            pass
        finally:
            sock.close()

    def accept():
        while True:
            threading.Thread(target=run, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return f"127.0.0.1:{listener.getsockname()[1]}"


def texts():
    good, refuses = hostile("texts"), hostile("refuses")
    for name, args in {
        "list": ["list", good], "status": ["status", good], "reset": ["reset", good],
        "stop": ["stop", good], "set": ["set", good, "a=b"], "set, refused": ["set", refuses, "a=b"],
        "status, refused": ["status", refuses], "tree, refused": ["tree", refuses],
        "tree of no snapshot": ["tree", good], "event": ["event", good, "x"],
        "event of every kind": ["event", good, "kinds"], "event, refused": ["event", good, "fail"],
        "event of a probe": ["event", good, "kinds", "--probe", "1"],
    }.items():
        for width in (40, 80, 200):
            clean(f"hostile {name}, {width}", on_terminal(*args, width=width).out)
        piped = in_pipe(*args)
        clean(f"hostile {name}, piped", piped.out + piped.err, tabs=True)
    seen = on_terminal("watch", good, stop_at=b"last")
    clean("hostile watch", seen.out)
    check("hostile watch: ends by a signal", seen.code == 0, seen.code)
    check("hostile watch: further lines begin with the time",
          re.search(r"^\d{4}-\d\d-\d\dT\S+ +bbflow: forged$", seen.text, re.M) and
          not re.search(r"^bbflow: forged", seen.text, re.M), seen.text)
    # A row of the terminal begins like a message only where a line does: no padding gets there.
    for width in (40, 80, 81, 200):
        wide = on_terminal("status", hostile_text(b"a" * (width - 1) + b" " * 3 + b"bbflow: forged"),
                           width=width)
        rows = [line[i:i + width] for line in wide.text.split("\n")
                for i in range(0, max(1, len(line)), width)]
        check(f"padding to {width} forges no row", not any(r.startswith("bbflow: f") for r in rows),
              wide.text)
    # Nor does a line that is too long to be kept.
    size = (1 << 20) + 15
    column = 4 + (size - 80) % 76  # where its last row ends: the first has 80, the others 76
    long = on_terminal("event", hostile_text(b"a" * size, b"b" * (79 - column) + b" bbflow: forged\n"),
                       "x")
    rows = [line[i:i + 80] for line in long.text.split("\n") for i in range(0, max(1, len(line)), 80)]
    check("a long line forges no row", not any(r.startswith("bbflow: f") for r in rows)
          and "bbflow: forged" in long.text, long.text[-900:])
    # Its text is the agent's, and says so.
    said = in_pipe("status", hostile_text(b"fine\nbbflow: forged\n"))
    check("an agent's line is marked", said.out == b"fine\nthe agent says: bbflow: forged\n", said.out)
    # JSON is exact but on a terminal.
    document = '{"a":"\u0085\u202e\\u001b\u00c9\U0001f6a8"}\n'.encode()
    for target in (hostile_text(document),):
        exact = in_pipe("event", target, "json")
        check("event json, piped, is exact", exact.out == document, exact.out)
        shown = on_terminal("event", target, "json")
        clean("event json on a terminal", shown.out)
        check("event json on a terminal: the same value", json.loads(shown.out) == json.loads(document))


def hostile_text(*messages):
    port = hostile("fixed")
    peers[port] = messages
    return port


peers = {}
plain_event = Hostile.event


def event(self, name):
    for data in peers.get("127.0.0.1:%d" % self.sock.getsockname()[1], ()):
        self.document(data)
    if self.manner != "fixed":
        plain_event(self, name)


Hostile.event = event


def ends():
    """Every answer ends: by its size, by its time; memory stays bounded."""
    endless = hostile("endless")
    for name, args in {
        "tree": ["tree", endless, "--max-document=8M"], "event": ["event", endless, "x", "--max-document=8M"],
        "set": ["status", endless, "--max-document=8M"],
    }.items():
        result = measured(*args)
        check(f"endless {name}: ends with 1", result.code == 1, (result.code, result.err))
        check(f"endless {name}: names limit, flag and peer",
              all(word in result.err.decode() for word in ("8M", "--max-document=SIZE", endless)),
              result.err)
        check(f"endless {name}: little memory", result.peak < memory(64), result.peak)
    result = measured("status", endless)
    check("endless status: 16M without the flag", b"longer than 16M" in result.err, result.err)
    check("endless status: little memory", result.peak < memory(100), result.peak)
    result = measured("tree", endless)
    check("endless tree: 1G without the flag", b"longer than 1G" in result.err, result.err)
    check("endless tree: its memory", result.peak < memory(2200), result.peak) # twice, as it grows
    result = measured("tree", hostile("frame"), "--max-document=8M")
    check("a frame that is too long ends", b"longer than 8M" in result.err and result.peak < memory(64),
          (result.err, result.peak))
    for manner in ("drip", "bytes"):
        result = measured("status", hostile(manner), "--timeout=1")
        check(f"{manner}: ends in time", result.code == 1 and result.seconds < 5,
              (result.code, result.seconds))
        check(f"{manner}: says why", b"the answer does not end" in result.err
              and b"--timeout" in result.err, result.err)
    for manner in ("status", "endless probes"):
        result = measured("tree", hostile(manner), "--max-document=1M")
        check(f"{manner}: ends", result.code == 1 and b"longer than 1M" in result.err,
              (result.code, result.err))
    result = in_pipe("event", hostile("grid"), "x")
    check("a wide cell widens no column", result.code == 0 and 100000 < len(result.out) < 10000000,
          (result.code, len(result.out), result.err))
    for manner in ("histogram", "rows"):
        result = measured("event", hostile(manner), "x", "--max-document=8M")
        check(f"{manner}: little memory", result.code == 0 and result.peak < memory(64),
              (result.code, result.peak, result.err))
    for bad in ("0", "x", "-1", "5Q"):
        result = in_pipe("tree", endless, f"--max-document={bad}")
        check(f"--max-document={bad} is refused", result.code == 2 and b"--max-document" in result.err,
              result.err)


# ---- How it looks --------------------------------------------------------------------------------

def deep_snapshot(path):
    """A path of 90 steps with long names, two of them losing; some are two columns wide."""
    zero = dict.fromkeys(("released", "live", "live_bytes", "aged", "static", "leaked", "leaked_bytes",
                          "held", "harmless", "unknown"), 0)
    sites = [{"id": 0, "class": "io.netty.buffer.PooledByteBufAllocator", "method": "directBuffer",
              "descriptor": "", "kind": "root"}]
    nodes = [{"id": 0, "parent": -1, "site": 0, "ref": "1-2", "passed": 48, **zero}]
    leaks = []
    for i in range(1, 90):
        name = f"com.app.handlers.VeryLongAndTediouslyNamedChannelInboundHandler{i}"
        if i % 5 == 0:
            name = f"com.app.日本語の長い名前を持つクラスそれはとても長い名前です{i}"
        sites.append({"id": i, "class": name, "method": "channelReadComplete", "descriptor": "",
                      "kind": "enter"})
        nodes.append({"id": i, "parent": i - 1, "site": i, "ref": "1-2", "passed": 48 if i < 7 else 41,
                      **zero})
    for i, count in ((89, 41), (6, 7)):
        nodes[i].update(leaked=count, leaked_bytes=256 * count)
        leaks.append({"node": i, "verdict": "leaked", "memory": "direct", "count": count,
                      "bytes": 256 * count, "oldest_seconds": 90, "path": []})
    path.write_text(json.dumps({
        "schema": "bbflow-snapshot/1", "captured_at": "2026-11-21T20:04:37.123Z",
        "jvm": {"pid": 1, "main": "com.app.Deep", "version": "17", "netty": [], "map_mode": []},
        "settings": {}, "limits": {}, "notes": ["a note that is rather long, so that it must continue "
                                                "in a second row of nearly any terminal: 日本語"],
        "totals": {"lives": 48, "leaked": 48, "leaked_bytes": 48 * 256},
        "sites": sites, "nodes": nodes, "leaks": leaks}))


def widths():
    deep = WORK / "deep.json"
    deep_snapshot(deep)
    interior = str(GOLDEN / "interior.json")
    for width in (20, 40, 80, 200):
        for name, args in {
            "tree": ["tree", str(deep), "--all"], "summary": ["summary", str(deep)],
            "interior": ["tree", interior], "help": ["help"], "options": ["help", "options"],
            "failure": ["tree", "/nosuch/" + 30 * "long/" + "name.json"],
        }.items():
            for flags in ([], ["--ascii"], ["--color=always"]):
                shown = SGR.sub("", on_terminal(*args, *flags, width=width).text)
                longest = max(shown.split("\n"), key=columns)
                check(f"{name} {flags} fits {width}", columns(longest) <= width,
                      f"{columns(longest)}: {longest!r}")
        shown = on_terminal("tree", str(deep), width=width, env={"NO_COLOR": "1"}).text
        if width >= 40:
            for whole in ("🚨 LEAK 41 (10.3 KiB direct)", "🚨 LEAK 7 (1.8 KiB direct)",
                          "[ref=1, count=41]", "[ref=1, count=7]"):
                check(f"{whole} is whole at {width}", whole in shown, shown)
        check(f"cut names are marked at {width}", ("…" in shown) == ("--wide" in shown), shown[-300:])
    piped = in_pipe("tree", str(deep))
    check("a pipe's lines are not cut", max(map(len, piped.text.split("\n"))) > 250)
    wide = on_terminal("tree", str(deep), "--wide", "--color=never")
    check("--wide is as the pipe", wide.out == piped.out, wide.out[:300])
    narrow = on_terminal("tree", interior, env={"COLUMNS": "48", "NO_COLOR": "1"}, width=200).text
    check("COLUMNS counts first", max(map(columns, narrow.split("\n"))) <= 48, narrow)
    check("the rows of a tree keep its bars",
          "└── Holder.keep [ref=1, count=43]\n        🚨 LEAK 41 (10.3 KiB direct) " in narrow
          and "\n        s, ⚠️ LEAK 2 (100 B heap)" in narrow, narrow)


def leaks():
    """`bbflow leaks`, the report that people see first."""
    deep, names = WORK / "deep-leaks.json", str(GOLDEN / "escapes.json")
    deep_snapshot(deep)
    golden = (GOLDEN / "interior.leaks").read_bytes()
    for width in (60, 80, 200):
        for name, document in (("deep", str(deep)), ("interior", str(GOLDEN / "interior.json")), ("names", names)):
            for flags, env in (([], {}), (["--all"], {}), (["--ascii"], {}), ([], {"LC_ALL": "C"}), ([], {"LC_ALL": None, "LANG": "C"})):
                result = on_terminal("leaks", document, *flags, width=width, env=env)
                shown = SGR.sub("", result.text)
                what = f"leaks {name} {flags} {env} at {width}"
                clean(what, result.out)
                check(f"{what}: exit", result.code == 10, result.code)
                longest = max(shown.split("\n"), key=columns)
                check(f"{what} fits", columns(longest) <= width, f"{columns(longest)}: {longest!r}")
                check(f"{what}: in ASCII", shown.isascii() or not (env or "--ascii" in flags), shown)
        whole = on_terminal("leaks", str(GOLDEN / "interior.json"), width=width, env={"NO_COLOR": "1"})
        check(f"leaks at {width}: each word is there", " ".join(whole.text.split()) == " ".join(golden.decode().split()), whole.text)
    check("leaks at 200 is the golden file", whole.out == golden, whole.text)
    coloured = on_terminal("leaks", str(GOLDEN / "interior.json"), width=200)
    check("leaks in colours", "\x1b[1;31m" in coloured.text and SGR.sub("", coloured.text).encode() == golden, coloured.text)
    for name, env in (("NO_COLOR", {"NO_COLOR": "1"}), ("dumb", {"TERM": "dumb"})):
        check(f"leaks, {name}", b"\x1b" not in on_terminal("leaks", str(deep), env=env).out)
    check("leaks in a pipe", in_pipe("leaks", str(GOLDEN / "interior.json")).out == golden)
    ascii_pipe = in_pipe("leaks", str(GOLDEN / "interior.json"), env={"LC_ALL": None, "LANG": "C"})
    check("leaks in a pipe, LANG=C", ascii_pipe.out.isascii() and b"\x1b" not in ascii_pipe.out, ascii_pipe.text)


def colours():
    interior = str(GOLDEN / "interior.json")
    red = "\x1b[1;31m 🚨 LEAK 41 (10.3 KiB direct)\x1b[0m"
    plain = (GOLDEN / "interior.tree").read_bytes()
    for name, env, flags, coloured in (
            ("terminal", {}, [], True), ("NO_COLOR=1", {"NO_COLOR": "1"}, [], False),
            ("NO_COLOR empty", {"NO_COLOR": ""}, [], True), ("dumb", {"TERM": "dumb"}, [], False),
            ("no TERM", {"TERM": None}, [], False), ("never", {}, ["--color=never"], False),
            ("always, dumb", {"TERM": "dumb", "NO_COLOR": "1"}, ["--color=always"], True)):
        shown = on_terminal("tree", interior, *flags, width=200, env=env).text
        check(f"colour: {name}", (red in shown) == coloured and ("\x1b" in shown) == coloured, shown)
    check("colour: none in a pipe", in_pipe("tree", interior).out == plain)
    piped = in_pipe("tree", interior, "--color=always").text
    check("colour: always in a pipe", red in piped, piped)
    check("colour: nothing else is changed", SGR.sub("", piped).encode() == plain, piped)
    in_pipe("tree", interior, "--color=always", "-o", str(WORK / "x.txt"))
    check("colour: never in a file", (WORK / "x.txt").read_bytes() == plain)
    check("colour: none in llm and json", all(
        b"\x1b" not in in_pipe(verb, interior, "--color=always").out for verb in ("llm", "dump")))
    summary = on_terminal("summary", interior, width=200).text
    check("colour: summary", "\x1b[1;31mCRITICAL LEAK\x1b[0m: 41" in summary
          and "\x1b[1m=== Leaks ===\x1b[0m" in summary, summary)
    aged = on_terminal("tree", str(GOLDEN / "verdicts.json"), width=200).text
    check("colour: aged is yellow", "\x1b[33m ⏳ AGED" in aged, aged)
    result = in_pipe("tree", interior, "--color=red")
    check("colour: a bad word", result.code == 2 and
          result.err == b"bbflow: --color takes auto, always or never, not 'red'\n", result.err)


def ascii_only():
    interior, escapes = str(GOLDEN / "interior.json"), str(GOLDEN / "escapes.json")
    golden = (GOLDEN / "interior.tree").read_bytes()
    want = golden.decode()
    for sign, word in {"├── ": "|-- ", "└── ": "`-- ", "│": "|", "🚨 LEAK": "CRITICAL LEAK",
                       "⚠️ LEAK": "MODERATE LEAK", "⏳ AGED": "AGED"}.items():
        want = want.replace(sign, word)
    for name, env, flags in (("C", {"LC_ALL": "C"}, []), ("POSIX", {"LC_ALL": "POSIX"}, []),
                             ("no locale", {"LC_ALL": None}, []), ("--ascii", {}, ["--ascii"])):
        shown = in_pipe("tree", interior, *flags, env=env).text
        check(f"ascii by {name}", shown == want, shown)
        shown = in_pipe("tree", escapes, *flags, env=env)
        check(f"ascii by {name}: names", shown.out.isascii() and b"\\u00c9t\\u00e9.l\\u001b" in shown.out
              and b"\\ud83d\\udea8 [ref=1" in shown.out, shown.text)
        for verb in ("tree", "summary"):
            for width in (40, 80, 200):
                shown = on_terminal(verb, escapes, *flags, env=env, width=width)
                check(f"ascii by {name}: {verb} at {width}", shown.out.isascii(), shown.text)
        shown = on_terminal("tree", "/nosuch/é.json", *flags, env=env, width=200)
        check(f"ascii by {name}: messages", b"/nosuch/\\u00c3\\u00a9.json" in shown.out
              or b"/nosuch/\\u00e9.json" in shown.out, shown.text)
    for name, env in (("LC_CTYPE", {"LC_ALL": None, "LC_CTYPE": "C.UTF-8", "LANG": "C"}),
                      ("LANG", {"LC_ALL": None, "LANG": "C.UTF-8"}),
                      ("a locale that is not installed", {"LC_ALL": "xx_YY.UTF-8"}),
                      ("an old spelling", {"LC_ALL": "xx_YY.utf8"})):
        check(f"UTF-8 by {name}", in_pipe("tree", interior, env=env).out == golden)
    in_pipe("tree", interior, "-o", str(WORK / "c.txt"), env={"LC_ALL": "C"})
    check("a file is UTF-8 in any locale", (WORK / "c.txt").read_bytes() == golden)
    in_pipe("tree", interior, "--ascii", "-o", str(WORK / "a.txt"))
    check("a file is ASCII if asked", (WORK / "a.txt").read_text() == want)
    exact = (GOLDEN / "escapes.json").read_bytes()
    check("JSON is exact in any locale", in_pipe("dump", escapes, env={"LC_ALL": "C"}).out == exact)
    shown = in_pipe("dump", escapes, "--ascii").out
    check("JSON in ASCII is the same value", shown.isascii()
          and json.loads(shown) == json.loads(exact.decode(errors="replace")), shown[:300])
    check("a text of the agent's", in_pipe("status", hostile_text("A → B … é".encode()), "--ascii").out
          == b"A -> B ... \\u00e9\n")


def has_terminals():
    try:
        for fd in pty.openpty():
            os.close(fd)
    except OSError:
        return False
    return True


PARTS = (processes, texts, ends, widths, leaks, colours, ascii_only)
if PART != ends.__name__ and not has_terminals():
    print("skipped: this machine has no pseudo-terminals (mount -t devpts devpts /dev/pts)")
    sys.exit(77)
try:
    for part in PARTS:
        if PART in part.__name__:
            part()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
print(f"{counts[0]} passed, {counts[1]} failed")
sys.exit(counts[1] != 0)
