#!/usr/bin/env bash
# tests/cli/run.sh BBFLOW FAKE_AGENT - the bbflow command from outside: every verb and every bad
# input against a fake agent (the real server, no JVM); exit code, stdout and stderr of each.
set -u -o pipefail

bbflow=$1
fake=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
golden=$here/../golden/render
work=$(mktemp -d /tmp/bbf-cli-XXXXXX)
chmod 755 "$work"
sockets=$work/sockets
passed=0
failed=0
pids=()
one='' two='' broken='' bare='' mute='' usual='' # set by start
mkdir "$sockets" "$work/empty" "$work/run"
chmod 700 "$work/run"
export XDG_RUNTIME_DIR=$work/run
export LC_ALL=C.UTF-8 # else a tree is in ASCII; tests/cli/terminal.py looks at that
start_hint="give it the agent by 'bbflow attach PID include=your.package', or at its start by -agentpath:/path/to/libbbflow.so=include=your.package"

finish() {
    for pid in "${pids[@]}"; do
        kill "$pid" 2>/dev/null
    done
    wait
    rm -rf "$work"
}
trap finish EXIT

# start NAME ARGV0 [ARG…]: a fake agent with that command line; its pid goes to the variable NAME.
start() {
    local name=$1 argv0=$2
    shift 2
    local ready=$work/ready.$name
    mkfifo "$ready"
    (exec -a "$argv0" "$fake" "$@" >"$ready") &
    local pid=$!
    pids+=("$pid")
    local line=
    read -r -t 20 line <"$ready"
    if [[ $line != ready ]]; then
        echo "FAILED fake agent $name did not start"
        exit 1
    fi
    printf -v "$name" '%s' "$pid"
}

# check NAME EXIT_CODE STDOUT STDERR ARG… : the two texts are glob patterns for the whole output.
check() {
    local name=$1 want_code=$2 want_out=$3 want_err=$4 code=0 out err
    shift 4
    "$bbflow" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    out=$(<"$work/out")
    err=$(<"$work/err")
    # shellcheck disable=SC2053 # patterns are meant
    if [[ $code == "$want_code" && $out == $want_out && $err == $want_err ]]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    printf 'FAILED %s: bbflow %s\n  exit %s, expected %s\n  stdout: %s\n  expected: %s\n' \
        "$name" "$*" "$code" "$want_code" "$out" "$want_out"
    printf '  stderr: %s\n  expected: %s\n' "$err" "$want_err"
}

# same NAME FILE FILE
same() {
    if cmp -s "$2" "$3"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED %s: %s and %s differ\n' "$1" "$2" "$3"
        diff "$2" "$3" | head -5
    fi
}

# A snapshot whose one root has $1 leaves, each with one released life.
wide_snapshot() {
    awk -v n="$1" 'BEGIN {
        print "{\"schema\":\"bbflow-snapshot/1\",\"captured_at\":\"2026-11-21T20:04:37.123Z\","
        print "\"jvm\":{\"pid\":1,\"main\":\"com.app.Wide\",\"version\":\"17\",\"netty\":[],\"map_mode\":[]},"
        print "\"settings\":{},\"limits\":{},\"notes\":[],\"totals\":{\"lives\":" n ",\"released\":" n "},"
        print "\"sites\":[{\"id\":0,\"class\":\"a.Alloc\",\"method\":\"directBuffer\",\"descriptor\":\"\",\"kind\":\"root\"}"
        for (i = 1; i <= n; i++)
            print ",{\"id\":" i ",\"class\":\"a.C" i "\",\"method\":\"m\",\"descriptor\":\"\",\"kind\":\"enter\"}"
        zero = "\"live\":0,\"live_bytes\":0,\"aged\":0,\"static\":0,\"leaked\":0,\"leaked_bytes\":0,\"held\":0,\"harmless\":0,\"unknown\":0}"
        print "],\"nodes\":[{\"id\":0,\"parent\":-1,\"site\":0,\"ref\":\"1-2\",\"passed\":" n ",\"released\":0," zero
        for (i = 1; i <= n; i++)
            print ",{\"id\":" i ",\"parent\":0,\"site\":" i ",\"ref\":\"1-2\",\"passed\":1,\"released\":1," zero
        print "],\"leaks\":[]}"
    }'
}

# ---- Without any JVM ------------------------------------------------------------------------------

