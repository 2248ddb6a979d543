"""`bbflow watch`: what is new, with totals, time and thread; its ends; what a late watcher sees."""

import os
import re
import signal
import subprocess
import time

import harness
from attach import NO_LEAK_DETECTOR, Program
from harness import Scenario
from snapshot import same

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"


def losing(bench, options=""):
    return Program(bench, "losing", ready="READY",
                   jvm=[NO_LEAK_DETECTOR, f"-agentpath:{harness.AGENT}=include=com.app{options}"])


class Watcher:
    """bbflow watch, its stdout and stderr in files unless it is given another stdout."""

    def __init__(self, bench, *args, stdout=None):
        Watcher.count = getattr(Watcher, "count", 0) + 1
        self.paths = [bench.path(f"watch{Watcher.count}.{n}") for n in ("out", "err")]
        files = [open(p, "w", encoding="utf-8") for p in self.paths]
        self.process = subprocess.Popen([harness.CLIENT, "watch", *args], stdin=subprocess.DEVNULL,
                                        stdout=stdout or files[0], stderr=files[1], env=bench.env)
        for file in files:
            file.close()

    def read(self, i=0):
        with open(self.paths[i], encoding="utf-8") as file:
            return file.read()

    def until(self, pattern, i=0, seconds=30):
        end = time.time() + seconds
        while not re.search(pattern, self.read(i), re.M):
            assert time.time() < end, f"no {pattern!r} in {self.read(0)}{self.read(1)}"
            assert self.process.poll() is None, f"ended: {self.read(0)}{self.read(1)}"
            time.sleep(0.05)

    def ends(self, code, seconds=30):
        same("exit of watch: " + self.read(1), self.process.wait(seconds), code)
        return self.read(1)


def line(verdict, words):
    return rf"^{TIME} {verdict} heap: {words}, by loser: UnpooledByteBufAllocator\.heapBuffer → .*"


def what_is_new(bench):
    """Each loss is printed once, with the total; a late watcher begins with the totals so far; a place
    that loses more is printed again; a reset begins anew."""
    with losing(bench) as program:
        pid = str(program.pid)
        program.tell("lose 7")
        program.tell("gc")
        first = Watcher(bench, pid)
        first.until(line("LEAK", r"7 buffers so far \(448 bytes\)") + r"Steps\.leaky$")
        for add, total in ((100, 107), (4782, 4889)):
            program.tell(f"lose {add}")
            program.tell("gc")
            first.until(line("LEAK", rf"{total} so far \({total * 64} bytes\)").replace(
                "heap: ", r"heap: \d+ new buffers? \(\d+ bytes\), ") + r"Steps\.leaky$")
        late = Watcher(bench, pid)
        late.until(line("LEAK", r"4889 buffers so far \(312896 bytes\)") + r"Steps\.leaky$")
        program.tell("also 3")
        program.tell("gc")
        for watcher in (first, late):
            watcher.until(line("LEAK", r"3 new buffers \(192 bytes\), 3 so far \(192 bytes\)") +
                          r"Steps\.step2$")
        time.sleep(2.5)  # nothing is new: nothing is printed
        said = [int(n) for n in re.findall(r"heap: (\d+) new buffers? .*Steps\.leaky$", first.read(), re.M)]
        same("what was added", sum(said), 4889 - 7)
        same("lines of the late one", len(late.read().splitlines()), 2)
        assert all(re.match(TIME + " LEAK ", text) for text in first.read().splitlines()), first.read()
        program.ask("reset", pid)
        program.tell("lose 5")
        program.tell("gc")
        late.until(line("LEAK", r"5 new buffers \(320 bytes\), 5 so far \(320 bytes\)"))
        for watcher in (first, late):
            watcher.process.send_signal(signal.SIGINT)
            assert "following" in watcher.ends(0)
        same("exit", program.end(), 0)


def aged(bench):
    """Buffers that are open for too long, with the same words; one that was released is not printed."""
    with losing(bench, ",age=1s") as program:
        program.tell("hold 4")
        watcher = Watcher(bench, str(program.pid))
        watcher.until(line("AGED", r"(4 buffers|4 new buffers \(256 bytes\), 4) so far \(256 bytes\)"))
        program.tell("hold 2")
        watcher.until(line("AGED", r"2 new buffers \(128 bytes\), 6 so far \(384 bytes\)"))
        late = Watcher(bench, str(program.pid))
        late.until(line("AGED", r"6 buffers so far \(384 bytes\)"))
        for each in (watcher, late):
            each.process.terminate()
            each.ends(0)
        same("exit", program.end(), 0)


def heard(watcher, verdict, total, step):
    """It receives each of them once."""
    watcher.until(rf"{verdict} heap: .*\b{total} (buffers )?so far .*Steps\.{step}$")
    said = re.findall(rf"{verdict} heap: (\d+) .*Steps\.{step}$", watcher.read(), re.M)
    same(f"{verdict} {said}", sum(map(int, said)), total)


