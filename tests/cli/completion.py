#!/usr/bin/env python3
"""tests/cli/completion.py BBFLOW FAKE_AGENT zsh|fish - client/bbflow.zsh and bbflow.fish in the real shell: a line with a cursor
at its end, and what is offered there. Commands, flags and options are compared with the help texts, which come from the
same tables another way; the command parses each value that is offered. (bash: completion.sh.)"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

BBFLOW, FAKE, SHELL = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), sys.argv[3]
CLIENT = pathlib.Path(__file__).resolve().parent.parent.parent / "client"
if shutil.which(SHELL) is None:
    print(f"skipped: {SHELL} is not installed")
    sys.exit(77)
WORK = pathlib.Path(tempfile.mkdtemp(prefix="bbf-completion-", dir="/tmp"))
ENV = {"PATH": f"{os.path.dirname(BBFLOW)}:/usr/bin:/bin", "HOME": str(WORK), "XDG_RUNTIME_DIR": str(WORK), "TERM": "xterm",
       "LC_ALL": "C.UTF-8"}
LONG = 60
counts = [0, 0]


def check(name, good, detail=""):
    counts[0 if good else 1] += 1
    if not good:
        print(f"FAILED {name}: {str(detail)[:600]}", flush=True)


def bbflow(*args):
    return subprocess.run([BBFLOW, *args], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LONG)


# ---- The shells ----------------------------------------------------------------------------------

class Fish:
    def offered(self, lines):
        script = f"source {CLIENT}/bbflow.fish\nwhile read -l line\n  complete -C $line\n  echo '== end'\nend\n"
        done = subprocess.run(["fish", "--no-config", "-c", script], input="".join(f"{line}\n" for line in lines), env=ENV, cwd=HERE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=2 * LONG)
        check("fish says nothing else", done.stderr == "" and done.returncode == 0, done.stderr)
        return [{o.split("\t")[0] for o in part.splitlines()} for part in done.stdout.split("== end\n")[:-1]]


class Zsh:
    """An interactive zsh. compadd is wrapped: it also writes what matches, with the prefixes that the line keeps."""

    RC = """
