"""JDKs to come (issue 19, point 7): compact object headers, the AOT cache, an internal method of the
JDK that is gone."""

import copy
import glob
import os
import re
import shutil
import time
import zipfile

import harness
from harness import OUT, Case, Scenario, agent_lines, netty_jars
from snapshot import Snapshot, same

COMPACT = "-XX:+UseCompactObjectHeaders"
NETTY = "4.1.140.Final"
PROGRAM = ("com.app.Probes", "cycles", "pooled", "ftl", "4")
GCS = ("Serial", "G1", "Z", "Shenandoah")


def kinds_of(run):
    """(how many classes' kinds are found by the header, how) of a running JVM."""
    text = run.client("status", str(run.pid))[0]
    line = re.search(r"^kinds of classes +(.*)$", text, re.M)
    assert line, f"no line on the kinds of classes in {text}"
    found = re.fullmatch(r"(\d+) found by the object's header \((.*)\)", line.group(1))
    return (int(found.group(1)), found.group(2)) if found else (0, line.group(1))


def found_by(layout):
    def live(run):
        n, how = kinds_of(run)
        end = time.time() + 20
        while n < 3 and time.time() < end:  # READY comes before the last of them is met
            time.sleep(0.1)
            n, how = kinds_of(run)
        same("how", how, layout)
        assert n >= 3, f"only {n} classes in the table"
    return live


def not_found(run):
    n, how = kinds_of(run)
    same("classes in the table", n, 0)
    assert "ClassValue" in how, how


def headers(run):
    for name in ("lives", "released", "leaked", "live"):
        same(name, run.json.totals[name], run.oracle[name])
    for name in ("raced_steps", "dropped_steps", "unknown", "internal_errors"):
        same(name, run.json.totals[name], 0)
    same("numbers", run.oracle["sum"], run.oracle["lives"])
    same("through take", run.json.passed("com.app.Headers.take"), run.oracle["lives"])


def header_cases():
    def kinds(name, live, **more):
        return Case(f"coming/kinds{name}", "com.app.Probes", "headers", "1", "400", "wait", live=live,
                    agent="include=com.app,objects=on", check=headers, **more)
    yield kinds("", found_by("with a class word"), jdk=(11, 17, 21, 25), short=(17,))
    yield kinds(" compact headers", found_by("compact"), jvm=[COMPACT], jdk=(25,), quick=True)
    # 27 has no such flag: only what it leads to is tested, where it is there.
    yield kinds(" unknown headers", not_found, jvm=["-XX:-UseCompressedClassPointers"], jdk=(17,))
    for gc in GCS:
        flags = [COMPACT, f"-XX:+Use{gc}GC", "-Xmx256m"]
        yield Case(f"coming/headers compact {gc}", "com.app.Probes", "headers", "4", "2000", jvm=flags,
                   check=headers, agent="include=com.app,objects=on", jdk=(25,))
    yield Case("coming/headers", "com.app.Probes", "headers", "4", "2000", check=headers,
               agent="include=com.app,objects=on", jdk=(11, 17, 21, 25), short=(17,))


# ---- the AOT cache (JEP 483, 514) ----

AOT_NOTE = "it was loaded before bbflow, by the JVM's AOT cache {}; remedy: create"


def jars_alone(bench):
    """Jars alone: a folder on the class path and the JVM makes no cache."""
    probes = bench.path("probes.jar")
    folder = os.path.join(OUT, "classes/probes")
    with zipfile.ZipFile(probes, "w") as out:
        for file in glob.glob(os.path.join(folder, "**/*.class"), recursive=True):
            out.write(file, os.path.relpath(file, folder))
    return ":".join([probes, *sorted(glob.glob(netty_jars(NETTY)))])


def aot_cache(bench, name, path, record=(), create=()):
    """A cache of what the probe needs; record, create: more flags of the two steps."""
    cache, configuration = bench.path(name + ".aot"), bench.path(name + ".conf")
    for mode, flags in (("record", record), ("create", [f"-XX:AOTCache={cache}", *create])):
        done = bench.run([bench.jdk.java, f"-XX:AOTMode={mode}",
                          f"-XX:AOTConfiguration={configuration}", *flags, "-cp", path, *PROGRAM],
                         timeout=harness.TIMEOUT)
        same(f"{name}: exit of {mode} ({done.stderr[-500:]})", done.returncode, 0)
    return cache


