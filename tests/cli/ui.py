#!/usr/bin/env python3
"""tests/cli/ui.py BBFLOW FAKE_AGENT [NAME…]: `bbflow ui` asked by HTTP: token, host, methods, sizes, slow and half requests, many
connections, data that changes or does not, a JVM that ends or does not answer, a port that is taken, signals. What a browser makes of
the page: tests/long/html. Last line "N passed, N failed"."""

import ctypes.util
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

BBFLOW, FAKE = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = open(os.path.join(HERE, "../golden/render/growth.json"), encoding="utf-8").read()
WORK = tempfile.mkdtemp(prefix="bbf-ui-", dir="/tmp")
FILE, LOG = os.path.join(WORK, "now.json"), os.path.join(WORK, "log")
SOCKET = f"--socket={WORK}"
ENV = {**os.environ, "XDG_RUNTIME_DIR": WORK, "LC_ALL": "C.UTF-8"}
ENV.pop("BBFLOW_TOKEN_FILE", None)
WAIT = 60
SLOW_MS, ALL = 10.0, 32  # client/ui_server.h
started = []


def write(text, path=FILE):
    """At once, so that a reader sees the old one or the new one."""
    with open(path + ".new", "w", encoding="utf-8") as out:
        out.write(text)
    os.rename(path + ".new", path)


def document(lost=7, at="2026-11-21T20:04:37.123Z"):
    made = json.loads(SOURCE)
    made["captured_at"] = at
    made["notes"] = [f"lost {lost}"]
    return json.dumps(made)


def until(what, condition):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.05)
    raise AssertionError(f"not within {WAIT} s: {what}")


class Ui:
    def __init__(self, *words, code=None, env=None):
        self.process = subprocess.Popen([BBFLOW, "ui", *words], env={**ENV, **(env or {})}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(self.process)
        if code is not None:
            self.out, self.err = self.process.communicate(timeout=WAIT)
            assert self.process.returncode == code and self.out == "", (self.process.returncode, self.out, self.err)
            return
        line = self.process.stdout.readline()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]{43})\n", line)
        assert match, (line, self.process.stderr.read() if self.process.poll() is not None else "")
        self.port, self.token = int(match[1]), match[2]

    def ask(self, path, token=True, method="GET", headers=None, body=None):
        """(status, headers, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        query = f"?token={self.token if token is True else token}" if token is not None else ""
        connection.request(method, path + query, headers=headers or {}, body=body)
        answer = connection.getresponse()
        result = answer.status, dict(answer.getheaders()), answer.read()
        connection.close()
        return result

    def raw(self, data):
        """A connection on which `data` was sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT)
        connection.sendall(data)
        return connection

    def state(self):
        status, headers, body = self.ask("/state")
        assert status == 200 and headers["Content-Type"] == "application/json"
        return json.loads(body)

    def until_state(self, what, condition):
        return until(what, lambda: (lambda s: s if condition(s) else None)(self.state()))

    def data(self):
        status, headers, body = self.ask("/data")
        assert status == 200 and len(body) == int(headers["Content-Length"])
        report, snapshot = body.split(b"\x1e")
        return int(headers["Bbflow-Sequence"]), json.loads(report), json.loads(snapshot)

    def end(self, number=signal.SIGINT):
        began = time.monotonic()
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT)
        assert self.process.returncode == 0 and out == "", (self.process.returncode, out, err)
        assert time.monotonic() - began < 30
        return err


def answer_of(connection):
    """All that comes until the other end closes."""
    got = b""
    try:
        while piece := connection.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    return got


def agent(main, file=FILE):
    """Found with --socket only, because others may run on this machine."""
    process = subprocess.Popen(["java", main], executable=FAKE, stdout=subprocess.PIPE,
                               env={**ENV, "FAKE_JSON": file, "FAKE_LOG": LOG, "FAKE_SOCKETS": WORK})
    started.append(process)
    assert process.stdout.readline() == b"ready\n"
    return process


