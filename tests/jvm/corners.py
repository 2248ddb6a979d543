"""Lives that do not go the usual way: never to be released, of an application's own pool, copied, and
met after they began."""

from attach import Older
from harness import Case
from snapshot import same

NETTYS = ("4.1.48.Final", "4.1.140.Final", "4.2.20.Final")
NO_CLEANER = ("--add-opens=java.base/java.nio=ALL-UNNAMED",
              "-Dio.netty.tryReflectionSetAccessible=true")
NO_CACHES = [f"-Dio.netty.allocator.{size}CacheSize=0" for size in ("tiny", "small", "normal")]
ALL_JDKS = (11, 17, 21, 25)
LOAD = "-javaagent:@OUT@/other-agent.jar=load"


def totals(run, unknown=0):
    for name in ("lives", "released", "leaked", "live", "harmless"):
        if name in run.oracle:
            same(name, run.json.totals[name], run.oracle[name])
    same("unknown", run.json.totals["unknown"], unknown)
    for name in ("raced_steps", "dropped_steps", "dropped_lives", "internal_errors",
                 "misuse", "steps_after_release"):
        same(name, run.json.totals[name], 0)


def short(version, number=0):
    """4.1.140 and 4.2.20 in turn on 17 and 25; the oldest on 17."""
    return {"4.1.48.Final": (17,), "4.1.140.Final": (17, 25)[number % 2:][:1],
            "4.2.20.Final": (25, 17)[number % 2:][:1]}[version]


# ---- Unpooled.unreleasableBuffer --------------------------------------------------------------

IMMORTAL = ("pooled", "pooledHeap", "slice", "retained", "composite", "direct", "cleaned", "heap",
            "kept", "released")


def immortal(kind):
    def check(run):
        totals(run)
        same("collected", run.oracle["gone"], run.oracle["watched"])
        if kind in ("pooled", "pooledHeap", "slice", "retained", "composite", "kept"):
            same("Netty's arenas", run.oracle["arena"], run.oracle["leaked"] + run.oracle["live"])
        same("held", run.json.totals["held"], 100 if kind == "retained" else 0)
        same("static", run.json.totals["static"], run.oracle["live"])
        same("lost", {leak["lost"] for leak in run.json.leaks},
             {"for_good"} if run.oracle["leaked"] else set())
    return check


# ---- a pool of the application ----------------------------------------------------------------

def own_pool(when):
    def check(run):
        same("dropped from the pool", run.oracle["gone"], run.oracle["dropped"])
        if when != "hidden":
            totals(run, unknown=run.oracle.get("unknown", 0))
            same("last steps", run.json.last_steps(),
                 {} if when == "early" else {"com.app.Steps.leaky": 7})
        told = [n for n in run.json.doc["notes"] if "a count of its own" in n]
        same("notes", len(told), 1 if when == "hidden" else 0)
        if when == "hidden":
            assert "com.app.OwnPool$Mine" in told[0], told
    return check


def own_pool_by_windows(run):
    """With duty= a buffer that no allocator gave may be older than the window: it is not followed, and no
    note names its pool."""
    for name in ("lives", "leaked", "unknown", "internal_errors"):
        same(name, run.json.totals[name], 0)
    assert not [n for n in run.json.doc["notes"] if "OwnPool" in n], run.json.doc["notes"]


def early(how):
    """The count comes back inside deallocate(): what is lost is unknown, and no leak is claimed."""
    def check(run):
        same("leaked", run.json.totals["leaked"], 0)
        same("released", run.json.totals["released"], 0 if how == "unseen" else run.oracle["uses"])
        same("internal errors", run.json.totals["internal_errors"], 0)
        told = [n for n in run.json.doc["notes"] if "before it gives the buffer back" in n]
        same("notes", len(told), 1)
        assert "com.app.Early$Mine" in told[0], told
    return check


# ---- classes with Netty's names ---------------------------------------------------------------

def forked(run):
    same("used", run.oracle["used"], 3)
    same("leaked", run.json.totals["leaked"], 0)


# ---- clone() and serialisation ----------------------------------------------------------------

def copied(run):
    totals(run)
    same("last steps", run.json.last_steps(), {"com.app.Steps.leaky": 50})


# ---- met after they began ---------------------------------------------------------------------

OLDER = {"pooledDirect": ("direct", 2, 1024), "pooledHeap": ("heap", 1, 3000),
         "huge": ("direct", 1, 32 << 20), "direct": ("direct", 1, 700), "heap": ("heap", 1, 900),
         "resized": ("direct", 1, 5000), "view": ("direct", 1, 640), "wrapped": ("heap", 1, 77),
         "composite": ("composite", 1, 150), "retained": ("direct", 1, 4096), "shared": ("direct", 1, 8192),
         "adaptive": ("direct", 1, 1500), "adaptiveHeap": ("heap", 1, 250)}
