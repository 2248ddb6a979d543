"""The JVM cases, declared. A check asserts on run.json (a Snapshot), run.oracle, run.stdout."""

import glob
import os
import re
import time
import typing

import ages
import attach
import bare_roots
import binders
import blame
import budget
import carriers
import ci
import coming
import context
import corners
import doctor
import exits
import blackbox
import files
import flight
import growth
import handlers
import hostile
import idle
import java_agent
import jmx
import lttng
import metrics
import misuse
import names
import notice
import oom
import other_agents
import pins
import pods
import reconcile
import recording
import refs
import seed
import resources
import scenario
import scopes
import sharing
import tcp
import top
import track
import tried
import transport
import uring
import usage
import watch
import windows
import wire
import words
from harness import ROOT, Case, in_turn
from snapshot import same

ALL_JDKS = (11, 17, 21, 25)
NETTY_41 = "4.1.140.Final"
NETTY_42 = "4.2.20.Final"
POOLED_42 = ["-Dio.netty.allocator.type=pooled"]


def sources(pattern):
    return lambda: sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))


# name of the class folder, Netty to compile against, sources, other jars to compile against, then
# javac's flags if others
COMPILE = [("probes", "4.1.48.Final", sources("tests/jvm/probes/**/*.java"), list),
           ("agents", "4.1.48.Final", sources("tests/jvm/agents/com/*/*.java"), list),
           ("turns", "4.1.48.Final", sources("tests/jvm/turns/com/turns/*.java"), list),
           handlers.compiled(sources("tests/jvm/handlers/com/hand/*.java")), binders.compiled(),
           scopes.compiled(sources("tests/jvm/junit/com/unit/*.java")),
           uring.compiled(sources("tests/jvm/uring/com/app/*.java")),
           *notice.compiled(sources("tests/jvm/notice/com/*/*.java")), *flight.compiled(),
           carriers.compiled(sources("tests/jvm/spring/com/shop/*.java"))]

PROBE = "com.app.Probes"
STEPS = "com.app.Steps."


def outcomes(run):
    """Totals equal what the program says of itself. Every probe's own buffers are all there are."""
    for name in ("lives", "released", "leaked", "live"):
        if name in run.oracle:
            same(name, run.json.totals[name], run.oracle[name])


def exact(run):
    outcomes(run)
    for name in ("raced_steps", "dropped_steps", "dropped_lives", "unknown", "harmless"):
        same(name, run.json.totals[name], 0)


def lost_at(run, paths):
    """The leaked lives are exactly on these paths: {(step, …): count}."""
    exact(run)
    same("leaks", run.json.leaked_at(), paths)


def probe(name, *args, check=exact, **more):
    return Case("probe/" + name, PROBE, *args, check=check, **more)


# ---- issue 4, point 2: 1,001 cycles of a recycled buffer, the last one lost -------------------

ROOT_OF = {"pooled": "io.netty.buffer.PooledByteBufAllocator.directBuffer",
           "unpooled": "io.netty.buffer.UnpooledByteBufAllocator.directBuffer",
           "adaptive": "io.netty.buffer.AdaptiveByteBufAllocator.directBuffer"}


def cycles(allocator):
    def check(run):
        threads = run.oracle["leaked"]
        root = ROOT_OF[allocator]
        lost_at(run, {(root, "com.app.Cycles.last", STEPS + "step", STEPS + "leaky"): threads})
        same("roots", run.json.roots(), {root: 1001 * threads})
        same("bytes", run.json.memory(), {"direct": (threads, 256 * threads)})
        same("good ones", run.json.passed(STEPS + "done"), 1000 * threads)
    return check


def cycle_cases():
    for v, version in enumerate((NETTY_41, NETTY_42)):
        short = version[:3]
        for a, allocator in enumerate(("pooled", "unpooled", "adaptive")):
            for t, (thread, count) in enumerate((("main", 1), ("loop", 1), ("ftl", 1), ("ftl", 8),
                                                 ("thread", 8))):
                special_jdks = thread == "loop" and allocator == "pooled"
                yield probe(f"cycles {short} {allocator} {thread} {count}", "cycles", allocator,
                            thread, str(count), netty=version, check=cycles(allocator),
                            jdk=ALL_JDKS if special_jdks else (17, 25),
                            short=ALL_JDKS if special_jdks else in_turn(v, a, t),
                            quick=thread == "loop" or (count == 8 and allocator == "pooled"))


# ---- issue 4, point 1, and issue 6, point 10: real leaks --------------------------------------

class Leak(typing.NamedTuple):
    """One leak of Netty's or its users' history; its driver is tests/jvm/known-leaks/NAME/Leak.java."""
    buggy: str
    fixed: str
    count: int  # lives lost
    step: str  # that must be on every leak's path and in the first divergence
    memory: str
    size: int  # bytes of each
    oracle: dict  # Harness's own count of it after 40 runs; 0 where it is fixed
    # The step is the method that the fix changed. Is it also the owner that the report names? (ADR 44)
    is_owner: bool = True
    # Where the versions are not Netty's: the newest one, and the jars of one of them.
    newest: str = None
    jars: tuple = ()
    held: int = 0  # owners collected while the lost slices of them were unreleased
    throws: str = None  # an exception is the cause: the call that threw it, as the report has it


