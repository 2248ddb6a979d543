"""The tables of docs/performance.md, made of files that tests/bench/run has written."""

import glob
import json
import os
import re
import shutil
import statistics

import levels
import machine
import picture
import show
import stats
import suites
import targets

MARK = re.compile(r"(<!-- bench: ([\w -]+) -->\n).*?(<!-- /bench -->)", re.S)
PICTURE = "grows.svg"
WIRE = "bbflow-bench-wire/1"  # of tests/bench/wire
BUDGETS = ("budget=1%", "budget=3%")
HELD = ("held", "headers")  # curves that have several collectors
BUDGET = "bbflow-bench-budget/1"  # of tests/bench/budget
# The seed's headline figures (Version2ProtocolArchitecture.md): commands a second, v2, no machine
# and no sizes named. Our nearest commands by index.
WIRE_SEED = {"EXIT": (550_000, 1), "small MESSAGE": (180_000, 6), "large MESSAGE": (12_000, 8),
             "INSTRUMENT": (3_500, 5), "GRID_DATA": (32_000, 16)}


class Results:
    """Experiments by their key, each of the newest run that has it."""

    def __init__(self, paths):
        self.runs = []
        self.experiments = {}
        for path in paths:
            try:
                with open(path, encoding="utf-8") as file:
                    run = json.load(file)
                schema = run.get("schema")
            except (OSError, ValueError, AttributeError) as why:
                raise ValueError(f"{path}: {why}") from why
            if schema not in ("bbflow-bench/1", WIRE, BUDGET):
                raise ValueError(f"{path} is no file of tests/bench/run, budget or wire")
            run["file"] = os.path.basename(path)
            self.runs.append(run)
        self.runs.sort(key=lambda run: run["at"])
        self.wire = None
        self.budgets = {}  # by workload and load
        for run in self.runs:
            if run["schema"] == WIRE:
                self.wire = run
                continue
            if run["schema"] == BUDGET:
                self.budgets.update({(r["workload"], r["load"]): {**r, "file": run["file"]} for r in run["runs"]})
                continue
            for experiment in run["experiments"]:
                self.experiments[experiment["key"]] = {**experiment, "file": run["file"],
                                                       "machine": run["machine"]}

    def get(self, *keys):
        return [self.experiments[k] for k in keys if k in self.experiments]

    def curve(self, name):
        return sorted((e for e in self.experiments.values() if e["curve"] == name),
                      key=lambda e: e["x"])


