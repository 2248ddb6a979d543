"""The application ends while a client is being answered (issue 8, point 5): by System.exit, by
halt, by the end of main. It ends as ever, and the client has a whole answer or says that it has
none.

BBF_ENDING_ROUNDS=N for more rounds of each way than three.
"""

import contextlib
import json
import os
import random
import socket
import statistics
import subprocess
import threading
import time

from harness import AGENT, CLIENT, Scenario, agent_lines, class_path
from snapshot import same

NETTY = "4.1.140.Final"
ROUNDS = int(os.environ.get("BBF_ENDING_ROUNDS", "3"))
WAYS = {"exit": 7, "halt": 9, "main": 0}
LIVES = 1 << 14
# One that waits for a client or for a render would take 5 s or 30 s: not a measure of speed.
STUCK_S = 4.5


class Program:
    """com.app.Probes exits WAY, which waits for its end."""

    def __init__(self, bench, way, agent=True):
        self.bench = bench
        self.way = way
        command = [bench.jdk.java, *([f"-agentpath:{AGENT}=include=com.app"] if agent else []),
                   "-cp", class_path("probes", NETTY), "com.app.Probes", "exits", way]
        with open(bench.path("stderr"), "w", encoding="utf-8") as stderr:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=stderr,
                                            stdout=subprocess.PIPE, env=bench.env, text=True,
                                            cwd=bench.folder)
        same("first line", self.process.stdout.readline(), "READY\n")
        self.pid = str(self.process.pid)

    def end(self):
        """Seconds that it takes from the word to the end of the process."""
        begin = time.monotonic()
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        code = self.process.wait(60)
        seconds = time.monotonic() - begin
        same(f"exit code after {self.way}", code, WAYS[self.way])
        same("stdout", self.process.stdout.read(), "")
        with open(self.bench.path("stderr"), encoding="utf-8") as text:
            same("our stderr", agent_lines(text.read()), [])
        same("crashes", [f for f in os.listdir(self.bench.folder) if f.startswith("hs_err")], [])
        assert seconds < STUCK_S, f"{self.way} took {seconds:.1f} s"
        return seconds

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def ask(bench, *words):
    return subprocess.Popen([CLIENT, *words, "--timeout", "20"], env=bench.env, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def answer(client, shown_as_it_comes=False):
    """True: a whole one, with every life in it. False: none at all, and a reason."""
    out, err = client.communicate(timeout=60)
    if client.returncode == 0:
        same("lives of a whole answer", json.loads(out)["totals"]["lives"], LIVES)
        same("stderr of a whole answer", err, "")
        return True
    assert client.returncode in (1, 3, 5), f"exit {client.returncode}: {err}"
    if not shown_as_it_comes:
        same("stdout without an answer", out, "")
    assert err.startswith("bbflow: ") and err.count("\n") <= 3, err
    return False


def at_any_time(bench):
    """The end comes at a random moment of an answer, or a little before and after it."""
    rng = random.Random(20261122)
    times = {"client": [], "nobody": [], "no agent": []}
    whole = 0
    most = 0.0
    for i in range(ROUNDS):
        for way in WAYS:
            with contextlib.closing(Program(bench, way)) as program:
                begin = time.monotonic()
                client = ask(bench, "dump", program.pid)
                if i == 0:  # how long an answer takes here, and that there is one
                    assert answer(client), "no answer of a JVM that runs"
                    most = max(most, time.monotonic() - begin)
                    times["nobody"].append(program.end())
                    continue
                time.sleep(rng.random() * most * 0.6)
                times["client"].append(program.end())
                whole += answer(client)
            with contextlib.closing(Program(bench, way, agent=False)) as program:
                times["no agent"].append(program.end())
    asked = len(times["client"])
    medians = ", ".join(f"{name} {statistics.median(t) * 1000:.0f} (most {max(t) * 1000:.0f})"
                        for name, t in times.items() if t)
    print(f"# exits, Java {bench.jdk.major}: {whole} whole answers of {asked}, an answer takes "
          f"{most * 1000:.0f} ms; ms to the end: {medians}", flush=True)


class Relay:
    """Between a client on TCP and the agent's socket; takes `enough` bytes of the answer and no
    more until it is allowed to."""

    def __init__(self, path, enough):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.path = path
        self.enough = enough
        self.held = threading.Event()
        self.go_on = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        client, _ = self.listener.accept()
        agent = socket.socket(socket.AF_UNIX)
        agent.connect(self.path)
        threading.Thread(target=self.questions, args=(client, agent), daemon=True).start()
        taken = 0
        with contextlib.suppress(OSError):
            while piece := agent.recv(65536):
                client.sendall(piece)
                taken += len(piece)
                if taken >= self.enough:
                    self.held.set()
                    self.go_on.wait()
        with contextlib.suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)  # the other thread sits in its recv()
        client.close()
        agent.close()
        self.listener.close()

    @staticmethod
    def questions(client, agent):
        with contextlib.suppress(OSError):
            while piece := client.recv(65536):
                agent.sendall(piece)


def in_the_middle(bench):
    """The end comes when the client has a part of the answer and waits for the rest."""
    for way, protocol, words in (("exit", "2", ("event", "json")), ("halt", "2", ("dump",)),
                                 ("main", "2", ("dump",)), ("exit", "1", ("dump",))):
        with contextlib.closing(Program(bench, way)) as program:
            path = os.path.join(bench.sockets, f"bbflow-{os.getuid()}", f"{program.pid}.sock")
            relay = Relay(path, 200_000)
            client = ask(bench, words[0], f"127.0.0.1:{relay.port}", *words[1:], "--protocol",
                         protocol)
            assert relay.held.wait(30), "no part of an answer came"
            program.end()
            relay.go_on.set()
            same(f"v{protocol}: half an answer taken for a whole one",
                 answer(client, words[0] == "event"), False)
            same("socket left behind", os.path.exists(path), False)


def cases():
    yield Scenario("exit/at any time", at_any_time, jdk=(11, 17, 21, 25), short=(17,))
    yield Scenario("exit/in the middle of an answer", in_the_middle, jdk=(11, 17, 21, 25),
                   short=(17,))
