"""What reports, `status` and `attach` say where a user gets less than was asked for, and the remedy."""

import re

import harness
from attach import NETTY, NO_LEAK_DETECTOR, Program
from harness import Case, Scenario
from lttng import until
from snapshot import same


def program(bench, options, *args, ready="READY"):
    return Program(bench, *(args or ("losing",)), ready=ready,
                   jvm=[NO_LEAK_DETECTOR, f"-agentpath:{harness.AGENT}={options}"])


def notes(started):
    """The notes of a tree; `status` has the same ones."""
    pid = str(started.pid)
    tree = re.findall(r"^note: (.*)$", started.ask("tree", pid), re.M)
    status = re.findall(r"^note +(.*)$", started.ask("status", pid), re.M)
    same("notes of status", [n for n in tree if n not in status and not n.startswith("limit ")], [])
    return tree


def wrapped(bench):
    """include= of classes that take no buffer: how many they are, and what they get it in."""
    with program(bench, "include=com.shop", "till") as started:
        text = "\n".join(notes(started))
        assert text.startswith("include= matches 1 loaded class, but none of its methods takes or "
                               "returns a ByteBuf"), text
        assert "may come to it inside of com.corp.Envelope" in text, text
        assert "include=com.corp" in text and "objects=on" in text, text
        assert "carriers=on at the start follows buffers into it" in text, text
        assert "nearest" not in text and "java." not in text and "track" not in text, text
        started.ask("set", str(started.pid), "include=com.shop+com.corp")
        same("with the remedy", notes(started), [])
        same("exit", started.end(), 0)
    with program(bench, "include=com.shop,carriers=on", "till") as started:
        until(lambda: not notes(started), "a report without that note")
        same("exit", started.end(), 0)
    with program(bench, "include=com.shap", "till") as started:
        text = "\n".join(notes(started))
        assert "include= matches" not in text and "com.shop" in text, text
        same("exit", started.end(), 0)


def track_of_nothing(bench):
    """A track= whose class is not there, or has no such method; one that fits has no note."""
    for entry, words in (
            ("com.app.Lossing:close", ["track=com.app.Lossing:close matches no loaded class",
                                       "com.app.Losing"]),
            ("com.app.Losing:obay", ["track=com.app.Losing:obay: com.app.Losing has no method obay",
                                     "obey"]),
            ("com.app.Losing:obey", [])):
        with program(bench, f"include=com.app,track={entry}") as started:
            text = "\n".join(notes(started))
            for word in words:
                assert word in text, f"{entry}: no {word!r} in {text!r}"
            assert words or "track=" not in text, text
            same("exit", started.end(), 0)


def attached(bench):
    """Without include=: what that means; ByteBuf that was there before: what that means."""
    with Program(bench, "rounds", "1", jvm=[NO_LEAK_DETECTOR]) as started:
        text = started.attach()
        assert "no include= was given: every class is followed but" in text, text
        assert f"bbflow set {started.pid} include=your.package" in text, text
        text = "\n".join(notes(started))
        assert "io.netty.buffer.ByteBuf has no place for bbflow's mark: it was loaded before bbflow" in text, text
        for word in ("counts are exact", "costs more", "-agentpath"):
            assert word in text, f"no {word!r} in {text}"
        assert "hidden field" not in text, text
        started.stop()
        text = started.attach("include=com.app")
        assert "no include=" not in text, text
        same("exit", started.end(), 0)


def few_sites(run):
    """Netty's own methods have their place whatever the limit: no life is missed, and a note says so."""
    for name in ("lives", "released", "leaked"):
        same(name, run.json.totals[name], run.oracle[name])
    limit = run.json.doc["limits"]["maxSites"]
    assert limit["hit"] > 0 and limit["used"] == limit["limit"] == 64, limit
    text, _ = run.client("tree", str(run.json_path))
    assert re.search(r"^note: limit maxSites reached: \d+ times a method was left out, 64 of 64 are "
                     r"followed; their buffers stay at the step before; maxSites= can be raised when "
                     r"the JVM starts, include= makes them fewer$", text, re.M), text


def cases():
    yield Scenario("words/include takes no buffer", wrapped, jdk=(17, 25), short=(17,))
    yield Scenario("words/track of nothing", track_of_nothing, jdk=(17, 25), short=(17,))
    yield Scenario("words/attach", attached, jdk=(17, 25), short=(25,))
    yield Case("words/maxSites", "com.app.Probes", "cycles", "pooled", "loop", netty=NETTY, jdk=(17, 25),
               agent="include=com.app,maxSites=64", check=few_sites)
