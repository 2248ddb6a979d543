#!/usr/bin/env python3
"""tests/cli/top.py BBFLOW FAKE_AGENT - `bbflow top` on a terminal that another program plays (pyte):
order, size, colours, types of terminals, hostile names, signals, a JVM that ends or does not answer."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

try:
    import pyte
except ImportError:  # Debian's package is for Debian's Python
    if sys.executable == "/usr/bin/python3":
        sys.exit("tests/cli/top.py: python3-pyte is missing (scripts/install test)")
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

BBFLOW, FAKE = sys.argv[1], sys.argv[2]
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "render"
WORK = pathlib.Path(tempfile.mkdtemp(prefix="bbf-top-", dir="/tmp"))
BASE = {k: v for k, v in os.environ.items() if not k.startswith("LC_") and
        k not in ("LANG", "NO_COLOR", "COLUMNS", "LINES", "BBFLOW_TOKEN_FILE")}
BASE.update(LC_ALL="C.UTF-8", TERM="screen-256color", XDG_RUNTIME_DIR=str(WORK), TZ="UTC")
WAIT = int(os.environ.get("TOP_WAIT", 60))  # seconds at most
counts = [0, 0]


def check(name, good, detail=""):
    counts[0 if good else 1] += 1
    if not good:
        print(f"FAILED {name}: {str(detail)[:2500]}", flush=True)


def snapshot(places, pid=4711, lives=1000):
    """(class, lost, bytes, oldest) each: a place of its own below one root."""
    zero = dict.fromkeys(("passed", "released", "live", "live_bytes", "aged", "static", "leaked", "leaked_bytes",
                          "held", "harmless", "unknown"), 0)
    sites = [{"id": 0, "class": "io.netty.buffer.PooledByteBufAllocator", "method": "directBuffer",
              "descriptor": "", "kind": "root"}]
    nodes = [{"id": 0, "parent": -1, "site": 0, "ref": "1-2", **zero, "released": lives}]
    leaks = []
    for i, (name, lost, size, oldest) in enumerate(places, 1):
        sites.append({"id": i, "class": name, "method": "keep", "descriptor": "", "kind": "enter"})
        nodes.append({"id": i, "parent": 0, "site": i, "ref": "1-2", **zero, "leaked": lost,
                      "leaked_bytes": size, "released": 10, "passed": lost + 10})
        leaks.append({"node": i, "verdict": "leaked", "memory": "direct", "count": lost, "bytes": size,
                      "oldest_seconds": oldest, "path": []})
    nodes[0]["passed"] = lives + sum(node["passed"] for node in nodes)
    totals = {key: sum(node[key] for node in nodes) for key in zero if key != "passed"}
    totals["lives"] = nodes[0]["passed"]
    return json.dumps({
        "schema": "bbflow-snapshot/1", "captured_at": "2026-11-21T20:04:37.123Z",
        "jvm": {"pid": pid, "main": "com.app.Main", "version": "17", "netty": [], "map_mode": []},
        "settings": {}, "limits": {}, "notes": ["the first note", "the second note"], "totals": totals,
        "sites": sites, "nodes": nodes, "leaks": leaks})


THREE = [("com.app.Alpha", 5, 9000, 7), ("com.app.Beta", 900, 400, 90), ("com.app.Gamma", 40, 5000, 600)]


def write(path, text):
    """At once, so that a reader sees the old one or the new one."""
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").rename(path)
    return str(path)


class Terminal:
    def __init__(self, *args, rows=24, columns=80, env=None):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw, self.code = b"", None
        self.leader, self.tty = pty.openpty()
        fcntl.ioctl(self.tty, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.before = termios.tcgetattr(self.tty)
        merged = {k: v for k, v in {**BASE, **(env or {})}.items() if v is not None}

        def control():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([BBFLOW, *args], env=merged, stdin=self.tty, stdout=self.tty,
                                        stderr=self.tty, preexec_fn=control)

    def pump(self, seconds):
        if select.select([self.leader], [], [], seconds)[0]:
            data = os.read(self.leader, 65536)
            self.raw += data
            # pyte does not know these two scrolls; ncurses sends them at the region's edge.
            data = re.sub(rb"\x1b\[(\d*)S", lambda m: b"\n" * int(m[1] or 1), data)
            self.stream.feed(re.sub(rb"\x1b\[(\d*)T", lambda m: b"\x1bM" * int(m[1] or 1), data))
            return len(data)
        return 0

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def until(self, name, good):
        end = time.monotonic() + WAIT
        while not good(self) and time.monotonic() < end and self.process.poll() is None:
            self.pump(0.1)
        check(name, good(self), self.text.rstrip())

    def has(self, name, words):
        self.until(name, lambda t: words in t.text)

    def press(self, keys):
        os.write(self.leader, keys)

    def resize(self, rows, columns):
        fcntl.ioctl(self.tty, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def ended(self, name, code):
        end = time.monotonic() + WAIT
        while self.process.poll() is None and time.monotonic() < end:
            self.pump(0.1)
        while self.pump(0.2):
            pass
        check(f"{name}: its exit code is {code}", self.process.poll() == code,
              f"{self.process.poll()}\n{self.text}")
        check(f"{name}: the terminal's modes are restored", termios.tcgetattr(self.tty) == self.before)
        self.close()

    def left_screen(self, name):
        check(f"{name}: the cursor is shown, the other screen is left", b"\x1b[?1049l" in self.raw and
              self.raw.rfind(b"\x1b[?25h") > self.raw.rfind(b"\x1b[?25l"), self.raw[-200:])

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.leader)
        os.close(self.tty)


def rows(terminal):
    return re.findall(r"^(?:LEAK|OPEN)\s.*?(\w+)\.keep", terminal.text, re.M)


def orders():
    file = write(WORK / "orders.json", snapshot(THREE))
    t = Terminal("top", file)
    t.has("its first table", "3 places lose buffers")
    for key, want in ((b"l", ["Beta", "Gamma", "Alpha"]), (b"b", ["Alpha", "Gamma", "Beta"]),
                      (b"o", ["Gamma", "Beta", "Alpha"]), (b"p", ["Alpha", "Beta", "Gamma"]),
                      (b"i", ["Gamma", "Beta", "Alpha"]), (b"r", ["Beta", "Gamma", "Alpha"])):
        t.press(key)
        t.until(f"key {key}: {want}", lambda t, w=want: rows(t) == w)
    t.has("details are of the first", "look at: Beta.keep")
    t.press(b"\x1bOB")
    t.has("down selects the second", "look at: Gamma.keep")
    t.press(b"\x1b[4~")
    t.has("end selects the last", "look at: Alpha.keep")
    t.press(b"?")
    t.has("help has the notes", "the second note")
    t.press(b"q")
    t.ended("q", 0)
    t.left_screen("q")
    t = Terminal("top", file, "--sort=oldest")
    t.until("--sort", lambda t: rows(t) == ["Gamma", "Beta", "Alpha"])
    t.press(b"q")
    t.ended("--sort", 0)


def updates():
    """A change is seen; only the difference is sent, and the screen is never cleared."""
    path = WORK / "live.json"
    file = write(path, snapshot(THREE))
    t = Terminal("top", file, "--interval=0.2", columns=120)
    t.has("its first table", "3 places lose buffers")
    t.until("the second is compared", lambda t: re.search(r"900\s+\+0 ", t.text))
    t.press(b"l")
    t.has("by lost", "by lost")
    start = len(t.raw)
    write(path, snapshot([*THREE[:1], ("com.app.Beta", 912, 500, 90), THREE[2]]))
    t.until("12 are new", lambda t: re.search(r"912\s+\+12 ", t.text))
    t.until("then none", lambda t: re.search(r"912\s+\+0 ", t.text))
    sent = t.raw[start:]
    check("only what changed is sent", 0 < len(sent) < 400, sent)
    check("nothing is cleared", not re.search(rb"\x1b\[[0-3]?J|\x1bc", sent), sent)
    t.press(b" ")
    t.has("paused", "(paused)")
    write(path, snapshot(THREE[:1]))
    t.press(b"\r")
    t.has("enter reads once", "1 place loses buffers")
    path.unlink()
    t.press(b"\r")
    t.has("a file that is gone", "No such file")
    check("the last table stays", rows(t) == ["Alpha"], t.text)
    t.press(b"\x03")
    t.ended("Ctrl-C", 0)
    t.left_screen("Ctrl-C")


def sizes():
    file = write(WORK / "sizes.json", snapshot([(f"com.app.P{i:02}", 100 - i, 1, 1) for i in range(60)]))
    t = Terminal("top", file, "--sort=lost")
    t.has("its first table", "60 places")
    for height, width in ((40, 200), (10, 40), (5, 30), (3, 20), (2, 5), (1, 1), (50, 100), (24, 80)):
        t.resize(height, width)
        if height >= 10:
            t.until(f"{height} rows of {width} are used", lambda t, h=height: "quit" in t.lines[h - 1] and
                    "60 plac" in t.lines[0] and "P00" in t.text)
        else:
            for _ in range(5):
                t.pump(0.1)
        check(f"it lives at {height} x {width}", t.process.poll() is None)
    t.press(b"\x1b[4~")
    t.until("the last place is scrolled to", lambda t: "P59" in t.text and "P00" not in t.text)
    t.press(b"q")
    t.ended("sizes", 0)
    t = Terminal("top", file, rows=1, columns=1)
    t.until("a screen of one character", lambda t: len(t.raw) > 0)
    t.press(b"q")
    t.ended("one character", 0)


def kinds():
    file = write(WORK / "kinds.json", snapshot(THREE))
    for term in (None, "", "dumb", "nosuch-terminal"):
        t = Terminal("top", file, env={"TERM": term})
        t.ended(f"TERM={term}", 1)
        check(f"TERM={term}: says what to do", "--once" in t.text and "TERM" in t.text, t.text)
    colour = re.compile(rb"\x1b\[[0-9;]*3[0-7]")
    for name, env, args, coloured in (("screen-256color", {}, [], True), ("NO_COLOR", {"NO_COLOR": "1"}, [], False),
                                      ("never", {}, ["--color=never"], False), ("vt100", {"TERM": "vt100"}, [], False)):
        t = Terminal("top", file, *args, env=env)
        t.has(f"{name}: its table", "quit")
        check(f"{name}: colours are {coloured}", bool(colour.search(t.raw)) == coloured, t.raw)
        t.press(b"q")
        t.ended(name, 0)


def hostile():
    evil = "x\x1b]0;pwned\x07\x1b[2J\r\x08\x7f\x85\x9b31m\u202e\u2066\u200b\u2028\nbbflow: forged 日本語"
    doc = json.loads(snapshot([(evil, 5, 9000, 7)]))
    doc["jvm"]["main"] = evil
    doc["notes"] = [evil]
    file = write(WORK / "evil.json", json.dumps(doc))
    for name, env, args in (("UTF-8", {}, []), ("C", {"LC_ALL": "C"}, []), ("--ascii", {}, ["--ascii"])):
        t = Terminal("top", file, *args, env=env, columns=200)
        t.has(f"{name}: names are escaped", "x\\u001b]0;pwned\\u0007\\u001b[2J")
        check(f"{name}: nothing of them is obeyed", not any(
            s in t.raw for s in (b"\x1b]", b"\x07", b"\x7f", b"\xc2\x85", b"\xc2\x9b", b"\xe2\x80")), t.raw)
        check(f"{name}: no forged line", not any(li.startswith("bbflow:") for li in t.lines), t.text)
        check(f"{name}: other scripts", ("\\u65e5" in t.text) == (name != "UTF-8"), t.text)
        check(f"{name}: ASCII only", name == "UTF-8" or t.raw.isascii(), t.raw)
        t.press(b"q")
        t.ended(name, 0)


def ends():
    file = write(WORK / "ends.json", snapshot(THREE))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        t = Terminal("top", file)
        t.has(f"{number.name}: its table", "quit")
        t.process.send_signal(number)
        t.ended(number.name, 0)
        t.left_screen(number.name)
    t = Terminal("top", file)
    t.has("stop: its table", "quit")
    t.process.send_signal(signal.SIGTSTP)
    t.until("stop: it leaves the screen", lambda t: b"\x1b[?1049l" in t.raw)
    # It leads its session, where the kernel stops no process: so it continues by itself.
    t.until("it is drawn again", lambda t: t.raw.count(b"\x1b[?1049h") == 2)
    t.press(b"q")
    t.ended("after a stop", 0)


def jvm():
    """A JVM's agent (tests/cli/fake_agent.c) that answers, does not answer, ends."""
    file, log, fifo = WORK / "jvm.json", WORK / "log", WORK / "fifo"
    os.mkfifo(fifo)
    write(file, snapshot(THREE))

    def start(path):
        process = subprocess.Popen(["java", "com.app.Main"], executable=FAKE, stdout=subprocess.PIPE,
                                   env={**BASE, "FAKE_JSON": str(path), "FAKE_LOG": str(log)})
        check("the fake agent starts", process.stdout.readline() == b"ready\n")
        return process

    agent = start(file)
    t = Terminal("top", str(agent.pid), "--interval=0.2")
    t.has("its table", "3 places lose buffers")
    check("no collection is requested", "gc" not in log.read_text(), log.read_text())
    t.press(b"g")
    t.until("g requests one", lambda t: "json gc" in log.read_text())
    agent.kill()
    agent.wait()
    t.has("its end is shown", "The JVM has ended. This is its last state, of 20:04:37Z.")
    check("its last state stays", sorted(rows(t)) == ["Alpha", "Beta", "Gamma"], t.text)
    t.press(b"q")
    t.ended("ended JVM", 0)

    agent = start(fifo)  # it waits for its text
    t = Terminal("top", str(agent.pid))

    def asked():
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            try:
                return open(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK), "w")
            except OSError:
                t.pump(0.1)
        sys.exit(f"FAILED the agent is asked: {t.text}")

    with asked() as writer:
        writer.write(snapshot(THREE))
    t.has("its table", "3 places lose buffers")
    writer = asked()  # once more, and it gets nothing
    t.press(b"l")
    t.has("keys are obeyed while it does not answer", "by lost")
    began = time.monotonic()
    t.press(b"q")
    t.ended("q while it does not answer", 0)
    check("at once", time.monotonic() - began < 30)
    writer.close()
    agent.kill()
    agent.wait()
    t = Terminal("top", str(agent.pid))
    t.ended("a JVM that is gone", 3)


