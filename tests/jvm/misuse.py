"""Uses after release (issue 6, point 5): who released it, where it had been, who used it then."""

import harness
from attach import Program, bodies
from harness import Case, Scenario
from snapshot import Snapshot, same

POOLED = "io.netty.buffer.PooledByteBufAllocator.directBuffer"
UNPOOLED = "io.netty.buffer.UnpooledByteBufAllocator.directBuffer"
TAKE = "com.app.Misuse.take_return"
# use, the application's method, its thread, who released it, where it had been, times
EXPECTED = [
    ("release", "com.app.Misuse.releaseAgain", "main", "releaser",
     (POOLED, TAKE, "com.app.Misuse.all", "com.app.Steps.done"), 5),
    ("retain", "com.app.Misuse.retainLate", "user", "main",
     (UNPOOLED, TAKE, "com.app.Misuse.all", "com.app.Steps.done"), 1),
    ("access", "com.app.Misuse.readLate", "main", "main", (UNPOOLED, TAKE, "com.app.Misuse.all"),
     1),
    ("release", "com.app.Misuse.releaseTwo", "main", "main",
     (UNPOOLED, TAKE, "com.app.Misuse.releaseTwo"), 1),
]
# Methods that received a buffer after its release, from where, times. Lambdas are left out: javac numbers them.
PREMATURE = (POOLED, TAKE, "com.app.Misuse.premature", "com.app.Steps.done")
RECEIVED = [
    ("com.app.Misuse.frame", "main", "filter", PREMATURE, 200),
    ("com.app.Misuse.noted", "main", "main",
     (POOLED, TAKE, "com.app.Misuse.lookedAt", "com.app.Misuse$1.channelRead0"), 10),
    ("com.app.Misuse.premature", "main", "filter", PREMATURE, 200),  # where it takes it out of the queue
    ("com.app.Misuse.readLate", "main", "main", (UNPOOLED, TAKE, "com.app.Misuse.all"), 1),
    ("com.app.Misuse.releaseAgain", "main", "releaser",
     (POOLED, TAKE, "com.app.Misuse.all", "com.app.Steps.done"), 5),
    ("com.app.Misuse.retainLate", "user", "main",
     (UNPOOLED, TAKE, "com.app.Misuse.all", "com.app.Steps.done"), 1),
]


def received(doc, threads):
    rows = []
    for row in doc["misuse"]:
        if row["use"] == "step" and ".lambda$" not in row["used_by"][0]:
            assert row["path"][-1].endswith("ByteBuf.release"), row
            rows.append((row["used_by"][0], threads.get(row["used_thread"]),
                         threads.get(row["released_thread"]),
                         tuple(n for n in row["path"][:-1] if ".lambda$" not in n), row["count"]))
    same("counted in rows", sum(r["count"] for r in doc["misuse"] if r["use"] == "step"),
         doc["totals"]["steps_after_release"])
    return sorted(rows)


def mine(names):
    return [n for n in names if n.startswith("com.app.") and ".lambda$" not in n
            and n not in ("com.app.Misuse.refused", "com.app.Misuse.run", "com.app.Misuse.all", "com.app.Probes.main")]


def all_of_it(known):
    """known: the report has the place where the life ended; in map mode nothing is left of it."""
    def check(run):
        same("all", run.json.totals["misuse"], run.oracle["misuse"])
        for name in ("leaked", "live", "raced_steps", "dropped_steps"):
            same(name, run.json.totals[name], 0)
        threads = {t["id"]: t["name"] for t in run.json.doc["threads"]}
        rows = []
        same("received", received(run.json.doc, threads), RECEIVED if known else [])
        for row in run.json.doc["misuse"]:
            if row["use"] == "step":
                continue
            path = tuple(row["path"])
            if path:
                assert path[-1].endswith("ByteBuf.release"), path
            rows.append((row["use"], mine(row["used_by"])[0], threads.get(row["used_thread"]),
                         threads.get(row["released_thread"]),
                         tuple(n for n in path[:-1] if ".lambda$" not in n), row["count"]))
        same("rows", rows, [e if known else e[:3] + (None, (), e[5]) for e in EXPECTED])
        for verb in ("tree", "summary", "llm"):
            text, _ = run.client(verb, run.json_path)
            for what in ("releaseAgain", "retainLate", "readLate",
                         *(("releaser", "Misuse.frame", "filter") if known else ("user",))):
                assert what in text, f"no {what} in {verb}: {text[:600]}"
    return check


