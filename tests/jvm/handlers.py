"""handlers=: the application's MetricHandlers, found in every way, get each loss once (docs/java-api.md)."""

import json
import os
import re
import time

import harness
from attach import NETTY, NO_LEAK_DETECTOR, Program
from harness import ROOT, Case, Scenario, class_path
from snapshot import same

API = os.path.join(ROOT, "build/release/bbflow-api.jar")
SERVICES = "META-INF/services/com.example.bytebuf.api.metrics.MetricHandler"


def compiled(sources):
    return ("handlers", NETTY, sources, lambda: [API])


def libraries():
    """The API, and a folder that names the services."""
    folder = os.path.join(harness.OUT, "handlers-services")
    os.makedirs(os.path.join(folder, os.path.dirname(SERVICES)), exist_ok=True)
    with open(os.path.join(folder, SERVICES), "w", encoding="utf-8") as file:
        file.write("com.hand.Service\n")
    return [API, folder]


def status(run):
    lines = [line for line in run.client("status", str(run.pid))[0].splitlines() if line.startswith("handlers ")]
    return "".join(line[19:] for line in lines)


def until(run, good):
    end = time.time() + 60
    while not good(status(run)):
        assert time.time() < end, status(run)
        time.sleep(0.2)


def off_and_on(run):
    """set handlers=off and on: the registered handlers get the losses from then on."""
    until(run, lambda text: text.startswith("3 in 1 copies of the API; ") and text.endswith("; failures: 0"))
    run.client("set", str(run.pid), "handlers=off")
    until(run, lambda text: text == "")
    run.client("set", str(run.pid), "handlers=lazy")
    until(run, lambda text: " in 1 copies of the API; " in text)


def sums(run):
    lines = [line[4:] for line in run.stdout.splitlines() if line.startswith("SUM ")]
    same("sums", sorted(lines), sorted(
        f"{loader} {name} {direct} {0 if name == 'Named' else heap} made 1"
        for loader, direct, heap in (("first", 3, 2), ("other", 1, 0), ("both", 4, 2), ("again", 6, 2))
        for name in ("Named", "Registered", "Service")))
    assert "UNLOADED true\n" in run.stdout, run.stdout
    assert "REGISTERED 2\n" in run.stdout, run.stdout
    root = "io.netty.buffer.UnpooledByteBufAllocator."
    same("flows", {line for line in run.stdout.splitlines() if line.startswith("FLOW ")}, {
        f"FLOW {count} {kind} root={root}{kind}Buffer|final_ref=1|path="
        f"{root}{kind}Buffer[ref=1] -> com.hand.Main.lose{kind.capitalize()}[ref=1] -> com.hand.Main.keep[ref=1]"
        for kind, count in (("direct", 6), ("heap", 2))})
    same("leaked", run.json.totals["leaked"], 8)


def stop_and_attach(run):
    """With a handler that hangs: stop does not wait for it, and the next attach does not call it again."""
    until(run, lambda text: re.match(r"8 in 1 copies of the API; snapshots: \d+ delivered, \d+ left out because the "
                                     r"handler was busy \([12] now\); failures: \d\d", text))
    begin = time.time()
    run.client("stop", str(run.pid))
    assert time.time() - begin < 20, time.time() - begin
    run.client("attach", "--agent", harness.AGENT, str(run.pid), "include=com.hand", "handlers=on", "pushInterval=1s",
               f"file={run.json_path}")
    until(run, lambda text: text.startswith("8 in 1 copies of the API; "))


def hostile(run):
    for line in ("SUMS first", "SUMS again", "HANGS 1, PUSHERS 1"):
        assert line + "\n" in run.stdout, run.stdout
    assert "WRONG" not in run.stdout, run.stdout


def sums_of(program):
    """(direct buffers, snapshots) that the handler got so far."""
    program.tell("sums")
    found = re.findall(r"^SUMS (\d+) 0 made 1 in (\d+)$", program.read(0), re.M)
    assert found, program.read(0)
    return int(found[-1][0]), int(found[-1][1])


def until_sums(program, good):
    end = time.time() + 60
    while not good(*sums_of(program)):
        assert time.time() < end, sums_of(program)
        program.tell("gc")
        time.sleep(0.1)


def leaked(program):
    return json.loads(program.ask("dump", str(program.pid)))["totals"]["leaked"]


def reset_between(bench):
    """Losses between a snapshot and a reset are in no snapshot; those after it are in one."""
    path = ":".join([class_path("handlers", NETTY), *libraries()])
    with Program(bench, main="com.hand.OnRequest", ready="READY", path=path, jvm=[
            NO_LEAK_DETECTOR, f"-agentpath:{harness.AGENT}=include=com.hand,handlers=on,pushInterval=1s"]) as program:
        pid, lost = str(program.pid), 3
        program.tell("lose 3")
        until_sums(program, lambda direct, _: direct == 3)
        program.ask("set", pid, "pushInterval=1h")
        delivered = lost  # a snapshot that was under way at the set may have had what is lost now: then once more
        for _ in range(5):
            program.tell("lose 2")
            lost += 2
            end = time.time() + 60
            while leaked(program) != lost:
                assert time.time() < end, leaked(program)
                program.tell("gc")
                time.sleep(0.1)
            delivered, snapshots = sums_of(program)
            if delivered == lost - 2:
                break
        same("not delivered before the reset", lost - delivered, 2)
        program.ask("reset", pid)
        same("leaked after the reset", leaked(program), 0)
        program.ask("set", pid, "pushInterval=1s")
        program.tell("lose 1")
        until_sums(program, lambda direct, n: direct == delivered + 1 and n > snapshots)
        _, snapshots = sums_of(program)
        until_sums(program, lambda _, n: n > snapshots + 1)
        same("delivered in all", sums_of(program)[0], delivered + 1)


def cases():
    yield Scenario("handlers/reset between", reset_between, jdk=(25,), short=(25,), classes="handlers")
    yield Case("handlers/push", "com.hand.Main", agent="include=com.hand,handlers=on,pushInterval=1s",
               classes="handlers", libraries=libraries, live=off_and_on, check=sums,
               jvm=(NO_LEAK_DETECTOR, "-Dmetric.handlers=com.hand.Named"), short=(25,))
    yield Case("handlers/hostile", "com.hand.Hostile", agent="include=com.hand,handlers=on,pushInterval=1s",
               classes="handlers", libraries=libraries, live=stop_and_attach, check=hostile,
               jvm=(NO_LEAK_DETECTOR, "-Dmetric.handlers=com.hand.Missing, com.hand.Hostile$Hidden,com.hand.Main,"
                    "com.hand.Hostile$Initialized"), short=(17,))
