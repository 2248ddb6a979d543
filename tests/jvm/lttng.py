"""lttng=: leaks in a trace of LTTng (issue 22), with real session daemons. As root, in a mount
namespace of its own, root's daemon and that of an unprivileged user; otherwise the user's alone.
Without lttng-tools, babeltrace2 or libbbflow-lttng.so the cases are skipped and say what is missing.
"""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import traceback

import harness
from attach import NO_LEAK_DETECTOR, Program
from harness import Scenario, class_path
from snapshot import same

NETTY = "4.1.140.Final"
NOBODY = 65534
LEAK = re.compile(
    r'lttng_jul:event: .*msg = "LEAK heap: (?P<n>\d+) (new )?buffers?.* → Steps\.leaky", '
    r'logger_name = "bbflow\.leak", class_name = "com\.app\.Steps", method_name = "leaky", '
    r'long_millis = \d{13}, int_loglevel = 900, int_threadid = \d+')


LOGGERS = [f"bbflow.{name}" for name in ("flow", "leak", "life", "misuse", "stats")]


def missing():
    """The tool or library that is not installed, or None."""
    for tool, package in (("lttng-sessiond", "lttng-tools"), ("lttng", "lttng-tools"),
                          ("babeltrace2", "babeltrace2")):
        if not shutil.which(tool):
            return f"no {tool}: apt-get install {package}"
    if not os.path.exists(os.path.join(os.path.dirname(harness.AGENT), "libbbflow-lttng.so")):
        return "libbbflow-lttng.so is not built: apt-get install liblttng-ust-dev"
    if os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], check=False,
                                            stderr=subprocess.DEVNULL).returncode != 0:
        return "this machine gives no mount namespaces"
    return None


