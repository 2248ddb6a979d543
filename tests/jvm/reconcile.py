"""Netty's own numbers beside ours (issue 6, point 9): what its methods tell the program Reconcile is
what the report read by field, and ours explain it."""

import json
import re

from attach import Program
from harness import Case, Scenario
from snapshot import same


def all_explained(run):
    """Thread caches off: Netty's own numbers equal ours, to the buffer and the byte."""
    reconciled = run.json.doc["reconciled"]
    for row in reconciled["pools"]:
        same(f"Netty's buffers, {row}", row.get("netty_lives", row["lives"]), row["lives"])
        same(f"Netty's bytes, {row}", row.get("netty_bytes", row["rounded"]), row["rounded"])
    same("causes", reconciled["causes"], [])


def too(check):
    """What `check` asserts, and that Netty's numbers are explained."""
    def both(run):
        check(run)
        all_explained(run)
    return both


def netty_says(run, picture):
    """Each number of the report is what Netty's methods returned to the program."""
    run.stdout = run.read("stdout")
    run.check_oracle()
    says, doc = run.oracle, picture.doc["reconciled"]
    rows = {(row["pool"], row["memory"]): row for row in doc["pools"]}
    for memory in ("direct", "heap"):
        row = rows["pooled", memory]
        same(f"active {memory}", row["netty_lives"], says[memory])
        same(f"chunks {memory}", row["reserved"], says[memory + "_reserved"])
        # 4.1.48 has no pinned bytes: the program says -2, the sum of two -1.
        same(f"pinned {memory}", row.get("netty_bytes", -2), says[memory + "_bytes"])
        row = rows["unpooled", memory]
        same(f"unpooled {memory}", row["netty_bytes"], says["unpooled_" + memory])
        same(f"our unpooled {memory}", (row["lives"], row["bytes"]), (70, row["netty_bytes"]))
        if ("adaptive", memory) in rows:
            row = rows["adaptive", memory]
            same(f"adaptive {memory}", row["reserved"], says["default_" + memory])
            same(f"our adaptive {memory}", row["lives"], 70)
    same("used direct memory", doc.get("used_direct", -1), says["used_direct"])
    same("java.nio", (doc["nio_reserved"], doc["nio_buffers"]), (says["nio"], says["nio_buffers"]))
    return rows, doc["causes"]


def why_adds_up(run):
    """The shares of `why` are the whole; each is what the dump's numbers say, unless a slow machine
    cut the report short."""
    text = run.client("why", str(run.pid), code=10)[0]
    doc = run.snapshot().doc["reconciled"]
    assert text.startswith("verdict: a leak, "), text
    shares = dict(re.findall(r"^  (lost|still held|pinned by small buffers|in the pools|not Netty's|unexplained)"
                             r" .*  ([\d.]+)%$", text, re.M))
    same("shares", len(shares), 6)
    shares = {name: float(share) for name, share in shares.items()}
    assert abs(sum(shares.values()) - 100) <= 0.05, text
    if "note: " in text or doc["causes"]:
        return
    direct = [row for row in doc["pools"] if row["memory"] == "direct"]
    used, nio = doc.get("used_direct", 0), doc["nio_capacity"]
    total = max(used, nio)  # no program that is tried here has other direct memory
    held = 100 * sum(row["bytes"] for row in direct) / total
    pools = 100 * sum(row["reserved"] - row.get("netty_bytes", row["bytes"]) for row in direct
                      if "reserved" in row) / total
    assert abs(shares["lost"] + shares["still held"] - held) < 2, (text, held, total)
    free = shares["pinned by small buffers"] + shares["in the pools"]
    assert abs(free - pools) < 2, (text, pools, total)
    assert 0 < shares["lost"] < shares["still held"] and shares["not Netty's"] < 2, text


def reconciled(caches, lives):
    def live(run):
        rows, causes = netty_says(run, run.snapshot())
        for memory, expected in zip(("direct", "heap"), lives):
            row = rows["pooled", memory]
            same(f"our {memory}", row["lives"], expected)
            same(f"bytes {memory}", row.get("netty_bytes", row["rounded"]), row["rounded"])
            same(f"in thread caches {memory}", row.get("cached"),
                 None if caches and "netty_bytes" not in row else row["netty_lives"] - row["lives"])
            if caches:
                more = row["netty_lives"] - row["lives"]
                assert more > 0, f"nothing in thread caches: {row}"
                assert any(c.startswith(f"pooled {memory}: {more} ") and "thread caches" in c
                           for c in causes), causes
            else:
                same(f"Netty's {memory}", row["netty_lives"], expected)
        same("causes", len(causes), 2 if caches else 0)
        text = run.client("summary", str(run.pid))[0]
        assert "=== Reconciled with Netty's own numbers ===\n100.00% of " in text, text
        why_adds_up(run)
        # Also after a reset: Netty's counters continue.
        run.client("reset", str(run.pid))
        again, _ = netty_says(run, run.snapshot())
        same("after a reset", again, rows)
    return live