LEAKS = {
    "http-memorydata-limit": Leak(
        "4.1.67.Final", "4.1.68.Final", 41,
        r"io\.netty\.handler\.codec\.http\.multipart\.(MemoryAttribute|AbstractMemoryHttpData)"
        r"\.addContent", "direct", 40, {"pooled_direct": 40},
        throws="MemoryAttribute.checkSize (line 83)"),
    "tcp-dns-query": Leak(
        "4.1.119.Final", "4.1.120.Final", 41,
        r"io\.netty\.handler\.codec\.dns\.TcpDnsQueryDecoder\.decode", "direct", 256,
        {"pooled_direct": 40}, held=41),
    "http-multipart-readline": Leak(
        "4.1.49.Final", "4.1.50.Final", 82,
        r"io\.netty\.handler\.codec\.http\.multipart\.HttpPostMultipartRequestDecoder"
        r"\.readLineStandard", "heap", 64, {"unpooled_heap_bytes": 5120}),
    "ssl-wrap-throws": Leak(
        "4.1.116.Final", "4.1.117.Final", 41, r"io\.netty\.handler\.ssl\.SslHandler\.wrap",
        "direct", 11, {"pooled_direct": 40}, throws="SslHandler.wrap (line 875), or 4 other calls"),
    "http2-empty-padding": Leak(
        "4.1.67.Final", "4.1.68.Final", 41,
        r"io\.netty\.handler\.codec\.http2\.DefaultHttp2FrameWriter\.writeData", "direct", 0,
        {"pooled_direct": 40}),
    "http2-headers-encoder": Leak(
        "4.1.107.Final", "4.1.108.Final", 41,
        r"io\.netty\.handler\.codec\.http2\.DefaultHttp2HeadersEncoder\.maxHeaderTableSize", "heap", 256,
        {"unpooled_heap_bytes": 10240}),
    "websocket-utf8-invalid": Leak(
        "4.1.44.Final", "4.1.45.Final", 41,
        r"io\.netty\.handler\.codec\.http\.websocketx\.Utf8FrameValidator\.channelRead",
        "direct", 2, {"pooled_direct": 40}, throws="Utf8FrameValidator.checkUTF8String (line 50), "),
    "haproxy-tlvs": Leak(
        "4.1.36.Final", "4.1.37.Final", 41,
        r"io\.netty\.handler\.codec\.haproxy\.HAProxyMessage\.(readTlvs|readNextTLV)", "direct",
        51, {"pooled_direct": 40, "unreleased": 40}, is_owner=False), # it returned it in a holder
    "rsocket-default-payload": Leak(
        "1.0.1", "1.0.2", 82, r"io\.rsocket\.util\.DefaultPayload\.create", "direct", 4,
        {"pooled_direct": 80}, newest="1.1.5",
        jars=("io.rsocket:rsocket-core:@", "io.projectreactor:reactor-core:3.4.41",
              "org.reactivestreams:reactive-streams:1.0.4", "org.slf4j:slf4j-api:1.7.36")),
}
FIRST_THREE = tuple(LEAKS)[:3]


def leak_jars(leak, version):
    """The jars beside Netty's, fetched when they are needed."""
    return lambda: other_agents.jars(*(c.replace("@", version) for c in leak.jars)) if leak.jars else []


COMPILE += [("leak-" + name, NETTY_41 if leak.jars else leak.buggy,
             lambda name=name: sources("tests/jvm/known-leaks/common/*.java")()
             + sources(f"tests/jvm/known-leaks/{name}/*.java")(), leak_jars(leak, leak.buggy))
            for name, leak in LEAKS.items()]


def first_divergence(run):
    """What the report says first: where lives are lost."""
    text = run.client("summary", run.json_path)[0]
    assert text.startswith("Where lives are lost:\n1. "), text[:200]
    return text.split("\n2. ")[0].split("\n\n")[0]


def real_leak(leak):
    # Class.method, as the text says it; it has to be there, whatever else is.
    shown = r"\.".join(leak.step.rsplit(r"\.", 2)[1:])

    def check(run):
        first = first_divergence(run)
        assert first.split("1. ")[1].startswith(f"{leak.count} of "), first
        assert re.search(shown, first), f"no {shown} in {first}"
        throws = re.search(r"   \S.* does not release them if this throws: (.*)", first)
        if leak.throws:
            assert throws and (throws[1] + "\n").startswith(leak.throws), f"not {leak.throws} in {first}"
        else:
            assert throws is None, f"no exception is the cause: {first}"
        same("leaked", run.json.totals["leaked"], leak.count)
        same("held", run.json.totals["held"], leak.held)
        for path in run.json.leaked_at():
            assert any(re.fullmatch(leak.step, name) for name in path), f"no {leak.step} on {path}"
        owners = run.json.owners()
        same("leaked by the method that the fix changed",
             sum(n for name, n in owners.items() if re.fullmatch(leak.step, name)),
             leak.count if leak.is_owner else 0)
        same("bytes", run.json.memory(), {leak.memory: (leak.count, leak.count * leak.size)})
    return check


def no_leak(run):
    same("leaks", run.json.leaked_at(), {})
    for name in ("leaked", "held", "aged"):
        same(name, run.json.totals[name], 0)


def leak_cases():
    """A run without patterns takes the first three on 17 and 25 by turns, the later ones on 17 with
    and without the fix, and of what else there is (PARANOID, 25, the newest versions) each kind once
    with one of them or another."""
    for number, (name, leak) in enumerate(LEAKS.items()):
        newest = (leak.newest,) if leak.newest else (NETTY_41, NETTY_42)
        versions = (leak.buggy, leak.fixed, *newest)
        turn = number % 4
        for version in versions:
            for paranoid, level in enumerate(("DISABLED", "PARANOID")):
                flags = ["-Xmx256m", f"-Dio.netty.leakDetection.level={level}",
                         "-Dio.netty.leakDetection.targetRecords=4"]
                flags += [f"-Dio.netty.allocator.{size_class}CacheSize=0"
                          for size_class in ("tiny", "small", "normal")]
                if version == NETTY_42:
                    flags += POOLED_42
                old = name in FIRST_THREE
                short = in_turn(number, versions.index(version), paranoid)
                if not old:
                    short = [17] if level == "DISABLED" and version in versions[:2] else []
                    if (versions.index(version), level) == ((0, "PARANOID"), (2, "DISABLED"),
                                                            (1, "PARANOID"), (3, "PARANOID"))[turn]:
                        short.append(25)
                yield Case(f"leak/{name} {version} {level}", "Leak", jvm=flags, short=short,
                           netty=NETTY_41 if leak.jars else version,
                           agent="include=" + ("io.rsocket" if leak.jars else "io.netty.handler"),
                           classes="leak-" + name, libraries=leak_jars(leak, version),
                           check=reconcile.too(real_leak(leak) if version == leak.buggy
                                               else no_leak),
                           oracle={k: n if version == leak.buggy else 0
                                   for k, n in leak.oracle.items()},
                           quick=old and level == "DISABLED" and version in versions[:2])


