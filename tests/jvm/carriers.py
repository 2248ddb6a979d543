"""Carriers (carriers/*, ADR 43): buffers in objects of a framework, which user code holds in their place."""

import attach
import other_agents
from harness import Case
from snapshot import same

NETTY_41, NETTY_42 = "4.1.140.Final", "4.2.20.Final"
SPRING = ("org.springframework:spring-core:6.2.12", "org.springframework:spring-jcl:6.2.12")
USER = "com.app.Carriers$User."
# In the user's methods; the fifth carrier in carriers, and the next element of a chain, are not reached.
LOST = {"take": 1, "layered": 1, "four": 1, "two": 2, "boxed": 1, "cast": 1, "list": 1, "chained": 1,
        "letter": 2, "swapped": 1, "asks": 1, "asksHolder": 1}
PRELOAD_MS = "4000"  # the agent's passes over the loaded classes


def jars():
    return other_agents.jars(*SPRING)


def compiled(sources):
    return ("spring", NETTY_41, sources, jars, "--release", "17", "-g")


def outcomes(run):
    for name in ("lives", "released", "leaked"):
        same(name, run.json.totals[name], run.oracle[name])
    for name in ("live", "raced_steps", "dropped_steps", "unknown", "misuse", "internal_errors",
                 "holders_unknown"):
        same(name, run.json.totals[name], 0)


def world(run, more=(), cut=1):
    outcomes(run)
    lost = {USER + name: n for name, n in LOST.items()}
    lost.update(more)
    lost["com.app.Carriers.run"] = run.oracle["leaked"] - sum(lost.values())
    same("last steps", run.json.last_steps(), lost)
    same("elements_cut", run.json.totals["elements_cut"], cut)
    same("good ones", run.json.passed(USER + "take"), 1000 + LOST["take"])


def given(run):
    """An object, a queue of three and an array with a null."""
    world(run, {USER + "hidden": 1, USER + "queued": 3, USER + "parts": 2})


def objects(run):
    world(run, {"com.app.Carriers$Plain.put": 1})


def off(run):
    """As before: what the user's methods were given is not known; a holder that a call returned is."""
    outcomes(run)
    lost = run.json.last_steps()
    same("of the user", {name: n for name, n in lost.items() if name.startswith(USER)},
         {USER + "asksHolder": 1})


def bounded(run):
    """No class may be rewritten again: a note names the option."""
    outcomes(run)
    text = run.client("summary", run.json_path)[0]
    assert "(maxCarrierClasses=0)" in text, text
    assert USER + "take" not in run.json.last_steps(), run.json.last_steps()


def older(run):
    """Attached where all of it was loaded: what was released before is no life."""
    for name in ("lives", "released", "leaked"):
        same(name, run.json.totals[name], run.oracle[name])
    same("last steps", run.json.last_steps(), {USER + "take": 1})


def spring(leaked):
    def check(run):
        outcomes(run)
        same("last steps", run.json.last_steps(), {"com.shop.AuditService.record": 10} if leaked else {})
        if leaked:
            first = run.client("summary", run.json_path)[0].split("\n")[1]
            assert "end in AuditService.record: 640 B" in first, first
    return check


def case(name, *args, check, agent="include=com.app,carriers=on", **more):
    return Case("carriers/" + name, "com.app.Probes", *(args or ("carriers", PRELOAD_MS)), check=check,
                agent=agent, own_jvm=True, **more)


def cases():
    yield case("4.1", check=world, quick=True)
    yield case("4.2", check=world, netty=NETTY_42)
    yield case("given", check=given, agent="include=com.app,carriers=org.flow.Hidden:thing+org.flow.Parts:parts",
               jdk=(17,))
    yield case("objects=on", check=objects, agent="include=com.app,objects=on,carriers=on", jdk=(17,))
    yield case("off", check=off, agent="include=com.app,carriers=off")
    yield case("bounded", check=bounded, agent="include=com.app,carriers=on,maxCarrierClasses=0", jdk=(17,))
    yield attach.Older("carriers", "oldcarriers", options=("carriers=on",), check=older)
    for name, leaked in (("spring", True), ("spring clean", False)):
        yield Case("carriers/" + name, "com.shop.Shop", *([] if leaked else ["clean"]), classes="spring",
                   agent="include=com.shop", libraries=jars, check=spring(leaked), own_jvm=True)
