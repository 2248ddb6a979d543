"""Flight recordings (bbflow jfr): what real JVMs record is printed as the JDK 25's own tool prints it,
damaged files are mended so that the tools of 17 and 25 and JMC read them, packed ones are unpacked,
recordings of two JVMs are joined, and Netty's own events name exactly the buffers that are lost."""

import functools
import glob
import gzip
import json
import os
import re
import shutil
import struct
import subprocess

import other_agents
from harness import CLIENT, OUT, ROOT, Scenario, class_path
from snapshot import Snapshot, same

NETTY = "4.2.20.Final"
LEAKY, WORK = "com.app.Leaky", "com.app.Work"
NETTY_EVENTS = ("AllocateBuffer", "FreeBuffer", "ReallocateBuffer", "AllocateChunk", "FreeChunk",
                "ReturnChunk")
JMC = ("org.openjdk.jmc:flightrecorder:9.1.2", "org.openjdk.jmc:common:9.1.2",
       "org.owasp.encoder:encoder:1.2.3", "at.yawk.lz4:lz4-java:1.10.2")
ASYNC_PROFILER = "tools.profiler:async-profiler:4.5"
CONVERTER = "tools.profiler:jfr-converter:4.5"


def sources():
    return sorted(glob.glob(os.path.join(ROOT, "tests/jvm/flight/com/app/*.java")))


def jmc_jars():
    return other_agents.jars(*JMC)


def compiled():
    java = ("--release", "17", "-g")
    return [("flight", NETTY, sources, list, *java),
            ("flight-jmc", NETTY,
             lambda: [os.path.join(ROOT, "tests/jvm/flight/com/jmc/ReadAll.java")], jmc_jars, *java)]