# ---- ADR 19: what the Java tracker expects --------------------------------------------------

def two_of_default(run):
    exact(run)
    same("last steps", run.json.last_steps(), {STEPS + "leaky": 1})


def holder(run):
    heap = "io.netty.buffer.UnpooledByteBufAllocator.heapBuffer"
    lost_at(run, {(heap, "com.app.Basics.boxed"): 2})
    same("below the leak", run.json.passed(STEPS + "step"), 2)


def many_leaks(run):
    exact(run)
    same("last steps", run.json.last_steps(), {STEPS + "leaky": 5000})


def many_leaks_first_look(run):
    first = run.snapshot()
    same("leaked at the first look", first.totals["leaked"], 5000)


def in_use(run):
    exact(run)
    same("live", run.json.totals["live"], 1)
    same("live bytes", run.json.totals["live_bytes"], 512)
    same("leaks", run.json.leaks, [])


def one_flow(run):
    exact(run)
    same("roots", sum(run.json.roots().values()), 1)
    same("number of roots", len(run.json.roots()), 1)
    for step in ("step", "step2", "done"):
        same(step, run.json.passed(STEPS + step), 1)


def futures(run):
    exact(run)
    same("through a reference", run.json.passed("com.app.Basics.through"), 1)
    same("lambda", sum(run.json.passed(n) for n in run.json.names() if "lambda$async" in n), 1)


def slices(run):
    for name in ("leaked", "live", "held", "unknown", "harmless"):
        same(name, run.json.totals[name], 0)


def slice_leak(run):
    same("leaked", run.json.totals["leaked"], 1)
    same("last steps", run.json.last_steps(), {STEPS + "leaky": 1})
    same("direct lives", run.json.memory()["direct"][0], 1)


SIGNATURES = {
    "publicOne": 1, "protectedOne": 1, "packageOne": 1, "privateOne": 1, "staticOne": 1,
    "referred": 1, "generic": 1, "varied": 1, "throwing": 1, "same": 1, "overloaded": 2, "nulls": 1,
    "three": 3, "five": 5, "make": 25, "make_return": 25, "one": 20,
}
INNER_SIGNATURES = {
    "$Impl.inInterface": 1, "$Face.inDefault": 1, "$Face.inStatic": 1, "$Base.inAbstractClass": 1,
    "$Impl.overridden": 1, "$1.accept": 1,
}


def signatures(run):
    exact(run)
    for method, count in SIGNATURES.items():
        same(method, run.json.passed("com.app.Signatures." + method), count)
    for method, count in INNER_SIGNATURES.items():
        same(method, run.json.passed("com.app.Signatures" + method), count)
    lambdas = [n for n in run.json.names() if n.startswith("com.app.Signatures.lambda$run$")]
    same("lambdas with a buffer", len(lambdas), 7)
    for name in lambdas:
        same(name, run.json.passed(name), 1)
    same("bridges, access$", [n for n in run.json.names() if "access$" in n], [])


def returns(run):
    heap = "io.netty.buffer.UnpooledByteBufAllocator.heapBuffer"
    own = "com.app.Signatures."
    lost_at(run, {
        (heap, own + "newOne", own + "newOne_return", own + "fresh", STEPS + "leaky"): 1,
        (heap, own + "fluent", own + "through", STEPS + "step", own + "fluent"): 1,
        # No replace_return: replace's own step, after its call of heapBuffer, counts as its entry (design.md: insertion).
        (heap, own + "replace", own + "replaced", STEPS + "leaky"): 1,
        (heap, own + "kept", own + "orNew", STEPS + "step2", own + "kept"): 1,
        (heap, own + "recursion", own + "recurse", STEPS + "leaky"): 1,
        # cast() has it from heapBuffer and from polled(); polled() and received() see it at casts.
        (heap, own + "cast", own + "polled", own + "polled_return", own + "cast",
         own + "received"): 1,
    })


def objects(run):
    exact(run)
    read = "com.app.Objects$In.channelRead"
    same("channelRead", run.json.passed(read), 10)
    same("last steps", run.json.last_steps(), {read: 5})


def holders(run):
    exact(run)
    same("takeHolder", run.json.passed("com.app.Objects.takeHolder"), 6)
    same("last steps", run.json.last_steps(), {"com.app.Objects.takeHolder": 2})
    same("holders_unknown", run.json.totals["holders_unknown"], 0)


def constructors(tracked):
    def check(run):
        exact(run)
        for name in ("<init>", "<init>_return"):
            same(name, run.json.passed("com.app.Objects$Envelope." + name), 1 if tracked else 0)
    return check


def forgotten_requests(run):
    """The aggregated request is a composite that owns what was read: one leak each, no more."""
    same("leaks", run.json.last_steps(), {"com.app.Http$Echo.forget": 3})


def travel(run):
    """20 kinds of messages by three ways each: the handler that had it last is the leaking step."""
    exact(run)
    kinds = run.oracle["leaked"]
    same("kinds", kinds, 20)
    same("live", run.json.totals["live"], run.json.totals["static"])  # a constant of HTTP/2's
    same("lives", run.json.totals["lives"] - run.json.totals["live"], 3 * kinds)
    read = "com.app.Travel${}.channelRead{}"
    same("last steps", run.json.last_steps(), {read.format("Forget", ""): kinds})
    same("handed over", run.json.passed(read.format("Hand", "")), kinds)
    same("HttpObject", run.json.passed(read.format("HttpSink", "0")), 4)
    same("the others", run.json.passed(read.format("Sink", "0")), kinds - 4)
    same("memory", run.json.memory(), {"direct": (kinds, 16 * kinds)})
    same("holders_unknown", run.json.totals["holders_unknown"], 0)


