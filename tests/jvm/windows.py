"""duty=: lives that begin in a window are followed. None is leaked that was released, what is lost is
found at its rate, and no path lacks a step without saying so."""

import math
import time

from attach import NO_LEAK_DETECTOR, Older
import harness
from harness import Case, Scenario
from names import relocated, with_field
from snapshot import Snapshot, same

GAP = "(later steps were not watched)"
APP = "com.app.Watched."
BEGUN = (APP + "plain", APP + "begin", APP + "look", APP + "middle")
WHOLE = {BEGUN + (APP + "end",),
         BEGUN + (APP + "keep", "com.app.Watched$Worker.resumeDue", APP + "goOn", APP + "end")}
LOST = BEGUN + (APP + "lose",)
DUTY = "include=com.app,duty=20%,windowMillis=4,track=com.app.Watched$Session:close"


def followed(picture):
    """Plain buffers that were followed."""
    return picture.passed(APP + "plain")


def paths_are_whole(picture):
    """Each path of a plain buffer is one that the program has, or says that steps are missing."""
    gaps = 0
    for n in picture.nodes.values():
        path = picture.path(n)[1:]
        if path[:1] != BEGUN[:1] or not (n["released"] or n["leaked"]):
            continue
        ended = path[:-1] if n["released"] else path
        if GAP in ended:
            gaps += 1
            same("steps behind a gap", ended[-1], GAP)
            ended = ended[:-1]
            assert any(ended == w[:len(ended)] for w in (*WHOLE, LOST)), path
        elif n["released"]:
            assert ended in WHOLE, path
        else:
            same("a lost buffer's path", ended, LOST)
    return gaps


def honest(picture, oracle, lose):
    totals = picture.totals
    for name in ("unknown", "held", "undone", "internal_errors", "misuse", "dropped_lives"):
        same(name, totals.get(name, 0), 0)
    assert not [r for r in picture.roots() if "first-seen" in r], picture.roots()
    assert "duty: only buffers allocated in " in picture.notes(), picture.notes()
    n = followed(picture)
    assert 0 < n < oracle["plain"], (n, oracle)
    # A step that was under way at the end of its window: rare, and counted.
    assert totals["raced_steps"] <= 20 + n // 1000, totals
    expected = n * oracle["lost"] / oracle["plain"]
    assert abs(totals["leaked"] - expected) <= 6 * math.sqrt(expected) + 3 * bool(lose), \
        f"{totals['leaked']} leaked, {expected} expected"
    assert totals["leaked"] <= oracle["lost"], (totals, oracle)


def judged(lose):
    def check(run):
        honest(run.json, run.oracle, lose)
        many = followed(run.json) > 1000  # else on a machine that is busy otherwise
        assert paths_are_whole(run.json) > 0 or not many
        assert run.json.passed(APP + "session") > 0 or not many
        same("live", run.json.totals["live"], 0)
        # What a pool gives again has its next life on the same record; a few dozen lives are open at a time.
        used = run.json.doc["limits"]["maxLives"]["used"]
        assert used <= 512 or lose, used
    return check


def nothing_lost(run, *notes):
    """A picture of the running program, which loses nothing."""
    picture = run.snapshot("--gc")
    for name in ("leaked", "held", "undone", "internal_errors"):
        same(name, picture.totals[name], 0)
    assert not [r for r in picture.roots() if "first-seen" in r], picture.roots()
    for note in notes:
        assert note in picture.notes(), picture.notes()
    return picture


def changed(run):
    """duty= is changed, counters and nodes are reset, and bbflow goes and comes back; what was opened
    before is neither lost nor invented."""
    pid = str(run.pid)
    for name, value in (("duty", "100%"), ("duty", "off"), ("windowMillis", "1"), ("duty", "5%")):
        run.client("set", pid, f"{name}={value}")
        time.sleep(0.2)
        assert followed(nothing_lost(run)) > 0
    out, err = run.client("set", pid, "sample=2", code=5)
    assert "not together with" in out + err, out + err
    run.client("reset", "--nodes", pid)
    run.client("set", pid, "duty=50%")
    time.sleep(0.3)
    assert followed(nothing_lost(run, "duty: only buffers allocated in ")) > 0
    run.client("stop", pid)