@functools.lru_cache(None)
def homes():
    """Major version to home, of the JDKs that have the jfr tool."""
    text = subprocess.run([os.path.join(ROOT, "scripts/find-jdks"), "17", "25"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    rows = [line.split("\t")[:2] for line in text.splitlines()]
    return {int(major): home for major, home in rows
            if os.path.exists(os.path.join(home, "bin/jfr"))}


def tool(major):
    return os.path.join(homes()[major], "bin/jfr")


def has_tools(name, *majors):
    missing = [major for major in majors if major not in homes()]
    if missing:
        print(f"# {name}: skipped, no JDK {missing[0]} with the jfr tool", flush=True)
    return not missing


def bbflow(bench, *words, code=0):
    done = subprocess.run([CLIENT, "jfr", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=bench.env, timeout=120, check=False)
    same(f"exit code of 'jfr {words[0]}' ({done.stderr.decode()[-300:]})", done.returncode, code)
    return done.stdout.decode()


def jdk_tool(bench, major, *words):
    done = subprocess.run([tool(major), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=bench.env, timeout=300, check=False)
    text = done.stdout.decode("utf-8", "replace")
    same(f"exit code of the JDK {major}'s jfr {words[0]} ({text[-300:]})", done.returncode, 0)
    return text


def record(bench, name, main, *args, settings="default", options=(), jvm=(), agent=None):
    path = bench.path(name + ".jfr")
    words = ",".join([f"filename={path}", f"settings={settings}", *options])
    done = bench.java(f"-XX:StartFlightRecording={words}", *jvm, main, *args, agent=agent,
                      netty=NETTY, classes="flight", timeout=180)
    same(f"exit of {main} {args}: {done.stdout} {done.stderr}", done.returncode, 0)
    return path, done.stdout


# ---- print, summary, metadata: as the JDK's tool ----

def events_of(text):
    return sorted(json.dumps(event) for event in json.loads(text)["recording"]["events"])


def texts_of(text):
    """The events of the text form. Control characters are escaped in ours, never in the JDK's."""
    text = re.sub(r"\\u00([01][0-9a-f]|7f)", lambda m: chr(int(m[1], 16)), text)
    return sorted(re.split(r"\n\n(?=[\w.$]+ \{\n)", text.strip()))


def first_difference(name, ours, jdk):
    same(f"{name}: events", len(ours), len(jdk))
    for one, other in zip(ours, jdk):
        if one != other:
            at = next((i for i, (p, q) in enumerate(zip(one, other)) if p != q),
                      min(len(one), len(other)))
            same(f"{name}: at {at}", one[max(0, at - 80):at + 80], other[max(0, at - 80):at + 80])


def compare(bench, path, exact=True):
    name = os.path.basename(path)
    ours, jdk = ((bbflow(bench, "print", "--json", path)),
                 (jdk_tool(bench, 25, "print", "--json", path)))
    first_difference(f"{name} --json", events_of(ours), events_of(jdk))
    for flags in ([], ["--exact"])[:2 if exact else 1]:
        first_difference(f"{name} {flags}", texts_of(bbflow(bench, "print", *flags, path)),
                         texts_of(jdk_tool(bench, 25, "print", *flags, path)))
    for view in ("summary", "metadata"):
        first_difference(f"{name} {view}", bbflow(bench, view, path).splitlines(),
                         jdk_tool(bench, 25, view, path).splitlines())
    lines = bbflow(bench, "events", path).splitlines()
    objects = [json.loads(line) for line in bbflow(bench, "events", "--json", path).splitlines()]
    same("lines", len(lines), len(events_of(ours)))
    same("objects", sorted(json.dumps(event) for event in objects), events_of(ours))


def all_enabled(bench):
    """Every event of the JVM, without thresholds: a settings file made of the JDK's own."""
    home = os.path.dirname(os.path.dirname(bench.jdk.java))
    with open(os.path.join(home, "lib/jfr/profile.jfc"), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r'(<setting name="enabled"[^>]*>)false<', r"\1true<", text)
    text = re.sub(r'(<setting name="threshold"[^>]*>)[^<]+<', r"\g<1>0 ms<", text)
    path = bench.path("all.jfc")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


RECORDINGS = {  # name: what runs, settings, JVM flags
    "default": ("memory", "default", ()),
    "profile": ("exceptions", "profile", ()),
    "kinds": ("events", "profile", ()),
    "sockets": ("sockets", "all", ()),
    "classes": ("classes", "all", ()),
    "virtual": ("virtual", "all", ()),
    "chunks": ("events", "profile", ("-XX:FlightRecorderOptions=maxchunksize=1M,stackdepth=4",)),
    "serial": ("memory", "all", ("-XX:+UseSerialGC", "-XX:-UseCompressedOops")),
}


def printed(name, exact=True):
    what, settings, jvm = RECORDINGS[name]

    def check(bench):
        if has_tools(name, 25):
            chosen = all_enabled(bench) if settings == "all" else settings
            path, _ = record(bench, name, WORK, what, settings=chosen, jvm=jvm)
            compare(bench, path, exact)
    return check


# ---- damage ----

def put(data, at, piece):
    return data[:at] + piece + data[at + len(piece):]


def number(value):
    return struct.pack(">Q", value)


def numbers(data, at):
    return struct.unpack(">Q", data[at:at + 8])[0]


def leb128(data, at):
    """A number and where it ends."""
    number_, shift = 0, 0
    while data[at] & 0x80:
        number_ |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
    return number_ | data[at] << shift, at + 1


def first_event(data, least=2):
    """Of the first chunk, with a type id of `least` or more (0 is metadata, 1 a checkpoint): where it
    begins, its type id, its fields, and where it ends."""
    at = 68
    while True:
        length, type_at = leb128(data, at)
        kind, fields = leb128(data, type_at)
        if kind >= least:
            return at, type_at, fields, at + length
        at += length


def damages(data):
    """Name -> the bytes of a damaged file; `data` has two chunks."""
    size, meta, checkpoint = numbers(data, 8), numbers(data, 24), numbers(data, 16)
    one, two = data[:size], data[size:]
    event, _, fields, end = first_event(data)
    _, kind, behind, _ = first_event(data, 128)  # a type id of two bytes
    return {
        "first event of size 0": put(data, event, b"\0"),
        "an event of an undeclared type": put(data, kind, b"\xff" * (behind - kind - 1) + b"\x7f"),
        "garbage in the first event": put(data, fields, b"\x80" * (end - fields)),
        "a bit of a checkpoint": put(data, checkpoint + 40,
                                     bytes([data[checkpoint + 40] ^ 0x01])),
        "a single chunk, state 1": put(one, 64, b"\x01"),
        "last 20 bytes missing": data[:-20],
        "cut in the header of chunk 2": data[:size + 30],
        "cut in chunk 2": data[:size + len(two) // 3],
        "cut in chunk 1": data[:size // 2],
        "magic of chunk 2": put(data, size, b"XXXX"),
        "magic of chunk 1": put(data, 0, b"XXXX"),
        "size too large": put(data, 8, number(6000000000)),
        "size 1 GiB": put(data, 8, number(1 << 30)),
        "size 0": put(data, 8, number(0)),
        "size short by 5": put(data, 8, number(size - 5)),
        "metadata 0": put(data, 24, number(0)),
        "metadata off by 7": put(data, 24, number(meta + 7)),
        "checkpoint 0": put(data, 16, number(0)),
        "checkpoint off by 3": put(data, 16, number(checkpoint + 3)),
        "state 255": put(data, 64, b"\xff"),
        "state 1 of chunk 1": put(data, 64, b"\x01"),
        "state 1 of chunk 2": put(data, size + 64, b"\x01"),
        "unfinished, all zero": put(put(put(one, 8, number(0)), 16, number(0) * 2), 64, b"\x01"),
        "zeros, finished": put(put(one, 8, number(0)), 16, number(0) * 2),
        "junk behind": data + b"junk" * 30,
        "zeros behind": data + bytes(300),
        "junk before": b"junk" * 30 + data,
        "major 3": put(data, 5, b"\x03"),
        "flags 0": put(data, 67, b"\0"),
        "ticks per second 0": put(data, 56, number(0)),
        "the same chunk twice": one + one,
        "chunks swapped": two + one,
        "zeros in the middle": put(data, size // 2 + 100, bytes(60)),
        "a bit of an event": put(data, size // 3, bytes([data[size // 3] ^ 0x40])),
        "header only": data[:68],
        "5 bytes": data[:5],
        "empty": b"",
    }


# The first chunk of a JVM 25 ends with its metadata: without them nothing can be read.
NOTHING = ("header only", "5 bytes", "empty", "cut in chunk 1")
# Rows that lose the event that is damaged, and no other.
LESS_ONE = ("first event of size 0", "an event of an undeclared type",
            "garbage in the first event")
# Rows whose events all come out: each is 0 events short.
WHOLE = ("size too large", "size 1 GiB", "size 0", "size short by 5", "metadata 0",
         "metadata off by 7", "checkpoint 0", "checkpoint off by 3", "state 255",
         "state 1 of chunk 1", "state 1 of chunk 2", "junk behind", "zeros behind", "junk before",
         "major 3", "flags 0", "ticks per second 0", "chunks swapped")


def count(text):
    return len(re.findall(r'^ *"type": "[\w.$]+", $', text, re.MULTILINE))


def two_chunks(bench):
    """Two recordings of one JVM version behind each other: small chunks with all that a JVM writes."""
    paths = [record(bench, f"part{i}", WORK, what, settings="profile")[0]
             for i, what in enumerate(("exceptions", "classes"))]
    path = bench.path("two.jfr")
    bbflow(bench, "join", *paths, "-o", path)
    return path


def repaired(bench):
    if not has_tools("flight/repair", 17, 25):
        return
    with open(two_chunks(bench), "rb") as file:
        data = file.read()
    total, of_one = (count(bbflow(bench, "print", "--json", bench.path(name)))
                     for name in ("two.jfr", "part0.jfr"))
    jmc_reads = {"flags 0": jmc(bench, bench.path("two.jfr")),
                 "unfinished, all zero": jmc(bench, bench.path("part0.jfr"))}
    outcomes = []
    for name, broken in damages(data).items():
        bad, good = bench.path("bad.jfr"), bench.path("good.jfr")
        with open(bad, "wb") as file:
            file.write(broken)
        if os.path.exists(good):
            os.remove(good)
        done = bench.run([CLIENT, "jfr", "repair", bad, "-o", good])
        made = os.path.exists(good)
        assert made or name in NOTHING, f"{name}: no file was made: {done.stderr}"
        assert done.returncode == (1 if not made or "lost:" in done.stderr else 0), \
            f"{name}: exit {done.returncode}: {done.stderr}"
        if not made:
            continue
        ours = count(bbflow(bench, "print", "--json", good))
        theirs = [count(jdk_tool(bench, major, "print", "--json", "--stack-depth", "1", good))
                  for major in (17, 25)]
        same(f"{name}: events that 17 and 25 read", theirs, [ours, ours])
        if name in WHOLE:
            same(f"{name}: events", ours, total)
        if name in ("a single chunk, state 1", "unfinished, all zero"):
            same(f"{name}: events", ours, of_one)
        if name in LESS_ONE:
            same(f"{name}: events", ours, total - 1)
            at = first_event(data, 128 if "undeclared" in name else 2)
            assert f"lost: bytes {at[0]} to {at[3] - 1}:" in done.stderr, f"{name}: {done.stderr}"
        assert ours > 0, f"{name}: nothing came out"
        outcomes.append(f"{name}: {ours} of {total}")
        if name in jmc_reads:
            same(f"{name}: events that JMC reads", jmc(bench, good), jmc_reads[name])
    print("#   " + "; ".join(outcomes), flush=True)


# ---- packed, joined, other programs ----

def jmc(bench, path):
    """How many events JMC's parser reads."""
    classes = os.path.join(OUT, "classes", "flight-jmc")
    done = bench.run([os.path.join(homes()[25], "bin/java"), "-cp",
                      ":".join([classes, *jmc_jars()]), "com.jmc.ReadAll", path], timeout=180)
    found = re.search(r"events=(\d+)", done.stdout)
    assert found, f"JMC cannot read {path}: {done.stdout} {done.stderr}"
    return int(found[1])


def packed(bench):
    path, _ = record(bench, "work", WORK, "exceptions")
    plain = bbflow(bench, "print", "--json", path)
    same("a gzip", subprocess.run(["gzip", "-k", path], check=True).returncode, 0)
    same("a zip", bench.run(["zip", "-q", path + ".zip", path]).returncode, 0)
    same("an lz4", bench.run(["lz4", "-q", path, path + ".lz4"]).returncode, 0)
    for kind in ("gz", "zip", "lz4"):
        shown = bbflow(bench, "print", "--json", f"{path}.{kind}")
        same(f"{kind}: what is printed is equal", shown == plain, True)
        bbflow(bench, "unpack", f"{path}.{kind}", "-o", bench.path("unpacked.jfr"))
        with open(path, "rb") as one, open(bench.path("unpacked.jfr"), "rb") as other:
            same(f"{kind}: unpacked is equal", one.read() == other.read(), True)
        with open(f"{path}.{kind}", "rb") as file:
            cut = file.read()
        with open(bench.path("cut"), "wb") as file:
            file.write(cut[:len(cut) // 2])
        bbflow(bench, "summary", bench.path("cut"), code=1)
    with gzip.open(path + ".gz") as file:
        same("gzip of Python", file.read(4), b"FLR\0")


def joined(bench):
    """Recordings of a JVM 17 and a JVM 25: both tools and JMC read all of both."""
    if not has_tools("flight/join", 17, 25):
        return
    paths, parts = [], []
    for major, what in ((17, "exceptions"), (25, "events")):
        path = bench.path(f"of{major}.jfr")
        done = bench.run([os.path.join(homes()[major], "bin/java"),
                          f"-XX:StartFlightRecording=filename={path},settings=profile", "-cp",
                          class_path("flight", NETTY), WORK, what], timeout=180)
        same(f"exit {done.stderr}", done.returncode, 0)
        paths.append(path)
        parts += json.loads(bbflow(bench, "print", "--json", path))["recording"]["events"]
    both = bench.path("both.jfr")
    bbflow(bench, "join", *paths, "-o", both)
    want = sorted(as_read(event) for event in parts)
    for name, text in (("ours", bbflow(bench, "print", "--json", both)),
                       ("17", jdk_tool(bench, 17, "print", "--json", both)),
                       ("25", jdk_tool(bench, 25, "print", "--json", both))):
        got = sorted(as_read(event) for event in json.loads(text)["recording"]["events"])
        first_difference(name, got, want)
    same("JMC", jmc(bench, both), sum(jmc(bench, path) for path in paths))  # it skips some events itself


def as_read(event):
    """A join keeps type, time to the microsecond, thread, and the methods."""
    values = event["values"]
    thread, stack = values.get("eventThread"), values.get("stackTrace")
    frames = stack["frames"] if stack else []
    start = re.sub(r"(\.\d{0,6})\d*(Z|[+-].*)$", r"\1", values["startTime"])
    return json.dumps([event["type"], start[:24], thread and thread["javaName"],
                       [[f["method"]["type"]["name"], f["method"]["name"], f["lineNumber"]]
                        for f in frames]])


def of_async_profiler(bench):
    """A writer that is no JVM: other ids, no annotations, metadata first."""
    if not has_tools("flight/async-profiler", 25):
        return
    folder = bench.path("lib")
    os.makedirs(folder)
    shutil.unpack_archive(other_agents.jars(ASYNC_PROFILER)[0], folder, "zip")
    library = os.path.join(folder, f"linux-{'x64' if os.uname().machine == 'x86_64' else 'arm64'}",
                           "libasyncProfiler.so")
    path = bench.path("profiled.jfr")
    done = bench.run([bench.jdk.java, f"-agentpath:{library}=start,event=itimer,alloc=100k,"
                      f"lock=1ms,interval=1ms,jfr,file={path}", "-cp",
                      class_path("flight", NETTY), WORK, "memory"], timeout=120)
    same(f"exit {done.stderr}", done.returncode, 0)
    compare(bench, path)
    mended = bench.path("mended.jfr")
    with open(path, "rb") as file:
        data = file.read()
    with open(bench.path("bad.jfr"), "wb") as file:
        file.write(put(data, 8, number(1 << 30)))
    bbflow(bench, "repair", bench.path("bad.jfr"), "-o", mended)
    same("JMC", jmc(bench, mended), count(bbflow(bench, "print", "--json", path)))
    done = bench.run([os.path.join(homes()[25], "bin/java"), "-jar", other_agents.jars(CONVERTER)[0],
                      "--alloc", "-o", "collapsed", mended, bench.path("out.collapsed")])
    same(f"exit of jfr-converter {done.stderr}", done.returncode, 0)
    with open(bench.path("out.collapsed"), encoding="utf-8") as file:
        assert "com/app/Work.memory" in file.read(), "jfr-converter finds no stack"


# ---- Netty's events ----

def by_caller(document):
    """Method of com.app.Leaky that a path passes first -> the sums of its columns."""
    nodes = {node["id"]: node for node in document.doc["nodes"]}
    sites = {site["id"]: site for site in document.doc["sites"]}
    sums = {}
    for node in nodes.values():
        at, caller = node, None
        while at is not None:
            site = sites[at["site"]]
            caller = site["method"] if site["class"] == LEAKY else caller
            at = nodes.get(at["parent"])
        row = sums.setdefault(caller, {})
        for name in ("released", "live", "leaked", "unknown"):
            row[name] = row.get(name, 0) + node.get(name, 0)
    return sums


LOST = {"lose": 20, "loseGrown": 10, "hold": 10}
GOOD = {"good": 2000, "grown": 200, "heap": 200}


def of_netty(allocator):
    def check(bench):
        path, said = record(bench, "netty", LEAKY, allocator, jvm=("-Dio.netty.jfr.enabled=true",),
                            options=[f"+io.netty.{name}#enabled=true" for name in NETTY_EVENTS],
                            agent=f"include=com.app,file={bench.path('agent.json')}")
        assert "lost=20 grown=10 held=10" in said, said
        flight = Snapshot(bbflow(bench, "netty", "-f", "json", path))
        with open(bench.path("agent.json"), encoding="utf-8") as file:
            agent = Snapshot(file.read())
        agent.check()
        rows = by_caller(flight)
        # A path of the events ends at the outermost caller, not at a release: check() is the agent's.
        # Unpooled fires no event: one life that only the agent sees.
        if allocator == "adaptive" or bench.jdk.major >= 25:
            same("lives", flight.totals["lives"], agent.totals["lives"] - 1)
            same("released", flight.totals["released"], agent.totals["released"] - 1)
            same("open", flight.totals["live"], agent.totals["live"] + agent.totals["leaked"])
            same("open by path", {name: row["live"] for name, row in rows.items() if row["live"]},
                 LOST)
            same("unknown", flight.totals["unknown"], 0)
        else:
            # The addresses are of an earlier use: bounds, which the truth is within.
            for name, lost in {**LOST, **dict.fromkeys(GOOD, 0)}.items():
                row = rows[name]
                assert row["live"] <= lost <= row["live"] + row["unknown"], (name, row)
            assert any("no address of their own" in note for note in flight.doc["notes"])
        aged = Snapshot(bbflow(bench, "netty", "--age=1ns", "-f", "json", path))
        same("aged", aged.totals["aged"], 0 if flight.totals["unknown"] else 40)
        window = Snapshot(bbflow(bench, "netty", "--from=2000-01-01", "--until=2100-01-01", "-f", "json",
                                 path))
        same("a window that has all", window.totals, flight.totals)
        for window in ("--from=2100-01-01", "--until=2000-01-01"):
            nothing = Snapshot(bbflow(bench, "netty", window, "-f", "json", path))
            same(window, nothing.totals["lives"], 0)
        chosen = "--events=io.netty.AllocateBuffer"
        times = [line.split()[0] for line in bbflow(bench, "events", chosen, path).splitlines()]
        middle = times[len(times) // 2]  # with a fraction of a second, as it is printed
        same("from the middle", len(bbflow(bench, "events", chosen, f"--from={middle}", path).splitlines()),
             sum(t >= middle for t in times))
        text = bbflow(bench, "netty", path)
        for name in ("lose", "hold"):
            assert f"Leaky.{name}" in text, text
    return check


def cases():
    yield Scenario("flight/print default", printed("default", exact=False), short=(25,))
    for name in RECORDINGS:  # the long tier, or by name
        yield Scenario(f"flight/print all of {name}", printed(name), short=())
    for allocator in ("pooled", "adaptive"):
        yield Scenario(f"flight/netty {allocator}", of_netty(allocator), short=(25,))
    yield Scenario("flight/packed", packed, short=(17,))
    yield Scenario("flight/join", joined, jdk=(25,))
    yield Scenario("flight/repair", repaired, short=())  # the long tier, or by name; unit tests have every byte
    yield Scenario("flight/async-profiler", of_async_profiler, short=(25,))
