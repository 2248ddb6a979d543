"""What tests/long/fault-injection and tests/long/limits share: building, starting, reading snapshots."""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "../jvm"))
import harness  # noqa: E402
from snapshot import Snapshot  # noqa: E402,F401  (for our users)

ROOT = harness.ROOT
OUT = os.path.join(ROOT, "build/long")
NETTY = "4.1.140.Final"
CLASSES = os.path.join(OUT, "classes")


def jdk(major=17):
    text = subprocess.run([os.path.join(ROOT, "scripts/find-jdks"), str(major)], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return text.strip().split("\t")[1] if text.strip() else None


def available(jvms):
    """Those of {name: (major, flags)} whose JDK is here."""
    return [name for name, (major, _) in jvms.items() if jdk(major)]


def build(name):
    """The programs, and copies of agent and client that no build can change meanwhile."""
    home = jdk()
    work = os.path.join(OUT, name)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    sources = [os.path.join(HERE, "java/com/proof", f)
               for f in os.listdir(os.path.join(HERE, "java/com/proof"))]
    subprocess.run([os.path.join(home, "bin/javac"), "-encoding", "UTF-8", "--release", "11",
                    "-nowarn", "-cp",
                    harness.netty_jars(NETTY), "-d", CLASSES, *sources], check=True)
    return (shutil.copy(harness.AGENT, work), shutil.copy(harness.CLIENT, work), work)


def class_path():
    return CLASSES + ":" + harness.netty_jars(NETTY)


class Program:
    """One JVM with pipes for stdin and files for the rest, in a folder and a socket folder of its
    own. stdout, stderr and exit stand after finish()."""

    def __init__(self, folder, command, env=None, fds=None, space=None, size=None):
        os.makedirs(folder)
        self.folder = folder
        self.sockets = tempfile.mkdtemp(prefix="bbp-")
        self.env = {**harness.clean_environment(self.sockets), **(env or {})}
        self.exit = None
        with open(os.path.join(folder, "command"), "w", encoding="utf-8") as out:
            out.write(" ".join(f"{k}={v}" for k, v in (env or {}).items())
                      + " " + " ".join(command) + "\n")
        limits = [(kind, value) for kind, value in ((resource.RLIMIT_NOFILE, fds),
                                                    (resource.RLIMIT_AS, space),
                                                    (resource.RLIMIT_FSIZE, size)) if value]
        limit = (lambda: [resource.setrlimit(k, (v, v)) for k, v in limits]) if limits else None
        self.files = [open(os.path.join(folder, n), "wb") for n in ("stdout", "stderr")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.files[0],
                                        stderr=self.files[1], env=self.env, cwd=folder,
                                        preexec_fn=limit)
        self.pid = self.process.pid

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def client_env(self):
        return {k: v for k, v in self.env.items() if not k.startswith(("BBF_FAULT", "LD_PRELOAD"))}

    def finish(self, timeout):
        """Ends stdin and waits; False if it had to be killed."""
        ended = True
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.exit = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            ended = False
            self.process.kill()
            self.exit = self.process.wait()
        for file in self.files:
            file.close()
        shutil.rmtree(self.sockets, ignore_errors=True)
        self.stdout, self.stderr = self.read("stdout"), self.read("stderr")
        return ended


def ours(stderr):
    return [line for line in stderr.splitlines() if re.match(r"\[bbflow\]", line)]
