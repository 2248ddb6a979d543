#!/usr/bin/env python3
"""tests/setup/mutate.py: tests/long/mutate-agent and mutate-twin refuse what they do not know, before they build.

A mistyped flag or name must not be a run that proves nothing: exit 2, one line that names the word and where the
known ones are, nothing on stdout.
"""
import os
import subprocess
import sys

LONG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../long")
REFUSED = {
    "mutate-agent": (("--chekc", "unknown option", "--help"), ("-x", "unknown option", "--help"),
                     ("--jdk=", "unknown option", "--help"), ("--jdk=new", "unknown option", "--help"),
                     ("plain-closed", "unknown mutant", "--list"), ("0.3.3", "unknown mutant", "--list"),
                     ("", "unknown mutant", "--list")),
    "mutate-twin": (("--check", "unknown option", "--help"), ("-x", "unknown option", "--help"),
                    ("plain-closed", "unknown mutant", "--help"), ("plain", "unknown mutant", "--help"),
                    (".*", "unknown mutant", "--help"), ("", "unknown mutant", "--help")),
}
# Also behind a word that is known.
BEFORE = {"mutate-agent": ([], ["plain-close"]), "mutate-twin": ([], ["plain-close"])}


def run(program, *arguments):
    """Its exit code (None: it did not end), stdout and stderr. /nowhere: it must build nothing."""
    try:
        done = subprocess.run([os.path.join(LONG, program), *arguments], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.PIPE, timeout=60, check=False, env={**os.environ, "CC": "/nowhere"})
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout, done.stderr


def main():
    failed = 0

    def result(ok, what, found):
        nonlocal failed
        failed += not ok
        print(f"{'ok' if ok else 'not ok'} {what}" + ("" if ok else f": {found}"))

    for program, cases in REFUSED.items():
        for word, kind, remedy in cases:
            for before in BEFORE[program]:
                found = run(program, *before, word)
                line = f"{program}: {kind} '{word}'; {remedy} has the "
                result(found[0] == 2 and found[1] == "" and found[2].startswith(line)
                       and found[2].count("\n") == 1, f"{program} {' '.join(before)} '{word}'", found)
        found = run(program, "--help")
        result(found[0] == 0 and f"tests/long/{program}" in found[1] and found[2] == "", f"{program} --help", found)
    found = run("mutate-twin", "--help")
    result("plain-close" in found[1] and "stop-not-paused" in found[1], "mutate-twin --help names the mutants", found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
