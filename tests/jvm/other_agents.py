"""Other agents and tools in the same JVM (agents/…): each program runs with the other one alone,
with bbflow before it and with bbflow after it. What the other one says must be the same all three
times; bbflow must count, to the unit and on the same paths, what the program says of itself."""

import difflib
import functools
import glob
import os
import re
import subprocess
import time
import zipfile

import harness
from harness import OUT, ROOT, Scenario, agent_lines, class_path, netty_jars, tool
from snapshot import Snapshot, same

NETTY = "4.1.140.Final"
SOURCES = os.path.join(ROOT, "tests/jvm/agents")
BYTE_BUDDY = ("net.bytebuddy:byte-buddy:1.17.7", "net.bytebuddy:byte-buddy-agent:1.17.7")
MOCKITO = ("org.mockito:mockito-core:5.20.0", "org.objenesis:objenesis:3.3", *BYTE_BUDDY)
MOCKITO_4 = ("org.mockito:mockito-core:4.11.0", "org.mockito:mockito-inline:4.11.0",
             "org.objenesis:objenesis:3.3", "net.bytebuddy:byte-buddy:1.12.19",
             "net.bytebuddy:byte-buddy-agent:1.12.19")
JACOCO_AGENT = "org.jacoco:org.jacoco.agent:0.8.14:runtime"
JACOCO = ("org.jacoco:org.jacoco.core:0.8.14", "org.ow2.asm:asm:9.9", "org.ow2.asm:asm-tree:9.9",
          "org.ow2.asm:asm-commons:9.9")
OTEL = "io.opentelemetry.javaagent:opentelemetry-javaagent:2.20.1"
# Netty's own detector takes one buffer in 128 by chance: it would spoil the others' numbers.
QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m",
         "-Dio.netty.leakDetection.level=DISABLED"]

ALONE, FIRST, SECOND = "theirs alone", "ours first", "theirs first"
POOLED = "io.netty.buffer.PooledByteBufAllocator.directBuffer"
HEAP = "io.netty.buffer.UnpooledByteBufAllocator.heapBuffer"


@functools.lru_cache(None)
def jars(*coordinates):
    """The jars by scripts/fetch-maven, pinned by version and sum."""
    return subprocess.run([os.path.join(ROOT, "scripts/fetch-maven"), *coordinates], check=True,
                          stdout=subprocess.PIPE, text=True).stdout.split()


def agent_jar(name, agent_class):
    """A jar that only says which class of the class path is the agent."""
    path = os.path.join(OUT, name)
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n"
                     f"Premain-Class: {agent_class}\nAgent-Class: {agent_class}\n"
                     "Can-Retransform-Classes: true\nCan-Redefine-Classes: true\n")
    return path


class ToolRun:
    """One run of a program beside another tool. order: which agent is first on the command line."""

    def __init__(self, bench, order, theirs, program, jvm=(), libraries=(), classes=("agents",),
                 include="com.app", flag=None):
        """flag: how bbflow comes in, up to the options."""
        self.bench = bench
        self.order = order
        self.folder = bench.path(order.replace(" ", "-"))
        os.makedirs(self.folder)
        self.json_path = os.path.join(self.folder, "out.json")
        ours = [f"{flag or '-agentpath:' + harness.AGENT}=include={include},gc=exit,file={self.json_path}"]
        theirs = [flag.replace("@DIR@", self.folder) for flag in theirs]
        flags = {ALONE: theirs, FIRST: ours + theirs, SECOND: theirs + ours}[order]
        path = ":".join([class_path("probes", None)]
                        + [os.path.join(OUT, "classes", c) for c in classes]
                        + [netty_jars(NETTY), *libraries])
        self.command = [bench.jdk.java, *QUICK, *jvm, *flags, "-cp", path, *program]
        self.env = dict(bench.env, XDG_RUNTIME_DIR=bench.sockets)
        self.process = None
        self.stdout = self.stderr = ""

    def start(self):
        with open(os.path.join(self.folder, "command"), "w", encoding="utf-8") as out:
            out.write(" ".join(f"'{c}'" for c in self.command) + "\n")
        files = [open(os.path.join(self.folder, n), "w", encoding="utf-8")
                 for n in ("stdout", "stderr")]
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=files[0],
                                        stderr=files[1], env=self.env, cwd=self.folder)
        for file in files:
            file.close()
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()  # nothing, if it has ended
        self.process.wait()

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_for(self, pattern):
        end = time.time() + harness.TIMEOUT
        while time.time() < end and self.process.poll() is None:
            found = re.search(pattern, self.read("stdout"))
            if found:
                return found
            time.sleep(0.02)
        raise AssertionError(f"{self.order}: never printed {pattern}: {self.read('stderr')[-600:]}")

    def finish(self):
        try:
            self.process.wait(harness.TIMEOUT)
        finally:
            self.process.kill()
            self.process.wait()
        self.stdout, self.stderr = self.read("stdout"), self.read("stderr")
        assert not glob.glob(os.path.join(self.folder, "hs_err*")), f"crashed: {self.folder}"
        same(f"{self.order}: exit ({self.stderr[-600:]})", self.process.returncode, 0)
        same(f"{self.order}: our lines", agent_lines(self.stderr), [])
        return self

    def said(self, *words):
        """The lines of stdout that begin with one of the words."""
        return [line for line in self.stdout.splitlines() if line.startswith(words)]

    def oracle(self):
        line, = self.said("ORACLE")
        found = {k: int(v) if v.isdigit() else v for k, v in
                 (part.split("=", 1) for part in line.split()[1:])}
        assert "leaked" in found, line
        return found

    def counted(self, paths, more_lives=0, mocks=0):
        """Ours: every life as the program says, and the lost ones on these paths. A mock that our
        methods met is a life of unknown outcome."""
        if self.order == ALONE:
            return
        picture = Snapshot(self.read("out.json"))
        picture.check()
        oracle = self.oracle()
        expected = {"lives": oracle["lives"] + more_lives + mocks, "live": 0,
                    "released": oracle["released"] + more_lives, "leaked": oracle["leaked"],
                    "unknown": mocks}
        for name in ("held", "harmless", "raced_steps", "dropped_steps", "dropped_lives",
                     "untracked_classes"):
            expected[name] = 0
        got = {name: picture.totals[name] for name in expected}
        same(f"{self.order}: what bbflow counted", got, expected)
        same(f"{self.order}: leaks", picture.leaked_at(), paths(oracle))


