"""JVMs that work while a clock runs: windows are by the clock, so nothing here is stopped. The workloads of
com.example.bench as fast as they can (saturated), at a rate (paced), or a second of it and a second of a tenth of it
in turns (stepped)."""

import time

import hello
import jvm

RATES = {"codec": 60000, "http2": 12000, "grpc": 12000, "rsocket": 3000}  # operations a second
LOADS = ("saturated", "paced", "stepped")
STEP_S = 1  # half of a turn's least: each has as much of the high as of the low rate
IDLE_S = 3


def pace(load, rate):
    """[operations a second, seconds of a step]; [] if it is saturated."""
    return [] if load == "saturated" else [rate, STEP_S if load == "stepped" else 0]


class Bench(jvm.Bench):
    """free: seconds after its start in which it works as fast as it can."""

    def __init__(self, experiment, level, load, rate, core, free=0):
        super().__init__(experiment, level)
        self.core = core
        self.pace = [] if load == "saturated" else [
            f"-Dbench.{name}={value}" for name, value in zip(("pace", "step", "free"), (*pace(load, rate), free))]

    def flags(self):
        return [*super().flags(), *self.pace]

    def up(self):
        super().up(hello.pinned(self.core))

    def down(self):
        self.say("end")
        self.process.wait(60)


def settle(workers, most):
    """Waits until the compilers have been idle for some seconds; `most` seconds at most."""
    until, idle = time.monotonic() + most, 0
    while idle < IDLE_S and time.monotonic() < until:
        before = [worker.clock.compilers() for worker in workers]
        time.sleep(1)
        took = [worker.clock.compilers() - b for worker, b in zip(workers, before)]
        idle = idle + 1 if max(took) < jvm.QUIET else 0


def an_operation(worker, before, after):
    """Processor seconds, by two looks: (operations, processor seconds, ...)."""
    if after[0] <= before[0]:
        raise jvm.Failed(f"{worker.folder.path}: no operation was done")
    return (after[1] - before[1]) / (after[0] - before[0])
