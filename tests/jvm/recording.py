"""jfr=: a flight recording of what happens, live and from a snapshot, read by bbflow, by the JDK's
tool, by JMC's parser and by the converter of async-profiler."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import coming
import harness
from attach import Program
from harness import ROOT, Scenario
from snapshot import same
from watch import losing

CONVERTER = "tools.profiler:jfr-converter:4.5"
JMC = ["org.openjdk.jmc:flightrecorder:9.1.2", "org.openjdk.jmc:common:9.1.2",
       "org.owasp.encoder:encoder:1.2.3", "at.yawk.lz4:lz4-java:1.10.2"]


def fetch(*coordinates):
    done = subprocess.run([os.path.join(ROOT, "scripts/fetch-maven"), *coordinates], check=True,
                          capture_output=True, text=True)
    return done.stdout.split()


def tool_of(bench, name):
    return os.path.join(os.path.dirname(bench.jdk.java), name)


def run(bench, *command, code=0):
    done = bench.run(list(command), timeout=120)
    assert done.returncode == code, f"{command}: exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-800:]}"
    return done.stdout


def events(bench, path, kind):
    """The events of one kind, as the JDK's tool has them."""
    text = run(bench, tool_of(bench, "jfr"), "print", "--json", "--stack-depth", "64", "--events", kind, path)
    return [e["values"] for e in json.loads(text)["recording"]["events"]]


def until(look, what, seconds=30):
    end = time.time() + seconds
    while not look():
        assert time.time() < end, f"{what} does not come"
        time.sleep(0.2)


def counted(bench, path):
    return sum(e["count"] for e in events(bench, path, "bbflow.Leak") if e["verdict"] == "leaked")


def counted_now(bench, path):
    """The same of a file that grows; None: the tool read it in the middle of a flush."""
    try:
        return counted(bench, path)
    except AssertionError:
        return None


def steps(event):
    """Method names, last one first."""
    return [f["method"]["name"] for f in event["stackTrace"]["frames"]]


def whole(bench, path, lost):
    """What every reader finds in a recording of `lost` lost buffers of 64 bytes, in Steps.leaky."""
    jfr = tool_of(bench, "jfr")
    summary = run(bench, jfr, "summary", path)
    assert re.search(r"Version: 2\.1", summary), summary
    assert "bbflow.Leak" in run(bench, jfr, "metadata", path)
    same("leaks", counted(bench, path), lost)
    for event in events(bench, path, "bbflow.Leak"):
        same("last step", steps(event)[0], "leaky")
        same("root", steps(event)[-1], "heapBuffer")
    opened = events(bench, path, "profiler.Malloc")
    same("allocations", len(opened), lost)
    same("sizes", sum(e["size"] for e in opened), lost * 64)
    same("numbers", len({e["address"] for e in opened}), len(opened))
    ours = run(bench, harness.CLIENT, "jfr", "summary", path)
    for kind in ("bbflow.Leak", "profiler.Malloc", "bbflow.Setting"):
        theirs = re.search(rf"{re.escape(kind)} +(\d+)", summary)
        mine = re.search(rf"{re.escape(kind)} +(\d+)", ours)
        assert theirs and mine and theirs[1] == mine[1], f"{kind}: {summary}{ours}"


def converted(bench, path, lost):
    """jfr-converter: a leak flame graph, folded, pprof, OTLP and a heat map."""
    jar, = fetch(CONVERTER)
    folded = bench.path("leaks.collapsed")
    for kind, out in (("collapsed", folded), ("html", bench.path("leaks.html")),
                      ("pprof", bench.path("leaks.pprof")), ("otlp", bench.path("leaks.otlp")),
                      ("heatmap", bench.path("leaks.heat.html"))):
        run(bench, bench.jdk.java, "-jar", jar, "--nativemem", "--leak", "--tail", "0", "-o", kind, path, out)
        assert os.path.getsize(out) > 50, out
    with open(folded, encoding="utf-8") as file:
        lines = [line.rsplit(" ", 1) for line in file.read().splitlines()]
    same("lost", sum(int(n) for _, n in lines), lost)
    assert all(path.endswith("Steps.leaky_[j]") for path, _ in lines), lines


READER = """
import org.openjdk.jmc.flightrecorder.*; import org.openjdk.jmc.common.item.*;
import org.openjdk.jmc.common.unit.*; import org.openjdk.jmc.flightrecorder.stacktrace.*;
import org.openjdk.jmc.flightrecorder.stacktrace.tree.*;
import java.io.File;
public class JmcRead {
    public static void main(String[] args) throws Exception {
        IItemCollection all = JfrLoaderToolkit.loadEvents(new File(args[0]));
        for (IItemIterable items : all)
            System.out.println(items.getType().getIdentifier() + " " + items.getItemCount());
        IItemCollection leaks = all.apply(ItemFilters.type("bbflow.Leak"));
        IAttribute<IQuantity> bytes = Attribute.attr("bytes", "Size", UnitLookup.MEMORY);
        Node root = new StacktraceTreeModel(leaks, new FrameSeparator(
            FrameSeparator.FrameCategorization.METHOD, false), false, bytes).getRoot();
        for (Node node : root.getChildren())
            System.out.println("ROOT " + node.getFrame().getMethod().getMethodName());
    }
}
"""