def phases_paths(oracle):
    direct, step = "com.app.Phases.direct", "com.app.Steps."
    return {(POOLED, direct, step + "step", "com.app.Redefinable.of", step + "leaky"): oracle["direct"],
            (HEAP, "com.app.Phases.heap", step + "step2"): oracle["heap"]}


def three_ways(bench, theirs, program, **more):
    """Runs it alone, ours first, theirs first; the runs, finished."""
    return [ToolRun(bench, order, theirs, program, **more).start().finish()
            for order in (ALONE, FIRST, SECOND)]


def as_alone(runs, *words, at_least=1):
    """The other tool printed the same in all runs, and at least `at_least` lines."""
    alone = runs[0].said(*words)
    assert len(alone) >= at_least, f"it said nothing: {runs[0].stdout[-600:]}"
    for run in runs[1:]:
        same_lines(f"{run.order}: what it says", run.said(*words), alone)


def same_lines(what, got, expected):
    """Shows only what differs: these texts are long."""
    difference = [line for line in difflib.unified_diff(expected, got, "alone", "beside", n=0,
                                                        lineterm="")]
    assert not difference, f"{what}:\n" + "\n".join(line[:600] for line in difference[:40])


def phases_program(phases=3, rounds=200):
    return ["com.app.Probes", "phases", str(phases), str(rounds)]


# ---- the agents ----

def java_agent(mode):
    def test(bench):
        jar = agent_jar("guest.jar", "com.agents.Guest")
        runs = three_ways(bench, [f"-javaagent:{jar}={mode}"], phases_program(),
                          jvm=["-Dbetween=com.agents.Guest"])
        as_alone(runs, "THEIRS", at_least=3)
        # A few of Netty's classes cannot be linked without jars that are not there.
        classes = re.search(r"loads=[1-9]\d+ classes=(\d+)", runs[0].stdout)
        assert mode == "redefine" or int(classes.group(1)) > 200, runs[0].stdout
        for run in runs:
            run.counted(phases_paths)
    return test


def native_agent(options):
    def test(bench):
        library = hook_agent()
        runs = three_ways(bench, [f"-agentpath:{library}={options}"], phases_program(),
                          jvm=["-Dbetween=com.agents.Native"])
        as_alone(runs, "THEIRS", at_least=3)
        for line in runs[0].said("THEIRS phase"):
            assert "changed=all" in line and "seen=some" not in line, line
        for run in runs:
            run.counted(phases_paths)
    return test


def hook_agent():
    """tests/jvm/agents/hookagent.c, compiled once."""
    source, library = os.path.join(SOURCES, "hookagent.c"), os.path.join(OUT, "libhookagent.so")
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(source):
        include = os.path.join(os.path.dirname(os.path.dirname(tool("javac"))), "include")
        made = f"{library}.{os.getpid()}.{time.monotonic_ns()}"
        subprocess.run([os.environ.get("CC", "gcc"), "-std=c11", "-O1", "-g", "-Wall", "-Wextra",
                        "-Wconversion", "-Werror", "-fPIC", "-shared", "-isystem", include,
                        "-isystem", include + "/linux", source, "-o", made], check=True)
        os.replace(made, library)
    return library


