"""io_uring: the buffers of a ring belong to the kernel until it has filled them, never leaks."""

import ctypes
import os
import platform
import re

import other_agents
from harness import Case, class_path
from snapshot import same

NETTY = "4.2.18.Final"  # the newest whose native library is on Maven Central
REQUESTS = 300
SETUP = 425  # io_uring_setup(2)
GREEDY = "include=com.app+io.netty+io.netty.util.internal,objects=on"


def jars():
    artifact = "io.netty:netty-transport-{}-io_uring:" + NETTY
    return [class_path("probes", None),
            *other_agents.jars(artifact.format("classes"), artifact.format("native") + ":linux-x86_64")]


def compiled(sources):
    return ("uring", NETTY, sources, jars)


def kinds():
    """none: without a ring. The kernel fills a buffer in several goes (incremental) since 6.12."""
    if not may_be_used():
        return ()
    if tuple(int(n) for n in re.findall(r"\d+", platform.release())[:2]) >= (6, 12):
        return "none", "whole", "incremental"
    print("# no incremental rings before Linux 6.12: those uring cases are left out")
    return "none", "whole"


def may_be_used():
    """Seccomp, or a sysctl, or an old kernel may forbid it."""
    libc = ctypes.CDLL(None, use_errno=True)
    ring = libc.syscall(SETUP, 1, ctypes.create_string_buffer(120))
    if ring < 0:
        print(f"# no io_uring here ({os.strerror(ctypes.get_errno())}): the uring cases are left out")
        return False
    os.close(ring)
    return True


def exact(ring, last):
    """A lost frame holds what it is a slice of: the ring's buffer, and maybe a view of that."""
    def check(run):
        totals, lost = run.json.totals, run.oracle["leaked"]
        same("ring refilled", run.oracle["ring"] > REQUESTS, ring)
        for name in ("live", "raced_steps", "dropped_steps", "dropped_lives", "internal_errors",
                     "unknown", "misuse"):
            same(name, totals[name], 0)
        same("leaks", run.json.last_steps(), {last: lost} if lost else {})
        held = totals["held"]
        assert lost < held <= 2 * lost if ring and lost else held == 0, f"held {held}, lost {lost}"
    return check


def cases():
    for kind in kinds():
        for lost in ("0", "3"):
            forget = "com.app.Uring$Echo.forget"
            # With objects=on the probe's own Gc.watch(Object) is a step.
            for name, agent, jvm, last in (("application", "include=com.app", (), forget),
                                           ("greedy", GREEDY, (), "com.app.Gc.watch"),
                                           ("map", "include=com.app",
                                            ["-javaagent:@OUT@/other-agent.jar=load"], forget)):
                short = {("whole", "3", "greedy"): (17,), ("incremental", "3", "map"): (25,)}
                yield Case(f"uring/{kind} {lost} lost {name}", "com.app.Uring", str(REQUESTS), lost,
                           kind, classes="uring", libraries=jars, netty=NETTY, agent=agent, jvm=jvm,
                           check=exact(kind != "none", last), own_jvm=True,
                           short=short.get((kind, lost, name), ()))
