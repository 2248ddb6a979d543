"""The measurements: experiments, each some levels side by side in rounds, and suites of them."""

import dataclasses
import itertools
import os

import hello
import jvm
import levels as L
import startup

JDK, NETTY = "17", "4.1.140.Final"
OTHERS = (("17", "4.2.20.Final"), ("25", "4.1.140.Final"), ("25", "4.2.20.Final"))
SMALL = ("-Xms256m", "-Xmx256m")
# Seconds of processor time; a cold cache is warm again after a few milliseconds. Each turn wakes all threads of a JVM: bbflow's
# take 0.14 % of codec's time more than without turns. With 0.1 rounds differed by 5.0 % (standard deviation), with this by 3.3 to 4.8.
TURN = 0.025
# Seconds of one JVM beside what is asked for, on a quiet machine with two cores.
OVERHEAD = {"bench": 1.0, "hello": 1.6, "start": 0.35}
MOVING = 3.5  # attach or stop, and until the compilers are quiet again


@dataclasses.dataclass(frozen=True)
class Experiment:
    """kind: bench, hello or start. Its samples are comparable among each other, with nothing else.
    curve, x: it is one point of that curve of `grows`. at_once: measured in one turn."""

    key: str
    workload: str
    levels: tuple
    rounds: int
    kind: str = "bench"
    threads: int = 1
    jdk: str = JDK
    netty: str = NETTY
    warm: float = 1.5
    seconds: float = 1.0
    settles: int = 60
    heap: tuple = SMALL
    collector: str = "Serial"
    curve: str = ""
    x: int = 0
    at_once: bool = False

    def round(self, order):
        """{level: its sample, or why there is none}"""
        if self.kind == "bench":
            return jvm.in_turns(self, order, at_a_time=max(1, os.cpu_count() // self.threads))
        if self.kind == "hello":
            return jvm.in_turns(self, order, hello.Server)
        return jvm.one_by_one(startup.sample, self, order)

    def turns(self):
        return 1 if self.at_once else max(1, round(self.seconds / TURN))

    def warm_again(self):
        """Where the agent comes or goes for one level, all of them have the same time after it."""
        return self.warm if any(level.when != "start" for level in self.levels) else 0.0

    def estimate(self):
        """Seconds on a quiet machine with at least two cores."""
        total = 0.0
        for level in self.levels:
            total += OVERHEAD[self.kind]
            if self.kind != "start":
                total += self.warm + self.warm_again() + 2 * jvm.SETTLE + self.seconds
                total += 2e-6 * self.filled() + (MOVING if level.when != "start" else 0)
        return total * self.rounds

    def filled(self):
        """Operations before the first one that is counted."""
        return self.x if self.curve in ("live", "held", "nodes") else 0


def protocols(levels, rounds, **more):
    return [Experiment(name, name, levels, rounds, **more) for name in ("http2", "grpc", "ssl")]


def versions(levels, rounds, workloads=("codec",), pairs=OTHERS):
    return [Experiment(f"{w} JDK {jdk} Netty {netty[:3]}", w, levels, rounds, jdk=jdk, netty=netty,
                       kind="hello" if w == "hello" else "bench")
            for (jdk, netty), w in itertools.product(pairs, workloads)]


def peers(rounds):
    """What Netty 4.2 itself has to find leaks."""
    return [Experiment(f"peers {w} JDK 17 Netty 4.2", w, PEERS, rounds, netty=OTHERS[0][1])
            for w in ("codec", "alloc")]


def threads(levels, rounds, counts, workloads=("codec", "calls:10")):
    """One experiment each: how a level's loss changes with the threads shows how it scales."""
    return [Experiment(f"{w} {n} threads", w, levels, rounds, threads=n, curve="threads " + w, x=n)
            for w, n in itertools.product(workloads, counts)]


def start_up(rounds, levels=(L.NONE, L.NOTHING, L.APPLICATION, L.NETTY)):
    return [Experiment("start " + name, name, levels, rounds, kind="start")
            for name in ("Hello", "NettyHello")]


def heap_for(live):
    return ("-Xms512m", f"-Xmx{512 + live * 220 // (1 << 20)}m")


def live(rounds, points, **more):
    """At once: a collection that is stopped in its middle would seem to last as long."""
    return [Experiment(f"live {n}", f"live:{n}", (L.NONE, L.ROOMY), rounds, heap=heap_for(n),
                       curve="live", x=n, at_once=True, **{**COLLECTED, **more}) for n in points]


def held(rounds, points, collector="Serial", name="held", flags=(), **more):
    """What the targets for memory and pauses are about: the open buffers stay the same ones."""
    return [Experiment(f"{name} {n} {collector}", f"held:{n}", (L.NONE, L.ROOMY), rounds,
                       heap=(*heap_for(n), *flags), collector=collector, curve=name.split(",")[0], x=n,
                       at_once=True, **{**COLLECTED, **more}) for n in points]


def headers(rounds):
    """JDK 25, whose objects may have headers of 8 bytes in place of 12."""
    return [e for name, flags in (("headers", ()), ("headers, compact", (COMPACT,)))
            for e in held(rounds, (100000, 1000000), "G1", name, flags, jdk="25")]


def nodes(rounds, points, **more):
    return [Experiment(f"nodes {n}", f"nodes:{n}", (L.NONE, L.ROOMY), rounds, curve="nodes", x=n,
                       **{"warm": 1.0, **more}) for n in points]


def sampling(rounds, shares, **more):
    return [Experiment("sampled codec", "codec", (L.NONE, *(L.sampled(n) for n in shares)), rounds,
                       curve="sample", **more)]


def grows(rounds):
    return [*live(rounds, (1000, 10000, 100000, 1000000, 10000000)),
            *held(6, (100000, 1000000)), *held(6, (100000, 1000000), "G1"),
            *nodes(rounds, NODES),
            *sampling(rounds, (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024))]


FEW = (L.NONE, L.SIMPLE, L.APPLICATION, L.NETTY, L.SHUT)
SOME = (L.NONE, L.SIMPLE, L.ADVANCED, L.APPLICATION, L.HANDLER, L.NETTY, L.SHUT)
# Controls are in `off`.
MOST = tuple(v for v in L.EVERY if v not in (L.RETRANSFORMED, L.AGAIN, L.DIRECT) and not v.modern)
PEERS = (L.NONE, L.SIMPLE, L.PARANOID, L.FLIGHT, L.PRESENCE, L.NETTY, L.SHUT)
OFF = (L.NONE, L.NOTHING, L.STOPPED, L.RETRANSFORMED, L.AGAIN)
ALLOCATE = (L.NONE, L.SIMPLE, L.ADVANCED, L.PARANOID, L.NOTHING, L.APPLICATION, L.SHUT)
CALLS = (L.NONE, L.SIMPLE, L.ADVANCED, L.PARANOID, L.APPLICATION, L.SHUT)
NODES = (400, 4000, 40000, 400000)  # paths: up to 933,000 nodes, below maxNodes
COMPACT = "-XX:+UseCompactObjectHeaders"
COLLECTED = {"warm": 1.0, "seconds": 3.0}  # for some twenty collections
SHORT = {"warm": 0.4, "seconds": 0.5}  # for loops that are compiled in no time


def default():
    """A new user's: everything once, below 20 minutes on two quiet cores."""
    return [
        Experiment("codec", "codec", MOST, 6, warm=0.7, seconds=1.0),
        Experiment("alloc", "alloc", ALLOCATE, 6, **SHORT),
        Experiment("calls:10", "calls:10", CALLS, 6, **SHORT),
        Experiment("calls:20", "calls:20", (L.NONE, L.SIMPLE, L.APPLICATION), 6, **SHORT),
        Experiment("slice", "slice", (L.NONE, L.SIMPLE, L.APPLICATION), 6, **SHORT),
        Experiment("heap", "heap", (L.NONE, L.APPLICATION), 6, **SHORT),
        Experiment("hello", "hello", SOME, 6, kind="hello", warm=1.0, seconds=1.2),
        *protocols(FEW, 2, seconds=0.8),
        *threads((L.NONE, L.APPLICATION), 3, (1, 2, 4), ("codec",)),
        *versions(FEW, 2, pairs=OTHERS[-1:]),
        *start_up(10),
        *live(1, (1000, 10000, 100000, 1000000), seconds=2.0),
        *nodes(1, NODES),
        *sampling(1, (1, 8, 64, 512), warm=1.0, seconds=0.8),
    ]


def codec():
    return [Experiment("codec", "codec", L.EVERY, 15), *versions(SOME, 15)]


def micro():
    return [Experiment("alloc", "alloc", (*ALLOCATE, L.STOPPED, L.AGAIN), 15),
            Experiment("slice", "slice", CALLS, 15), Experiment("heap", "heap", CALLS, 15),
            *(Experiment(f"calls:{n}", f"calls:{n}", CALLS, 15) for n in (0, 5, 10, 20))]


def hello_suite():
    return [Experiment("hello", "hello", (*SOME, L.NOTHING, L.SAMPLED, L.DIRECT, L.LATE, L.STOPPED,
                                          L.AGAIN), 15, kind="hello", warm=2.0, seconds=2.5)]


def off():
    return [Experiment("off " + w, w, OFF, 15) for w in ("alloc", "codec", "http2")] + [
        Experiment("off hello", "hello", OFF, 15, kind="hello", warm=2.0, seconds=2.5)]


SUITES = {
    "default": default,
    "codec": codec,
    "micro": micro,
    "hello": hello_suite,
    "protocols": lambda: protocols((*SOME, L.AGAIN), 15),
    "off": off,
    "threads": lambda: threads(FEW, 15, (1, 2, 4, 8)),
    "versions": lambda: versions(SOME, 15, ("codec", "alloc", "hello")),
    "peers": lambda: peers(15),
    "start-up": lambda: start_up(40),
    "grows": lambda: grows(3),
    "nodes": lambda: nodes(3, NODES),
    "headers": lambda: headers(6),
    "smoke": lambda: smoke(),
}


def full():
    """Everything, rounds by rounds of fifteen: a night. `codec` also has the versions' codec."""
    seen = {}
    for name in ("codec", "micro", "hello", "protocols", "gates", "off", "threads", "versions", "peers", "headers", "start-up"):
        for experiment in SUITES[name]():
            seen.setdefault(experiment.key, experiment)
    return [*seen.values(), *grows(5)]


SUITES["full"] = full


def smoke():
    """Seconds, figures worth nothing: does each kind of experiment and level work?"""
    brief = {"warm": 0.1, "seconds": 0.08, "settles": 0}
    return [
        Experiment("codec", "codec", (L.NONE, L.SIMPLE, L.APPLICATION, L.LATE, L.STOPPED,
                                     L.RETRANSFORMED), 1, **brief),
        Experiment("gates codec", "codec", (L.SHUT, L.GRACE), 1, **brief),
        Experiment("http2", "http2", (L.NETTY,), 1, **brief),
        Experiment("ssl", "ssl", (L.NETTY,), 1, **brief),
        Experiment("grpc", "grpc", (L.NETTY,), 1, **brief),
        Experiment("hello", "hello", (L.NONE, L.APPLICATION), 1, kind="hello", **brief),
        *start_up(1, (L.NONE, L.APPLICATION)),
        Experiment("calls:20", "calls:20", (L.NONE, L.APPLICATION), 1, **brief),
        *live(1, (1000,), **brief), *held(1, (1000,), "G1", **brief),
        *held(1, (1000,), "G1", "headers, compact", (COMPACT,), jdk="25", **brief), *nodes(1, (700,), **brief),
    ]


def gates():
    """What a hook costs by the state of the gate."""
    return [*(Experiment("gates " + w, w, (L.NONE, L.SHUT, L.GRACE, L.GATE_OPEN), 15)
              for w in ("codec", "http2", "grpc", "rsocket")),
            Experiment("gates hello", "hello", (L.NONE, L.SHUT), 15, kind="hello", warm=2.0, seconds=2.5)]


SUITES["gates"] = gates


def ab(builds, workloads, rounds):
    """Builds of the agent beside each other: NAME=AGENT[,INCLUDE[,GATE]]."""
    levels = [L.NONE, L.SIMPLE]
    for build in builds:
        name, _, rest = build.partition("=")
        agent, include, gate = (rest.split(",") + ["", ""])[:3]
        like = L.GATES[gate] if gate else L.APPLICATION
        levels.append(dataclasses.replace(like, name=name, include=include or like.include,
                                          agent=agent))
    return [Experiment("ab " + w, w, tuple(levels), rounds,
                       kind="hello" if w == "hello" else "bench") for w in workloads]
