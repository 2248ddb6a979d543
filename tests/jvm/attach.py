"""Coming into a running JVM and leaving it again (issue 6, point 7)."""

import collections
import glob
import os
import re
import shutil
import signal
import subprocess
import time

import harness
from harness import Case, OUT, Scenario, agent_lines, class_path
from snapshot import same

NETTY = "4.1.140.Final"
ALL_JDKS = (11, 17, 21, 25)
NO_LEAK_DETECTOR = "-Dio.netty.leakDetection.level=DISABLED"
# JDK 21's notice, and nothing else, may appear on stderr.
NOTICE = ("WARNING: A JVM TI agent has been loaded dynamically", "WARNING: If a serviceability tool",
          "WARNING: Dynamic loading of agents", "OpenJDK 64-Bit Server VM warning: ",
          # Netty's own, on 24 and later
          "WARNING: A terminally deprecated method in sun.misc.Unsafe", "WARNING: sun.misc.Unsafe::",
          "WARNING: Please consider reporting")


class Late(Case):
    """A probe behind com.app.Late: bbflow is attached before any class of Netty is there,
    so the numbers are those of a JVM that started with it; the report is written at exit."""

    def __init__(self, name, *args, options=(), **more):
        super().__init__("attach/" + name, "com.app.Late", *args, agent=None, **more)
        self.options = options
        self.live = self.come_in

    def come_in(self, run):
        run.client("attach", "--agent", harness.AGENT, str(run.pid), "include=com.app",
                   f"file={run.json_path}", *self.options)
        run.process.stdin.write(b"\n")
        run.process.stdin.flush()

    def finished(self, run, with_agent):
        if with_agent:
            run.read_snapshot()
            self.check(run)


class Stalled(Late):
    """The same while Netty's counting class is being loaded: it was parsed before bbflow came, and
    its super class is loaded after bbflow looked at the loaded classes."""

    def __init__(self, name, *args, **more):
        super().__init__(name, "io.netty.buffer.AbstractByteBuf", *args, **more)
        self.main = "com.app.Stalled"


class Older(Late):
    """The same in a JVM that has Netty and open buffers."""

    def __init__(self, name, *args, **more):
        super().__init__(name, *args, **more)
        self.main = "com.app.Probes"


def first_seen(run):
    """A buffer opened before is there from its first step on; one released before is not."""
    for name in ("lives", "released", "leaked", "live"):
        same(name, run.json.totals[name], run.oracle.get(name, 0))
    assert all(r.startswith("?first-seen ") for r in run.json.roots()), run.json.roots()
    same("last steps", run.json.last_steps(), {"com.app.Steps.leaky": 10})