def once():
    file = write(WORK / "once.json", snapshot(THREE))
    run = lambda *args: subprocess.run([BBFLOW, "top", file, *args], env=BASE, capture_output=True,
                                       text=True, stdin=subprocess.DEVNULL)
    result = run("--once", "--sort=bytes")
    want = ["com.app.Main (4711)  3 places lose buffers  20:04:37Z", "note: the first note",
            "note: the second note",
            "1,975 allocated: 1,030 released, 0 open (0 B), 945 leaked (14.1 KiB)"]
    check("--once: the head", result.stdout.splitlines()[:4] == want, result.stdout)
    table = [" ".join(line.split()) for line in result.stdout.splitlines()[4:]]
    check("--once: the table", table == ["LOST NEW RATE BYTES SPEED OLDEST LOOK AT",
                                         "LEAK 5 - 33.3% 8.8 KiB - 7s Alpha.keep",
                                         "LEAK 40 - 80.0% 4.9 KiB - 10m Gamma.keep",
                                         "LEAK 900 - 98.9% 400 B - 90s Beta.keep"], result.stdout)
    check("--once: nothing else", result.returncode == 0 and result.stderr == "", result.stderr)
    result = run()
    check("a pipe without --once", result.returncode == 2 and "--once" in result.stderr and
          result.stdout == "", result)
    for bad in ("--sort=nosuch", "--interval=0", "--interval=x"):
        result = run("--once", bad)
        check(f"{bad} is refused", result.returncode == 2 and bad.split("=")[0] in result.stderr, result)


try:
    for part in (orders, updates, sizes, kinds, hostile, ends, jvm, once):
        part()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
print(f"{counts[0]} passed, {counts[1]} failed")
sys.exit(counts[1] != 0)