def gone(process):
    process.kill()
    process.wait()


# ---- who may ask -----------------------------------------------------------------------------------

def test_token():
    ui = Ui(FILE)
    page = ui.ask("/")
    assert page[0] == 200 and page[1]["Content-Type"] == "text/html; charset=utf-8"
    assert b"connect-src 'self'" in page[2] and ui.token.encode() not in page[2] and b"Keeper" not in page[2]
    for path in ("/", "/state", "/data", "/nosuch"):
        for token in (None, "", "x", ui.token[:-1], ui.token + "x", ui.token.swapcase(), "%00" + ui.token, "%" + ui.token):
            status, headers, body = ui.ask(path, token)
            assert status == 403, (path, token, status)
            assert b"Open the address" in body and b"token=" not in body, body
            assert not {h for h in headers if h.lower().startswith("access-control") or h == "Location"}
        assert ui.ask(path + f"?key={ui.token}", None)[0] == 403
    assert ui.ask("/nosuch")[0] == 404 and ui.ask("//")[0] == 404 and ui.ask("/data/")[0] == 404
    other = Ui(FILE)
    assert ui.token != other.token and other.ask("/", ui.token)[0] == 403
    other.end()
    ui.end()


def test_headers():
    ui = Ui(FILE)
    for path in ("/", "/state", "/data", "/nosuch"):
        headers = ui.ask(path)[1]
        for name, value in (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                            ("Content-Security-Policy", "frame-ancestors 'none'"), ("Cross-Origin-Resource-Policy", "same-origin"),
                            ("Connection", "close")):
            assert headers[name] == value, (path, name, headers)
    ui.end()


def test_host():
    ui = Ui(FILE)
    for host in (f"127.0.0.1:{ui.port}", "127.0.0.1", "localhost", "localhost:9", f"[::1]:{ui.port}"):
        assert ui.ask("/state", headers={"Host": host})[0] == 200, host
    for host in ("evil.example", f"evil.example:{ui.port}", "localhost.evil.example", "127.0.0.1.evil.example", "", "[evil]", "a\tb"):
        assert ui.ask("/state", headers={"Host": host})[0] == 400, host
    target = f"/state?token={ui.token}".encode()
    assert b"sequence" not in answer_of(ui.raw(b"GET " + target + b" HTTP/1.1\r\n\r\n"))
    assert answer_of(ui.raw(b"GET " + target + b" HTTP/1.0\r\n\r\n")).startswith(b"HTTP/1.")
    assert b"sequence" not in answer_of(ui.raw(b"GET " + target + b" HTTP/1.0\r\n\r\n"))
    listening = [line.split()[1] for line in open("/proc/net/tcp", encoding="ascii") if line.split()[3] == "0A"]
    assert f"0100007F:{ui.port:04X}" in listening and f"00000000:{ui.port:04X}" not in listening
    ui.end()


