"""Since when, how fast, when direct memory ends (issue 23, point 6)."""

import os
import re
import time

from ages import NO_CLEANER
from harness import Case
from snapshot import same

LIMIT = 96


def rows_of(doc, kind):
    """(last step, memory) -> row"""
    names = {site["id"]: site["name"] for site in doc["sites"]}
    steps = {node["id"]: names[node["site"]] for node in doc["nodes"]}
    return {(steps[row["node"]], row["memory"]): row for row in doc["growth"] if row["of"] == kind}


def until(run, what, look):
    end = time.monotonic() + 40
    while True:
        found = look()
        if found or time.monotonic() > end:
            assert found, what
            return found
        time.sleep(1)


def says_all(run, *where):
    """The lines of `why`, once there are enough intervals for all of them."""
    wanted = (r"^growth: direct buffers are lost since \d\d:\d\dZ, [\d.]+ .iB/(min|h) \(mean of .*\)$",
              r"^growth: Growing\.queue holds [\d.]+ .iB direct for more than 1 s, ",
              rf"^growth: direct memory ends in .* of at most {LIMIT}\.0 MiB are used$",
              r"end in Growing\.lose: .* direct, since \d\d:\d\dZ, ")
    text = run.client("why", *where, code=10)[0]
    return text if all(re.search(line, text, re.M) for line in wanted) else None


def growing(run):
    pid = str(run.pid)
    until(run, "why does not say how it grows", lambda: says_all(run, pid))
    path = os.path.join(run.folder, "growing.json")
    run.client("dump", pid, "-o", path)
    doc = run.snapshot().doc
    row = rows_of(doc, "lost")["com.app.Growing.lose", "direct"]
    same("histories of losses", list(rows_of(doc, "lost")), [("com.app.Growing.lose", "direct")])
    same("lost", (sum(row["lives"]), sum(row["bytes"])),
         (doc["totals"]["leaked"], doc["totals"]["leaked_bytes"]))
    assert row["first"] < row["last"] <= doc["captured_at"], row
    held = rows_of(doc, "held")
    # A loss is held until two collections have found it, which a busy machine delays.
    lost_yet = held.pop(("com.app.Growing.lose", "direct"), {"lives": [0]})
    assert max(lost_yet["lives"]) < sum(row["lives"]), (lost_yet, row)
    same("histories of what is held", list(held), [("com.app.Growing.queue", "direct")])
    lives = held["com.app.Growing.queue", "direct"]["lives"]
    same("nothing leaves the queue", lives, sorted(lives))
    assert 0 < lives[-1] <= doc["totals"]["live"], (lives, doc["totals"])
    reconciled = doc["reconciled"]
    same("a limit for Netty's counter", "direct_limit" in reconciled, "used_direct" in reconciled)
    limits = [reconciled[name] for name in ("direct_limit", "nio_limit") if name in reconciled]
    same("limits", set(limits), {LIMIT << 20})
    assert says_all(run, path), run.client("why", path, code=10)[0]
    assert re.search(r"^   since \d\d:\d\dZ, [\d.]+ .iB/", run.client("tree", pid)[0], re.M)
    assert re.search(r"^of=lost\|memory=direct\|.*\|at=Growing\.lose$", run.client("llm", pid)[0], re.M)
    run.client("reset", pid)
    again = rows_of(run.snapshot().doc, "lost").get(("com.app.Growing.lose", "direct"), {"lives": []})
    assert sum(again["lives"]) < sum(row["lives"]), (again, row)


def cases():
    yield Case("growth/why", "com.app.Growing", agent="include=com.app,growthSeconds=1,growthKeep=120",
               jvm=[f"-XX:MaxDirectMemorySize={LIMIT}m", "-Dio.netty.allocator.type=pooled", "-Xmx64m", *NO_CLEANER],
               live=growing, short=(17,), quick=True)
