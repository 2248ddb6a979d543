#!/usr/bin/env bash
# shellcheck disable=SC2317  # the trap calls it
# tests/cli/schemas.sh BBFLOW FAKE_AGENT PYTHON - bbflow-check/1 and bbflow-doctor/1 as the command
# prints them, against docs/*.schema.json; and each document must be refused if it is changed.
set -u -o pipefail

bbflow=$(realpath "$1")
fake=$(realpath "$2")
python=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
docs=$here/../../docs
golden=$here/../golden/render
work=$(mktemp -d /tmp/bbf-schemas-XXXXXX)
pids=()
finish() {
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null
    done
    wait
    rm -rf "$work"
}
trap finish EXIT
failed=0

# make FILE EXIT_CODE ARG...: what the command prints
make() {
    local file=$work/$1 want=$2 code=0
    shift 2
    "$bbflow" "$@" >"$file" 2>"$work/err" || code=$?
    if [ "$code" -ne "$want" ]; then
        echo "FAILED bbflow $*: exit $code, expected $want: $(<"$work/err")"
        failed=1
    fi
}

# holds SCHEMA FILE...
holds() {
    local schema=$1
    shift
    "$python" "$golden/check_schema.py" "$docs/$schema" "${@/#/$work/}" || failed=1
}

# A leak that is new, one that is gone, one in both; a source file and its line.
mkdir -p "$work/src/com/app"
touch "$work/src/com/app/DirectBufferLeakApp.java"
make new.json 10 check "$golden/basic.json" -f json --sources "$work/src"
make gone.json 0 diff "$golden/growth.json" "$golden/empty.json" -f json
make both.json 0 diff "$golden/basic.json" "$golden/growth.json" -f json
make rules.json 10 check "$golden/growth.json" --baseline "$golden/empty.json" -f json \
    --max-rate 0.5 --max-leaked-bytes 1 --max-aged 0 --max-live 0 --max-misuse 0
holds bbflow-check-1.schema.json new.json gone.json both.json rules.json

# A JVM without the agent, one with a mute agent, one that nothing is wrong with but its silence.
printf 'x' >"$work/libjvm.so"
printf 'x' >"$work/libbbflow.so"
start() { # FILES: a process that has them mapped; its pid is the last of pids
    mkfifo "$work/ready"
    (FAKE_MUTE=1 FAKE_MAP=$1 exec -a java "$fake" -cp x com.example.Doctor >"$work/ready") &
    pids+=("$!")
    read -r -t 20 _ <"$work/ready" || failed=1
    rm "$work/ready"
}
start "$work/libjvm.so"
start "$work/libjvm.so:$work/libbbflow.so"
make bare.json 10 doctor "${pids[0]}" --json
make mute.json 10 doctor "${pids[1]}" --json --agent "$fake"
holds bbflow-doctor-1.schema.json bare.json mute.json
# shellcheck disable=SC2016 # the program is Python's
"$python" - "$work" "${pids[@]}" <<'END' || failed=1
import json, sys
work, bare, mute = sys.argv[1:4]
for name, pid, ids in (("bare", bare, {"agent-not-loaded", "no-netty"}), ("mute", mute, {"agent-silent"})):
    with open(f"{work}/{name}.json", encoding="utf-8") as file:
        jvms = json.load(file)["jvms"]
    got = {row["id"] for row in jvms[0]["findings"]}
    assert len(jvms) == 1 and jvms[0]["pid"] == int(pid) and jvms[0]["found"], jvms
    assert ids <= got, (name, got)
    assert jvms[0]["main"] == "com.example.Doctor" and jvms[0]["agent"] is None, jvms
END
exit "$failed"
