"""Memory over time by path (issue 23, point 7): byte-seconds, and what was never written."""

import re

from harness import Case
from snapshot import same

PART_WRITTEN = 4  # the probe writes one byte in four


FORMS = ("plain", "grown", "cleared", "part", "owner", "lose", "keep")


def form_of(row):
    """Each form of the probe passes a method of its own last; some return the buffer to their caller."""
    steps = [step.rsplit(".", 1)[-1] for step in row["path"]]
    return next(step for step in reversed(steps) if step in FORMS)


def rows_of(doc):
    rows = {form_of(row): row for row in doc["usage"]}
    same("a row for each form", len(rows), len(doc["usage"]))
    return rows


def check_form(name, row, says, memory):
    lives, size = says[name + "_lives"], says[name + "_bytes"]
    same(f"{name}: lives", (row["lives"], row["measured"], row["not_read"]), (lives, lives, 0))
    same(f"{name}: bytes", (row["memory"], row["measured_bytes"]), (memory, size))
    same(f"{name}: all are measured", row["measured_byte_seconds"], row["byte_seconds"])
    # A life counts the seconds that begin while it is open: one more or less than its length. On a
    # busy machine the agent's thread begins a second late.
    wanted = says[name + "_byte_seconds"]
    assert abs(row["byte_seconds"] - wanted) <= 1.1 * size, (name, row, wanted)
    assert 0.65 * wanted <= row["byte_seconds"] <= 1.35 * wanted, (name, row, wanted)


def over_time(memory):
    def live(run):
        pid, names = str(run.pid), ("plain", "grown", "cleared", "part", "owner")
        run.client("tree", "--gc", pid)
        doc = run.snapshot().doc
        run.stdout = run.read("stdout")
        run.check_oracle()
        says, rows = run.oracle, rows_of(doc)
        for name in names:
            check_form(name, rows[name], says, memory)
        for name in ("plain", "part", "owner"):
            row = rows[name]
            same(f"{name}: written", row["unwritten_byte_seconds"] * PART_WRITTEN,
                 row["measured_byte_seconds"] * (PART_WRITTEN - 1))
        row, capacity = rows["grown"], says["grown_bytes"] // says["rounds"]
        same("grown: written", row["unwritten_byte_seconds"] * capacity,
             row["measured_byte_seconds"] * (capacity - 10_000))
        row = rows["cleared"]
        same("cleared: nothing, says its writerIndex", row["unwritten_byte_seconds"],
             row["measured_byte_seconds"])
        for name in ("lose", "keep"):
            row = rows[name]
            same(f"{name}: not measured", (row["lives"], row["measured"]), (1, 0))
            assert row["byte_seconds"] % 4096 == 0 and row["byte_seconds"] >= 4096, row
        same("rows", set(rows), set(FORMS))
        same("sum", doc["usage_of"]["unlisted"], 0)
        texts(run, pid, memory)
        switched(run, pid)
    return live


def texts(run, pid, memory):
    text = run.client("why", pid, code=10)[0]
    assert re.search(r"^over \d+ s [\d.]+ [KM]?i?B were open on average:$", text, re.M), text
    assert re.search(rf"^      [\d.]+ [KM]?i?B {memory} \([\d.]+%\) at Usage\.\w+, after Usage\.\w+$", text, re.M), text
    line = rf"^  ?\d[\d.]* [KM]?i?B {memory} at Usage\.open, after Usage\.part: 4\.0 KiB asked, 25\.00% of it written \(mean of 40 buffers\)$"
    text = run.client("summary", pid)[0]
    assert "=== Memory over Time ===" in text and re.search(line, text, re.M), text
    text = run.client("llm", pid)[0]
    assert re.search(rf"^memory={memory}\|lives=20\|.*\|not_read=0\|at=Usage\.plain$", text, re.M), text


def switched(run, pid):
    """A reset forgets what ended; usage=off shows nothing, and on begins anew."""
    run.client("reset", pid)
    doc = run.snapshot().doc
    same("after a reset", {form_of(row) for row in doc.get("usage", [])} - {"keep"}, set())
    run.client("set", pid, "usage=off")
    doc = run.snapshot().doc
    assert "usage" not in doc and "usage_of" not in doc
    assert "on average" not in run.client("why", pid)[0]
    run.client("set", pid, "usage=on")


def cases():
    pooled = "-Dio.netty.allocator.type=pooled"
    for name, pool, memory, netty, jdk, jvm in (
            ("pooled direct", "pooled", "direct", "4.1.140.Final", 25, []),
            ("adaptive heap", "adaptive", "heap", "4.2.20.Final", 17, []),
            ("map, unpooled heap", "unpooled", "heap", "4.1.48.Final", 17,
             ["-javaagent:@OUT@/other-agent.jar=load"])):
        yield Case("usage/" + name, "com.app.Usage", pool, memory, netty=netty, jvm=[pooled, *jvm],
                   live=over_time(memory), jdk=(jdk,), quick=pool == "pooled")