def test_methods_and_sizes():
    ui = Ui(FILE)
    for method in ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "GETX"):
        status, headers, body = ui.ask("/", method=method, body=None)
        assert status == 405 and headers["Allow"] == "GET", (method, status)
        assert (body == b"") == (method == "HEAD")
    assert ui.ask("/", method="POST", body=b"x" * 100)[0] == 405
    target = f"/state?token={ui.token}".encode()
    host = b"Host: localhost\r\n"
    for request in (b"GET " + target + b" HTTP/1.1\r\n" + host + b"Content-Length: 5\r\n\r\nhello",
                    b"GET " + target + b" HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                    b"GET " + target + b"&x=" + b"y" * 20000 + b" HTTP/1.1\r\n" + host + b"\r\n",
                    b"GET " + target + b" HTTP/1.1\r\n" + host + b"X: " + b"y" * 20000 + b"\r\n\r\n",
                    b"GET " + target + b" HTTP/1.1\r\n" + host + b"X: y\r\n" * 5000 + b"\r\n",
                    b"\0" * 3000 + b"\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + b"\r\n\r\n", b"\r\n" * 9000):
        connection = ui.raw(b"")
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was closed while this was sent
        assert b"sequence" not in answer_of(connection), request[:60]
    assert ui.state()["sequence"] == 1
    ui.end()


def test_slow_and_many():
    """Half requests, one byte now and then, more connections than are served: all end, and others are answered after that."""
    ui = Ui(FILE)
    began = time.monotonic()
    target = f"GET /state?token={ui.token} HTTP/1.1\r\nHost: localhost\r\n".encode()
    drops = ui.raw(target)
    idle = [ui.raw(piece) for piece in (b"", b"G", target, target + b"X: ", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n")] + \
        [ui.raw(b"") for _ in range(ALL)]
    ended = {}
    while (drops in ended) + sum(c in ended for c in idle) < len(idle) + 1:
        assert time.monotonic() - began < WAIT, "a connection stays"
        for connection in select.select([c for c in [drops, *idle] if c not in ended], [], [], 0.5)[0]:
            assert b"sequence" not in answer_of(connection)
            ended[connection] = time.monotonic() - began
        if drops not in ended:
            try:
                drops.sendall(b"X")
            except OSError:
                ended[drops] = time.monotonic() - began
    assert ended[drops] > SLOW_MS / 2, ended[drops]
    assert ui.state()["sequence"] == 1
    ui.end()


def test_slow_reader():
    """It gets the whole of what it asked for, though there is newer data by then."""
    made = json.loads(document())
    made["settings"] = {f"name{i}": "v" * 1000 for i in range(20000)}  # more than the sockets' buffers
    write(json.dumps(made))
    ui = Ui(FILE, "--interval=0.1")
    readers = [ui.raw(f"GET /data?token={ui.token} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()) for _ in range(3)]
    heads = [r.recv(1000) for r in readers]
    readers[2].close()  # and one that goes
    for i in range(2):
        write(document(i))
        ui.until_state("new data", lambda s, i=i: s["sequence"] == i + 2)
    for reader, head in zip(readers[:2], heads):
        got = head + answer_of(reader)
        assert b"Bbflow-Sequence: 1\r\n" in got
        body = got[got.index(b"\r\n\r\n") + 4:]
        assert len(body) == int(re.search(rb"Content-Length: (\d+)", got)[1]) > 20_000_000
        assert len(json.loads(body.split(b"\x1e")[1])["settings"]) == 20000
    assert ui.data()[0] == 3
    ui.end()


# ---- what is answered ------------------------------------------------------------------------------

def test_data():
    write(document())
    ui = Ui(FILE, "--interval=0.1", "--lost", "--older", "10m")
    sequence, report, snapshot = ui.data()
    assert sequence == 1 and report["choice"]["lost"] and report["choice"]["older"] == 600
    assert snapshot["notes"] == ["lost 7"]
    first = ui.state()
    assert set(first) == {"sequence", "state", "read", "interval", "reading", "message"}
    assert (first["sequence"], first["state"], first["interval"], first["message"]) == (1, "current", 100, "")
    write(document(at="2026-11-21T20:04:37.456Z"))  # only the time
    later = ui.until_state("it is read again", lambda s: s["read"] > first["read"] + 300)
    assert later["sequence"] == 1
    write(document(8))
    ui.until_state("new data", lambda s: s["sequence"] == 2)
    assert ui.data()[2]["notes"] == ["lost 8"]
    for bad in ("", "{", "{}", "x\x1b[31m\n\"y", document()[:500]):
        write(bad)
        trouble = ui.until_state("trouble", lambda s: s["state"] == "trouble" and not s["reading"])
        assert trouble["sequence"] == 2 and "now.json" in trouble["message"] and "\x1b" not in trouble["message"], trouble
    os.remove(FILE)
    ui.until_state("no file", lambda s: "cannot read" in s["message"])
    write(document(8))
    assert ui.until_state("it is well", lambda s: s["state"] == "current")["sequence"] == 2
    ui.end()


def test_same_as_the_page():
    """The report and the snapshot are those of `bbflow tree -o FILE.html`."""
    write(document())
    page = os.path.join(WORK, "page.html")
    subprocess.run([BBFLOW, "tree", FILE, "-o", page, "--depth=2"], env=ENV, check=True)
    text = open(page, encoding="utf-8").read()
    want = [json.loads(part) for part in re.findall(r'<script type="application/json" id="\w+">\n(.*?)</script>', text, re.S)]
    ui = Ui(FILE, "--depth=2")
    assert list(ui.data()[1:]) == want and len(want) == 2
    ui.end()


def test_jvm():
    write(document())
    one = agent("com.app.One")
    ui = Ui(SOCKET, "--interval=0.3")  # the only one
    two = agent("com.app.Two")
    reads = lambda: open(LOG, encoding="utf-8").read().count("json")
    for _ in range(10):
        time.sleep(0.1)
        assert ui.ask("/state", "x")[0] == 403 and ui.ask("/")[0] == 200
    assert reads() == 1, "read though no page asks"
    for _ in range(30):
        ui.state()
        ui.state()
        time.sleep(0.1)
    assert 3 <= reads() <= 12, reads()
    assert "gc" not in open(LOG, encoding="utf-8").read()
    gc = Ui(SOCKET, str(two.pid), "--gc")
    assert "json gc" in open(LOG, encoding="utf-8").read()
    gc.end()
    Ui(SOCKET, code=3)  # which of both?
    gone(one)
    assert ui.until_state("its end", lambda s: s["state"] == "ended")["sequence"] == 1
    before = reads()
    time.sleep(1)
    assert ui.state()["state"] == "ended" and reads() == before and ui.data()[2]["notes"] == ["lost 7"]
    gone(two)
    assert "com.app.Two" in Ui(SOCKET, "com.app.Two", code=3).err
    ui.end()


def test_jvm_that_does_not_answer():
    fifo = os.path.join(WORK, "fifo")
    os.mkfifo(fifo)
    process = agent("com.app.Main", fifo)

    def asked():
        try:
            return open(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK), "w", encoding="utf-8")
        except OSError:
            return None

    def is_read():
        writer = asked()
        if writer:
            writer.close()
        return writer is not None

    silent = subprocess.Popen([BBFLOW, "ui", SOCKET, str(process.pid)], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    started.append(silent)
    writer = until("it is asked", asked)
    silent.send_signal(signal.SIGINT)  # before there is an address
    assert silent.wait(WAIT) == 0 and silent.stdout.read() == b""
    writer.close()
    until("that question is over", lambda: not is_read())  # or the next answer would go there
    second = subprocess.Popen([BBFLOW, "ui", SOCKET, str(process.pid), "--interval=0.1"], env=ENV, stdout=subprocess.PIPE, text=True)
    started.append(second)
    with until("it is asked again", asked) as writer:
        writer.write(document())
    ui = Ui.__new__(Ui)
    ui.process = second
    ui.port, ui.token = re.search(r":(\d+)/\?token=(.*)", second.stdout.readline()).groups()
    ui.port = int(ui.port)
    writer = until("and again", lambda: ui.state() and asked())
    assert ui.state()["reading"] and ui.data()[0] == 1
    ui.process.stderr = None
    ui.end(signal.SIGTERM)
    writer.close()
    gone(process)


# ---- the command -----------------------------------------------------------------------------------

def test_signals():
    own = os.path.join(WORK, "signals.json")
    write(document(), own)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        ui = Ui(own, "--interval=0.1")
        half = ui.raw(b"GET /state")
        ui.state()
        err = ui.end(number)
        assert err == "The page renews itself every 0.1 s while it is looked at. Ctrl-C ends.\n", err
        half.close()
    children = subprocess.run(["pgrep", "-f", own], capture_output=True, check=False).stdout
    assert children == b"", children


def test_port():
    ui = Ui(FILE)
    err = Ui(FILE, f"--port={ui.port}", code=1).err
    assert err == f"bbflow: port {ui.port} of 127.0.0.1 is in use; take another one by --port, or leave it out for any free one\n", err
    ui.end()
    again = Ui(FILE, f"--port={ui.port}")  # at once, though connections have just ended
    assert again.port == ui.port
    again.ask("/")
    again.end()
    for bad in ("x", "-1", "65536", "80x", " 80", "99999999999999999999"):
        assert "--port takes a port" in Ui(FILE, f"--port={bad}", code=2).err, bad


def test_refusals():
    os.makedirs(os.path.join(WORK, "empty"), exist_ok=True)
    open(os.path.join(WORK, "empty", "libmicrohttpd.so.12"), "w", encoding="ascii").close()
    err = Ui(FILE, code=1, env={"LD_LIBRARY_PATH": os.path.join(WORK, "empty")}).err
    assert err.startswith("bbflow: libmicrohttpd.so.12 was not found; install it: apt-get install libmicrohttpd12"), err
    assert "bbflow tree PID -o leaks.html" in err
    assert "cannot read" in Ui(os.path.join(WORK, "not.json"), code=3).err
    assert "--gc asks a running JVM" in Ui(FILE, "--gc", code=2).err
    assert "no path has a step" in Ui(FILE, "--only=no.such.name", code=1).err
    assert "does not take --output" in Ui(FILE, "-o", "x.html", code=2).err
    assert "does not take --port" in subprocess.run([BBFLOW, "top", FILE, "--port=1"], env=ENV, capture_output=True, text=True, check=False).stderr


def test_open():
    folder = os.path.join(WORK, "bin")
    os.makedirs(folder, exist_ok=True)
    program, opened = os.path.join(folder, "xdg-open"), os.path.join(WORK, "opened")
    with open(program, "w", encoding="ascii") as out:
        out.write(f"#!/bin/sh\necho \"$@\" >{opened}.new\nmv {opened}.new {opened}\n")
    os.chmod(program, 0o755)
    ui = Ui(FILE, "--open", env={"PATH": folder + ":" + ENV["PATH"]})
    until("it is opened", lambda: os.path.exists(opened))
    url = open(opened, encoding="ascii").read().strip()
    key = re.fullmatch(rf"http://127\.0\.0\.1:{ui.port}/\?key=([\w-]{{43}})", url)[1]
    assert key != ui.token and ui.ask("/data?key=" + key, None)[0] == 403 and ui.ask("/", key)[0] == 403
    status, headers, _ = ui.ask("/?key=" + key, None)
    assert status == 303 and headers["Location"] == "/?token=" + ui.token
    assert ui.ask("/?key=" + key, None)[0] == 403 and ui.ask("/?key=", None)[0] == 403
    ui.end()
    with open(program, "w", encoding="ascii") as out:
        out.write("#!/bin/sh\necho noise; echo noise >&2\nsleep 1\nexit 3\n")
    for path in (folder + ":" + ENV["PATH"], os.path.join(WORK, "empty")):
        ui = Ui(FILE, "--open", env={"PATH": path})
        ui.process.stderr.readline()
        line = ui.process.stderr.readline()
        assert line.startswith("bbflow: no browser could be opened by xdg-open (Debian: apt-get install xdg-utils)"), line
        ui.state()
        ui.end()


def main():
    if ctypes.util.find_library("microhttpd") is None:
        print("libmicrohttpd is not installed")
        sys.exit(77)
    passed = failed = 0
    try:
        for name, test in [(n[5:], t) for n, t in globals().items() if n.startswith("test_")]:
            if sys.argv[3:] and name not in sys.argv[3:]:
                continue
            write(document())
            try:
                test()
                print(f"ok {name}", flush=True)
                passed += 1
            except Exception:  # pylint: disable=broad-except
                print(f"FAILED {name}: {traceback.format_exc()}", flush=True)
                failed += 1
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
        shutil.rmtree(WORK, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
