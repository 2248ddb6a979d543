"""Which request: the channel, hint and exception of lost buffers (issue 23, point 8)."""

import os
import re

import harness
from attach import Older
from harness import Case
from snapshot import same

ON = "com.app.Contexts$Requests"
HOSTILE = "\x1b[31m\n\"|\u202e\u0100" + "x" * 50 + "\u2026"
SHOWN = '"\\u001b[31m\\u000a\\u0022|\\u202e\u0100' + "x" * 50 + '\u2026"'
# last step -> what the row has beside the channel; None: no row
WANTED = {
    "touched": {"hint_is": "text", "hint": "cart parsed"},
    "parse": {"exception": "java.lang.IllegalStateException", "caught_in": ON + ".swallow"},
    "thrown": {"exception": "java.lang.UnsupportedOperationException"},
    "hostile": {"hint_is": "text", "hint": HOSTILE},
    "keep": {},
    "object": {"hint_is": "class", "hint": "com.app.Contexts$Hint"},
    "alone": {},
}
KIND_OF = dict(zip(WANTED, "TXPHSOL"))


def rows_of(snapshot):
    """last step's method -> row, without what is not the same in each run"""
    found = {}
    for row in snapshot.doc.get("contexts", []):
        step = snapshot.name(snapshot.nodes[row["node"]])
        assert step not in found, row
        found[step] = row
    return found


def strip(row):
    """A pipeline that touches says its handler where no hint of a user is."""
    if row.get("hint_is") == "handler":
        assert re.match(r"Contexts\$(Requests|Embedded)#0$", row["hint"]), row
        row = {k: v for k, v in row.items() if k not in ("hint", "hint_is")}
    return {k: v for k, v in row.items() if k in ("hint", "hint_is", "exception", "caught_in")}


def all_of_them(run):
    totals, rows = run.json.totals, rows_of(run.json)
    same("leaked", totals["leaked"], run.oracle["leaked"])
    same("internal errors", totals["internal_errors"], 0)
    same("notes", [n for n in run.json.doc["notes"] if "context" in n], [])
    for method, wanted in WANTED.items():
        row = rows.pop(f"{ON}.{method}")
        same(method, strip(row), wanted)
        channel, port = run.oracle[KIND_OF[method]].split("/")
        same(method + "'s channel", (row.get("channel"), row.get("address")),
             (channel, f"/127.0.0.1:{port}"))
    row = rows.pop("com.app.Contexts$Embedded.lose")
    same("embedded", (row["channel"], row.get("address"), strip(row)), ("embedded", None, {}))
    same("what saw no channel has no row", rows, {})


def and_shown(run):
    all_of_them(run)
    text = run.client("tree", run.json_path)[0]
    channel = r"^   last lost: channel 0x[0-9a-f]{8} /127\.0\.0\.1:\d+"
    for line in (r', touched "cart parsed"$', f", touched {re.escape(SHOWN)}$",
                 rf", after java\.lang\.IllegalStateException in {re.escape(ON)}\.swallow$",
                 r", touched with an object of com\.app\.Contexts\$Hint$"):
        assert re.search(channel + r'(, given to handler "[^"]*")?' + line, text, re.M), (line, text)
    assert "\x1b" not in text
    assert re.search(r"^context\|.*\|hint_is=text\|hint=cart parsed\|at=", run.client("llm", run.json_path)[0], re.M)
    redacting(run)


def redacting(run):
    key, redacted = (os.path.join(run.folder, name) for name in ("names.key", "redacted.tree"))
    run.client("dump", run.json_path, "-o", redacted, "--redact", key)
    with open(redacted, encoding="utf-8") as file:
        hidden = file.read()
    channels = {row["channel"] for row in run.json.doc["contexts"]} - {"embedded"}
    for private in ("127.0.0.1", "cart parsed", "Contexts", *channels):
        assert private not in hidden, (private, hidden)
    assert ", after java.lang.IllegalStateException in " in hidden, hidden
    back = run.client("unredact", redacted, "--redact", key)[0]
    for private in ("/127.0.0.1:", 'touched "cart parsed"', *channels):
        assert private in back, (private, back)


class Set(Older):
    """Attached to a JVM that has all of Netty, so in map mode, and then switched on."""

    def come_in(self, run):
        run.client("attach", "--agent", harness.AGENT, str(run.pid), "include=com.app", "gc=exit",
                   f"file={run.json_path}")
        assert run.snapshot().doc["jvm"]["map_mode"]
        answer = run.client("set", str(run.pid), "context=on")[0]
        assert re.search(r"^[1-9]\d* loaded classes newly followed", answer, re.M), answer
        run.process.stdin.write(b"\n")
        run.process.stdin.flush()


def cases():
    agent = "include=com.app,context=on,gc=exit"
    quiet = ["-Dio.netty.leakDetection.level=disabled"]  # a pipeline touches nothing then
    yield Case("context/4.1.140", "com.app.Probes", "contexts", agent=agent, check=and_shown,
               short=(17,), quick=True)
    yield Case("context/4.2.20", "com.app.Probes", "contexts", agent=agent, check=all_of_them,
               short=(25,), netty="4.2.20.Final")
    yield Case("context/4.1.48", "com.app.Probes", "contexts", agent=agent, jvm=quiet,
               check=all_of_them, jdk=(17,), netty="4.1.48.Final")
    yield Set("context", "contexts", "TXPHSOLG", "late", check=all_of_them, short=(25,))