def read_by_jmc(bench, path):
    jars = ":".join(fetch(*JMC))
    source = bench.path("JmcRead.java")
    with open(source, "w", encoding="utf-8") as file:
        file.write(READER)
    said = run(bench, bench.jdk.java, "-cp", jars, source, path)
    assert re.search(r"^bbflow\.Leak [1-9]", said, re.M), said
    assert re.search(r"^ROOT heapBuffer$", said, re.M), said


def live(bench):
    """A loss is in the file a second later, and all of them when the JVM has ended."""
    path = bench.path("live.jfr")
    with losing(bench, f",jfr={path},summarySeconds=1") as program:
        program.tell("lose 7")
        program.tell("gc")
        until(lambda: counted_now(bench, path) == 7, "leak in the growing file") if bench.jdk.major < 25 else None
        program.tell("lose 2500")
        program.tell("gc")
        time.sleep(2.5)
        program.ask("set", str(program.pid), "maxDepth=50")
        time.sleep(1.5)
        program.tell("lose 5")
        program.tell("gc")
        same("exit", program.end(), 0)
    whole(bench, path, 2512)
    converted(bench, path, 2512)
    settings = [(e["name"], e["value"]) for e in events(bench, path, "bbflow.Setting")]
    assert ("maxDepth", "100") in settings and ("maxDepth", "50") in settings, settings
    summaries = events(bench, path, "bbflow.Summary")
    same("leaked at the end", summaries[-1]["leaked"], 2512)
    lives = events(bench, path, "bbflow.Life")
    same("lives", sum(e["count"] for e in lives if e["end"] == "leaked"), 2512)
    read_by_jmc(bench, path)


def snapshot(bench):
    """bbflow dump -o FILE.jfr, and file=; the converter takes both; stdout may have it, no terminal."""
    path, at_exit = bench.path("dump.jfr"), bench.path("exit.jfr")
    with losing(bench, f",file={at_exit}") as program:
        program.tell("lose 89")
        program.tell("gc")
        program.ask("dump", str(program.pid), "-o", path)
        with open(bench.path("out.jfr"), "wb") as out:
            subprocess.run([harness.CLIENT, "dump", str(program.pid), "-f", "jfr"], check=True, stdout=out,
                           env=bench.env)
        terminal = subprocess.run(["script", "-qec", f"{harness.CLIENT} dump {program.pid} -f jfr", "/dev/null"],
                                  capture_output=True, env=bench.env) if shutil.which("script") else None
        same("exit", program.end(), 0)
    for each in (path, at_exit, bench.path("out.jfr")):
        whole(bench, each, 89)
        converted(bench, each, 89)
        read_by_jmc(bench, each)
    if terminal is not None:
        assert b"FLR" not in terminal.stdout and b"is binary" in terminal.stdout, terminal.stdout[-300:]


def killed(bench):
    """kill -9: what was flushed is there, for the JDK's tool as well once it is mended."""
    path, mended = bench.path("killed.jfr"), bench.path("mended.jfr")
    with losing(bench, f",jfr={path}") as program:
        program.tell("lose 40")
        program.tell("gc")
        time.sleep(3)
        program.process.send_signal(signal.SIGKILL)
        program.process.wait(30)
    done = bench.run([harness.CLIENT, "jfr", "repair", path, "-o", mended])
    assert os.path.exists(mended), done.stdout + done.stderr
    whole(bench, mended, 40)
    assert re.search(r"bbflow\.Leak +[1-9]", run(bench, harness.CLIENT, "jfr", "summary", path, code=1))
    with losing(bench, f",jfr={path}") as program:  # a restart keeps the file of the crash
        same("exit", program.end(), 0)
    assert re.search(r"bbflow\.Leak +[1-9]", run(bench, harness.CLIENT, "jfr", "summary",
                                                        bench.path("killed.1.jfr"), code=1))
    same("leaks of the second run", counted(bench, path), 0)