def aot_run(bench, path, cache, windows=""):
    """Its report. With AOTMode=on the JVM ends if it cannot use the cache."""
    out = bench.path("out.json")
    done = bench.run([bench.jdk.java, f"-XX:AOTCache={cache}", "-XX:AOTMode=on",
                      f"-agentpath:{harness.AGENT}=include=com.app,{windows}file={out}", "-cp", path,
                      *PROGRAM], timeout=harness.TIMEOUT)
    same(f"exit ({done.stderr[-500:]})", done.returncode, 0)
    for text in (done.stdout, done.stderr):
        assert "[error]" not in text and "[bbflow]" not in text, text
    assert "ORACLE lives=4004 released=4000 leaked=4" in done.stdout, done.stdout
    with open(out, encoding="utf-8") as file:
        picture = Snapshot(file.read())
    picture.check()
    if windows:
        return picture
    for name, value in (("lives", 4004), ("released", 4000), ("leaked", 4), ("unknown", 0)):
        same(name, picture.totals[name], value)
    same("last steps", picture.last_steps(), {"com.app.Steps.leaky": 4})
    return picture


def aot(bench):
    """The cache gives the JVM ByteBuf before any agent starts. Counts are right, and the report says
    what it costs and the remedy; which works."""
    path = jars_alone(bench)
    cache = aot_cache(bench, "plain", path)
    reason, = aot_run(bench, path, cache).doc["jvm"]["map_mode"]
    assert AOT_NOTE.format(cache) in reason, reason
    picture = aot_run(bench, path, cache, "duty=20%,")  # followed, though without the field (ADR 75)
    same("with windows", picture.doc["jvm"]["map_mode"], [reason])
    same("not followed", picture.totals["untracked_classes"], 0)
    remedy = re.search(r"remedy: create the cache with (-XX:\S+)$", reason)
    assert remedy, reason
    cache = aot_cache(bench, "remedy", path, create=[remedy.group(1)])
    same("with the remedy", aot_run(bench, path, cache).doc["jvm"]["map_mode"], [])


def aot_trained(bench):
    """bbflow in the training run, the remedy in one step: nothing is in the way of either."""
    path, cache = jars_alone(bench), bench.path("one.aot")
    done = bench.run([bench.jdk.java, f"-XX:AOTCacheOutput={cache}", "-XX:-AOTClassLinking",
                      f"-agentpath:{harness.AGENT}=include=com.app", "-cp", path, *PROGRAM],
                     timeout=harness.TIMEOUT)
    same(f"exit ({done.stderr[-500:]})", done.returncode, 0)
    same("without the hidden field", aot_run(bench, path, cache).doc["jvm"]["map_mode"], [])


# ---- value classes (JEP 401) ----

