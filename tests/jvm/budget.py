"""What bbflow says that it costs, and budget=: sampling goes up under load and down after it."""

import re
import time

from harness import Case
from snapshot import same

WAIT = 120  # seconds at most for what takes a few


def cost(run):
    return run.snapshot().doc["cost"]


def wait_until(run, what, holds):
    end = time.time() + WAIT
    while time.time() < end:
        now = cost(run)
        if holds(now):
            return now
        time.sleep(1)  # each look is a report, and its cost is part of what is measured
    raise AssertionError(f"never {what}: {now}")


def adds_up(now):
    """Sums and parts of one picture, and what no number may be without."""
    for row in (now["since_start"], now["interval"]):
        parts = row["agent_ns"] + row["server_ns"] + row["estimated_native_ns"]
        parts += row["estimated_hook_ns"]
        more = row["estimated_overhead_ns"] - parts  # rewriting in the application's threads
        assert 0 <= more <= row["rewrite_ns"], row
        assert row["scan_ns"] + row["report_ns"] <= row["agent_ns"], row
        assert 0 < row["agent_ns"] <= row["process_ns"], row
    for name in ("life_ps", "step_ps", "passed_life_ps", "passed_step_ps", "rewrite_longest_ns",
                 "memory_nodes", "memory_lives"):
        assert now[name] > 0, (name, now)


def off(run):
    """Without a budget it measures, and changes nothing."""
    first = wait_until(run, "an interval", lambda c: c["interval"]["elapsed_ns"] > 0)
    now = wait_until(run, "more lives",
                     lambda c: c["interval"]["lives"] > 0 and c["interval"] != first["interval"])
    adds_up(now)
    same("budget, sample, turns", (now["budget_ppm"], now["sample"], now["raised"]), (0, 1, 0))
    row = now["interval"]
    # Nine steps each, of which the path, a loop, has four.
    assert row["estimated_hook_ns"] > 0 and 3 < row["steps"] / row["lives"] < 5, row
    assert "sample_since" not in now, now


def under_load(run):
    pid = str(run.pid)
    off(run)
    for bad in ("1", "0%", ".5%", "101%", "on"):
        out, err = run.client("set", pid, f"budget={bad}", code=5)
        assert "option 'budget': " in out + err and "0.01% to 100%" in out + err, out + err
    out, err = run.client("set", pid, "duty=2%", code=5)  # its hooks have no gate
    assert "only in a JVM where bbflow was started with it" in out + err, out + err
    same("budget", cost(run)["budget_ppm"], 0)
    run.client("set", pid, "budget=0.02%")
    now = wait_until(run, "sampling", lambda c: c["sample"] >= 4)
    same("budget", now["budget_ppm"], 200)
    assert now["raised"] >= 2 and now["sample_ppm"] > 200 and "sample_since" in now, now
    for verb, text in (("tree", "Cost of bbflow: at least "), ("summary", "Budget: 0.02%; 1 buffer in "),
                       ("status", "Budget: 0.02%; 1 buffer in "), ("llm", "COST:\nsince_start|")):
        out, _ = run.client(verb, pid)
        assert text in out, f"{verb}: {out}"
        assert verb == "status" or "above the budget of 0.02%" in out, f"{verb}: {out}"
    run.process.stdin.write(b"rest\n")
    run.process.stdin.flush()
    run.wait_for("RESTS")
    now = wait_until(run, "all again", lambda c: c["sample"] == 1)
    # The last interval was idle: the text has the last one that was not, and how long ago it was.
    share = r"at least \d+\.\d\d%"
    assert re.search(rf"^Cost of bbflow: {share} of \S+ m?s of processor time in the last busy "
                     rf"\d+\.\d m?s, \d+\.\d s ago; at least .* since the settings changed",
                     run.client("tree", pid)[0], re.M), run.client("tree", pid)[0]
    assert now["interval"]["process_ns"] < now["busy"]["process_ns"], now
    assert now["since_change"]["lives"] < now["since_start"]["lives"], now
    assert now["lowered"] == now["raised"] and "sample_since" not in now, now
    adds_up(now)
    run.client("set", pid, "sample=5")  # the user's own rate is the floor, the budget's above it
    same("sample", cost(run)["sample"], 5)
    run.client("set", pid, "budget=off", "sample=1")
    same("budget, sample", (cost(run)["budget_ppm"], cost(run)["sample"]), (0, 1))
    time.sleep(2.5)  # two intervals without work since that set
    out = run.client("summary", pid)[0]
    assert re.search(r"^Overhead: at least \S+ m?s of \S+ m?s of processor time since the settings "
                     r"changed, too idle for a share$", out, re.M), out
    assert "busy" not in cost(run), cost(run)


def near(run):
    """Each life weighs as it was drawn: the sum is right within 6 standard deviations of the worst
    rate, and a path is one row, whatever rates there were."""
    rate, totals = 1024, run.json.totals
    for name, true in (("lives", run.oracle["lives"]), ("leaked", run.oracle["lost"])):
        off_by = totals[name] - true
        assert off_by * off_by <= 36 * true * (rate - 1), f"{name}: {totals[name]} of {true}"
    same("roots", [r.rsplit(".", 1)[1] for r in run.json.roots()], ["directBuffer"])
    log = [line for line in run.read("log").splitlines() if "budget: " in line]
    assert 1 <= len(log) <= 6, log  # one in 10 seconds at most
    assert "sampling 1 in 2 (1 in 1 before)" in log[0] and "above the budget" in log[0], log


def last_work(run):
    """The report at exit, after a rest, has what it cost while the process worked last."""
    now = run.json.doc["cost"]
    assert now["busy"]["process_ns"] >= now["busy"]["elapsed_ns"] / 20, now
    idle = now["interval"]["process_ns"] < now["interval"]["elapsed_ns"] / 20
    assert idle == (now["busy"] != now["interval"]), now
    assert "since_change" not in now, now


def attached(run):
    """The options of the start hold from the first interval on."""
    now = wait_until(run, "above sample=", lambda c: c["raised"] > 0)
    assert now["sample"] in (8, 16, 32, 64, 128, 256, 512, 1024), now
    run.process.stdin.write(b"rest\n")
    run.process.stdin.flush()
    wait_until(run, "down to sample=", lambda c: c["sample"] == 6)


def cases():
    yield Case("budget/set", "com.app.Probes", "spend", agent="include=com.app,loglevel=info,log=log",
               live=under_load, check=near, short=(17,))
    yield Case("budget/at the start", "com.app.Probes", "spend", live=attached, check=last_work,
               agent="include=com.app,sample=6,budget=0.01%,budgetSeconds=1", short=(25,))
