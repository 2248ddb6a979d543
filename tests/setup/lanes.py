#!/usr/bin/env python3
"""tests/setup/lanes.py: tests/run counts what each kind of step leaves, and waits for no step that is gone.

Each case is tests/run with other steps, its exit code, and lines that it must print.
"""
import os
import re
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../run")
BEGIN, END = "# ---- the steps", "# ---- running all"
LIMIT_S = 60

CASES = {
    "what passes": (
        """
        step back build true
        needs=build
        step front one true
        summed front many echo '3 passed, 0 failed'
        """,
        (0, ["build +\\d+s +[\\d.]+ cpu  ok", "one +\\d+s +[\\d.]+ cpu  ok", "many +\\d+s +[\\d.]+ cpu  3 passed, 0 failed", "5 passed, 0 failed"]),
    ),
    "a step that fails": (
        "step back one bash -c 'echo why; exit 3'",
        (1, ["one +\\d+s +[\\d.]+ cpu  FAILED", "why", "failed: one", "0 passed, 1 failed"]),
    ),
    "a step whose child computes": (
        "step back busy bash -c 'bash -c \"for n in {1..300000}; do :; done\"; exit 0'",
        (0, ["busy +\\d+s +(?!0\\.0)[\\d.]+ cpu  ok", "1 passed, 0 failed"]),
    ),
    "some cases fail, with exit 0": (
        "summed back many echo '3 passed, 2 failed'",
        (1, ["failed: many", "3 passed, 2 failed"]),
    ),
    "all cases pass, with another exit code": (
        "summed back many bash -c 'echo 3 passed, 0 failed; exit 3'",
        (1, ["many +\\d+s +[\\d.]+ cpu  3 passed, 0 failed, exit 3", "3 passed, 1 failed"]),
    ),
    "no summary": ("summed back many echo hello", (1, ["no summary, exit 0", "hello", "0 passed, 1 failed"])),
    "a step in which nothing ran": (
        "summed back many echo '0 passed, 0 failed'",
        (1, ["many +\\d+s +[\\d.]+ cpu  nothing ran, exit 0", "0 passed, 1 failed"]),
    ),
    "a step without its JDK": (
        "summed back many printf '%s\\n' 'no Java 99' '0 passed, 0 failed'",
        (0, ["many +\\d+s +[\\d.]+ cpu  0 passed, 0 failed"]),
    ),
    "a step that is killed": (
        "summed front many bash -c 'echo 3 passed, 0 fai; kill -9 $$'",
        (1, ["no summary, exit 137", "0 passed, 1 failed"]),
    ),
    "a build that fails": (
        """
        step back build false
        needs=build
        step front one true
        """,
        (1, ["build +\\d+s +[\\d.]+ cpu  FAILED", "one +\\d+s +[\\d.]+ cpu  not run: build", "0 passed, 1 failed"]),
    ),
    "a lane that is killed, and the other that waits for it": (
        """
        step back killer bash -c 'kill -9 $PPID'
        step back build true
        needs=build
        step front one true
        """,
        (1, ["build +\\d+s +[\\d.]+ cpu  not run: its lane ended", "one +\\d+s +[\\d.]+ cpu  not run: build", "0 passed, 2 failed"]),
    ),
}


def run(steps, root):
    with open(SCRIPT, encoding="utf-8") as file:
        text = file.read()
    begin, end = text.index(BEGIN), text.index(END)
    path = os.path.join(root, "tests/run")
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:begin] + re.sub("(?m)^ +", "", steps) + "\n" + text[end:])
    env = {"PATH": os.environ["PATH"]}  # no LANG, no TERM
    process = subprocess.Popen(["bash", path], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, text=True)
    try:
        out = process.communicate(timeout=LIMIT_S)[0]
    except subprocess.TimeoutExpired:
        process.terminate()  # it ends its lanes
        out = process.communicate()[0] + f"\nstill running after {LIMIT_S} s"
    return process.returncode, out


def main():
    failed = 0
    for name, (steps, (code, lines)) in CASES.items():
        with tempfile.TemporaryDirectory() as root:
            found, out = run(steps, root)
        missing = [line for line in lines if not re.search(rf"(?m)^.*{line}$", out)]
        right = found == code and not missing
        failed += not right
        print(f"ok {name}" if right else f"not ok {name}: exit {found}, missing: {missing}, printed:\n{out}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
