"""Runs one JVM of an experiment and looks at it from outside."""

import concurrent.futures
import json
import mmap
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import time

import machine
from clock import Clock

SETTLE = 0.3  # seconds of processor time between "go" and the first look, at least
QUIET = 0.05  # the compilers' share of a slice, from which on all is compiled
IN_A_ROW = 5  # slices
STOP_ENDS = 2.5  # seconds: classes that were being loaded are put back after two
LINE = 64
PATIENCE = 25  # times the time asked for: a machine that is that busy measures nothing


class Failed(Exception):
    pass


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return int(re.search(r"VmRSS:\s*(\d+)", file.read()).group(1)) / 1024


def events(path):
    """What the agent counted: (buffers with their steps and ends), as its report has them. Each
    node's `passed` is one event of each buffer that came by; repeated rounds of a loop are one."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    return report["totals"]["lives"], sum(n["passed"] for n in report["nodes"]), report


def young_pauses(path):
    """Milliseconds of each young collection in a log of -Xlog:gc, of those after the last one that
    the program asked for if it did."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        warm = file.read().rpartition("(System.gc())")[2]
    return [float(ms) for ms in re.findall(r"Pause Young.* ([\d.]+)ms", warm)]


def collections(path):
    pauses = young_pauses(path)
    if not pauses:
        return {"young": 0}
    half = pauses[len(pauses) // 2:]  # those of the warm-up are another thing
    return {"young": len(pauses), "young_ms": round(statistics.median(half), 3),
            "young_max_ms": max(half)}


def client(*args):
    done = subprocess.run([os.path.join(machine.binaries(), "bbflow"), *args], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failed(f"bbflow {' '.join(args)}: {done.stdout}")


def pin(pid):
    """All its threads on one core: cores have neighbours of their own, for longer than a turn."""
    core = {min(os.sched_getaffinity(0))}
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            os.sched_setaffinity(int(thread), core)
        except ProcessLookupError:
            continue  # it has ended


def gc_log(path):
    return f"-Xlog:gc:file={path}:uptime"


class Folder:
    """Where one JVM writes; gone when it did well."""

    def __init__(self, name):
        self.path = os.path.join(machine.WORK, "runs", re.sub(r"\W+", "-", name))
        shutil.rmtree(self.path, ignore_errors=True)
        os.makedirs(self.path)

    def file(self, name):
        return os.path.join(self.path, name)

    def read(self, name):
        with open(self.file(name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Worker:
    """A JVM at work, one level of an experiment."""

    def __init__(self, experiment, level, application):
        self.level = level
        self.application = application
        self.folder = Folder(f"{experiment.key}-{level.name}")
        self.report = self.folder.file("out.json")
        self.log = self.folder.file("gc.log")
        self.busy = 1  # threads that can run at once
        self.process = self.clock = None

    def flags(self):
        return [gc_log(self.log), *self.level.flags(self.application, self.report)]

    def start(self, command, **streams):
        with open(self.folder.file("command"), "w", encoding="utf-8") as out:
            out.write(" ".join(command) + "\n")
        with open(self.folder.file("stderr"), "w", encoding="utf-8") as err:
            self.process = subprocess.Popen(command, stderr=err, text=True,
                                            env=machine.environment(), **streams)
        self.clock = Clock(self.process.pid)

    def come_or_go(self):
        """The agent does, if it is its time now; or its settings change."""
        pid = str(self.process.pid)
        if self.level.when == "attach":
            client("attach", pid, *self.level.options(self.application, self.report).split(","))
        elif self.level.when == "stop":
            client("stop", pid)
            time.sleep(STOP_ENDS)
        elif self.level.when == "retransform":
            machine.retransform(pid, self.level.classes(self.application))
        elif self.level.then:
            client("set", pid, *self.level.then)

    def work(self, seconds):
        """Waits until so much of its time more has gone (times the threads that can run)."""
        until = self.clock.seconds() + seconds * self.busy
        wall = time.monotonic() + PATIENCE * seconds + 60
        while True:
            left = until - self.clock.seconds()
            if left <= 0:
                return
            if self.process.poll() is not None or time.monotonic() > wall:
                raise Failed(f"{self.folder.path}: ended, or does nothing: "
                             + self.folder.read("stderr")[-800:])
            time.sleep(min(max(left / self.busy, 0.002), 0.2))

    def settle(self, seconds, most):
        """Works for `seconds`, and on until the compilers have nothing to do; at most `most` slices of SETTLE
        more (then the rest of their work is part of the measurement). After the agent came or went, code
        that is not yet hot again leaves them idle meanwhile: they must be idle IN_A_ROW times, and
        have twice the time."""
        quiet, needed = 0, 1
        if self.level.when != "start":
            most, needed = 2 * most, IN_A_ROW
        self.work(seconds)
        for _ in range(most):
            compiled, worked = self.clock.compilers(), self.clock.seconds()
            self.work(SETTLE)
            idle = self.clock.compilers() - compiled < QUIET * (self.clock.seconds() - worked)
            quiet = quiet + 1 if idle else 0
            if quiet >= needed:
                break

    def looks_like(self):
        return {"compilers_s": round(self.clock.compilers(), 2),
                "rss_mb": round(resident_mb(self.process.pid), 1)}

    def has_counted(self, operations):
        """What log and report of a JVM that has ended say; operations: those that the agent saw."""
        result = collections(self.log)
        if self.level.tracks:
            result.update(counted(self.report, operations))
            if self.level.samples:  # what its report has is scaled up: no events that were
                del result["events"], result["lives"]
        return result

    def close(self):
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            try:
                if stream:
                    stream.close()
            except OSError:
                pass  # what it did not read is lost


class Bench(Worker):
    """A JVM that runs com.example.bench.Bench. Begun it is warm, and stands still but for its turns."""

    def __init__(self, experiment, level):
        super().__init__(experiment, level, "com.example.bench")
        self.experiment = experiment
        self.busy = min(experiment.threads, os.cpu_count())
        self.shown = None
        self.unseen = 0  # operations before the agent came
        self.turns = []  # (operations, processor seconds, wall seconds) of each

    def up(self, before=()):
        """Starts it, and it works. before: what its command begins with."""
        experiment = self.experiment
        counters = self.folder.file("counters")
        more = machine.library(experiment.workload)
        self.start([*before, machine.java(experiment.jdk), *experiment.heap,
                    f"-XX:+Use{experiment.collector}GC",
                    *self.flags(), f"-Dbench.keys={machine.keys()}",
                    "-cp", machine.class_path(experiment.netty, *more), "com.example.bench.Bench",
                    counters, experiment.workload, str(experiment.threads)],
                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.expect("up")
        with open(counters, "rb") as file:
            self.shown = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        self.say("go")

    def begin(self):
        experiment = self.experiment
        self.up()
        self.work(experiment.warm)
        self.say("pause")
        self.unseen = self.done() if self.level.when == "attach" else 0
        self.come_or_go()
        self.say("go")
        self.settle(experiment.warm_again(), experiment.settles)
        if self.busy == 1:
            pin(self.process.pid)
        self.process.send_signal(signal.SIGSTOP)

    def expect(self, word):
        line = self.process.stdout.readline()
        # The JVM's, not the workload's: of 17 with JFR and without its log, the option.
        while line.startswith(("[", "filename=")):
            line = self.process.stdout.readline()
        line = line.strip()
        if line != word:
            self.process.kill()
            self.process.wait()
            raise Failed(f"{self.folder.path}: {line!r}, not {word!r}: "
                         + self.folder.read("stderr")[-800:])

    def say(self, word):
        try:
            self.process.stdin.write(word + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # what it has to say instead is in its stderr
        self.expect(word)

    def done(self):
        return sum(struct.unpack_from("=q", self.shown, at)[0]
                   for at in range(0, len(self.shown), LINE))

    def look(self):
        """(operations, processor seconds, wall seconds), so close together that they belong to
        the same moment; after ten tries the machine is too busy for that: the last one counts."""
        for _ in range(10):
            before = time.monotonic()
            picture = self.done(), self.clock.seconds(), time.monotonic()
            if picture[2] - before < 0.001:
                break
        return picture

    def turn(self):
        experiment = self.experiment
        self.process.send_signal(signal.SIGCONT)
        before = self.look()
        self.work(experiment.seconds / experiment.turns())
        self.turns.append([b - a for a, b in zip(before, self.look())])
        self.process.send_signal(signal.SIGSTOP)

    def end(self):
        """Its sample."""
        self.process.send_signal(signal.SIGCONT)
        result = {**rates(self.turns), **self.looks_like()}
        self.say("end")
        self.process.wait(60)
        seen = self.done() - self.unseen + self.experiment.filled()
        result.update(self.has_counted(seen))
        self.close()
        self.folder.remove()
        return result


def one_by_one(sample, experiment, order):
    """One round: {level: its sample, or why there is none}."""
    taken = {}
    for level in order:
        try:
            taken[level] = sample(experiment, level)
        except (Failed, OSError) as why:
            taken[level] = why
    return taken


def in_turns(experiment, order, worker=Bench, at_a_time=1):
    """As one_by_one(): all JVMs are warmed up, `at_a_time` together, and then work in short turns, one
    at a time, on the same core if they have one thread. What others do to this machine lasts longer than a
    turn, and meets all levels."""
    taken = {}
    benches = {level: worker(experiment, level) for level in order}

    def each(do, at_a_time=1):
        with concurrent.futures.ThreadPoolExecutor(at_a_time) as pool:
            under_way = {level: pool.submit(do, bench) for level, bench in benches.items()}
        for level, result in under_way.items():
            try:
                taken[level] = result.result()
            except (Failed, OSError) as why:
                taken[level] = why
                benches.pop(level).close()

    try:
        each(worker.begin, at_a_time)
        for _ in range(experiment.turns()):
            each(worker.turn)
            benches = dict(reversed(benches.items()))
        each(worker.end)
    finally:
        for bench in benches.values():
            bench.close()
    return taken


def rates(turns):
    """ns: processor time an operation; wall: operations a second."""
    operations, processor, wall = (sum(column) for column in zip(*turns))
    if operations == 0:
        raise Failed("no operation was done in the time to be measured")
    return {"ns": round(1e9 * processor / operations, 2), "wall": round(operations / wall, 1)}


def counted(path, operations):
    lives, all_events, report = events(path)
    limits = report["limits"]
    return {"events": round(all_events / operations, 3), "lives": round(lives / operations, 3),
            "open": report["totals"]["live"], "nodes": limits["maxNodes"]["used"],
            "memory": limits["memory"]["used"],
            "dropped": round((report["totals"]["dropped_lives"]
                              + report["totals"]["dropped_steps"]) / operations, 3)}
