"""Scarce resources: descriptors, address space, a container's memory; what a child process inherits;
a JVM that is to crash when its memory runs out (issue 19, section 8)."""

import json
import os
import re
import resource
import subprocess
import time

import harness
from harness import AGENT, CLIENT, Scenario, agent_lines, class_path
from snapshot import same

NETTY = "4.1.140.Final"
SMALL = ["-Xmx64m", "-XX:ReservedCodeCacheSize=32m", "-XX:CompressedClassSpaceSize=32m",
         "-XX:+UseSerialGC"]
CGROUP = "/sys/fs/cgroup/memory"  # v1; where there is v2 only, /sys/fs/cgroup has memory.max


def limited(bench, agent, kind, value, main="com.app.Hello", flags=()):
    command = [bench.jdk.java] + ([f"-agentpath:{AGENT}={agent}"] if agent else [])
    return subprocess.run([*command, *SMALL, *flags, "-cp", class_path("probes", NETTY), main],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env=bench.env, cwd=bench.folder, timeout=60, check=False,
                          preexec_fn=lambda: resource.setrlimit(kind, (value, value)))


def descriptors(bench):
    """With whatever number of descriptors the program runs without bbflow it runs with it; where it is
    not served a line says so, and the report at exit is there, or a line says that it is not: it
    takes two descriptors, the folder's and the file's."""
    unserved = unwritten = 0
    for n in range(5, 26):
        plain = limited(bench, None, resource.RLIMIT_NOFILE, n)
        done = limited(bench, "include=com.app,port=0,file=out.json", resource.RLIMIT_NOFILE, n)
        if plain.returncode == 0:
            same(f"{n} descriptors: {done.stdout}{done.stderr[:300]}", (done.returncode, done.stdout),
                 (0, "hello\n"))
            unserved += any("no socket" in line for line in agent_lines(done.stderr))
            if any("no report: out.json: Too many open files" in line for line in agent_lines(done.stderr)):
                unwritten += 1
                continue
            with open(bench.path("out.json"), encoding="utf-8") as file:
                json.load(file)
            os.unlink(bench.path("out.json"))
    assert unwritten < 3, f"no report in {unwritten} of 20"
    assert 2 < unserved < 15, f"not served in {unserved} of 20"


def last_descriptor(bench):
    """The application has one descriptor left: bbflow's own looks do not take it, and the report says
    how many it left out. The JVM itself does, now and then (the compiler's malloc reads overcommit_memory)."""
    for agent in ("include=com.app", "budget=20%"):
        done = limited(bench, agent + ",file=out.json", resource.RLIMIT_NOFILE, 64, "com.app.LastDescriptor",
                       ["-XX:-UseContainerSupport"])  # with it the JVM reads the same files
        same(f"{agent}: {done.stderr[:300]}", (done.returncode, done.stdout[:6]), (0, "seen ["))
        assert not re.search("cgroup|mountinfo|bbflow", done.stdout), done.stdout
        with open(bench.path("out.json"), encoding="utf-8") as file:
            notes = "".join(json.load(file)["notes"])
        times = re.search(r"the cgroup's memory was not looked at (\d+) times \(nearLimit=\), because fewer than 16", notes)
        assert times and int(times[1]) >= 2, notes


def address_space(bench):
    """Less address space than bbflow reserves: one line, and the program runs without it; with
    onerror=stop the JVM does not start."""
    least = int(1.5 * (1 << 30))
    same("without bbflow", limited(bench, None, resource.RLIMIT_AS, least).stdout, "hello\n")
    off = 0
    for size in (least, 3 << 30, 5 << 30, 8 << 30, 16 << 30):
        done = limited(bench, "include=com.app", resource.RLIMIT_AS, size)
        same(f"{size >> 20} MiB: {done.stderr[:300]}", (done.returncode, done.stdout), (0, "hello\n"))
        lines = agent_lines(done.stderr)
        off += len(lines)
        assert all("ulimit -v" in line and "stays off" in line for line in lines), lines
    assert 1 <= off <= 4, f"off at {off} of 5 sizes"
    done = limited(bench, "include=com.app,onerror=stop", resource.RLIMIT_AS, least)
    same("onerror=stop", done.returncode, 1)


def descriptors_of(pid):
    """number -> (what, is it closed at exec)"""
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            what = os.readlink(f"/proc/{pid}/fd/{fd}")
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as file:
                flags = int(file.read().split("flags:")[1].split()[0], 8)
        except FileNotFoundError:
            continue
        found[int(fd)] = (what, flags & os.O_CLOEXEC != 0)
    return found


