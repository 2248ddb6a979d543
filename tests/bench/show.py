"""Rows of one experiment's figures, for the terminal and for the documents' tables."""

import statistics

import stats


def unit(experiment):
    return "ms" if experiment["kind"] == "start" else "ns"


def number(value):
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 9.95 else f"{value:.2f}"


def spread(values):
    median, low, high = stats.spread(values)
    return f"{number(median)} [{number(low)}..{number(high)}]"


def percent(value):
    """A share without a sign before a zero."""
    return f"{0.0 if abs(value) < 0.05 else value:.1f}"


def lost(samples, none):
    """(per cent of throughput lost, 95 % interval, does it differ from 0) as text, of paired rounds."""
    values = stats.lost(samples, none)
    if not values:
        return "", "", ""
    bounds = stats.interval(values)
    if bounds is None:
        return percent(statistics.median(values)), "", "too few rounds"
    told = "yes" if stats.told(values) else "no"
    return (percent(statistics.median(values)), f"{percent(bounds[0])}..{percent(bounds[1])}", told)


def event_ns(samples, none):
    """ns an event: what an operation costs more, over the events that the agent counted in it."""
    each = [s["events"] + s["dropped"] for s in samples if s and "events" in s]
    extra = stats.more(samples, none)
    if not any(each) or not extra:
        return None  # while nothing matches there are none
    return statistics.median(extra) / statistics.median(each)


def event_count(samples):
    """Events an operation, and behind a plus those that a limit dropped."""
    found = stats.field(samples, "events")
    dropped = stats.median_or_none(stats.field(samples, "dropped"))
    text = number(stats.median_or_none(found))
    return f"{text} +{number(dropped)}" if found and dropped else text


def base(experiment):
    return experiment["levels"].get("none")


def plain(experiment):
    """Lines for the terminal."""
    none = base(experiment)
    field = unit(experiment)
    what = {"ns": "processor ns an operation", "ms": "ms from exec to exit"}[field]
    lines = [f"{experiment['key']}: {experiment['java']}, Netty {experiment['netty']}, "
             f"{experiment['rounds']} rounds",
             f"  {'':<30}{what:>34}{'lost %':>8}{'95 %':>14}{'events':>14}{'ns each':>9}"
             f"{'op/s':>12}{'MB':>6}"]
    for name, samples in experiment["levels"].items():
        values = stats.field(samples, field)
        if not values:
            lines.append(f"  {name:<30}{'failed':>34}")
            continue
        row = ["", "", ""]
        if none and name != "none" and field == "ns":
            row = lost(samples, none)
        event = event_ns(samples, none) if none and name != "none" else None
        wall = stats.median_or_none(stats.field(samples, "wall"))
        rss = stats.median_or_none(stats.field(samples, "rss_mb"))
        lines.append(f"  {name:<30}{spread(values):>34}{row[0]:>8}{row[1]:>14}"
                     f"{event_count(samples):>14}{number(event):>9}{number(wall):>12}"
                     f"{number(rss):>6}")
    return lines
