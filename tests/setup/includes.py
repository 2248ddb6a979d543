#!/usr/bin/env python3
"""tests/setup/includes.py: scripts/check-includes refuses each kind of offence that is planted.

Each case is a small tree of files below a folder of its own, and what the script must print of it.
"""
import os
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/check-includes")

# name: (files, words that the one line of output must contain; none: nothing is printed, exit 0)
CASES = {
    "a .c file and its header are one unit": (
        {
            "core/a.h": "int bbf_a(void);",
            "core/a.c": '#include "core/a.h"\nint bbf_a(void)\n{\n    return bbf_b();\n}\n',
            "core/b.h": '#include "core/a.h"\nint bbf_b(void);',
        },
        [],
    ),
    "a direction": (
        {"core/a.c": '#include "trie/b.h"', "trie/b.h": ""},
        ['core/a.c:1: "trie/b.h"'],
    ),
    "a private header": (
        {"agent/a.c": '#include "trie/model.h"', "trie/model.h": ""},
        ["agent/a.c:1:", "private to trie/"],
    ),
    "the JVM's headers": ({"core/a.c": "#include <jni.h>"}, ["core/a.c:1:", "agent/ only"]),
    "a circle of two headers": (
        {"core/a.h": '#include "core/b.h"', "core/b.h": '#include "core/a.h"'},
        ["circle of core/a, core/b:", "core/a.h:1 includes", "core/b.h:1 includes"],
    ),
    "a circle of three .c files": (
        {
            "core/a.h": "",
            "core/b.h": "",
            "core/c.h": "",
            "core/a.c": '#include "core/b.h"',
            "core/b.c": '#include "core/c.h"',
            "core/c.c": '\n#include "core/a.h"',
        },
        ["circle of core/a, core/b, core/c:", "core/c.c:2 includes"],
    ),
    "a circle through a header without a .c file": (
        {
            "core/a.h": "",
            "core/a.c": '#include "core/kinds.h"',
            "core/kinds.h": '#include "core/b.h"',
            "core/b.h": "",
            "core/b.c": '#include "core/a.h"',
        },
        ["circle of core/a, core/b, core/kinds:"],
    ),
    "a circle behind a header that two .c files define": (
        {
            "core/all.h": "int bbf_a(void);\nint bbf_b(void);",
            "core/a.c": '#include "core/all.h"\nint bbf_a(void)\n{\n    return bbf_b();\n}\n',
            "core/b.c": '#include "core/all.h"\nint bbf_b(void)\n{\n    return bbf_a();\n}\n',
        },
        ["circle of core/a, core/b:", "core/a.c:4 uses bbf_b of core/b.c"],
    ),
    "a circle through an inline function": (
        {
            "core/a.h": "int bbf_a(void);",
            "core/a.c": '#include "core/b.h"\nint bbf_a(void)\n{\n    return bbf_twice();\n}\n',
            "core/b.h": "int bbf_a(void);\nstatic inline int bbf_twice(void)\n{\n    return 2 * bbf_a();\n}\n",
        },
        ["circle of core/a, core/b:", "core/b.h:4 uses bbf_a"],
    ),
    "a circle through a variable": (
        {
            "core/a.h": "extern int bbf_number;",
            "core/a.c": '#include "core/a.h"\n#include "core/b.h"\nint bbf_number = 1;\n',
            "core/b.h": "int bbf_b(void);",
            "core/b.c": "int bbf_b(void)\n{\n    extern int bbf_number;\n    return bbf_number;\n}\n",
        },
        ["circle of core/a, core/b:", "uses bbf_number"],
    ),
    "a name in a comment or a text is no use": (
        {
            "core/a.h": "int bbf_a(void);",
            "core/a.c": 'int bbf_a(void)\n{\n    return bbf_b();\n}\n',
            "core/b.c": '/* as bbf_a() */\nint bbf_b(void)\n{\n    return "bbf_a"[0];\n}\n',
        },
        [],
    ),
}


def check(files, words):
    """None, or what is wrong."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        ran = subprocess.run([SCRIPT, root], capture_output=True, text=True, check=False)
    lines = ran.stdout.splitlines()
    expected = (1, 1) if words else (0, 0)
    if (ran.returncode, len(lines)) == expected and all(word in ran.stdout for word in words):
        return None
    return f"exit {ran.returncode}, printed: {ran.stdout}{ran.stderr}"


def main():
    failed = 0
    for name, (files, words) in CASES.items():
        wrong = check(files, words)
        failed += wrong is not None
        print(f"not ok {name}\n{wrong}" if wrong else f"ok {name}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