MADE = {"direct": ("direct", 2, 701), "heap": ("heap", 1, 900), "heapy": ("heap", 1, 123), "directory": ("heap", 1, 7),
        "composite": ("composite", 1, 10), "unknown": ("unknown", 1, 0)}


def sizes(expected):
    def check(run):
        # A derived buffer and what it shares the memory of: its bytes are there once. That of
        # "retained" was not met itself.
        older = "shared" in expected
        same("held", run.json.totals["held"], 2 if older else 0)
        same("leaked", run.json.totals["leaked"], run.oracle["lost"] - older)
        want = {k: v for k, v in expected.items()
                if not (k.startswith("adaptive") and run.case.netty == NETTYS[0])}
        found = {leak["path"][-1].removeprefix("com.app.Sizes."):
                 (leak["memory"], leak["count"], leak["bytes"]) for leak in run.json.leaks}
        same("memory, count, bytes", found, want)
        order = [leak["bytes"] for leak in run.json.leaks]
        same("most bytes first", order, sorted(order, reverse=True))
        told = [n for n in run.json.doc["notes"] if "unknown size" in n]
        same("notes", len(told), 1 if "unknown" in want else 0)
        if told:
            assert told[0].startswith("1 buffer ") and "com.app.Opaque" in told[0], told
    return check


def cases():
    for version in NETTYS:
        every = ALL_JDKS if version == NETTYS[1] else (17, 25)
        for number, kind in enumerate(IMMORTAL):
            jvm = [*NO_CACHES, *(NO_CLEANER if kind == "direct" else ())]
            yield Case(f"corner/immortal {version[:-6]} {kind}", "com.app.Probes", "immortal", kind,
                       netty=version, jvm=jvm, check=immortal(kind), short=short(version, number),
                       jdk=every if kind == "pooled" else (17, 25),
                       quick=kind == "pooled" and version == NETTYS[1])
            if kind in ("pooled", "heap", "released"):
                yield Case(f"corner/immortal {version[:-6]} {kind}, map", "com.app.Probes", "immortal",
                           kind, netty=version, jvm=[*jvm, LOAD], check=immortal(kind),
                           short=short(version, number))
        for number, when in enumerate(("reset", "set", "early", "hidden")):
            yield Case(f"corner/own pool {version[:-6]} {when}", "com.app.Probes", "ownpool", when,
                       netty=version, check=own_pool(when), short=short(version, number),
                       jdk=every if when == "reset" else (17, 25),
                       quick=when == "reset" and version == NETTYS[1])
            if when != "hidden":
                yield Case(f"corner/own pool {version[:-6]} {when}, map", "com.app.Probes", "ownpool",
                           when, netty=version, check=own_pool(when), jvm=[LOAD],
                           short=short(version, number),
                           own_jvm=True)  # in map mode later losses of that JVM are unknown (ADR 34)
        for number, when in enumerate(("early", "hidden")):
            yield Case(f"corner/own pool {version[:-6]} {when}, windows", "com.app.Probes", "ownpool", when,
                       netty=version, agent="include=com.app,duty=100%", check=own_pool_by_windows,
                       short=short(version, number))
        for number, how in enumerate(("late", "race", "unseen", "virtual")):
            yield Case(f"corner/early pool {version[:-6]} {how}", "com.app.Probes", "early", how,
                       netty=version, check=early(how),
                       short=None if how == "virtual" else short(version, number),
                       jdk=(25,) if how == "virtual" else (17, 25))
        yield Case(f"corner/fork {version[:-6]}", "com.app.Probes", "fork", netty=version, check=forked,
                   short=short(version), jdk=(17, 25))
        for number, jvm in enumerate(([], [LOAD])):
            yield Case(f"corner/copied {version[:-6]}" + ", map" * number, "com.app.Probes", "copied",
                       netty=version, check=copied, jvm=jvm, short=short(version, number), jdk=every,
                       quick=version == NETTYS[1] and number == 0)
            yield Case(f"corner/sizes {version[:-6]}" + ", map" * number, "com.app.Probes", "sizes",
                       "made", netty=version, check=sizes(MADE), jvm=jvm, jdk=every,
                       short=short(version, number + 1))
        yield Older(f"sizes of older buffers {version[:-6]}", "sizes", "older", netty=version,
                    check=sizes(OLDER), short=short(version), jdk=every,
                    quick=version == NETTYS[1])