def markdown(head, rows):
    if not rows:
        return ["(not measured)"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def median(samples, field):
    return stats.median_or_none(stats.field(samples, field))


def lost_cells(samples, none):
    share, bounds, told = show.lost(samples, none)
    if not share:
        return "", ""
    if not bounds:
        return share, "too few rounds"
    return share, bounds + ("" if told == "yes" else " (no claim)")


def cost_row(experiment, name, first):
    samples, none = experiment["levels"][name], show.base(experiment)
    values = stats.field(samples, "ns")
    if not values:
        return [*first, name, "failed", *[""] * 8]
    share, bounds = lost_cells(samples, none) if name != "none" and none else ("", "")
    event = show.event_ns(samples, none) if name != "none" and none else None
    return [*first, name, show.spread(values), share, bounds,
            show.event_count(samples), show.number(event),
            show.number(median(samples, "wall")), show.number(median(samples, "compilers_s")),
            show.number(median(samples, "young_ms")), show.number(median(samples, "rss_mb"))]


COST_HEAD = ["level", "ns/op: median [min..max]", "lost %", "95 %", "events/op", "ns/event",
             "op/s", "compilers s", "young ms", "RSS MiB"]


def cost(*keys):
    """One row a level; the workload in front where there are several."""
    def table(results):
        several = len(keys) > 1
        rows = [cost_row(e, name, [e["key"]] if several else [])
                for e in results.get(*keys) for name in e["levels"]]
        return markdown((["workload"] if several else []) + COST_HEAD, rows)
    return table


def runs(results):
    used = {e["file"] for e in (*results.experiments.values(), *results.budgets.values())}
    used |= {results.wire["file"]} if results.wire else set()
    rows = []
    for run in results.runs:
        if run["file"] not in used:
            continue
        what = run["machine"]
        caches = ", ".join(f"{n} {size >> 10} KiB" for n, size in what["caches"].items())
        rows.append([f"[{run['file']}](performance/{run['file']})", run["suite"], run["at"],
                     f"{what['cpu']}, {what['cores']} cores, {caches}, {what['memory']}",
                     what["commit"], f"{run['load'][0]} … {run['load_end'][0]}",
                     f"{run['took_s'] / 60:.0f} min", run.get("note", "")])
    return markdown(["file", "suite", "when", "machine", "build", "load", "took", "note"], rows)


def overview(results):
    """Per cent of throughput lost, workloads beside each other."""
    found = results.get("alloc", "calls:10", "codec", "hello", "http2", "grpc", "ssl")
    names = [level.name for level in levels.EVERY
             if level.name != "none" and any(level.name in e["levels"] for e in found)]
    rows = [[name, *(claim(stats.lost(e["levels"].get(name, []), show.base(e))) for e in found)] for name in names]
    for setting in BUDGETS:
        rows.append([f"{setting}, beyond its shut gate",
                     *(window_claim(results.budgets.get((e["key"], "saturated")), setting) for e in found)])
    return markdown(["lost %", *(e["key"] for e in found)], rows)


def claim(values):
    return marked(statistics.median(values), stats.told(values)) if values else ""


def marked(value, told):
    return show.percent(value) + {None: " ?", False: " (0)", True: ""}[told]


def window_claim(run, setting):
    """What the windows of budget= cost, of tests/bench/budget."""
    line = next((s for s in run["settings"] if s["setting"] == setting), None) if run else None
    if line is None:
        return ""
    bounds = line["interval"]
    return marked(line["outside"], None if bounds is None else bounds[0] > 0 or bounds[1] < 0)


def meanings(_):
    return markdown(["level", "what"], [[name, text] for name, text in levels.MEANING.items()])


def hello(results):
    rows = []
    for e in results.get("hello"):
        for name, samples in e["levels"].items():
            values = [v / 1000 for v in stats.field(samples, "ns")]
            if not values:
                rows.append([name, "failed", *[""] * 8])
                continue
            share, bounds = (lost_cells(samples, show.base(e)) if name != "none" else ("", ""))
            rows.append([name, show.spread(values), share, bounds,
                         show.event_count(samples),
                         *(show.number(median(samples, f))
                           for f in ("wall", "p50", "p99", "young_ms", "rss_mb"))])
    return markdown(["level", "processor µs a request: median [min..max]", "lost %", "95 %",
                     "events/request", "requests/s", "p50 µs", "p99 µs", "young ms", "RSS MiB"],
                    rows)


def losses(*names):
    """What these levels lose, in whatever experiment they are."""
    def table(results):
        rows = []
        for e in results.experiments.values():
            for name in names:
                if name in e["levels"] and e["kind"] != "start":
                    values = stats.lost(e["levels"][name], show.base(e))
                    share, bounds = lost_cells(e["levels"][name], show.base(e))
                    rows.append([e["key"], name, share, bounds, str(len(values))])
        return markdown(["workload", "level", "lost %", "95 %", "rounds"], sorted(rows))
    return table


def threads(results):
    rows = []
    for curve in ("threads codec", "threads calls:10"):
        for e in results.curve(curve):
            for name, samples in e["levels"].items():
                values = stats.field(samples, "wall")
                if not values:
                    continue
                kept = [b / a for a, b in stats.rounds(show.base(e), samples, "wall")]
                share = "" if name == "none" else lost_cells(samples, show.base(e))[0]
                rows.append([e["workload"], str(e["x"]), name, show.spread(values),
                             "" if name == "none" else f"{statistics.median(kept):.2f}", share])
    return markdown(["workload", "threads", "level", "op/s (wall time): median [min..max]",
                     "of `none`", "lost % (processor time)"], rows)


def versions(results):
    rows = []
    for e in results.experiments.values():
        if " JDK " in e["key"]:
            rows += [cost_row(e, name, [e["key"]]) for name in e["levels"]]
    return markdown(["workload", *COST_HEAD], rows)


def start_up(results):
    rows = []
    for e in results.get("start Hello", "start NettyHello"):
        none = show.base(e)
        for name, samples in e["levels"].items():
            values = stats.field(samples, "ms")
            if not values:
                continue
            extra = stats.more(samples, none, "ms")
            bounds = stats.interval(extra)
            rows.append([e["workload"], name, show.spread(values),
                         *(["", ""] if name == "none" else
                           [f"{statistics.median(extra):+.1f}",
                            f"{bounds[0]:+.1f}..{bounds[1]:+.1f}" if bounds else "none"])])
    return markdown(["program", "level", "ms: median [min..max]", "more", "95 %"], rows)


def curve(name, what):
    """none and application along one curve."""
    def table(results):
        rows = []
        for e in results.curve(name):
            none, with_agent = show.base(e), e["levels"].get("application", [])
            if not stats.field(none, "ns") or not stats.field(with_agent, "ns"):
                continue
            collector = f", {e['collector']}" if name in HELD else ""
            compact = ", compact" if suites.COMPACT in e["heap"] else ""
            rows.append([f"{e['x']:,}{collector}{compact}", show.number(median(none, "ns")),
                         show.number(median(with_agent, "ns")),
                         show.number(statistics.median(stats.more(with_agent, none))),
                         show.number(show.event_ns(with_agent, none)),
                         *(show.number(median(s, "young_ms")) for s in (none, with_agent)),
                         *(show.number(median(s, "rss_mb")) for s in (none, with_agent)),
                         show.number((median(with_agent, "memory") or 0) / (1 << 20)),
                         show.number(median(with_agent, "nodes")),
                         show.number(median(with_agent, "dropped"))])
        return markdown([what, "ns/op none", "application", "more", "ns/event", "young ms none",
                         "application", "RSS MiB none", "application", "bbflow's MiB", "nodes",
                         "dropped"], rows)
    return table


def sample_curve(results):
    rows = [cost_row(e, name, []) for e in results.get("sampled codec") for name in e["levels"]]
    return markdown(COST_HEAD, rows)


def wire_codec(run):
    rows = []
    for row in run["codecs"]:
        cells = [row["command"], f"{row['ours_bytes']:,}", f"{row['theirs_bytes']:,}"]
        for way in ("write", "read"):
            ours, theirs = (statistics.median(row[f"{who}_{way}"]) for who in ("ours", "theirs"))
            cells += [f"{ours:,.0f}", f"{theirs:,.0f}", f"{ours / theirs:.2f}"]
        rows.append(cells)
    return markdown(["command", "bytes", "BTrace's", "written a second", "BTrace", "times",
                     "read a second", "BTrace", "times"], rows)


def wire_seed(run):
    rows = []
    for name, (seed, index) in WIRE_SEED.items():
        row = run["codecs"][index]
        rows.append([name, f"{seed:,}", f"{statistics.median(row['ours_write']):,.0f}",
                     f"{row['ours_bytes']:,}"])
    return markdown(["command", "the seed, v2", "ours, v1, written", "bytes"], rows)


def wire_socket(run):
    return markdown(["conversation, v2", "a second", "p50 µs", "p99 µs"],
                    [[r["what"], f"{r['per_second']:,.0f}", f"{r['p50_us']:,.0f}",
                      f"{r['p99_us']:,.0f}"] for r in run["requests"]])


def budget(results):
    rows = []
    for run in results.budgets.values():
        pace = f"{run['load']}, {run['rate']:,} a second" if run["rate"] else run["load"]
        for line in run["settings"]:
            said = line["report"]
            rows.append([run["workload"], pace, line["setting"], f"{line['outside']:.2f}", interval(line["interval"]),
                         f"{said[0]:.2f}", interval(said[1:]),
                         *("" if line.get(part) is None else f"{line[part]:.2f}" for part in ("gate", "threads")),
                         str(line["rounds"]), line["judged"]])
    return markdown(["workload", "load", "setting", "cost %, from outside", "95 %", "the report, %", "95 %", "its shut gate, %",
                     "threads of both, %", "rounds", "judged"], rows)


def interval(bounds):
    return "..".join(f"{b:.2f}" for b in bounds) if bounds else "too few rounds"


def of_wire(table):
    return lambda results: table(results.wire) if results.wire else markdown([], [])


TABLES = {
    "runs": runs,
    "levels": meanings,
    "overview": overview,
    "targets": lambda results: markdown(*targets.table(results)),
    "codec": cost("codec"),
    "alloc": cost("alloc"),
    "micro": cost("calls:0", "calls:5", "calls:10", "calls:20", "slice", "heap"),
    "hello": hello,
    "budget": budget,
    "peers": cost("peers codec JDK 17 Netty 4.2", "peers alloc JDK 17 Netty 4.2"),
    "protocols": cost("http2", "grpc", "ssl"),
    "off": losses("nothing matches", "stopped", "retransformed", "none again"),
    "gates": losses("gate shut", "grace", "gate open"),
    "threads": threads,
    "versions": versions,
    "start-up": start_up,
    "live": curve("live", "open buffers"),
    "held": curve("held", "held buffers, collector"),
    "headers": curve("headers", "held buffers, collector, headers"),
    "nodes": curve("nodes", "paths"),
    "sample": sample_curve,
    "wire codec": of_wire(wire_codec),
    "wire seed": of_wire(wire_seed),
    "wire socket": of_wire(wire_socket),
}


def filled(text, results):
    """The document with its tables made anew. KeyError: a mark that there is no table of."""
    return MARK.sub(lambda m: m.group(1) + "\n".join(TABLES[m.group(2)](results)) + "\n"
                    + m.group(3), text)


def kept():
    return sorted(glob.glob(os.path.join(machine.KEPT, "*.json")))


def files(results, doc):
    """{path: text} as they should be."""
    with open(doc, encoding="utf-8") as file:
        text = file.read()
    return {doc: filled(text, results),
            os.path.join(os.path.dirname(doc), "performance", PICTURE): picture.svg(results)}


def fill(doc):
    for path, text in files(Results(kept()), doc).items():
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)


def stale(doc):
    """The files that are not what the kept figures make."""
    found = []
    for path, text in files(Results(kept()), doc).items():
        have = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                have = file.read()
        if have != text:
            found.append(path)
    return found


def keep(path, note, name):
    """Puts a run's figures where the document's come from, in place of older ones of that name,
    else of that suite."""
    Results([path])  # a ValueError before anything is changed
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name = name or json.loads(text)["suite"]
    os.makedirs(machine.KEPT, exist_ok=True)
    target = os.path.join(machine.KEPT, re.sub(r"[^\w-]+", "-", name) + ".json")
    if note:
        line = f' "note": {json.dumps(note, ensure_ascii=False)},\n'
        text = re.sub(r'^ "note": .*\n', "", text, flags=re.M)
        text = "{\n" + line + text[1:].removeprefix("\n")  # a file of `run` has one line
        json.loads(text)
        with open(target, "w", encoding="utf-8") as out:
            out.write(text)
    else:
        shutil.copyfile(path, target)
    return target
