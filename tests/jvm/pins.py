"""What pins the memory (issue 23, point 7): a few small buffers keep chunks that have nothing else."""

import re

from harness import Case
from snapshot import same


def pinned_rows(doc):
    return {(row["pool"], row["memory"]): row for row in doc["reconciled"]["pools"]
            if row.get("pinned_chunks", 0) > 0}


def pins(pool, memory, sizes):
    """One buffer in each chunk: all of them at Keeper.keep, with the bytes that the program counted."""
    def live(run):
        picture = run.snapshot()
        run.stdout = run.read("stdout")
        run.check_oracle()
        says, doc = run.oracle, picture.doc
        rows = pinned_rows(doc)
        same("pools", list(rows), [(pool, memory)])
        row, = rows.values()
        same("chunks", (row["pinned_chunks"], row["pinned_bytes"], row["pinned_by"]),
             (says["chunks"], says["reserved"], says["chunks"]))
        assert says["chunks"] > 2, says
        assert 0 < row["reserved"] - row["pinned_free"] < row["reserved"] // 4, row
        pin, = doc["pins"]
        same("path", pin["path"][-1], "com.app.Pins$Keeper.keep")
        same("row", (pin["pool"], pin["memory"], pin["buffers"], pin["bytes"], pin["chunks"],
                     pin["reserved"], pin["smallest"], pin["largest"]),
             (pool, memory, says["chunks"], says["bytes"], says["chunks"], says["reserved"], *sizes))
        text_says(run, says["chunks"], memory)
    return live


def text_says(run, n, memory):
    pid = str(run.pid)
    line = f"{n} of {n} at Pins$Keeper.keep, "
    text = run.client("summary", pid)[0]
    assert "=== Chunks Pinned by Small Buffers ===" in text and line in text, text
    assert re.search(r"\|at=Pins\$Keeper\.keep$", run.client("llm", pid)[0], re.M)
    text = run.client("why", pid)[0]
    assert (line in text) == (memory == "direct"), text
    shares = re.findall(r"^  \S.*  ([\d.]+)%$", text, re.M)
    if memory == "heap" and re.search(r"^0 B of direct memory", text, re.M):
        return
    same("shares", len(shares), 6)
    assert abs(sum(map(float, shares)) - 100) <= 0.06, text


def nothing_pinned(run):
    doc = run.snapshot().doc
    same("pools", pinned_rows(doc), {})
    assert "pins" not in doc, doc["pins"]
    assert "Pinned" not in run.client("summary", str(run.pid))[0]
    text = run.client("why", str(run.pid))[0]
    assert re.search(r"^  pinned by small buffers +0 B  0\.00%$", text, re.M), text


def sampled(run):
    """One buffer in four is followed: what is found is a lower bound, and adaptive chunks are not."""
    doc = run.snapshot().doc
    run.stdout = run.read("stdout")
    run.check_oracle()
    row = pinned_rows(doc).get(("pooled", "direct"), {"pinned_chunks": 0, "pinned_by": 0})
    assert row["pinned_chunks"] == row["pinned_by"] <= run.oracle["chunks"], row
    if row["pinned_chunks"]:
        assert f"at least {row['pinned_chunks']} chunk" in run.client("summary", str(run.pid))[0]


def cases():
    caches = "-Dio.netty.allocator.useCacheForAllThreads=true"
    for version in ("4.1.48.Final", "4.1.140.Final", "4.2.20.Final"):
        for pool in ("pooled", "adaptive"):
            for memory in ("direct", "heap"):
                if pool == "adaptive" and version != "4.2.20.Final":
                    continue
                kind = [f"-Dio.netty.allocator.type={pool}", caches, "-Xmx512m", "-Xcheck:jni"]
                sizes = (840, 1000) if pool == "adaptive" else (40, 200)
                yield Case(f"pins/{version[:-6]} {pool} {memory}", "com.app.Pins", pool, memory,
                           "keep", "5", netty=version, jvm=kind, live=pins(pool, memory, sizes),
                           quick=version == "4.2.20.Final" and memory == "direct")
        yield Case(f"pins/{version[:-6]} nothing", "com.app.Pins", "pooled", "direct", "nothing", "5",
                   netty=version, jvm=[caches, "-Dio.netty.allocator.type=pooled"],
                   live=nothing_pinned)
    yield Case("pins/adaptive nothing", "com.app.Pins", "adaptive", "direct", "nothing", "5",
               netty="4.2.20.Final", jvm=[caches, "-Dio.netty.allocator.type=adaptive"],
               live=nothing_pinned)
    yield Case("pins/sampled", "com.app.Pins", "pooled", "direct", "keep", "5",
               agent="include=com.app,sample=4", live=sampled,
               jvm=[caches, "-Dio.netty.allocator.type=pooled"])
