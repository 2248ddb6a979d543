"""Runs one Java program under the agent and hands its traces to a check. Used by tests/jvm/run."""

import functools
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import zipfile

from snapshot import Snapshot, same

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AGENT = os.environ.get("BBF_AGENT", os.path.join(ROOT, "build/release/libbbflow.so"))
CLIENT = os.environ.get("BBF_CLIENT", os.path.join(ROOT, "build/release/bbflow"))
BODIES = os.path.join(ROOT, "build/release/libtest_bodies.so")
OUT = os.path.join(ROOT, "build/jvm")
RUNS = os.environ.get("BBF_RUNS", os.path.join(OUT, "runs"))
TIMEOUT = 180


class Jdk:
    def __init__(self, major, home):
        self.major = int(major)
        self.home = home
        self.java = os.path.join(home, "bin/java")


def in_turn(*places):
    """The one of 17 and 25 on which a run without patterns takes this cell of a table of cases, as a
    chessboard has colours: with each value of each dimension both come."""
    return (25,) if sum(places) % 2 else (17,)


class Case:
    """One program run: `main args` on each JDK of `jdk`; `check(run)` asserts on what it left.

    jvm, after: JVM flags before and after ours; @OUT@ is build/jvm.
    oracle: what the program must say of itself, whatever the agent says.
    agent: the agent's options without file=; None: run without the agent.
    libraries(): other jars of its class path. short: the JDKs that a run without patterns takes; by
    default all, or one of 17 and 25 by turns (cases.py: by_turns()).
    alone: it measures time, and no other case runs beside it. own_jvm: it shares no JVM (sharing.py).
    live(run): called while the program runs, after it printed `ready`; the program's stdin is closed
    afterwards.
    """

    def __init__(self, name, main, *args, netty="4.1.140.Final", jvm=(), agent="include=com.app",
                 jdk=(17, 25), quick=False, check=None, live=None, classes="probes", exit_code=0,
                 alone=False, ready="READY", oracle=None, after=(), libraries=list, short=None,
                 own_jvm=False):
        self.name = name
        self.main = main
        self.args = list(args)
        self.netty = netty
        self.jvm = [flag.replace("@OUT@", OUT) for flag in jvm]
        self.after = [flag.replace("@OUT@", OUT) for flag in after]
        self.agent = agent
        self.jdk = jdk
        self.quick = quick
        self.check = check
        self.live = live
        self.classes = classes
        self.exit_code = exit_code
        self.alone = alone
        self.own_jvm = own_jvm
        self.ready = ready
        self.oracle = oracle or {}
        self.libraries = libraries
        self.short, self.open_to_turns = jdk if short is None else short, short is None

    def execute(self, jdk, with_agent):
        run = Run(self, jdk, with_agent)
        run.start()
        try:
            if self.live and with_agent:
                run.wait_for(self.ready)
                self.live(run)
        finally:
            run.finish()
        self.judge(run, with_agent)

    def judge(self, run, with_agent=True):
        """Assert what holds for every run that has ended."""
        same("exit code", run.exit, self.exit_code)
        run.check_oracle()
        for name, value in self.oracle.items():
            same(f"the program's own {name}", run.oracle.get(name), value)
        self.finished(run, with_agent)

    def finished(self, run, with_agent):
        if with_agent and self.agent is not None:
            run.read_snapshot()
            if self.check:
                self.check(run)


class Scenario:
    """A test that is a Python function of a Bench: several runs compared, tables of bad input.
    short: as of a Case."""

    def __init__(self, name, function, jdk=(17, 25), quick=False, alone=False, short=None):
        self.name = name
        self.function = function
        self.jdk = jdk
        self.short, self.open_to_turns = jdk if short is None else short, short is None
        self.quick = quick
        self.alone = alone

    def execute(self, jdk, with_agent):
        bench = Bench(self, jdk)
        try:
            self.function(bench)
        finally:
            shutil.rmtree(bench.sockets, ignore_errors=True)