check version 0 'bbflow [0-9]*.[0-9]*.[0-9]*' '' --version
version=$("$bbflow" --version)
check version-form 0 'bbflow [0-9]*.[0-9]*.[0-9]*' '' --version
check version 0 "$version" '' version
check version-target 2 '' "bbflow: 'version' takes no target; leave '1' out" version 1
check version-option 2 '' "bbflow: 'bbflow version' prints the version" attach $$ version
check help 0 'bbflow follows*list *tree *status *Exit codes:*' '' help
check help-groups 0 '*--output FILE*--wide *Over TCP*--protocol P*--probe UUID*' '' help
check help-flag 0 'bbflow follows*' '' --help
check help-verb 0 'bbflow tree \[TARGET\] \[FLAG ...\]*--gc*--all*' '' help tree
check verb-help 0 'bbflow set \[TARGET\] name=value ...*' '' set --help
check help-options 0 'Options,*include=PATTERNS*' '' help options
check help-unknown 2 '' "bbflow: there is no command 'teer'; did you mean 'tree'?" help teer
check no-verb 2 '' 'bbflow follows*'
check unknown-verb 2 '' "bbflow: there is no command 'stauts'; did you mean 'status'?" stauts
check alien-verb 2 '' "bbflow: there is no command 'frobnicate'; 'bbflow help' lists them" frobnicate
check pid-first 2 '' 'bbflow: the command comes first, as: bbflow tree 4711' 4711
check target-first 2 '' 'bbflow: the command comes first, as: bbflow tree Shop' Shop
check class-first 2 '' 'bbflow: the command comes first, as: bbflow tree shop.main' shop.main
check file-first 2 '' 'bbflow: the command comes first, as: bbflow tree x.json' x.json
check port-first 2 '' 'bbflow: the command comes first, as: bbflow tree localhost:2020' localhost:2020
check flag-first 0 'Where lives are lost:*' '' -f summary tree "$golden/basic.json"
check flags-first 0 '*' '' --all --format=llm -o "$work/first.llm" tree "$golden/basic.json"
same flags-first-file "$work/first.llm" "$golden/basic.llm"
check flag-alone 2 '' "bbflow: a command is missing, as: bbflow tree --gc; 'bbflow help' lists them" --gc
check flag-target 2 '' 'bbflow: the command comes first, as: bbflow tree 4711' --gc 4711
check flag-unknown-first 2 '' "bbflow: there is no flag '--gx'; did you mean '--gc'?" --gx tree
check flag-unknown-alone 2 '' "bbflow: there is no flag '--gx'; did you mean '--gc'?" --gx
check unknown-flag 2 '' "bbflow: there is no flag '--al'; did you mean '--all'?" tree --al
check alien-flag 2 '' "bbflow: there is no flag '-q'; 'bbflow help tree' lists them" tree -q
for verb in status watch "event x"; do
    # shellcheck disable=SC2086 # two words
    check "no-redact ${verb% x}" 2 '' "bbflow: '${verb% x}' does not take --redact, because it shows the agent's text as it is; *" \
        $verb --redact names.key
done
check wrong-flag 2 '' "bbflow: 'status' does not take --all; 'bbflow help status' lists its flags" \
    status --all
check flag-value 2 '' 'bbflow: --gc takes no value' tree --gc=yes
check flag-no-value 2 '' 'bbflow: --output needs a value: --output FILE' tree 1 -o
check two-targets 2 '' "bbflow: 'tree' takes one target; 'b' is a second one" tree a b
check list-target 3 '' "bbflow: no JVM with the agent has 'x' in the name of its main class; *" \
    list x --socket "$work/empty"
check empty-target 2 '' 'bbflow: the target is empty; *' tree ''
# The formats are those that have golden files, the page (basic.report is a part of it), and the binary ones.
formats=$("$bbflow" help words | sed -n 's/^formats //p')
formats=${formats%, }
same formats <(tr -d , <<<"$formats" | tr ' ' '\n' | sort) \
    <({ for file in "$golden"/interior.*; do echo "${file##*.}"; done; printf 'jfr\npprof\notlp\n'; } | sed 's/^report$/html/' | sort)
texts=$(tr -d , <<<"$formats" | tr ' ' '\n' | grep -vxE 'jfr|pprof|otlp')
# And each is a row of the protocol's table of events ("leaks" is one with another text).
for format in $texts; do
    same "protocol-$format" <(echo "| \`$format\` |") \
        <(grep -o "^| \`$format\` |" "$here/../../docs/protocol.md")
done
check bad-format 2 '' "bbflow: there is no format 'xml'; -f takes $formats" \
    tree "$golden/basic.json" -f xml
check bad-extension 2 '' "bbflow: the extension '.yml' of out.yml names no format; say it with -f: *" \
    dump "$golden/basic.json" -o out.yml

check none 3 '' "bbflow: no JVM with the bbflow agent was found below $work/empty; $start_hint*" \
    tree --socket "$work/empty"
check list-none 3 '' "bbflow: no JVM with the bbflow agent was found below $work/empty; *" \
    list --socket "$work/empty"
check no-pid 3 '' \
    "bbflow: there is no process 999999999; 'bbflow list' shows the JVMs with the agent" tree 999999999
check huge-pid 3 '' 'bbflow: there is no process 99999999999999999999; *' tree 99999999999999999999
check no-jvm 3 '' "bbflow: process $$ (bash) is no JVM; *" status $$
check name-none 3 '' "bbflow: no JVM with the agent has 'com.unknown' in the name of its main class; *" \
    tree com.unknown --socket "$work/empty"

# The manual names every command, flag and option; its defaults are the table's.
manual=$(sed 's/\\f[BIR]//g; s/\\&//g; s/\\-/-/g; s/^\.[A-Z]* //; s/"//g' "$here/../../docs/man/bbflow.1")
missing=()
while read -r name; do
    grep -q -- "^[* ]* ${name}=" <<<"$manual" || missing+=("$name")
done < <("$bbflow" help options | sed -n 's/^[* ] \([a-zA-Z]*\)=.*/\1/p')
while read -r default; do
    grep -qi -- "default $default\.\( \|$\)" <<<"${manual//$'\n'/ }" || missing+=("default $default")
done < <("$bbflow" help options | tr '\n' ' ' | tr -s ' ' | grep -o '(default [^)]*)' | sed 's/(default //; s/)//')
while read -r word; do
    grep -qw -- "$word" <<<"$manual" || missing+=("$word")
done < <("$bbflow" help | sed -n 's/^  \([a-z]*\)  .*/\1/p; s/.*\(--[a-z]*\) .*/\1/p')
grep -q "^BBFLOW 1 [^ ]* $version " <<<"$manual" || missing+=("$version in its title")
same manual <(echo "missing:" "${missing[@]}") <(echo "missing:")

# The glossary has every way a life can end or be, as the schema names them, and the first screen
# leads to it.
words=(life root step node path held harmless undone explained leaked aged live static unknown released
    ref count open note dropped)
