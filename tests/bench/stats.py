"""Medians, their spread, and 95 % intervals that suppose nothing about how samples are spread."""

import math
import statistics


def spread(values):
    """(median, min, max)"""
    return statistics.median(values), min(values), max(values)


def interval(values):
    """The 95 % interval of the median from the samples' order alone (the sign test turned round;
    Conover, Practical Nonparametric Statistics, 3.2), or None: below six samples there is none."""
    ordered = sorted(values)
    n = len(ordered)
    below = 0  # how many can be left out at each end
    tail = 0.0
    while below < n:
        tail += math.comb(n, below) / 2 ** n
        if tail > 0.025:
            break
        below += 1
    if below == 0:
        return None
    return ordered[below - 1], ordered[n - below]


def rounds(one, other, field):
    """The pairs (one, other) of that field, of the rounds that have both."""
    pairs = []
    for a, b in zip(one or [], other or []):
        if a and b and a.get(field) is not None and b.get(field) is not None:
            pairs.append((a[field], b[field]))
    return pairs


def lost(level, none, field="ns"):
    """Per cent of throughput lost in each round: the cost of an operation without, over with."""
    return [100 * (1 - b / a) for a, b in rounds(level, none, field)]


def more(level, none, field="ns"):
    """What it is more in each round."""
    return [a - b for a, b in rounds(level, none, field)]


def field(samples, name):
    return [s[name] for s in samples if s and s.get(name) is not None]


def median_or_none(values):
    return statistics.median(values) if values else None


def told(values):
    """Does the interval exclude 0? None if there is no interval."""
    bounds = interval(values)
    return None if bounds is None else bounds[0] > 0 or bounds[1] < 0