def attached_agent(mode):
    """An agent that another JVM attaches while the program runs retransforms every class."""
    def test(bench):
        jar = agent_jar("guest.jar", "com.agents.Guest")
        runs = []
        for order in (ALONE, FIRST):
            flags = ["-Dbetween=com.agents.Wait", "-XX:+EnableDynamicAgentLoading"]
            with ToolRun(bench, order, [], phases_program(), jvm=flags).start() as run:
                for phase in (1, 2):
                    run.wait_for(f"PHASE {phase}")
                    attach = [tool("java"), "-cp", os.path.join(OUT, "classes/agents"),
                              "com.agents.Attach", str(run.process.pid), jar, mode]
                    done = bench.run(attach, timeout=harness.TIMEOUT)
                    same(f"{order}: attach ({done.stderr[-500:]})", done.returncode, 0)
                runs.append(run.finish())
        as_alone(runs, "THEIRS", at_least=4)
        assert "THEIRS everything else true" in runs[0].stdout, runs[0].stdout
        for run in runs:
            run.counted(phases_paths)
    return test


def byte_buddy(mode):
    def test(bench):
        jar = agent_jar("advised.jar", "com.agents.Advised")
        runs = three_ways(bench, [f"-javaagent:{jar}={mode}"], phases_program(),
                          jvm=["-Dbetween=com.agents.Advised"], libraries=jars(*BYTE_BUDDY),
                          classes=("agents", "bytebuddy"))
        as_alone(runs, "THEIRS", at_least=2)
        line = runs[0].said("THEIRS " + mode)[0]
        # One of Netty's loggers extends a class of a jar that is not there: reported also without us.
        assert "io.netty.buffer" not in line.split(" errors ")[1], line
        assert re.search(r"AbstractReferenceCountedByteBuf\.release=[1-9]", line), line
        for run in runs:
            run.counted(phases_paths)
    return test


def mockito(version, coordinates):
    def test(bench):
        libraries = jars(*coordinates)
        flags = [f"-javaagent:{libraries[0]}"] if version == 5 else []
        runs = three_ways(bench, flags, ["com.app.Mocks"], libraries=libraries,
                          jvm=["-Djdk.attach.allowAttachSelf=true"],
                          classes=("agents", "mockito"))
        as_alone(runs, "THEIRS", at_least=9)
        for run in runs:
            run.counted(lambda oracle: {
                (POOLED, "com.app.Mocks.real", "com.app.Steps.step", "com.app.Steps.leaky"):
                oracle["leaked"]}, mocks=7)
    return test


def jacoco(bench):
    agent, = jars(JACOCO_AGENT)
    flags = [f"-javaagent:{agent}=destfile=@DIR@/x.exec,includes=com.app.*:io.netty.buffer.*"]
    runs = three_ways(bench, flags, phases_program())
    texts = []
    for run in runs:
        done = bench.run([tool("java"), "-cp", ":".join(
            [os.path.join(OUT, "classes", c) for c in ("jacoco", "agents", "probes")]
            + glob.glob(netty_jars(NETTY)) + jars(*JACOCO)), "com.agents.ExecDump",
            os.path.join(run.folder, "x.exec")])
        same(f"{run.order}: reading x.exec ({done.stderr[-500:]})", done.returncode, 0)
        texts.append(done.stdout.splitlines())
        run.counted(phases_paths)
    assert sum(line.startswith("probes com/app/") for line in texts[0]) >= 5, texts[0]
    assert sum(line.startswith("probes io/netty/buffer/") for line in texts[0]) > 20, texts[0]
    assert not any("does not match" in line for line in texts[0]), texts[0]
    for run, text in zip(runs[1:], texts[1:]):
        same_lines(f"{run.order}: coverage", text, texts[0])


def spans(run):
    """What the logging exporter wrote: name, kind, attributes; no ids, ports, threads or times."""
    found = []
    for line in run.stderr.splitlines():
        span = re.search(r"LoggingSpanExporter - '(.*)' : \S+ \S+ (\w+) (\[.*)", line)
        if span:
            text = re.sub(r"(port|id|name|address)=[^,}]*", r"\1", span.group(3))
            tracer, data = re.fullmatch(r"(\[.*\]) AttributesMap\{data=\{(.*?)\}.*", text).groups()
            found.append(f"{span.group(1)} {span.group(2)} {tracer} "
                         + ", ".join(sorted(data.split(", "))))
    return sorted(found)