glossary=$(tr -d '\140' <"$here/../../docs/glossary.md") # without backticks
first=$(sed '/^## Options/q' "$here/../../README.md")
missing=()
for word in "${words[@]}"; do
    grep -qiE "^\| ${word}(,| \|)" <<<"$glossary" || missing+=("$word")
done
for link in docs/glossary.md docs/only-live.md; do
    grep -q "($link)" <<<"$first" || missing+=("README's link to $link")
done
same glossary <(echo "missing:" "${missing[@]}") <(echo "missing:")

check leaks-none 0 'No place loses buffers *Clean: 15 released (--all shows them).' '' \
    leaks "$golden/loops.json"
check leaks-all 10 '*    id [0-9a-f]*Clean: 1 released.' '' leaks "$golden/basic.json" --all
check leaks-gc-file 2 '' "bbflow: --gc asks a running JVM, and *" leaks --gc "$golden/basic.json"
check leaks-file 10 '' '' leaks "$golden/basic.json" -o "$work/x.leaks"
same leaks-file-text "$work/x.leaks" "$golden/basic.leaks"

# ---- Files -----------------------------------------------------------------------------------------

"$bbflow" dump "$golden/interior.json" -f jfr >"$work/binary" && "$bbflow" dump "$golden/interior.json" -o "$work/binary.jfr"
same binary-file "$work/binary" "$work/binary.jfr"
same binary-read <("$bbflow" jfr summary "$work/binary" | grep -c '^ bbflow.Leak  *[1-9]') <(echo 1)
same binary-terminal <(script -qec "'$bbflow' dump '$golden/interior.json' -f jfr" /dev/null | head -1 | cut -c 1-30) \
    <(echo "bbflow: this format is binary ")
for format in $texts; do
    [ "$format" != html ] || continue
    "$bbflow" dump "$golden/interior.json" -f "$format" >"$work/by-name" 2>&1
    same "file-$format" "$work/by-name" "$golden/interior.$format"
done
for verb in tree llm summary leaks; do
    "$bbflow" $verb "$golden/basic.json" >"$work/by-verb" 2>&1
    same "verb-$verb" "$work/by-verb" "$golden/basic.$verb"
done
check to-file 0 '' '' tree "$golden/basic.json" -o "$work/x.llm"
same extension "$work/x.llm" "$golden/basic.llm"
check format-beats-extension 0 '' '' tree "$golden/basic.json" -o "$work/x.llm" -f summary
same extension-overruled "$work/x.llm" "$golden/basic.summary"
check leaks-txt 10 '' '' leaks "$golden/basic.json" -o "$work/x.txt"
same leaks-txt-text "$work/x.txt" "$golden/basic.leaks"
check two-part-extension 0 '' '' dump "$golden/interior.json" -o "$work/x.speedscope.json"
same two-part-extension-text "$work/x.speedscope.json" "$golden/interior.speedscope"
check output-glued 0 '' '' dump "$golden/basic.json" "-o$work/noextension"
same no-extension "$work/noextension" "$golden/basic.json"
check output-stdout 0 '{"schema":*' '' dump "$golden/basic.json" -o -
check unwritable 1 '' \
    "bbflow: cannot write $work/none/x.json: its folder $work/none: No such file or directory" \
    dump "$golden/basic.json" -o "$work/none/x.json"
check full-disk 1 '' 'bbflow: cannot write /dev/full: No space left on device' \
    dump "$golden/basic.json" -o /dev/full
# An existing file is replaced; a symlink or a FIFO is left alone and named.
umask 0
"$bbflow" dump "$golden/basic.json" -o "$work/shared.json"
same output-mode <(stat -c %a "$work/shared.json") <(echo 600)
umask 022
echo old >"$work/real.json" && ln -s real.json "$work/link.json" && mkfifo "$work/fifo.json"
check output-link 4 '' \
    "bbflow: cannot write $work/link.json: a symlink is there, not a regular file, and is left as it is; *" \
    dump "$golden/basic.json" -o "$work/link.json"
same output-link-target "$work/real.json" <(echo old)
check output-fifo 4 '' "bbflow: cannot write $work/fifo.json: a FIFO is there, not a regular file, *" \
    dump "$golden/basic.json" -o "$work/fifo.json"
check output-null 0 '' '' dump "$golden/basic.json" -o /dev/null
check output-descriptor 0 '{"schema":*' '' dump "$golden/basic.json" -o /dev/fd/1
code=0
(ulimit -f 1 && "$bbflow" dump "$golden/basic.json" -o "$work/real.json" 2>"$work/err") || code=$?
[[ $code == 1 && $(<"$work/err") == "bbflow: cannot write $work/real.json: File too large" ]]
same output-limit <(echo $?) <(echo 0)
same output-limit-kept "$work/real.json" <(echo old)
code=0
"$bbflow" dump "$golden/basic.json" >/dev/full 2>"$work/err" || code=$?
[[ $code == 1 && $(<"$work/err") == "bbflow: cannot write to stdout: No space left on device" ]]
same full-stdout <(echo $?) <(echo 0)

wide_snapshot 150 >"$work/wide.json"
check wide 0 '*' '' tree "$work/wide.json"
same wide-cut <(grep -c 'C[0-9]*\.m' "$work/out") <(echo 99)
grep -q '50.*--all' "$work/out"
same wide-says-so <(echo $?) <(echo 0)
check wide-all 0 '*' '' tree "$work/wide.json" --all
same wide-whole <(grep -c 'C[0-9]*\.m' "$work/out") <(echo 150)

