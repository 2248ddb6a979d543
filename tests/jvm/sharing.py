"""Cases of one JVM: those with equal JDK, Netty, class path, flags and options run in it one after the
other (com.turns.Turns). Each gets a document of its own time: the report before it is followed by a
reset, so its numbers are as exact as those of a JVM of its own, and its check is the same.
"""

import os
import time

import harness
from harness import Case, Run
from snapshot import Snapshot, same

MOST = 16  # programs of a JVM: a crash costs the others of it a JVM each


class Broken(Exception):
    """The JVM ended before the program did."""


def key(case, major):
    """What has to be equal for two cases to share a JVM; None: this one needs its own."""
    if type(case) is not Case or case.live or case.own_jvm or case.exit_code or case.alone \
            or case.agent is None or "@PATH@" in case.args:
        return None
    return (major, case.netty, tuple(case.jvm), tuple(case.after), case.agent, case.classes,
            case.libraries)


def groups(work):
    """[(case, major)] -> [[(case, major), …]] of those that share, in order; a case that finds no
    other is not among them."""
    found = {}
    for case, major in work:
        if key(case, major):
            found.setdefault(key(case, major), []).append((case, major))
    for members in found.values():
        parts = -(-len(members) // MOST)
        for part in (members[n::parts] for n in range(parts)):
            if len(part) > 1:
                yield part


class Turn(Run):
    """A program's turn, as its check sees a Run."""

    def __init__(self, case, jvm):
        super().__init__(case, jvm.jdk, True)  # `command` is that of the case alone
        self.jvm = jvm
        self.env, self.sockets, self.pid = jvm.env, jvm.sockets, jvm.pid
        self.write("shared", f"{jvm.folder}\n")

    def take(self):
        begin = {name: len(self.jvm.read(name)) for name in ("stdout", "stderr")}
        self.jvm.tell("\t".join([self.case.main, *self.case.args]))
        self.exit = self.jvm.ended(begin["stdout"])
        for name, size in begin.items():
            self.write(name, self.jvm.read(name)[size:])
        self.stdout, self.stderr = self.read("stdout"), self.read("stderr")
        self.stdout = self.stdout[:self.stdout.rindex("TURN ")]
        # In map mode what was collected is known once the JVM's reference handler has run.
        mapped = any(flag.endswith("other-agent.jar=load") for flag in self.case.jvm)
        collect = ["--gc"] if mapped or "gc=exit" in self.case.agent else []
        self.write("out.json", self.client("dump", *collect, str(self.pid))[0])
        self.client("reset", str(self.pid))


class Shared(Run):
    """The JVM. Its `case` is the first of those that share it."""

    def __init__(self, members, jdk, name):
        case = members[0][0]
        self.case, self.jdk = case, jdk
        self.members = [c.name for c, _ in members]
        self.folder = harness.folder_for(name, jdk)
        self.json_path = os.path.join(self.folder, "out.json")
        self.command = harness.java_command(case, jdk, True, self.json_path, self.folder, [
            "com.turns.Turns", harness.class_path(case.classes, None)], classes="turns")
        self.stdin = True
        self.usable = True
        self.write("command", harness.short_line(self.command))
        self.write("turns", "")
        self.start()
        self.ended(0)

    def tell(self, line):
        with open(os.path.join(self.folder, "turns"), "a", encoding="utf-8") as file:
            file.write(line + "\n")
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise Broken(str(error)) from None

    def ended(self, begin):
        """The exit code that TURN names in what is printed after `begin`."""
        end = time.time() + harness.TIMEOUT
        while time.time() < end:
            gone = self.process.poll() is not None
            last = self.read("stdout")[begin:].rstrip("\n").rsplit("\n", 1)[-1]
            if last.startswith("TURN"):
                return int(last[5:] or 0)
            if gone:
                raise Broken(f"exit {self.process.returncode}")
            time.sleep(0.005)
        self.kill()
        raise Broken(f"still running after {harness.TIMEOUT} s")

    def turn(self, case):
        """Runs and checks one case. Lives that it leaves open would be the next one's: then this JVM
        takes no other."""
        self.usable = False
        turn = Turn(case, self)
        turn.take()
        case.judge(turn)
        self.usable = turn.json.totals["live"] == 0

    def close(self):
        """It ends as every JVM has to: code 0, a report that adds up, no word of ours."""
        self.usable = False
        self.finish()
        same("exit code of the JVM", self.exit, 0)
        picture = Snapshot(self.read("out.json"))
        picture.check()
        harness.validate(picture.doc)
        same("stderr of the JVM", harness.agent_lines(self.stderr), [])
