#!/bin/sh
# Each rule of design.md: memory safety broken once, in the shim's twin (-DMUTANT=n) or in a copy of trie/lives.c:
# stress_lives (map mode and stop: stress_map) must go red every time, and stay green unbroken. A mutant that lives means that the
# stress proves nothing about its rule.
#
#   tests/stress/mutants.sh [NAME...]      CC, BBF_STRESS_SECONDS (a mutant's time, 6), BBF_TRIES (8)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cc=${CC:-cc}
seconds=${BBF_STRESS_SECONDS:-6}
tries=${BBF_TRIES:-8}
ck=$(find /usr/lib /usr/local/lib -name libck.a 2>/dev/null | head -n 1)
test -n "$ck" || { echo "mutants.sh: libck.a not found (libck-dev)" >&2; exit 1; }

# build NUMBER LIVES.C: stress_$program
program=lives
build() {
    # shellcheck disable=SC2046
    "$cc" -std=c11 -O1 -g -D_GNU_SOURCE -fno-strict-aliasing -fsanitize=address -DMUTANT="$1" \
        -I"$root" "$root/tests/stress/stress_$program.c" "$2" \
        $(find "$root/trie" -name '*.c' ! -name lives.c ! -name layout_java.c) "$root"/core/*.c \
        "$ck" -lcmocka -lpthread -o "$work/stress"
}

# red NAME: is one of the tries red?
red() {
    i=0
    while [ $i -lt "$tries" ]; do
        i=$((i + 1))
        ASAN_OPTIONS=detect_leaks=0 BBF_STRESS_SEED=$i BBF_STRESS_SECONDS=$seconds \
            timeout $((4 * seconds + 20)) "$work/stress" >"$work/out" 2>&1 || {
            status=$?
            return 0
        }
    done
    return 1
}

# The first evidence: cmocka's comparison, or the sanitizer's summary.
evidence() {
    test "$status" -ne 124 || printf 'hangs '
    test "$status" -lt 128 || printf 'signal %s ' $((status - 128))
    grep -aohE '\[  ERROR   \] --- .*|\[   LINE   \] .*|SUMMARY: .*|Assertion .*|corrupted .*' \
        "$work/out" | sed "s|$root/||g" | head -n 2 | tr '\n' ' '
}

# mutant NAME NUMBER [SED-SCRIPT]: the script must change lives.c.
alive=0
mutant() {
    case " $wanted " in
    "  " | *" $1 "*) ;;
    *) return 0 ;;
    esac
    cp "$root/trie/lives.c" "$work/lives.c"
    if [ -n "${3:-}" ]; then
        sed "$3" "$root/trie/lives.c" >"$work/lives.c"
        if cmp -s "$root/trie/lives.c" "$work/lives.c"; then
            echo "$1: lives.c is not what this mutant breaks; mend mutants.sh" >&2
            exit 1
        fi
    fi
    build "$2" "$work/lives.c"
    if red; then
        printf '%-28s red    %s\n' "$1" "$(evidence)"
    else
        printf '%-28s ALIVE after %s tries\n' "$1" "$tries"
        alive=$((alive + 1))
    fi
}

wanted=$*
unbroken() {
    cp "$root/trie/lives.c" "$work/lives.c"
    build 0 "$work/lives.c"
    tries_of_all=$tries
    tries=1
    if red; then
        cat "$work/out"
        echo "unbroken: red" >&2
        exit 1
    fi
    tries=$tries_of_all
    echo "stress_$program unbroken      green"
}
unbroken
mutant step-generation 1
mutant life-before-slot 2
mutant plain-close 3
mutant ignore-conv 4
mutant path-after-cas 5
mutant shared-stripe 6
mutant close-generation 7
mutant plain-refs 8
mutant wrap-copies 17
mutant again-open 18
# A store where lives.c has a CAS.
store='s/#include <stdlib.h>/#include <stdlib.h>\
#include <sched.h>\
static bool store_for(_Atomic uint64_t *word, const uint64_t *old, uint64_t value, int a, int b)\
{\
    (void)old, (void)a, (void)b;\
    sched_yield();\
    atomic_store(word, value);\
    return true;\
}/'
# design.md: convert and collect: convert without the CAS.
mutant convert-without-cas 0 "$store"'
/^static void convert/,/^}/ s/atomic_compare_exchange_strong_explicit(/store_for(/'
# design.md: convert and collect: `life` is read before the weak reference is asked, and the record won by a store. Asked often
# meanwhile, as the twin's collector runs when it is asked.
mutant life-before-weak 0 "$store"'
/^static bool bury(/,/^}/ s/atomic_compare_exchange_strong_explicit(/store_for(/
/^static bool collect(/,/^}/ {
    /uint64_t life = atomic_load_explicit(&record->life, memory_order_acquire);/d
    s/bool gone = weak/uint64_t life = atomic_load(\&record->life);\
    for (int i = 0; i < 100 \&\& r % 16 == 0 \&\& weak > BBF_NO_WEAK; i++, sched_yield())\
        (void)heap->collected(heap->ctx, weak);\
    bool gone = weak/
    s/atomic_compare_exchange_strong_explicit(/store_for(/
}'
# design.md: verdicts: derived lives are looked for once only.
mutant one-more-pass-only 0 's/while (found) {/for (int once = 0; found \&\& once == 0; once++) {/'
program=map
unbroken
mutant map-own-by-store 9
mutant map-passed-over 10
mutant map-not-pending 11
mutant map-not-alive-again 12
mutant map-entry-stays 13
mutant stop-not-marked 14
mutant stop-not-told 15
mutant stop-not-paused 16
if [ $alive -ne 0 ]; then
    echo "$alive mutants are alive" >&2
    exit 1
fi
