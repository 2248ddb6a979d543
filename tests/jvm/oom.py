"""A report at once when direct memory runs out (issue 6, point 5)."""

import os
import time

import harness
from attach import Program
from harness import Case, Scenario, validate
from snapshot import Snapshot, same

KEEP = "com.app.Exhausted.keep"
ERRORS = 3
LIVES = 8  # of 1 MiB; the JDK may have some kilobytes of them for itself
# Netty before 4.2 counts only with the constructor that these two open, 4.2 only before Java 25.
NETTY_LIMIT = ["-Dio.netty.maxDirectMemory=8388608", "-Dio.netty.tryReflectionSetAccessible=true",
               "--add-opens=java.base/java.nio=ALL-UNNAMED"]


def while_it_runs(run):
    """The program keeps its buffers and waits; the report comes without being asked for."""
    path = os.path.join(run.folder, "out-oom.json")
    end = time.time() + 20
    while not os.path.exists(path) and time.time() < end:
        assert run.process.poll() is None, "the program ended"
        time.sleep(0.05)
    with open(path, encoding="utf-8") as file:
        first = Snapshot(file.read())
    first.check()
    validate(first.doc)
    run.stdout = run.read("stdout")
    run.check_oracle()
    assert LIVES - 1 <= run.oracle["lives"] <= LIVES, f"not the limit meant: {run.oracle}"
    same("live when memory ran out", first.totals["live"], run.oracle["lives"])
    same("passed", first.passed(KEEP), run.oracle["lives"])
    assert 1 <= first.totals["out_of_memory"] <= ERRORS, first.totals
    later = run.snapshot()
    same("errors", later.totals["out_of_memory"], ERRORS)
    assert f"direct memory ran out: {ERRORS} errors; {path} is how it was at" in later.notes(), \
        later.notes()
    assert "(1 report, at most one a minute)" in later.notes(), later.notes()
    run.client("reset", str(run.pid))
    same("errors after a reset", run.snapshot().totals["out_of_memory"], 0)


def at_exit(run):
    same("live", run.json.totals["live"], run.oracle["live"])
    same("released", run.json.totals["released"], 1)
    same("files", sorted(f for f in os.listdir(run.folder) if f.endswith("json")),
         ["out-oom.json", "out.json"])


def without_a_file(bench):
    """Nothing is written; Netty's errors are counted anyway."""
    with Program(bench, "exhausted", str(ERRORS), "0", ready="ORACLE",
                 jvm=[*NETTY_LIMIT, f"-agentpath:{harness.AGENT}=include=com.app"]) as program:
        totals = Snapshot(program.ask("dump", str(program.pid))).totals
        same("errors", totals["out_of_memory"], ERRORS)
        same("exit", program.end(), 0)
    same("files", [f for f in os.listdir(bench.folder) if f.endswith("json")], [])


def cases():
    """Netty's own limit, and the JDK's, where Netty leaves counting to it."""
    limits = {"Netty": NETTY_LIMIT,
              "the JDK": ["-Dio.netty.maxDirectMemory=0", "-XX:MaxDirectMemorySize=8m"]}
    jdks = {("Netty", "4.1.48.Final"): (11, 17), ("Netty", "4.2.20.Final"): (11, 17, 21)}
    for version, short in (("4.1.48.Final", ()), ("4.1.140.Final", (11, 17)),
                           ("4.2.20.Final", (21, 25))):
        for whose, flags in limits.items():
            pause = "2500" if whose == "the JDK" else "0"  # its class is changed a second later
            majors = jdks.get((whose, version), (11, 17, 21, 25))
            yield Case(f"oom/{whose} {version.replace('.Final', '')}", "com.app.Probes", "exhausted",
                       str(ERRORS), pause, netty=version, jvm=flags, live=while_it_runs,
                       check=at_exit, ready="ORACLE", jdk=majors,
                       short=[m for m in short if m in majors],
                       quick=version == "4.1.140.Final" and whose == "Netty")
    yield Scenario("oom/without file=", without_a_file, jdk=(17,))
