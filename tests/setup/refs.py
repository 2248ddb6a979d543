#!/usr/bin/env python3
"""tests/setup/refs.py: scripts/check-refs refuses each kind of dead reference that is planted.

Each case is one file more in a small repository, and what the script must print of it ('': nothing).
"""
import os
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/check-refs")
SHIM = "`java.lang.BBFlowShim` and 1 more `java.lang.BBFlow…`"
TREE = {
    "docs/design.md": "# Design\n## Close protocol\n",
    "docs/adr/0001-a-title.md": "# A title\n",
    "docs/what-differs.md": SHIM,
    "java-shim/boot/classes.txt": "BBFlowShim\nBBFlowNative\n",
    "core/file.c": "",
    "tests/run": "",
}
CASES = (
    ("core/a.c", "/* design.md: close protocol. ADR 1, docs/adr/0001, core/file.c, core/file, tests/run. */", ""),
    ("core/a.c", "/* design.md: open protocol */", 'no heading "open protocol"'),
    ("core/a.c", "/* ADR 2 */", "there is no ADR 2"),
    ("core/a.c", "/* facts/house.md */", '"facts/house.md" is not in the repository'),
    ("core/a.c", "/* as facts 3.1 */", '"facts 3" is not in the repository'),
    ("core/a.c", "/* design D12.6 */", '"design D12" is not in the repository'),
    ("core/a.c", "/* core/gone.h has it. */", "core/a.c:1: there is no core/gone.h"),
    ("core/a.c", "/* see docs/adr/0002 */", "there is no docs/adr/0002"),
    ("docs/adr/0001-a-title.md", "Proved by tests/proof/stress.", "there is no tests/proof/stress"),
    ("docs/a.md", "`tests/NAME.c`, `tests/*.py`, tests/jvm/{name}, https://host/tests/a.c", ""),
    ("docs/a.md", "[a](b.md)", "docs/a.md:1: b.md does not exist"),
    ("docs/a.md", "[a](design.md#open)", "docs/design.md has no heading #open"),
    ("docs/a.md", "[a](design.md#close-protocol)", ""),
    ("docs/what-differs.md", "`java.lang.BBFlowShim` and 3 more", "docs/what-differs.md does not say: " + SHIM),
)


def check(path, text, expected):
    """None, or what is wrong."""
    with tempfile.TemporaryDirectory() as root:
        for name, content in {**TREE, path: text}.items():
            os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(content)
        subprocess.run(["git", "init", "-q", root], check=True)
        subprocess.run(["git", "-C", root, "add", "."], check=True)
        ran = subprocess.run([SCRIPT, root], capture_output=True, text=True, check=False)
    right = (1, 1) if expected else (0, 0)
    if (ran.returncode, len(ran.stdout.splitlines())) == right and expected in ran.stdout:
        return None
    return f"exit {ran.returncode}, printed: {ran.stdout}{ran.stderr}"


def main():
    failed = 0
    for case in CASES:
        wrong = check(*case)
        failed += wrong is not None
        print(f"not ok {case[1]}\n{wrong}" if wrong else f"ok {case[1]}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