check only 0 '*only the paths with a step C7 are shown: *(--only)*C7.m*' '' tree "$work/wide.json" --only C7
same only-one <(grep -c 'C[0-9]*\.m' "$work/out") <(echo 1)
check only-dump 0 '*' '' dump "$work/wide.json" --only C7 -o "$work/only.json"
check only-read 0 '*C7.m*' '' tree "$work/only.json"
check only-none 1 '' "bbflow: $work/wide.json: no path has a step 'C'; --only takes whole names*" \
    tree "$work/wide.json" --only C
check why-lost 10 'verdict: a leak, 2 buffers were lost*' '' why "$golden/basic.json"
check why-file 10 '' '' why "$golden/basic.json" -o "$work/why.txt" -f why
check why-none 0 'verdict: no leak is proven*' '' why "$golden/empty.json"

# check, diff, merge: exit codes, and what is wrong with a command line or a file.
basic=$golden/basic.json
sed 's/"pid":[0-9]*/"pid":9/' "$basic" >"$work/other.json"
sed 's/com.app.Main/com.other.Main/' "$basic" >"$work/program.json"
echo '{"schema":"bbflow-snapshot/2"}' >"$work/version.json"
: >"$work/nothing.json"
check check-leaks 10 'check failed: 1 of 2 rules are broken, 2 leaks fail *1. leak: *' '' check "$basic"
check check-empty 10 '*min-lives 1 is broken: 0 lives followed*' '' check "$golden/empty.json"
check check-off 0 'check passed: 0 rules are kept *' '' check "$golden/empty.json" --max-leaked off --min-lives=off
check check-many 10 '*max-leaked 3 is broken: 4 lives leaked*' '' check "$basic" "$work/other.json" --max-leaked 3
check check-enough 0 '*max-leaked 4 is kept: 4 lives leaked*' '' check "$basic" --max-leaked 4 "$work/other.json"
check check-baseline 0 '*Note: the baseline is the same snapshot*unchanged leak: *' '' check "$basic" --baseline "$basic"
check check-program 0 '*Note: the baseline is of another program: main class com.other.Main, now com.app.Main*' '' \
    check "$basic" --baseline "$work/program.json"
check check-report 10 'check failed: *' '' check "$basic" -o "$work/report.xml"
check check-rate 10 '*max-rate 0.5 is broken: 2 leaks above 0.5 per 1,000*' '' check "$basic" --max-leaked off --max-rate 0.5
check check-no-file 3 '' 'bbflow: cannot read */no.json: No such file or directory' check "$basic" --baseline "$work/no.json"
check check-bad-baseline 1 '' 'bbflow: */nothing.json is empty; *' check "$basic" --baseline "$work/nothing.json"
check check-version 1 '' 'bbflow: */version.json: *; this bbflow is version *' check "$work/version.json"
check check-gc 2 '' 'bbflow: --gc asks a running JVM, and */basic.json is a file; *' check "$basic" --gc
check check-limit 2 '' "bbflow: --max-leaked takes a number of buffers, as 0, or off, not '-1'" check "$basic" --max-leaked=-1
check check-size 2 '' "bbflow: --max-leaked-bytes takes a size, *not '1X'" check "$basic" --max-leaked-bytes 1X
check check-bad-rate 2 '' "bbflow: --max-rate takes buffers lost per 1,000, *not '1001'" check "$basic" --max-rate 1001
check check-tolerance 2 '' "bbflow: --tolerance takes percent, *not 'x'" diff "$basic" "$basic" --tolerance x
check check-format 2 '' 'bbflow: check writes check, junit, *; say which with -f' check "$basic" -f folded
check tree-limit 2 '' "bbflow: 'tree' does not take --max-leaked; *" tree "$basic" --max-leaked 1
check diff-same 0 'diff: 0 new, 0 worse, 2 unchanged, 0 better, 0 gone *' '' diff "$basic" "$work/other.json"
check diff-gone 0 'diff: 0 new, 0 worse, 0 unchanged, 0 better, 2 gone *gone leak: *before 1 of 1*' '' diff "$basic" "$golden/empty.json"
check diff-markdown 0 '### bbflow diff: 2 new, *' '' diff "$golden/empty.json" "$basic" -f markdown
check diff-json 0 '*"change":"new"*' '' diff "$golden/empty.json" "$basic" -f json
check diff-one 2 '' 'bbflow: diff needs two snapshots, the earlier one first, *' diff "$basic"
check merge-same 1 '' 'bbflow: *basic.json is the same snapshot as *basic.json: *' merge "$basic" "$basic"
check merge-none 2 '' 'bbflow: merge needs snapshots, as: *' merge
check merge-two 0 '' '' merge "$basic" "$work/other.json" -o "$work/all.json"
check merge-read 0 '*Leaked: 4 (2.5 KiB)*' '' summary "$work/all.json"
check merge-text 0 '*Leaked: 4 (2.5 KiB)*' '' merge "$basic" "$work/other.json" -f summary
check lost 0 'note: 1 of 2 places that lose buffers are shown (--lost --memory heap); all numbers are of all lives*' '' \
    tree "$golden/growth.json" --lost --memory heap
same lost-entries <(grep -c '^[0-9]*\. ' "$work/out") <(echo 1)
check rate 0 '*1 of 2 places *forgetToReleaseDirect*' '' summary "$golden/growth.json" --rate '<1%' --older 1s
check path 0 '*0 of 2 places that lose buffers are shown (--path process)*' '' llm "$golden/growth.json" --path process
check rate-bad 2 '' "bbflow: --rate takes '>1%' or '<50%', 0 to 100, not '1%'" tree "$golden/growth.json" --rate 1%
check older-bad 2 '' "bbflow: --older takes a time, as 90s, 10m or 2h, not '10'" tree "$golden/growth.json" --older 10
check memory-bad 2 '' "bbflow: --memory takes direct, heap, *, not 'stack'" tree "$golden/growth.json" --memory stack
check lost-dump 2 '' 'bbflow: --lost, *, leave them out' dump "$golden/growth.json" --lost
check path-redact 2 '' "bbflow: --path would show the name 'x' that --redact hides; *" \
    tree "$golden/growth.json" --path x --redact "$work/x.key"
