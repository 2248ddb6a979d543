"""bbflow-javaagent.jar (docs/java-agent.md): quiet on each JDK, the same counts as by -agentpath, errors as by
-agentpath, one agent a JVM, folders in which the library may not be written to or executed."""

import glob
import os
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile

import attach
import harness
import other_agents
from harness import ROOT, Scenario, agent_lines, class_path
from snapshot import Snapshot, same

JAR = os.path.join(ROOT, "build/release/bbflow-javaagent.jar")
NETTY = "4.1.140.Final"
PLATFORM = "linux-aarch64" if platform.machine() == "aarch64" else "linux-x86-64"
QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
SECOND = "bbflow is already in this JVM; this second {} is ignored"
STAYS_OFF = "bbflow stays off; the application continues"
CYCLES = ["com.app.Probes", "cycles", "pooled", "loop", "1"]
HELLO = ["--version"]  # a whole JVM: premain runs
OTHER = 65534  # a user that is not the test's


def java(bench, *flags, env=None, program=None, netty=None, timeout=harness.TIMEOUT, jar=JAR):
    """jar: of the flags' @JAR@."""
    path = ["-cp", class_path("probes", netty)] if netty else []
    command = [bench.jdk.java, *QUICK, *[f.replace("@JAR@", f"-javaagent:{jar}") for f in flags], *path,
               *(program or HELLO)]
    return bench.run(command, env=env, timeout=timeout)


def counted(out):
    """What CYCLES does, to the unit, by the hidden field."""
    with open(out, encoding="utf-8") as file:
        picture = Snapshot(file.read())
    picture.check()
    for name, value in (("lives", 1001), ("released", 1000), ("leaked", 1), ("unknown", 0)):
        same(name, picture.totals[name], value)
    same("paths", picture.leaked_at(), {("io.netty.buffer.PooledByteBufAllocator.directBuffer",
                                         "com.app.Cycles.last", "com.app.Steps.step", "com.app.Steps.leaky"): 1})
    same("without the hidden field", picture.doc["jvm"]["map_mode"], [])


# ---- the gate ----

def quiet(bench):
    """Not one line on stderr or stdout but the program's, and what -agentpath counts."""
    out = bench.path("out.json")
    netty = ["--sun-misc-unsafe-memory-access=allow"] if bench.jdk.major >= 24 else []  # Netty's own warning
    done = java(bench, f"@JAR@=include=com.app,gc=exit,file={out}", *netty, netty=NETTY,
                program=CYCLES)
    same("exit, stderr", (done.returncode, done.stderr), (0, ""))
    assert re.fullmatch(r"ORACLE lives=1001 released=1000 leaked=1 objects=\d+ collected=1\n", done.stdout), done.stdout
    counted(out)
    if bench.jdk.major >= 24:
        done = java(bench, "@JAR@=include=com.app", "--illegal-native-access=deny", netty=NETTY, program=["com.app.Shut"])
        same("denied", (done.returncode, done.stderr, done.stdout), (0, "", "SHUT\n"))


# ---- errors, and two of them ----

def lines(done):
    return [re.sub(r"^\[bbflow\] error: ", "", line) for line in agent_lines(done.stderr)]


