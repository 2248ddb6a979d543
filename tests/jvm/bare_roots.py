"""rootCallers= (bare_roots/*, ADR 49): for whom a root allocates whose buffers reach no followed method."""

import re

from harness import Case
from snapshot import same

OWN = "com.app.BareRoots."
LIBRARY = "com.other.Elsewhere.run"
STACKS = 1024  # of one round


def rows(run):
    """(kind, name of the caller) -> (sampled, leaked), of the one root"""
    doc, found = run.json.doc, {}
    for row in doc.get("allocated_for", []):
        site = run.json.sites[row["caller"]]
        name = f'{site["class"]}.{site["method"]}'
        assert (row["kind"], name) not in found, doc["allocated_for"]
        found[row["kind"], name] = row["sampled"], row["leaked"]
    assert len({row["root"] for row in doc.get("allocated_for", [])}) <= 1, doc["allocated_for"]
    return found


def outcomes(run):
    for name in ("leaked", "released", "live", "lives"):
        same(name, run.json.totals[name], run.oracle[name])
    for name in ("raced_steps", "dropped_steps", "unknown", "misuse", "internal_errors"):
        same(name, run.json.totals[name], 0)
    same("lost at bare roots", [len(path) for path in run.json.leaked_at()], [1])


def named(run):
    """Who loses them is named by the samples that leaked; who releases them is never among those."""
    outcomes(run)
    found = rows(run)
    same("callers", set(found), {("followed", OWN + "lose"), ("followed", OWN + "keep"),
                                 ("nearest", LIBRARY)})
    lost, leaked = found["followed", OWN + "lose"]
    kept, wrong = found["followed", OWN + "keep"]
    same("released ones that leaked", wrong, 0)
    assert 20 <= leaked <= lost, found
    assert 0.7 * lost < kept / 2 < 1.4 * lost, found  # as they took turns
    assert lost + kept + found["nearest", LIBRARY][0] <= STACKS, found
    text = run.client("tree", run.json_path)[0]
    assert re.search(r"^   allocated for BareRoots\.lose \(\d+ of \d+ sampled\); no followed method on "
                     r"the stack, nearest Elsewhere\.run \(\d+ of \d+\)$", text, re.M), text
    text = run.client("llm", run.json_path)[0]
    assert re.search(r"\|allocated_for=BareRoots\.lose \d+/\d+, no followed method on the stack, nearest "
                     r"Elsewhere\.run \d+/\d+\|allocated_for_sample=leaked\|", text), text


def off(run):
    outcomes(run)
    same("rows", rows(run), {})
    assert "allocated for" not in run.client("tree", run.json_path)[0]


def reset(run):
    """A report of a running JVM has the rows; a reset removes them."""
    assert run.snapshot().doc["allocated_for"], "no rows"
    run.client("reset", str(run.pid))
    assert "allocated_for" not in run.snapshot().doc, "after a reset"


def cases():
    own = ["-Dio.netty.allocator.type=pooled"]

    def case(name, *args, options="rootCallers=16", **more):
        return Case(f"bare_roots/{name}", "com.app.BareRoots", "3000", *args,
                    agent=f"include=com.app.BareRoots,{options}", jvm=more.pop("jvm", own), **more)
    yield case("named", check=named, quick=True)
    yield case("virtual", "virtual", check=named, jdk=(21, 25), short=(25,))
    yield case("off", check=off, options="rootCallers=0", short=(17,))
    yield case("reset", live=reset, jvm=[*own, "-Dbare.wait=on"], short=(25,))
