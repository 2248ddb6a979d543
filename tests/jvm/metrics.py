"""metrics=: what a scrape of a JVM that leaks has; a reset, hostile peers, `set`, `stop` and a second attach (docs/monitoring.md)."""

import datetime
import http.client
import importlib.machinery
import importlib.util
import os
import re
import socket
import time

import harness
from ages import NO_CLEANER
from attach import NO_LEAK_DETECTOR
from harness import Case
from snapshot import same

SAMPLE = re.compile(r'^(bbflow_\w+)(?:\{(.*)\})? (\S+)((?: # \{id="[0-9a-f]{16}"\} \d+)?)$')
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


def load_generate():
    """monitoring/generate as a module."""
    loader = importlib.machinery.SourceFileLoader("generate", os.path.join(harness.ROOT, "monitoring/generate"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("generate", loader))
    loader.exec_module(module)
    return module


def check_names(samples):
    """What the dashboard and the rules ask for is in the scrape of a JVM."""
    generate = load_generate()
    asked = [*generate.queries(generate.dashboard()), *generate.rules_expressions()]
    names = {name for _, query in asked for name in re.findall(r"(?<![\w:])bbflow_\w+", query)}
    assert len(names) > 15, names
    same("names that no scrape has", names - {name for name, _ in samples}, set())


def port_of(run):
    found = re.search(r"^metrics +http://127\.0\.0\.1:(\d+)/metrics, ", run.client("status", str(run.pid))[0], re.M)
    return int(found.group(1)) if found else None


def get(port, accept=OPEN_METRICS, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics", headers={"Accept": accept, **headers})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def scrape(port):
    """(name, labels) -> value; the lines; each line is a sample or a comment."""
    answer, text = get(port)
    same("status", (answer.status, answer.getheader("Content-Type")[:len(OPEN_METRICS)]), (200, OPEN_METRICS))
    lines = text.splitlines()
    same("last line", lines[-1], "# EOF")
    samples = {}
    for line in lines:
        if line.startswith("#"):
            continue
        found = SAMPLE.match(line)
        assert found, line
        key = found.group(1), found.group(2) or ""
        assert key not in samples, f"twice: {line}"
        samples[key] = float(found.group(3))
    return samples, lines


def places(samples, name):
    return {labels: value for (family, labels), value in samples.items() if family == name}


def until(what, look):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.3)
    raise AssertionError(what)


def newer(port, iso):
    """A document that was made after that moment."""
    moment = datetime.datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp()

    def look():
        samples, lines = scrape(port)
        return (samples, lines) if samples["bbflow_captured_timestamp_seconds", ""] > moment else None
    return until("no newer document is made", look)


def counters(samples):
    return {key: value for key, value in samples.items() if key[0].endswith("_total")}


def falls(before, after):
    """Counters that are smaller now, or gone."""
    return {key: (value, after.get(key)) for key, value in counters(before).items() if after.get(key, -1) < value}


def check_document(run, port):
    """Between two snapshots: what the document has is at least the first's and at most the second's."""
    def lost():
        first = run.snapshot().doc
        return first if first["totals"]["leaked"] > 10 else None
    first = until("nothing is lost", lost)
    samples, lines = newer(port, first["captured_at"])
    last = run.snapshot().doc
    for key, name in (("leaked", "bbflow_leaked_buffers_total"), ("leaked_bytes", "bbflow_leaked_bytes_total")):
        low, high = first["totals"][key], last["totals"][key]
        assert low <= samples[name, ""] <= high, (name, low, samples[name, ""], high)
    lost = places(samples, "bbflow_place_leaked_buffers_total")
    same("the places have all losses", sum(lost.values()), samples["bbflow_leaked_buffers_total", ""])
    (labels,) = [row for row, value in lost.items() if value > 0]
    identity = re.fullmatch(r'id="([0-9a-f]{16})",place="Growing\.turn"', labels)
    assert identity, labels
    assert f"(id {identity.group(1)})" in run.client("check", str(run.pid), code=10)[0], labels
    exemplar = [line for line in lines if line.startswith("bbflow_leaked_buffers_total ")]
    assert f'# {{id="{identity.group(1)}"}} ' in exemplar[0], exemplar
    assert samples["bbflow_direct_memory_limit_bytes", 'counter="java.nio"'] == 96 << 20, samples
    assert samples["bbflow_cpu_seconds_total", 'part="server"'] > 0, places(samples, "bbflow_cpu_seconds_total")
    until("direct memory does not end", lambda: places(scrape(port)[0], "bbflow_direct_memory_exhaustion_seconds"))
    check_names(scrape(port)[0])


def check_negotiation(port):
    same("old text", get(port, "text/plain")[0].getheader("Content-Type"), "text/plain; version=0.0.4; charset=utf-8")
    same("another site's page", get(port, Host="evil.example:80")[0].status, 421)


def check_hostile(run, port):
    """Half requests, huge headers, too many connections: a scrape and a command are answered, nothing is left open."""
    def fds():
        return len(os.listdir(f"/proc/{run.pid}/fd"))
    before = fds()
    peers = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
    for number, peer in enumerate(peers):
        try:
            peer.sendall((b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"G", b"X: " + b"y" * 9000, b"")[number % 4])
        except OSError:
            pass  # closed for another
    scrape(port)
    run.client("status", str(run.pid))
    for peer in peers:
        peer.close()
    until("descriptors are left", lambda: fds() <= before + 2)


def check_reset(run, port):
    """The counters continue, with all that was lost since the start: also what no scrape had seen before the reset."""
    before, _ = scrape(port)
    kept = 0
    for what in (["reset"], ["reset", "--nodes"]):
        start = run.snapshot().doc["totals"]["leaked"]
        kept += until("no more is lost", lambda: max(0, run.snapshot().doc["totals"]["leaked"] - start)) + start
        run.client(*what, str(run.pid))
        doc = run.snapshot().doc
        assert doc["totals"]["leaked"] < before["bbflow_leaked_buffers_total", ""], doc["totals"]
        after, _ = newer(port, doc["captured_at"])
        same(f"counters that {what} took back", falls(before, after), {})
        assert after["bbflow_leaked_buffers_total", ""] >= kept + doc["totals"]["leaked"], (kept, doc["totals"], after)
        same("the places have all losses", sum(places(after, "bbflow_place_leaked_buffers_total").values()),
             after["bbflow_leaked_buffers_total", ""])
        before = after


def refused(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return False
    except ConnectionRefusedError:
        return True


def metrics(run):
    pid = str(run.pid)
    run.wait_for("READY")
    port = until("status has no port", lambda: port_of(run))
    check_document(run, port)
    check_negotiation(port)
    check_hostile(run, port)
    check_reset(run, port)
    run.client("set", pid, "metrics=off")
    assert refused(port) and port_of(run) is None
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = run.client("set", pid, f"metrics={taken.getsockname()[1]}")[0]
        assert "nothing is served" in said and "another program listens" in said, said
        assert "nothing is served: " in run.client("status", pid)[0]
        same("errors in the log", run.read("metrics.log").count("metrics: nothing is served: "), 1)
    assert re.search(r"metrics: http://127\.0\.0\.1:\d+/metrics", run.client("set", pid, "metrics=0")[0])
    port = port_of(run)
    scrape(port)
    run.client("stop", pid)
    assert refused(port), "bbflow stop left the port open"
    run.client("attach", "--agent", harness.AGENT, pid, "include=com.app", f"file={run.json_path}", f"metrics={port}")
    same("the same port", until("a second attach serves nothing", lambda: port_of(run)), port)
    scrape(port)


def cases():
    yield Case("metrics/growing", "com.app.Growing", agent="include=com.app,growthSeconds=1,growthKeep=120,metrics=0,log=metrics.log",
               jvm=["-XX:MaxDirectMemorySize=96m", "-Dio.netty.allocator.type=pooled", "-Xmx64m", NO_LEAK_DETECTOR, *NO_CLEANER],
               live=metrics, own_jvm=True, short=(17,))