def errors(bench):
    """What stops the JVM, and what is only said."""
    wrong = "{} options, column 1: unknown option 'inclde'; did you mean 'include'?"
    jar, agentpath = "-javaagent", f"-agentpath:{harness.AGENT}=include=com.app"
    plain = os.path.join(bench.folder, "javaagent.jar")  # as the OpenTelemetry operator names it
    shutil.copy(JAR, plain)
    tool = {"JAVA_TOOL_OPTIONS": f"-javaagent:{plain}=inclde=x"}
    variable = {"JAVA_TOOL_OPTIONS": f"-javaagent:{plain}", "BBFLOW_OPTIONS": "inclde=x"}
    stop = {"JAVA_TOOL_OPTIONS": f"-javaagent:{plain}=onerror=stop,inclde=x"}
    missing = "/nonexistent/libbbflow.so"
    table = [
        ("a typo", ["@JAR@=inclde=x"], None, 1, [wrong.format(jar)]),
        ("onerror=warn", ["@JAR@=onerror=warn,inclde=x"], None, 0, [wrong.format(jar).replace("1:", "14:"), STAYS_OFF]),
        ("JAVA_TOOL_OPTIONS", [], tool, 0, [wrong.format(jar), STAYS_OFF]),
        ("BBFLOW_OPTIONS", [], variable, 0, [wrong.format("BBFLOW_OPTIONS"), STAYS_OFF]),
        ("onerror=stop", [], stop, 1, [wrong.format(jar).replace("1:", "14:")]),
        ("the flag's options first", ["@JAR@=include=x"], {"BBFLOW_OPTIONS": "inclde=x"}, 0, []),
        ("-agentpath, BBFLOW_OPTIONS", [f"-agentpath:{harness.AGENT}"], {"BBFLOW_OPTIONS": "inclde=x"}, 0,
         [wrong.format("BBFLOW_OPTIONS"), STAYS_OFF]),
        ("twice", ["@JAR@=include=x", "@JAR@=include=x"], None, 0, [SECOND.format(jar)]),
        ("after -agentpath", [agentpath, "@JAR@=include=x"], None, 0, [SECOND.format(jar)]),
        ("before -agentpath", ["@JAR@=include=x", agentpath], None, 0, [SECOND.format(jar)]),
        ("a library that is not there", [f"-Dbbflow.library.path={missing}", "@JAR@=include=x"], None, 1,
         [f"Can't load library: {missing}; -Dbbflow.library.path names it: name a libbbflow.so for this machine and "
          "its C library, or nothing"]),
        ("version", ["@JAR@=version"], None, 0, []),
    ]
    for what, flags, env, code, expected in table:
        done = java(bench, *flags, env=env)
        same(f"{what}: exit ({done.stderr[-600:]})", done.returncode, code)
        said = [line.replace(f"{missing}: Can't", "Can't") for line in lines(done)]
        same(f"{what}: our lines", said, expected)
        rest = [line for line in done.stderr.splitlines()
                if not line.startswith(("[bbflow]", "Picked up JAVA_TOOL_OPTIONS"))]
        same(f"{what}: other lines", rest, ["bbflow 0.1.0"] if what == "version" else [])
        same(f"{what}: the program runs", "" != done.stdout, code == 0 and what != "version")
        assert not os.path.exists(bench.path("core")), what


# ---- where the library goes ----

def loaded(done):
    """The file, as the JVM logs it with -Xlog:library."""
    found = [path for path in re.findall(r"Loaded library (\S+),", done.stdout) if path.endswith("/libbbflow.so")]
    return found[0] if found else None


def place_of(done):
    """The folder bbflow-UID in which it is."""
    return os.path.dirname(os.path.dirname(loaded(done) or ""))


LOG = "-Xlog:library=info"


def in_mounts(bench, mounts, *flags, jar=JAR, env=None):
    """With these mounts made first, in a mount namespace of its own, and no XDG_RUNTIME_DIR."""
    command = [bench.jdk.java, *QUICK, LOG, *[f.replace("@JAR@", f"-javaagent:{jar}") for f in flags], *HELLO]
    inside = " && ".join([*mounts, "unset XDG_RUNTIME_DIR", 'exec "$@"'])
    return bench.run(["unshare", "--mount", "sh", "-c", inside, "sh", *command], env=env, timeout=harness.TIMEOUT)


