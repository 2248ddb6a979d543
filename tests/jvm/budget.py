"""What bbflow says that it costs, and budget=: windows of time as often as what they cost allows."""

import re
import signal
import subprocess
import time

import harness
from harness import Case
from snapshot import same

WAIT = 120  # seconds at most for what takes a few
PAIRS = 8  # of a window and the time beside it: fewer measure nothing


def cost(run):
    return run.snapshot().doc["cost"]


def wait_until(run, what, holds, every=1):
    end = time.time() + WAIT
    while time.time() < end:
        now = cost(run)
        if holds(now):
            return now
        time.sleep(every)  # each look is a report, and its cost is part of what is measured
    raise AssertionError(f"never {what}: {now}")


def adds_up(now):
    """Sums and parts of one picture, and what no number may be without."""
    for row in (now["since_start"], now["interval"]):
        parts = row["agent_ns"] + row["server_ns"] + row["gate_ns"]
        parts += row["estimated_hook_ns"] + row["estimated_shut_gate_ns"]
        parts += row["estimated_native_ns"] if now["pairs"] < PAIRS else 0
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
    same("budget, sample, windows", (now["budget_ppm"], now["sample"], now["pairs"], now["share_ppm"]),
         (0, 1, 0, 0))
    row = now["interval"]
    # Nine steps each, of which the path, a loop, has four.
    assert row["estimated_hook_ns"] > 0 and 3 < row["steps"] / row["lives"] < 5, row
    assert "sample_since" not in now, now


def without_gate(run):
    """Where bbflow was not loaded for windows, its hooks have no gate: budget= is refused, with the
    remedy. sample= is there, at any rate."""
    pid = str(run.pid)
    off(run)
    for bad in ("1", "0.001%", ".5%", "101%", "on"):
        out, err = run.client("set", pid, f"budget={bad}", code=5)
        assert "option 'budget': " in out + err and "0.01% to 100%" in out + err, out + err
    for one in ("duty=2%", "budget=1%", "budget=0%"):
        out, err = run.client("set", pid, one, code=5)
        assert "only in a JVM where bbflow was loaded with one of them" in out + err, out + err
        assert "restart the JVM with budget=1%" in out + err, out + err
    out, err = run.client("status", "--measure", "1s", pid, code=5)
    assert "the hooks have a gate only then" in out + err and out == "", out + err
    same("budget", cost(run)["budget_ppm"], 0)
    for rate in (1024, 64, 5):
        run.client("set", pid, f"sample={rate}")
        same("sample", cost(run)["sample"], rate)
        time.sleep(0.3)
    run.process.stdin.write(b"rest\n")
    run.process.stdin.flush()
    run.wait_for("RESTS")
    run.client("set", pid, "sample=1")
    time.sleep(2.5)  # two intervals without work since that set
    share = r"at least \d+\.\d\d%"
    out = run.client("summary", pid)[0]
    assert re.search(r"^Overhead: at least \S+ m?s of \S+ m?s of processor time since the settings "
                     r"changed, too idle for a share$", out, re.M), out
    now = cost(run)
    assert "busy" not in now and now["since_change"]["lives"] < now["since_start"]["lives"], now
    assert re.search(share, out) is None, out
    adds_up(now)


def near(run):
    """Each life weighs as it was drawn: the sum is right within 6 standard deviations of the worst
    rate, and a path is one row, whatever rates there were."""
    rate, totals = 1024, run.json.totals
    for name, true in (("lives", run.oracle["lives"]), ("leaked", run.oracle["lost"])):
        off_by = totals[name] - true
        assert off_by * off_by <= 36 * true * (rate - 1), f"{name}: {totals[name]} of {true}"
    same("roots", [r.rsplit(".", 1)[1] for r in run.json.roots()], ["directBuffer"])


def lives(run):
    return run.snapshot().totals["lives"]


def by_windows(run):
    """The budget opens windows, measures what they cost, and stays with it; any share can be set."""
    pid = str(run.pid)
    now = wait_until(run, "measured", lambda c: c["pairs"] >= 2 * PAIRS)
    adds_up(now)
    same("budget", now["budget_ppm"], 20000)
    assert 100 <= now["share_ppm"] <= 500000, now
    assert now["part_low_ppm"] <= now["part_ppm"] <= now["part_high_ppm"] < 1000000, now
    # Nine hooks and a root of a buffer that is allocated, written and released: not less than this.
    assert now["part_high_ppm"] > 50000, now
    # A shut hook is a compare and a branch: less than one that follows, by far.
    gate = now["since_start"]
    assert 0 < gate["estimated_shut_gate_ns"] < gate["process_ns"] / 5, gate
    row = now["since_start"]
    assert 0 < row["window_ns"] < row["process_ns"], row
    for verb, text in (("tree", " for the shut gate, of "), ("summary", "Overhead: measured "),
                       ("status", "Budget: 2.00%; windows are open for "), ("llm", "|share_ppm=")):
        out, _ = run.client(verb, pid)
        assert text in out, f"{verb}: {out}"
    for bad, why in (("duty=2%", "leave one of them out (budget=off or duty=off)"),
                     ("sample=2", "leave one of them out (budget=off or sample=1)")):
        out, err = run.client("set", pid, bad, code=5)
        assert why in out + err, out + err
    # The share of a larger budget does not rise from that of the smaller one, window by window.
    run.client("set", pid, "budget=20%")
    time.sleep(0.2)
    again = wait_until(run, "a share of that", lambda c: c["share_ppm"] > 0, every=0.05)
    assert again["share_ppm"] >= min(200000, 5 * now["share_ppm"]), (now["share_ppm"], again)
    # The threads and the gate alone take more than so small a budget.
    run.client("set", pid, "budget=0.01%")
    used_up = ", so the budget of 0.01% leaves windows only a tenth of it: set a larger one, or follow fewer packages"
    out, _ = run.client("tree", pid)
    assert used_up in out and "shut gate (estimated) take " in out, out
    run.client("set", pid, "budget=0%")
    out, _ = run.client("tree", pid)
    assert "leaves windows only" not in out, out
    time.sleep(0.1)
    before = lives(run)
    time.sleep(0.3)
    same("lives of a gate that is shut", lives(run), before)
    run.client("set", pid, "budget=100%")
    wait_until(run, "all followed", lambda c: lives(run) > before and c["share_ppm"] == 0, every=0.05)
    measured(run, pid)
    run.client("set", pid, "budget=off", "duty=3%")
    same("share", cost(run)["share_ppm"], 30000)
    run.client("set", pid, "duty=off", "budget=1%")
    wait_until(run, "windows again", lambda c: 100 <= c["share_ppm"] <= 500000)
    run.process.stdin.write(b"rest\n")
    run.process.stdin.flush()
    run.wait_for("RESTS")
    run.client("set", pid, "budget=100%")
    # Nothing is allocated now: the figures of earlier windows are none of this time.
    err = run.client("status", "--measure", "1s", pid, code=1)[1]
    assert ": 0 windows had enough allocations to measure" in err, err