def open_telemetry(bench, flag=None):
    agent, = jars(OTEL)
    flags = [f"-javaagent:{agent}", "-Dotel.traces.exporter=logging",
             "-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none"]
    runs = three_ways(bench, flags, ["com.app.Probes", "http", "20", "3"], jvm=["-Xmx512m"], flag=flag)
    alone = spans(runs[0])
    for kind in ("SERVER", "CLIENT"):
        same(f"{kind} spans", sum(f" {kind} " in span for span in alone), 20)
    for run in runs[1:]:
        same_lines(f"{run.order}: spans", spans(run), alone)
        picture = Snapshot(run.read("out.json"))
        picture.check()
        same(f"{run.order}: leaks", picture.last_steps(), {"com.app.Http$Echo.forget": 3})


def flight_recorder(bench):
    flags = ["-XX:StartFlightRecording=filename=@DIR@/launch.jfr,settings=profile",
             "-Xlog:jfr*=off", "-Djfr.file=@DIR@/async.jfr"]
    runs = three_ways(bench, flags, phases_program(), jvm=["-Dbetween=com.app.Recorder"])
    as_alone(runs, "THEIRS")
    same("the recording", runs[0].said("THEIRS"),
         ["THEIRS jfr rounds=1000 bytes=8000 sampled=true"])
    for run in runs:
        for name in ("launch.jfr", "async.jfr"):
            file = os.path.join(run.folder, name)
            done = bench.run([tool("jfr"), "summary", file])
            same(f"{run.order}: jfr summary {name}", done.returncode, 0)
            rounds = re.search(r"com\.app\.Round\s+(\d+)", done.stdout)
            same(f"{run.order}: rounds of {name}", rounds and rounds.group(1), "1000")
            done = bench.run([tool("jfr"), "print", "--events", "com.app.Round", file])
            same(f"{run.order}: printed", done.stdout.count("bytes = 8"), 1000)
        run.counted(phases_paths, more_lives=1000)


def debugger(bench):
    """Lines, local variables, steps, a popped frame, a watched field, redefinitions by JDI."""
    said = []
    for order in (ALONE, FIRST, SECOND):
        jdwp = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"
        flags = ["-Dbetween=com.agents.Wait"]
        with ToolRun(bench, order, [jdwp], phases_program(), jvm=flags).start() as run:
            port = run.wait_for(r"Listening for transport dt_socket at address: (\d+)").group(1)
            run.wait_for("PHASE 1")
            done = bench.run([tool("java"), "-cp", class_path("agents", NETTY) + ":"
                              + class_path("probes", None), "com.agents.Debugger", port],
                             timeout=harness.TIMEOUT)
            same(f"{order}: the debugger ({done.stderr[-800:]})", done.returncode, 0)
            said.append(done.stdout.splitlines())
            run.finish()
        same(f"{order}: words", run.oracle()["words"], "first!,other!,other!")
        run.counted(phases_paths)
    assert len(said[0]) > 60, said[0]
    for order, lines in zip((FIRST, SECOND), said[1:]):
        same_lines(f"{order}: what the debugger shows", lines, said[0])


# ---- the list ----

def compile_sets(names):
    """Class folders of their own for the cases of these names: name, sources, jars to compile
    against. Nothing is fetched for a case that does not run."""
    for word, coordinates in (("ByteBuddy", BYTE_BUDDY), ("Mockito", MOCKITO),
                              ("JaCoCo", JACOCO)):
        if any(name.startswith("agents/" + word) for name in names):
            folder = word.lower()
            yield (folder, sorted(glob.glob(os.path.join(SOURCES, folder, "*.java"))),
                   jars(*coordinates))


def cases():
    """In a run without patterns each tool runs on one JDK, in the modes that include the others; the
    rest runs by name and with --tier=long."""
    def guest(name, function, *short, **more):
        return Scenario("agents/" + name, function, short=short, **more)
    for mode, *short in (("nothing",), ("bytes", 25), ("plain",), ("redefine", 17)):
        yield guest(f"java agent, {mode}", java_agent(mode), *short)
    for options, *short in (("retransform",), ("retransform+bytes",), ("bytes", 25),
                            ("retransform+bytes+all+early", 17)):
        yield guest(f"native agent, {options}", native_agent(options), *short,
                    quick=options.endswith("early"))
    for mode, *short in (("bytes", 17), ("redefine",)):
        yield guest(f"attached agent, {mode}", attached_agent(mode), *short)
    for mode, *short in (("load", 25), ("retransform", 17), ("redefine",)):
        yield guest(f"ByteBuddy, {mode}", byte_buddy(mode), *short)
    yield guest("Mockito 5", mockito(5, MOCKITO), 25)
    # Its Byte Buddy says "Java 25 (69) is not supported".
    yield guest("Mockito 4", mockito(4, MOCKITO_4), 17, jdk=(17,))
    yield guest("JaCoCo", jacoco, 17)
    yield guest("OpenTelemetry", open_telemetry, 25)
    yield guest("Flight Recorder", flight_recorder, 17)
    yield guest("debugger", debugger, 25, quick=True)
