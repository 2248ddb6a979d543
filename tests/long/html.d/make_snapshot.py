#!/usr/bin/python3
"""make_snapshot.py shop|later|hostile|NODES: a bbflow-snapshot/1 document, the same each time, for tests/long/html.
shop: an application with three bugs, queues that grow and a history; later: the same an hour on, one bug mended, a new
one; hostile: names that try to leave their element; a number: a tree of that many nodes."""

import json
import random
import sys

COLUMNS = "passed released live live_bytes aged static leaked leaked_bytes held harmless unknown".split()
TOTALS = ("lives released live aged static leaked held harmless unknown undone live_bytes leaked_bytes sampled raced_steps"
          " dropped_steps dropped_lives untracked_classes untracked_buffers holders_unknown elements_cut no_weakref misuse"
          " steps_after_release out_of_memory untouched_classes untouched_methods entry_only_methods internal_errors").split()


class Snapshot:
    def __init__(self, captured, main="net.shop.api.Shop"):
        self.document = {
            "schema": "bbflow-snapshot/1", "captured_at": captured,
            "jvm": {"pid": 21423, "main": main, "version": "21.0.9+10-LTS", "netty": ["4.2.9.Final io.netty"],
                    "map_mode": []},
            "settings": {"include": "net.shop", "age": "10m"}, "limits": {}, "notes": [],
            "totals": {name: 0 for name in TOTALS}, "sites": [], "nodes": [], "leaks": [], "misuse": [], "threads": []}
        self.sites, self.at = {}, {}

    def site(self, name, kind="enter"):
        if (name, kind) not in self.sites:
            class_name, _, method = name.rpartition(".")
            self.sites[name, kind] = len(self.sites) + 1
            self.document["sites"].append({"id": len(self.sites), "class": class_name, "method": method,
                                           "descriptor": "", "kind": kind})
        return self.sites[name, kind]

    def node(self, parent, name, kind="enter", ref="1-2"):
        key = (parent, name, ref)
        if key not in self.at:
            row = {"id": len(self.at) + 1, "parent": parent, "site": self.site(name, kind), "ref": ref}
            row.update({column: 0 for column in COLUMNS})
            self.document["nodes"].append(row)
            self.at[key] = row["id"]
        return self.at[key]

    def path(self, *names):
        node = -1
        for i, name in enumerate(names):
            node = self.node(node, name, "root" if i == 0 else "enter")
        return node

    def row(self, node):
        return self.document["nodes"][node - 1]

    def released(self, node, count):
        end = self.node(node, "io.netty.buffer.PooledUnsafeDirectByteBuf.release", "release", "0")
        self.row(end)["released"] += count

    def live(self, node, count, size):
        self.row(node)["live"] += count
        self.row(node)["live_bytes"] += count * size

    def lost(self, node, count, size, memory="direct", verdict="leaked", oldest=4000, thread=17):
        row = self.row(node)
        if verdict == "leaked":
            row["leaked"] += count
            row["leaked_bytes"] += count * size
        else:
            row["aged"] += count
            self.live(node, count, size)
        self.document["leaks"].append({
            "node": node, "verdict": verdict, "memory": memory, "count": count, "bytes": count * size,
            "oldest_seconds": oldest, "p50_seconds": oldest // 3, "lost": "for_good" if memory == "direct" else "nothing",
            "thread": thread, "thread_count": count * 3 // 4 + 1, "references": count, "path": []})

    def grow(self, node, of, lives, size, first, last, memory="direct"):
        self.document.setdefault("growth", []).append({
            "node": node, "of": of, "memory": memory, "lost": "for_good", "first": first, "last": last,
            "lives": lives, "bytes": [n * size for n in lives]})

    def add_up(self):
        nodes, totals = self.document["nodes"], self.document["totals"]
        for row in reversed(nodes):
            row["passed"] += sum(row[c] for c in ("released", "live", "leaked", "held", "harmless", "unknown"))
            if row["parent"] > 0:
                self.row(row["parent"])["passed"] += row["passed"]
        for name in totals.keys() & set(COLUMNS):
            totals[name] = sum(row[name] for row in nodes)
        totals["lives"] = sum(row["passed"] for row in nodes if row["parent"] < 0)

    def write(self):
        self.add_up()
        json.dump(self.document, sys.stdout)


ROOT = "io.netty.buffer.AdaptiveByteBufAllocator.directBuffer"
HEAP = "io.netty.buffer.AdaptiveByteBufAllocator.heapBuffer"


def shop(later):
    random.seed(7)
    s = Snapshot("2026-11-24T15:02:00.000Z" if later else "2026-11-24T14:02:00.000Z")
    api = "net.shop.api."
    read = s.path(ROOT, api + "Router.channelRead")
    cart = s.node(read, api + "Router.cart")
    total = s.node(cart, api + "CartParser.total")
    scale = 2 if later else 1
    s.released(s.node(s.node(total, api + "Pricing.sum"), api + "Reply.send"), 92699 * scale)
    if not later:
        s.lost(total, 4889, 768, oldest=3590)
    page = s.node(read, api + "Router.page")
    template = s.node(page, api + "Template.render")
    s.released(s.node(template, api + "Reply.send"), 721295 * scale)
    cache = s.node(page, api + "EtagCache.remember")
    s.lost(cache, 4000 * scale, 256, verdict="aged", oldest=606 + 3600 * later)
    s.lost(s.node(template, api + "Template.fail"), 312 * scale, 16384, memory="heap", oldest=61)
    audit = s.node(s.node(read, api + "Audit.offer"), "net.shop.queue.Outbound.queue")
    s.live(audit, 850, 100 * 1024)
    s.released(s.node(audit, "net.shop.queue.Outbound.flush"), 18200 * scale)
    upload = s.path(HEAP, api + "Upload.begin")
    chunk = s.node(upload, api + "Upload.chunk")
    step = chunk
    for i in range(14):
        step = s.node(step, f"net.shop.image.Filter{i}.apply")
    s.released(s.node(step, api + "Upload.done"), 4021 * scale)
    if later:
        s.lost(step, 77, 65536, memory="heap", oldest=1200)
    for i in range(60):
        handler = s.node(read, f"net.shop.rpc.Method{i:02}.call")
        s.released(s.node(handler, f"net.shop.rpc.Codec.encode"), random.randrange(20, 9000))
    if not later:
        s.lost(s.node(s.node(read, "net.shop.rpc.Method07.call"), "net.shop.rpc.Codec.reject"), 3, 64, oldest=12)
    s.document["notes"] = ["3 objects could not be looked into for a buffer (holders_unknown)"]
    s.document["threads"] = [{"id": 17, "name": "nioEventLoopGroup-2-1"}]
    s.document["history"] = {"seconds": 60, "intervals": 120, "current_seconds": 20}
    burst = [0] * 62 + [random.choice((0, 40, 85, 140, 210)) for _ in range(58)]
    if not later:
        s.grow(total, "lost", burst, 768, "2026-11-24T13:04:00.000Z", "2026-11-24T14:01:00.000Z")
    s.grow(s.at[template, api + "Template.fail", "1-2"], "lost", [0] * 30 + [0, 6, 0, 0, 9, 20, 31, 0, 2] * 3 + [0] * 63, 16384,
           "2026-11-24T12:34:00.000Z", "2026-11-24T13:00:00.000Z", "heap")
    s.grow(audit, "held", [0] * 20 + list(range(12, 850, 9))[:100], 100 * 1024, "2026-11-24T12:20:00.000Z",
           "2026-11-24T14:02:00.000Z")
    s.grow(cache, "held", [0] * 70 + [80 * i for i in range(1, 51)], 256, "2026-11-24T13:10:00.000Z",
           "2026-11-24T14:02:00.000Z")
    s.write()


HOSTILE = ["</script><img src=x onerror=window.hacked=1>", "<!--<script>window.hacked=2</script>", "\u202egnp.exe\u202c\u200b",
           "]]>'\"&amp;<svg onload=window.hacked=3>", "x" * 10000, "__proto__.constructor", "a\nb\tc\u007fd", "</style></title>"]


def hostile():
    s = Snapshot("2026-11-24T14:02:00.000Z", "</title></script><script>window.hacked=4</script>\u202e")
    root = s.path(ROOT)
    for i, name in enumerate(HOSTILE):
        node = s.node(root, f"net.evil.{name}.{name}")
        s.lost(s.node(node, f"net.evil.Next{i}.{name}"), i + 1, 64)
        s.released(node, 50)
    s.document["notes"] = ["note of </script><img src=x onerror=window.hacked=5>"]
    s.document["settings"] = {"include": "</pre><img src=x onerror=window.hacked=6>"}
    s.document["threads"] = [{"id": 17, "name": "</script>\u202ethread<img src=x onerror=window.hacked=7>"}]
    s.write()


def big(n):
    """Bushy at the top, chains below, as paths through handlers are; one in 40 ends in a loss."""
    random.seed(n)
    s = Snapshot("2026-11-24T14:02:00.000Z")
    nodes = [s.path(ROOT), s.path(HEAP)]
    while len(s.at) < n:
        parent = nodes[int(len(nodes) * random.random() ** 2)] if random.random() < 0.4 else nodes[-1]
        names = random.randrange(3000)
        node = s.node(parent, f"net.big.p{names % 40}.Handler{names % 700}.method{names % 9}")
        nodes.append(node)
        if random.random() < 0.3:
            s.released(node, random.randrange(1, 2000))
        elif random.random() < 0.04:
            s.lost(node, random.randrange(1, 50), random.choice((64, 512, 4096)), oldest=random.randrange(1, 5000))
    s.write()


if __name__ == "__main__":
    WHAT = sys.argv[1]
    if WHAT == "hostile":
        hostile()
    elif WHAT in ("shop", "later"):
        shop(WHAT == "later")
    else:
        big(int(WHAT))
