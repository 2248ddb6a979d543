"""Cases of a leak row's details (how old, who opened it, what is lost with it), and of ageing."""

from harness import Case
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
    """The place in the map lies where the thread would."""
    for leak in run.json.leaks:
        same("thread in map mode", (leak["thread"], leak["thread_count"]), (0, 0))


def carriers(run):
    """A virtual thread stands as its carrier."""
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


def cases():
    def case(name, *args, **more):
        return Case("age/" + name, "com.app.W", *args, **more)
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
    yield case("aged by the habit of its root", "aged", "11", "1001", check=aged(direct))
    yield case("aged: too few to speak of a habit", "aged", "11", "900", check=aged(), jdk=(17,))
