"""Names: what a compiler named is called as people wrote it (issue 23, points 3 and 9)."""

import re

from harness import CLIENT, Case, Scenario
from snapshot import Snapshot, same

OWN = "com.app.Written."
RECORD, ANONYMOUS, LOCAL, TWICE = 38, 47, 56, 63  # lines of Written.java

READABLE = {
    f"{OWN}record (lambda, line {RECORD})": 6,
    f"{OWN}anonymous (take, line {ANONYMOUS})": 6,
    f"{OWN}local (take, line {LOCAL})": 6,
}
RAW = ("lambda$record$", "Written$1.take", "Written$1Local.take", "lambda$twice$")


def site_passed(snapshot, name):
    """Lives that reached the steps of that readable name."""
    return sum(n["passed"] for n in snapshot.nodes.values()
               if snapshot.sites[n["site"]]["name"] == name)


def written(run):
    for name, count in READABLE.items():
        same(name, site_passed(run.json, name), count)
    same("two lambdas of a line", site_passed(run.json, f"{OWN}twice (lambda, line {TWICE})"), 12)
    for raw in RAW:
        assert any(raw in name for name in run.json.names()), f"no raw name {raw}"
    for site in run.json.sites.values():
        if site["class"].startswith("com.app."):
            assert site.get("line", 0) > 0, f"no line: {site}"
    text, _ = run.client("tree", run.json_path)
    for want in (f"Written.record (lambda, line {RECORD}) [", f"Written.local (take, line {LOCAL}) [",
                 f"Written.anonymous (take, line {ANONYMOUS}) ["):
        assert want in text, f"no {want!r} in {text}"
    for n in (0, 1):
        assert re.search(rf"Written\.twice \(lambda, line {TWICE}: Written\.lambda\$twice\$\d\) \[", text), text
    assert "$1" not in text.replace("lambda$twice$1", ""), text
    text, _ = run.client("tree", run.json_path, "--lines")
    assert re.search(r"Written\.end:\d\d \[", text), text
    assert "Written.end [" not in text, text


REFERENCE = f"{OWN}refer_release (method reference)"


def references(run):
    """Who released a buffer by ByteBuf::release: the method that made the reference."""
    same("released by the reference", site_passed(run.json, REFERENCE), 6)
    same("names with addresses", [n for n in run.json.names() if "0x" in n], [])


def without_times(text):
    """A tree without what differs between two runs: seconds, costs, Netty's own numbers."""
    lines = [line for line in text.splitlines()
             if not line.startswith(("Cost of bbflow", "Reconciled", "note:"))]
    return [re.sub(r" oldest \d+ s", "", line) for line in lines]


def report(bench, number, netty="4.1.140.Final"):
    path = bench.path(f"out{number}.json")
    done = bench.java("com.app.Probes", "written", agent=f"include=com.app,refs=on,file={path}", netty=netty)
    same("exit", done.returncode, 0)
    return path


def two_runs(bench):
    texts = []
    for number in (1, 2):
        path = report(bench, number)
        texts.append(without_times(bench.run([CLIENT, "tree", path, "--all", "--lines"]).stdout))
        with open(path, encoding="utf-8") as file:
            snapshot = Snapshot(file.read())
        assert site_passed(snapshot, REFERENCE) == 6, sorted(snapshot.names())
    assert len(texts[0]) > 10, texts[0]
    same("the second run's tree", texts[1], texts[0])


def cases():
    yield Case("names/written", "com.app.Probes", "written", check=written, jdk=(11, 17, 21, 25), short=(17, 25),
               quick=True)
    yield Case("names/references", "com.app.Probes", "written", check=references,
               agent="include=com.app,refs=on", jdk=(11, 17, 21, 25), short=(17, 25))
    yield Scenario("names/two runs", two_runs, jdk=(17, 25))