# Five in list: the last one is in a list of the program's own, which has it in a field (ADR 43).
CONTAINERS = {"array": 1, "varied": 2, "list": 5, "arrayList": 1, "wildcard": 1, "optional": 1,
              "holders": 1, "nested": 2}


def lists(looked_at):
    """Where each buffer was last; of twenty in a list the first looked_at are seen."""
    def check(run):
        exact(run)
        last = {"com.app.Containers." + name: n for name, n in CONTAINERS.items()}
        last["com.app.Containers$Take.channelRead"] = 4
        last["com.app.Containers.many"] = looked_at
        if looked_at < 20:
            last["com.app.Containers.twenty"] = 20 - looked_at
        last["com.app.Containers.lists"] = 2  # raw and anything
        same("last steps", run.json.last_steps(), last)
        same("elements_cut", run.json.totals["elements_cut"], 20 - looked_at)
    return check


def lists_of_objects(run):
    """objects=on: also those whose type does not say that there are buffers."""
    exact(run)
    last = run.json.last_steps()
    same("raw, anything", [last.get("com.app.Containers." + name) for name in ("raw", "anything", "lists")],
         [1, 1, None])


def decoders(run):
    """What decode and encode put into their list is lost at their nodes, though nothing else names it."""
    exact(run)
    ends = {}
    for path, count in run.json.leaked_at().items():
        ends[path[-3:]] = ends.get(path[-3:], 0) + count
    same("ends", ends, {("io.netty.buffer.ByteBuf.retained", f"com.app.Containers${name}",
                         "com.app.Containers.drop"): 3
                        for name in ("Frames.decode", "Unpack.decode", "Pack.encode")})


# Buffers of three lost messages. memcache: key and content; of one with a key its extras are not looked
# at (a holder has one field in instrument/netty.c), in 4.1 they are a slice of their own.
CODECS = {"http": 3, "websocket": 3, "mqtt": 3, "redis": 6, "memcache": 6, "dns": 3, "smtp": 6,
          "haproxy": 3}


def more_codecs(version):
    return lambda: other_agents.jars(*(f"io.netty:netty-codec-{name}:{version}"
                                 for name in ("redis", "mqtt", "memcache", "smtp")))


def codecs(kind, version):
    """What Netty's decoder makes of what its encoder wrote: the handler that lost it is the last."""
    def check(run):
        for name in ("raced_steps", "dropped_steps", "unknown", "holders_unknown", "elements_cut"):
            same(name, run.json.totals[name], 0)
        same("live", run.json.totals["live"], run.json.totals["static"])
        last = {"com.app.Codecs$Take.channelRead": CODECS[kind]}
        if kind == "memcache" and version == NETTY_41:
            last["io.netty.buffer.ByteBuf.retained"] = 3
        same("last steps", run.json.last_steps(), last)
    return check


COMPOSITES = {  # losing method: memory, bytes
    "added": ("composite", 300), "sliced": ("direct", 64), "removed": ("heap", 30),
    "takenOut": ("direct", 128), "consolidated": ("heap", 48), "flattened": ("composite", 96),
    "nested": ("composite", 72), "wrapped": ("heap", 30), "unmodifiable": ("heap", 3),
    "retained": ("direct", 512), "outlives": ("composite", 1030)}


def composites(run):
    """One leak a composite, whatever is in it; its components are held."""
    exact(run)
    found = {leak["path"][-2].rsplit(".", 1)[1]: (leak["memory"], leak["bytes"])
             for leak in run.json.leaks}
    same("leaks", found, COMPOSITES)
    same("totals", [run.json.totals[n] for n in ("lives", "released", "leaked", "held", "undone")],
         [41, 9, 11, 21, 0])
    same("roots", {k.rsplit(".", 2)[1] + "." + k.rsplit(".", 1)[1]: n
                   for k, n in run.json.roots().items() if "Unpooled." in k},
         {"Unpooled.wrappedBuffer": 1, "Unpooled.wrappedUnmodifiableBuffer": 1,
          "Unpooled.compositeBuffer": 1})


def replaying(run):
    """What decode sees is a wrapper: its steps are the buffers' own, also of those it had before."""
    decode = "com.app.Replaying$Decoder.decode"
    pooled = "io.netty.buffer.PooledByteBufAllocator.directBuffer"
    lost_at(run, {(pooled, "com.app.Replaying.part_return", "com.app.Replaying.run", decode): 1})
    same("decode", run.json.passed(decode), 20)


# Netty's pools are followed where each class is named (design.md: insertion), here with all constructors.
GREEDY = "include=com.app+io.netty+" + "+".join("io.netty.buffer." + name for name in (
    "AbstractByteBuf", "AbstractByteBufAllocator", "AbstractReferenceCountedByteBuf",
    "AdaptiveByteBufAllocator", "AdaptiveByteBufAllocator$DirectChunkAllocator",
    "AdaptiveByteBufAllocator$HeapChunkAllocator", "AdaptivePoolingAllocator",
    "AdaptivePoolingAllocator$AdaptiveByteBuf", "AdaptivePoolingAllocator$BuddyChunk",
    "AdaptivePoolingAllocator$BuddyChunkController", "AdaptivePoolingAllocator$Chunk",
    "AdaptivePoolingAllocator$Magazine", "AdaptivePoolingAllocator$SizeClassChunkController",
    "AdaptivePoolingAllocator$SizeClassedChunk", "EmptyByteBuf", "PooledDuplicatedByteBuf",
    "PooledSlicedByteBuf", "Unpooled", "UnpooledDirectByteBuf", "UnpooledHeapByteBuf",
    "UnpooledUnsafeDirectByteBuf", "UnpooledUnsafeHeapByteBuf", "UnsafeByteBufUtil")) + "+io.netty.util.internal" \
    "+io.netty.channel.AbstractChannelHandlerContext+io.netty.channel.CombinedChannelDuplexHandler" \
    "+io.netty.channel.DefaultChannelPipeline$HeadContext" \
    "+io.netty.channel.DefaultChannelPipeline$TailContext+io.netty.channel.ChannelOutboundBuffer" \
    "+io.netty.channel.AbstractChannel$AbstractUnsafe+io.netty.channel.embedded.EmbeddedChannel" \
    ",trackConstructors=io.netty,objects=on"


