#!/usr/bin/env python3
"""tests/cli/progress.py BBFLOW FAKE_AGENT - the line that a command shows on a terminal while it works for long: when it is
there, that it fits, and that nothing of it remains; and --quiet: the same exit code and results, no notes, no progress.

What takes long is a FIFO in place of a snapshot, or a peer that does not answer, for as long as the test wants: no
check depends on the speed of the machine.
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata

BBFLOW, FAKE = sys.argv[1], sys.argv[2]
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "render"
SNAPSHOT = (GOLDEN / "interior.json").read_bytes()
WORK = pathlib.Path(tempfile.mkdtemp(prefix="bbf-progress-", dir="/tmp"))
BASE = {k: v for k, v in os.environ.items()
        if not k.startswith("LC_") and k not in ("LANG", "NO_COLOR", "COLUMNS", "BBFLOW_TOKEN_FILE")}
BASE.update(LC_ALL="C.UTF-8", TERM="xterm", XDG_RUNTIME_DIR=str(WORK), NO_COLOR="1")
LONG = 60  # seconds: only a failure takes so long
SILENT = 1.7  # seconds without a line, where one would come after 1
ERASE = b"\r\x1b[K"
counts = [0, 0]


def check(name, good, detail=""):
    counts[0 if good else 1] += 1
    if not good:
        print(f"FAILED {name}: {str(detail)[:700]}", flush=True)


def columns(text):
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Run:
    """bbflow on a terminal of that width; stderr may go elsewhere."""

    def __init__(self, *args, width=80, env=None, stderr=None, background=False):
        self.out = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
            if stderr is not None:
                os.dup2(stderr, 2)
            if background:  # the shell in the foreground is this process
                child = os.fork()
                if child != 0:
                    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                os.setpgid(0, 0)
            merged = {**BASE, **(env or {})}
            os.execve(BBFLOW, ["bbflow", *args], {k: v for k, v in merged.items() if v is not None})

    def read(self, seconds):
        """What came; False: the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return False
        self.out += piece
        return bool(piece)

    def until(self, wanted):
        ends = time.monotonic() + LONG
        while wanted not in self.out and time.monotonic() < ends and self.read(1):
            pass
        return wanted in self.out

    def wait(self):
        ends = time.monotonic() + LONG
        while time.monotonic() < ends and self.read(1):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def screen(out):
    """The lines that a terminal shows at the end, and each state that its last line had."""
    lines, at, states = [[]], 0, []
    for part in re.split("(\r\n|\r|\x1b\\[K)", out.decode(errors="surrogateescape")):
        if part == "\r\n":
            lines.append([])
            at = 0
        elif part == "\r":
            at = 0
        elif part == "\x1b[K":
            del lines[-1][at:]
            states.append("".join(lines[-1]))
        else:
            for c in part:
                lines[-1][at:at + 1] = [c]
                at += 1
    return ["".join(line) for line in lines], states


def fifo(name):
    path = WORK / name
    os.mkfifo(path)
    return path


def give(path):
    with open(path, "wb") as to:
        to.write(SNAPSHOT)


