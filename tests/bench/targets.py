"""What the project wants to hold and to reach, beside what was measured (ratios and differences
within one experiment, round by round)."""

import statistics

import show
import stats


def lost(results, key, level):
    found = results.get(key)
    return stats.lost(found[0]["levels"].get(level, []), show.base(found[0])) if found else []


def points(results, key, level, other):
    """Points of throughput that the level loses more than the other one."""
    found = results.get(key)
    if not found:
        return []
    by_name = found[0]["levels"]
    pairs = zip(lost(results, key, level), lost(results, key, other))
    complete = all(s for name in ("none", level, other) for s in by_name.get(name, [None]))
    return [a - b for a, b in pairs] if complete else []


def times(results, key, level, other):
    """How many times the level's cost the other's is."""
    found = results.get(key)
    if not found:
        return []
    by_name = found[0]["levels"]
    return [b / a for a, b in stats.rounds(by_name.get(level, []), by_name.get(other, []), "ns")]


def more_ns(results, key, level="application", field="ns"):
    found = results.get(key)
    if not found:
        return []
    return stats.more(found[0]["levels"].get(level, []), show.base(found[0]), field)


def a_step(results):
    """Of ten calls more, with the application followed."""
    both = list(zip(more_ns(results, "calls:10"), more_ns(results, "calls:20")))
    return [(twenty - ten) / 10 for ten, twenty in both]


def steps(samples):
    """Events an operation that are neither open nor end."""
    return [s["events"] - 2 * s["lives"] for s in samples if s and "events" in s]


def a_codec_step(results):
    """Of those that all of Netty has more than the application alone."""
    found = results.get("codec")
    if not found:
        return []
    few, all_ = (found[0]["levels"].get(name, []) for name in ("application", "all of Netty"))
    counts = steps(few), steps(all_)
    if not all(counts):
        return []
    more = statistics.median(counts[1]) - statistics.median(counts[0])
    return [(b - a) / more for a, b in stats.rounds(few, all_, "ns")]


def codec_steps(results, level):
    found = results.get("codec")
    return steps(found[0]["levels"].get(level, [])) if found else []


def pause(results, held):
    return more_ns(results, f"held {held}", field="young_ms")


def a_buffer(results):
    """Bytes that bbflow counts for each buffer that is open and stays it."""
    few, many = (results.get(f"held {n} Serial") for n in (100000, 1000000))
    if not few or not many:
        return []
    pairs = zip(*(e[0]["levels"].get("application", []) for e in (few, many)))
    return [(b["memory"] - a["memory"]) / (b["open"] - a["open"]) for a, b in pairs if a and b]


def a_node(results):
    """Bytes that are resident for each node, from one end of the curve to the other."""
    ends = results.curve("nodes")
    if len(ends) < 2:
        return []
    found = []
    for e in (ends[0], ends[-1]):
        samples = e["levels"].get("application", [])
        resident = stats.more(samples, show.base(e), "rss_mb")
        if not resident:
            return []
        found.append((statistics.median(resident) * (1 << 20),
                      statistics.median(stats.field(samples, "nodes"))))
    (resident0, n0), (resident1, n1) = found
    return [(resident1 - resident0) / (n1 - n0)] if n1 > n0 else []


def scaling(results):
    """How far (per cent) two threads with the agent stay behind two without, beyond what one
    does."""
    ratio = {}
    for e in results.curve("threads codec"):
        pairs = stats.rounds(show.base(e), e["levels"].get("application", []), "wall")
        ratio[e["x"]] = [b / a for a, b in pairs]
    return [100 * (1 - two / one) for one, two in zip(ratio.get(1, []), ratio.get(2, []))]