def value_class(path, major):
    """The class file as that of a value class of a preview: its minor version, no ACC_IDENTITY."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[4:8] = b"\xff\xff" + major.to_bytes(2, "big")
    at, index = 10, 1
    sizes = {3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 9: 5, 10: 5, 11: 5, 12: 5, 15: 4, 16: 3, 17: 5,
             18: 5, 19: 3, 20: 3}
    while index < int.from_bytes(data[8:10], "big"):
        tag = data[at]
        at += sizes[tag] if tag != 1 else 3 + int.from_bytes(data[at + 1:at + 3], "big")
        index += 2 if tag in (5, 6) else 1
    assert data[at + 1] & 0x20, "no ACC_SUPER there"
    data[at + 1] &= 0xff - 0x20
    with open(path, "wb") as file:
        file.write(data)


def value_classes(bench):
    """Left as it is, counted, and the rest is followed around it."""
    classes = bench.path("classes")
    shutil.copytree(os.path.join(OUT, "classes/probes"), classes)
    value_class(os.path.join(classes, "com/app/Steps.class"), bench.jdk.major + 44)
    out = bench.path("out.json")
    done = bench.run([bench.jdk.java, "--enable-preview",
                      f"-agentpath:{harness.AGENT}=include=com.app,file={out}", "-cp",
                      f"{classes}:{netty_jars(NETTY)}", *PROGRAM], timeout=harness.TIMEOUT)
    same(f"exit ({done.stderr[-500:]})", done.returncode, 0)
    with open(out, encoding="utf-8") as file:
        picture = Snapshot(file.read())
    picture.check()
    for name, value in (("lives", 4004), ("released", 4000), ("leaked", 4),
                        ("untouched_classes", 1), ("internal_errors", 0)):
        same(name, picture.totals[name], value)
    same("steps in the value class", [n for n in picture.names() if "Steps" in n], [])
    same("last steps", picture.last_steps(), {"com.app.Cycles.last": 4})


# ---- an internal method that is gone ----

def jdk_without(bench, method):
    """A folder for --patch-module java.base= in whose Unsafe that method has another name."""
    folder = bench.path("patch")
    done = bench.run([os.path.join(bench.jdk.home, "bin/jimage"), "extract", f"--dir={folder}",
                      "--include=regex:/java.base/jdk/internal/misc/Unsafe.class",
                      os.path.join(bench.jdk.home, "lib/modules")])
    same("jimage", (done.returncode, done.stderr), (0, ""))
    path = os.path.join(folder, "java.base/jdk/internal/misc/Unsafe.class")
    with open(path, "rb") as file:
        before = file.read()

    def utf8(name):
        return b"\1" + len(name).to_bytes(2, "big") + name.encode()
    after = before.replace(utf8(method), utf8(method + "Gone"))
    assert after != before, f"Unsafe has no {method}"
    with open(path, "wb") as file:
        file.write(after)
    return os.path.join(folder, "java.base")


def method_gone(bench):
    """One line names the method that this JDK has no more; the program runs as without the agent."""
    flags = ["--patch-module", "java.base=" + jdk_without(bench, "putLongRelease"),
             "-Dio.netty.noUnsafe=true", "-Dio.netty.recycler.maxCapacityPerThread=0", "com.app.Probes", "default"]
    out = bench.path("out.json")
    plain = bench.java(*flags, netty=NETTY)
    with_agent = bench.java(*flags, netty=NETTY, agent=f"include=com.app,file={out}")
    same("exit", (plain.returncode, with_agent.returncode), (0, 0))
    line, = agent_lines(with_agent.stderr)
    assert "has no jdk.internal.misc.Unsafe.putLongRelease(Ljava/lang/Object;JJ)V" in line, line
    assert f"Java {bench.jdk.major}" in line and "tracking stays off" in line, line
    same("stdout", with_agent.stdout, plain.stdout)
    assert not os.path.exists(out), "a report although nothing was followed"


# What else runs with compact headers, of the cases of tests/jvm/cases.py.
TOO = ("probe/holders", "probe/objects", "probe/travel 4.2", "probe/http 4.1 com.app",
       "probe/derived 4.2 greedy", "probe/lists 4.1", "probe/cycles 4.1 pooled ftl 8",
       "probe/cycles 4.2 adaptive ftl 8", "probe/race 4.2", "misuse/4.2.20", "map/busy",
       "odd/stress G1", "odd/stress ZGC")


def cases(others):
    """Those of the others that TOO names also run with compact headers."""
    yield from header_cases()
    yield Scenario("coming/AOT cache", aot, jdk=(25,))
    yield Scenario("coming/AOT cache of a run with bbflow", aot_trained, jdk=(25,))
    yield Scenario("coming/value classes", value_classes)
    yield Scenario("coming/method gone", method_gone, short=(17,))
    found = [case for case in others if case.name in TOO]
    same("cases that are run with compact headers", sorted(c.name for c in found), sorted(TOO))
    for case in map(copy.copy, found):
        case.name = "coming/compact " + case.name
        case.jvm = [COMPACT, *case.jvm]
        case.jdk = case.short = (25,)
        case.quick = False
        yield case
