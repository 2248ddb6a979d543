"""The Java programs of the cases: compiled once, those of other projects' jars only for a case that
uses them."""

import os
import subprocess

import other_agents
import harness
from cases import COMPILE

DONE = set()


def make(case):
    """Every folder of classes that the case uses, for Java 11 unless COMPILE says otherwise, with the
    JDK 17's compiler."""
    used = {"probes", "agents", "turns", getattr(case, "classes", "probes")}
    if case.name.startswith("notice/"):
        used |= {"notice", "notice-bare"}
    if case.name.startswith("flight/"):
        used |= {"flight", "flight-jmc"}
    for name, netty, sources, libraries, *flags in COMPILE:
        if name in used and name not in DONE:
            compile_folder(name, netty, sources(), libraries(), flags)
    for name, sources, path in other_agents.compile_sets([case.name]):
        if name not in DONE:
            compile_folder(name, other_agents.NETTY, sources, path, ())


def compile_folder(name, netty, sources, path, flags):
    DONE.add(name)
    target = os.path.join(harness.OUT, "classes", name)
    os.makedirs(target, exist_ok=True)
    files = [s if os.path.isabs(s) else os.path.join(harness.ROOT, s) for s in sources]
    stamp = os.path.join(target, ".stamp")
    if os.path.exists(stamp) and all(os.path.getmtime(f) < os.path.getmtime(stamp) for f in files):
        return
    known = [harness.class_path(c, None) for c in ("probes", "agents") if c != name]
    known += [harness.netty_jars(netty), *path]
    subprocess.run([harness.javac(), "-encoding", "UTF-8",
                    *(flags or ["--release", "11", "-g"]), "-nowarn", "-cp", ":".join(known), "-d",
                    target, *files], check=True)
    if name == "agents":
        harness.make_jar("agents", "other-agent.jar", "Premain-Class: com.agents.Other\n"
                         "Can-Retransform-Classes: true\nCan-Redefine-Classes: true\n")
    open(stamp, "w", encoding="utf-8").close()
