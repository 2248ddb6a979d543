#!/usr/bin/python3
"""tests/cli/docs.py BBFLOW: outputs in README.md and docs/ are what bbflow prints.

A block of code below `<!-- output: FILE.json… -->` (paths from the root) is a real session: lines that
begin with "$ " are commands, those below them their output. (`<!-- output: VERB FILE.json -->`: the block
is the output alone, of `bbflow VERB FILE.json`. `<!-- output: as typed -->`: the commands name files of the
repository.) `bbflow VERB … PID` is run with the first
FILE in place of PID, and with the next FILE once another PID is named, without --gc: FILE is a dump of
that JVM after it. `diff A B` is run as it is. A line that is only an ellipsis matches any lines.
BBF_GOLDEN_UPDATE=1: blocks without an ellipsis are written anew, with the pid of the file.
Exit 1 if an output differs."""

import glob
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^<!-- output: (.*?) -->\n\n?(```\w*\n)(.*?)(^```$)", re.M | re.S)
LEAST = 10  # blocks: fewer mean that this test reads the wrong files


def pid_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return str(json.load(file)["jvm"]["pid"])


def commands(block):
    """[(command without its comment, the line, [output lines])] of a block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((re.sub(r"\s+#.*", "", line[2:]), line, []))
        elif found:
            found[-1][2].append(line)
        else:
            raise AssertionError(f"the block does not begin with a command: {line}")
    return found


def run(command, client, path):
    """What the command prints; `path` in place of its pid."""
    words = shlex.split(command)
    if words[0] == "bbflow":
        words = [client] + [path if path and re.fullmatch(r"\d+", w) else w for w in words[1:] if w != "--gc"]
    elif words[0] != "diff":
        raise AssertionError(f"not bbflow or diff: {command}")
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "LC_ALL": "C.UTF-8"},
                          encoding="utf-8", check=False)
    said = {"leaks": "LEAK proven", "check": "check failed"}.get(words[1]) if words[0] == client else None
    codes = (10 if said in done.stdout else 0,) if said else (0, 1) if words[0] == "diff" else (0, 10)
    assert done.returncode in codes, f"{command}: exit {done.returncode}, not {codes}: {done.stdout}"
    return done.stdout.splitlines()


def matches(shown, real):
    """Is `shown` what is in `real`, in that order, without the lines that an ellipsis leaves out?"""
    parts = [[]]
    for line in shown:
        if line == "…":
            parts.append([])
        else:
            parts[-1].append(line)
    if len(parts) == 1:
        return shown == real
    at = len(parts[0])
    if real[:at] != parts[0]:
        return False
    end = len(real) - len(parts[-1])
    if end < at or real[end:] != parts[-1]:
        return False
    for part in parts[1:-1]:
        found = [i for i in range(at, end - len(part) + 1) if real[i:i + len(part)] == part]
        if not found:
            return False
        at = found[0] + len(part)
    return True


def session(block, files, client, where):
    """The block as it should be, and what is wrong with it."""
    text, wrong, last, at = [], [], None, -1
    for command, line, shown in commands(block):
        pid = re.search(r"(?<=\s)\d+(?=\s|$)", command)
        if command.startswith("bbflow") and files:
            assert pid, f"{where}: no pid in: {line}"
            at += pid[0] != last
            last = pid[0]
            assert at < len(files), f"{where}: more pids than files"
            real_pid = pid_of(files[at])
            line = line.replace(pid[0], real_pid)
            if pid[0] != real_pid:
                wrong.append(f"{where}: the pid of {files[at]} is {real_pid}, not {pid[0]}")
        tail = [""] if shown and shown[-1] == "" else []  # a blank line before the next command
        real = run(command, client, files[at] if at >= 0 else "")
        if not matches(shown[:len(shown) - len(tail)], real):
            wrong.append(f"{where}: not what is printed now, of {command}:\n  "
                         + "\n  ".join(real))
        text += [line, *(shown if "…" in shown else real + tail)]
    if at + 1 != len(files):
        wrong.append(f"{where}: {at + 1} of {len(files)} files are used")
    return "\n".join(text) + "\n", wrong


def check(path, client):
    """How many blocks the document has, and what is wrong with them."""
    with open(path, encoding="utf-8") as file:
        old = file.read()
    new, wrong, count, end = [], [], 0, 0
    for block in BLOCK.finditer(old):
        where = f"{os.path.relpath(path, ROOT)}:{old.count(chr(10), 0, block.start()) + 1}"
        verb, *files = block[1].split()
        if block[1] == "as typed":
            text, faults = session(block[3], [], client, where)
        elif verb.endswith(".json"):
            text, faults = session(block[3], [verb, *files], client, where)
        else:
            line = f"$ bbflow {verb} {pid_of(files[0])}\n"
            text, faults = session(line + block[3], files, client, where)
            text = text[len(line):]
        new += [old[end:block.start(3)], text]
        end = block.end(3)
        wrong += faults
        count += 1
    marks = len(re.findall(r"^<!-- output: ", old, re.M))
    if marks != count:
        wrong.append(f"{path}: {marks} marks, {count} blocks directly below one")
    new = "".join(new) + old[end:]
    if os.environ.get("BBF_GOLDEN_UPDATE") and new != old:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)
        print(f"written: {path}")
    return count, wrong


def main():
    client = os.path.abspath(sys.argv[1])
    count, wrong = 0, []
    for path in [os.path.join(ROOT, "README.md"),
                 *sorted(glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True))]:
        n, faults = check(path, client)
        count += n
        wrong += faults
    if count < LEAST:
        wrong.append(f"only {count} outputs found, expected {LEAST} or more")
    print("\n".join(wrong) if wrong else f"{count} outputs are what bbflow prints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
