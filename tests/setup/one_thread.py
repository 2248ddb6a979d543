#!/usr/bin/python3
"""tests/setup/one_thread.py PROGRAM...: none of them can start a thread.

The preset tsan builds none of these (tests/CMakeLists.txt: ONE_THREAD, the replays, bbflow). A thread
would need pthread_create or thrd_create, and the libraries are static, so that a program without these
names cannot have one. The check finds the name in a program that has threads, or it would prove nothing.
"""
import os
import subprocess
import sys

STARTS = {"pthread_create", "thrd_create"}


def starts_threads(program):
    text = subprocess.run(["nm", "-u", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return bool(STARTS & {line.split()[-1].split("@")[0] for line in text.splitlines()})


def main(programs):
    known = os.path.join(os.path.dirname(programs[-1]), "stress_lives")
    wrong = [] if starts_threads(known) else [f"{known}: its threads are not found"]
    wrong += [f"{os.path.basename(program)} can start threads: take it out of ONE_THREAD"
              for program in programs if starts_threads(program)]
    print("\n".join(wrong) or f"{len(programs)} programs have one thread")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