class Program:
    """One JVM with a program that ends when its stdin closes."""

    def __init__(self, bench, *args, jvm=(), main="com.app.Probes", ready="ROUNDS", prefix=(), user=None,
                 home=None, path=None, files=("stdout", "stderr")):
        self.bench = bench
        self.files = [open(bench.path(n), "w+", encoding="utf-8") for n in files]
        command = [*prefix, bench.jdk.java if home is None else home, *jvm, "-cp",
                   path or class_path("probes", NETTY), main, *args]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.files[0],
                                        stderr=self.files[1], env=bench.env, cwd=bench.folder,
                                        text=True, **({"user": user, "group": user,
                                                       "extra_groups": []} if user else {}))
        self.pid = self.process.pid
        self.wait_for(ready)

    def wait_for(self, text):
        end = time.time() + 60
        while text not in self.read(0) and time.time() < end:
            assert self.process.poll() is None, f"ended: {self.read(0)} {self.read(1)}"
            time.sleep(0.05)

    def read(self, i):
        with open(self.files[i].name, encoding="utf-8", errors="replace") as file:
            return file.read()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(90)
        finally:
            self.process.kill()
            for file in self.files:
                file.close()

    def end(self):
        """Exit code after stdin was closed."""
        self.process.stdin.close()
        return self.process.wait(90)

    def tell(self, line):
        """A line for the probe losing, which answers it."""
        self.sent = getattr(self, "sent", 0) + 1
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self.wait_for(f"DONE {self.sent}\n")

    def ask(self, *args, code=0):
        done = self.bench.run([harness.CLIENT, *args], timeout=120)
        assert done.returncode == code, (f"bbflow {' '.join(args)}: exit {done.returncode}, not "
                                         f"{code}: {done.stdout[-300:]}{done.stderr[-800:]}")
        return done.stdout + done.stderr

    def attach(self, *options, code=0):
        return self.ask("attach", "--agent", harness.AGENT, str(self.pid), *options, code=code)

    def stop(self, code=0):
        return self.ask("stop", str(self.pid), code=code)

    def threads(self):
        names = []
        for path in glob.glob(f"/proc/{self.pid}/task/*/comm"):
            try:
                with open(path, encoding="utf-8") as file:
                    names.append(file.read().strip())
            except OSError:
                continue
        return names

    def ours(self):
        return sorted(n for n in self.threads() if n.startswith("bbflow"))

    def wait_without_threads(self, seconds=30):
        end = time.time() + seconds
        while self.ours() and time.time() < end:
            time.sleep(0.1)
        same("our threads", self.ours(), [])

    def wait_for_socket(self, seconds=30):
        """jcmd has its answer before the classes are retransformed and the socket is there."""
        end = time.time() + seconds
        while not glob.glob(os.path.join(self.bench.sockets, "bbflow-*", "*.sock")):
            assert time.time() < end, f"no socket after {seconds} s"
            time.sleep(0.05)

    def memory(self):
        """Resident kB."""
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))

    def fds(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def jcmd(self, library, options):
        jcmd = os.path.join(os.path.dirname(harness.javac()), "jcmd")
        return self.bench.run([jcmd, str(self.pid), "JVMTI.agent_load", library, options]).stdout


def bodies_library():
    return os.path.join(os.path.dirname(os.path.realpath(harness.BODIES)), "libtest_bodies.so")


def read_bodies(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(" ", 1) for line in file)


def bodies(program, name):
    """Every method's bytecode in force, {method: (length, hash)}."""
    out = program.bench.path(name)
    text = program.jcmd(bodies_library(), f'"{out}:Lcom/app/:Lio/netty/:Ljava/nio/Bits;"')
    assert "return code: 0" in text, text
    return read_bodies(out)


def only_the_notice(program):
    text = program.read(1)
    mine = [line for line in text.splitlines()
            if line and not line.startswith(NOTICE) and "sharing" not in line]
    same("stderr", mine, [])


def redefined(path):
    """How often each class was, as the JVM logs it (-Xlog:redefine+class+load)."""
    with open(path, encoding="utf-8") as file:
        return collections.Counter(re.findall(r"redefined name=([^,]+),", file.read()))


def put_back(bench):
    """After stop each body is bit by bit what it was; another agent's change is still in it. A
    class that was not changed is left alone: a loop that runs in a redefined class stays interpreted."""
    log = bench.path("redefined.log")
    jvm = [NO_LEAK_DETECTOR, f"-javaagent:{OUT}/other-agent.jar=patch",
           f"-Xlog:redefine+class+load=info:file={log}"]
    with Program(bench, "rounds", "2", jvm=jvm) as program:
        time.sleep(0.5)
        before = bodies(program, "before")
        program.attach("include=com.app+io.netty.buffer,trackConstructors=com.app",
                       "file=" + bench.path("out.json"))
        time.sleep(2)  # java.nio.Bits is changed at the agent thread's next look
        during = bodies(program, "during")
        changed = [m for m in before if during.get(m) != before[m]]
        assert len(changed) > 100, f"only {len(changed)} methods were changed"
        assert any("Steps;.done" in m for m in changed) and \
            any("AbstractReferenceCountedByteBuf;.handleRelease" in m for m in changed), changed[:50]
        same("methods of the JDK that were changed", [m.split("(")[0] for m in changed if m.startswith("Ljava/")],
             ["Ljava/nio/Bits;.reserveMemory"])
        print(f"# {len(changed)} of {len(before)} methods were changed")
        attached = redefined(log)
        text = program.stop()
        time.sleep(2.5)  # what is loaded during a stop is put back then
        back = redefined(log) - attached
        assert f"stopped: {len(back)} classes " in text, f"{text}, not {back}"
        same("put back twice", [c for c, n in back.items() if n > 1], [])
        want = {m[1:].split(";")[0].replace("/", ".") for m in changed}
        same("changed, not put back", want - set(back), set())
        assert len(back) < len(attached), f"put back: {len(back)} of {len(attached)} looked at"
        after = bodies(program, "after")
        same("bodies after stop", [m for m in before if after.get(m) != before[m]], [])
        same("sockets", glob.glob(os.path.join(bench.sockets, "bbflow-*", "*.sock")), [])
        same("exit", program.end(), 0)
        assert "NUMBER 4243" in program.read(0), program.read(0)
        only_the_notice(program)


# agent/attach.c: LOAD_MS, what a class may take to load. A class is put back if its hook ran at most
# so long before the stop, and that long after the stop.
LOAD_MS = 2000


def put_back_late(bench):
    """A class that was on its way during the stop came with hooks: it has none two seconds later.
    The program measures whether the stop came in time, and looks at the bodies by itself: a run in
    which the machine was too slow for the two seconds proves nothing, and is repeated."""
    half = "io.netty.buffer.AbstractReferenceCountedByteBuf"

    def half_of(all_bodies):
        prefix = f"L{half.replace('.', '/')};."
        return {m: b for m, b in all_bodies.items() if m.startswith(prefix)}

    with Program(bench, "rounds", "1", jvm=[NO_LEAK_DETECTOR]) as program:
        want = half_of(bodies(program, "bodies"))
    for attempt in range(8):
        log, hooked = bench.path(f"redefined-{attempt}.log"), bench.path(f"hooked-{attempt}")
        jvm = [NO_LEAK_DETECTOR, f"-agentpath:{harness.AGENT}=include=com.app",
               f"-Xlog:redefine+class+load=info,class+load=info:file={log}",
               f"-Dstalled.bodies={bodies_library()} \"{hooked}:Lio/netty/buffer/\""]
        with Program(bench, "io.netty.buffer.AbstractByteBuf", "rounds", "1", jvm=jvm,
                     main="com.app.Stalled", ready="READY") as program:
            program.stop()
            program.wait_for("ROUNDS")
            times = [int(n) for n in re.search(r"STALLED (\d+) (\d+)", program.read(0)).groups()]
            if max(times) > LOAD_MS * 3 / 4:
                print(f"# too slow: {times} ms")
                continue
            assert half_of(read_bodies(hooked)) != want, "it came without hooks"
            end = time.time() + 60
            while redefined(log)[half] == 0 and time.time() < end:
                time.sleep(0.1)
            same("bodies", half_of(bodies(program, "bodies")), want)
            same("put back", redefined(log)[half], 1)
            with open(log, encoding="utf-8") as file:
                text = file.read()
            assert text.index(f" {half} source: ") < text.index(f"redefined name={half},"), \
                "put back before it was there"
            return
    raise AssertionError("the machine was too slow each time")


def cycles(bench, late=True):
    """Attach and stop under load, again and again: nothing grows, and nothing is called lost."""
    rounds = int(os.environ.get("BBF_ATTACH_CYCLES", "6"))
    with Program(bench, "rounds", "4", jvm=[NO_LEAK_DETECTOR, "-Xmx256m"],
                 **({"main": "com.app.Late", "ready": "READY"} if late else {})) as program:
        figures = []
        if late:
            program.attach("include=com.app")  # the field comes with it
            program.process.stdin.write("\n")
            program.process.stdin.flush()
            program.wait_for("ROUNDS")
            program.stop()
        for i in range(rounds):
            program.attach("include=com.app")
            time.sleep(0.4)
            text = program.ask("dump", "--gc", str(program.pid))
            picture = harness.Snapshot(text)
            picture.check()
            for name in ("leaked", "held", "dropped_lives", "internal_errors"):
                same(f"{name} in round {i}", picture.totals[name], 0)
            program.stop()
            figures.append((program.memory(), program.fds(), len(program.threads()),
                            picture.totals["lives"], picture.doc["limits"]["memory"]["used"]))
        if rounds > 20:
            for i in range(0, rounds, max(1, rounds // 20)):
                print(f"# round {i}: RSS %d kB, %d fds, %d threads, %d lives, "
                      "%d B ours" % figures[i])
        assert sum(f[3] for f in figures) > 1000 * rounds, f"hardly anything was seen: {figures}"
        quarter = figures[rounds // 4: rounds // 2 + 1], figures[-max(2, rounds // 4):]
        first, last = (max(f[0] for f in part) for part in quarter)
        assert last < first + 40_000, f"RSS grew from {first} to {last} kB: {figures}"
        assert figures[-1][1] <= figures[0][1] + 2, f"descriptors: {figures}"
        same("exit", program.end(), 0)
        only_the_notice(program)


def unseen(bench):
    """A buffer released while the agent was away is no leak when it is used again; a leak is one."""
    with Program(bench, main="com.app.Unseen", ready="READY", jvm=[NO_LEAK_DETECTOR]) as program:
        for ask, answer in ((lambda: program.attach("include=com.app"), "\nSEEN"),
                            (program.stop, "UNSEEN"),
                            (lambda: program.attach("include=com.app"), "USED")):
            ask()
            program.process.stdin.write("\n")
            program.process.stdin.flush()
            program.wait_for(answer)
        picture = harness.Snapshot(program.ask("dump", "--gc", str(program.pid)))
        picture.check()
        figures = {n: picture.totals[n] for n in ("lives", "leaked", "unknown", "live")}
        same("what became of them", figures, {"lives": 2, "leaked": 1, "unknown": 1, "live": 0})
        program.stop()
        same("exit", program.end(), 0)


def refused_slices(bench):
    """Netty refuses to derive from a released buffer: nothing was opened that could be lost."""
    for args in ((), ("map",)):
        with Program(bench, *args, main="com.app.RefusedSlices", ready="READY",
                     jvm=[NO_LEAK_DETECTOR]) as program:
            program.attach("include=com.app")
            program.process.stdin.write("\n")
            program.process.stdin.flush()
            program.wait_for("REFUSED 40")
            picture = harness.Snapshot(program.ask("dump", "--gc", str(program.pid)))
            picture.check()
            figures = {n: picture.totals[n] for n in ("lives", "released", "leaked", "unknown")}
            same("what became of them", figures,
                 {"lives": 40, "released": 40, "leaked": 0, "unknown": 0})
            same("exit", program.end(), 0)


def thread_goes(bench):
    """The agent thread is there while a buffer is open, and gone once all have ended."""
    with Program(bench, "serve", main="com.app.Late", ready="READY",
                 jvm=[NO_LEAK_DETECTOR]) as program:
        program.attach("include=com.app")
        assert "bbflow" in program.ours(), program.threads()
        program.process.stdin.write("\n")
        program.process.stdin.flush()
        program.wait_for("READY\nREADY")
        seen = harness.Snapshot(program.ask("dump", str(program.pid)))
        assert seen.totals["lives"] > 100, seen.totals
        program.stop()
        program.wait_without_threads()  # serve's own System.gc() ends what was lost
        program.attach("include=com.app")
        again = harness.Snapshot(program.ask("dump", str(program.pid)))
        again.check()
        assert again.totals["lives"] < seen.totals["lives"], "it did not count from zero"
        program.stop()
        same("exit", program.end(), 0)


def stop_says_what_a_tree_says(bench):
    """The number that `stop` gives is the live one of a tree at that moment, sampled or not; each JVM has
    1,000 buffers that are lost but that no collection has found yet."""
    for options, jvm in (("include=com.app", ["-Xmn256m"]), ("include=com.app,sample=4", ["-Xmn256m"])):
        with Program(bench, "losing", ready="READY",
                     jvm=[NO_LEAK_DETECTOR, *jvm, f"-agentpath:{harness.AGENT}={options}"]) as program:
            program.tell("lose 1000")
            live = harness.Snapshot(program.ask("dump", str(program.pid))).totals["live"]
            assert live >= 900 if "sample" not in options else 0 < live < 2000, live
            text = program.stop()
            words = "about " if "sample" in options else ""
            assert re.search(rf"^{words}{live} buffers were neither released nor garbage-collected "
                             r"when bbflow stopped \(a tree's `live`\); they are not followed any "
                             "more", text, re.M), f"live {live}: {text}"
            assert "tree --gc" in text, text
            same("exit", program.end(), 0)
    with Program(bench, "losing", ready="READY",
                 jvm=[NO_LEAK_DETECTOR, f"-agentpath:{harness.AGENT}=include=com.app"]) as program:
        text = program.stop()
        assert "neither" not in text and text.count("\n") == 1, text


def asked_after_a_stop(bench):
    """A JVM in which bbflow was stopped says so, while its thread waits for open buffers and after it."""
    with Program(bench, "losing", ready="READY",
                 jvm=[NO_LEAK_DETECTOR, f"-agentpath:{harness.AGENT}=include=com.app"]) as program:
        program.tell("hold 5")
        program.stop()
        for verb in ("tree", "stop", "watch"):
            text = program.ask(verb, str(program.pid), code=3)
            assert f"bbflow was stopped in JVM {program.pid} (com.app.Probes); 'bbflow attach " in text, text
        program.attach("include=com.app")
        assert "bbflow" in program.ours(), program.ours()
        program.ask("status", str(program.pid))
        program.stop()
        program.tell("drop")
        program.tell("gc")
        program.wait_without_threads()
        text = program.ask("tree", str(program.pid), code=3)
        assert "bbflow does not run there: it was stopped, or is off" in text, text
        same("exit", program.end(), 0)


def jcmd(bench):
    """By jcmd: 0; options that are wrong: 2; a second time: 5, and nothing is disturbed."""
    with Program(bench, "rounds", "1", jvm=[NO_LEAK_DETECTOR]) as program:
        for options, code in (('"includ=com.app"', 2), ("include=com.app", 2), ('"file=/no/x.json"', 2),
                              ('"include=com.app"', 0), ('"include=com.app"', 5)):
            text = program.jcmd(harness.AGENT, options)
            assert f"return code: {code}" in text, f"{options}: {text}"
        lines = agent_lines(program.read(1))
        same("our lines", len(lines), 4)
        for line, word in zip(lines, ("did you mean 'include'", "jcmd", "/no", "bbflow set")):
            assert word in line, f"no {word!r} in {line}"
        program.wait_for_socket()
        program.ask("status", str(program.pid))
        copy = bench.path("libbbflow-other.so")
        shutil.copy(harness.AGENT, copy)
        text = program.jcmd(copy, '"include=com.app"')
        assert "return code: 5" in text, text
        program.stop()
        text = program.jcmd(copy, '"include=com.app"')
        assert "return code: 5" in text, text
        assert "another build" in program.read(1), program.read(1)
        program.attach("include=com.app")
        program.stop()
        same("exit", program.end(), 0)


def refused(bench):
    """Each JVM that cannot be attached to says why, with the exit code of README, and lives on."""
    table = [("-XX:+DisableAttachMechanism", 5, "DisableAttachMechanism"), ("-Xrs", 5, "Xrs"),
             ("-XX:-EnableDynamicAgentLoading", 5, "EnableDynamicAgentLoading")]
    for flag, code, word in table:
        for more in ([], ["-XX:-UsePerfData"]):
            with Program(bench, "rounds", "1", jvm=[NO_LEAK_DETECTOR, flag, *more]) as program:
                text = program.attach("include=com.app", code=code)
                assert word in text, f"{flag}: {text}"
                same(f"{flag}: running", program.process.poll(), None)
                same(f"{flag}: exit", program.end(), 0)
                assert "Full thread dump" not in program.read(0), f"{flag}: a thread dump on stdout"
    with Program(bench, "rounds", "1", jvm=[NO_LEAK_DETECTOR]) as program:
        for options, code, word in (("includ=x", 2, "include"), ("include=" + "a" * 2000, 2, "1023")):
            assert word in program.attach(options, code=code)
        program.ask("attach", "--agent", "/no/such.so", str(program.pid), code=1)
        assert "not load" in program.ask("attach", "--agent", __file__, str(program.pid), code=1)
        program.stop(code=3)
        program.attach("include=com.app")
        assert "bbflow set" in program.attach("include=com.app", code=5)
        same("exit", program.end(), 0)
    with Program(bench, "rounds", "1", jvm=[NO_LEAK_DETECTOR]) as program:
        os.kill(program.pid, signal.SIGSTOP)
        try:
            while b"\nState:\tT" not in open(f"/proc/{program.pid}/status", "rb").read():
                time.sleep(0.01)
            text = program.attach("include=com.app", code=1)
            assert "is stopped, by SIGSTOP or a debugger" in text, text
        finally:
            os.kill(program.pid, signal.SIGCONT)
        program.attach("include=com.app")
        same("exit", program.end(), 0)
        assert "Full thread dump" not in program.read(0), "a thread dump on stdout"


def other_user(bench):
    """root attaches to another user's JVM, from a file which that user may not read."""
    if os.getuid() != 0:
        return
    folder = f"/tmp/bbj-other-{os.getpid()}"
    shutil.copytree(os.path.join(OUT, "classes/probes"), folder)
    jars = glob.glob(class_path("probes", NETTY).split(":")[1])
    for jar in jars:
        shutil.copy(jar, folder)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    os.chmod(bench.sockets, 0o777)
    os.chmod(bench.folder, 0o777)
    try:
        with Program(bench, "rounds", "1", jvm=[NO_LEAK_DETECTOR], user=65534,
                     path=f"{folder}:{folder}/*") as program:
            program.attach("include=com.app")
            harness.Snapshot(program.ask("dump", str(program.pid))).check()
            program.stop()
            same("copies left", glob.glob("/tmp/bbflow-????????????????"), [])
            same("exit", program.end(), 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def container(bench):
    """A JVM with a pid namespace, mounts and a /tmp of its own, attached to from outside."""
    if os.getuid() != 0 or harness.ROOT.startswith("/tmp/"):
        return  # a /tmp of its own would hide the program
    inside = "mount -t tmpfs none /tmp && exec \"$@\""
    prefix = ["unshare", "--pid", "--mount", "--net", "--ipc", "--fork", "--mount-proc",
              "--kill-child", "sh", "-c", inside, "sh"]
    probe = bench.run(prefix + ["true"])
    assert probe.returncode == 0, f"no namespaces here: {probe.stderr}"
    bench.env.pop("XDG_RUNTIME_DIR", None)
    with Program(bench, "rounds", "1", jvm=[NO_LEAK_DETECTOR], prefix=prefix) as program:
        children = bench.run(["ps", "-o", "pid=", "--ppid", str(program.pid)]).stdout.split()
        program.pid = int(children[0])
        program.attach("include=com.app")
        harness.Snapshot(program.ask("dump", str(program.pid))).check()
        left = os.listdir(f"/proc/{program.pid}/root/tmp")
        same("copies left", [n for n in left if re.fullmatch("bbflow-[0-9a-f]{16}", n)], [])
        program.stop()
        left = glob.glob(f"/proc/{program.pid}/root/tmp/bbflow-*/*") + glob.glob(
            f"/proc/{program.pid}/root/tmp/.attach*")
        same("files left", left, [])
        program.attach("include=com.app")  # the same build, from a copy again
        program.stop()
        same("exit", program.end(), 0)


def cases(check_cycles):
    for allocator in ("pooled", "unpooled"):
        yield Late(f"before Netty {allocator}", "cycles", allocator, "loop", netty=NETTY,
                   jdk=ALL_JDKS if allocator == "pooled" else (17,),
                   short=(11, 25) if allocator == "pooled" else (17,),
                   check=check_cycles(allocator), quick=allocator == "pooled")
    yield Stalled("a class on its way", "cycles", "pooled", "loop", netty=NETTY, jdk=ALL_JDKS,
                  short=(17, 21), check=check_cycles("pooled"), quick=True)
    yield Older("older buffers", "older", netty=NETTY, jdk=ALL_JDKS, short=(11, 25),
                check=first_seen, quick=True)
    yield Older("older buffers 4.2", "older", netty="4.2.20.Final", check=first_seen)
    yield Scenario("attach/put back", put_back, jdk=ALL_JDKS, short=(11, 25), quick=True)
    yield Scenario("attach/put back late", put_back_late, jdk=ALL_JDKS, short=(17, 21), alone=True)
    yield Scenario("attach/cycles", cycles, jdk=ALL_JDKS, short=(17, 21))
    yield Scenario("attach/cycles, map", lambda bench: cycles(bench, late=False), jdk=(17, 25), short=(25,))
    yield Scenario("attach/the thread goes", thread_goes, jdk=(17, 25), short=(17,), quick=True)
    yield Scenario("attach/refused slices", refused_slices, jdk=(17, 25), short=(25,), quick=True)
    yield Scenario("attach/unseen", unseen, jdk=(17, 25), short=(17,), quick=True)
    yield Scenario("attach/stop says what a tree says", stop_says_what_a_tree_says, jdk=(17, 25), short=(25,))
    yield Scenario("attach/asked after a stop", asked_after_a_stop, jdk=(17, 25), short=(17,))
    yield Scenario("attach/jcmd", jcmd, jdk=(17, 25))
    yield Scenario("attach/refused", refused, jdk=(17, 25), short=(17,))
    yield Scenario("attach/other user", other_user, jdk=(17,))
    yield Scenario("attach/container", container, jdk=(17, 25), short=(25,))