# what, unit, hold, reach (at most; with least=True at least), how
ROWS = (
    ("codec, nothing matches", "% lost", 5, 2, lambda r: lost(r, "codec", "nothing matches")),
    ("codec, application", "% lost", 8, 3, lambda r: lost(r, "codec", "application")),
    ("codec, application + handlers, beyond SIMPLE", "points", 3, 0,
     lambda r: points(r, "codec", "application + handlers", "SIMPLE")),
    ("codec, all of Netty", "% lost", 20, None, lambda r: lost(r, "codec", "all of Netty")),
    ("codec, all of Netty, beyond SIMPLE", "points", None, 0,
     lambda r: points(r, "codec", "all of Netty", "SIMPLE")),
    ("hello, application", "% lost", 8, 3, lambda r: lost(r, "hello", "application")),
    ("hello, application + handlers, beyond SIMPLE", "points", 0, None,
     lambda r: points(r, "hello", "application + handlers", "SIMPLE")),
    ("hello, application + handlers", "% lost", None, 10,
     lambda r: lost(r, "hello", "application + handlers")),
    ("hello, all of Netty, beyond ADVANCED", "points", 0, None,
     lambda r: points(r, "hello", "all of Netty", "ADVANCED")),
    ("hello, all of Netty, beyond SIMPLE", "points", None, 0,
     lambda r: points(r, "hello", "all of Netty", "SIMPLE")),
    ("allocate, 10 calls, release, beyond SIMPLE", "points", 0, 0,
     lambda r: points(r, "calls:10", "application", "SIMPLE")),
    ("the same with 20 calls, beyond SIMPLE", "points", None, 0,
     lambda r: points(r, "calls:20", "application", "SIMPLE")),
    ("the same with 20 calls, to none", "times", 1.3, None,
     lambda r: times(r, "calls:20", "none", "application")),
    ("ADVANCED with 10 calls, to bbflow", "times, at least", 2, 2,
     lambda r: times(r, "calls:10", "application", "ADVANCED")),
    ("PARANOID with 10 calls, to bbflow", "times, at least", 50, 50,
     lambda r: times(r, "calls:10", "application", "PARANOID")),
    ("open and close of a recycled buffer", "ns", 7, 4, lambda r: more_ns(r, "alloc")),
    ("open and close of a new object", "ns", 14, 10, lambda r: more_ns(r, "heap")),
    ("a step, allocate and call", "ns", 2.5, 2, a_step),
    ("a step in Netty's code (codec)", "ns", 4, 3, a_codec_step),
    ("steps an operation, codec, application + handlers", "", 35, None,
     lambda r: codec_steps(r, "application + handlers")),
    ("steps an operation, codec, all of Netty", "", 60, None,
     lambda r: codec_steps(r, "all of Netty")),
    ("two threads behind two without the agent, beyond one's", "%", 5, 5, scaling),
    ("memory of an open buffer", "B", 80, None, a_buffer),
    ("memory of a node, resident", "B", 96, None, a_node),
    ("young pause with 100,000 held buffers, more (Serial)", "ms", 0.6, None,
     lambda r: pause(r, "100000 Serial")),
    ("the same, G1", "ms", 0.6, None, lambda r: pause(r, "100000 G1")),
    ("young pause with 1,000,000 held buffers, more (Serial)", "ms", 6, 2,
     lambda r: pause(r, "1000000 Serial")),
    ("the same with G1", "ms", 4, 2, lambda r: pause(r, "1000000 G1")),
    ("start-up, nothing matches", "ms more", 3, None,
     lambda r: more_ns(r, "start Hello", "nothing matches", "ms")),
    ("start-up, with Netty", "ms more", 10, None,
     lambda r: more_ns(r, "start NettyHello", "application", "ms")),
)


def verdict(values, limit, least):
    """By the 95 % interval where there is one and it does not hold the limit; by the median else,
    and then it says so."""
    if limit is None:
        return ""
    sign = -1 if least else 1
    bounds = stats.interval(values) or (float("-inf"), float("inf"))
    low, high = sorted(sign * b for b in bounds)
    if high <= sign * limit:
        word = "yes"
    elif low > sign * limit:
        word = "no"
    else:
        word = "yes?" if sign * statistics.median(values) <= sign * limit else "no?"
    return f"{limit:g}: {word}"


def table(results):
    """(head, rows)"""
    rows = []
    for what, unit, hold, reach, measure in ROWS:
        values = measure(results)
        if not values:
            rows.append([what, unit, "not measured", "", "", ""])
            continue
        bounds = stats.interval(values)
        least = unit.endswith("least")
        rows.append([what, unit, show.number(statistics.median(values)),
                     f"{show.number(bounds[0])}..{show.number(bounds[1])}" if bounds
                     else "too few rounds",
                     verdict(values, hold, least), verdict(values, reach, least)])
    return ["what", "unit", "measured", "95 %", "to hold", "to reach"], rows