def lost_in_leaky(run, count):
    same("through Steps.leaky", run.json.passed(STEPS + "leaky"), count)
    for path in run.json.leaked_at():
        assert STEPS + "leaky" in path, path


def chunks(run):
    """Chunks of the adaptive allocator are Netty's own: no lives, no leaks with it, but counted."""
    exact(run)
    lost_in_leaky(run, 2)
    same("memory", run.json.memory(), {"direct": (1, 256), "heap": (1, 512)})
    same("six chunks of each memory", run.json.totals["untracked_buffers"], 12)


def wrapped(run):
    """Wrapped memory is the collector's, also where a constructor was what showed the buffer."""
    outcomes(run)
    lost_in_leaky(run, 1)
    same("harmless", run.json.totals["harmless"], 4)
    same("its roots", run.json.roots()["io.netty.buffer.Unpooled.wrappedBuffer"], 6)


def derived_of_some(run):
    """A buffer derived by a sampled recycler from one that was not sampled is no life either."""
    t = run.json.totals
    assert 0 < t["lives"] < 2 * run.oracle["lives"], t["lives"]
    same("all released", t["released"], t["lives"])
    same("unknown", t["unknown"], 0)


def unloaded(run):
    """Only holders have a buffer for `take` to pass, and each passes it once."""
    exact(run)
    same("through take", run.json.passed("com.app.Unloaded.take"), run.oracle["taken"])


def memory(run):
    t = run.json.totals
    same("lives", t["lives"], 5)
    same("leaked", t["leaked"], 4)
    same("harmless", t["harmless"], 1)
    same("memory", run.json.memory(), {"heap": (2, 400), "direct": (2, 600)})


def direct_only(run):
    same("memory", run.json.memory(), {"direct": (2, 600)})
    assert not any("heapBuffer" in r for r in run.json.roots()), run.json.roots()
    assert not any(r.startswith("?first-seen") for r in run.json.roots()), run.json.roots()


def node_limit(run):
    outcomes(run)
    limit = run.json.doc["limits"]["maxNodes"]
    same("limit", limit["limit"], 100)
    assert 0 < limit["used"] <= 100, limit
    assert limit["hit"] > 0, limit
    assert run.json.totals["dropped_steps"] > 0, run.json.totals


def tree_cuts(run):
    """300 paths: the tree shows some, says how many it left out and how to see them all."""
    exact(run)
    cut, _ = run.client("tree", run.json_path)
    whole, _ = run.client("tree", "--all", run.json_path)
    assert "--all" in cut, cut[-500:]
    assert len(cut.splitlines()) < len(whole.splitlines()), "nothing was cut"
    same("LEAK lines of --all", sum("LEAK" in line and "ref=" in line
                                    for line in whole.splitlines()), 150)


def stall(run):
    exact(run)
    assert run.oracle["median_ns"] < 100_000, run.oracle


def race(run):
    outcomes(run)
    same("leaks", run.json.leaks, [])


def hashes(run):
    exact(run)
    assert run.oracle["collisions"] > 0, "no two identity hashes collided: nothing was tested"


def excluded(run):
    exact(run)
    same("excluded", [n for n in run.json.names() if n.startswith(STEPS)], [])
    assert run.json.passed("com.app.Cycles.cycle") == 1000, run.json.names()


def nothing_included(run):
    assert "include matches no class yet" in run.json.notes(), run.json.notes()
    assert "com.app" in run.json.notes(), f"nearest packages not named: {run.json.notes()!r}"


def no_netty(run):
    same("lives", run.json.totals["lives"], 0)
    assert "Netty" in run.json.notes(), f"no note that Netty was never loaded: {run.json.notes()!r}"


def old_netty(run):
    exact(run)
    same("held", run.json.totals["held"], 0)
    same("lost at", run.json.last_steps(), {"com.app.OldNetty.forget": 2})
    for path in run.json.leaked_at():
        assert path[0].endswith("ByteBufAllocator.directBuffer"), path