check page-redact 0 '' '' tree "$golden/growth.json" -o "$work/hidden.html" --redact "$work/x.key"
same page-hidden <(grep -c 'DirectBufferLeakApp\|com.app.Main' "$work/hidden.html") <(echo 0)
check page-unredact 1 '' "bbflow: $work/hidden.html is a page; save its JSON *" unredact "$work/hidden.html" --redact "$work/x.key"
check page 0 '' '' tree "$golden/growth.json" --lost -o "$work/page.html"
same page-choice <(grep -c '^"choice":{"lost":true,"older":0,"memories":\[\],"path":""},$' "$work/page.html") <(echo 1)
# The hashes in the page's policy are those of its script and style: else no browser runs it.
same page-policy <(python3 - "$work/page.html" <<'END'
import base64, hashlib, re, sys
page = open(sys.argv[1], encoding="ascii").read()
for tag in ("script", "style"):
    text = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.S)[-1]
    hash_ = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    print(page.count(f"{tag}-src 'sha256-{hash_}'"))
END
) <(printf '1\n1\n')
check page-ascii 0 '' '' tree "$golden/escapes.json" -o "$work/ascii.html" --ascii
same page-ascii-same <(sed '/^{"schema"/,/^<\/script>/d' "$work/page.html" | grep -c '<') <(sed '/^{"schema"/,/^<\/script>/d' "$work/ascii.html" | grep -c '<')
check depth 0 '*only the first 1 steps of a path are shown, 1 of 151 lines*(--depth)*' '' tree "$work/wide.json" --depth 1
same depth-one <(grep -c 'C[0-9]*\.m' "$work/out") <(echo 0)
check depth-bad 2 '' "bbflow: --depth takes steps, 1 to *, not '0'" tree "$work/wide.json" --depth 0
check by-method 0 '*' '' tree "$work/wide.json" --by method
check by-bad 2 '' "bbflow: --by takes bug or method, not 'x'" tree "$work/wide.json" --by x
check only-status 2 '' "bbflow: 'status' does not take --only*" status --only C7

# The manual's exit codes, each by what it says.
statuses=$(sed -n '/^\.SH EXIT STATUS/,/^\.SH FILES/s/^\.B \([0-9]*\)$/\1/p' "$here/../../docs/man/bbflow.1" | tr -d '\n')
same exit-statuses <(echo "$statuses") <(echo 01234510)
says() { # CODE WORDS: the manual says so of that code
    sed -n "/^\.SH EXIT STATUS/,/^\.SH FILES/{/^\.B $1\$/,/^\.TP/p}" "$here/../../docs/man/bbflow.1" | tr '\n' ' ' |
        grep -qF -- "$2"
    same "exit-$1: $2" <(echo $?) <(echo 0)
}
says 3 'a file that does not exist'
says 4 'may not be read'
says 1 'is no snapshot'
says 1 'stopped'
says 0 "\\fBwatch\\fR ended"
check no-file-named 3 '' 'bbflow: cannot read nosuch.json: No such file or directory' tree nosuch.json
check no-file 3 '' "bbflow: cannot read $work/gone.json: No such file or directory" \
    tree "$work/gone.json"
check folder 1 '' "bbflow: cannot read $work/: Is a directory" tree "$work/"
echo 'Hello, this is no JSON' >"$work/text.json"
check no-json 1 '' "bbflow: $work/text.json is no bbflow snapshot: *; 'bbflow dump PID -o FILE.json' and*" \
    tree "$work/text.json"
echo '{"name":"x","list":[1,2]}' >"$work/other.json"
check other-json 1 '' "bbflow: $work/other.json is no bbflow snapshot: *schema*" tree "$work/other.json"
: >"$work/zero.json"
check empty-file 1 '' "bbflow: $work/zero.json is empty; 'bbflow dump PID -o $work/zero.json' writes*" \
    tree "$work/zero.json"
head -c 1500 "$golden/interior.json" >"$work/cut.json"
check cut-file 1 '' "bbflow: $work/cut.json is cut off after 1500 bytes: *; copy or write the*" \
    tree "$work/cut.json"
sed 's,bbflow-snapshot/1,bbflow-snapshot/9,' "$golden/basic.json" >"$work/next.json"
check other-version 1 '' "bbflow: $work/next.json: *snapshot/9*written by another" tree "$work/next.json"
check status-file 2 '' "bbflow: 'status' asks a running JVM, and x.json is a file; *" status x.json
check set-file 2 '' "bbflow: 'set' asks a running JVM, and x.json is a file; *" set x.json a=b
check gc-file 2 '' 'bbflow: --gc asks a running JVM, and x.json is a file; leave --gc out' tree x.json --gc

# ---- One JVM ---------------------------------------------------------------------------------------

export FAKE_JSON=$golden/basic.json FAKE_SOCKETS=$sockets FAKE_LOG=$work/events
start one /opt/jdk/bin/java -Xmx64m -cp /a:/b -Dx=y com.example.shop.Main --port 8080

check list 0 "$one  com.example.shop.Main  $sockets/bbflow-*/$one.sock" '' list --socket "$sockets"
for verb in tree llm summary; do
    check "jvm-$verb" 0 '*' '' $verb "$one" --socket "$sockets"
    same "jvm-$verb-text" "$work/out" "$golden/basic.$verb"
