"""Files that bbflow writes in folders that others can write to (issue 19, section 2): another user
plants FIFOs, symlinks, files and folders, and the JVM of root neither waits for them, nor follows them,
nor fills them. Also: full disks, limits, slow file systems, kill -9, a chroot.

Those with another user, or a mount, need root and say so where they are skipped.
"""

import contextlib
import os
import re
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
import time

import harness
from harness import Scenario, agent_lines, class_path
from snapshot import Snapshot, same

NETTY = "4.1.140.Final"
OTHER = 65534
LIMIT_S = 60  # a JVM that waits for what was planted would stay for ever

# What another user can make at a name, and what a refusal calls it.
PLANTS = {
    "FIFO": "mkfifo -m 666 {}",
    "symlink": "ln -s {}.secret {}",
    "folder": "mkdir -m 777 {}",
    "file": "echo theirs > {}; chmod 666 {}",
}


def needs_root(name):
    if os.getuid() == 0:
        return False
    print(f"# {name}: skipped, it needs root", flush=True)
    return True


@contextlib.contextmanager
def open_folder():
    """As /tmp is: everybody may write to it, sticky."""
    folder = tempfile.mkdtemp(prefix="bbf-files-", dir="/tmp")
    os.chmod(folder, 0o1777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def plant(what, path):
    """As another user."""
    subprocess.run(["sh", "-c", PLANTS[what].replace("{}", path)], user=OTHER, group=OTHER,
                   extra_groups=[], check=True, cwd="/")


def is_untouched(what, path):
    """It is what was planted, with nothing in it, and a link's target was not made."""
    same(f"owner of the {what}", os.lstat(path).st_uid, OTHER)
    test = {"FIFO": stat.S_ISFIFO, "symlink": stat.S_ISLNK, "folder": stat.S_ISDIR,
            "file": stat.S_ISREG}[what]
    assert test(os.lstat(path).st_mode), f"it is no {what} any more"
    if what == "file":
        with open(path, encoding="utf-8") as file:
            same("the file", file.read(), "theirs\n")
    same("a link's target", os.path.exists(path + ".secret"), False)


def nothing_left(folder, *expected):
    same("files in the folder", sorted(os.listdir(folder)), sorted(expected))


def whole(path):
    same("mode", os.stat(path).st_mode & 0o7777, 0o600)
    same("owner", os.stat(path).st_uid, os.getuid())
    with open(path, encoding="utf-8") as file:
        picture = Snapshot(file.read())
    picture.check()
    return picture


class Serving:
    """com.app.Probes serve, until end(); which fails where the JVM does not end in LIMIT_S."""

    def __init__(self, bench, agent, before=(), **popen):
        popen.setdefault("stderr", subprocess.PIPE)
        popen.setdefault("env", bench.env)
        self.process = subprocess.Popen([*before, bench.jdk.java,
                                         f"-agentpath:{harness.AGENT}={agent}", "-cp",
                                         class_path("probes", NETTY), "com.app.Probes", "serve"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        **popen)
        self.stderr = ""
        watchdog = threading.Timer(LIMIT_S, self.process.kill)
        watchdog.start()
        try:
            same("first line", self.process.stdout.readline(), "READY\n")
        except AssertionError as failure:
            self.process.kill()
            raise AssertionError(f"{failure}: {self.process.communicate()[1]}") from None
        finally:
            watchdog.cancel()

    def end(self, limit=LIMIT_S):
        begin = time.monotonic()
        try:
            _, self.stderr = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise AssertionError(f"the JVM did not end in {limit} s") from None
        same("exit", self.process.returncode, 0)
        return time.monotonic() - begin


def at_the_temporary_name(bench):
    """The name that a report had while it was written was PATH.PID.tmp, which anybody can guess."""
    if needs_root("a temporary name that is taken"):
        return
    for what in ("FIFO", "symlink", "file"):
        with open_folder() as folder:
            path = os.path.join(folder, "out.json")
            program = Serving(bench, f"include=com.app,file={path}")
            taken = f"{path}.{program.process.pid}.tmp"
            plant(what, taken)
            program.end()
            same(f"{what}: our lines", agent_lines(program.stderr), [])
            assert whole(path).totals["leaked"] > 0, "no leak in the report"
            is_untouched(what, taken)
            nothing_left(folder, "out.json", os.path.basename(taken))


def at_the_name(bench):
    """Something is there when the JVM starts: refused by its name, whatever it is. It does not keep
    the JVM from starting, unless onerror=stop asks for that."""
    if needs_root("a target that is taken"):
        return
    for what in PLANTS:
        for name in ("out.json", "out-oom.json"):
            with open_folder() as folder:
                path = os.path.join(folder, name)
                plant(what, path)
                agent = f"include=com.app,file={folder}/out.json"
                done = bench.java("com.app.Probes", "exit", "7", netty=NETTY, agent=agent,
                                  timeout=LIMIT_S)
                same(f"{what}: exit", done.returncode, 7)
                lines = agent_lines(done.stderr)
                at_exit = 1 if name == "out.json" else 0
                same(f"our lines in {done.stderr!r}", len(lines), 1 + at_exit)
                for word in ("file: ", path, f"a {what} of uid {OTHER} is there", "remove it"):
                    assert word in lines[0], f"no {word!r} in {lines[0]!r}"
                is_untouched(what, path)
                done = bench.java("com.app.Probes", "exit", "7", netty=NETTY, timeout=LIMIT_S,
                                  agent=agent + ",onerror=stop")
                same(f"{what}: exit with onerror=stop", done.returncode, 1)
                assert path in done.stderr, done.stderr
                if not at_exit:
                    whole(f"{folder}/out.json")
                nothing_left(folder, *{name, "out.json"})


def own_thing_at_the_name(bench):
    """The user's own mistake is a bad option, whatever it is and whichever option: the JVM does not
    start, and says what is there; with onerror=warn it runs without us."""
    for what, command in PLANTS.items():
        if what == "file":
            continue  # that is replaced
        for option, name in (("file", "out.json"), ("file", "out-oom.json"), ("log", "bbflow.log")):
            with open_folder() as folder:
                subprocess.run(["sh", "-c", command.replace("{}", f"{folder}/{name}")], check=True)
                given = f"{folder}/out.json" if option == "file" else f"{folder}/{name}"
                agent = f"include=com.app,{option}={given}"
                done = bench.java("com.app.Probes", "exit", "7", netty=NETTY, timeout=LIMIT_S, agent=agent)
                same(f"{option}, {what}: exit; {done.stderr!r}", done.returncode, 1)
                lines = agent_lines(done.stderr)
                for word in (f"{option}: {folder}/{name}: a {what} is there, not a regular file",
                             "remove it"):
                    assert word in lines[0], f"no {word!r} in {lines[0]!r}"
                assert "uid" not in lines[0], lines[0]
                done = bench.java("com.app.Probes", "exit", "7", netty=NETTY, timeout=LIMIT_S,
                                  agent=agent + ",onerror=warn")
                same(f"{option}, {what}: exit with onerror=warn", done.returncode, 7)
                nothing_left(folder, name)


def at_the_name_later(bench):
    """It comes while the JVM runs: the report is lost, one line says so, and the exit is as ever."""
    if needs_root("a target that is taken later"):
        return
    for what in PLANTS:
        with open_folder() as folder:
            path = os.path.join(folder, "out.json")
            program = Serving(bench, f"include=com.app,file={path}")
            plant(what, path)
            program.end()
            lines = agent_lines(program.stderr)
            same(f"{what}: our lines in {program.stderr!r}", len(lines), 1)
            for word in (path, f"a {what} of uid {OTHER} is there"):
                assert word in lines[0], f"no {word!r} in {lines[0]!r}"
            is_untouched(what, path)
            nothing_left(folder, "out.json")


def link_on_the_way(bench):
    """A folder of the path is another user's link to our own folder."""
    if needs_root("a link on the way"):
        return
    with open_folder() as folder:
        ours = os.path.join(folder, "ours")
        os.mkdir(ours, 0o700)
        subprocess.run(["ln", "-s", ours, f"{folder}/way"], user=OTHER, group=OTHER,
                       extra_groups=[], check=True, cwd="/")
        done = bench.java("com.app.Probes", "default", netty=NETTY,
                          agent=f"include=com.app,file={folder}/way/out.json")
        same("exit", done.returncode, 0)
        assert f"'way' on the way is a symlink of uid {OTHER}" in done.stderr, done.stderr
        nothing_left(ours)
        os.symlink(ours, f"{folder}/mine")  # one of ours is followed
        done = bench.java("com.app.Probes", "default", netty=NETTY,
                          agent=f"include=com.app,file={folder}/mine/out.json")
        same("exit by our own link", done.returncode, 0)
        whole(os.path.join(ours, "out.json"))


def log_planted(bench):
    """log= at the same things, and at a second name of a file of root's."""
    if needs_root("a log that is taken"):
        return
    for what in PLANTS:
        with open_folder() as folder:
            path = os.path.join(folder, "bbflow.log")
            plant(what, path)
            agent = f"include=com.app,port=0,auth=off,loglevel=warn,log={path}"  # that is warned of
            done = bench.java("com.app.Probes", "exit", "7", netty=NETTY, agent=agent, timeout=LIMIT_S)
            same(f"{what}: exit", done.returncode, 7)
            lines = agent_lines(done.stderr)
            for word in ("log: ", path, f"a {what} of uid {OTHER} is there", "remove it",
                         "; bbflow's messages go to stderr"):
                assert word in lines[0], f"no {word!r} in {lines[0]!r}"
            assert "until then" not in lines[0], lines[0]  # it is opened only once
            assert len(lines) > 1, f"no other message on stderr: {done.stderr!r}"
            is_untouched(what, path)
    with open_folder() as folder:
        path = os.path.join(folder, "bbflow.log")
        with open(f"{folder}/secret", "w", encoding="utf-8") as file:
            file.write("root's\n")
        os.link(f"{folder}/secret", path)  # as another user may where fs.protected_hardlinks is 0
        done = bench.java("com.app.Probes", "exit", "7", netty=NETTY,
                          agent=f"include=com.app,loglevel=debug,log={path}")
        same("hard link: exit", done.returncode, 7)
        assert "2 names (hard links)" in done.stderr, done.stderr
        with open(path, encoding="utf-8") as file:
            same("the other name", file.read(), "root's\n")


def log_streams(bench):
    """A container's log is its stdout; a file is 0600 and appended to; our own link is followed."""
    agent = "include=com.app,port=0,auth=off,loglevel=warn,log="  # auth=off is warned of
    done = bench.java("com.app.Probes", "default", netty=NETTY, agent=agent + "/dev/stdout")
    same("exit", done.returncode, 0)
    assert agent_lines(done.stdout), done.stdout
    assert not agent_lines(done.stderr), done.stderr
    # stderr is a socket under systemd: open(2) of /dev/stderr fails there.
    here, there = socket.socketpair()
    with here, there:
        done = subprocess.run([bench.jdk.java, f"-agentpath:{harness.AGENT}={agent}/dev/stderr",
                               "-cp", class_path("probes", NETTY), "com.app.Probes", "default"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=there, env=bench.env, timeout=LIMIT_S, check=False)
        same("exit with a socket", done.returncode, 0)
        assert b"[bbflow] " in here.recv(1 << 16), "nothing on the socket"
    path = bench.path("bbflow.log")
    os.symlink("bbflow.log", bench.path("link.log"))
    sizes = []
    for name in (path, bench.path("link.log")):
        same("exit", bench.java("com.app.Probes", "default", netty=NETTY, agent=agent + name)
             .returncode, 0)
        sizes.append(os.path.getsize(path))
    same("mode", os.stat(path).st_mode & 0o7777, 0o600)
    assert 0 < sizes[0] < sizes[1], f"not appended: {sizes}"
    same("/dev/null", bench.java("com.app.Probes", "exit", "7", netty=NETTY, agent=agent + "/dev/null")
         .returncode, 7)


def log_without_reader(bench):
    """stderr is a full pipe without a reader: our lines are lost, and the JVM keeps running. (On 25
    the JVM itself warns of Netty there, and waits for room even without the agent.)"""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, b"x" * 4096)
    os.set_blocking(writer, True)
    try:
        program = Serving(bench, "include=com.app,port=0,auth=off,loglevel=warn", stderr=writer)
        status = bench.run([harness.CLIENT, "status", str(program.process.pid)]).stdout
        program.end()
    finally:
        os.close(reader)
        os.close(writer)
    assert "lines could not be written" in status, status


def dump_missing(bench):
    """dump= into a folder that is not there, or cannot be written to: said when the JVM starts."""
    cases = [("/nonexistent/folder", "No such file or directory"),
             (bench.path("file"), "Not a directory")]
    open(bench.path("file"), "w", encoding="utf-8").close()
    for folder, reason in cases:
        done = bench.java("com.app.Probes", "exit", "7", netty=NETTY,
                          agent=f"include=com.app,dump={folder}")
        same(f"{folder}: exit", done.returncode, 1)
        lines = agent_lines(done.stderr)
        same(f"our lines in {done.stderr!r}", len(lines), 1)
        for word in ("dump: ", folder, reason):
            assert word in lines[0], f"no {word!r} in {lines[0]!r}"
        done = bench.java("com.app.Probes", "exit", "7", netty=NETTY,
                          agent=f"include=com.app,dump={folder},onerror=warn")
        same(f"{folder}: exit with onerror=warn", done.returncode, 7)


def dump_planted(bench):
    """Things at the names of class files do not hold the application; said once, and counted."""
    if needs_root("planted class files"):
        return
    with open_folder() as folder:
        names = [f"{c}.{w}.class" for c in ("com.app.Serve", "io.netty.buffer.PooledByteBufAllocator")
                 for w in ("before", "after")]
        taken = dict(zip(PLANTS, names))
        for what, name in taken.items():
            plant(what, f"{folder}/{name}")
        program = Serving(bench, f"include=com.app,dump={folder}")
        notes = bench.run([harness.CLIENT, "status", str(program.process.pid)]).stdout
        program.end()
        lines = agent_lines(program.stderr)
        same(f"our lines in {program.stderr!r}", len(lines), 1)
        assert "dump: " in lines[0] and f"of uid {OTHER} is there" in lines[0], lines
        assert "dump: 4 class files could not be written; the first: " in notes, notes
        for what, name in taken.items():
            is_untouched(what, f"{folder}/{name}")
        others = [f for f in os.listdir(folder) if os.lstat(f"{folder}/{f}").st_uid == 0]
        assert len(others) > 10, others
        for name in others:
            same(f"mode of {name}", os.stat(f"{folder}/{name}").st_mode & 0o7777, 0o600)
            with open(f"{folder}/{name}", "rb") as file:
                same(f"{name} begins", file.read(4), b"\xca\xfe\xba\xbe")


SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Waits SLOW_MS before CALL, where it makes, writes or renames a report's temporary file. */
static void wait_in(const char *call)
{
    const char *which = getenv("SLOW_CALL"), *ms = getenv("SLOW_MS");
    if (which != NULL && strcmp(which, call) == 0)
        usleep((useconds_t)atoi(ms) * 1000);
}

static int is_ours(int fd)
{
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return strstr(path, "/.bbflow-") != NULL || strstr(path, ".tmp") != NULL;
}

ssize_t write(int fd, const void *data, size_t len)
{
    ssize_t (*next)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (is_ours(fd))
        wait_in("write");
    return next(fd, data, len);
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    if (strstr(from, ".tmp") != NULL)
        wait_in("rename");
    return next(from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
    int (*next)(int, const char *, int, const char *) = dlsym(RTLD_NEXT, "renameat");
    if (strstr(from, ".bbflow-") != NULL)
        wait_in("rename");
    return next(a, from, b, to);
}
"""


def slow_file_system(bench, call, milliseconds):
    """The environment of a JVM whose file system takes its time."""
    with open(bench.path("slow.c"), "w", encoding="utf-8") as file:
        file.write(SLOW)
    library = bench.path("slow.so")
    done = bench.run(["cc", "-shared", "-fPIC", "-o", library, bench.path("slow.c"), "-ldl"])
    same("cc", done.returncode, 0)
    return {**bench.env, "LD_PRELOAD": library, "SLOW_CALL": call, "SLOW_MS": str(milliseconds)}


def time_limit(bench):
    """A file system that does not answer holds the exit for exitTimeout= and no longer."""
    for call in ("write", "rename"):
        for option, least, most in (("", 10, 17), (",exitTimeout=1s", 1, 8)):
            if call == "rename" and not option:
                continue  # the default takes its time; once is enough
            path = bench.path(f"{call}.json")
            program = Serving(bench, f"include=com.app,file={path}{option}",
                              env=slow_file_system(bench, call, 120000))
            seconds = program.end(40)
            assert least <= seconds < most, f"{call}{option}: {seconds:.1f} s"
            lines = agent_lines(program.stderr)
            same(f"our lines in {program.stderr!r}", len(lines), 1)
            for word in ("no report", path, f"exitTimeout={least}s"):
                assert word in lines[0], f"no {word!r} in {lines[0]!r}"
            same("report", os.path.exists(path), False)


def time_limit_while_it_is_written(bench):
    """It answers, but not in time: nothing is left of the report; 0 and more time give all of it."""
    path = bench.path("out.json")
    for value, complete in (("1s", False), ("0", True), ("1m", True)):
        program = Serving(bench, f"include=com.app,file={path},exitTimeout={value}",
                          env=slow_file_system(bench, "write", 1100))
        program.end()
        lines = agent_lines(program.stderr)
        if complete:
            same("our lines", lines, [])
            whole(path)
            continue
        assert len(lines) == 1 and "its time was over" in lines[0], program.stderr
        if "before all was written" in lines[0]:  # else the machine was too busy to hear of it
            same("what is left", [f for f in os.listdir(bench.folder) if f[:7] == ".bbflow"], [])
        same("report", os.path.exists(path), False)


def set_while_it_runs(bench):
    """exitTimeout= is an option of a running JVM."""
    path = bench.path("out.json")
    program = Serving(bench, f"include=com.app,file={path}",
                      env=slow_file_system(bench, "write", 120000))
    done = bench.run([harness.CLIENT, "set", str(program.process.pid), "exitTimeout=1s"])
    same(f"set: {done.stderr}", done.returncode, 0)
    seconds = program.end(40)
    assert seconds < 8, f"{seconds:.1f} s"


def killed_while_it_is_written(bench):
    """kill -9 in the middle: the earlier report is there, whole, and the next JVM replaces it."""
    path = bench.path("out.json")
    Serving(bench, f"include=com.app,file={path}").end()
    with open(path, "rb") as file:
        before = file.read()
    program = Serving(bench, f"include=com.app,file={path}",
                      env=slow_file_system(bench, "rename", 60000))
    program.process.stdin.close()
    end = time.monotonic() + 20
    def beside():
        return [f for f in os.listdir(bench.folder) if f.startswith((".bbflow-", "out.json."))]
    while time.monotonic() < end and not beside():
        time.sleep(0.02)
    left = beside()
    program.process.kill()
    program.process.wait()
    program.process.stdout.close()
    program.process.stderr.close()
    same("temporary files when it was killed", len(left), 1)
    with open(path, "rb") as file:
        same("the report is the earlier one", file.read() == before, True)
    Serving(bench, f"include=com.app,file={path}").end()
    with open(path, "rb") as file:
        same("the report is another", file.read() == before, False)
    whole(path)


def two_at_once(bench):
    """Two JVMs end at once with the same file=: it is the whole report of one of them."""
    path = bench.path("out.json")
    for _ in range(3):
        programs = [Serving(bench, f"include=com.app,file={path}",
                            env=slow_file_system(bench, "write", 700)) for _ in range(2)]
        for program in programs:
            program.process.stdin.close()
            program.process.stdin = None
        for program in programs:
            program.end()
            same("our lines", agent_lines(program.stderr), [])
        assert whole(path).doc["jvm"]["pid"] in [p.process.pid for p in programs]
        same("left", [f for f in os.listdir(bench.folder) if "bbflow-" in f], [])


def disk_is_full(bench):
    """No room, no room left in a limit, a file system that takes no writes."""
    if needs_root("a full disk"):
        return
    mount = ("mkdir -p {0} && mount -t tmpfs -o size=32k none {0} && dd if=/dev/zero "
             "of={0}/filler bs=1k count=28 2>/dev/null; exec \"$@\"").format(bench.path("disk"))
    path = bench.path("disk/out.json")
    program = Serving(bench, f"include=com.app,file={path}",
                      before=("unshare", "-m", "sh", "-c", mount, "sh"))
    program.end()
    lines = agent_lines(program.stderr)
    assert len(lines) == 1 and f"{path}: No space left on device" in lines[0], program.stderr

    path = bench.path("limited.json")
    program = Serving(bench, f"include=com.app,file={path}",
                      before=("sh", "-c", "ulimit -f 2; exec \"$@\"", "sh"),
                      env={**bench.env, "JDK_JAVA_OPTIONS": "-XX:-UsePerfData"})
    with open(path, "w", encoding="utf-8") as file:
        file.write("before")
    program.end()
    lines = agent_lines(program.stderr)
    assert len(lines) == 1 and f"{path}: File too large" in lines[0], program.stderr
    with open(path, encoding="utf-8") as file:
        same("the earlier file", file.read(), "before")
    same("left", [f for f in os.listdir(bench.folder) if "bbflow-" in f], [])

    read_only = f"mount -t tmpfs -o ro none {bench.path('disk')} && exec \"$@\""
    done = bench.run(["unshare", "-m", "sh", "-c", read_only, "sh", bench.jdk.java,
                      f"-agentpath:{harness.AGENT}=include=com.app,file={bench.path('disk/x.json')}",
                      "-cp", class_path("probes", NETTY), "com.app.Probes", "exit", "7"])
    same("read-only: exit", done.returncode, 1)
    assert "disk cannot be written to: Read-only file system" in done.stderr, done.stderr


def socket_folder_planted(bench):
    """Another user was first at bbflow-UID: not used, the JVM keeps running, and the client finds it."""
    if needs_root("a socket folder that is taken"):
        return
    for what in PLANTS:
        with open_folder() as folder:
            path = os.path.join(folder, "bbflow-0")
            plant(what, path)
            done = bench.java("com.app.Probes", "exit", "7", netty=NETTY, timeout=LIMIT_S,
                              agent=f"include=com.app,socket={folder}")
            same(f"{what}: exit", done.returncode, 7)
            lines = agent_lines(done.stderr)
            assert len(lines) == 1 and path in lines[0], f"{what}: {done.stderr!r}"
            assert "by socket=" in lines[0], f"no remedy in {lines[0]!r}"
            is_untouched(what, path)
            env = {**bench.env, "XDG_RUNTIME_DIR": folder}
            program = Serving(bench, "include=com.app", env=env)  # the next place serves it
            done = bench.run([harness.CLIENT, "summary", str(program.process.pid)], env=env)
            program.end()
            same(f"{what}: {done.stderr}", done.returncode, 0)
            is_untouched(what, path)


CHROOT = """
set -e
root=$1; shift
mkdir -p $root/proc $root/var/tmp $root/tmp-of-its-own
chmod 1777 $root/var/tmp
for link in lib lib64 bin; do ln -s usr/$link $root/$link; done
ln -s /var/tmp $root/tmp
for folder in /usr /dev /etc "$@"; do
    [ "$folder" != -- ] || break
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
done
while [ "$1" != -- ]; do shift; done; shift
mount -t proc none $root/proc
mount -t tmpfs none $root/dev/shm
exec chroot $root "$@"
"""


def name_of_copy(library):
    """The folder of the library's copy in a JVM that sees other files (client/attach.c): FNV-1a."""
    value = 0xcbf29ce484222325
    with open(library, "rb") as file:
        for byte in file.read():
            value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"bbflow-{value:016x}"


def chroot_with_a_link(bench):
    """A JVM in a chroot whose /tmp is an absolute link: attach, list and ask it from outside. Followed
    from outside, the link would lead to our own folder of that name."""
    if needs_root("a chroot"):
        return
    binds = [harness.ROOT, bench.jdk.home, os.path.dirname(harness.netty_jars(NETTY))]
    if any(folder.startswith("/tmp/") for folder in binds):
        print("# a chroot: skipped, its /tmp would hide this checkout, or what was fetched", flush=True)
        return
    root = bench.path("root")
    os.mkdir(root)
    env = {k: v for k, v in bench.env.items() if k != "XDG_RUNTIME_DIR"}
    before = os.listdir("/var/tmp")
    process = subprocess.Popen(["unshare", "-m", "sh", "-c", CHROOT, "sh", root, *binds, "--",
                                bench.jdk.java, "-cp", class_path("probes", NETTY), "com.app.Probes",
                                "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=env, text=True)
    watchdog = threading.Timer(LIMIT_S, process.kill)
    watchdog.start()
    try:
        line = process.stdout.readline()
        if line != "READY\n":
            process.kill()
            raise AssertionError(f"first line {line!r}: {process.communicate()[1]}")
        pid = str(process.pid)
        attach = [harness.CLIENT, "attach", pid, "include=com.app", "--agent", harness.AGENT]
        copy = os.path.join(root, "var/tmp", name_of_copy(harness.AGENT))
        plant("folder", copy)
        done = bench.run(attach, env=env)
        same(f"attach where the copy's folder is taken: {done.stderr}", done.returncode, 4)
        for word in (f"/tmp/{os.path.basename(copy)}", f"of uid {OTHER}", "remove it"):
            assert word in done.stderr, f"no {word!r} in {done.stderr!r}"
        same("the taken folder", os.listdir(copy), [])
        os.rmdir(copy)
        done = bench.run(attach, env=env)
        same(f"attach: {done.stderr}", done.returncode, 0)
        same("new in our own /var/tmp", [f for f in os.listdir("/var/tmp") if f not in before and
                                         process.pid in map(int, re.findall("[0-9]+", f))], [])
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            done = bench.run([harness.CLIENT, "summary", pid])
            if done.returncode == 0:
                break
            time.sleep(0.2)
        same(f"summary: {done.stderr}", done.returncode, 0)
        sockets = os.listdir(os.path.join(root, "var/tmp/bbflow-0"))
        same("sockets in its /tmp", sockets, [f"{pid}.sock"])
        assert "com.app.Probes" in bench.run([harness.CLIENT, "list"]).stdout
        _, stderr = process.communicate(timeout=LIMIT_S)
        same("exit", process.returncode, 0)
        assert "Full thread dump" not in stderr, "a SIGQUIT was taken for a wish for a dump"
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()


def cases():
    def scenario(name, function, **more):
        return Scenario("files/" + name, function, **more)
    yield scenario("temporary name taken", at_the_temporary_name, short=(17,), quick=True)
    yield scenario("name taken", at_the_name, jdk=(17,), quick=True)
    yield scenario("own thing at the name", own_thing_at_the_name, jdk=(17,))
    yield scenario("name taken later", at_the_name_later, jdk=(17,))
    yield scenario("link on the way", link_on_the_way, jdk=(17,))
    yield scenario("log taken", log_planted, jdk=(17,), quick=True)
    yield scenario("log to a stream", log_streams, jdk=(17,))
    yield scenario("log without a reader", log_without_reader, jdk=(17,))  # 25 writes its own
    yield scenario("dump folder missing", dump_missing, jdk=(17,), quick=True)
    yield scenario("dump taken", dump_planted, short=(25,), quick=True)
    yield scenario("time limit", time_limit, short=(25,))
    yield scenario("time limit while it is written", time_limit_while_it_is_written, jdk=(17,))
    yield scenario("time limit set", set_while_it_runs, jdk=(17,))
    yield scenario("kill -9 while it is written", killed_while_it_is_written, jdk=(17,))
    yield scenario("two at once", two_at_once, jdk=(17,))
    yield scenario("full disk", disk_is_full, jdk=(17,))
    yield scenario("chroot with a link", chroot_with_a_link, jdk=(17,))
    yield scenario("socket folder taken", socket_folder_planted, jdk=(17,))