def probe_cases():
    yield probe("default 4.1", "default", check=two_of_default, quick=True)
    yield probe("default 4.2", "default", netty=NETTY_42, check=two_of_default, quick=True)
    yield probe("holder", "holder", check=holder, quick=True)
    yield probe("manyleaks", "manyleaks", check=many_leaks, quick=True)
    yield probe("manyleaks at exit without the program's own collections", "manyleaks",
                agent="include=com.app,gc=exit", check=many_leaks)
    for version in (NETTY_41, NETTY_42):
        short = version[:3]
        yield probe(f"slice {short}", "slice", netty=version, check=slices, quick=True)
        yield probe(f"slice {short} paranoid", "slice", netty=version, check=slices,
                    jvm=["-Dio.netty.leakDetection.level=PARANOID"])
        yield probe(f"sliceleak {short}", "sliceleak", netty=version, check=slice_leak)
        yield probe(f"sigs {short}", "sigs", netty=version, check=signatures, quick=True)
        yield probe(f"returns {short}", "returns", netty=version, check=returns, quick=True)
        yield probe(f"thread {short}", "thread", netty=version, check=one_flow, quick=True)
        yield probe(f"thread {short} paranoid", "thread", netty=version, check=one_flow,
                    jvm=["-Dio.netty.leakDetection.level=PARANOID"], quick=True)
        yield probe(f"race {short}", "race", netty=version, check=race, quick=True)
    yield probe("inuse", "inuse", check=in_use, quick=True)
    yield probe("async", "async", check=futures)
    yield probe("limit", "limit", agent="include=com.app,maxNodes=100", check=node_limit,
                quick=True)
    yield probe("limit not reached", "limit", check=tree_cuts)
    yield probe("stall", "stall", check=stall, quick=True)
    yield probe("threads", "threads", "10", "2", check=exact, quick=True)
    yield probe("hash 1000000", "hash", "1000000", jvm=["-Xmx600m"], check=hashes, short=(25,),
                agent="include=com.app,maxLives=2000000,memory=1G")
    yield probe("objects", "objects", check=objects, quick=True)
    yield probe("holders", "holders", check=holders, quick=True)
    # JDK 27 has compressed class pointers always, and the flag is one too many there.
    for flags in ([], ["-Xcomp", "-XX:TieredStopAtLevel=1"],
                  ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:-UseCompressedClassPointers"],
                  ["-XX:+UseZGC"]):
        yield probe(f"unloaded {' '.join(flags)}".strip(), "unloaded", "100", jvm=flags,
                    check=unloaded, agent="include=com.app,objects=on", short=(17,),
                    jdk=(17, 25) if flags else ALL_JDKS)
    yield probe("unloaded compact headers", "unloaded", "100", check=unloaded, jdk=(25,), short=(25,),
                jvm=["-XX:+UseCompactObjectHeaders"], agent="include=com.app,objects=on")
    for version in (NETTY_41, NETTY_42):
        yield probe(f"travel {version[:3]}", "travel", netty=version, check=travel, short=(17,))
        yield probe(f"lists {version[:3]}", "lists", netty=version, check=lists(16),
                    quick=version == NETTY_41)
        yield probe(f"decoders {version[:3]}", "decoders", netty=version, check=decoders,
                    quick=version == NETTY_41)
        yield probe(f"composites {version[:3]}", "composites", netty=version, check=composites,
                    quick=version == NETTY_41)
        yield probe(f"composites {version[:3]} paranoid", "composites", netty=version,
                    check=composites, short=(17,),
                    jvm=["-Dio.netty.leakDetection.level=PARANOID"])
        yield probe(f"replaying {version[:3]}", "replaying", netty=version, check=replaying)
        yield probe(f"chunks {version[:3]} greedy", "chunks", netty=version, check=chunks,
                    agent=GREEDY)
        yield probe(f"wrapped {version[:3]} greedy", "wrapped", netty=version, check=wrapped,
                    agent=GREEDY, short=(17,))
        yield probe(f"derived {version[:3]} greedy", "derived", "3", netty=version, agent=GREEDY,
                    short=(17,))
        yield probe(f"derived {version[:3]} greedy sample", "derived", "40", netty=version,
                    agent=GREEDY + ",sample=2", check=derived_of_some, short=(17,))
    for kind in CODECS:
        for version in (NETTY_41, NETTY_42):
            yield probe(f"codecs {version[:3]} {kind}", "codecs", kind, netty=version, short=(17,),
                        check=codecs(kind, version), libraries=more_codecs(version))
    yield probe("lists of 20", "lists", agent="include=com.app,maxElements=20", check=lists(20),
                short=(17,))
    yield probe("lists objects=on", "lists", agent="include=com.app,objects=on", short=(17,),
                check=lists_of_objects)
    for version in ("4.1.29.Final", NETTY_41):  # of the first, no release() calls handleRelease()
        yield probe(f"oldnetty {version[:6]}", "oldnetty", netty=version, check=old_netty, short=(17,))
    yield probe("travel 4.1.48", "travel", netty="4.1.48.Final", check=travel, jdk=(17,))
    yield probe("constructors off", "constructors", check=constructors(False))
    yield probe("constructors on", "constructors", check=constructors(True),
                agent="include=com.app,trackConstructors=com.app.Objects$Envelope")
    yield probe("memory", "memory", check=memory, quick=True)
    yield probe("memory direct only", "memory", agent="include=com.app,trackDirectOnly=true",
                check=direct_only, quick=True)
    for version in (NETTY_41, NETTY_42):
        for include in ("com.app", "com.app+io.netty"):
            yield probe(f"http {version[:3]} {include}", "http", "400", netty=version,
                        agent="include=" + include, check=no_leak,
                        short=in_turn(version == NETTY_42, include == "com.app"),
                        quick=include == "com.app" and version == NETTY_41)
        yield probe(f"http {version[:3]} paranoid", "http", "200", netty=version, check=no_leak,
                    short=in_turn(version == NETTY_42),
                    jvm=["-Dio.netty.leakDetection.level=PARANOID"])
    yield probe("http with three lost", "http", "50", "3", check=forgotten_requests)
    yield probe("exclude", "cycles", "pooled", "main",
                agent="include=com.app,exclude=com.app.Steps", check=excluded)
    yield probe("java tracker's separators", "cycles", "pooled", "main",
                agent="include=com.app.*,com.other;exclude=com.app.Steps", check=excluded)
    yield probe("include nowhere", "default", agent="include=com.nowhere", check=nothing_included)
    yield probe("include a name boundary", "default", agent="include=com.ap",
                check=lambda run: same("steps", [n for n in run.json.names() if "com.app" in n], []))
    yield Case("probe/no netty", "com.app.Hello", netty=None, check=no_netty)
    for parent in ("platform", "app"):
        yield Case(f"probe/isolated loader, parent {parent}", "com.app.Iso", parent, "@PATH@",
                   "default", check=two_of_default, quick=parent == "app")
    yield probe("exit code", "exit", "3", exit_code=3, check=None)
    yield probe("uncaught exception", "throw", exit_code=1, check=None)


# ---- other agents, odd JVMs, stress -----------------------------------------------------------

OTHER = "-javaagent:@OUT@/other-agent.jar="


