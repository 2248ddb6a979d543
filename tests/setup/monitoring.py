#!/usr/bin/env python3
"""tests/setup/monitoring.py: dashboard, page and rules fit what bbflow writes.

The golden documents of the formats prom and openmetrics have no family that monitoring/generate does not know, and all of its
labels; the dashboard is JSON that Grafana can place; and each planted offence is refused.
"""
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
PATH = os.path.join(ROOT, "monitoring/generate")
LOADER = importlib.machinery.SourceFileLoader("generate", PATH)
generate = importlib.util.module_from_spec(importlib.util.spec_from_loader("generate", LOADER))
LOADER.exec_module(generate)

PLANTS = (
    ("sum(bbflow_leaked_buffers)", "no metric bbflow_leaked_buffers"),
    ("sum by (root) (bbflow_leaked_bytes_total)", "no label root"),
    ('bbflow_not_seen_total{why="lives"}', "no label why"),
    ("sum without (part, id) (bbflow_cpu_seconds_total)", "no label id"),
    ("up == 0", "no metric of bbflow"),
    ("id:bbflow_other:sum > 0", "no metric id:bbflow_other:sum"),
)
# No golden document has a measured cost; tests/jvm/metrics.py finds these in a real scrape.
OF_COST = {"bbflow_cpu_seconds_total", "bbflow_process_cpu_seconds_total", "bbflow_memory_bytes"}


def families(golden):
    """name -> labels of the samples in the golden documents; no name has two types."""
    found = {}
    for path in glob.glob(os.path.join(ROOT, "tests/golden/render", golden)):
        with open(path, encoding="utf-8") as file:
            for line in file.read().splitlines():
                if not line.startswith("#"):
                    name, labels = re.match(r"(\w+)(?:\{(.*?)\})? \S", line).groups()
                    found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels or ""))
    return found


def overlaps(one, other):
    return (one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"]
            and one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"])


def main():
    metrics = {name: labels for name, _, labels, _ in generate.table()}
    seen = {}
    for golden in ("*.prom", "*.openmetrics"):
        found = families(golden)
        assert len(found) > 20, found
        for name, labels in found.items():
            assert name in metrics, f"{golden} has {name}, which render/metrics_table.h has not"
            assert labels == set(metrics[name]), f"{golden}: {name} has {labels}, not {metrics[name]}"
        seen.update(found)
    with open(generate.DASHBOARD, encoding="utf-8") as file:
        board = json.load(file)
    asked = " ".join(query for _, query in [*generate.queries(board), *generate.rules_expressions()])
    used = set(re.findall(r"(?<![\w:])bbflow_\w+", asked))
    assert len(used) > 15, used
    unseen = {name for name in used if name not in seen} - set(generate.recorded())
    assert unseen == OF_COST, f"in no golden document: {unseen}"
    places = [panel["gridPos"] for panel in board["panels"]]
    assert len(places) > 10 and len({panel["id"] for panel in board["panels"]}) == len(places)
    for i, place in enumerate(places):
        assert place["x"] + place["w"] <= generate.WIDTH, place
        assert not any(overlaps(place, other) for other in places[:i]), place
    for query, words in PLANTS:
        said = generate.offences("planted", query, metrics, generate.recorded() if ":" in query else ())
        assert any(words in line for line in said), f"{query}: {said}"
    done = subprocess.run([PATH, "--check"], stdout=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stdout
    names = [name for name, _ in generate.rules_expressions()]
    assert {"BBFlowLeak", "id:bbflow_leaked_buffers:lost1h"} <= set(names), names


if __name__ == "__main__":
    main()