def reused(bench):
    """An object that was given again while the hooks were away: its life is over, but not its use."""
    with Program(bench, "misuse", "reused", ready="READY", jvm=[
            f"-agentpath:{harness.AGENT}=include=com.app"]) as program:
        program.stop()
        program.process.stdin.write("\n")
        program.process.stdin.flush()
        program.wait_for("TAKEN")
        program.attach("include=com.app")
        program.process.stdin.write("\n")
        program.process.stdin.flush()
        program.wait_for("ORACLE")
        after = Snapshot(program.ask("dump", str(program.pid))).totals
        assert after["steps_after_release"] == 1, {k: v for k, v in after.items() if v}


def while_it_runs(bench):
    """The first one is in the log, a reset forgets them."""
    log = bench.path("log")
    with Program(bench, "misuse", "wait", ready="ORACLE", jvm=[
            f"-agentpath:{harness.AGENT}=include=com.app,log={log},loglevel=warn"]) as program:
        first = Snapshot(program.ask("dump", str(program.pid)))
        same("misuse", first.totals["misuse"], 8)
        same("rows", len([r for r in first.doc["misuse"] if r["use"] != "step"]), len(EXPECTED))
        assert first.totals["steps_after_release"] > 200, first.totals
        program.ask("reset", str(program.pid))
        later = Snapshot(program.ask("dump", str(program.pid)))
        same("after a reset", (later.totals["misuse"], later.totals["steps_after_release"],
                               later.doc["misuse"]), (0, 0, []))
        same("exit", program.end(), 0)
    with open(log, encoding="utf-8") as file:
        said = [line for line in file if "USED AFTER RELEASE" in line]
        file.seek(0)
        same("steps in the log", [line for line in file if "RECEIVED" in line], [])
    same("lines in the log", len(said), 1)
    assert "released again by com.app.Misuse.releaseAgain" in said[0], said


def attached(bench):
    """Into a JVM that has Netty's exception already, and out: it is changed, and as it was again."""
    with Program(bench, "misuse", "twice", ready="READY") as program:
        before = bodies(program, "before")
        program.attach("include=com.app")
        changed = [m for m, body in bodies(program, "during").items() if before.get(m) != body]
        assert any("IllegalReferenceCountException;.<init>" in m for m in changed), changed
        program.process.stdin.write("\n")
        program.process.stdin.flush()
        program.wait_for("ORACLE")
        same("misuse", Snapshot(program.ask("dump", str(program.pid))).totals["misuse"], 8)
        program.stop()
        after = bodies(program, "after")
        same("bodies after stop", [m for m in before if after.get(m) != before[m]], [])


def cases():
    for version in ("4.1.48.Final", "4.1.140.Final", "4.2.20.Final"):
        yield Case(f"misuse/{version.replace('.Final', '')}", "com.app.Probes", "misuse",
                   netty=version, check=all_of_it(True), jdk=(11, 17, 21, 25),
                   short={"4.1.140.Final": (17, 21), "4.2.20.Final": (25,)}.get(version, (11,)),
                   quick=version == "4.1.140.Final")
    yield Case("misuse/interpreter", "com.app.Probes", "misuse", jvm=["-Xint"], check=all_of_it(True),
               jdk=(17,))
    yield Case("misuse/paranoid", "com.app.Probes", "misuse", check=all_of_it(True), jdk=(17,),
               jvm=["-Dio.netty.leakDetection.level=PARANOID"])
    yield Scenario("misuse/attached", attached, jdk=(17, 25), short=(17,))
    yield Scenario("misuse/reused", reused, jdk=(17, 25), short=(17,))
    yield Scenario("misuse/while it runs", while_it_runs, jdk=(17,))
    yield Case("misuse/map mode", "com.app.Probes", "misuse", check=all_of_it(False), jdk=(17, 25),
               jvm=["-javaagent:@OUT@/other-agent.jar=load"])