def children(bench):
    """None of our descriptors gets into a process that the application starts, however it does; the
    child neither serves nor removes the socket."""
    log = bench.path("log")
    process = subprocess.Popen(
        [bench.jdk.java, f"-agentpath:{AGENT}=include=com.app,port=0,log={log},loglevel=debug",
         "-cp", class_path("probes", NETTY), "com.app.Children", "/bin/ls", "-l", "/proc/self/fd"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=bench.env, cwd=bench.folder)
    try:
        lines = []
        while not lines or not lines[-1].startswith("exit"):
            lines.append(process.stdout.readline())
            assert lines[-1], lines
        inherited = [line.split(" -> ")[1].strip() for line in lines if " -> " in line]
        same(f"inherited: {inherited}",
             [what for what in inherited if not what.startswith(("pipe:", "/proc/"))], [])
        here = descriptors_of(process.pid)
        ours = {what: closed for what, closed in here.values()
                if what.startswith(("socket:", "anon_inode:[eventfd")) or what == log}
        assert len(ours) >= 4, here
        same("left open at exec", [what for what, closed in ours.items() if not closed], [])
        same("status", bench.run([CLIENT, "status", str(process.pid)]).returncode, 0)
    finally:
        process.communicate("x", timeout=60)
    same("exit", process.returncode, 0)


def out_of_memory(bench):
    """-XX:+CrashOnOutOfMemoryError and ExitOnOutOfMemoryError beside file=: the JVM ends as it does
    without bbflow, at once, and the report of the direct memory that ran out before is there."""
    for flag in ("-XX:+CrashOnOutOfMemoryError", "-XX:+ExitOnOutOfMemoryError"):
        folder = bench.path(flag[5:9])
        os.makedirs(folder)
        ends = []
        for agent in ([], [f"-agentpath:{AGENT}=include=com.app,file={folder}/out.json"]):
            begin = time.time()
            done = subprocess.run(
                [bench.jdk.java, *agent, flag, "-XX:-CreateCoredumpOnCrash",
                 f"-XX:ErrorFile={folder}/hs_err.log", "-Xmx64m", "-XX:MaxDirectMemorySize=8m",
                 "-Dio.netty.maxDirectMemory=0", "-cp", class_path("probes", NETTY),
                 "com.app.Crashes", "heap"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=bench.env, cwd=folder, timeout=60, check=False)
            ends.append(done.returncode)
        assert ends[0] == ends[1] != 0, f"{flag}: {ends}: {done.stdout}{done.stderr}"
        assert done.stdout.startswith("DIRECT\n"), done.stdout
        assert time.time() - begin < 30, f"{flag}: {time.time() - begin:.0f} s"
        with open(os.path.join(folder, "out-oom.json"), encoding="utf-8") as file:
            report = json.load(file)
        assert report["totals"]["live"] >= 7, report["totals"]
        if "Crash" in flag:
            with open(os.path.join(folder, "hs_err.log"), encoding="utf-8", errors="replace") as file:
                crash = file.read()
            assert "OutOfMemory encountered" in crash, crash[:500]
            assert "libbbflow" not in crash.split("Problematic frame")[-1][:200], crash[:800]


def full_heap(bench):
    """A heap that fills up with live buffers: the JVM ends by its OutOfMemoryError as it does without
    bbflow, and not minutes later, because we do not ask again and again for heap that is not there."""
    def run(*agent):
        begin = time.time()
        done = subprocess.run(
            [bench.jdk.java, *agent, "-Xmx75m", "-XX:+UseSerialGC", "-cp",
             class_path("probes", NETTY), "com.app.Crashes", "lives", "1200000"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=bench.env, cwd=bench.folder, timeout=90, check=False)
        same(f"exit: {done.stderr[-300:]}", done.returncode, 1)
        assert "java.lang.OutOfMemoryError" in done.stderr, done.stderr
        return time.time() - begin

    plain, ours = run(), run(f"-agentpath:{AGENT}=include=com.app,file=out.json")
    assert ours < 3 * plain + 20, f"{ours:.1f} s, and {plain:.1f} s without bbflow"
    print(f"# full heap: {ours:.1f} s, and {plain:.1f} s without bbflow", flush=True)


def container(bench):
    """In a memory cgroup of 300 MiB: with memory=32M half a million lives that are open at once cost no
    more than that, and the JVM lives."""
    group = os.path.join(CGROUP, f"bbj-{os.getpid()}")
    try:
        os.makedirs(group)
        with open(os.path.join(group, "memory.limit_in_bytes"), "w", encoding="ascii") as file:
            file.write(str(300 << 20))
    except OSError as error:
        print(f"# no memory cgroup of version 1 can be made here: {error}", flush=True)
        return
    try:
        def enter():
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
        done = subprocess.run(
            [bench.jdk.java, f"-agentpath:{AGENT}=include=com.app,memory=32M,file=out.json",
             "-Xmx160m", "-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=48m",
             "-cp", class_path("probes", NETTY), "com.app.Crashes", "lives", "500000"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=bench.env, cwd=bench.folder, timeout=100, check=False, preexec_fn=enter)
        same(f"exit: {done.stderr[-500:]}", done.returncode, 0)
        with open(bench.path("out.json"), encoding="utf-8") as file:
            report = json.load(file)
        assert report["limits"]["memory"]["used"] <= 32 << 20, report["limits"]
        assert report["totals"]["dropped_lives"] > 0, report["totals"]
    finally:
        time.sleep(0.2)
        os.rmdir(group)


def cases():
    yield Scenario("resources/descriptors", descriptors, jdk=(17, 25), short=(17,))
    yield Scenario("resources/last descriptor", last_descriptor, jdk=(17, 25), short=(17,))
    yield Scenario("resources/address space", address_space, jdk=(17, 25), short=(25,))
    yield Scenario("resources/children", children, jdk=(17, 25), short=(17,))
    yield Scenario("resources/out of memory", out_of_memory, jdk=(17, 25))
    yield Scenario("resources/full heap", full_heap, jdk=(17, 25), short=(25,))
    if os.geteuid() == 0:
        yield Scenario("resources/container", container, jdk=(17,))
