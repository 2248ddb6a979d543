"""The levels that are compared: Netty's own leak detector, and bbflow with its options."""

import dataclasses
import os

import machine

DETECTOR = "io.netty.leakDetection.level"


@dataclasses.dataclass(frozen=True)
class Level:
    """when: the agent is there from the "start", comes by "attach" after the warm-up, or leaves
    by "stop" then; "retransform": another one comes then, changes nothing and goes. agent: another
    build than this one's. jvm: more flags; only with Netty 4.2 if modern. then: what `bbflow set`
    changes after the warm-up. gate: bits of the gate (core/layout.h, SLOW_) that the program sets
    then; `more` has duty=100%, so that the agent leaves them."""

    name: str
    detector: str = "DISABLED"
    include: str = ""
    more: str = ""
    when: str = "start"
    agent: str = ""
    jvm: tuple = ()
    modern: bool = False
    then: tuple = ()
    gate: int = 0

    @property
    def tracks(self):
        """Does the agent count events while this level is measured?"""
        return bool(self.include) and self.when != "stop" and not self.then and self.gate == 0

    @property
    def samples(self):
        return "sample=" in self.more or "duty=" in self.more

    def options(self, application, report):
        """The agent's options. gc=off: at exit it must not wait for a collection."""
        include = self.include.replace("APP", application)
        return ",".join(o for o in (f"include={include}", self.more, f"file={report}") if o)

    def classes(self, application):
        """Those that ALL names, as prefixes of signatures."""
        return ":".join(f"L{p.replace('.', '/')}/"
                        for p in ALL.replace("APP", application).split("+"))

    def library(self):
        return self.agent or os.path.join(machine.binaries(), "libbbflow.so")

    def flags(self, application, report):
        flags = [f"-D{DETECTOR}={self.detector}",
                 *(f.replace("FOLDER", os.path.dirname(report)) for f in self.jvm)]
        if self.include and self.when != "attach":
            flags.append(f"-agentpath:{self.library()}={self.options(application, report)}")
        if self.gate != 0:
            flags += [f"--add-exports=java.base/jdk.internal.{p}=ALL-UNNAMED"
                      for p in ("access", "reflect")] + [f"-Dbench.gate={self.gate}"]
        return flags


ALL = "APP+io.netty"

NONE = Level("none")
AGAIN = Level("none again")
SIMPLE = Level("SIMPLE", "SIMPLE")
ADVANCED = Level("ADVANCED", "ADVANCED")
PARANOID = Level("PARANOID", "PARANOID")
NOTHING = Level("nothing matches", include="no.such.application")
APPLICATION = Level("application", include="APP")
HANDLER = Level("application + handlers", include="APP+io.netty.handler")
NETTY = Level("all of Netty", include=ALL)
SAMPLED = Level("all of Netty, sample=128", include=ALL, more="sample=128")
DIRECT = Level("all of Netty, trackDirectOnly", include=ALL, more="trackDirectOnly=true")
# Shut for good behind a warm-up with windows: a hook that never saw the gate open is compiled to less,
# and one that saw it open often to more: as seldom as budget=1% opens it.
SHUT = Level("gate shut", include=ALL, more="duty=1%", then=("duty=0%",))
EVENTS = ("AllocateBuffer", "ReallocateBuffer", "FreeBuffer", "AllocateChunk", "FreeChunk")
FLIGHT = Level("JFR allocator events", modern=True, jvm=(
    "-XX:StartFlightRecording:filename=FOLDER/netty.jfr,maxsize=64m,settings=none,"
    + ",".join(f"+io.netty.{e}#enabled=true" for e in EVENTS), "-Xlog:jfr*=off"))
PRESENCE = Level("LeakPresenceDetector", "PARANOID", modern=True,
                 jvm=("-Dio.netty.customResourceLeakDetector=io.netty.util.LeakPresenceDetector",))
LATE = Level("attached late", include="APP", when="attach")
STOPPED = Level("stopped", include=ALL, when="stop")
# The control of STOPPED: its retransformation, without bbflow.
RETRANSFORMED = Level("retransformed", when="retransform")
# For `grows`: so much memory that no limit is reached.
ROOMY = Level("application", include="APP",
              more="memory=8G,maxLives=16777216,maxNodes=1048576")

# Windows of time (docs/windows.md), the states of the gate one by one. In the grace no root opens a
# life: every hook behind the gate meets a buffer that is not followed.
GATE_OPEN = Level("gate open", include=ALL, more="duty=100%")
GRACE = Level("grace", include=ALL, more="duty=100%", gate=2)
GATES = {"open": GATE_OPEN, "grace": GRACE, "shut": SHUT}

EVERY = (NONE, SIMPLE, ADVANCED, PARANOID, NOTHING, APPLICATION, HANDLER, NETTY, SAMPLED, SHUT, DIRECT,
         LATE, STOPPED, RETRANSFORMED, FLIGHT, PRESENCE, AGAIN)


def sampled(n):
    return Level(f"sample={n}", include=ALL, more=f"sample={n}")


# What each of them is, for the tables' readers.
MEANING = {
    NONE.name: "no agent, leak detector DISABLED; what all others are compared with",
    SIMPLE.name: "Netty's default: one allocation in 128, only that it was lost",
    ADVANCED.name: "the same one in 128, with the places where it was used",
    PARANOID.name: "every buffer, with the places where it was used",
    NOTHING.name: "bbflow, `include` matches no class (yet): nothing is followed",
    APPLICATION.name: "bbflow, `include` is the application: every buffer, each step in it",
    HANDLER.name: "the same, and through all of `io.netty.handler`",
    NETTY.name: "the same, and through all of `io.netty`",
    SAMPLED.name: "all of Netty, one buffer in 128",
    SHUT.name: "all of Netty, between two windows of `budget=`: what the shut gate costs, in code that was "
               "compiled while windows opened. Turns stop the "
               "clock that windows are by, so `tests/bench/budget` measures the rest",
    DIRECT.name: "all of Netty, direct buffers only",
    LATE.name: "bbflow (the application) comes by `bbflow attach` when the JVM is warm",
    STOPPED.name: "all of Netty, then `bbflow stop`, then measured",
    GATE_OPEN.name: "all of Netty, `duty=100%`: a window that does not end",
    GRACE.name: "the same, but no root opens a life: the state behind a window, in which no buffer "
                "is followed",
    RETRANSFORMED.name: "no bbflow: an agent that changes nothing has the same classes "
                        "retransformed once, then measured",
    FLIGHT.name: "Netty 4.2's own flight recorder events of buffers and chunks, nothing else recorded",
    PRESENCE.name: "Netty 4.2's detector for tests: counts what is open, names no place",
    AGAIN.name: "`none` a second time: what differs here is the machine",
}