done
check jvm-dump 0 '*' '' dump --socket "$sockets"
same jvm-dump-text "$work/out" "$golden/basic.json"
check jvm-gc 0 '*' '' tree --gc --socket "$sockets"
check by-class 0 '*' '' summary com.example.shop.Main --socket "$sockets"
check by-part 0 '*' '' summary shop --socket "$sockets"
check status 0 'fake answer to status' '' status "$one" --socket "$sockets"
check status-gc 0 'fake answer to status gc' '' status --gc --socket "$sockets"
check reset 0 'fake answer to reset' '' reset "$one" --socket "$sockets"
check reset-nodes 0 'fake answer to reset nodes' "bbflow: reset in JVM $one (com.example.shop.Main)" reset --nodes --socket "$sockets"
same events "$work/events" <(printf '%s\n' json json json json 'json gc' json json status \
    'status gc' reset 'reset nodes')

check set 0 'trackDirectOnly=on' '' set "$one" trackDirectOnly=on --socket "$sockets"
check set-again 0 'trackDirectOnly=on (no change)' "bbflow: changed in JVM $one (com.example.shop.Main)" set trackDirectOnly=on --socket "$sockets"
check set-two 0 $'include=com.a+com.b\nmaxNodes=5' "bbflow: changed in JVM $one (com.example.shop.Main)" \
    set shop include=com.a+com.b maxNodes=5 --socket "$sockets"
check set-empty 0 'include=' "bbflow: changed in JVM $one (com.example.shop.Main)" set include= --socket "$sockets"
check set-nothing 2 '' "bbflow: set needs name=value, as: bbflow set $one trackDirectOnly=on" set "$one"
check set-no-value 2 '' "bbflow: 'trackDirectOnly' is no setting; write name=value, *" \
    set "$one" trackDirectOnly --socket "$sockets"
check set-unknown 5 '' "bbflow: JVM $one (com.example.shop.Main) refused, nothing was changed: unknown option 'maxNode'; did you mean 'maxNodes'?" \
    set "$one" maxNode=5 --socket "$sockets"
check set-alien 5 '' "bbflow: JVM $one *: unknown option 'foo'; 'bbflow help options' lists all of them" \
    set "$one" foo=1 --socket "$sockets"
check set-bad-value 5 '' "bbflow: JVM $one *: option 'maxNodes': 0 is out of range; it takes 1 to 1048576" \
    set "$one" maxNodes=0 --socket "$sockets"
check set-at-start 5 '' "bbflow: JVM $one *: option 'socket' can only be given when the JVM starts" \
    set "$one" socket=/tmp --socket "$sockets"
check set-all-or-nothing 5 '' '*nothing was changed*' set maxNodes=7 memory=1K --socket "$sockets"
check set-nothing-changed 0 'maxNodes=5 (no change)' "bbflow: changed in JVM $one (com.example.shop.Main)" set maxNodes=5 --socket "$sockets"

# ---- Several, and those without an answer ----------------------------------------------------------

start two java -jar /srv/apps/shop-worker.jar
export FAKE_JSON=$work/gone.json
start broken /usr/bin/java -m mod/com.example.shop.MainBatch
check list-several 0 "*$one  com.example.shop.Main  *" '' list --socket "$sockets"
grep -q "^$two  shop-worker.jar  " "$work/out" && grep -q "^$broken  com.example.shop.MainBatch  " "$work/out"
same list-several-lines <(echo $? "$(wc -l <"$work/out")") <(echo 0 3)
check several 3 '' "bbflow: 3 JVMs have the agent; name one by its pid or main class:*$one  com.example.shop.Main*" \
    tree --socket "$sockets"
check two-match 3 '' "bbflow: 3 JVMs match 'shop'; name one by its pid:*$two  shop-worker.jar*" \
    status shop --socket "$sockets"
check exact-beats-part 0 'fake answer to status' '' status Main --socket "$sockets"
check by-jar 0 'fake answer to status' '' status shop-worker --socket "$sockets"
check no-match 3 '' "bbflow: no JVM with the agent has 'zzz' in the name of its main class; there are:*$one  com.*" \
    tree zzz --socket "$sockets"
check refused 5 '' "bbflow: JVM $broken (com.example.shop.MainBatch) refused 'json': tracking is off: 3 internal errors" \
    tree "$broken" --socket "$sockets"
cp "$work/text.json" "$work/gone.json"
check bad-document 1 '' "bbflow: JVM $broken (com.example.shop.MainBatch) sent a snapshot that cannot be read: *" \
    tree "$broken" --socket "$sockets"

touch "$work/libjvm.so" "$work/libbbflow.so"
echo x | tee "$work/libjvm.so" >"$work/libbbflow.so"
export FAKE_MUTE=1
FAKE_MAP=$work/libjvm.so start bare java -cp x com.example.Bare
FAKE_MAP=$work/libjvm.so:$work/libbbflow.so start mute java com.example.Mute
unset FAKE_MUTE
check no-agent 3 '' "bbflow: JVM $bare (com.example.Bare) runs without the bbflow agent; $start_hint" tree "$bare"
check agent-without-socket 3 '' "bbflow: JVM $mute (com.example.Mute) has libbbflow.so loaded, but bbflow does not run there: it was stopped, or is off, which the JVM's stderr explains; 'bbflow attach $mute' follows again" \
    tree "$mute"
check name-without-agent 3 '' "*no JVM with the agent has 'com.example.Bare'*Without the agent*$bare  com.example.Bare*" \
    tree com.example.Bare --socket "$sockets"

