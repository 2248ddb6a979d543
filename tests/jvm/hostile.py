"""Names that a terminal would obey, in a class of the application: what the agent formats itself."""

import os
import re
import subprocess

from harness import AGENT, CLIENT, Scenario, class_path
from snapshot import Snapshot, same
from tcp import ask, bound

NETTY = "4.1.140.Final"
NAME = "\x1b]0\x07\nLEAK\u202e\u009b"
SHOWN = "\\u001b]0\\u0007\\u000aLEAK\\u202e\\u009b"


def heard(bench, port, event):
    """All that a stock client would be sent, and print."""
    peer = bound(port)
    ask(peer, event)
    if event == b"watch":
        data = peer.take(200)
    else:
        peer.sock.sendall(b"\x03\x0F\0\0\0\0")
        data = peer.rest()
    peer.sock.close()
    return data


def class_names(bench):
    """watch, leaks, top, status, misuse and the log show a hostile class's name as \\uXXXX; the JSON has
    it as it is."""
    process = subprocess.Popen([bench.jdk.java, f"-agentpath:{AGENT}=include=com.app,port=0,auth=off,"
                                "log=agent.log,loglevel=info", "-cp", class_path("probes", NETTY),
                                "com.app.Hostile"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               env=bench.env, cwd=bench.folder, text=True)
    try:
        same("first line", process.stdout.readline(), "READY\n")
        status = bench.run([CLIENT, "status", str(process.pid)]).stdout
        port = int(re.search(r"127\.0\.0\.1:(\d+)", status).group(1))
        picture = Snapshot(bench.run([CLIENT, "dump", str(process.pid), "--gc"]).stdout)
        names = [site["class"] for site in picture.doc["sites"] if "LEAK" in site["class"]]
        assert names and all(name == f"com.app.{NAME}" for name in names), picture.doc["sites"]
        for event in (b"leaks", b"top", b"status", b"tree", b"summary", b"llm", b"watch"):
            data = heard(bench, port, event)
            for raw in (b"\x1b]", b"0\x07", b"\nLEAK\xe2", "\u202e".encode(), "\u009b".encode(), b"\nLEAK\\u202e"):
                assert raw not in data, f"{event}: {raw} in {data[-400:]}"
            if event != b"status":
                assert SHOWN.encode() in data, f"{event}: {data[-600:]}"
        with open(os.path.join(bench.folder, "agent.log"), "rb") as log:
            assert b"\x1b" not in log.read()
    finally:
        process.stdin.close()
        process.wait(60)


def cases():
    yield Scenario("hostile/class names", class_names, quick=True)
