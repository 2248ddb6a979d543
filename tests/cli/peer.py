#!/usr/bin/env python3
"""tests/cli/peer.py PROTOCOL [TOKEN] - an agent on a TCP port of 127.0.0.1 that knows every reply
that BTrace has, without a JVM: PROTOCOL 2 (BTrace 3.0), or 1 (BTrace 2.2.6: silent at BTR2).
Prints its port; appends each command that it hears to $PEER_LOG; ends with its stdin."""

import os
import socket
import struct
import sys
import threading

PROBE = "123e4567-e89b-12d3-a456-426614174000"
OTHER = "00000000-0000-0000-0000-000000000001"
PROBES = [f"{OTHER} [demo.Trace]", f"{PROBE} [bbflow]"]
ERROR, EVENT, EXIT, MESSAGE, STATUS, NUMBER_MAP, STRING_MAP, NUMBER, GRID = 0, 1, 2, 4, 6, 7, 8, 9, 10
SET_PARAMS, LIST_PROBES, DISCONNECT, RECONNECT = 13, 14, 15, 16

protocol = int(sys.argv[1])
token = sys.argv[2].encode() if len(sys.argv) > 2 else None


def integer(n):
    return struct.pack(">i", n)


def text(s):
    data = s.encode()
    return integer(len(data)) + data


class Peer:
    def __init__(self, sock):
        self.sock = sock
        self.file = sock.makefile("rb")
        self.block = b""
        self.questions = 0  # of a client that watches, with PEER_TALKS
        self.watched = False

    def take(self, n):
        """The next n bytes of the client; of v1 those inside block data."""
        while protocol == 1 and len(self.block) < n:
            kind = self.raw(1)[0]
            assert kind in (0x77, 0x79), kind
            if kind == 0x77:
                self.block += self.raw(self.raw(1)[0])
        if protocol == 2:
            return self.raw(n)
        data, self.block = self.block[:n], self.block[n:]
        return data

    def raw(self, n):
        data = self.file.read(n)
        if len(data) < n:
            raise EOFError
        return data

    def string(self):
        size = ">i" if protocol == 2 else ">H"
        return self.take(struct.unpack(size, self.take(struct.calcsize(size)))[0]).decode()

    def send(self, kind, payload):
        if protocol == 2:
            self.sock.sendall(bytes([3, kind]) + payload)
        else:
            data = bytes([kind]) + payload
            self.sock.sendall(b"\x79\x7A" + integer(len(data)) + data)

    def words(self, kind, words):
        data = words.encode()
        self.send(kind, text(words) if protocol == 2 else struct.pack(">H", len(data)) + data)

    def probes(self):
        size = ">i" if protocol == 2 else ">H"
        rest = b"".join(struct.pack(size, len(p)) + p.encode() for p in PROBES)
        self.send(LIST_PROBES, integer(len(PROBES)) + rest)

    def listed(self):
        """With PEER_TALKS a watcher's question is answered after a line of the stream; the second
        one only after its DISCONNECT."""
        if not self.watched or "PEER_TALKS" not in os.environ:
            self.probes()
            return
        self.questions += 1
        self.message(f"LEAK e.f {self.questions}", 1)
        if self.questions == 1:
            self.probes()

    def status(self, flag, good):
        if protocol == 2:
            self.send(STATUS, integer(flag) + bytes([good]))
        else:
            self.send(STATUS, integer(flag if good else -flag))

    def message(self, words, time=0):
        data = words.encode()
        if protocol == 2:
            self.send(MESSAGE, struct.pack(">q??i", time, False, False, len(data)) + data)
        else:
            self.send(MESSAGE, struct.pack(">?qi", False, time, len(data)) + data)

    def everything(self):
        long = lambda n: b"\2" + struct.pack(">q", n)
        self.message("a line")
        self.send(NUMBER, text("big") + b"\5" + text("123456789012345678901234567890"))
        self.send(NUMBER, text("exact") + b"\6" + text("-1.230E+400"))
        self.send(NUMBER, text("") + b"\4" + struct.pack(">d", 0.1))
        self.send(NUMBER_MAP, text("sizes") + integer(2) + text("small") + b"\1" + integer(-7)
                  + text("large") + long(1 << 40))
        self.send(STRING_MAP, text("names") + integer(1) + text("key") + text("värde"))
        row = lambda name, n: integer(3) + b"\1" + text(name) + b"\3" + struct.pack(">q", n) + b"\0"
        self.send(GRID, text("leaks") + integer(3) + text("path") + text("count") + text("age")
                  + integer(2) + row("a.b", 5) + row("long.name", 12345))
        hist = integer(2) + b"\1" + text("read") + b"\1" + text("HistogramData[1, 2, 4][10, 0, 3]")
        self.send(GRID, text("") + integer(0) + integer(1) + hist)

    def event(self, name):
        if name == "all":
            self.everything()
        elif name == "fail":
            self.send(ERROR, text("java.io.IOException") + text("no room")
                      + text("java.io.IOException: no room\n\tat a.B.c(B.java:7)\n"))
        elif name == "watch":
            self.watched = True
            self.message("LEAK a.b 5\ntwo lines", 1)
            self.message("LEAK c.d 6", 1)
            if "PEER_QUITS" in os.environ:
                raise EOFError
        elif name == "part":
            self.sock.sendall(b"\x03\x04\0")
        elif name == "die":
            self.send(EXIT, integer(3))
        else:
            self.message(f"answer to {name}")

    def authenticate(self):
        if token is None:
            return True
        good = self.raw(4) == b"BTA1" and self.raw(struct.unpack(">i", self.raw(4))[0]) == token
        self.sock.sendall(b"BTAK" if good else b"BTAF")
        return good

    def choose(self):
        first = self.raw(4)
        log("hello " + first.hex())
        if protocol == 2 and first == b"BTR2":
            self.sock.sendall(b"BTR2")
        elif protocol == 1 and first == b"\xAC\xED\0\5":
            self.sock.sendall(first)
        else:
            self.raw(1)  # as the real agent: open and silent

    def serve(self):
        if not self.authenticate():
            return
        self.choose()
        while True:
            kind = self.take(2)[1] if protocol == 2 else self.take(1)[0]
            if kind == LIST_PROBES:
                self.take(4)
                log("list")
                self.listed()
                continue
            if kind == SET_PARAMS:  # one long, as `--compress` sends it
                self.take(4)
                log(f"set {self.string()}={struct.unpack('>q', self.take(9)[1:])[0]}")
                continue
            words = self.string()
            log(f"{kind} {words}".rstrip())
            if kind == RECONNECT:
                self.status(8, words in (PROBE, OTHER))
            elif kind == EVENT:
                self.event(words)
            elif kind == DISCONNECT:
                if self.questions > 1:
                    self.probes()
                self.words(DISCONNECT, PROBE)
                return


def log(line):
    with open(os.environ["PEER_LOG"], "a", encoding="utf-8") as to:
        to.write(line + "\n")


def run(sock):
    try:
        Peer(sock).serve()
    except (EOFError, OSError):
        pass  # as clients do
    finally:
        sock.close()


def accept(listener):
    while True:
        threading.Thread(target=run, args=(listener.accept()[0],), daemon=True).start()


if __name__ == "__main__":
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, args=(server,), daemon=True).start()
    print(server.getsockname()[1], flush=True)
    sys.stdin.read()
