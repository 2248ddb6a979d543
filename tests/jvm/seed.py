"""The Java tracker's tests, restated as ours with exact numbers (seed/*; docs/adr, decision
19). Each row of APPS is one run of com.seed.Apps; its comment names the Java tracker's
tests that it stands for. Option strings are written in its way: ';' between keys, ',' in lists, '.*'.
"""

from harness import Case
from snapshot import PARTITION, same

NETTY = "io.netty.buffer."
PLAIN = "UnpooledByteBufAllocator."
HEAP, DIRECT = PLAIN + "heapBuffer", PLAIN + "directBuffer"
POOL = "PooledByteBufAllocator."
FREED = ("heap", "direct", "composite", "slice")


def short(name):
    """Without the packages; a release by what was released: Unsafe is not there on every JDK."""
    name = name.replace("com.seed.", "").replace(NETTY, "")
    if not name.endswith("ByteBuf.release"):
        return name
    return [k for k in FREED if k in name.lower()][0] + " released"


def ends(picture):
    """{path: {verdict: lives that ended or are there}}; the refs of equal names added up."""
    found = {}
    for node in picture.nodes.values():
        for verdict in PARTITION:
            if node[verdict]:
                at = found.setdefault(" > ".join(short(s) for s in picture.path(node)), {})
                at[verdict] = at.get(verdict, 0) + node[verdict]
    return found


def exactly(expected, more=None):
    """Every life of the run ended so: {"released" or another verdict + " N": path}."""
    def check(run):
        wanted = {}
        for verdict, count, path in expected:
            wanted.setdefault(path, {})[verdict] = count
        same("ends", ends(run.json), wanted)
        for name in ("lives", "released", "leaked"):
            if name in run.oracle:
                same(name, run.json.totals[name], run.oracle[name])
        for name in ("raced_steps", "dropped_steps", "undone", "misuse", "steps_after_release"):
            same(name, run.json.totals[name], 0)
        if more:
            more(run)
    return check


def words(run):
    """Severity by what the memory is, one line a leak in llm, the seed's words in summary."""
    llm = run.client("llm", run.json_path)[0].splitlines()
    same("critical", [line.split("|")[1:5] for line in llm if line.startswith("CRITICAL_LEAK|")],
         [["root=" + DIRECT, "leaked=1", "bytes=256", "memory=direct"]])
    same("moderate", [line.split("|")[1:5] for line in llm if line.startswith("MODERATE_LEAK|")],
         [["root=" + HEAP, "leaked=1", "bytes=128", "memory=heap"]])
    for section in ("METADATA:", "LEAKS:", "FLOWS:"):
        same(section, llm.count(section), 1)
    for line in ("total_roots=2", "total_traversals=3", "total_paths=3", "clean_count=1",
                 "leak_count=2", "leak_rate=66.67%"):
        same(line, llm.count(line), 1)
    summary = run.client("summary", run.json_path)[0]
    for line in ("Total Root Methods: 2", "Total Paths: 3", "Leak Paths: 2",
                 "Critical Leaks: 1 (direct buffers, 256 B)", "Leak Percentage: 66.67%"):
        same(line, summary.count(line + "\n"), 1)
    tree = run.client("tree", run.json_path)[0].split("lives:")[1].splitlines()
    marked = [line for line in tree if "LEAK" in line]
    same("marked", ["forgetToReleaseDirect" in marked[0] and "🚨" in marked[0],
                    "forgetToReleaseHeap" in marked[1] and "⚠" in marked[1], len(marked)],
         [True, True, 2])


def counts_apart(names):
    """A step under another count is another node: {(step, ref): lives that passed}."""
    def check(run):
        found = {}
        for node in run.json.nodes.values():
            key = (short(run.json.name(node)), node["ref"])
            if key[0] in {name for name, _ in names}:
                found[key] = found.get(key, 0) + node["passed"]
        same("by count", found, names)
    return check


def quiet(run):
    """BasicInstrumentationIT: none of our lines, nothing wrong, on the program's output."""
    same("stdout lines", [line for line in run.stdout.splitlines()
                          if not line.startswith("ORACLE")], [])
    for word in ("[bbflow]", "NullPointerException", "ClassNotFoundException", "failed to"):
        same(word, word in run.stderr, False)
    same("notes", run.json.notes(), "")


FLOW = f"{HEAP} > Flows.allocate_return > "
STEPS = "Flows.processStep1 > Flows.processStep2 > Flows.processStep3 > Flows.cleanup"
ENVELOPE = "Wrapping$Envelope.<init> > Wrapping$Envelope.<init>_return > "
UNWRAPPED = "Wrapping.unwrap_return > Wrapping.run > Wrapping.release > heap released"
LEAKY = [("released", 1,
          f"{FLOW}Flows.leaky > Flows.processNormal > Flows.cleanup > heap released"),
         ("leaked", 1, f"{FLOW}Flows.leaky > Flows.processLeaky > Flows.forgetToRelease")]