def healthy(run):
    """Everything was released: no number of the report says anything else."""
    for verb in ("tree", "summary"):
        text = run.client(verb, run.json_path)[0]
        assert "Netty has nothing in use\n" in text, text
        assert "explained" not in text, text
    row = run.json.doc["reconciled"]["pools"][0]
    assert row["lives"] == 0 < row["netty_lives"] == row["cached"], row
    cause, = [c for c in run.json.doc["reconciled"]["causes"] if "thread cache" in c]
    assert cause.startswith(f"pooled direct: {row['cached']} released buffers wait in "), cause


def not_told(run):
    """4.1.48 counts released buffers in thread caches as allocations, and has no pinned bytes."""
    text = run.client("tree", run.json_path)[0]
    assert "Reconciled: Netty does not tell what of its memory is in use\n" in text, text
    assert "this Netty does not say how many, so buffers are not compared\n" in text, text


def sampled(run):
    text = run.client("tree", run.json_path)[0]
    assert "Reconciled: not compared with Netty's own numbers\n  sample=, budget= or duty= passed" in text, text
    same("compared", run.json.doc["reconciled"]["compared"], False)
    assert "explained" not in run.client("summary", run.json_path)[0]


def attached_late(bench):
    """Nothing that Netty has was followed; an allocator that is not the default is not to be found."""
    jvm = ("-Dio.netty.allocator.useCacheForAllThreads=false", "-Xmx256m")
    with Program(bench, jvm=jvm, main="com.app.Reconcile", ready="READY") as program:
        program.attach("include=com.app")
        doc = json.loads(program.ask("dump", str(program.pid)))["reconciled"]
        of_default = int(re.search(r" of_default=(\d+)", program.read(0)).group(1))
        text = program.ask("summary", str(program.pid))
        program.stop()
        same("exit code", program.end(), 0)
    row = doc["pools"][0]
    same("pooled direct", (row["pool"], row["memory"]), ("pooled", "direct"))
    same("lives", (row["lives"], row["netty_lives"]), (0, of_default))
    assert any(c.startswith(f"pooled direct: {of_default} buffers") and "does not follow" in c
               for c in doc["causes"]), doc["causes"]
    assert "\n0.00% of " in text, text


def no_jni_warning(run):
    """-Xcheck:jni writes to stdout."""
    same("warnings", [line for line in run.stdout.splitlines() if re.search("WARN|FATAL", line)], [])


def cases():
    for version in ("4.1.48.Final", "4.1.140.Final", "4.2.20.Final"):
        for caches in (False, True):
            flag = f"-Dio.netty.allocator.useCacheForAllThreads={str(caches).lower()}"
            adaptive = version == "4.2.20.Final" and not caches
            kind = [] if adaptive else ["-Dio.netty.allocator.type=pooled"]
            yield Case(f"reconciled/{version[:-6]} thread caches {'on' if caches else 'off'}",
                       "com.app.Reconcile", *(["adaptive"] if adaptive else []), netty=version,
                       jvm=[flag, "-Xmx256m", "-Xcheck:jni", *kind],
                       check=no_jni_warning, quick=version == "4.1.140.Final" and not caches,
                       live=reconciled(caches, (124, 110)))
    yield Scenario("reconciled/attached late", attached_late, quick=True)
    # At exit, as with file=: nothing is live, and thread caches have what was released.
    for name, version, agent, check in (("healthy", "4.1.140.Final", "", healthy),
                                        ("healthy 4.2", "4.2.20.Final", "", healthy),
                                        ("healthy 4.1.48", "4.1.48.Final", "", not_told),
                                        ("sampled", "4.1.140.Final", ",sample=2", sampled),
                                        ("sampled before", "4.1.140.Final", ",sample=2", sampled)):
        live = (lambda run: run.client("set", str(run.pid), "sample=1")) if "before" in name else None
        yield Case(f"reconciled/{name}", "com.app.Healthy", *(["wait"] if live else []),
                   netty=version, short=(17,),
                   jvm=["-Dio.netty.allocator.type=pooled",
                        "-Dio.netty.allocator.useCacheForAllThreads=true"],
                   agent="include=com.app" + agent, check=check, live=live)
