#!/bin/bash
# tests/long/rewriter/lib.sh - sourced by tests/long/verify-netty and tests/long/verify-classes, at the top of
# the source tree: building the test agent and its Java programs, running a JVM under it, reading
# what it said. Sets root, compiler, asm_jars; the caller sets work (where it builds), and for a run
# home (the JVM) and out (where results go).
# shellcheck disable=SC2034,SC2154

root=$PWD
rewrite=$root/tests/long/rewriter
compiler=$(scripts/find-jdks 17 | cut -f 2)
[ -n "$compiler" ] || { echo "$0: no JDK 17 to compile with" >&2; exit 1; }
asm_jars=$(scripts/fetch-maven org.ow2.asm:asm{,-tree,-util,-analysis}:9.9 | paste -sd :)
[ -n "$asm_jars" ] || exit 1

build() {
    mkdir -p "$work/classes" "$work/gen" &&
        ${CC:-gcc} -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror -fPIC -shared -I"$root" \
            -isystem "$compiler/include" -isystem "$compiler/include/linux" "$rewrite/rwagent.c" \
            classfile/*.c -o "$work/.new.$$" -lpthread &&
        mv "$work/.new.$$" "$work/librwagent.so" &&
        "$compiler/bin/javac" -encoding UTF-8 --release 11 -g -Xlint:all -Werror \
            -d "$work/classes" \
            "$rewrite"/java/bbflow/RewriteShim.java "$rewrite"/java/{LinkAll,SynthRun,Corner}.java &&
        "$compiler/bin/javac" -encoding UTF-8 -cp "$asm_jars" -d "$work/gen" \
            "$rewrite"/java/{SynthGen,AsmDiff}.java
}

# Every loader's classes are verified, also the boot loader's.
java_run() { # NAME AGENT-OPTIONS MAIN-AND-ARGS...; $java_options (an array) in front
    local name=$1 options=$2
    shift 2
    "$home/bin/java" -XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal \
        -XX:+BytecodeVerificationRemote -Xmx512m "${java_options[@]}" \
        "-agentpath:$work/librwagent.so=shim=$work/classes/bbflow/RewriteShim.class$options" \
        -cp "$work/classes" "$@" >"$out/$name.out" 2>"$out/$name.err"
}
java_options=()

value() { # NAME KEY: from the agent's last line
    sed -n "s/.*\[rw\] classes=.* $2=\([0-9]*\).*/\1/p" "$out/$1.err"
}

# Classes whose result is another than without rewriting. The text of a NoClassDefFoundError may
# name another of several missing classes (it depends on symbol addresses): only names and kinds.
differing() { # BASE OTHER
    diff <(cut -f 1,2 "$out/$1.tsv") <(cut -f 1,2 "$out/$2.tsv") | grep -c '^>'
}

first_difference() { # BASE OTHER
    diff "$out/$1.tsv" "$out/$2.tsv" | sed -n 's/^> //p' | head -n 1
}

# Does ASM come to the same classes as those in FOLDER? Last line "equal=N different=N".
asm_compare() { # FOLDER
    "$compiler/bin/java" -XX:+UseSerialGC -Xmx1g -cp "$work/gen:$asm_jars" AsmDiff "$1"
}