fpath=({fpath} $fpath)
autoload -Uz compinit && compinit -u -D
PROMPT= RPS1=
unsetopt beep auto_list auto_menu list_beep
LISTMAX=100000
compadd() {{
    local -a hits
    local pre=
    local -i i
    if [[ " $* " == *" -"[OAD]" "* ]]; then
        builtin compadd "$@"
        return
    fi
    for (( i = 1; i < $#; i++ )); do
        [[ ${{@[i]}} != -- && ${{@[i]}} != - ]] || break
        [[ ${{@[i]}} != -p ]] || pre=${{@[i+1]}}
    done
    builtin compadd -A hits "$@"
    print -rl -- $IPREFIX$pre${{^hits}} >>{out}
    builtin compadd "$@"
}}
offered() {{
    : >{out}
    zle complete-word
    BUFFER=
    print -r -- '== end' >>{out}
}}
zle -N offered
bindkey '^T' offered
"""

    def __init__(self):
        self.out = WORK / "offered"
        functions = WORK / "functions"
        functions.mkdir()
        shutil.copy(CLIENT / "bbflow.zsh", functions / "_bbflow")  # as it is installed
        (WORK / ".zshrc").write_text(self.RC.format(fpath=functions, out=self.out))
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(HERE)
            os.execve(shutil.which("zsh"), ["zsh", "-i"], {**ENV, "ZDOTDIR": str(WORK)})

    def offered(self, lines):
        found = []
        for line in lines:
            self.out.unlink(missing_ok=True)
            os.write(self.fd, line.encode() + b"\x14")
            ends = time.monotonic() + LONG
            while not self.out.exists() or not self.out.read_text().endswith("== end\n"):
                if time.monotonic() > ends:
                    check(f"zsh answers to '{line}'", False)
                    break
                if select.select([self.fd], [], [], 0.02)[0]:
                    os.read(self.fd, 65536)
            found.append({o for o in self.out.read_text().splitlines()[:-1] if o} if self.out.exists() else set())
        return found


def ask(*expected):
    """(LINE, what is offered as a set or words); None: nothing. All lines at once, for the shells' start takes long."""
    got = shell.offered([line for line, _ in expected])
    check("an answer to each line", len(got) == len(expected), len(got))
    for (line, want), offers in zip(expected, got):
        if callable(want):
            check(f"'{line}'", want(offers), sorted(offers))
        else:
            want = set(want.split()) if isinstance(want, str) else set(want or ())
            check(f"'{line}'", offers == want, (sorted(offers - want), sorted(want - offers)))


# ---- What is expected ----------------------------------------------------------------------------

def flags_of_help(command):
    found = re.findall(r"^ .{0,6}(--[a-z-]+)( [A-Z=]+)?", bbflow("help", command).stdout, re.M)
    return {name + ("=" if value else "") for name, value in found} | {"--help"}


def options(live):
    rows = re.findall(r"^([* ]) ([A-Za-z]+=)", bbflow("help", "options").stdout, re.M)
    return {name for mark, name in rows if mark == "*" or not live}


def words():
    """{command: its words}, {command: {flag: values}}"""
    rows = {}
    for line in bbflow("help", "words").stdout.splitlines():
        found = re.match("command ([a-z]+)(.*)", line)
        if found:
            rows[found[1]] = found[2].split()
    return rows


def commands_and_flags():
    names = re.findall(r"^  ([a-z]{2,})  ", bbflow("help").stdout, re.M)
    rows = words()
    check("commands", len(names) > 20 and set(names) == set(rows), (names, list(rows)))
    ask(("bbflow ", [*names, "--help", "--version"]), ("bbflow tr", "tree"), ("bbflow help ", [*names, "options"]),
        ("bbflow nosuch ", None), ("bbflow nosuch --", None), ("bbflow reset --no", "--nodes"), ("bbflow jfr su", "summary"),
        ("bbflow jfr scrub --ma", "--match= --max-unpacked="), ("bbflow tree 12 --to", "--token-file="), ("bbflow tree 12 ", None),
        *((f"bbflow {name} --", flags_of_help(name)) for name in names if name != "jfr"))
    # Each value that is offered is one that the command takes.
    lines, valued = [], 0
    for name, row in rows.items():
        for word in row:
            flag, _, values = word.partition("=")
            if flag.startswith("--") and "|" in values:
                lines.append((f"bbflow {name} {flag}=", [f"{flag}={v}" for v in values.split("|")]))
                valued += 1
    ask(*lines)
    check("flags with words", valued > 30, valued)
    for flag in ("memory", "by", "sort", "as", "protocol", "color", "format"):
        for name, row in rows.items():
            word = next((w for w in row if w.startswith(f"--{flag}=")), "=")
            for value in word.split("=")[1].split("|") if "|" in word else ():
                line = [name, f"--{flag}={value}"] + ["/nosuch/x.json"] * any(w.startswith("target=") for w in row)
                line += ["age=10m"] * ("params" in row) + ["--redact", "/nosuch/key"] * (name == "unredact")
                done = bbflow(*line, *(["/nosuch/y.json"] if name == "diff" else ["--once"] if name == "top" else
                                       ["--to", "http://localhost:1"] if name == "push" else []))
                check(f"{line}", done.returncode != 2 or re.search("is a file|choose what", done.stderr), done.stderr)
    formats = re.search("write (.*), whatever", bbflow("help", "tree").stdout)[1].split(", ")
    ask(("bbflow tree -f ", formats), ("bbflow tree --format j", "json jfr junit"), ("bbflow tree --protocol ", "auto 1 2"),
        ("bbflow push --as ", "otlp pprof prom"), ("bbflow diff --format ", "check markdown json"))


def files():
    for name in ("one.json", "two.txt", "x.box"):
        (HERE / name).touch()
    (HERE / "folder").mkdir()
    extensions = re.search("^extensions (.*)$", bbflow("help", "words").stdout, re.M)[1].split(", ")
    at = str(HERE)
    ask((f"bbflow tree {at}/o", f"{at}/one.json"), (f"bbflow tree {at}/x", f"{at}/x.box"), (f"bbflow tree {at}/tw", None),
        (f"bbflow unredact {at}/t", f"{at}/two.txt"), (f"bbflow dump -o {at}/t", f"{at}/two.txt"),
        (f"bbflow attach 1 --agent {at}/t", f"{at}/two.txt"), (f"bbflow tree --socket {at}/", lambda o: {x.rstrip("/") for x in o} == {f"{at}/folder"}),
        (f"bbflow tree -o {at}/leaks.h", [f"{at}/leaks{e}" for e in extensions if e.startswith(".h")]),
        (f"bbflow tree -o {at}/leaks.pb", f"{at}/leaks.pb.gz"),
        (f"bbflow attach 12 file={at}/o", f"file={at}/one.json" if SHELL == "fish" else (lambda o: {x.split("=")[-1] for x in o} == {f"{at}/one.json"})),
        (f"bbflow jfr summary {at}/t", f"{at}/two.txt"))


def parameters():
    ask(("bbflow set 12 ", options(True)), ("bbflow attach 12 ", options(False)), ("bbflow attach 12 include=com.app ", options(False)),
        ("bbflow set 12 trackD", "trackDirectOnly="), ("bbflow set 12 trackDirectOnly=", "trackDirectOnly=on trackDirectOnly=off"),
        ("bbflow set 12 trackDirectOnly=of", "trackDirectOnly=off"), ("bbflow set 12 budget=", "budget=off"), ("bbflow set 12 sample=", None),
        ("bbflow set 12 port=", None), ("bbflow attach 12 port=", "port=off"), ("bbflow attach 12 metrics=", "metrics=off"),
        ("bbflow attach 12 loglevel=w", "loglevel=warn"))


def processes():
    """JVMs with the agent; by letters also the main class, if it is a plain word. Others of this machine may come and go."""
    agents = {}
    for main in (f"completion{os.getpid()}.One", "completion.\x1b[31mOdd$(id)"):
        process = subprocess.Popen(["java", main], executable=FAKE, env=ENV, stdout=subprocess.PIPE)
        check("the fake agent starts", process.stdout.readline() == b"ready\n")
        agents[main] = process
    (one_main, one), (_, odd) = agents.items()
    shutil.copy(shutil.which("sleep"), WORK / "java")
    bare = subprocess.Popen([WORK / "java", "60"])
    one, odd, bare_pid = str(one.pid), str(odd.pid), str(bare.pid)

    def has(*pids, without=()):
        return lambda offers: all(p in offers for p in pids) and not any(p in offers for p in without)
    try:
        ask(*((f"bbflow {c} ", has(one, odd, without=[bare_pid])) for c in ("tree", "status", "set", "stop", "watch", "top", "push")),
            ("bbflow attach ", has(bare_pid, without=[one, odd, "all"])), ("bbflow doctor ", has(one, odd, bare_pid, "all")),
            (f"bbflow tree {one}", has(one)), (f"bbflow tree completion{os.getpid()}", has(one_main)),
            ("bbflow tree completion", lambda o: not any("Odd" in x for x in o)), ("bbflow tree ", has("one.json", "x.box")),
            ("bbflow status ", has(one, without=["one.json"])), (f"bbflow diff {one} ", has(one, "one.json")))
    finally:
        for process in (*agents.values(), bare):
            process.kill()
            process.wait()


HERE = WORK / "here"
HERE.mkdir()
shell = Fish() if SHELL == "fish" else Zsh()
try:
    for part in (commands_and_flags, files, parameters, processes):
        part()
finally:
    if SHELL == "zsh":
        os.close(shell.fd)
        os.kill(shell.pid, 9)
        os.waitpid(shell.pid, 0)
    shutil.rmtree(WORK, ignore_errors=True)
print(f"{counts[0]} passed, {counts[1]} failed")
sys.exit(counts[1] != 0)
