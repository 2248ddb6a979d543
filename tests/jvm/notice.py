"""The application notices nothing: programs that print all they can see, with and without us."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections import Counter

import harness
from harness import Scenario
from snapshot import Snapshot, same

NETTY = "4.1.140.Final"
GREEDY = ("include=com.notice+io.netty+io.netty.util,trackConstructors=com.notice+io.netty,"
          "objects=on")
FIELD = "  field private transient long io.netty.buffer.ByteBuf.$bbf 1082 true []"
DOCS = os.path.join(harness.ROOT, "docs/what-differs.md")
CLASSES = os.path.join(harness.ROOT, "java-shim/boot/classes.txt")
SMALL = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx96m", "-XX:MaxDirectMemorySize=64m"]


def compiled(sources):
    """With all the tables that a compiler can write, and with none."""
    flags = ("--release", "17", "-XDignore.symbol.file")
    return [("notice", NETTY, sources, list, *flags, "-g", "-parameters"),
            ("notice-bare", NETTY, sources, list, *flags, "-g:none")]


def start(bench, label, program, *args, agent=None, jvm=(), classes="notice"):
    """A JVM in a folder of its own; the same command but for the agent."""
    folder = bench.path(label)
    os.makedirs(folder)
    command = [bench.jdk.java]
    if agent is not None:
        command.append(f"-agentpath:{harness.AGENT}={agent},file={folder}/out.json")
    # Netty's leak detector samples at random, and its wrappers show in stack traces.
    command += ["-Dio.netty.leakDetection.level=disabled", *jvm, "-cp", harness.class_path(classes, NETTY), "com.notice." + program, *args]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=bench.env, cwd=folder)


def finish(process):
    out, err = process.communicate(timeout=120)
    return out, err, process.returncode


def run(bench, label, program, *args, **more):
    return finish(start(bench, label, program, *args, **more))


def report(bench, label):
    with open(os.path.join(bench.path(label), "out.json"), encoding="utf-8") as file:
        return Snapshot(file.read())


def equal(what, plain, ours):
    """Byte by byte; the first lines that differ are shown."""
    if plain != ours:
        a, b = plain.splitlines(), ours.splitlines()
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        raise AssertionError(f"{what}, line {at + 1}: with us {b[at:at + 3]}, "
                             f"without {a[at:at + 3]}")


# ---- what a program can see of its classes ----

def sections(bench, classes, agent, *names):
    jvm = ["--add-opens", "java.base/java.io=ALL-UNNAMED", "-XX:MaxDirectMemorySize=64m"]
    plain = start(bench, classes + "-plain", "Notice", *names, jvm=jvm, classes=classes)
    ours = start(bench, classes + "-ours", "Notice", *names, jvm=jvm, classes=classes, agent=agent)
    (out, err, code), (our_out, our_err, our_code) = finish(plain), finish(ours)
    same("exit code without us", (code, err[-300:] if code else ""), (0, ""))
    same("exit code", (our_code, our_err[-300:] if our_code else ""), (0, ""))
    equal("stderr", err, our_err)
    picture = report(bench, classes + "-ours")
    picture.check()
    assert picture.doc["totals"]["lives"] > 20, picture.totals
    return out, our_out


def everything(bench):
    """Stack traces, StackWalker, helpful messages, endings, reflection over Netty's classes,
    serialized bytes and computed UIDs, handles, proxies, hidden classes: one line differs, the
    hidden field."""
    out, ours = sections(bench, "notice", GREEDY, "traces", "nulls", "endings", "reflection",
                         "streams", "handles")
    assert out.count("\n") > 8000 and "because the return value of" in out, out.count("\n")
    lines = ours.split("\n")
    same("lines about us", [line for line in lines if re.search(r"\$bbf|BBFlow", line)], [FIELD])
    lines.remove(FIELD)
    equal("stdout", out, "\n".join(lines))
    # Each reads what the other wrote.
    for label, other, agent in (("reads-ours", "notice-ours", None),
                                ("reads-plain", "notice-plain", GREEDY)):
        shutil.copy(os.path.join(bench.path(other), "objects.ser"), bench.path("objects.ser"))
        again, err, code = run(bench, label, "Notice", "read", agent=agent)
        same(f"{label}: exit code, {err[-300:]}", code, 0)
        assert again.replace("==== read\n", "") in out, again


def without_tables(bench):
    """Compiled without debug tables: no line, no name; messages speak of <local4>. No option."""
    out, ours = sections(bench, "notice-bare", "", "traces", "nulls", "endings", "handles")
    assert "Unknown Source" in out and "<local" in out
    equal("stdout", out, ours)


# ---- ways to end ----

EXITS = [("return", 0), ("exit", 3), ("exit in a thread", 4), ("exit in finally", 5), ("halt", 6),
         ("halt in a hook", 7), ("uncaught", 1), ("uncaught in a thread", 0), ("handler", 1),
         ("static", 1), ("overflow", 1), ("memory", 1), ("memory caught", 0), ("daemon", 0),
         ("last thread", 0), ("no such way", 1)]
SIGNALS = [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]


def exits(bench):
    """Exit codes, stdout, stderr and the order of shutdown hooks, for every way to end."""
    for way, code in EXITS:
        # Compiled, a stack ends at one line or the next, with or without an agent.
        jvm = SMALL + ["-Xint"] * (way == "overflow")
        plain = start(bench, way + "-plain", "Exits", way, jvm=jvm)
        ours = start(bench, way + "-ours", "Exits", way, jvm=jvm, agent="include=com.notice")
        (out, err, plain_code), (our_out, our_err, our_code) = finish(plain), finish(ours)
        same(f"{way}: exit code without us, {err[-300:]}", plain_code, code)
        same(f"{way}: exit code", our_code, code)
        equal(f"{way}: stdout", out, our_out)
        equal(f"{way}: stderr", err, our_err)
    more = ("-XX:+ExitOnOutOfMemoryError",)
    same("ExitOnOutOfMemoryError", [run(bench, f"oom-{a}", "Exits", "memory", jvm=[*SMALL, *more],
                                        agent=a)[2] for a in (None, "include=com.notice")], [3, 3])


def signals(bench):
    for number, code in SIGNALS:
        results = []
        for agent in (None, "include=com.notice"):
            process = start(bench, f"{number.name}-{agent is None}", "Exits", "signal", jvm=SMALL,
                            agent=agent)
            first = process.stdout.readline()
            time.sleep(0.1)
            process.send_signal(number)
            out, err, ended = finish(process)
            same(f"{number.name}: exit code", ended, code)
            results.append((first + out, err))
        same(f"{number.name}: stdout and stderr", results[1], results[0])


# ---- the end of the stack ----

def depths(text):
    return {m[0]: int(m[1]) for m in re.findall(r"depth (\w+) (\d+)", text)}


def end_of_stack(bench):
    """Interpreted, to the frame: a recursion that we do not follow goes as deep as without us, one
    that we follow lacks what a hook needs, once; no StackOverflowError shows one of our frames."""
    plain = start(bench, "plain", "Depth", "2", jvm=["-Xint"])
    ours = start(bench, "ours", "Depth", "2", jvm=["-Xint"], agent="include=com.notice")
    (out, err, code), (our_out, our_err, our_code) = finish(plain), finish(ours)
    same("exit codes", (code, our_code), (0, 0))
    equal("stderr", err, our_err)
    before, after = depths(out), depths(our_out)
    same("depth that we do not follow", after["alone"], before["alone"])
    for name in ("followed", "owning"):
        assert before[name] - 40 < after[name] <= before[name], f"{name}: {after} of {before}"
    for pattern in (r"depth \w+ \d+", r"refCnt \d"):
        out, our_out = re.sub(pattern, "", out), re.sub(pattern, "", our_out)
    equal("traces", out, our_out)


PLACES = 32
AGED = 200  # a new second while a place's 200 are open: there is no room to tell their ages


def places(bench, more=""):
    """The stack ends at 32 places, 16 bytes apart, inside and around the release hook: nothing from
    bbflow is shown, no warning of the JVM names us. (label, is it interpreted, buffers that were made
    and freed, what the report counted) of each run."""
    for allocator in ("pooled", "unpooled"):
        for mode, warm in (("-Xint", 1000), ("-XX:TieredStopAtLevel=1", 60000),
                           ("-XX:+TieredCompilation", 60000)):
            label = f"{allocator}{mode}"
            out, err, code = run(bench, label, "Depth", "sweep", allocator, str(warm),
                                 # Without its cache Netty's release takes a lock, which stays locked where
                                 # the stack ends in it: then the program hangs, without bbflow as well.
                                 jvm=[mode, "-XX:+UseSerialGC", "-Dio.netty.allocator.useCacheForAllThreads=true",
                                      "-Dio.netty.recycler.blocking=true"],
                                 agent="include=com.notice" + more)
            same(f"{label}: exit code, {err[-300:]}", code, 0)
            assert "BBFlow" not in out + err and "shows us" not in out, f"{label}: {out}{err[:500]}"
            made, freed = map(int, re.search(r"made=(\d+) freed=(\d+)", out).groups())
            # One that threw has no count left, and was freed or not.
            assert made - freed <= PLACES, out
            yield label, mode == "-Xint", made, freed, report(bench, label).totals


def every_place(bench):
    """Each life is counted."""
    for label, interpreted, made, freed, t in places(bench):
        unseen = made - t["lives"]
        assert freed - unseen <= t["released"] <= made, f"{label}: {made}, {freed}, {t}"
        # Compiled, the first time that a slow path runs may need more: once a place at most.
        once = 0 if interpreted else PLACES
        assert 0 <= unseen <= once and t["internal_errors"] <= AGED + once, f"{label}: {made}, {t}"


def every_place_in_windows(bench):
    """Where hooks call what they seldom do: each life that a window began ends, but for the places'."""
    for label, interpreted, made, freed, t in places(bench, ",duty=45%,windowMillis=50"):
        same(f"{label}: lost", [t[name] for name in ("leaked", "held", "misuse")], [0] * 3)
        assert t["unknown"] <= (0 if interpreted else PLACES), f"{label}: {t}"  # as in every_place()
        assert 0 < t["lives"] < made and t["lives"] - t["released"] <= made - freed, f"{label}: {made}, {freed}, {t}"
        assert t["internal_errors"] <= AGED + PLACES, f"{label}: {t}"


