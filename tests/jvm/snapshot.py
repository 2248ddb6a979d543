"""A bbflow-snapshot/1 document as the tests see it: look-ups, and the rules that every one keeps."""

import json

PARTITION = ("released", "live", "leaked", "held", "harmless", "unknown")
COLUMNS = PARTITION + ("aged", "static", "live_bytes", "leaked_bytes")


class Snapshot:
    def __init__(self, text):
        self.doc = json.loads(text)
        self.totals = self.doc["totals"]
        self.nodes = {n["id"]: n for n in self.doc["nodes"]}
        self.sites = {s["id"]: s for s in self.doc["sites"]}
        self.leaks = self.doc["leaks"]

    def name(self, node):
        """"pkg.Class.method" of a node's site; no class, no dot (?raced)."""
        site = self.sites[node["site"]]
        return ".".join(part for part in (site["class"], site["method"]) if part)

    def path(self, node):
        names = []
        while True:
            names.append(self.name(node))
            if node["parent"] == -1:
                return tuple(reversed(names))
            node = self.nodes[node["parent"]]

    def names(self):
        return {self.name(n) for n in self.nodes.values()}

    def roots(self):
        """name -> lives that began there"""
        found = {}
        for n in self.nodes.values():
            if n["parent"] == -1:
                found[self.name(n)] = found.get(self.name(n), 0) + n["passed"]
        return found

    def passed(self, name):
        """lives that reached a step, each counted once: its topmost nodes only"""
        total = 0
        for n in self.nodes.values():
            if self.name(n) == name and name not in self.path(n)[:-1]:
                total += n["passed"]
        return total

    def leaked_at(self):
        """path -> leaked lives, refCnt buckets added up"""
        found = {}
        for n in self.nodes.values():
            if n["leaked"]:
                found[self.path(n)] = found.get(self.path(n), 0) + n["leaked"]
        return found

    def last_steps(self):
        """name of the losing step -> leaked lives"""
        found = {}
        for path, count in self.leaked_at().items():
            found[path[-1]] = found.get(path[-1], 0) + count
        return found

    def owners(self):
        """name of the method that a leak row says owned the buffers -> leaked lives"""
        found = {}
        for leak in self.leaks:
            if leak["verdict"] == "leaked":
                name = self.path(self.nodes[leak["owner"]])[-1]
                found[name] = found.get(name, 0) + leak["count"]
        return found

    def memory(self):
        """direct|heap|composite -> (leaked lives, bytes)"""
        found = {}
        for leak in self.leaks:
            if leak["verdict"] == "leaked":
                count, size = found.get(leak["memory"], (0, 0))
                found[leak["memory"]] = (count + leak["count"], size + leak["bytes"])
        return found

    def notes(self):
        return " | ".join(self.doc.get("notes", []))

    def check(self, moving=False):
        """What holds for every document: the rows add up, and every leak is listed. `moving`: lives
        moved while it was made; a release node made since then counts in its step's row."""
        same("schema", self.doc["schema"], "bbflow-snapshot/1")
        t = self.totals
        same("lives = " + " + ".join(PARTITION), t["lives"], sum(t[c] for c in PARTITION))
        for column in COLUMNS:
            same(f"totals.{column} = column sum", t[column],
                 sum(n[column] for n in self.nodes.values()))
        below = {i: sum(n[c] for c in PARTITION) for i, n in self.nodes.items()}
        seen = set()
        for n in self.doc["nodes"]:
            assert n["parent"] == -1 or n["parent"] in seen, f"node {n['id']} before its parent"
            seen.add(n["id"])
        for n in reversed(self.doc["nodes"]):
            same(f"passed of node {n['id']}", n["passed"], below[n["id"]])
            if n["parent"] != -1:
                below[n["parent"]] += below[n["id"]]
        same("sum over leaks of leaked", t["leaked"],
             sum(k["count"] for k in self.leaks if k["verdict"] == "leaked"))
        same("sum over leaks of bytes", t["leaked_bytes"],
             sum(k["bytes"] for k in self.leaks if k["verdict"] == "leaked"))
        for leak in self.leaks:
            same("path of a leak", tuple(leak["path"]), self.path(self.nodes[leak["node"]]))
        # At a limit there may be no room for a release row: its lives stay with the step then.
        limited = any(limit["hit"] for limit in self.doc["limits"].values())
        for n in self.nodes.values():
            if self.sites[n["site"]]["kind"] == "release":
                same(f"ref of release node {n['id']}", n["ref"], "0")
                same(f"released lives of release node {n['id']}", n["passed"], n["released"])
            elif not limited and not moving and not self.name(n).startswith("?"):
                same(f"released lives of step {self.name(n)}", n["released"], 0)
        same("internal_errors", t["internal_errors"], 0)


def same(what, got, expected):
    assert got == expected, f"{what}: got {got!r}, expected {expected!r}"
