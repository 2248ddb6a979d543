"""include= that matches no class yet (ADR 29): nothing is followed, then all that comes."""

from attach import NO_LEAK_DETECTOR, Program
from harness import Case, Scenario
from snapshot import Snapshot, same

COUNTED = ("lives", "live", "released", "leaked", "unknown", "dropped_steps", "misuse",
           "internal_errors")


def is_idle(picture):
    for name in COUNTED:
        same(f"{name} while no class matches", picture.totals[name], 0)
    notes = picture.doc["notes"]
    assert any("include matches no class yet" in note for note in notes), notes


def nothing_yet(run):
    is_idle(run.snapshot())


def matches_then(run):
    nothing_yet(run)
    run.client("set", str(run.pid), "include=com.other.Other")


def all_of_it(run):
    for name in ("lives", "live", "released", "leaked", "unknown"):
        same(name, run.json.totals[name], run.oracle[name])
    for name in ("dropped_steps", "raced_steps", "internal_errors", "misuse"):
        same(name, run.json.totals[name], 0)
    assert not any("matches no class" in note for note in run.json.doc["notes"])


def never(run):
    for name in COUNTED:
        same(name, run.json.totals[name], 0)
    text, _ = run.client("tree", run.json_path)
    assert "include matches no class yet: no buffer is followed until one loads" in text, text


def attached(bench):
    """A ByteBuf without the field: what is alive at its first sight is followed to its end, so the
    one of those from before that is lost is also a leak."""
    with Program(bench, "idle", ready="READY", jvm=[NO_LEAK_DETECTOR]) as program:
        program.attach("include=com.other.Other")
        is_idle(Snapshot(program.ask("dump", str(program.pid))))
        program.process.stdin.write("\n")
        program.process.stdin.flush()
        program.wait_for("ORACLE")
        oracle = dict(word.split("=") for word in program.read(0).split("ORACLE ")[1].split())
        totals = Snapshot(program.ask("dump", "--gc", str(program.pid))).totals
        same("lives", totals["lives"], int(oracle["lives"]))
        same("released", totals["released"], int(oracle["released"]))
        same("leaked", totals["leaked"], int(oracle["leaked"]) + int(oracle["unknown"]))
        same("internal_errors", totals["internal_errors"], 0)
        same("exit", program.end(), 0)


def cases():
    everywhere = {"jdk": (11, 17, 21, 25)}
    yield Case("idle/until a class loads", "com.app.Probes", "idle", live=nothing_yet, check=all_of_it,
               agent="include=com.other.Other", quick=True, **everywhere)
    yield Case("idle/until it is set", "com.app.Probes", "idle", "loaded", live=matches_then,
               check=all_of_it, agent="include=no.such.application", short=(17,), **everywhere)
    yield Scenario("idle/attached", attached, **everywhere, short=(21,))
    yield Case("idle/for good", "com.app.Probes", "cycles", "pooled", "on", "1", check=never,
               agent="include=no.such.application", short=(25,), **everywhere)
