"""Reports that have been misread (issue "Locks and first contact", 5): what the first lines say of each
loss, and whose bytes they count with it."""

import re

from harness import Case
from snapshot import same


def first_lines(run):
    """The first divergence: "1. ..." and what belongs to it."""
    text = re.sub(r" \(id [0-9a-f]{16}\)", "", run.client("tree", run.json_path)[0])  # names.py has the ids
    return text.split("\n1. ", 1)[1].split("\n2. ")[0].split("\n\n")[0].split("\n")


def says(*lines):
    def check(run):
        same("first lines", [line.strip() for line in first_lines(run)], list(lines))
    return check


NOWHERE = "none of these is released anywhere"


def charged(line, leaked, live):
    """Leaked and live bytes of the report, which has been made before anything but the lost buffers
    was collected."""
    def check(run):
        same("first line", first_lines(run)[0], line)
        totals = run.json.totals
        same("leaked, live", (totals["leaked_bytes"], totals["live_bytes"]), (leaked, live))
        assert "(0 B" not in run.client("summary", run.json_path)[0].split("=== Leaks")[1]
    return check


def cases():
    def blame(name, check, **more):
        return Case(f"blame/{name}", "com.app.Probes", "blame", name, check=check, short=(17,), **more)
    yield blame("composite", says(
        "20 of 40 (50.00%) that reach Blame.composite end there: 1.3 KiB direct",
        "20 of 40 (50.00%) are released there"))
    yield blame("nowhere", says(
        "40 of 40 (100.00%) of PooledByteBufAllocator.heapBuffer reach no followed method: 5.0 KiB "
        "heap", NOWHERE), agent="include=com.app.Gc")
    yield blame("wrap", says(
        "40 of 40 (100.00%) of PooledByteBufAllocator.directBuffer end in Blame.wrap: 4.7 KiB direct",
        "by way of Blame.run -> Blame.wrap -> Blame.keep -> Blame.wrapped, or 3 other ways", NOWHERE))
    yield blame("components", charged(
        "40 of 40 (100.00%) of AbstractByteBufAllocator.compositeBuffer end in Blame.components: "
        "10.0 KiB direct", 40 * 256, 0), quick=True)
    yield blame("kept", charged(
        "40 of 40 (100.00%) of ByteBuf.retained in Blame.kept end in Blame.kept, which lent it to "
        "Blame.take: 39.1 KiB direct",
        40_000, 0), quick=True)
    yield blame("duplicate", charged(
        "40 of 40 (100.00%) of ByteBuf.retained in Blame.duplicate end in Blame.duplicate, which lent "
        "it to Blame.take: 39.1 KiB direct",
        40_000, 0))
