#!/usr/bin/env bash
# tests/cli/completion.sh BBFLOW FAKE_AGENT - client/bbflow.bash as bash calls it: a line with a
# cursor at its end, and what is offered there. Commands, flags and options are compared with the
# help texts, which come from the same tables another way.
set -u -o pipefail

bbflow=$(realpath "$1")
fake=$(realpath "$2")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d /tmp/bbf-completion-XXXXXX)
chmod 700 "$work"
export XDG_RUNTIME_DIR=$work
passed=0
failed=0
pids=()
one='' odd='' # set by start
finish() {
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null
    done
    wait
    rm -rf "$work"
}
trap finish EXIT
mkdir "$work/here"
cd "$work/here" || exit 1
# shellcheck source=/dev/null
source "$here/../../client/bbflow.bash"

offered() { # LINE: the words offered at its end, joined by blanks
    COMP_LINE="$bbflow ${1#bbflow }"
    COMP_POINT=${#COMP_LINE}
    read -r -a COMP_WORDS <<<"$COMP_LINE"
    COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
    COMPREPLY=()
    _bbflow 2>"$work/err"
    [ ! -s "$work/err" ] || echo "stderr: $(<"$work/err")"
    echo "${COMPREPLY[*]}"
}

check() { # LINE EXPECTED
    local got
    got=$(offered "$1")
    if [ "$got" = "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED "%s": offered "%s", expected "%s"\n' "$1" "$got" "$2"
    fi
}

start() { # VARIABLE MAIN: a fake agent of that main class; its pid goes to the variable
    mkfifo "$work/ready.$1"
    (exec -a java "$fake" "$2" >"$work/ready.$1") &
    pids+=("$!")
    printf -v "$1" '%s' "$!"
    read -r -t 20 _ <"$work/ready.$1" || { echo "FAILED the fake agent did not start"; exit 1; }
}

joined() { tr '\n' ' ' | sed 's/ $//'; }
commands=$("$bbflow" help | sed -n 's/^  \([a-z]\{2,\}\)  .*/\1/p' | joined)
options() { # MARK: names in the help's order of groups
    "$bbflow" help options | sed -n "s/^$1 \([A-Za-z]*=\).*/\1/p"
}

check 'bbflow ' "$commands --help --version"
check 'bbflow tr' tree
check 'bbflow --v' --version
check 'bbflow help ' "$commands options"
check 'bbflow nosuch ' ''
check 'bbflow nosuch --' ''
check 'bbflow list;id --' ''

# Every flag of every command's help is offered, and no other.
for command in $commands; do
    flags=$("$bbflow" help "$command" | grep -oE '^ .{0,6}--[a-z-]+ ?[A-Z]*' |
        sed -E 's/^.*(--[a-z-]+) [A-Z]+$/\1=/; s/^.*(--[a-z-]+) ?$/\1/' | joined)
    check "bbflow $command --" "${flags:+$flags }--help"
done
check 'bbflow reset --no' --nodes
check 'bbflow jfr su' summary
check 'bbflow jfr scrub --ma' '--match= --max-unpacked='
check 'bbflow jfr summary --match' ''
check 'bbflow tree 12 --to' --token-file=
check 'bbflow tree -f ' "$("$bbflow" help tree | sed -n 's/.* write \(.*\), whatever .*/\1/p' | tr -d ,)"
check 'bbflow tree --format j' 'json jfr junit'
check 'bbflow tree --format=j' 'json jfr junit'
check 'bbflow tree --protocol=' 'auto 1 2'
check 'bbflow push --as ' 'otlp pprof prom'

touch "$work/one.json" "$work/two.txt"
mkdir "$work/folder"
check "bbflow tree $work/o" "$work/one.json"
check "bbflow tree $work/f" "$work/folder/"
check "bbflow tree $work/t" ''
check "bbflow dump -o $work/t" "$work/two.txt"
check "bbflow dump --output $work/t" "$work/two.txt"
check "bbflow attach 1 --agent=$work/t" "$work/two.txt"
check "bbflow tree --socket $work/f" "$work/folder"

# Names after the target; those of `set` are the ones marked * in the help.
same_set() { # LINE EXPECTED...: in any order
    local line=$1 got want
    shift
    got=$(offered "$line" | tr ' ' '\n' | sort | joined)
    want=$(printf '%s\n' "$@" | sort | joined)
    if [ "$got" = "$want" ] && [ -n "$want" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED "%s": offered "%s", expected "%s"\n' "$line" "$got" "$want"
    fi
}
mapfile -t live < <(options '\*')
mapfile -t all < <(options '[* ]')
same_set 'bbflow set 12 ' "${live[@]}"
same_set 'bbflow attach 12 ' "${all[@]}"
same_set 'bbflow attach 12 include=com.app ' "${all[@]}"
check 'bbflow set 12 trackD' trackDirectOnly=
check 'bbflow set 12 trackDirectOnly=' 'on off'
check 'bbflow set 12 trackDirectOnly=of' off
check 'bbflow set 12 objects=o' 'on off'
check 'bbflow set 12 budget=' off
check 'bbflow set 12 sample=' ''
check 'bbflow set 12 port=' ''
check 'bbflow attach 12 port=' off
check "bbflow attach 12 file=$work/o" "$work/one.json"
check 'bbflow attach 12 loglevel=w' warn
check 'bbflow tree 12 ' ''

# Targets: pids of JVMs with the agent; by letters also the main class, if it is a plain word. Other
# JVMs of this machine may come and go: what is looked for is in the offer, or is not.
offers() { # yes|no LINE WORD
    local got found=no part=$3
    got=" $(offered "$2") "
    # A pid is looked for as a word; for others, no part of a word may be there either.
    if [[ $1 == yes || $3 =~ ^[0-9]+$ ]]; then
        part=" $3 "
    fi
    [[ $got != *"$part"* ]] || found=yes
    if [ "$found" = "$1" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED "%s": offered "%s", is "%s" in it: expected %s\n' "$2" "$got" "$3" "$1"
    fi
}
start one "completion$$.One"
start odd $'completion.\e[31mOdd$(id)'
touch seen.json
for command in tree status set stop watch; do
    offers yes "bbflow $command " "$one"
    offers yes "bbflow $command " "$odd"
    offers yes "bbflow $command $one" "$one"
done
offers yes 'bbflow tree ' seen.json
offers no 'bbflow status ' seen.json
offers yes "bbflow tree completion$$" "completion$$.One"
offers no 'bbflow tree ' "completion$$"
offers no 'bbflow tree completion' Odd
# attach: a JVM without the agent, known by the name of its process.
cp "$(command -v sleep)" "$work/java"
"$work/java" 60 &
pids+=("$!")
offers yes 'bbflow attach ' "$!"
offers no 'bbflow tree ' "$!"
offers no 'bbflow attach ' "$one"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