def changed(bench):
    """Set and unset in a running JVM; a file that is removed; a folder that is not there; another
    kind of file at the name; two parts by age."""
    path, other = bench.path("one.jfr"), bench.path("two.jfr")
    with losing(bench) as program:
        pid = str(program.pid)
        assert "bbflow jfr" not in program.threads()
        program.ask("set", pid, f"jfr={path}")
        program.tell("lose 3")
        program.tell("gc")
        time.sleep(2.5)
        program.ask("set", pid, f"jfr={other}", "maxage=3s")
        same("leaks", counted(bench, path), 3)  # that file is finished
        program.tell("lose 4")
        program.tell("gc")
        time.sleep(2)
        until(lambda: os.path.exists(bench.path("two.1.jfr")), "second part")
        program.ask("set", pid, "maxage=0")
        os.remove(other)
        until(lambda: os.path.exists(other), "file after the removed one", 40)
        program.tell("lose 5")
        program.tell("gc")
        time.sleep(2.5)
        program.ask("set", pid, "jfr=")
        same("leaks after the removal", counted(bench, other), 5)
        time.sleep(1.5)
        assert "bbflow jfr" not in program.threads(), program.threads()
        said = program.ask("set", pid, "jfr=/nowhere/at/all.jfr")
        assert "nothing is recorded: /nowhere/at/all.jfr" in said, said
        assert "jfr: nothing is recorded" in program.ask("tree", pid)
        os.mkfifo(bench.path("fifo.jfr"))
        said = program.ask("set", pid, f"jfr={bench.path('fifo.jfr')}")
        assert "a FIFO is there" in said, said
        said = program.ask("set", pid, "jfr=/tmp/no-extension")
        assert "does not end with .jfr" in said, said
        same("exit", program.end(), 0)
    with open(bench.path("stderr"), encoding="utf-8") as file:
        logged = [line for line in file if "nothing is recorded" in line]
    assert len(logged) <= 4, logged


def lives(bench):
    """lifeThreshold=, lifeSample=: released lives above the threshold, what is left out is counted."""
    path = bench.path("lives.jfr")
    with losing(bench, f",jfr={path},summarySeconds=1,lifeThreshold=4s") as program:
        program.tell("hold 6")
        time.sleep(5.5)
        program.tell("drop")      # long enough
        program.tell("hold 5")
        time.sleep(1.5)
        program.tell("drop")      # too short
        program.tell("lose 7")
        program.tell("gc")        # too short, and leaked
        time.sleep(2.5)
        program.ask("set", str(program.pid), "lifeThreshold=0")
        time.sleep(1.5)
        program.tell("lose 9")
        program.tell("gc")
        time.sleep(2.5)
        program.ask("set", str(program.pid), "lifeSample=1000000")
        time.sleep(1.5)
        program.tell("lose 4")
        program.tell("gc")
        same("exit", program.end(), 0)
    found = {}
    for event in events(bench, path, "bbflow.Life"):
        found[event["end"]] = found.get(event["end"], 0) + event["count"]
        if event["end"] == "released":
            assert re.match(r"PT[4-9]S", event["duration"]), event
            same("path", [s for s in steps(event) if s in ("step", "heapBuffer")], ["step", "heapBuffer"])
            same("what is not known there", (event["memory"], event["bytes"], event["eventThread"]),
                 ("unknown", 0, None))
    same("lives", found, {"released": 6, "leaked": 9})
    last = events(bench, path, "bbflow.Summary")[-1]
    same("left out", (last["livesTooShort"], last["livesNotSampled"], last["leaked"]), (7, 4, 20))
    same("each lost buffer", len(events(bench, path, "profiler.Malloc")), 20)
    ours = run(bench, harness.CLIENT, "jfr", "print", "--json", "--events", "bbflow.Life", path)
    same("ours", len(json.loads(ours)["recording"]["events"]), len(events(bench, path, "bbflow.Life")))


def untracked(bench):
    """What bbflow does not see, in a snapshot and live: a class in map mode, a class left as it was."""
    classes, live_path, snap_path = (bench.path(n) for n in ("classes", "live.jfr", "snap.jfr"))
    shutil.copytree(os.path.join(harness.OUT, "classes/probes"), classes)
    coming.value_class(os.path.join(classes, "com/app/Steps.class"), bench.jdk.major + 44)
    run(bench, bench.jdk.java, "--enable-preview", f"-javaagent:{harness.OUT}/other-agent.jar=load",
        f"-agentpath:{harness.AGENT}=include=com.app,summarySeconds=1,jfr={live_path},file={snap_path}",
        "-cp", f"{classes}:{harness.netty_jars(coming.NETTY)}", *coming.PROGRAM)
    for path in (live_path, snap_path):
        said = [e["what"] for e in events(bench, path, "bbflow.Untracked")]
        for pattern, least in ((r"io\.netty\.buffer\.\w+ has no place for bbflow's mark: .", 1),
                               (r"^1 class left as it was \(untouched_classes\)$", 1)):
            found = [text for text in said if re.search(pattern, text)]
            assert len(found) >= least, f"{path}: no {pattern} in {said}"
        text = run(bench, tool_of(bench, "jfr"), "print", "--events", "bbflow.Untracked", path)
        same("events of the text form", text.count("bbflow.Untracked {"), len(said))
        ours = run(bench, harness.CLIENT, "jfr", "print", "--json", "--events", "bbflow.Untracked", path)
        same("ours", [e["values"]["what"] for e in json.loads(ours)["recording"]["events"]], said)


def cases():
    yield Scenario("jfr/live", live, jdk=(17, 25))
    yield Scenario("jfr/snapshot", snapshot, jdk=(17, 25))
    yield Scenario("jfr/lives", lives, jdk=(17, 25), short=(25,))
    yield Scenario("jfr/untracked", untracked, jdk=(17, 25), short=(25,))
    yield Scenario("jfr/killed", killed, jdk=(17, 25))
    yield Scenario("jfr/changed", changed, jdk=(17, 25), short=(25,))