DIRECT_LEAKS = [
    ("leaked", 1, f"{DIRECT} > Flows.directLeaks > Flows.processDirectBuffer > "
     "Flows.forgetToReleaseDirect"),
    ("released", 1, f"{DIRECT} > Flows.directLeaks > Flows.processAndRelease > "
     "Flows.cleanupProperly > direct released")]
HEAP_LEAK = [("leaked", 1, f"{HEAP} > Flows.directLeaks > Flows.processHeapBuffer > "
              "Flows.forgetToReleaseHeap")]
SEED = "include=com.seed.*"

# name, command, options, check
APPS = [
    # BasicInstrumentationIT 1-5; ByteBufFlowTrackerTest simple flow
    ("basic", "basic", SEED,
     exactly([("released", 1, f"{FLOW}Flows.basic > {STEPS} > heap released")], quiet)),
    # LeakDetectionIT 1-5; ByteBufFlowTrackerTest leak against clean, leaf without release
    ("leaky", "leaky", SEED, exactly(LEAKY)),
    # DirectBufferLeakHighlightingIT 1-7 and its unit test; LLM sections and fields, summary
    ("directleaks", "directleaks", SEED, exactly(DIRECT_LEAKS + HEAP_LEAK, words)),
    # their direct-only run reports the heap buffers as roots of first touch (5.1, ADR)
    ("directleaks, direct only", "directleaks", SEED + ";trackDirectOnly=TRUE",
     lambda run: same("ends", ends(run.json), {p: {v: n} for v, n, p in DIRECT_LEAKS})),
    # StaticMethodTrackingIT 1-5
    ("statics", "statics", SEED, exactly([
        ("released", 1, f"{FLOW}Flows.statics > Flows$Worker.instanceStep > "
         "Flows$Worker.instanceEnd > heap released"),
        ("released", 1,
         f"{FLOW}Flows.statics > Flows.staticStep > Flows.staticEnd > heap released"),
        ("released", 1, f"{FLOW}Flows.statics > Flows$Worker.mixedStep > Flows.mixedStatic > "
         "Flows$Worker.mixedEnd > heap released")])),
    # ConstructorTrackingIT 1, WrapperObjectTrackingIT 1-3: checkId sees the envelope only
    ("wrapper", "wrapper", SEED, exactly([
        ("released", 1, f"{FLOW}Wrapping.run > Wrapping.wrap > {UNWRAPPED}")])),
    # ConstructorTrackingIT 2, WrapperObjectTrackingIT 4-6 (getPayload is a getter: no step, design.md: insertion)
    ("wrapper, its class", "wrapper", SEED + ";trackConstructors=com.seed.Wrapping$Envelope",
     exactly([("released", 1, f"{FLOW}Wrapping.run > Wrapping.wrap > {ENVELOPE}{UNWRAPPED}")])),
    # ConstructorTrackingIT 3-4: the package
    ("wrapper, the package", "wrapper", SEED + ";trackConstructors=com.seed.*", exactly([
        ("released", 1, f"{FLOW}Wrapping.run > Wrapping.wrap > {ENVELOPE}{UNWRAPPED}")])),
    # DoubleInstrumentationIT 1-4: once each; retains are counts, not steps (ADR)
    ("retains", "retains", SEED, exactly([
        ("released", 1, f"{HEAP} > Counts.retains > Counts.use > Counts.retains > Counts.use > "
         "heap released"),
        ("released", 1, f"{POOL}directBuffer > Counts.retains > direct released"),
        ("released", 1, f"{POOL}directBuffer > Counts.retains > ByteBuf.retained > "
         "Counts.retains > Counts.use > slice released")],
        counts_apart({("Counts.use", "1-2"): 3}))),
    # ByteBufFlowTrackerTest refcount anomalies
    ("anomalies", "anomalies", SEED, exactly([
        ("released", 9, f"{HEAP} > Counts.anomalies > Counts.check > Counts.pass > heap released"),
        ("leaked", 1, f"{HEAP} > Counts.tooMany > Counts.check > Counts.pass")],
        counts_apart({("Counts.check", "1-2"): 9, ("Counts.check", "3-5"): 1,
                      ("Counts.pass", "1-2"): 9, ("Counts.pass", "3-5"): 1}))),
    # ByteBufFlowTrackerTest only the last release, several retains and releases
    ("releases", "releases", SEED, exactly([
        ("released", 1, f"{HEAP} > Counts.releases > Counts.check > heap released")])),
    # ByteBufFlowTrackerTest 1000 buffers
    ("thousand", "thousand", SEED, exactly([
        ("released", 1000, f"{FLOW}Flows.thousand > {STEPS} > heap released")])),
    # AllocationRootTrackingTest 1-3: one root an allocator and kind, however it is asked
    ("roots", "roots", SEED, exactly([
        ("released", 6, f"{HEAP} > Apps.roots > heap released"),
        ("released", 4, f"{DIRECT} > Apps.roots > direct released"),
        ("released", 1, f"{POOL}heapBuffer > Apps.roots > heap released"),
        ("released", 3, f"{POOL}directBuffer > Apps.roots > direct released"),
        ("released", 2, "Unpooled.wrappedBuffer > Apps.roots > heap released"),
        ("released", 1, "Unpooled.wrappedBuffer > Apps.roots > direct released"),
        ("released", 1, "Unpooled.compositeBuffer > Apps.roots > composite released"),
        ("released", 1, f"{PLAIN}compositeBuffer > Apps.roots > composite released"),
        ("released", 1, "AbstractByteBufAllocator.compositeBuffer > Apps.roots > "
         "composite released")])),
]
ENDED = " > Apps.directOnly > Apps.end"
KINDS = {"heap": [("leaked", 2, HEAP + ENDED), ("released", 2, HEAP + ENDED + " > heap released"),
                  ("released", 1, "Unpooled.wrappedBuffer" + ENDED + " > heap released")],
         "direct": [("leaked", 2, DIRECT + ENDED),
                    ("released", 2, DIRECT + ENDED + " > direct released"),
                    ("released", 1, "Unpooled.wrappedBuffer" + ENDED + " > direct released")]}
