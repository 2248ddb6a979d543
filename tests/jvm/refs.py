"""refs=on: the balance of retain and release by the methods that call them (issue 6, point 5)."""

import os
import re
import time

from harness import Case
from snapshot import same

ROOT = "io.netty.buffer.PooledByteBufAllocator.directBuffer"
OWN = "com.app.Refs."
REDEFINED_S = float(os.environ.get("BBF_REDEFINED_S", "3"))


def names(*methods):
    return [OWN + m for m in methods]


def balance(run):
    outcomes(run)
    row, = run.json.doc["leaks"]
    same("path", row["path"], [ROOT] + names("run", "keep", "keep_retain", "push", "push_retain",
                                             "pop", "pop_release", "hold", "hold_release",
                                             "bundle", "bundle_retain", "bundle_release", "forget",
                                             "forget_retain"))
    same("retained by", row["retained_by"], names("keep", "push", "bundle", "forget"))
    same("released by", row["released_by"], names("pop", "hold", "bundle"))
    same("references", row["references"], 6)
    same("released in the end", run.json.passed(OWN + "drop_release"), 5)
    text, _ = run.client("summary", run.json_path)
    assert ("  retained by Refs.keep, Refs.push, Refs.bundle, Refs.forget; released by Refs.pop, "
            "Refs.hold, Refs.bundle: 2 references left of each\n") in text, text
    text = re.sub(r"\|owner=[^|]*", "", run.client("llm", run.json_path)[0])
    assert ("|references=6|retained_by=Refs.keep, Refs.push, Refs.bundle, Refs.forget|released_by="
            "Refs.pop, Refs.hold, Refs.bundle|") in text, text


def outcomes(run):
    for name in ("leaked", "released", "live"):
        same(name, run.json.totals[name], run.oracle[name])
    for name in ("raced_steps", "dropped_steps", "unknown"):
        same(name, run.json.totals[name], 0)


def off(run):
    outcomes(run)
    row, = run.json.doc["leaks"]
    same("path", row["path"], [ROOT] + names("run", "keep", "push", "pop", "hold", "bundle",
                                             "forget"))
    same("references", row["references"], 6)
    assert "retained_by" not in row and "released_by" not in row, row


def while_it_runs(run):
    """On and off in a running JVM."""
    step = "com.app.Steps.done_release"
    same("before", run.snapshot().passed(step), 0)
    run.client("set", str(run.pid), "refs=on")
    time.sleep(0.5)
    assert run.snapshot().passed(step) > 0, "no such step"
    run.client("set", str(run.pid), "refs=off")
    first = run.snapshot().passed(step)
    time.sleep(0.5)
    same("after", run.snapshot().passed(step), first)


def redefined(run):
    """Classes on the stacks are retransformed meanwhile: their old bodies have no jmethodID yet."""
    until = time.monotonic() + REDEFINED_S
    while time.monotonic() < until:
        for include in ("com.other", "com.app"):
            run.client("set", str(run.pid), f"include={include}")


def after_redefined(run):
    """Every life; before JDK 23 a call may not get its turn to ask for its stack (ADR 28), so while
    its owner is stopped for a retransformation."""
    totals, lives = run.json.totals, run.oracle["released"]
    for name in ("leaked", "released", "live"):
        same(name, totals[name], run.oracle[name])
    for name in ("raced_steps", "unknown", "internal_errors"):
        same(name, totals[name], 0)
    same("misuse", totals["misuse"], lives)
    dropped = totals["dropped_steps"]
    assert lives > 1000, f"{lives} lives"
    assert 2 * dropped < 5 * lives, f"{dropped} steps dropped of {lives} lives"  # of 3 each
    named = run.json.passed("com.app.Redefined$Hop.accept_retain")
    assert named + dropped >= lives, f"{named} retains named, {dropped} dropped, of {lives}"


def cases():
    for version in ("4.1.48.Final", "4.1.140.Final", "4.2.20.Final"):
        yield Case(f"refs/on {version.replace('.Final', '')}", "com.app.Probes", "refs", netty=version,
                   check=balance, jdk=(11, 17, 21, 25), agent="include=com.app,refs=on",
                   short={"4.1.140.Final": (17, 21), "4.2.20.Final": (25,)}.get(version, (11,)),
                   quick=version == "4.1.140.Final")
    yield Case("refs/map mode", "com.app.Probes", "refs", check=balance, jdk=(17,),
               agent="include=com.app,refs=on", jvm=["-javaagent:@OUT@/other-agent.jar=load"])
    yield Case("refs/redefined", "com.app.Probes", "redefined", live=redefined,
               check=after_redefined, jdk=(11, 17, 21, 25), agent="include=com.app,refs=on",
               short=(17,))
    yield Case("refs/off", "com.app.Probes", "refs", check=off, jdk=(17,))
    yield Case("refs/while it runs", "com.app.Probes", "serve", live=while_it_runs,
               check=lambda run: None, jdk=(17,))