def places(bench):
    """Read-only, noexec, another user's; the message if nothing is left, and the remedy."""
    if os.getuid() != 0 or ROOT.startswith("/tmp/"):
        return
    folder = tempfile.mkdtemp(prefix="bbflow-places-", dir="/var/tmp")  # not below what is mounted over
    jar, library = os.path.join(folder, "javaagent.jar"), os.path.join(folder, "libbbflow.so")
    shutil.copy(JAR, jar)
    noexec, read_only = "mount -t tmpfs -o {} none {}".format, "mount -t tmpfs -o ro none {}".format
    own = [f"mount --bind {folder} {folder}", f"mount -o remount,ro,bind {folder}"]
    try:
        done = in_mounts(bench, [noexec("noexec", "/tmp"), noexec("exec", "/dev/shm")], "@JAR@=include=x", jar=jar)
        same("noexec /tmp", (done.returncode, done.stderr, place_of(done)),
             (0, "", "/dev/shm/bbflow-0"))
        squat = "mkdir -m 700 /tmp/bbflow-0 && chown 65534 /tmp/bbflow-0"
        done = in_mounts(bench, [noexec("exec", "/tmp"), squat, read_only("/dev/shm")],
                         f"@JAR@=include=x,socket={folder}", jar=jar)
        same("another user's folder", (done.returncode, done.stderr, place_of(done)),
             (0, "", f"{folder}/bbflow-0"))
        shutil.rmtree(os.path.join(folder, "bbflow-0"))  # read-only it would do
        nowhere = [noexec("exec", "/tmp"), squat, noexec("noexec", "/dev/shm"), *own]
        done = in_mounts(bench, nowhere, "@JAR@=include=x", jar=jar)
        same("nowhere: exit", done.returncode, 1)
        line, = lines(done)
        for part in ("/tmp/bbflow-0: belongs to uid 65534, not to 0 (remove it)", "failed to map segment",
                     "(mounted noexec)", f"{folder}/bbflow-0: Read-only file system", "-Dbbflow.library.path=FILE",
                     "BBFLOW_LIBRARY_PATH"):
            assert part in line, line
        assert STAYS_OFF not in line, line
        done = in_mounts(bench, nowhere, "@JAR@=include=x,onerror=warn", jar=jar)
        same("nowhere, onerror=warn", (done.returncode, STAYS_OFF in lines(done)[0]), (0, True))
        done = in_mounts(bench, nowhere, "@JAR@=include=x", jar=jar, env={"BBFLOW_LIBRARY_PATH": harness.AGENT})
        same("the remedy", (done.returncode, done.stderr, loaded(done)), (0, "", os.path.realpath(harness.AGENT)))
        with zipfile.ZipFile(JAR) as packed, open(library, "wb") as out:
            out.write(packed.read(f"META-INF/bbflow/{PLATFORM}/libbbflow.so"))
        done = in_mounts(bench, nowhere, "@JAR@=include=x", jar=jar)
        same("beside the jar", (done.returncode, done.stderr, loaded(done)), (0, "", library))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def copies(bench):
    """One file a build and user, whole again after it was damaged, for its user alone."""
    if os.getuid() != 0:
        return
    place = tempfile.mkdtemp(prefix="bbflow-copies-", dir="/var/tmp")
    os.chmod(place, 0o1777)
    jar = os.path.join(place, "javaagent.jar")  # where another user can read it
    shutil.copy(JAR, jar)
    os.chmod(jar, 0o644)
    flags = [f"-Djava.io.tmpdir={place}", LOG, "@JAR@=include=x"]
    try:
        first = loaded(java(bench, *flags, jar=jar))
        made = os.stat(first)
        same("again", (loaded(java(bench, *flags, jar=jar)), os.stat(first).st_ino), (first, made.st_ino))
        same("mode", (oct(made.st_mode & 0o777), oct(os.stat(os.path.dirname(first)).st_mode & 0o777)), ("0o500", "0o700"))
        with open(first, "r+b") as file:
            file.truncate(4096)
        done = java(bench, *flags, jar=jar)
        same("damaged", (done.returncode, done.stderr, loaded(done), os.stat(first).st_size), (0, "", first, made.st_size))
        command = [bench.jdk.java, *QUICK, *[f.replace("@JAR@", f"-javaagent:{jar}") for f in flags], *HELLO]
        done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, user=OTHER, group=OTHER, extra_groups=[], timeout=harness.TIMEOUT, check=False,
                              env={k: v for k, v in bench.env.items() if k != "XDG_RUNTIME_DIR"})
        same("another user", (done.returncode, done.stderr, loaded(done)),
             (0, "", first.replace("/bbflow-0/", f"/bbflow-{OTHER}/")))
        os.chmod(os.path.dirname(os.path.dirname(first)), 0o755)
        done = java(bench, *flags, jar=jar)
        assert loaded(done) and not loaded(done).startswith(place), done.stdout
        same("an open folder is not used", (done.returncode, done.stderr), (0, ""))
        same("left", os.listdir(os.path.dirname(first)), ["libbbflow.so"])
    finally:
        shutil.rmtree(place, ignore_errors=True)


