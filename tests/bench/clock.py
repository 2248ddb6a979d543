"""The clock of what is measured: processor time of a whole process but its compilers.

Garbage collection and the agent's thread are in it: a thread's own time would not see what a level
costs elsewhere. What the JVM's compilers take is a cost of the start, which ends; beside a loop
of two seconds it would hide all else, so it is counted by itself. Wall time would also measure the
other users of the machine.
"""

import os
import time

COMPILERS = ("C1 CompilerThre", "C2 CompilerThre")  # as the kernel cuts the names


class Clock:
    def __init__(self, pid):
        self.pid = pid
        # clock_gettime's number of another process's clock: MAKE_PROCESS_CPUCLOCK(pid,
        # CPUCLOCK_SCHED) of the kernel's include/linux/posix-timers.h.
        self.number = (~pid << 3) | 2
        self.compiled = {}  # the threads come and go
        self.named = {}

    def process(self):
        return time.clock_gettime(self.number)

    def compilers(self):
        """Seconds; a thread that runs just now counts up to its last tick, milliseconds ago."""
        tasks = f"/proc/{self.pid}/task"
        for tid in os.listdir(tasks):
            try:
                if tid not in self.named:
                    with open(f"{tasks}/{tid}/comm", encoding="ascii", errors="replace") as file:
                        name = file.read().strip()
                    if name in ("java", ""):
                        continue  # it has not named itself yet
                    self.named[tid] = name in COMPILERS
                if self.named[tid]:
                    with open(f"{tasks}/{tid}/schedstat", encoding="ascii") as file:
                        self.compiled[tid] = int(file.read().split()[0])
            except OSError:
                continue  # it has ended
        return sum(self.compiled.values()) / 1e9

    def seconds(self):
        return self.process() - self.compilers()