# The usual place: without --socket the agent is found by its pid.
unset FAKE_SOCKETS
export FAKE_JSON=$golden/basic.json
start usual java com.example.Usual
check usual-place 0 '*' '' llm "$usual"
same usual-place-text "$work/out" "$golden/basic.llm"
check name-first 2 '' 'bbflow: the command comes first, as: bbflow tree sual' sual
# Stopped by SIGSTOP: said at once, by every command that asks.
kill -STOP "$usual"
for i in {1..50}; do
    grep -q '^State:.T' "/proc/$usual/status" && break
    sleep 0.1
done
for verb in tree status reset watch "set age=9s" "event x"; do
    read -ra words <<<"$verb"
    SECONDS=0
    check "stopped-${words[0]}" 1 '' "bbflow: JVM $usual (com.example.Usual) is stopped, by SIGSTOP or a debugger, and answers nothing; 'kill -CONT $usual'*" \
        "${words[0]}" "$usual" "${words[@]:1}"
    same "stopped-${words[0]}-at-once" <(echo $((SECONDS < 5))) <(echo 1)
done
kill -CONT "$usual"
check usual-list 0 "*$usual  com.example.Usual  $work/run/bbflow-*/$usual.sock*" '' list

# A killed JVM: its socket stays behind without a listener.
{
    kill -9 "$usual"
    wait "$usual"
} 2>/dev/null
check dead 3 '' "bbflow: there is no process $usual; *" tree "$usual"

# Another user's JVM.
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
    cp "$bbflow" "$work/bbflow"
    own=$bbflow
    bbflow=$work/as-nobody
    printf '#!/bin/sh\nexec env ASAN_OPTIONS=detect_leaks=0 XDG_RUNTIME_DIR= setpriv --reuid=65534 --regid=65534 --clear-groups %q "$@"\n' \
        "$work/bbflow" >"$bbflow"
    chmod 755 "$bbflow"
    check other-user 4 '' "bbflow: process $one belongs to user root; only that user and root may ask its agent, so try: sudo -u root bbflow tree $one" \
        tree "$one"
    check other-user-folder 3 '' 'bbflow: no JVM with the bbflow agent was found below *' \
        tree --socket "$sockets"
    cp "$golden/basic.json" "$work/secret.json"
    chmod 600 "$work/secret.json"
    check unreadable 4 '' "bbflow: cannot read $work/secret.json: Permission denied" tree "$work/secret.json"
    bbflow=$own
elif [[ $(id -u) != 0 ]]; then
    check other-user 4 '' 'bbflow: process 1 belongs to user root; *' tree 1
fi

# ---- host:port: a peer that speaks BTrace without a JVM ---------------------------------------------

export PEER_LOG=$work/heard
peer() { # NAME PROTOCOL [TOKEN]: its port goes to the variable NAME
    mkfifo "$work/peer.$1" "$work/stdin.$1"
    python3 "$here/peer.py" "${@:2}" <"$work/stdin.$1" >"$work/peer.$1" &
    pids+=("$!")
    # shellcheck disable=SC2034 # it stays open until we end
    exec {hold}>"$work/stdin.$1"
    local line=
    read -r -t 60 line <"$work/peer.$1"
    [[ -n $line ]] || { echo "FAILED peer $1 did not start"; exit 1; }
    printf -v "$1" '127.0.0.1:%s' "$line"
}
# heard NAME LINE…: what the peers heard since the last time
heard() {
    same "$1" "$PEER_LOG" <(printf '%s\n' "${@:2}")
    : >"$PEER_LOG"
}
uuid=123e4567-e89b-12d3-a456-426614174000
other=00000000-0000-0000-0000-000000000001
v2='' v1='' locked='' quits='' talks='' # set by peer
peer v2 2
peer v1 1
peer locked 2 s3cr3t
PEER_QUITS=1 peer quits 2
PEER_TALKS=1 peer talks 2

check tcp-list 0 "$other \[demo.Trace\]"$'\n'"$uuid \[bbflow\]" '' list "$v2"
heard tcp-list-bytes 'hello 42545232' list
check tcp-status 0 'answer to status' '' status "$v2"
heard tcp-status-bytes 'hello 42545232' list "16 $uuid" '1 status' 15
check tcp-localhost 0 'answer to status' '' status "localhost:${v2#*:}"
check tcp-event 0 'a line
big = 123456789012345678901234567890
exact = -1.230E+400
0.1
sizes
small = -7
large = 1099511627776
names
key = värde
leaks
  path       count  age
  a.b            5  -
  long.name  12345  -
  read  value: count
        1: 10
        2: 0
        4: 3' '' event "$v2" all
check tcp-event-words 0 'answer to tell me more' '' event "$v2" tell me more
check tcp-event-fails 5 'ERROR java.io.IOException: no room
	at a.B.c(B.java:7)' "bbflow: $v2 refused 'fail'" event "$v2" fail
: >"$PEER_LOG"
check tcp-event-probe 0 'answer to x' '' event "$v2" x --probe "$other"
heard tcp-event-probe-bytes 'hello 42545232' "16 $other" '1 x' 15
check tcp-event-no-probe 5 '' "bbflow: $v2, asked for 'x': the agent refused to reconnect to 7" \
    event "$v2" x --probe 7
check tcp-event-no-name 2 '' "bbflow: event needs a target and a name, as: bbflow event $v2 help" event "$v2"
check tcp-nobody 3 '' 'bbflow: localhost:1: no process listens on port 1' tree localhost:1
check tcp-no-snapshot 1 '' "bbflow: $v2 sent a snapshot that cannot be read: *" tree "$v2"