def map_mode(run):
    """ByteBuf was there before us: named, and as exact as with the field."""
    reason, = run.json.doc["jvm"]["map_mode"]
    assert reason.startswith("io.netty.buffer.ByteBuf: it was loaded before bbflow, by an agent that "
                             "starts earlier"), reason
    same("untracked_classes", run.json.totals["untracked_classes"], 0)


def beside(word):
    def check(run):
        assert f"OTHER {word}" in run.stdout, f"the other agent: {run.stdout}"
        exact(run)
        same("last steps", run.json.last_steps(), {STEPS + "leaky": run.oracle["leaked"]})
    return check


def stress(run):
    """Paths may be mixed by the racing steps; every life has the outcome that it had."""
    same("rest", run.oracle["rest"], 0)
    outcomes(run)
    same("unknown", run.json.totals["unknown"], 0)


def mapped(check):
    def both(run):
        map_mode(run)
        check(run)
    return both


def busy(run):
    exact(run)
    same("last steps", run.json.last_steps(), {STEPS + "leaky": run.oracle["leaked"]})


def map_cases():
    """The cases with numbers again, without the hidden field: ByteBuf is loaded before us."""
    def case(name, *args, check, jvm=(), **more):
        return Case("map/" + name, PROBE, *args, jvm=[OTHER + "load", *jvm], check=mapped(check),
                    **more)
    one_hash = ["-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2"]
    yield case("busy", "busy", "1", check=busy, quick=True)
    for version in (NETTY_41, NETTY_42):
        short = version[:3]
        turn = in_turn(version == NETTY_42)
        other = in_turn(version == NETTY_41)
        for allocator in ("pooled", "unpooled", "adaptive"):
            pooled = allocator == "pooled"
            yield case(f"cycles {short} {allocator}", "cycles", allocator, "ftl", "8",
                       netty=version, check=cycles(allocator), jdk=ALL_JDKS if pooled else (17,),
                       short=((11, 25) if version == NETTY_41 else (17, 21)) if pooled else (17,))
        yield case(f"slice {short}", "slice", netty=version, check=slices, short=turn)
        yield case(f"slice {short} paranoid", "slice", netty=version, check=slices,
                   jvm=["-Dio.netty.leakDetection.level=PARANOID"], jdk=(17,))
        yield case(f"sliceleak {short}", "sliceleak", netty=version, check=slice_leak, short=other)
        yield case(f"sigs {short}", "sigs", netty=version, check=signatures, short=turn)
        yield case(f"returns {short}", "returns", netty=version, check=returns, short=other)
        yield case(f"http {short}", "http", "200", netty=version, check=no_leak, jdk=(17,))
        yield case(f"race {short}", "race", netty=version, check=race, short=turn)
    yield case("holders", "holders", check=holders)
    for version in (NETTY_41, NETTY_42):
        # Without 4.1's release(): a chunk has no mark here, and would be seen as it ends.
        yield case(f"chunks {version[:3]} greedy", "chunks", netty=version, check=chunks,
                   agent=GREEDY.replace("+io.netty.util.internal", ""), jdk=(17,))
        yield case(f"wrapped {version[:3]} greedy", "wrapped", netty=version, check=wrapped,
                   agent=GREEDY, jdk=(17,))
        yield case(f"composites {version[:3]}", "composites", netty=version, check=composites,
                   short=in_turn(version == NETTY_41))
    yield case("memory", "memory", check=memory)
    yield case("memory direct only", "memory", check=direct_only, jdk=(17,),
               agent="include=com.app,trackDirectOnly=true")
    yield case("one hash", "hash", "3000", jvm=one_hash, check=hashes, short=(17,))
    yield case("cycles, one hash", "cycles", "pooled", "ftl", "8", jvm=one_hash,
               check=cycles("pooled"), short=(25,))
    yield case("stress", "stress", "8", "5", check=stress, quick=True, short=(25,),
               jvm=["-Xmx1g", "-Dio.netty.leakDetection.level=DISABLED"],
               agent="include=com.app,gc=exit,memory=1G")
    yield case("stress ZGC", "stress", "8", "5", check=stress, jdk=(17,),
               jvm=["-XX:+UseZGC", "-Xmx1g", "-Dio.netty.leakDetection.level=DISABLED"],
               agent="include=com.app,gc=exit,memory=1G")
    yield case("stress, one hash", "stress", "4", "3", check=stress, jdk=(17,),
               jvm=[*one_hash, "-Xmx1g", "-Dio.netty.leakDetection.level=DISABLED"],
               agent="include=com.app,gc=exit,memory=1G")


def odd_cases():
    def odd(name, *args, **more):
        return Case("odd/" + name, PROBE, *args, **more)
    yield from map_cases()
    for mode, done in (("retransform", "retransformed"), ("redefine", "redefined")):
        yield odd(f"{mode} by an agent before us", "busy", "4", jvm=[OTHER + mode],
                  check=beside(done), quick=mode == "retransform")
        yield odd(f"{mode} by an agent after us", "busy", "4", after=[OTHER + mode],
                  check=beside(done))
    yield odd("ByteBuf redefined before it is linked", "busy", "1", after=[OTHER + "early"],
              check=beside("redefined"), quick=True)
    # Collector and compiler by JDK: tests/long/jvm-matrix.
    for turn, (name, flags) in enumerate((
                        ("no verification", ["-XX:+UnlockDiagnosticVMOptions",
                                             "-XX:-BytecodeVerificationRemote"]),
                        ("interpreter", ["-Xint"]), ("C1", ["-XX:TieredStopAtLevel=1"]),
                        ("serial", ["-XX:+UseSerialGC"]), ("parallel", ["-XX:+UseParallelGC"]),
                        ("ZGC", ["-XX:+UseZGC"]))):
        yield odd(name, "cycles", "pooled", "loop", check=cycles("pooled"), jvm=flags,
                  short=in_turn(turn))
    # With resets, settings and exits in the middle: tests/long/exact-under-stress.
    for name, flags, jdk in (("G1", ["-XX:+UseG1GC"], (25,)), ("ZGC", ["-XX:+UseZGC"], (17,))):
        yield odd(f"stress {name}", "stress", "8", "5", jdk=jdk, check=stress,
                  jvm=[*flags, "-Xmx1g", "-Dio.netty.leakDetection.level=DISABLED"],
                  agent="include=com.app,gc=exit,memory=1G")
    yield odd("stress virtual threads", "stress", "8", "5", "virtual", jdk=(21,), check=stress,
              jvm=["-Xmx1g", "-Dio.netty.leakDetection.level=DISABLED"],
              agent="include=com.app,gc=exit,memory=1G")


