"""Cases of a leak row's details (how old, who opened it, what is lost with it), and of ageing."""

import time

from harness import Case, in_turn
from snapshot import same

NETTY_41 = "4.1.140.Final"
NETTY_42 = "4.2.20.Final"
ROOT = "io.netty.buffer."
NO_CLEANER = ("--add-opens=java.base/java.nio=ALL-UNNAMED",
              "-Dio.netty.tryReflectionSetAccessible=true")


def rows(run):
    """(root's allocator and method) -> its only leak row"""
    found = {}
    for leak in run.json.leaks:
        name = leak["path"][0].removeprefix(ROOT).replace("ByteBufAllocator", "")
        assert name not in found, f"two rows of {name}"
        found[name] = leak
    return found


def thread_of(run, leak):
    names = {t["id"]: t["name"] for t in run.json.doc["threads"]}
    return names.get(leak["thread"]), leak["thread_count"]


def opened(unpooled):
    """`unpooled`: what is lost with an unpooled direct buffer."""
    def check(run):
        for name in ("lives", "leaked", "live"):
            same(name, run.json.totals[name], run.oracle[name])
        of = rows(run)
        same("rows", sorted(of), ["Adaptive.directBuffer", "Pooled.directBuffer",
                                  "Unpooled.directBuffer", "Unpooled.heapBuffer"])
        same("most of the pooled", thread_of(run, of["Pooled.directBuffer"]), ("opener-a", 5))
        same("of", of["Pooled.directBuffer"]["count"], 8)
        for name, lost in (("Pooled.directBuffer", "for_good"),
                           ("Adaptive.directBuffer", "for_good"),
                           ("Unpooled.directBuffer", unpooled), ("Unpooled.heapBuffer", "nothing")):
            same(f"lost of {name}", of[name]["lost"], lost)
            if name != "Pooled.directBuffer":
                same(f"opener of {name}", thread_of(run, of[name]), ("main", 1))
            age = of[name]
            assert 2 <= age["p50_seconds"] <= age["oldest_seconds"], f"ages: {age}"
        text, _ = run.client("summary", run.json_path)
        assert "lost for good, opened by opener-a (5 of 8)" in text, text
        text, _ = run.client("tree", run.json_path)
        assert "by opener-a (5 of 8)" in text, text
        text, _ = run.client("llm", run.json_path)
        assert "|lost=for_good|" in text and "|opened_by=opener-a (5 of 8)|" in text, text
    return check


def mapped(run):
    """The place in the map is where the thread would be."""
    for leak in run.json.leaks:
        same("thread in map mode", (leak["thread"], leak["thread_count"]), (0, 0))


def constants(run):
    """Made by a class initialiser: static, never aged, with whatever it is used for later."""
    for name in ("lives", "released", "leaked", "live"):
        same(name, run.json.totals[name], run.oracle[name])
    same("static", run.json.totals["static"], 4)
    same("aged", run.json.totals["aged"], 1)
    same("last steps", run.json.last_steps(), {"com.app.Steps.leaky": 1})


def carriers(run):
    """A virtual thread is counted as its carrier."""
    names = [t["name"] for t in run.json.doc["threads"]]
    assert names and all(n.startswith("ForkJoinPool-") for n in names), names


def aged(*roots):
    """`roots`: allocator and method of those whose held buffer is aged."""
    def check(run):
        for name in ("lives", "released", "leaked", "live"):
            same(name, run.json.totals[name], run.oracle[name])
        of = rows(run)
        same("aged", sorted(of), sorted(roots))
        same("totals.aged", run.json.totals["aged"], len(roots))
        same("static", run.json.totals["static"], 1)
        for leak in of.values():
            same("row", (leak["verdict"], leak["count"], leak["bytes"], leak["path"][-1]),
                 ("aged", 1, 100, "com.app.Steps.step"))
            assert leak["oldest_seconds"] >= 2, leak
        text, _ = run.client("tree", run.json_path)
        same("AGED in the tree", sum("AGED 1" in line for line in text.splitlines()), len(roots))
    return check


