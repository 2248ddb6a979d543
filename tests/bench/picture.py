"""The curves of `grows` as one SVG file, written by hand: four panels, x logarithmic."""

import math
import statistics

import show
import stats

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 34, 44
COLOURS = {"none": "#7f7f7f", "application": "#1f77b4", "SIMPLE": "#ff7f0e",
           "all of Netty": "#2ca02c", "lost": "#1f77b4"}


def points(experiments, name, field, scale=1.0):
    found = []
    for e in experiments:
        values = stats.field(e["levels"].get(name, []), field)
        if values:
            found.append((e["x"], scale * statistics.median(values)))
    return found


def sampled(experiments):
    """(share of buffers: 1 in x, per cent lost)"""
    found = []
    for e in experiments:
        for name, samples in e["levels"].items():
            values = stats.lost(samples, show.base(e)) if name.startswith("sample=") else []
            if values:
                found.append((int(name.split("=")[1]), statistics.median(values)))
    return found


def scale_of(values, low, high):
    """Logarithmic, into the room between low and high."""
    first, last = math.log10(min(values)), math.log10(max(values))
    room = (last - first) or 1.0
    return lambda v: low + (math.log10(v) - first) / room * (high - low)


def ticks(top):
    """Round numbers from 0 to the first that is not below top."""
    step = 10 ** math.floor(math.log10(top or 1))
    step = next(s for s in (step / 5, step / 2, step, 2 * step) if top / s <= 8)
    return [i * step for i in range(math.ceil(top / step) + 1)]


def text(x, y, words, anchor="middle", size=11, colour="#333"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{colour}">{words}</text>')


def short(x):
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if x >= size:
            return f"{x / size:g}{unit}"
    return f"{x:g}"


def panel(at, title, below, beside, lines, knees=()):
    """lines: [(name, points)]; knees: [(x, what)], drawn as dotted lines."""
    lines = [(name, found) for name, found in lines if found]
    out = [f'<g transform="translate({at[0]},{at[1]})">', text(WIDTH / 2, 16, title, size=13)]
    if not lines:
        return out + [text(WIDTH / 2, HEIGHT / 2, "not measured"), "</g>"]
    xs = sorted({x for _, found in lines for x, _ in found})
    marks = ticks(max(max(y for _, found in lines for _, y in found), 1e-9))
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    to_x = scale_of(xs, LEFT, right)

    def to_y(y):
        return bottom - max(y, 0) / marks[-1] * (bottom - TOP)

    for mark in marks:
        out.append(f'<line x1="{LEFT}" x2="{right}" y1="{to_y(mark):.1f}" y2="{to_y(mark):.1f}" '
                   'stroke="#ddd"/>')
        out.append(text(LEFT - 6, to_y(mark) + 4, short(round(mark, 6)), "end"))
    for x in xs:
        out.append(text(to_x(x), bottom + 16, short(x)))
    for x, what in knees:
        if xs[0] < x < xs[-1]:
            out.append(f'<line x1="{to_x(x):.1f}" x2="{to_x(x):.1f}" y1="{TOP}" y2="{bottom}" '
                       'stroke="#c44" stroke-dasharray="2 3"/>')
            out.append(text(to_x(x) + 3, TOP + 10, what, "start", 10, "#c44"))
    out.append(text((LEFT + right) / 2, HEIGHT - 10, below))
    out.append(f'<g transform="translate(14,{(TOP + bottom) / 2}) rotate(-90)">'
               + text(0, 0, beside) + "</g>")
    for i, (name, found) in enumerate(lines):
        colour = COLOURS.get(name, "#9467bd")
        path = " ".join(f"{to_x(x):.1f},{to_y(y):.1f}" for x, y in found)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{to_x(x):.1f}" cy="{to_y(y):.1f}" r="3" fill="{colour}"/>'
                for x, y in found]
        if len(lines) > 1:
            out.append(text(LEFT + 8, TOP + 24 + 14 * i, name, "start", 11, colour))
    return out + ["</g>"]


def knees(results, curve, each):
    """Where `each` bytes a piece fill a cache of the machine that was measured."""
    found = results.curve(curve)
    return [(size / each, name) for name, size in found[-1]["machine"]["caches"].items()
            if name != "L1i"] if found else []


def svg(results):
    live, nodes = results.curve("live"), results.curve("nodes")
    two = [(name, name) for name in ("none", "application")]
    many = results.curve("threads codec")
    panels = [
        ("open buffers", "buffers", "ns an operation",
         [(n, points(live, n, "ns")) for n, _ in two], knees(results, "live", 64)),
        ("nodes", "paths", "ns an operation",
         [(n, points(nodes, n, "ns")) for n, _ in two], knees(results, "nodes", 72 * 7 / 3)),
        ("threads (codec)", "threads", "operations/s, thousands",
         [(n, points(many, n, "wall", 1e-3))
          for n in ("none", "SIMPLE", "application", "all of Netty")]),
        ("sampled share (codec, all of Netty)", "one buffer in", "% of throughput lost",
         [("lost", sampled(results.curve("sample")))]),
    ]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDTH}" height="{2 * HEIGHT}" '
           'font-family="sans-serif">', '<rect width="100%" height="100%" fill="#fff"/>']
    for i, one in enumerate(panels):
        out += panel((i % 2 * WIDTH, i // 2 * HEIGHT), *one)
    return "\n".join(out + ["</svg>"]) + "\n"