# ---- a running JVM and the client -------------------------------------------------------------

def tree_while_running(run):
    text, _ = run.client("tree", "--gc", str(run.pid))
    assert "LEAK" in text, text
    assert re.search(r"Steps\.leaky \[ref=1, count=\d+\].*LEAK", text), text
    text, _ = run.client("leaks", "--gc", str(run.pid), code=10)
    assert re.search(r"^\d LEAK proven +[\d,]+ of [\d,]+ \(.*%\)  .*\n    .*leaky      <- last seen here", text, re.M), text


def every_verb(run):
    pid = str(run.pid)
    for verb, word in (("tree", "ROOT:"), ("summary", "Flow Summary"), ("llm", "METADATA"),
                       ("dump", "bbflow-snapshot/1"), ("status", "include")):
        for extra in ([], ["--gc"]) if verb != "status" else ([],):
            text, _ = run.client(verb, *extra, pid)
            assert word in text, f"bbflow {verb} {extra}: no {word!r} in {text[:300]!r}"
    assert pid in run.client("list")[0]
    run.client("tree", "com.app.Probes")
    run.client("tree", "--socket", run.sockets)  # no target: other folders may have other JVMs


def reset(run):
    before = run.snapshot("--gc").totals
    assert before["leaked"] > 0, before
    run.client("reset", str(run.pid))
    after = run.snapshot().totals
    assert after["lives"] < before["lives"], (before, after)


def set_direct_only(run):
    pid = str(run.pid)

    def roots():
        return {k: v for k, v in run.snapshot().roots().items() if "heapBuffer" in k}
    assert roots(), "no heap root before"
    run.client("set", pid, "trackDirectOnly=true")
    time.sleep(0.3)
    first = roots()
    time.sleep(0.5)
    same("heap lives while trackDirectOnly=true", roots(), first)
    run.client("set", pid, "trackDirectOnly=false")
    time.sleep(0.5)
    assert roots() != first, "heap lives did not come back"


def set_include(run):
    pid = str(run.pid)
    assert "com.other.Other.touch" not in run.snapshot().names()
    answer, _ = run.client("set", pid, "include=com.app+com.other")
    time.sleep(0.5)
    assert "com.other.Other.touch" in run.snapshot().names(), answer
    run.client("set", pid, "include=com.other")
    time.sleep(0.5)
    first = run.snapshot()
    time.sleep(0.5)
    second = run.snapshot()
    same("lives through com.app, which is no longer included",
         second.passed("com.app.Steps.step2"), first.passed("com.app.Steps.step2"))
    assert second.passed("com.other.Other.touch") > first.passed("com.other.Other.touch")


def set_refused(run):
    pid = str(run.pid)
    for setting, words in (("maxSites=100", "start"), ("nosuch=1", "nosuch"),
                           ("trackDirectOnly=maybe", "maybe"), ("include=a..b", "a..b")):
        done = run.client("set", pid, setting, code=5 if "maxSites" in setting else None)
        assert words in done[0] + done[1], f"set {setting}: {done}"


def live_cases():
    def serve(name, live, **more):
        return Case("live/" + name, PROBE, "serve", live=live, check=lambda run: None, **more)
    yield serve("tree while running", tree_while_running, quick=True, jdk=ALL_JDKS, short=(11, 21))
    yield serve("every verb", every_verb, quick=True, short=(25,))
    yield serve("reset", reset, quick=True, short=(17,))
    yield serve("set trackDirectOnly", set_direct_only, quick=True, short=(25,))
    yield serve("set include", set_include, quick=True)
    yield serve("set refused", set_refused, short=(17,))
    yield Case("live/manyleaks at the first look", PROBE, "manyleaks", "wait", jdk=(17, 25), short=(25,),
               live=many_leaks_first_look, check=many_leaks, ready="ORACLE")


CASES = [*probe_cases(), *cycle_cases(), *odd_cases(), *leak_cases(), *live_cases(), *scenario.cases(),
         *other_agents.cases(), *hostile.cases(), *attach.cases(cycles), *notice.cases(), *tcp.cases(), *resources.cases(),
         *reconcile.cases(), *pins.cases(), *usage.cases(), *growth.cases(), *context.cases(), *ages.cases(), *budget.cases(),
         *seed.cases(), *track.cases(), *carriers.cases(),
         *oom.cases(), *misuse.cases(), *refs.cases(), *idle.cases(), *uring.cases(),
         *wire.cases(), *exits.cases(), *files.cases(), *blackbox.cases(), *tried.cases(), *watch.cases(), *top.cases(),
         *words.cases(), *corners.cases(), *blame.cases(), *bare_roots.cases(), *ci.cases(), *transport.cases(),
         *jmx.cases(), *handlers.cases(), *binders.cases(), *scopes.cases(), *lttng.cases(), *metrics.cases(), *flight.cases(),
         *recording.cases(), *names.cases(), *windows.cases(), *doctor.cases(), *java_agent.cases(), *pods.cases()]
CASES += coming.cases(CASES)


def by_turns():
    """A case that names no JDK for a run without patterns, and that needs JVMs of its own, alternates there
    between 17 and 25."""
    costly = [case for case in CASES if case.open_to_turns and case.jdk == (17, 25)
              and not (isinstance(case, Case) and sharing.key(case, 17))]
    for number, case in enumerate(costly):
        case.short = in_turn(number)


by_turns()