def near(what, estimate, true, rate):
    """Within 6 standard deviations of `true` lives drawn at 1 in `rate`; a multiple of it."""
    same(f"{what} modulo {rate}", estimate % rate, 0)
    off = abs(estimate - true)
    assert off * off <= 36 * true * (rate - 1), f"{what}: {estimate} of {true} at 1 in {rate}"


def sampled(rate):
    def check(run):
        totals = run.json.totals
        same("sampled", totals["sampled"], rate)
        for name in ("unknown", "undone", "dropped_lives", "raced_steps", "live", "harmless",
                     "misuse", "out_of_memory", "internal_errors"):
            same(name, totals[name], 0)
        # A derived buffer begins below its owner, and only where the owner is followed.
        same("roots", [r.rsplit(".", 1)[1] for r in run.json.roots()], ["directBuffer"])
        near("lost", run.json.last_steps().get("com.app.Steps.leaky", 0), run.oracle["lost"], rate)
        near("done", run.json.passed("com.app.Steps.done"), run.oracle["done"], rate)
        near("sliced", run.json.passed("com.app.Steps.step2"),
             run.oracle["lost"] + run.oracle["done"], rate)
        same("leaked", totals["leaked"], run.json.last_steps()["com.app.Steps.leaky"])
        same("bytes", totals["leaked_bytes"], 64 * totals["leaked"])
        text, _ = run.client("tree", run.json_path)
        assert f"estimated: 1 buffer in {rate} was followed" in text, text
    return check


def composites(run):
    """A composite's constructor sees it first, and draws; its root is named, and does not."""
    near("done", run.json.passed("com.app.Steps.done"), run.oracle["done"], 10)
    same("leaked", run.json.totals["leaked"], 0)
    same("roots", sorted({r.rsplit(".", 1)[1] for r in run.json.roots()}),
         ["directBuffer", "wrappedBuffer"])


def unreleasable(run):
    for name in ("lives", "released", "leaked", "harmless", "live"):
        same(name, run.json.totals[name], run.oracle[name])
    same("last steps", run.json.last_steps(), {"com.app.Steps.step": 7})