def measured(run, pid):
    """All are followed: a measurement follows half of them meanwhile, and leaves what was set; also one
    that is stopped."""
    out, _ = run.client("status", "--measure", "2s", pid)
    found = re.fullmatch(r"following takes (\S+)% \((\S+)% to (\S+)%\) of the processor time while buffers are "
                         r"followed, by \d+ windows\nNot followed: about half .*\n", out)
    assert found, out
    begin = time.monotonic()  # on a terminal the line of progress must not end the wait
    subprocess.run(["script", "-qec", f"{harness.CLIENT} status --measure 3s {pid}", "/dev/null"], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, env={**run.env, "TERM": "xterm"}, timeout=60, check=True)
    assert time.monotonic() - begin >= 3
    middle, low, high = map(float, found.groups())
    assert low <= middle <= high < 100 and high > 5, out
    settings_are(run, pid, "budget=100%", "duty=off")
    client = subprocess.Popen([harness.CLIENT, "status", "--measure", "60s", pid], env=run.env,
                              stderr=subprocess.PIPE, text=True)
    while client.poll() is None and "duty=50%" not in run.client("status", pid)[0]:
        time.sleep(0.05)
    client.send_signal(signal.SIGINT)
    _, err = client.communicate(timeout=30)
    assert client.returncode == 1 and "stopped before the time was over" in err, (client.returncode, err)
    settings_are(run, pid, "budget=100%", "duty=off")


def settings_are(run, pid, *expected):
    status = run.client("status", pid)[0]
    assert all(re.search(rf"^  {re.escape(one)}( |$)", status, re.M) for one in expected), status


def lost_at_its_rate(run):
    """One in 1000 of the followed lives is lost, and no released one."""
    totals, oracle = run.json.totals, run.oracle
    n = totals["lives"]
    assert 0 < n < oracle["lives"] and totals["leaked"] <= oracle["lost"], (totals, oracle)
    expected = n * oracle["lost"] / oracle["lives"]
    assert (totals["leaked"] - expected) ** 2 <= 36 * expected + 9, (totals, expected)
    same("unknown", totals["unknown"], 0)


def truth_is_near(run):
    """The estimate of all that were lost, of what windows watched: three times its 95 % interval, which
    one run in a thousand millions leaves. A clean part of the program loses nothing."""
    totals, windows, oracle = run.json.totals, run.json.doc["windows"], run.oracle
    rows = run.json.doc["leaks"]
    assert 0 < windows["share_ppb"] < 10**9 and windows["windows"] > 8, windows
    same("rows", sum(r["count"] for r in rows), totals["leaked"])
    assert all(r["estimated_low"] <= r["estimated"] <= r["estimated_high"] for r in rows), rows
    # Rows share the error of the windows, so their ends add up to no less than those of the sum.
    middle, low, high = (sum(r["estimated" + end] for r in rows) for end in ("", "_low", "_high"))
    assert middle - 3 * (middle - low) <= oracle["lost"] <= middle + 3 * (high - middle), (rows, windows, oracle)
    # As a window ends, a thread may be in the middle of a step: of that life the path is not known.
    raced = sum(r["count"] for r in rows if r["path"] == ["?raced"])
    assert raced <= totals["raced_steps"] and raced <= windows["windows"], (rows, totals["raced_steps"], windows)
    assert all(r["path"] == ["?raced"] or any("Watched.lose" in step for step in r["path"]) for r in rows), rows
    for verb in ("tree", "leaks", "summary"):
        out = run.client(verb, run.json_path, code=10 if verb == "leaks" else 0)[0]
        assert "of the allocations were watched, and counts are of these" in out, f"{verb}: {out}"
        assert verb == "summary" or re.search(r", about [\d,]+ \([\d,]+ to [\d,]+\) in all", out), out


def cases():
    yield Case("budget/without a gate", "com.app.Probes", "spend", agent="include=com.app",
               live=without_gate, check=near, short=(17,))
    yield Case("budget/at the start", "com.app.Probes", "spend", live=by_windows, check=lost_at_its_rate,
               agent="include=com.app,budget=2%,windowMillis=5,budgetSeconds=1", short=(25,))
    yield Case("budget/estimates", "com.app.Probes", "watched", "2000", "2", "100", check=truth_is_near,
               agent="include=com.app,budget=10%,windowMillis=5", jvm=["-Dio.netty.leakDetection.level=DISABLED"],
               short=(17,))