def in_pipe(*args, env=None):
    done = subprocess.run([BBFLOW, *args], env={**BASE, **(env or {})}, stdin=subprocess.DEVNULL, timeout=LONG,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


# ---- The line ------------------------------------------------------------------------------------

EVIL = "ünï🚨\x1b[2Jfoo\u202e" + 30 * "日本" + ".json"


def is_shown():
    plain = in_pipe("tree", str(GOLDEN / "interior.json"), "--wide")[1].decode()
    for width in (20, 40, 80, 200):
        for env in ({}, {"LC_ALL": "C"}):
            name = f"at {width}, {env or 'UTF-8'}"
            path = fifo(EVIL)
            run = Run("tree", str(path), "--wide", *(["--ascii"] if env else []), width=width, env=env)
            check(f"a line comes {name}", run.until(b" s\x1b[K"), run.out)
            first = run.out
            check(f"it renews itself {name}", run.until(b": 2 s\x1b[K" if width > 40 else b"2 s\x1b[K"), run.out)
            give(path)
            code = run.wait()
            os.unlink(path)
            lines, states = screen(run.out)
            check(f"it fits {name}", all(columns(s) < width for s in states), states)
            check(f"it is one line {name}", b"\n" not in first, first)
            check(f"it says what {name}", width <= 40 or "reading " in states[0], states)
            check(f"nothing raw {name}", not re.search("[\x00-\x1f\u202e]", "".join(states)), states)
            check(f"ASCII {name}", not env or "".join(states).isascii(), states)
            check(f"nothing remains {name}", code == 0 and
                  (bool(env) or "\n".join(lines) == plain) and " s" not in lines[-1], (code, lines[-3:]))


def stays_away():
    """Beside each other: where no line may come."""
    other = open(WORK / "stderr", "wb")
    cases = {"--quiet": dict(flags=["--quiet"]), "dumb": dict(env={"TERM": "dumb"}), "no TERM": dict(env={"TERM": None}),
             "stderr is a file": dict(stderr=other.fileno()), "in the background": dict(background=True)}
    runs = {}
    for name, how in cases.items():
        path = fifo(name)
        runs[name] = path, Run("summary", str(path), *how.pop("flags", []), **how)
    begin = fifo("begin")
    shown = Run("summary", str(begin))
    check("the line is there meanwhile", shown.until(b" s\x1b[K"))
    time.sleep(SILENT - 1)
    for path in [begin, *(path for path, _ in runs.values())]:
        give(path)
    check("the end of the one with a line", shown.wait() == 0)
    for name, (_, run) in runs.items():
        code = run.wait()
        check(f"no line: {name}", code == 0 and b"\x1b" not in run.out and b"reading" not in run.out, (code, run.out[:300]))
    check("nothing in a log", (WORK / "stderr").read_bytes() == b"", (WORK / "stderr").read_bytes())


def is_erased():
    """A failure, and signals."""
    with socket.create_server(("localhost", 0)) as mute:
        port = mute.getsockname()[1]
        run = Run("dump", f"localhost:{port}", "--protocol", "2")
        check("a peer that does not answer", run.until(f"waiting for localhost:{port}: 1 s".encode()), run.out)
        peer = mute.accept()[0]
        peer.close()
    code = run.wait()
    lines, _ = screen(run.out)
    check("a failure has lines of its own", code == 5 and lines[0].startswith(f"bbflow: localhost:{port}: ") and
          lines[-1] == "", (code, lines))
    for name, send in (("TERM", None), ("Ctrl-C", b"\x03")):
        run = Run("summary", str(fifo(name)))
        check(f"a line before {name}", run.until(b" s\x1b[K"), run.out)
        if send is None:
            os.kill(run.pid, signal.SIGTERM)
        else:
            os.write(run.fd, send)
        code = run.wait()
        lines, _ = screen(run.out)
        check(f"{name} ends it, and nothing remains", code == (-15 if send is None else -2) and lines == [""], (code, lines))


def is_counted():
    """Several documents, and bytes of them."""
    slow = fifo("slow.json")
    run = Run("merge", str(GOLDEN / "basic.json"), str(slow), "-o", str(WORK / "all.json"))
    check("which one of them", run.until(b"2 of 2: reading slow.json: 1 s"), run.out)
    give(slow)
    code = run.wait()
    check("merged", code == 0 and screen(run.out)[0] == [""] and (WORK / "all.json").stat().st_size > 1000, (code, run.out))
    with socket.create_server(("localhost", 0)) as listener:
        run = Run("dump", f"localhost:{listener.getsockname()[1]}", "--protocol", "2", "--timeout", "60")
        peer = listener.accept()[0]
        peer.recv(4)
        peer.sendall(b"BTR2")
        peer.recv(100)  # the first question
        peer.sendall(b"\x03\x04" + struct.pack(">q??i", 0, 0, 0, 1 << 20) + 5000 * b"x")  # a frame that does not end
        check("the bytes that came", run.until(b"KiB, "), run.out)
        peer.close()
    check("its end", run.wait() == 1)


# ---- --quiet -------------------------------------------------------------------------------------

def is_quiet():
    sockets = WORK / "sockets"
    sockets.mkdir()
    env = {**BASE, "FAKE_JSON": str(GOLDEN / "basic.json"), "FAKE_SOCKETS": str(sockets)}
    agent = subprocess.Popen([b"java", b"com.example.Main"], executable=FAKE, env=env, stdout=subprocess.PIPE)
    check("the fake agent starts", agent.stdout.readline() == b"ready\n")
    at = ["--socket", str(sockets)]
    in_pipe("set", "trackDirectOnly=on", *at)
    golden = str(GOLDEN / "interior.json")
    try:
        for name, args, code, has_note in (
                ("a report", ["tree", golden], 0, False), ("leaks", ["leaks", golden], 10, False),
                ("check", ["check", golden], 10, False), ("a JVM", ["summary", *at], 0, False),
                ("reset by no name", ["reset", *at], 0, True), ("set by no name", ["set", "trackDirectOnly=on", *at], 0, True),
                ("set, refused", ["set", "nosuch=1", *at], 5, False),
                ("no such JVM", ["tree", "com.Nosuch", *at], 3, False),
                ("no JVM", ["list", "--socket", str(WORK / "nothing")], 3, False),
                ("no such file", ["tree", "/nosuch/x.json"], 3, False), ("jfr of no file", ["jfr", "summary", "/nosuch.jfr"], 1, False),
                ("a bad flag", ["tree", "--nosuch"], 2, False)):
            loud, quiet = in_pipe(*args), in_pipe(*args, "--quiet")
            check(f"{name}: exit {code}", loud[0] == quiet[0] == code, (loud, quiet))
            check(f"{name}: the result", loud[1] == quiet[1], (loud[1], quiet[1]))
            # Behind "Without the agent" are the machine's other JVMs, which come and go meanwhile.
            failure, still = (text.split(b"\nWithout the agent")[0] for text in (loud[2], quiet[2]))
            check(f"{name}: {'no note' if has_note else 'the failure'}",
                  (failure != b"" and quiet[2] == b"") if has_note else failure == still, (loud[2], quiet[2]))
    finally:
        agent.kill()
        agent.communicate()
    # Each command takes it.
    commands = re.findall("^command ([a-z]+)(.*)$", in_pipe("help", "words")[1].decode(), re.M)
    check("commands", len(commands) > 20)
    for command, flags in commands:
        check(f"{command} takes --quiet", " --quiet" in flags.split("=")[0] or " --quiet " in flags, flags)
        check(f"{command} --quiet --help", in_pipe(command, "--quiet", "--help")[0] == (2 if command == "jfr" else 0))
    check("it takes no value", in_pipe("list", "--quiet=yes")[0] == 2)


try:
    for fd in pty.openpty():
        os.close(fd)
except OSError:
    print("skipped: this machine has no pseudo-terminals (mount -t devpts devpts /dev/pts)")
    sys.exit(77)
try:
    for part in (is_shown, stays_away, is_erased, is_counted, is_quiet):
        part()
finally:
    shutil.rmtree(WORK, ignore_errors=True)
print(f"{counts[0]} passed, {counts[1]} failed")
sys.exit(counts[1] != 0)
