"""bbflow-micrometer.jar and bbflow-opentelemetry.jar with the real libraries (docs/java-api.md)."""

import glob
import os

import harness
from attach import NETTY, NO_LEAK_DETECTOR
from handlers import API
from harness import ROOT, Case
from other_agents import jars
from snapshot import same

MICROMETER = [f"io.micrometer:micrometer-{part}:1.15.5" for part in ("core", "commons", "observation", "registry-prometheus")]
PROMETHEUS = [f"io.prometheus:prometheus-metrics-{part}:1.3.10" for part in (
    "config", "core", "exposition-formats", "exposition-textformats", "model", "tracer-common")]
OPENTELEMETRY = [f"io.opentelemetry:opentelemetry-{part}:1.55.0" for part in (
    "api", "context", "common", "sdk", "sdk-common", "sdk-logs", "sdk-metrics", "sdk-testing", "sdk-trace")]
STEP = "com.bound.Bound.keep"
ROOT_OF = {kind: f"io.netty.buffer.UnpooledByteBufAllocator.{kind}Buffer" for kind in ("direct", "heap")}


def libraries():
    return [API, *jars(*MICROMETER, *PROMETHEUS, *OPENTELEMETRY)]


def sources():
    """The binders themselves are compiled here: their jars are no part of the normal build."""
    binders = glob.glob(os.path.join(ROOT, "java-shim/*/io/bbflow/*/BbflowMetrics.java"))
    same("binders", len(binders), 2)
    return [*sorted(binders), "tests/jvm/binders/com/bound/Bound.java"]


def compiled():
    return ("binders", NETTY, sources, libraries)


def counted(run):
    lines = run.stdout.splitlines()
    place = 'application="shop",memory="{}",place="com.bound.Bound.keep",root="{}"'
    same("the program", [line for line in lines if not line.startswith(("PROM", "OTEL"))], [
        "BOUNDED 2000 2000 1600 101",
        "BOUND 1",
        "SUMS first" + 3 * " | 5.0 5.0 1.0" + " | 5 5 1",
        "SUMS after a reset" + 3 * " | 6.0 6.0 1.0" + " | 6 6 1",
        "CLOSED 0",
        "SUMS closed" + 2 * " | 7.0 7.0 1.0" + " | 7 7 1",
        "LEFT 0",
        "DROPPED true true",
        "HANDLERS 2",
        "HANDLERS 3 1"])
    same("Prometheus", {line[5:] for line in lines if line.startswith("PROM")}, {
        'bbflow_leaked_buffers_total{application="shop",memory="direct"} 4.0',
        'bbflow_leaked_buffers_total{application="shop",memory="other"} 2.0',
        'bbflow_open_buffers{application="shop"} 1.0',
        "bbflow_place_leaked_buffers_total{" + place.format("direct", ROOT_OF["direct"]) + "} 4.0",
        "bbflow_place_leaked_buffers_total{" + place.format("other", ROOT_OF["heap"]) + "} 2.0"})
    where = ",bbflow.place=" + STEP + ",bbflow.root="
    same("OpenTelemetry", {line[5:] for line in lines if line.startswith("OTEL")}, {
        "bbflow.leaked {buffer} LONG_SUM true {bbflow.memory=direct} 4",
        "bbflow.leaked {buffer} LONG_SUM true {bbflow.memory=other} 2",
        "bbflow.open {buffer} LONG_SUM false {} 1",
        "bbflow.place.leaked {buffer} LONG_SUM true {bbflow.memory=direct" + where + ROOT_OF["direct"] + "} 4",
        "bbflow.place.leaked {buffer} LONG_SUM true {bbflow.memory=other" + where + ROOT_OF["heap"] + "} 2"})
    same("stderr", harness.agent_lines(run.stderr), [])


def cases():
    yield Case("handlers/binders", "com.bound.Bound", agent="include=com.bound,handlers=lazy,pushInterval=1s", classes="binders",
               libraries=libraries, check=counted, own_jvm=True, jvm=(NO_LEAK_DETECTOR,), short=(25,))