# ---- the list in docs/what-differs.md ----

def world_lines(text):
    """Counted lines, without what is another one in each process."""
    skip = re.compile(r"flag: .*(SharedBaseAddress|LoopMaxUnroll)|mapped: \[|environment: PWD")
    return Counter(line.rstrip() for line in text.splitlines() if not skip.match(line))


def offsets(lines):
    return {m[0]: int(m[1]) for m in re.findall(r"offset: (\S+) (\d+)", "\n".join(lines))}


LISTED = {  # section: what a line that only we bring looks like
    "argument": r"-agentpath:\S+", "command line": r"jvm_args: -agentpath:.*",
    "class": r"(public )?final class java\.lang\.BBFlow\w+ true", "collections": r"lost 2",
    "descriptor": r"anon_inode:\[eventfd\]|socket:\[#\]", "enumerated": r"bbflow",
    "thread": r"bbflow true 5 system", "fresh": r"Thread-0 \d+", "started": r"\d+",
    "histogram": r"(\[L)?java\.lang\.BBFlow\w+;?", "mapped": r"\S*\.so[.0-9]*",
    "position": r"\d+", "offset": r"\S+ \d+",
}


def world(bench):
    """Properties, flags, beans, threads, files, classes, layout: what differs is in the docs."""
    with open(CLASSES, encoding="utf-8") as file:
        names = [line.split()[0] for line in file if not line.startswith("#")]
    plain = start(bench, "plain", "World", *names, jvm=["-XX:+UseSerialGC", "-Xmx128m"])
    ours = start(bench, "ours", "World", *names, jvm=["-XX:+UseSerialGC", "-Xmx128m"],
                 agent="include=com.notice")
    (out, err, code), (our_out, our_err, our_code) = finish(plain), finish(ours)
    same("exit codes", (code, our_code), (0, 0))
    equal("stderr", err, our_err)
    tidy = [world_lines(re.sub(r"-(plain|ours)\b|/(plain|ours)\b", "", t)) for t in (out, our_out)]
    gone, come = sorted((tidy[0] - tidy[1]).elements()), sorted((tidy[1] - tidy[0]).elements())
    for line in come:
        section, _, text = line.partition(": ")
        assert section in LISTED and re.fullmatch(LISTED[section], text), f"not listed: {line}"
    same("sections that differ", {line.partition(": ")[0] for line in come}, set(LISTED))
    replaced = {"class", "collections", "command line", "fresh", "started", "position", "offset"}
    assert {line.partition(": ")[0] for line in gone} <= replaced, gone
    before, after = offsets(gone), offsets(come)
    same("new fields", set(after) - set(before), {"ByteBuf.$bbf"})
    same("fields move by", {after[f] - before[f] for f in before}, {8})
    with open(DOCS, encoding="utf-8") as file:
        text = file.read()
    for section in LISTED:
        assert f"`{section}`" in text, f"docs/what-differs.md does not list {section}"
    classes = {found for line in come for found in re.findall(r"java\.lang\.BBFlow\w+", line)}
    says = f"`java.lang.BBFlowShim` and {len(classes) - 1} more `java.lang.BBFlow…`"
    assert says in text, f"docs/what-differs.md does not say: {says}; {sorted(classes)}"


def cases():
    yield Scenario("notice/everything", everything, quick=True)
    yield Scenario("notice/without tables", without_tables, short=(17,))
    yield Scenario("notice/exits", exits, short=(25,))
    yield Scenario("notice/signals", signals, short=(17,))
    yield Scenario("notice/end of the stack", end_of_stack, short=(25,))
    yield Scenario("notice/every place near the end of the stack", every_place, short=(17,))
    yield Scenario("notice/every place near the end of the stack, windows", every_place_in_windows, short=(25,))
    yield Scenario("notice/world", world)