def again(run):
    """The same, and back by attaching: the report at exit is of that."""
    changed(run)
    run.client("attach", "--agent", harness.AGENT, str(run.pid), DUTY, f"file={run.json_path}")
    time.sleep(0.5)
    assert followed(nothing_lost(run)) > 0


class Attached(Older):
    """The JVM had Netty before bbflow came: map mode."""

    def come_in(self, run):
        super().come_in(run)
        time.sleep(0.5)
        assert nothing_lost(run).doc["jvm"]["map_mode"]
        again(run)


def at_exit(run):
    for name in ("leaked", "held", "undone", "internal_errors"):
        same(name, run.json.totals[name], 0)
    paths_are_whole(run.json)


def loaded_before(run):
    """An agent that starts before us has loaded ByteBuf: its buffers are found by a table, and as exactly."""
    reason, = run.json.doc["jvm"]["map_mode"]
    assert "it was loaded before bbflow" in reason, reason
    same("untracked_classes", run.json.totals["untracked_classes"], 0)
    judged(200)(run)


def no_field(bench):
    """It was not known at the start that this ByteBuf cannot have the hidden field, and hooks rely on that, so its
    buffers are not followed. The report says so, and what to do, which works."""
    def run(name, duty):
        out = bench.path(name + ".json")
        done = bench.run([bench.jdk.java, f"-agentpath:{harness.AGENT}={DUTY.replace('duty=20%', duty)},gc=exit,file={out}", "-cp",
                          jar, NO_LEAK_DETECTOR, "com.app.Probes", "watched", "300", "2", "200"])
        same(f"exit ({done.stderr[-500:]})", done.returncode, 0)
        with open(out, encoding="utf-8") as file:
            return Snapshot(file.read())
    jar = relocated(bench.path("no-field.jar"), {"corp/shaded/io/netty/buffer/ByteBuf.class": with_field})
    picture = run("seldom", "duty=20%")
    same("ByteBuf classes that are not followed", picture.totals["untracked_classes"], 1)
    same("passed", followed(picture), 0)
    for name in ("leaked", "unknown", "held", "undone", "internal_errors", "misuse"):
        same(name, picture.totals.get(name, 0), 0)
    same("map mode", picture.doc["jvm"]["map_mode"], [])
    assert ("corp.shaded.io.netty.buffer.ByteBuf has no place for bbflow's mark: it is not Netty's ByteBuf. It is not followed; "
            "duty=50% or more from the start follows it") in picture.notes(), picture.notes()
    picture = run("often", "duty=50%")
    assert followed(picture) > 0 and picture.totals["leaked"] > 0, picture.totals
    same("ByteBuf classes that are not followed", picture.totals["untracked_classes"], 0)


def cases():
    for lose in (0, 200):
        yield Case(f"windows/one in {lose} lost" if lose else "windows/clean", "com.app.Probes", "watched",
                   "1000", "2", str(lose), agent=DUTY, check=judged(lose),
                   jvm=[NO_LEAK_DETECTOR, "-XX:TieredStopAtLevel=4"], short=(25,) if lose else (17,))
    yield Case("windows/ByteBuf is there before", "com.app.Probes", "watched", "1000", "2", "200", agent=DUTY,
               check=loaded_before, jvm=["-javaagent:@OUT@/other-agent.jar=load", NO_LEAK_DETECTOR], short=(25,))
    yield Scenario("windows/ByteBuf cannot have the field", no_field, short=(17,))
    yield Case("windows/set, stop, attach", "com.app.Probes", "watched", "0", "2", "0", agent=DUTY, live=again,
               check=at_exit, jvm=[NO_LEAK_DETECTOR], short=(25,))
    yield Attached("windows, set, stop, attach", "watched", "0", "2", "0", options=("duty=20%", "windowMillis=4"),
                   check=at_exit, jvm=[NO_LEAK_DETECTOR], short=(17,))
