#!/usr/bin/env python3
"""tests/setup/jvm_runner.py [CASE…]: tests/jvm/run reports what fails, ends what hangs, and leaves no process.

A copy of the runner with cases of its own, which need no JVM.
"""
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
RUNNER = ("conftest.py", "harness.py", "pytest.ini", "run", "sharing.py", "snapshot.py", "test_cases.py")
MARK = "86399.25"  # the argument of `sleep` in each process that must not stay

FILES = {
    "scripts/fetch-jdks": '#!/bin/sh\nfor major; do printf "%s\\t/none\\n" "$major"; done\n',
    "build/release/libbbflow.so": "",
    "build/release/bbflow": "",
    "tests/jvm/programs.py": "def make(case):\n    pass\n",
    "tests/jvm/cases.py": f'''
import os
import subprocess
import time

import pytest

from harness import Scenario


def passes(bench):
    pass


def fails(bench):
    assert False, "two is not three"


def breaks(bench):
    raise KeyError("no such key")


def skips(bench):
    pytest.skip("not today")


def dies(bench):
    os._exit(3)


def hangs(bench):
    subprocess.run(["sh", "-c", "sleep {MARK}; true"], check=False)


def once(name, why):
    def fails_once(bench):
        first = not os.path.exists(name)
        open(name, "a").close()
        assert not first, why
    return Scenario(name, fails_once, jdk=(17,))


CASES = [Scenario(f.__name__, f, jdk=(17,), quick=f is passes)
         for f in (passes, fails, breaks, skips, dies, hangs)]
CASES += [once(f"shaky{{i}}", "got 0") for i in range(3)]
CASES += [once("crash", "exit code: got 134, expected 0")]
''',
}


def make(root):
    for name in RUNNER:
        os.makedirs(os.path.join(root, "tests/jvm"), exist_ok=True)
        shutil.copy(os.path.join(HERE, "../jvm", name), os.path.join(root, "tests/jvm", name))
    for name, text in FILES.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)


def start(root, *words, limit="60"):
    env = {k: v for k, v in os.environ.items() if not k.startswith("BBF_")}
    return subprocess.Popen([sys.executable, os.path.join(root, "tests/jvm/run"), *words], cwd=root,
                            env={**env, "BBF_CASE_LIMIT": limit, "BBF_WORKERS": "2"}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(root, *words, limit="60"):
    process = start(root, *words, limit=limit)
    out = process.communicate(timeout=120)[0]
    return process.returncode, out


def sleepers():
    return subprocess.run(["pgrep", "-x", "-f", f"sleep {MARK}"], stdout=subprocess.PIPE, text=True,
                          check=False).stdout.split()


def until(answer, what):
    end = time.time() + 30
    while not answer():
        assert time.time() < end, what
        time.sleep(0.1)


def expect(got, code, *patterns):
    status, out = got
    assert status == code, f"exit {status}: {out}"
    for pattern in patterns:
        assert re.search(f"(?m){pattern}", out), f"no {pattern} in: {out}"


# ---- what is shown ----------------------------------------------------------------------------

def a_case_that_passes(root):
    expect(run(root, "passes"), 0, r"^ok passes \(Java 17, ", r"^1 passed, 0 failed\Z|^1 passed, 0 failed\n\Z")


def the_quick_tier(root):
    expect(run(root, "--tier=quick"), 0, r"^ok passes", r"^1 passed, 0 failed$")


def cases_that_fail(root):
    expect(run(root, "passes", "fails", "breaks", "skips"), 1, r"^ok passes",
           r"^not ok fails \(Java 17, .*: two is not three$", r"^not ok breaks .*:", r"no such key",
           r"^not ok skips .*not today", r"^1 passed, 3 failed$")
    suite = ElementTree.parse(os.path.join(root, "build/jvm/junit.xml")).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2"), ElementTree.tostring(suite)


def a_worker_that_dies(root):
    if importlib.util.find_spec("xdist"):
        # xdist 3.1 runs it again in another worker, so it counts more than once.
        expect(run(root, "passes", "dies"), 1, r"^not ok dies", r"^ok passes", r"^1 passed, \d+ failed$")


def a_pattern_that_matches_nothing(root):
    expect(run(root, "nosuchcase"), 5, r"^0 passed, 0 failed$")
    expect(run(root, "--list", "nosuchcase"), 5)


def what_is_wrong_in_the_command_line(root):
    expect(run(root, "--jdk=abc"), 4, r"--jdk=abc: not of the form")
    expect(run(root, "--bogus"), 1, r"^tests/jvm/run ")


def the_list(root):
    expect(run(root, "--list", "e"), 0, r"\Apasses \(Java 17\)\nbreaks \(Java 17\)\ndies \(Java 17\)\n\Z")


def cases_that_fail_once(root):
    expect(run(root, "shaky0", "shaky1"), 0, r"^unsteady shaky0 \(Java 17, .*the second try, alone; the first: got 0$",
           r"^2 passed, 0 failed$")
    for i in range(2):
        os.remove(os.path.join(root, f"shaky{i}"))
    expect(run(root, "passes", "shaky"), 1, r"^not ok: 3 cases are unsteady, 2 may be", r"^1 passed, 3 failed$")
    expect(run(root, "crash"), 1, r"^not ok crash .*got 134", r"^0 passed, 1 failed$")


def a_case_that_hangs(root):
    expect(run(root, "passes", "hangs", limit="2"), 1, r"^not ok hangs", r"still running after 2 s",
           r"^ok passes", r"^1 passed, 1 failed$")
    assert not sleepers(), "its processes are still there"


def a_runner_that_is_ended(root):
    process = start(root, "passes", "hangs")
    try:
        until(sleepers, "no case began")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143, process.returncode
        until(lambda: not sleepers(), "a case's process is still there")
    finally:
        process.kill()
        process.stdout.close()


CASES = (a_case_that_passes, the_quick_tier, cases_that_fail, a_worker_that_dies, a_pattern_that_matches_nothing,
         what_is_wrong_in_the_command_line, the_list, a_case_that_hangs, cases_that_fail_once,
         a_runner_that_is_ended)


def main():
    cases = [case for case in CASES if case.__name__ in (sys.argv[1:] or [case.__name__])]
    failed = 0
    with tempfile.TemporaryDirectory() as root:
        make(root)
        for case in cases:
            try:
                case(root)
                print(f"ok {case.__name__}")
            except (AssertionError, subprocess.TimeoutExpired) as why:
                failed += 1
                print(f"not ok {case.__name__}: {why}")
            for pid in sleepers():
                os.kill(int(pid), signal.SIGKILL)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