def two(bench):
    """Buffers are lost, or become too old, just before a second watcher comes: each of the two receives
    each loss once."""
    with losing(bench, ",age=1s") as program:
        program.tell("hold 4")
        for i in range(1, 7):  # most of these times the agent does not look in between
            program.tell("lose 7")
            program.tell("gc1")
            first = Watcher(bench, str(program.pid))
            first.until(r"AGED heap: .*Steps\.step$")
            if i == 6:
                program.tell("hold 3")
                time.sleep(1.5)
            program.tell("gc1")
            second = Watcher(bench, str(program.pid))
            second.until(r"AGED heap: .*Steps\.step$")
            for watcher in (first, second):
                heard(watcher, "LEAK", 7 * i, "leaky")
                heard(watcher, "AGED", 4 if i < 6 else 7, "step")
                watcher.process.terminate()
                watcher.ends(0)
            time.sleep(1.2)  # until the agent knows that they are gone
        same("exit", program.end(), 0)


def ends(bench):
    """A closed pipe, also when nothing more is lost; the JVM's end, by itself and by SIGKILL; a stop;
    a connection that does not answer; a JVM that is stopped."""
    with losing(bench) as program:
        pid = str(program.pid)
        program.tell("lose 7")
        program.tell("gc")
        begin = time.time()
        done = subprocess.run(["bash", "-c", "set -o pipefail; \"$1\" watch \"$2\" | head -1", "bash",
                               harness.CLIENT, pid], env=bench.env, stdin=subprocess.DEVNULL, timeout=60,
                              capture_output=True, text=True)
        same(f"head: {done.stdout}{done.stderr}", done.returncode, 0)
        assert time.time() - begin < 5, time.time() - begin
        assert re.match(TIME + " LEAK ", done.stdout), done.stdout
        for end, words in ((signal.SIGTERM, ""), (signal.SIGINT, "")):
            watcher = Watcher(bench, pid)
            watcher.until("LEAK")
            watcher.process.send_signal(end)
            watcher.ends(0)
        watcher = Watcher(bench, pid)
        watcher.until("LEAK")
        program.ask("stop", pid)
        assert f"bbflow was stopped in JVM {pid} (com.app.Probes)" in watcher.ends(0)
        same("exit", program.end(), 0)
    with losing(bench) as program:
        watcher = Watcher(bench, str(program.pid))
        watcher.until("following", 1)
        time.sleep(0.5)
        same("exit", program.end(), 0)
        assert f"JVM {program.pid} (com.app.Probes) has ended" in watcher.ends(0)
    with losing(bench) as program:
        watcher = Watcher(bench, str(program.pid))
        watcher.until("following", 1)
        program.process.kill()
        program.process.wait()
        assert f"JVM {program.pid} (com.app.Probes) has ended" in watcher.ends(0)
    with losing(bench) as program:
        watcher = Watcher(bench, str(program.pid), "--timeout", "3")
        watcher.until("following", 1)
        time.sleep(8)  # idle: it is asked, and answers
        same("idle", watcher.process.poll(), None)
        os.kill(program.pid, signal.SIGSTOP)
        try:
            assert "is stopped" in watcher.ends(1)
            for verb in ("tree", "status", "set", "stop", "watch"):
                text = program.ask(verb, str(program.pid), *(["age=5s"] if verb == "set" else []), code=1)
                assert f"JVM {program.pid} (com.app.Probes) is stopped" in text and "kill -CONT" in text, text
        finally:
            os.kill(program.pid, signal.SIGCONT)
        program.ask("status", str(program.pid))
        same("exit", program.end(), 0)


def sampled(bench):
    """Numbers of a sample are estimates, and called so; those of the opener are of the same unit."""
    with losing(bench, ",sample=2") as program:
        program.tell("lose 4000")
        program.tell("apart 1000")
        program.tell("gc")
        watcher = Watcher(bench, str(program.pid))
        said = rf"^{TIME} LEAK heap: about (\d+) buffers so far \(about \d+ bytes\), by loser \((\d+) of (\d+)\)"
        watcher.until(said)
        count, opened, of = map(int, re.search(said, watcher.read(), re.M).groups())
        same("the opener's share is of", of, count)
        assert 3000 < opened < count, (opened, count)
        watcher.process.terminate()
        watcher.ends(0)
        same("exit", program.end(), 0)


def cases():
    yield Scenario("watch/what is new", what_is_new, jdk=(17, 25), short=(17,))
    yield Scenario("watch/aged", aged, jdk=(17, 25), short=(17,))
    yield Scenario("watch/two", two, jdk=(17, 25), short=(25,))
    yield Scenario("watch/ends", ends, jdk=(17, 25), short=(25,))
    yield Scenario("watch/sampled", sampled, jdk=(17, 25), short=(25,))