@functools.lru_cache(None)
def netty_jars(version):
    text = subprocess.run([os.path.join(ROOT, "scripts/fetch-netty"), version], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return os.path.join(text.strip(), "*")


@functools.lru_cache(None)
def tool(name):
    """A program of the JDK 17: the runtimes that scripts/fetch-jdks gets have java alone."""
    text = subprocess.run([os.path.join(ROOT, "scripts/find-jdks"), "17"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return os.path.join(text.strip().split("\t")[1], "bin", name)


def javac():
    return tool("javac")


def make_jar(classes, jar, manifest):
    """A jar of a class folder, for -javaagent (the runtimes have no jar command)."""
    folder = os.path.join(OUT, "classes", classes)
    with zipfile.ZipFile(os.path.join(OUT, jar), "w") as out:
        out.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n" + manifest)
        for file in glob.glob(os.path.join(folder, "**/*.class"), recursive=True):
            out.write(file, os.path.relpath(file, folder))


def class_path(classes, netty):
    parts = [os.path.join(OUT, "classes", classes)]
    if netty:
        parts.append(netty_jars(netty))
    return ":".join(parts)


def iso_classes(folder, launcher=None):
    """The probes without (or only with) the launcher's class, so that loaders cannot share."""
    source = os.path.join(OUT, "classes/probes")
    target = os.path.join(folder, "launcher" if launcher else "probes")
    if not os.path.isdir(target):
        keep = "com/app/Iso.class"
        if launcher:
            os.makedirs(os.path.join(target, "com/app"))
            shutil.copy(os.path.join(source, keep), os.path.join(target, keep))
        else:
            shutil.copytree(source, target)
            os.remove(os.path.join(target, keep))
    return target


def clean_environment(home):
    """The runner's own settings must not reach the JVM, nor its sockets mix with other JVMs'."""
    drop = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_HOME", "BBFLOW_OPTIONS", "BBFLOW_LIBRARY_PATH")
    env = {k: v for k, v in os.environ.items() if k not in drop}
    env.update(LC_ALL="C.UTF-8", XDG_RUNTIME_DIR=home)
    return env


def folder_for(name, jdk):
    folder = os.path.join(RUNS, f"{re.sub('[^A-Za-z0-9.-]+', '_', name)}-{jdk.major}")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def short_line(command):
    """One line for a shell."""
    return " ".join(f"'{c}'" if re.search(r"[*$;,() ]", c) else c for c in command) + "\n"


def fast_flags(case):
    """Compiler and collector of the cases that name none: a third of the processor time of a JVM of a
    second is C2's and G1's. In the long tier they have the JVM's own, as all scenarios do."""
    if os.environ.get("BBF_TIER") == "long":
        return []
    given = [*case.jvm, *case.after]
    flags = []
    if not any(re.match(r"-XX:\+Use\w*GC$", flag) for flag in given):
        flags.append("-XX:+UseSerialGC")
    if not any(re.match(r"-X(int|comp)|-XX:.*(Compil|Tiered)", flag) for flag in given):
        flags.append("-XX:TieredStopAtLevel=1")
    return flags


def java_command(case, jdk, with_agent, json_path, folder, program=None, classes=None):
    """java, its flags and class path; then `program`, which is of the folder `classes`, without it the
    case's own main and args."""
    command = [jdk.java] + fast_flags(case) + case.jvm
    if with_agent and case.agent is not None:
        options = ",".join(part for part in (case.agent, f"file={json_path}") if part)
        command.append(f"-agentpath:{AGENT}={options}")
    command += case.after
    path = ":".join([class_path(classes or case.classes, case.netty), *case.libraries()])
    args = case.args
    if "@PATH@" in args:  # the program makes a loader of its own for Netty and the probes
        jars = glob.glob(netty_jars(case.netty))
        args = [a.replace("@PATH@", ":".join([iso_classes(folder)] + jars)) for a in args]
        path = iso_classes(folder, case.main)
    return command + ["-cp", path, *(program or [case.main, *args])]


class Run:
    """One process. After finish(): exit, stdout, stderr, oracle (dict), json (Snapshot)."""

    def __init__(self, case, jdk, with_agent):
        self.case = case
        self.jdk = jdk
        self.folder = folder_for(case.name, jdk)
        self.json_path = os.path.join(self.folder, "out.json")
        self.command = java_command(case, jdk, with_agent, self.json_path, self.folder)
        self.exit = None
        self.stdout = self.stderr = ""
        self.oracle = {}
        self.json = None
        self.stdin = bool(case.live)
        self.write("command", short_line(self.command))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self):
        self.sockets = tempfile.mkdtemp(prefix="bbj-")  # short: a socket's path has 107 bytes
        self.env = clean_environment(self.sockets)
        self.files = [open(os.path.join(self.folder, n), "w", encoding="utf-8")
                      for n in ("stdout", "stderr")]
        stdin = subprocess.PIPE if self.stdin else subprocess.DEVNULL
        self.process = subprocess.Popen(self.command, stdin=stdin, stdout=self.files[0],
                                        stderr=self.files[1], env=self.env, cwd=self.folder)
        self.pid = self.process.pid

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def wait_for(self, word):
        end = time.time() + 60
        while time.time() < end and self.process.poll() is None:
            if word in self.read("stdout"):
                return
            time.sleep(0.05)
        raise AssertionError(f"the program never printed {word}; exit {self.process.poll()}")

    def client(self, *args, code=0):
        """The bbflow command; its exit code is asserted (None: any but 0). Returns its output."""
        done = subprocess.run([CLIENT, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=self.env, timeout=60,
                              check=False)
        right = done.returncode != 0 if code is None else done.returncode == code
        assert right, (f"bbflow {' '.join(args)}: exit {done.returncode}, expected {code}: "
                       f"{done.stdout[-300:]}{done.stderr}")
        return done.stdout, done.stderr

    def snapshot(self, *extra):
        """A picture of the running JVM, by the client."""
        picture = Snapshot(self.client("dump", *extra, str(self.pid))[0])
        picture.check()
        return picture

    def finish(self):
        if self.process.stdin:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass  # it has ended
        try:
            self.exit = self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running after {TIMEOUT} s") from None
        finally:
            for file in self.files:
                file.close()
            shutil.rmtree(self.sockets, ignore_errors=True)
        self.stdout, self.stderr = self.read("stdout"), self.read("stderr")
        if glob.glob(os.path.join(self.folder, "hs_err*")):
            raise AssertionError(f"the JVM crashed: {self.folder}/hs_err*")

    def check_oracle(self):
        """The program's own word. What it lost must be gone, or its report shows nothing."""
        for line in self.stdout.splitlines():
            if line.startswith("ORACLE"):
                self.oracle = {k: int(v) if re.fullmatch(r"\+?-?\d+", v) else v
                               for k, v in (p.split("=", 1) for p in line.split()[1:])}
        if "collected" in self.oracle and "collisions" not in self.oracle:
            lost = self.oracle.get("leaked", self.oracle["collected"])
            same("collected by the JVM", self.oracle["collected"], lost)

    def read_snapshot(self):
        assert os.path.exists(self.json_path), f"no {self.json_path}: {self.stderr[-500:]}"
        self.json = Snapshot(self.read("out.json"))
        self.json.check()
        validate(self.json.doc)
        same("stderr", agent_lines(self.stderr), [])


SCHEMA = os.path.join(ROOT, "docs/bbflow-snapshot-1.schema.json")


@functools.lru_cache(None)
def validator():
    """Of the published schema (python3-jsonschema, which scripts/install brings)."""
    from jsonschema import validators
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    kind = validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def validate(doc):
    for error in validator().iter_errors(doc):
        raise AssertionError(f"schema: {error.message} at {list(error.path)}")


def agent_lines(stderr):
    """Our lines on stderr: without log= or report= there are none."""
    return [line for line in stderr.splitlines() if line.startswith("[bbflow]")]


class Bench:
    """What a Scenario gets: a JDK, a folder of its own, and plain runs of Java."""

    def __init__(self, scenario, jdk):
        self.jdk = jdk
        self.folder = folder_for(scenario.name, jdk)
        self.sockets = tempfile.mkdtemp(prefix="bbj-")  # short: a socket's path has 107 bytes
        self.env = clean_environment(self.sockets)

    def java(self, *args, agent=None, netty=None, library=None, env=None, classes="probes",
             timeout=60):
        """Runs java; agent = option string ("" for none at all), None = without the agent."""
        command = [self.jdk.java]
        if agent is not None:
            command.append(f"-agentpath:{library or AGENT}" + (f"={agent}" if agent else ""))
        command += ["-cp", class_path(classes, netty), *args]
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env={**self.env, **(env or {})},
                              cwd=self.folder, timeout=timeout, check=False)

    def run(self, command, env=None, timeout=60):
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env={**self.env, **(env or {})},
                              cwd=self.folder, timeout=timeout, check=False)

    def path(self, name):
        return os.path.join(self.folder, name)
