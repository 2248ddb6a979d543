"""What tests/bench/run needs of this machine: programs, jars, Java runtimes, and what it is."""

import functools
import glob
import os
import platform
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(ROOT, "build/bench")
WORK = os.path.join(OUT, f"work-{os.getpid()}")  # of this run; another one may be under way
DOC = os.path.join(ROOT, "docs/performance.md")
KEPT = os.path.join(ROOT, "docs/performance")
BUILT = os.path.join(ROOT, "build/release")
CACHE = os.path.join(os.environ.get("BBF_CACHE", os.path.expanduser("~/.cache/bbflow")))
# netty-example is not released any more: the last one of each line, on today's modules.
EXAMPLES = {"4.1": "4.1.128.Final", "4.2": "4.2.0.Final"}
# For Netty 4.1, by the workload's name.
LIBRARIES = {
    "grpc": ("io.grpc:grpc-netty:1.76.0", "io.grpc:grpc-stub:1.76.0"),
    "rsocket": ("io.rsocket:rsocket-core:1.1.5", "io.rsocket:rsocket-transport-netty:1.1.5"),
}
NOT_OURS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")


def shell(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"tests/bench/run: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def script(name, *args):
    return shell(os.path.join(ROOT, "scripts", name), *args)


def environment():
    return {k: v for k, v in os.environ.items() if k not in NOT_OURS}


@functools.lru_cache(None)
def java(major):
    return script("fetch-jdks", str(major)).split("\t")[1] + "/bin/java"


@functools.lru_cache(None)
def java_version(major):
    done = subprocess.run([java(major), "-version"], stderr=subprocess.PIPE, text=True, check=True,
                          env=environment())
    return done.stderr.splitlines()[0]


@functools.lru_cache(None)
def javac():
    return script("find-jdks", "17").split("\t")[1] + "/bin"


@functools.lru_cache(None)
def netty(version):
    """Netty's jars of that version: only its own modules, whatever else is in the folder."""
    folder = script("fetch-netty", version)
    if version.startswith("4.1"):  # gRPC and RSocket want them
        script("fetch-netty", version, "netty-handler-proxy", "netty-codec-socks", "netty-resolver-dns",
               "netty-codec-dns")
    return sorted(glob.glob(f"{folder}/netty-*-{version}.jar"))


@functools.lru_cache(None)
def library(name):
    """The jars of LIBRARIES without the Netty that it was built with: it gets the one that is measured."""
    if name not in LIBRARIES:
        return []
    folder = script("fetch-maven", "--pinned", "--deps", os.path.join(CACHE, name), *LIBRARIES[name])
    return [j for j in sorted(glob.glob(folder + "/*.jar"))
            if not os.path.basename(j).startswith("netty-")]


@functools.lru_cache(None)
def example(version):
    return script("fetch-maven", "io.netty:netty-example:" + EXAMPLES[version[:3]])


@functools.lru_cache(None)
def classes(version):
    """Our programs, compiled for Java 11 against that Netty."""
    target = os.path.join(WORK, "classes-" + version)
    os.makedirs(target)
    files = glob.glob(os.path.join(ROOT, "tests/bench/com/example/bench/*.java"))
    files += glob.glob(os.path.join(ROOT, "tests/jvm/probes/com/app/*Hello.java"))
    path = [*netty(version)]
    if version.startswith("4.1"):
        path += library("grpc") + library("rsocket")
    else:
        files = [f for f in files if os.path.basename(f) not in ("Grpc.java", "Rsocket.java")]
    shell(javac() + "/javac", "-encoding", "UTF-8", "--release", "11", "-nowarn", "-cp",
          ":".join(path), "-d", target,
          *files)
    return target


def class_path(version, *more):
    return ":".join([classes(version), *netty(version), *more])


@functools.lru_cache(None)
def keys():
    """A key store for TLS, made for this run."""
    path = os.path.join(WORK, "keys.p12")
    shell(javac() + "/keytool", "-genkeypair", "-keystore", path, "-storetype", "PKCS12",
          "-storepass", "bench-only", "-keyalg", "EC", "-groupname", "secp256r1", "-dname",
          "CN=localhost", "-alias", "bench")
    return path


@functools.lru_cache(None)
def load_program():
    """The load client of `hello`."""
    path = os.path.join(WORK, "load")
    shell("gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path,
          os.path.join(ROOT, "tests/bench/load.c"), "-lm")
    return path


@functools.lru_cache(None)
def stepper():
    """Steps through a thread for `instructions`."""
    path = os.path.join(WORK, "steps")
    shell("gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path,
          os.path.join(ROOT, "tests/bench/steps.c"))
    return path


@functools.lru_cache(None)
def retransformer():
    """An agent that changes nothing."""
    path = os.path.join(WORK, "libretransform.so")
    include = os.path.join(os.path.dirname(javac()), "include")
    shell("gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-shared",
          "-fPIC", "-isystem", include, "-isystem", include + "/linux", "-o", path,
          os.path.join(ROOT, "tests/bench/retransform.c"))
    return path


def retransform(pid, classes):
    """jcmd itself says 0 whatever the agent said."""
    answer = shell(javac() + "/jcmd", pid, "JVMTI.agent_load", retransformer(), classes)
    if not answer.endswith("return code: 0"):
        sys.exit(f"tests/bench/run: {answer}")


@functools.lru_cache(None)
def binaries():
    """Folder with copies of agent and client: a build meanwhile must not change them."""
    folder = os.path.join(WORK, "bin")
    os.makedirs(folder, exist_ok=True)
    for name in ("libbbflow.so", "bbflow"):
        built = os.path.join(BUILT, name)
        if not os.path.exists(built):
            sys.exit(f"tests/bench/run: there is no {built}; build the preset release first")
        shutil.copy(built, folder)
    return folder


def first_line(path, start):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(start):
                return line.split(":", 1)[1].strip()
    return ""


def caches():
    """{"L1d": bytes, "L2": bytes, "L3": bytes} of the first core."""
    found = {}
    for folder in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        values = []
        for name in ("level", "type", "size"):
            with open(os.path.join(folder, name), encoding="ascii") as file:
                values.append(file.read().strip())
        level, kind, size = values
        if kind != "Instruction":
            unit = {"K": 1 << 10, "M": 1 << 20}[size[-1]]
            found["L" + level + ("d" if kind == "Data" and level == "1" else "")] = (
                int(size[:-1]) * unit)
    return found


def load():
    return [round(x, 2) for x in os.getloadavg()]


def describe():
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return {"cpu": first_line("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
            "memory": first_line("/proc/meminfo", "MemTotal"), "caches": caches(),
            "kernel": platform.release(), "system": platform.platform(), "commit": commit.strip()}