def other_machines(bench):
    """Without a library for this machine the application runs; one that cannot be linked is an error."""
    bench.env["JAR_TOOL"] = harness.tool("jar")
    classes = os.path.join(ROOT, "build/release/java-shim/javaagent/classes")
    made, script = bench.path("other.jar"), os.path.join(ROOT, "scripts/javaagent-jar")
    foreign = bench.path("foreign.so")
    with open(harness.AGENT, "rb") as file:
        image = bytearray(file.read())
    image[18] = 183 if image[18] == 62 else 62  # ELF's e_machine
    with open(foreign, "wb") as file:
        file.write(image)
    other = "linux-aarch64" if PLATFORM == "linux-x86-64" else "linux-x86-64"
    done = bench.run([script, classes, made, "1", f"{PLATFORM}={foreign}"])
    same("a file for another processor", (done.returncode, done.stderr),
         (1, f"scripts/javaagent-jar: {foreign} is not for {PLATFORM}\n"))
    same("made", bench.run([script, classes, made, "1", f"{other}={foreign}"]).returncode, 0)
    again = bench.path("again.jar")
    bench.run([script, classes, again, "1", f"{other}={foreign}"])
    with open(made, "rb") as one, open(again, "rb") as two:
        assert one.read() == two.read(), "two jars of the same input differ"
    done = java(bench, "@JAR@=include=x", jar=made)
    line, = lines(done)
    same("no library", (done.returncode, line.startswith("this jar has no libbbflow.so for Linux "), STAYS_OFF in line),
         (0, True, True))
    same("no library, onerror=stop", java(bench, "@JAR@=onerror=stop", jar=made).returncode, 1)
    source, musl = bench.path("musl.c"), bench.path("musl.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write("int elsewhere(void);\nint Agent_OnLoad(void) { return elsewhere(); }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-z,now", source, "-o", musl], check=True)
    same("made", bench.run([script, classes, made, "1", f"{PLATFORM}={musl}"]).returncode, 0)
    done = java(bench, "@JAR@=include=x", jar=made)
    line, = lines(done)
    same("another C library", (done.returncode, "undefined symbol: elsewhere" in line), (1, True))


# ---- other ways in ----

def launcher(bench):
    """Launcher-Agent-Class of an application's own jar: the hooks are in before main."""
    out, app = bench.path("out.json"), bench.path("app.jar")
    jars = [*sorted(glob.glob(harness.netty_jars(NETTY))), JAR]
    uris = " ".join(["file://" + os.path.join(harness.OUT, "classes/probes/"), *[f"file://{jar}" for jar in jars]])
    manifest = f"Main-Class: com.app.Probes\nLauncher-Agent-Class: io.bbflow.javaagent.Agent\nClass-Path: {uris}\n"
    folded = "".join("\n ".join(line[i:i + 70] for i in range(0, len(line), 70)) + "\n"
                     for line in manifest.splitlines())
    with zipfile.ZipFile(app, "w") as packed:
        packed.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n" + folded)
    flags = ["--sun-misc-unsafe-memory-access=allow"] if bench.jdk.major >= 24 else []
    command = [bench.jdk.java, *QUICK, *flags, "-jar", app, *CYCLES[1:]]
    done = bench.run(command, env={"BBFLOW_OPTIONS": f"include=com.app,gc=exit,file={out}"}, timeout=harness.TIMEOUT)
    same("exit, stderr", (done.returncode, done.stderr), (0, ""))
    counted(out)
    done = bench.run(command, env={"BBFLOW_OPTIONS": "inclde=x"}, timeout=harness.TIMEOUT)
    same("a typo", (done.returncode, lines(done)[1:]), (0, [STAYS_OFF]))


def attached(bench):
    """VirtualMachine.loadAgent: options are checked, the hooks are in when it returns, a second is a note, and after
    a stop it attaches again."""
    def load(program, options):
        source = os.path.join(ROOT, "tests/jvm/java-agent/LoadAgent.java")
        done = bench.run([harness.tool("java"), source, str(program.pid), JAR, options], timeout=harness.TIMEOUT)
        return done.stdout.strip() + done.stderr
    with attach.Program(bench, "rounds", "1", jvm=[attach.NO_LEAK_DETECTOR]) as program:
        same("a typo", load(program, "inclde=x"), "AgentInitializationException")
        assert "column 1: unknown option 'inclde'" in program.read(1), program.read(1)
        same("loaded", load(program, "include=com.app"), "loaded")
        Snapshot(program.ask("dump", str(program.pid))).check()
        same("twice", load(program, "include=com.app"), "loaded")
        assert "bbflow follows this JVM already" in program.read(1), program.read(1)
        program.stop()
        same("again", load(program, "include=com.app"), "loaded")
        Snapshot(program.ask("dump", str(program.pid))).check()
        same("exit", program.end(), 0)


def beside_telemetry(bench):
    """The OpenTelemetry agent alone, after our jar, before it: equal spans, our counts."""
    other_agents.open_telemetry(bench, flag=f"-javaagent:{JAR}")


def cases():
    every = (11, 17, 21, 25)
    yield Scenario("javaagent/quiet", quiet, jdk=every, quick=True)
    yield Scenario("javaagent/errors", errors, jdk=every, short=(25,))
    yield Scenario("javaagent/places", places, jdk=(17, 21, 25), short=())  # 11 does not log libraries
    yield Scenario("javaagent/copies", copies, jdk=(17, 25), short=())
    yield Scenario("javaagent/other machines", other_machines, jdk=(17, 25), short=())
    yield Scenario("javaagent/launcher", launcher, jdk=every, short=())
    yield Scenario("javaagent/attached", attached, jdk=every, short=())
    yield Scenario("javaagent/OpenTelemetry", beside_telemetry, jdk=(17, 25), short=())