def misused(run):
    """Only of what was drawn, and never as a use of the life that the object had before."""
    # A recycled object has one record for all its lives, drawn or not: else 64 would not suffice.
    for name in ("unknown", "undone", "raced_steps", "live", "leaked", "dropped_lives",
                 "internal_errors"):
        same(name, run.json.totals[name], 0)
    # Every read is counted; a second release only where it is known whose it is. Two for each.
    releases = run.json.totals["misuse"] - run.oracle["done"]
    same("releases of slices and their buffers", releases % 2, 0)
    near("misused", 10 * releases // 2, run.oracle["done"], 10)
    uses = set()
    for row in run.json.doc["misuse"]:  # not of all: those come faster than they are looked at
        assert "com.app.Steps.step" not in row["path"], f"another life's: {row}"
        if row["use"] != "step" or row["path"]:  # searches for the place have a limit a second
            uses.add((row["use"], bool(row["path"]),
                      "io.netty.buffer.ByteBuf.retained" in row["path"]))
    same("uses", sorted(uses), [("access", False, False), ("access", True, False),
                                ("release", True, False), ("release", True, True),
                                ("step", True, False), ("step", True, True)])


def passed_at_roots(run):
    return {n["id"]: n["passed"] for n in run.snapshot().doc["nodes"] if n["parent"] == -1}


def set_sample(run):
    """Lives opened after `set` are drawn at its rate; sample=1 follows all again."""
    pid = str(run.pid)
    for rate, rates in ((50, [50]), (1, [0, 50])):  # lives of 50 may have outlived the reset
        run.client("set", pid, f"sample={rate}")
        run.client("reset", pid)
        time.sleep(1)
        sampled = run.snapshot().totals["sampled"]
        assert sampled in rates, sampled
    before = passed_at_roots(run)
    for _ in range(20):  # one growth may be a multiple of 50 by chance
        time.sleep(0.5)
        grown = [n - before.get(root, 0) for root, n in passed_at_roots(run).items()]
        if any(n > 0 and n % 50 for n in grown):
            break
    else:
        raise AssertionError(f"not all are followed again: {grown}")
    out, err = run.client("set", pid, "sample=0", code=None)
    assert "sample" in out + err, out + err
    refused(run, pid)


def refused(run, pid):
    """There is room for 15 rates besides 1: one more is refused, and nothing else is set then."""
    for rate in [1, *range(2, 16)]:  # and 50, above
        run.client("set", pid, f"sample={rate}")
    out, err = run.client("set", pid, "trackDirectOnly=true", "sample=16", code=5)
    assert "sample: 15 other rates were set" in out + err, out + err
    settings = run.snapshot().doc["settings"]
    same("sample, trackDirectOnly", (settings["sample"], settings["trackDirectOnly"]),
         ("15", "false"))
    run.client("set", pid, "sample=50")


def cases():
    def case(name, *args, **more):
        return Case("age/" + name, "com.app.Probes", *args, **more)
    yield case("opened 4.1", "opened", check=opened("counter_only"), quick=True)
    yield case("opened 4.1 without cleaners", "opened", check=opened("for_good"), jvm=NO_CLEANER,
               jdk=(17,))
    yield case("opened 4.2", "opened", netty=NETTY_42, check=opened("unknown"))
    yield case("opened by virtual threads", "cycles", "pooled", "virtual", "2", jdk=(21, 25),
               check=carriers)
    yield case("opened in map mode", "opened", jvm=["-javaagent:@OUT@/other-agent.jar=load"],
               check=mapped)
    direct, heap, unpooled = ("Pooled.directBuffer", "Pooled.heapBuffer", "Unpooled.directBuffer")
    yield case("aged by age=", "aged", "3", "10", agent="include=com.app,age=2s",
               check=aged(direct, heap, unpooled), quick=True)
    yield case("aged: off", "aged", "3", "10", agent="include=com.app,age=0", check=aged())
    # 18 s: a quick life that a new second falls into counts as 1 s long, and makes the habit 16 s.
    yield case("aged by the habit of its root", "aged", "18", "1001", check=aged(direct))
    yield case("aged: too few to speak of a habit", "aged", "11", "900", check=aged(), jdk=(17,))
    for v, version in enumerate((NETTY_41, NETTY_42)):
        for a, allocator in enumerate(("pooled", "adaptive", "unpooled")):
            yield Case(f"sample/{version[:3]} {allocator}", "com.app.Probes", "sampled", allocator, "40000",
                       netty=version, agent="include=com.app,sample=10", check=sampled(10),
                       short=in_turn(v, a), quick=allocator == "pooled" and version == NETTY_41)
        yield Case(f"sample/{version[:3]} composites", "com.app.Probes", "sampled", "pooled", "20000",
                   "wrapped", netty=version, agent="include=com.app,sample=10", check=composites,
                   short=in_turn(v))
        yield Case(f"sample/{version[:3]} paranoid", "com.app.Probes", "sampled", "pooled", "20000",
                   netty=version, agent="include=com.app,sample=7", check=sampled(7),
                   short=in_turn(v, 1),
                   jvm=["-Dio.netty.leakDetection.level=PARANOID"])
    yield Case("sample/misused", "com.app.Probes", "sampled", "pooled", "20000", "misused",
               agent="include=com.app,sample=10,maxLives=64", check=misused)
    yield Case("sample/in map mode", "com.app.Probes", "sampled", "pooled", "20000",
               agent="include=com.app,sample=10", check=sampled(10),
               jvm=["-javaagent:@OUT@/other-agent.jar=load"])
    yield Case("sample/set", "com.app.Probes", "serve", live=set_sample, check=lambda run: None)
    for version in (NETTY_41, NETTY_42):
        yield Case(f"static/unreleasable {version[:3]}", "com.app.Probes", "unreleasable", netty=version,
                   agent="include=com.app,gc=exit", check=unreleasable)
        yield Case(f"static/constants {version[:3]}", "com.app.Probes", "constants", "3", netty=version,
                   agent="include=com.app,age=2s", check=constants, quick=version == NETTY_41)
