"""bbflow check, diff and merge of the report at exit of a real JVM, as a build runs them (docs/ci.md)."""

import json
import os
import re
import xml.etree.ElementTree

import harness
from harness import Case
from snapshot import same

PROBES = os.path.join(harness.ROOT, "tests/jvm/probes")
PLACE = "com/app/Blame.java"  # composite() loses 20 of 40


def variant(run, name, factor):
    """The same program at another time: every count times `factor`, so every rate is the same."""
    doc = json.loads(run.client("dump", run.json_path)[0])
    doc["jvm"]["pid"] += 1
    for rows in (doc["nodes"], doc["leaks"], [doc["totals"]]):
        for row in rows:
            for key, value in row.items():
                if key in ("passed", "released", "live", "live_bytes", "leaked", "leaked_bytes", "held",
                           "harmless", "unknown", "aged", "static", "count", "bytes", "lives"):
                    row[key] = value * factor
    doc["leaks"] = doc["leaks"] if factor > 0 else []
    path = os.path.join(os.path.dirname(run.json_path), name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(doc, file)
    return path


def line_of(method):
    with open(os.path.join(PROBES, PLACE), encoding="utf-8") as file:
        lines = file.read().split("\n")
    return next(i + 1 for i, line in enumerate(lines) if re.search(rf"\bvoid {method}\(", line))


def fails_with_the_place(run):
    out = run.client("check", run.json_path, "-f", "github", "--sources", PROBES, code=10)[0]
    found = re.search(r"^::error file=([^,]*),line=(\d+),title=ByteBuf leak in Blame.composite::20 of 40 ",
                      out, re.M)
    assert found, out
    same("file", found[1], os.path.relpath(os.path.join(PROBES, PLACE)))
    first = line_of("composite")
    assert first < int(found[2]) <= first + 3, (found[2], first)


def reports(run):
    folder = os.path.dirname(run.json_path)
    text = run.client("check", run.json_path, "-o", f"{folder}/report.xml", code=10)[0]
    assert text.startswith("check failed: 1 of 2 rules are broken, 1 leak fails (com.app.Probes"), text
    suite = xml.etree.ElementTree.parse(f"{folder}/report.xml").getroot()
    same("failures", [suite.get("failures"), len(suite.findall("testcase/failure"))], ["2", 2])
    run.client("check", run.json_path, "-o", f"{folder}/report.sarif", code=10)
    with open(f"{folder}/report.sarif", encoding="utf-8") as file:
        result, = json.load(file)["runs"][0]["results"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    same("last step", steps[-1]["location"]["message"]["text"], "Blame.composite")
    tree = run.client("tree", run.json_path)[0]
    same("fingerprint", result["partialFingerprints"]["bbflowLeak/v1"],
         re.search(r"\(id ([0-9a-f]{16})\)", tree)[1])


def compares_rates(run):
    same_rate, clean = variant(run, "double.json", 2), variant(run, "none.json", 0)
    run.client("check", same_rate, "--baseline", run.json_path)
    assert "unchanged leak: 40 of 80" in run.client("diff", run.json_path, same_rate)[0]
    run.client("check", run.json_path, "--baseline", clean, code=10)
    run.client("check", clean, "--baseline", run.json_path, code=10)  # no life: no proof
    run.client("check", run.json_path, "--max-leaked", "20")
    run.client("check", run.json_path, "--max-leaked", "19", code=10)
    merged = os.path.join(os.path.dirname(run.json_path), "all.json")
    run.client("merge", run.json_path, same_rate, "-o", merged)
    assert "60 of 120 (50.00%)" in run.client("tree", merged)[0]
    assert "is the same snapshot as" in run.client("merge", merged, merged, code=1)[1]


def verdicts(run):
    fails_with_the_place(run)
    reports(run)
    compares_rates(run)


def cases():
    yield Case("check/report-at-exit", "com.app.Probes", "blame", "composite", check=verdicts, jdk=(17,), own_jvm=True,
               quick=True)
