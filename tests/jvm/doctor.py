"""`bbflow doctor` on whole JVMs (issue 26, point 8): what it finds, and that it changes nothing."""

import glob
import json
import os

import harness
from attach import Program
from harness import Case, Scenario
from snapshot import same

LIBRARY = ("--agent", harness.AGENT)


def doctor(ask, pid, code):
    """The one JVM of its answer, after the text form agreed with it."""
    before = traces(pid)
    jvms = json.loads(ask("doctor", str(pid), "--json", *LIBRARY, code=code))["jvms"]
    same("one JVM", [jvm["pid"] for jvm in jvms], [int(pid)])
    text = ask("doctor", str(pid), *LIBRARY, code=code)
    same("traces of an attach", traces(pid), before)
    jvm = jvms[0]
    for row in jvm["findings"]:
        assert row["text"] in text and row["remedy"] in text, (row, text)
    assert jvm["next"] is None or text.rstrip().endswith(jvm["next"]), text
    return jvm, {row["id"]: row for row in jvm["findings"] if row["severity"] != "note"}


def traces(pid):
    """What an attach would leave: its listener's socket and thread, a file that asks for it."""
    names = []
    for path in glob.glob(f"/proc/{pid}/task/*/comm"):
        with open(path, encoding="utf-8") as file:
            names.append(file.read().strip())
    return ("Attach Listener" in names, os.path.exists(f"/tmp/.java_pid{pid}"),
            glob.glob(f"/tmp/.attach_pid{pid}"), glob.glob(f"/proc/{pid}/cwd/.attach_pid{pid}"))


def bare(bench):
    """Netty but no agent, and no way to attach it."""
    with Program(bench, "idle", "loaded", ready="READY", jvm=("-XX:-EnableDynamicAgentLoading",)) as program:
        jvm, found = doctor(program.ask, program.pid, 10)
        same("findings", set(found), {"agent-not-loaded", "dynamic-loading-off"})
        same("agent", jvm["agent"], None)
        same("Java", jvm["java"], bench.jdk.major)
        same("next start", jvm["next"], f"-agentpath:{harness.AGENT}=include=com.app")
        same("Netty", [row["text"] for row in jvm["findings"] if row["id"] == "netty"],
             ["Netty 4.1.140.Final"])
        assert "Full thread dump" not in program.read(0), program.read(0)
        same("exit code", program.end(), 0)


def unmatched(run):
    jvm, found = doctor(lambda *args, code: run.client(*args, code=code)[0], run.pid, 10)
    same("findings", set(found), {"include-matches-nothing"})
    assert "com.app" in found["include-matches-nothing"]["text"], found
    assert "include=com.app" in found["include-matches-nothing"]["remedy"], found
    assert "include=com.app" in jvm["next"] and "com.nosuch" not in jvm["next"], jvm["next"]


def healthy(run):
    jvm, found = doctor(lambda *args, code: run.client(*args, code=code)[0], run.pid, 0)
    same("findings", found, {})
    assert not jvm["found"] and jvm["agent"] is not None, jvm
    assert "include=com.app" in jvm["next"], jvm


def cases():
    yield Scenario("doctor/no agent", bare, jdk=(21, 25), short=(25,))
    yield Case("doctor/include matches nothing", "com.app.Probes", "idle", "loaded", agent="include=com.nosuch",
               live=unmatched, jdk=(17, 25), short=(17,))
    yield Case("doctor/healthy", "com.app.Probes", "idle", "loaded", live=healthy, jdk=(17, 25), short=(17,))