# DirectOnlyFilteringTest 1-10: off and on
APPS += [
    ("all memory", "directonly", SEED + ";trackDirectOnly=false",
     exactly(KINDS["heap"] + KINDS["direct"]
             + [("harmless", 2, "Unpooled.wrappedBuffer" + ENDED)])),
    ("direct only", "directonly", SEED + ";trackDirectOnly=true",
     exactly(KINDS["direct"] + [("harmless", 1, "Unpooled.wrappedBuffer" + ENDED)])),
]

# PackageFilteringIT 1-17: options -> who of these saw the buffer
VIA = {"f": "Flows.allocate_return", "r": "Filtering.run", "a": "alpha.Alpha.pass",
       "i": "alpha.Alpha$Inner.pass", "d": "alpha.deep.Deep.pass", "b": "beta.Beta.pass",
       "j": "beta.Beta$Inner.pass", "m": "beta.Beta$Message.<init>",
       "n": "beta.Beta$Message.<init>_return"}
ALPHA, BETA, DEEP = "com.seed.alpha.Alpha", "com.seed.beta.Beta", "com.seed.alpha.deep.*"
FILTERS = [
    ("include=com.seed.alpha.*", "aid"),
    (SEED, "fraidbj"),
    (f"include={DEEP},com.seed.beta.*", "dbj"),
    (f"include={ALPHA}", "ai"),  # theirs leaves inner classes out of an exact name (ADR)
    (f"include={ALPHA},{BETA}", "aibj"),
    (f"include={DEEP},{BETA}", "dbj"),
    (f"include={ALPHA}$Inner", "i"),
    (SEED + ";exclude=com.seed.alpha.*", "frbj"),
    (SEED + f";exclude={DEEP}", "fraibj"),
    (SEED + f";exclude={ALPHA}", "frdbj"),
    (SEED + f";exclude={ALPHA}$Inner", "fradbj"),
    (SEED + f";exclude={DEEP},{BETA}", "frai"),
    (SEED + f";exclude={ALPHA},{BETA}", "frd"),
    ("include=com.seed.alpha.*;exclude=com.seed.alpha.*", ""),
    (SEED + f";trackConstructors={BETA}$Message;exclude={BETA}$Message", "fraidbj"),
    (SEED + ";trackConstructors=com.seed.beta.*;exclude=com.seed.beta.*", "fraid"),
    ("include=com.seed.alpha.*;trackConstructors=com.seed.beta.*", "aidmn"),
    # spaces, a repeated key and keys joined by ',' pass in both trackers
    (f" include = {ALPHA} , {BETA} ; include={DEEP},exclude={BETA}$Inner", "aidb"),
]


def metrics_live(run):
    """MetricHandlerIT 1-2: three direct and two heap leaks while it runs (theirs says four: its own
    false one, Netty's empty buffer)."""
    same("while it runs", run.snapshot("--gc").memory(), {"direct": (3, 192), "heap": (2, 64)})


def cases():
    def app(name, command, agent, check, **more):
        for version in ("4.1.140.Final", "4.2.20.Final"):
            newest = version.startswith("4.2")
            # Without patterns each row on 17, and some of them on the other pair.
            yield Case(f"seed/{name} {version[:3]}", "com.seed.Apps", command, netty=version,
                       agent=agent + ",gc=exit", check=check,
                       short=(25,) if newest and name in ("leaky", "retains", "roots")
                       else () if newest else (17,), **more)
    for row in APPS:
        yield from app(*row)
    for options, seen in FILTERS:
        path = "".join(" > " + VIA[letter] for letter in seen)
        yield from app("filtering " + options, "filtering", options,
                       exactly([("released", 1, f"{HEAP}{path} > heap released")]))
    yield from app("metrics", "metrics", SEED, None, live=metrics_live, ready="ORACLE")
