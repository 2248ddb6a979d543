"""`hello`: netty-example's HTTP server under load from another process, measured by the server's
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
    raise jvm.Failed(f"{folder.path}: no listener: " + folder.read("stderr")[-800:])


class Load:
    """Keeps the server busy, but in pauses; end() returns {"requests", "rps", "p50", "p99"},
    latencies in microseconds for a batch of PIPELINE."""

    def __init__(self, port, *rate, core=1):
        self.process = subprocess.Popen([*pinned(core), machine.load_program(), str(port), CONNECTIONS,
                                         PIPELINE, *map(str, rate)], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def failed(self, said):
        self.process.kill()
        return jvm.Failed(f"load: {said}{self.process.communicate()[1]}")

    def say(self, command):
        try:
            self.process.stdin.write(command)
            self.process.stdin.flush()
        except OSError as why:
            raise self.failed("") from why

    def pause(self):
        """Requests that were answered until now."""
        self.say("p")
        line = self.process.stdout.readline()
        found = re.fullmatch(r"requests=(\d+)\n", line)
        if not found:
            raise self.failed(line)
        return int(found.group(1))

    def go(self):
        self.say("g")

    def end(self):
        out, err = self.process.communicate()
        found = re.fullmatch(r"requests=(\d+) rps=(\d+) p50_us=(\d+) p99_us=(\d+)\n", out)
        if not found:
            raise jvm.Failed(f"load: {out}{err}")
        return dict(zip(("requests", "rps", "p50", "p99"), map(int, found.groups())))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Server(jvm.Worker):
    """The example's main, pinned beside its load. Begun it is warm, and idle but for its turns."""

    def __init__(self, experiment, level):
        super().__init__(experiment, level, APPLICATION)
        self.experiment = experiment
        self.port = self.load = None
        self.answered = 0
        self.seen = 0  # requests that the agent saw before the load that is measured
        self.turns = []

    def listen(self, core):
        experiment = self.experiment
        path = machine.class_path(experiment.netty, machine.example(experiment.netty))
        self.port = free_port()  # not earlier: the other servers' clients take ports
        self.start([*pinned(core), machine.java(experiment.jdk), *experiment.heap,
                    "-XX:+UseSerialGC", *self.flags(), f"-Dport={self.port}", "-cp", path, MAIN],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_for(self.port, self.process, self.folder)

    def begin(self):
        experiment = self.experiment
        self.listen(0)
        warm = self.under_load(lambda: self.work(experiment.warm))
        self.come_or_go()
        self.seen = self.under_load(
            lambda: self.settle(experiment.warm_again(), experiment.settles))
        if self.level.when == "start":
            self.seen += warm
        self.load = Load(self.port)
        self.answered = self.load.pause()

    def under_load(self, work):
        """Does `work` while there is load; the requests answered."""
        load = Load(self.port)
        try:
            work()
            return load.end()["requests"]
        finally:
            load.close()

    def turn(self):
        processor, wall = self.clock.seconds(), time.monotonic()
        self.load.go()
        self.work(self.experiment.seconds / self.experiment.turns())
        answered = self.load.pause()
        self.turns.append((answered - self.answered, self.clock.seconds() - processor,
                           time.monotonic() - wall))
        self.answered = answered

    def end(self):
        """Its sample."""
        result = self.load.end()
        requests = result.pop("requests")
        del result["rps"]
        result.update(**jvm.rates(self.turns), **self.looks_like())
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        result.update(self.has_counted(self.seen + requests))
        self.close()
        self.folder.remove()
        return result

    def close(self):
        if self.load:
            self.load.close()
        super().close()