# v1: at once when it is asked for, else after the silence that follows BTR2.
: >"$PEER_LOG"
check v1-forced 0 "$other \[demo.Trace\]"$'\n'"$uuid \[bbflow\]" '' list "$v1" --protocol 1
heard v1-forced-bytes 'hello aced0005' list
check v1-fallback 0 'answer to status' '' status "$v1" --protocol auto --timeout 0.5
grep -v gone "$PEER_LOG" >"$work/words"
same v1-fallback-bytes "$work/words" \
    <(printf '%s\n' 'hello 42545232' 'hello aced0005' list "16 $uuid" '1 status' 15)
check v1-refused 1 '' "bbflow: $v1: the agent did not answer within 300 ms" \
    status "$v1" --protocol 2 --timeout 0.3
check v1-wrong 1 '' "bbflow: $v2: the agent did not answer within 300 ms" \
    status "$v2" --protocol=1 --timeout=0.3
check bad-protocol 2 '' "bbflow: --protocol takes auto, 1 or 2, not '3'" status "$v1" --protocol 3
check bad-compress 2 '' "bbflow: --compress takes bytes, 1 to 2147483647, not '1k'" \
    status "$v2" --compress 1k
: >"$PEER_LOG"
check compress 0 'answer to status' '' status "$v2" --compress 4096
heard compress-bytes 'hello 42545232' 'set connection.compress=4096' list "16 $uuid" '1 status' 15
check bad-color 2 '' "bbflow: --color takes auto, always or never, not 'blue'" list --color blue
check bad-size 2 '' "bbflow: --max-document takes a size, as 512M or 4G (K, M, G, T), not '1Q'" \
    status "$v2" --max-document=1Q
check look-everywhere 0 'bbflow follows*' '' help --ascii --wide --color=never
check bad-timeout 2 '' "bbflow: --timeout takes seconds, 0.001 to 86400, not '5s'" \
    status "$v1" --timeout 5s

# Tokens.
(umask 077; echo s3cr3t >"$work/token"; echo wrong >"$work/wrong"; : >"$work/none"
    printf 'a\nb\n' >"$work/lines"; head -c 5000 /dev/zero >"$work/long")
cp "$work/token" "$work/open"
chmod 644 "$work/open"
check token-missing 4 '' "bbflow: $locked: the agent asks for a token: --token-file FILE; *" status "$locked"
check token 0 'answer to status' '' status "$locked" --token-file "$work/token"
export BBFLOW_TOKEN_FILE=$work/token
check token-environment 0 'answer to status' '' status "$locked"
check token-flag-first 4 '' "bbflow: $locked: the token is wrong; *" status "$locked" --token-file "$work/wrong"
unset BBFLOW_TOKEN_FILE
check token-no-file 1 '' "bbflow: cannot read the token file $work/gone: No such file or directory" \
    status "$locked" --token-file "$work/gone"
check token-open 4 '' "bbflow: the token file $work/open: others may read it, *" \
    status "$locked" --token-file "$work/open"
check token-empty 4 '' "bbflow: the token file $work/none: it holds no token of 1 to 4096 bytes" \
    status "$locked" --token-file "$work/none"
check token-long 4 '' "bbflow: the token file $work/long: it holds no token of 1 to 4096 bytes" \
    status "$locked" --token-file "$work/long"
check token-lines 4 '' "bbflow: the token file $work/lines: it holds more than one line" \
    status "$locked" --token-file "$work/lines"
check token-folder 4 '' "bbflow: the token file $work: it is no regular file" \
    status "$locked" --token-file "$work"
check token-leaves 4 '' 'bbflow: 192.0.2.1:2020: 192.0.2.1 is another machine, *--remote-token' \
    status 192.0.2.1:2020 --token-file "$work/token" --timeout 0.05

# watch: until a signal; then DISCONNECT and exit 0.
watch() { # NAME EXIT SIGNAL ARG…: starts, waits for $last ("c.d 6"), sends the signal
    local name=$1 code=0 want=$2 signal=$3 last=${last:-c.d 6}
    shift 3
    : >"$work/watched"
    TZ=UTC "$bbflow" watch "$@" >"$work/watched" 2>"$work/err" </dev/null &
    local pid=$!
    for ((i = 0; i < 200; i++)); do
        grep -qF "$last" "$work/watched" && break
        sleep 0.05
    done
    kill -"$signal" "$pid"
    wait "$pid" || code=$?
    same "$name" <(echo "$code" && cat "$work/watched") <(echo "$want" &&
        printf '1970-01-01T00:00:00.001+00:00 %s\n' 'LEAK a.b 5' 'two lines' 'LEAK c.d 6' "${more[@]}")
}
more=() # lines behind these
: >"$PEER_LOG"
watch watch-term 0 TERM "$v2"
heard watch-bytes 'hello 42545232' list "16 $uuid" '1 watch' 15
watch watch-hup 0 HUP "$v1" --protocol 1
# The answer to "are you there?" is not shown, also behind a line of the stream or a DISCONNECT.
more=('LEAK e.f 1' 'LEAK e.f 2')
last='e.f 2' watch watch-asks 0 TERM "$talks" --timeout 0.5
more=()
# The reader has gone: the end, without a signal, also when nothing more comes.
timeout 10 "$bbflow" watch "$v2" 2>"$work/err" | head -1 >"$work/watched"
same watch-pipe <(echo "${PIPESTATUS[0]}" && wc -l <"$work/watched") <(printf '0\n1\n')
same watch-pipe-quiet <(grep -vc '^following' "$work/err") <(echo 0)
check watch-closed 1 '*LEAK c.d 6' $'following *\nbbflow: *: the agent closed the connection: its JVM has ended, *' \
    watch "$quits" --protocol 2
: >"$work/err"
watch watch-hup-2 0 HUP "$v1" --protocol 1
same watch-says "$work/err" <(echo "following $v1; Ctrl-C ends it, and the agent keeps running")

echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
