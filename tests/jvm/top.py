"""`bbflow top` of a real JVM on a terminal that pyte plays (tests/cli/top.py has the rest, by replay)."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

import harness
from harness import Scenario
from snapshot import same
from watch import losing


class Screen:
    def __init__(self, bench, *args):
        import pyte  # Debian's python3-pyte: scripts/install test
        self.screen = pyte.Screen(100, 24)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
            os.execve(harness.CLIENT, ["bbflow", "top", *args], {**bench.env, "TERM": "screen-256color", "LC_ALL": "C.UTF-8"})

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def until(self, pattern, seconds=40):
        end = time.time() + seconds
        while not re.search(pattern, self.text(), re.M):
            assert time.time() < end, f"no {pattern!r} in\n{self.text()}"
            if select.select([self.fd], [], [], 0.2)[0]:
                self.stream.feed(os.read(self.fd, 65536))

    def key(self, key):
        os.write(self.fd, key.encode())

    def ends(self, seconds=30):
        end, rest = time.time() + seconds, b""
        while time.time() < end:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    rest += os.read(self.fd, 65536)
                except OSError:
                    break
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def a_jvm(bench):
    """The table has the JVM's losses, renews itself with new ones, and stays when the JVM ends."""
    with losing(bench) as program:
        pid = str(program.pid)
        program.tell("lose 7")
        program.tell("gc")
        screen = Screen(bench, pid, "--interval", "0.5")
        screen.until(r"^LEAK +7 .*Losing\.open$")
        screen.until(r"^way: .* -> Steps\.leaky$")
        program.tell("lose 100")
        program.tell("gc")
        screen.until(r"^LEAK +107 .*Losing\.open$")
        program.tell("also 3")
        program.tell("gc")
        screen.until(r"^LEAK +110 .*Losing\.open$")
        once = program.ask("top", pid, "--once", "--sort", "lost")
        same("top --once", re.findall(r"^LEAK +(\d+) ", once, re.M), ["110"])
        program.process.kill()
        program.process.wait()
        screen.until(r"ended")
        screen.until(r"^LEAK +110 .*Losing\.open$")
        screen.key("q")
        same("exit of top", screen.ends(), 0)


def cases():
    yield Scenario("top/a JVM", a_jvm, jdk=(17,), short=(17,))