class World:
    """A mount namespace with a /run/lttng and /dev/shm of its own (as root), and the user whose
    daemon it is. Programs are run in it by `prefix`."""

    def __init__(self, bench, user=None):
        self.bench = bench
        self.user = user if os.geteuid() == 0 else None
        self.home = os.path.join(bench.folder, "home")
        os.makedirs(self.home, exist_ok=True)
        self.holder = None
        self.prefix = []
        self.java = bench.jdk.java
        self.netty = harness.netty_jars(NETTY)
        if os.geteuid() == 0:
            for folder in (bench.folder, self.home, bench.sockets):
                os.chown(folder, user or 0, user or 0)
            self.hold()
        bench.env.update(HOME=self.home, LTTNG_HOME=self.home)
        bench.env.pop("XDG_RUNTIME_DIR", None)
        bench.env["XDG_RUNTIME_DIR"] = bench.sockets

    def hold(self):
        """The JDK and Netty are where a user that is not root can read them."""
        script = ("set -e; mkdir -p /run/lttng; mount -t tmpfs tmpfs /run/lttng; "
                  "mount -t tmpfs -o mode=1777 tmpfs /dev/shm; mount -t tmpfs tmpfs /mnt; "
                  "mkdir /mnt/jdk /mnt/netty; mount --bind $1 /mnt/jdk; mount --bind $2 /mnt/netty; "
                  "echo READY; exec sleep 600")
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh",
             self.bench.jdk.home, os.path.dirname(self.netty)], stdout=subprocess.PIPE, text=True)
        self.java, self.netty = "/mnt/jdk/bin/java", "/mnt/netty/*"
        same("namespace", self.holder.stdout.readline(), "READY\n")
        self.prefix = ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt",
                       f"--wd={self.bench.folder}"]
        if self.user:
            self.prefix += ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"]

    def run(self, *command, code=0):
        done = self.bench.run([*self.prefix, *command])
        assert code is None or done.returncode == code, (f"{' '.join(command)}: exit {done.returncode}"
                                                         f": {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def lttng(self, *args, code=0):
        return self.run("lttng", "--no-sessiond", *args, code=code)

    def end(self):
        if self.holder:
            self.holder.kill()
            self.holder.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


class Daemon:
    """lttng-sessiond, ready to be asked."""

    def __init__(self, world, port=None):
        self.world = world
        # A port of its own: after a kill the one before may still be held by the daemon's consumer.
        self.port = port or free_port()
        rundir = os.path.join(world.home, ".lttng")
        if os.geteuid() == 0 and world.user is None:
            rundir = "/run/lttng"
        world.run("rm", "-f", f"{rundir}/agent.port")
        with open(world.bench.path("sessiond.log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*world.prefix, "lttng-sessiond", "--no-kernel", f"--agent-tcp-port={self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=world.bench.env,
                cwd=world.bench.folder)
        until(lambda: "agent.port" in world.run("ls", rundir, code=None) and
              "Error" not in world.lttng("list", code=None), "the session daemon is not ready")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(30)


def until(condition, what, seconds=30):
    end = time.time() + seconds
    while not condition():
        assert time.time() < end, what() if callable(what) else what
        time.sleep(0.1)


@contextlib.contextmanager
def world_of(bench, user=None):
    world = World(bench, user)
    try:
        yield world
    finally:
        world.end()


@contextlib.contextmanager
def daemon_of(world, **more):
    daemon = Daemon(world, **more)
    try:
        yield daemon
    finally:
        if daemon.process.poll() is None:
            daemon.stop()


def losing(world, options="lttng=on", jvm=(), libraries=(), agent=None, second=False,
           main="com.app.Probes"):
    return Program(world.bench, "losing", ready="READY", main=main, files=(
        ("stdout.2", "stderr.2") if second else ("stdout", "stderr")), prefix=world.prefix, home=world.java,
                   path=":".join([class_path("probes", None), world.netty, *libraries]),
                   jvm=[NO_LEAK_DETECTOR, f"-agentpath:{agent or harness.AGENT}=include=com.app,{options}",
                        *jvm])


def registered(world, n=1):
    """Wait until n JVMs have registered."""
    until(lambda: world.lttng("list", "--jul").count("- bbflow.leak") == n,
          lambda: f"not registered: {world.lttng('list', '--jul')}")


def create(world, name, *events):
    world.lttng("create", name, f"--output={world.bench.path(name)}")
    # A JVM may be anywhere: two of these for each processor fit into any /dev/shm.
    world.lttng("enable-channel", "-u", f"--session={name}", "--subbuf-size=64K", "--num-subbuf=4",
                "lttng_jul_channel")
    for event in events or ("bbflow.leak",):
        world.lttng("enable-event", "--jul", f"--session={name}", *event.split())
    world.lttng("start", name)


def recording(world, n=1):
    """Wait until n JVMs have the tracepoint: it comes with the recorder, after a logger was enabled."""
    until(lambda: world.lttng("list", "-u").count("lttng_jul:event") == n,
          lambda: f"no recorder: {world.lttng('list', '-u')}")


def finish(world, name):
    world.lttng("stop", name)
    world.lttng("destroy", name)
    return world.run("babeltrace2", world.bench.path(name))


def leaks(text):
    """Of how many buffers the records have the loss."""
    return sum(int(found["n"]) for found in map(LEAK.search, text.splitlines()) if found)


def lose(program, n):
    program.tell(f"lose {n}")
    program.tell("gc")
    time.sleep(3)  # the agent looks once a second: at the collection, then at what it proved


def trace(user):
    def run(bench):
        """create, enable, start, leak, stop: the trace has the leak with its path. Another logger's session
        has nothing; disabled, nothing is recorded."""
        with world_of(bench, user) as world, daemon_of(world) as daemon, losing(world) as program:
            registered(world)
            create(world, "a")
            recording(world)
            status = world.run(harness.CLIENT, "status", str(program.pid))
            whose = "root" if user is None else "user"
            assert f"registered with the {whose} daemon (port {daemon.port}), the tracer is loaded" in status, status
            create(world, "other", "bbflow.misuse")
            lose(program, 7)
            world.lttng("disable-event", "--jul", "--session=a", "bbflow.leak")
            lose(program, 11)
            other = finish(world, "other")
            text = finish(world, "a")
            same(f"leaks in {text}", leaks(text), 7)
            same("in the other session", other.count("bbflow"), 0)
            same("exit", program.end(), 0)
    return run


def listed(world):
    """PID to loggers, of `lttng list -j`."""
    parts = re.split(r"^PID: (\d+) .*$", world.lttng("list", "-j"), flags=re.M)[1:]
    return {int(pid): sorted(re.findall("- (.+)", names)) for pid, names in zip(parts[::2], parts[1::2])}


def before_netty(bench):
    """`lttng list -j` has the loggers of each JVM, also of one in which no class of Netty is loaded; a
    session that is made then records what this JVM loses later."""
    with world_of(bench, NOBODY) as world, daemon_of(world), losing(world) as first, losing(
            world, main="com.app.Late", second=True) as late:
        registered(world, 2)
        same("loggers", listed(world), {first.pid: LOGGERS, late.pid: LOGGERS})
        for program, has in ((first, True), (late, False)):
            status = world.run(harness.CLIENT, "status", str(program.pid))
            same(f"Netty in {status}", re.search("^netty ", status, re.M) is not None, has)
        create(world, "a")
        recording(world, 2)
        late.process.stdin.write("\n")
        late.process.stdin.flush()
        until(lambda: late.read(0).count("READY") == 2, late.read(0))
        lose(late, 5)
        text = finish(world, "a")
        same(f"leaks in {text}", leaks(text), 5)
        same("exits", (first.end(), late.end()), (0, 0))


def levels_and_wildcards(bench):
    """bbflow.* with a level, exactly a level, a filter; what is too low is not recorded."""
    with world_of(bench, NOBODY) as world, daemon_of(world), losing(world) as program:
        registered(world)
        create(world, "range", "bbflow.* --loglevel=WARNING")
        create(world, "high", "bbflow.* --loglevel=SEVERE")
        create(world, "only", "bbflow.leak --loglevel-only=WARNING")
        world.lttng("create", "filtered", f"--output={bench.path('filtered')}")
        world.lttng("enable-event", "--jul", "--session=filtered", "bbflow.leak",
                    "--filter=int_loglevel > 900")
        world.lttng("start", "filtered")
        recording(world)
        lose(program, 3)
        for name, n in (("range", 3), ("high", 0), ("only", 3), ("filtered", 0)):
            text = finish(world, name)
            same(f"{name}: {text}", leaks(text), n)
        same("exit", program.end(), 0)


def loggers(bench):
    """bbflow.life, bbflow.stats and bbflow.flow: alone, all together with a level, and with a filter.
    Only what a session enabled is recorded; what a path carried is counted once."""
    with world_of(bench, NOBODY) as world, daemon_of(world), losing(
            world, "lttng=on,summarySeconds=1") as program:
        registered(world)
        for name in ("life", "stats", "flow"):
            create(world, name, f"bbflow.{name}")
        create(world, "high", "bbflow.life --loglevel=WARNING")
        world.lttng("create", "filtered", f"--output={bench.path('filtered')}")
        world.lttng("enable-event", "--jul", "--session=filtered", "bbflow.flow",
                    '--filter=msg == "*no such path*"')
        world.lttng("start", "filtered")
        recording(world)
        lose(program, 3)
        program.tell("hold 5")
        program.tell("drop")
        time.sleep(2.5)
        lose(program, 4)
        time.sleep(1.5)
        text = {name: finish(world, name) for name in ("life", "stats", "flow", "high", "filtered")}
        for name in ("life", "stats", "flow"):
            same(f"loggers of {name}", set(re.findall(r'logger_name = "([^"]*)"', text[name])),
                 {f"bbflow.{name}"})
        lives = re.findall(r'"LIFE heap: (\d+) buffers? .* leaked after \d+ s, by "?loser.*Steps\.leaky", ',
                           text["life"])
        same(f"lives {text['life']}", sum(map(int, lives)), 7)
        assert "STATS 12 lives: 5 released, 0 open (0 bytes), 7 leaked (448 bytes)" in text["stats"], text["stats"]
        flow = text["flow"]
        assert re.search(r"FLOW 3 so far \(0 released, 3 leaked\), 0 open: .*Steps\.leaky", flow), flow
        assert re.search(r"FLOW 4 ended, 7 so far \(0 released, 7 leaked\), 0 open: .*Steps\.leaky", flow), flow
        assert re.search(r"FLOW 5 so far \(5 released, 0 leaked\), 0 open: ", flow), flow
        same("above the level, and filtered", text["high"] + text["filtered"], "")
        print("\n".join(text[name].splitlines()[-1] for name in ("life", "stats", "flow")))
        same("exit", program.end(), 0)


def restarts(bench):
    """The daemon is killed and comes back: the JVM registers again, and a new session records. A
    daemon that is frozen delays neither the program nor its end."""
    with world_of(bench, NOBODY) as world:
        daemon = Daemon(world)
        with losing(world) as program:
            for how in (signal.SIGKILL, signal.SIGTERM):
                registered(world)
                create(world, f"before{how}")
                recording(world)
                daemon.stop(how)
                daemon = Daemon(world)
            registered(world)
            create(world, "after")
            recording(world)
            lose(program, 5)
            text = finish(world, "after")
            same(f"leaks in {text}", leaks(text), 5)
            daemon.process.send_signal(signal.SIGSTOP)
            begin = time.time()
            program.tell("lose 1")
            same("exit", program.end(), 0)
            assert time.time() - begin < 10, time.time() - begin
            daemon.process.send_signal(signal.SIGCONT)
        daemon.stop()


def two(bench):
    """Two JVMs in one session; lttng=off and lttng=user in one of them while it runs."""
    with world_of(bench, NOBODY) as world, daemon_of(world), losing(world) as first:
        with losing(world, "lttng=off", second=True) as second:
            registered(world, 1)
            world.run(harness.CLIENT, "set", str(second.pid), "lttng=user")
            registered(world, 2)
            create(world, "both")
            recording(world, 2)
            lose(first, 2)
            lose(second, 3)
            world.run(harness.CLIENT, "set", str(second.pid), "lttng=off")
            registered(world, 1)
            lose(second, 100)
            text = finish(world, "both")
            same(f"leaks in {text}", leaks(text), 5)
            same("exit", second.end(), 0)
        same("exit", first.end(), 0)


def attached(bench):
    """bbflow comes into a running JVM with lttng=on, and a stop ends the registration."""
    with world_of(bench, NOBODY) as world, daemon_of(world), Program(
            bench, "losing", ready="READY", prefix=world.prefix, home=world.java, jvm=[NO_LEAK_DETECTOR],
            path=":".join([class_path("probes", None), world.netty])) as program:
        world.run(harness.CLIENT, "attach", "--agent", harness.AGENT, str(program.pid), "include=com.app",
                  "lttng=on")
        registered(world)
        create(world, "a")
        recording(world)
        lose(program, 7)
        world.run(harness.CLIENT, "stop", str(program.pid))
        registered(world, 0)
        text = finish(world, "a")
        same(f"leaks in {text}", leaks(text), 7)
        same("exit", program.end(), 0)


def without(bench):
    """Without a daemon, and without the recorder's library: one line, and the program continues."""
    with world_of(bench, NOBODY) as world:
        folder = bench.path("bare")
        os.makedirs(folder)
        agent = shutil.copy(harness.AGENT, folder)
        os.chmod(folder, 0o755)
        with losing(world, agent=agent) as program:
            with daemon_of(world):
                registered(world)
                create(world, "a")
                create(world, "b")
                until(lambda: "lttng: events are not recorded" in program.read(1), program.read(1))
                lose(program, 3)
            same("exit", program.end(), 0)
        said = [line for line in program.read(1).splitlines() if "[bbflow]" in line]
        same(f"lines {said}", len(said), 1)
        assert "liblttng-ust1" in said[0] and "liblttng-ust-dev" in said[0], said


def without_ust(bench):
    """The same where liblttng-ust is not installed, which is shown by an empty file in its place."""
    tracer = os.path.realpath(glob.glob("/usr/lib/*/liblttng-ust.so.1")[0])
    with world_of(bench, NOBODY) as world, daemon_of(world):
        subprocess.run(["nsenter", f"--mount=/proc/{world.holder.pid}/ns/mnt", "mount", "--bind",
                        "/dev/null", tracer], check=True)
        with losing(world) as program:
            registered(world)
            create(world, "a")
            until(lambda: "lttng: events are not recorded" in program.read(1), program.read(1))
            lose(program, 3)
            same("exit", program.end(), 0)
        said = [line for line in program.read(1).splitlines() if "[bbflow]" in line]
        same(f"lines {said}", len(said), 1)
        assert said[0].endswith("install the package liblttng-ust1"), said


JAVA_AGENT = "/usr/share/java/lttng-ust-agent-"


def java_agent_missing():
    found = glob.glob("/usr/lib/*/jni/liblttng-ust-jul-jni.so")
    if not found or not os.path.exists(JAVA_AGENT + "jul.jar"):
        return "no Java agent of LTTng: apt-get install liblttng-ust-agent-java-jni"
    return None


def beside(bench):
    """LTTng's own Java agent in the same JVM, there first: the records of both, each once."""
    native = os.path.dirname(glob.glob("/usr/lib/*/jni/liblttng-ust-jul-jni.so")[0])
    with world_of(bench, NOBODY) as world, daemon_of(world), losing(
            world, jvm=[f"-Djava.library.path={native}"],
            libraries=[JAVA_AGENT + "jul.jar", JAVA_AGENT + "common.jar"]) as program:
        program.tell("jul 1")  # now it is registered
        until(lambda: "com.app.jul" in world.lttng("list", "--jul"), "the Java agent is not registered")
        registered(world)
        create(world, "a", "bbflow.leak", "com.app.jul")
        recording(world)
        time.sleep(1)
        program.tell("jul 5")
        lose(program, 4)
        text = finish(world, "a")
        same(f"records of java.util.logging in {text}", text.count('logger_name = "com.app.jul"'), 5)
        same(f"records of bbflow in {text}", text.count('logger_name = "bbflow.leak"'), 1)
        same("leaks", leaks(text), 4)
        same("exit", program.end(), 0)


def snapshots(out):
    return sorted(os.listdir(out)) if os.path.isdir(out) else []


def trigger(bench):
    """A trigger on bbflow.leak takes a snapshot of the session's buffers when a buffer is lost, and the
    loss is in it; also when a JVM that came later loses one. The trigger is of type user, because
    lttng-sessiond 2.13 does not send one of type jul to a program whose tracer is loaded, and aborts when
    it is removed."""
    with world_of(bench, NOBODY) as world, daemon_of(world), losing(world) as program:
        registered(world)
        out = bench.path("snapshots")
        world.lttng("create", "black-box", "--snapshot", f"--output={out}")
        world.lttng("enable-channel", "-u", "--subbuf-size=64K", "--num-subbuf=4", "lttng_jul_channel")
        world.lttng("enable-event", "--jul", "bbflow.*")
        world.lttng("start")
        recording(world)  # what has the trigger first fires it before it records the event
        world.lttng("add-trigger", "--name=loss", "--condition=event-rule-matches", "--type=user",
                    "--name=lttng_jul:event", '--filter=logger_name == "bbflow.leak"',
                    "--action=snapshot-session", "black-box")
        same("snapshots before", snapshots(out), [])
        lose(program, 6)

        def newest():
            names = snapshots(out)  # a loss that is reported in two parts has two
            return world.run("babeltrace2", os.path.join(out, names[-1]), code=None) if names else ""
        until(lambda: leaks(newest()) == 6, lambda: f"the newest of {snapshots(out)}: {newest()}" +
              world.lttng("list-triggers", code=None) + "recorded: " +
              world.lttng("snapshot", "record", code=None) + newest())
        before = snapshots(out)
        with losing(world, second=True) as later:
            recording(world, 2)
            lose(later, 4)
            until(lambda: snapshots(out) != before, "the later JVM's loss makes no snapshot")
            same("exit", later.end(), 0)
        world.lttng("remove-trigger", "loss")
        same("triggers", world.lttng("list-triggers"), "")
        same("exit", program.end(), 0)


class Hostile(threading.Thread):
    """A session daemon that sends what none would; it takes the JVM's registration and each message is
    a connection of its own. No LTTng is needed."""

    MESSAGES = [
        struct.pack(">QII", 2**64 - 1, 2, 0), struct.pack(">QII", 2**31, 2, 0),
        struct.pack(">QII", 70 * 1024 + 1, 99, 0),
        struct.pack(">QQQ", 0, 1, 0), struct.pack("<QQQ", 0, 1, 0), b"\0" * 15, b"",
        struct.pack(">QII", 268, 2, 0) + b"x" * 100,
    ]
    ANSWERED = [
        (struct.pack(">QII", 5, 2, 0) + b"short", 2), (struct.pack(">QII", 0, 2, 0), 2),
        (struct.pack(">QII", 268, 2, 0) + b"\xff" * 268, 2),
        (struct.pack(">QII", 268, 2, 0) + struct.pack(">iI256sI", 0, 0, b"", 0), 2),
        (struct.pack(">QII", 268, 2, 0) + struct.pack(">iI256sI", 0, 0, b"a", 9), 2),
        (struct.pack(">QII", 1, 3, 0) + b"a", 2), (struct.pack(">QII", 0, 77, 0), 2),
        (struct.pack(">QII", 3, 5, 0) + b"abc", 2), (struct.pack(">QII", 256, 3, 0) + b"a" * 256, 2),
        (struct.pack(">QII", 256, 3, 0) + struct.pack("256s", b"unknown"), 3),
        (struct.pack(">QII", 268, 2, 0) + struct.pack(">iI256sI", 0, 0, b"bbflow.*", 0), 1),
    ]

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(60)
        self.failure = None
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "agent.port"), "w", encoding="utf-8") as file:
            file.write(f"{self.socket.getsockname()[1]}\n")

    def take(self):
        link, _ = self.socket.accept()
        link.settimeout(20)
        return link

    def registered(self):
        """A connection that has registered; of version 0.1 there is one without, after it was tried."""
        while True:
            link = self.take()
            link.settimeout(1)
            with contextlib.suppress(OSError):
                if len(link.recv(16, socket.MSG_WAITALL)) == 16:
                    link.settimeout(20)
                    link.sendall(struct.pack(">QII", 0, 4, 0))  # so that it soon comes again
                    return link
            link.sendall(struct.pack(">QII", 0, 1, 0))  # it has to be of 2.0 again
            link.close()

    @staticmethod
    def fail(why):
        raise AssertionError(why)

    def attack(self):
        for message in self.MESSAGES:
            link = self.registered()
            link.sendall(message)
            if len(message) < 16 or message.endswith(b"x"):
                link.close()  # in the middle
            else:
                with contextlib.suppress(ConnectionResetError):
                    same(f"after {message[:24]!r}", link.recv(1), b"")
        link = self.registered()
        for message, code in self.ANSWERED:
            for byte in message[:20]:
                link.sendall(bytes([byte]))
            link.sendall(message[20:])
            same(f"answer to {message[:30]!r}", link.recv(4, socket.MSG_WAITALL), struct.pack(">I", code))
        flood = struct.pack(">QII", 0, 1, 0) * 3000
        link.sendall(flood)
        size = 12 + len(" ".join(LOGGERS) + " ")
        begin, got = time.time(), 0
        while got < 3000 * size:
            got += len(link.recv(1 << 16)) or self.fail("closed")
        assert 1.5 < time.time() - begin < 10, f"{time.time() - begin} s"  # 1,000 a second

    def run(self):
        try:
            self.attack()
        except Exception:  # the case's own thread reports it
            self.failure = traceback.format_exc()


def hostile(bench):
    """Every malformed message, floods and closed connections: the program continues, the JVM takes next to
    no processor time, and says nothing."""
    home = bench.path("home")
    daemon = Hostile(os.path.join(home, ".lttng"))
    bench.env.update(HOME=home, LTTNG_HOME=home)
    with Program(bench, "losing", ready="READY", jvm=[
            NO_LEAK_DETECTOR, f"-agentpath:{harness.AGENT}=include=com.app,lttng=user"]) as program:
        daemon.start()
        daemon.join(170)
        assert not daemon.failure, daemon.failure
        assert not daemon.is_alive(), "the JVM does not come back"
        ticks = [thread_ticks(program.pid, name) for name in ("bbflow-lttng",)]
        same("exit", program.end(), 0)
    assert ticks[0] < 100, f"{ticks[0]} hundredths of a second"
    same("messages", [line for line in program.read(1).splitlines()
                      if "[bbflow]" in line and "are not recorded" not in line], [])


def thread_ticks(pid, name):
    """Hundredths of a second of processor time of the threads of that name."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if f"({name})" in text:
            words = text.rpartition(")")[2].split()
            total += int(words[11]) + int(words[12])
    return total


def cases():
    reason = missing()

    def case(name, function, needs=None, **more):
        def run(bench):
            why = reason or (needs() if needs else None)
            if why:
                print(f"# {name}: skipped, {why}", flush=True)
            else:
                function(bench)
        run.__doc__ = function.__doc__
        return Scenario(name, run, alone=True, **more)

    def root():
        return None if os.geteuid() == 0 else "it needs root, for root's daemon"

    yield case("lttng/user", trace(NOBODY))
    yield case("lttng/root", trace(None), needs=root, short=(17,))
    yield case("lttng/before netty", before_netty, short=(17,))
    yield case("lttng/levels and wildcards", levels_and_wildcards, short=(17,))
    yield case("lttng/loggers", loggers)
    yield case("lttng/restarts", restarts, short=(25,))
    yield case("lttng/two", two, short=(17,))
    yield case("lttng/attached", attached, short=(25,))
    yield case("lttng/trigger", trigger, short=(25,))
    yield case("lttng/beside", beside, needs=java_agent_missing, short=(17,))
    yield Scenario("lttng/hostile", hostile, short=(17,))
    yield case("lttng/without", without, short=(25,))
    yield case("lttng/without liblttng-ust", without_ust, needs=root, short=(17,))
