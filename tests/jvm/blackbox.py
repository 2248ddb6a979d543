"""The black box (issue 23, point 11): what is left of a JVM that was killed, the file in folders that others
can write to, on full disks, cut and removed while it is written; the report near the cgroup's limit."""

import contextlib
import datetime
import os
import random
import shutil
import signal
import time

import files
import harness
from attach import NO_LEAK_DETECTOR, Program
from harness import Scenario, agent_lines, validate
from snapshot import Snapshot, same

LEAKY = "com.app.Steps.leaky"
INTERVAL_S = 1


def losing(bench, options, jvm=(), **more):
    agent = f"-agentpath:{harness.AGENT}=include=com.app,{options}"
    return Program(bench, "losing", ready="READY", jvm=[NO_LEAK_DETECTOR, *jvm, agent], **more)


def kill(program):
    program.process.send_signal(signal.SIGKILL)
    program.process.wait(20)


def box(program, path):
    """The document in the box, checked as every snapshot is."""
    picture = Snapshot(program.ask("dump", path))
    picture.check()
    validate(picture.doc)
    return picture


def when(picture):
    """Seconds since 1970."""
    return datetime.datetime.fromisoformat(picture.doc["captured_at"].replace("Z", "+00:00")).timestamp()


def until(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = condition()
        except (AssertionError, OSError, ValueError):
            found = None
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {what}")


def answers_after_a_kill(bench):
    """kill -9: every verb that reads a file answers, with the leaks of a second before. The next JVM keeps
    the file as x.1.box; a normal end, a stop and a copy are distinguished."""
    path = bench.path("x.box")
    with losing(bench, f"blackbox={path}") as program:
        pid = program.pid
        program.tell("lose 100")
        program.tell("gc")
        program.tell("hold 7")
        until(lambda: box(program, path).totals["leaked"] == 100 and box(program, path).totals["live"] == 7,
              "the leaks in the file")
        runs = program.ask("summary", path)
        assert f"JVM {pid} (com.app.Probes, started 20" in runs and ") runs, and wrote" in runs, runs
        same("mode", os.stat(path).st_mode & 0o7777, 0o600)
        assert "bbflow box" in program.threads(), program.threads()
        shutil.copy(path, bench.path("copy.box"))
        kill(program)
        killed = box(program, path)
        same("leaked", killed.totals["leaked"], 100)
        same("last steps", killed.last_steps().get(LEAKY), 100)
        same("pid", killed.doc["jvm"]["pid"], pid)
        head = "did not end by itself, it was killed or it crashed: last alive at 20"
        assert killed.doc["notes"][0].startswith(f"JVM {pid} (com.app.Probes, ") and head in \
            killed.doc["notes"][0], killed.doc["notes"]
        for verb, code in (("leaks", 10), ("tree", 0), ("summary", 0), ("llm", 0), ("why", 10)):
            text = program.ask(verb, path, code=code)
            assert "leaky" in text and head in text, f"{verb}: {text}"
        assert head in program.ask("tree", "x.box")  # without a '/': found by what is in the file
        assert "which is a copy; whether it still runs is not known" in program.ask("tree", "copy.box")
        assert "x.box is a file" in program.ask("status", "x.box", code=2)
    with losing(bench, f"blackbox={path}") as program:
        until(lambda: ") runs, and wrote" in program.ask("summary", path), "its first state")
        same("the killed one", box(program, bench.path("x.1.box")).doc["jvm"]["pid"], pid)
        program.tell("lose 5")
        program.tell("gc")
        same("exit", program.end(), 0)
        ended = box(program, path)
        same("leaked at the end", ended.totals["leaked"], 5)
        assert "ended by itself at 20" in ended.doc["notes"][0], ended.doc["notes"]
    with losing(bench, "") as program:
        program.ask("set", str(program.pid), f"blackbox={path}")
        until(lambda: box(program, path).doc["jvm"]["pid"] == program.pid, "a box by set")
        same("ours", program.ours(), ["bbflow", "bbflow box", "bbflow-server"])
        program.stop()
        until(lambda: "closed this file, by 'bbflow stop'" in program.ask("tree", path), "the stop's mark")


def kill_at_random(bench, kills):
    """Whenever it is killed: the file is read, the rows add up, and what was collected a second before
    its state was taken is there. A state is as old as the interval at most."""
    path = bench.path("x.box")
    dice = random.Random(os.environ.get("BBF_SEED", "23"))
    for _ in range(kills):
        with losing(bench, f"blackbox={path}") as program:
            lost, known = 0, [(0.0, 0)]
            end = time.time() + dice.uniform(4, 5)
            while time.time() < end:
                program.tell("lose 40")
                lost += 40
                program.tell("gc1")
                known.append((time.time(), lost))
            time.sleep(dice.uniform(0, 0.3))
            at = time.time()
            kill(program)
            picture = box(program, path)
            taken = when(picture)
            assert at - taken < INTERVAL_S + 2.5, f"the state is {at - taken:.1f} s old"
            least = max(n for done, n in known if done < taken - INTERVAL_S)
            assert least <= picture.totals["leaked"] <= lost, (least, picture.totals["leaked"], lost)


def few_kills(bench):
    kill_at_random(bench, 2)


def other_users_things(bench):
    """What another user put at the name, or at x.1.box, is left as it is, and the JVM runs on."""
    if files.needs_root("a box that is taken"):
        return
    for what in files.PLANTS:
        with files.open_folder() as folder:
            path = os.path.join(folder, "x.box")
            files.plant(what, path)
            program = files.Serving(bench, f"include=com.app,blackbox={path}")
            program.end()
            lines = agent_lines(program.stderr)
            assert lines and all("blackbox: " in line for line in lines), program.stderr
            for word in (path, f"a {what} of uid {files.OTHER} is there", "; until then nothing is written"):
                assert word in lines[0], f"no {word!r} in {lines[0]!r}"
            files.is_untouched(what, path)
            files.nothing_left(folder, "x.box")


def disk(bench, size, filler):
    mount = (f"mkdir -p {{0}} && mount -t tmpfs -o size={size} none {{0}} && dd if=/dev/zero "
             f"of={{0}}/filler bs=1k count={filler} 2>/dev/null; exec \"$@\"").format(bench.path("disk"))
    return ("unshare", "-m", "sh", "-c", mount, "sh")


def full_disk(bench):
    """No room, a limit on file sizes: an error, said once, and the JVM runs on and ends as ever."""
    if files.needs_root("a full disk"):
        return
    limited = ("sh", "-c", "ulimit -f 4; exec \"$@\"", "sh")
    env = {**bench.env, "JDK_JAVA_OPTIONS": "-XX:-UsePerfData"}
    for before, path, words in ((disk(bench, "32k", 28), bench.path("disk/x.box"), "No space left on device"),
                                (limited, bench.path("x.box"), "File too large")):
        program = files.Serving(bench, f"include=com.app,blackbox={path}", before=before, env=env)
        time.sleep(2.5)
        summary = bench.run([harness.CLIENT, "summary", str(program.process.pid)]).stdout
        program.end()
        lines = agent_lines(program.stderr)
        same(f"our lines in {program.stderr!r}", len(lines), 1)
        assert f"blackbox: nothing is written: {path}: {words}" in lines[0], lines
        assert words in summary, f"no note: {summary}"


def cut_and_removed(bench):
    """Another process cuts the file (logrotate's copytruncate), writes into it, removes it: nothing
    crashes, and it is whole again at once, the removed one after seconds."""
    path = bench.path("x.box")
    with losing(bench, f"blackbox={path}") as program:
        program.tell("lose 10")
        program.tell("gc")
        whole = lambda: box(program, path).totals["leaked"] == 10
        until(whole, "the leaks")
        for damage in range(6):
            size = os.stat(path).st_size
            os.truncate(path, (0, 500, 3000, 4200, size // 2, size - 1)[damage])
            until(whole, f"whole again after {damage}", 8)
        with open(path, "r+b") as file:
            file.write(b"\xff" * 20000)
        until(whole, "whole again after garbage", 8)
        os.remove(path)
        until(whole, "made anew", 25)
        same("exit", program.end(), 0)
        same("our lines", [l for l in agent_lines(program.read(1)) if "it was removed" not in l], [])


def refused(bench):
    """A file of another program, cut or of another version: one sentence, no crash."""
    path = bench.path("x.box")
    with losing(bench, f"blackbox={path}") as program:
        until(lambda: box(program, path), "a state")
        kill(program)
        with open(path, "rb") as file:
            good = file.read()
        for data, words in ((good[:700], "cut off"), (good[:60] + b"\x01" + good[61:], "its head is damaged"),
                            (good.replace(b"blackbox/1", b"blackbox/7", 1), "another wrote the file"),
                            (good[:4096], "no state of the JVM"),
                            (good[:4096] + b"x" * (len(good) - 4096), "is damaged")):
            with open(path, "wb") as file:
                file.write(data)
            text = program.ask("tree", path, code=1)
            assert words in text and text.count("\n") == 1, f"{words}: {text}"


@contextlib.contextmanager
def own_cgroup():
    """A cgroup for memory below our own, and the files of its limit and use; None: not to be had."""
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    for _, names, path in lines:
        base = "/sys/fs/cgroup" + ("/memory" if names == "memory" else "") + path.rstrip("/")
        limit, use = (("memory.limit_in_bytes", "memory.usage_in_bytes") if names == "memory" else
                      ("memory.max", "memory.current"))
        folder = f"{base}/bbflow-test-{os.getpid()}"
        if names not in ("memory", "") or not os.path.isdir(base):
            continue
        with contextlib.suppress(OSError):
            os.mkdir(folder)
            try:
                if os.path.exists(f"{folder}/{limit}"):
                    yield folder, f"{folder}/{limit}", f"{folder}/{use}"
                    return
            finally:
                until(lambda: os.rmdir(folder) is None, f"{folder} is empty")
    print("# the cgroup's limit: skipped, no cgroup for memory can be made here", flush=True)
    yield None


def number(path):
    with open(path, encoding="utf-8") as file:
        return int(file.read())


def near_the_limit(bench):
    """The cgroup's use comes near its limit: a report at once, one for each crossing. Then the kernel
    kills the JVM, and the box has the leaks and says of which memory."""
    path, report = bench.path("x.box"), bench.path("out-limit.json")
    with own_cgroup() as group:
        if group is None:
            return
        folder, limit, use = group
        before = ("sh", "-c", f"echo $$ > {folder}/cgroup.procs && exec \"$@\"", "sh")
        options = f"blackbox={path},file={bench.path('out.json')},loglevel=warn"
        with losing(bench, options, prefix=before, jvm=("-Xms600m", "-Xmx600m")) as program:
            program.tell("lose 50")
            program.tell("gc")
            time.sleep(2.2)
            same("a report without a limit", os.path.exists(report), False)
            with open(limit, "w", encoding="utf-8") as file:
                file.write(str(number(use) * 100 // 94))
            first = until(lambda: Snapshot(open(report, encoding="utf-8").read()), "the report", 10)
            same("leaked", first.totals["leaked"], 50)
            time.sleep(2.5)
            lines = [l for l in agent_lines(program.read(1)) if "limit" in l]
            same(f"our lines in {program.read(1)}", len(lines), 1)
            assert "of the cgroup's memory limit of" in lines[0] and f", report: {report}" in lines[0], lines
            program.process.stdin.write("hold 4000000\n")
            program.process.stdin.flush()
            same("killed by", program.process.wait(60), -signal.SIGKILL)
            killed = box(program, path)
            same("leaked", killed.totals["leaked"], 50)
            notes = killed.doc["notes"]
            assert "did not end by itself" in notes[0], notes
            assert "its cgroup had" in notes[1] and "the kernel's OOM killer may have ended it" in notes[1], notes


def cases():
    yield Scenario("blackbox/killed", answers_after_a_kill, short=(17,), quick=True)
    yield Scenario("blackbox/killed at random times", few_kills, jdk=(25,))
    yield Scenario("blackbox/things of others", other_users_things, jdk=(17,))
    yield Scenario("blackbox/full disk", full_disk, jdk=(17,))
    yield Scenario("blackbox/cut and removed", cut_and_removed, jdk=(17,))
    yield Scenario("blackbox/near the cgroup's limit", near_the_limit, jdk=(17,))
    yield Scenario("blackbox/refused", refused, jdk=(17,))
