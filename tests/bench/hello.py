"""`hello`: netty-example's HTTP server under load from another process, told by the server's
processor time for a request: how many come through a second says more about the machine."""

import os
import re
import signal
import socket
import subprocess
import time

import jvm
import machine

MAIN = "io.netty.example.http.helloworld.HttpHelloWorldServer"
APPLICATION = "io.netty.example"
CONNECTIONS, PIPELINE = "16", "8"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def pinned(core):
    """On two cores and more the server has one and the client another."""
    return ["taskset", "-c", str(core)] if os.cpu_count() > 1 else []


def wait_for(port, server, folder):
    until = time.monotonic() + 60
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise jvm.Failed(f"{folder.path}: nobody listens: " + folder.read("stderr")[-800:])


class Load:
    """Keeps the server busy; end() returns {"requests", "rps", "p50", "p99"}, latencies in
    microseconds for a batch of PIPELINE."""

    def __init__(self, port):
        self.process = subprocess.Popen([*pinned(1), machine.load_program(), str(port), CONNECTIONS,
                                         PIPELINE], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self):
        out, err = self.process.communicate()
        found = re.fullmatch(r"requests=(\d+) rps=(\d+) p50_us=(\d+) p99_us=(\d+)\n", out)
        if not found:
            raise jvm.Failed(f"load: {out}{err}")
        return dict(zip(("requests", "rps", "p50", "p99"), map(int, found.groups())))


class Server(jvm.Worker):
    """The example's main, pinned beside its load."""

    def __init__(self, experiment, level):
        super().__init__(experiment, level, APPLICATION)
        self.port = free_port()
        path = machine.class_path(experiment.netty, machine.example(experiment.netty))
        self.start([*pinned(0), machine.java(experiment.jdk), *experiment.heap,
                    "-XX:+UseSerialGC", *self.flags(), f"-Dport={self.port}", "-cp", path, MAIN],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_for(self.port, self.process, self.folder)

    def under_load(self, work):
        """Does `work` while there is load; what the load saw of it."""
        load = Load(self.port)
        try:
            work()
        finally:
            result = load.end()
        return result


def sample(experiment, level):
    server = Server(experiment, level)
    try:
        warm = server.under_load(lambda: server.work(experiment.warm))["requests"]
        server.come_or_go()
        again = experiment.warm_again()
        seen = server.under_load(lambda: server.settle(again, experiment.settles))["requests"]
        before = server.clock.seconds()
        result = server.under_load(lambda: server.work(experiment.seconds))
        requests = result.pop("requests")
        result["ns"] = round(1e9 * (server.clock.seconds() - before) / requests, 2)
        result["wall"] = result.pop("rps")
        result.update(server.looks_like())
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(60)
        seen += requests + (warm if level.when == "start" else 0)
        result.update(server.has_counted(seen))
    finally:
        server.close()
    server.folder.remove()
    return result
