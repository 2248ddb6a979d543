"""include= that matches no class yet (ADR 29): nothing is followed, then all that comes."""

from harness import Case
from snapshot import same

COUNTED = ("lives", "live", "released", "leaked", "unknown", "dropped_steps", "misuse",
           "internal_errors")


def nothing_yet(run):
    first = run.snapshot()
    for name in COUNTED:
        same(f"{name} while no class matches", first.totals[name], 0)
    notes = first.doc["notes"]
    assert any("include matches no class yet" in note for note in notes), notes


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


def cases():
    everywhere = {"jdk": (11, 17, 21, 25)}
    yield Case("idle/until a class loads", "com.app.W", "idle", live=nothing_yet, check=all_of_it,
               agent="include=com.other.Other", quick=True, **everywhere)
    yield Case("idle/until it is set", "com.app.W", "idle", "loaded", live=matches_then,
               check=all_of_it, agent="include=no.such.application", short=(17,), **everywhere)
    yield Case("idle/for good", "com.app.W", "cycles", "pooled", "on", "1", check=never,
               agent="include=no.such.application", short=(25,), **everywhere)
