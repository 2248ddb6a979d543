#!/usr/bin/env python3
"""tests/cli/push.py BBFLOW [NAME…]: `bbflow push` against an HTTP server that answers as a script says: refused, slow,
cut off, redirected, over TLS; what arrives is decoded and compared with the document. Last line "N passed, N failed"."""

import base64
import ctypes.util
import gzip
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from protobuf import fields, packed  # noqa: E402

BBFLOW = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = json.load(open(os.path.join(HERE, "../golden/render/balance.json"), encoding="utf-8"))
WORK = tempfile.mkdtemp(prefix="bbf-push-")
SECRET = "Bearer s3cr3t-9f27"
LEAKED = sum(leak["count"] for leak in SOURCE["leaks"] if leak["verdict"] == "leaked")
PROFILES = "/v1development/profiles"


# ---- the receiver ----------------------------------------------------------------------------------

class Receiver(http.server.ThreadingHTTPServer):
    """`script`: what to answer, one for each request, then 200: a status, (status, headers, body), or a function of the
    request's handler. `got`: (method, path, headers, body) of all requests."""

    daemon_threads = True

    def __init__(self, script=(), context=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.got, self.lock = list(script), [], threading.Condition()
        self.scheme = "https" if context else "http"
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path=""):
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}{path}"

    def wait(self, n, seconds=60):
        with self.lock:
            assert self.lock.wait_for(lambda: len(self.got) >= n, seconds), f"{len(self.got)} requests, not {n}"
        return self.got[n - 1]

    def handle_error(self, request, client_address):
        pass  # the client went away, as the script wants


class Handler(http.server.BaseHTTPRequestHandler):
    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.lock:
            self.server.got.append((self.command, self.path, dict(self.headers), body))
            answer = self.server.script.pop(0) if self.server.script else 200
            self.server.lock.notify_all()
        if callable(answer):
            answer(self)
            return
        status, headers, text = answer if isinstance(answer, tuple) else (answer, {}, b"")
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_PUT = do

    def log_message(self, *_):
        pass


def cut_off(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b"half")
    handler.close_connection = True


def hang_up(handler):
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    handler.connection.close()


def stay_silent(handler):
    time.sleep(20)
    handler.close_connection = True


# ---- what arrives ----------------------------------------------------------------------------------

class Otlp:
    def __init__(self, request):
        method, self.path, self.headers, body = request
        assert method == "POST" and self.headers["Content-Type"] == "application/x-protobuf", request
        assert self.headers["Content-Encoding"] == "gzip"
        resource_profiles = fields(fields(gzip.decompress(body))[1][0])
        self.resource = {}
        for pair in fields(resource_profiles[1][0])[1]:
            pair = fields(pair)
            name = pair[1][0].decode()
            assert name not in self.resource, f"{name} twice"
            value = fields(pair[2][0]) if pair[2][0] else {}
            self.resource[name] = value[1][0].decode() if 1 in value else value[3][0]
        profiles = [fields(p) for p in fields(resource_profiles[2][0])[2]]
        self.leaked = sum(sum(packed(fields(s)[4][0])) for s in profiles[0].get(2, []))
        self.time, self.duration = profiles[0][3][0], profiles[0].get(4, [0])[0]


class Push:
    """push.v1.PushRequest with one pprof."""

    def __init__(self, request):
        method, self.path, headers, body = request
        assert method == "POST" and headers["Content-Type"] == "application/proto", request
        series = fields(fields(body)[1][0])
        pairs = [fields(label) for label in series[1]]
        self.labels = {p[1][0].decode(): p[2][0].decode() for p in pairs}
        assert len(self.labels) == len(pairs), "a label twice"
        profile = fields(gzip.decompress(fields(series[2][0])[1][0]))
        strings = [s.decode() for s in profile[6]]
        types = [strings[fields(t)[1][0]] for t in profile[1]]
        samples = [packed(fields(s)[2][0]) for s in profile.get(2, [])]
        self.values = {t: sum(s[i] for s in samples) for i, t in enumerate(types)}
        self.duration = profile.get(10, [0])[0]
        self.comments = [strings[i] for i in packed(profile[13][0])] if 13 in profile else []


# ---- the command -----------------------------------------------------------------------------------

def document(times=1, second=0, name="shop.json", pid=4711, **more):
    """The golden snapshot with `times` as many losses, captured `second` seconds later."""
    doc = json.loads(json.dumps(SOURCE))
    for leak in doc["leaks"]:
        if leak["verdict"] == "leaked":
            leak["count"] *= times
            leak["bytes"] *= times
    for node in doc["nodes"]:
        for key in ("leaked", "leaked_bytes"):
            node[key] = node.get(key, 0) * times
    below = {node["id"]: 0 for node in doc["nodes"]}
    for node in reversed(doc["nodes"]):
        node["passed"] = below[node["id"]] + sum(node.get(k, 0) for k in ("released", "live", "leaked", "held", "harmless", "unknown"))
        if node["parent"] >= 0:
            below[node["parent"]] += node["passed"]
    for key in ("leaked", "leaked_bytes"):
        doc["totals"][key] *= times
    doc["totals"]["lives"] += doc["totals"]["leaked"] - doc["totals"]["leaked"] // times
    doc["jvm"]["pid"] = pid
    doc["captured_at"] = f"2026-11-21T20:04:{second:02d}.000Z"
    doc.update(more)
    path = os.path.join(WORK, name)
    with open(path + ".new", "w", encoding="utf-8") as out:
        json.dump(doc, out)
    os.replace(path + ".new", path)
    return path


ENV = {**os.environ, "no_proxy": "*", "LC_ALL": "C.UTF-8"}


def push(*words, code=0, out=None, err=""):
    done = subprocess.run([BBFLOW, "push", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100, env=ENV)
    both = f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.returncode == code, both
    assert err in done.stderr and (err or not done.stderr), both
    assert out is None or out in done.stdout, both
    assert "s3cr3t" not in both, "a secret is printed: " + both
    return done


def test_otlp():
    server = Receiver()
    push(document(), "--to", server.url(), "--label", "zone=eu/1", "--label", "service.name=shop", out=f"to {server.url(PROFILES)}")
    otlp = Otlp(server.got[0])
    assert otlp.path == PROFILES and otlp.leaked == LEAKED and otlp.duration == 0, vars(otlp)
    assert otlp.resource == {"service.name": "shop", "zone": "eu/1", "process.pid": 4711, "service.instance.id": "shop.json"}, otlp.resource
    push(document(), "--to", server.url("/own/path?x=1"))
    assert server.got[1][1] == "/own/path?x=1"


def test_pprof():
    server = Receiver()
    push(document(), "--to", server.url("/"), "--as", "pprof", "--label", "zone=eu 1")
    got = Push(server.got[0])
    assert got.path == "/push.v1.PusherService/Push" and got.values["leaked_buffers"] == LEAKED, vars(got)
    assert got.labels == {"__name__": "bbflow", "service_name": SOURCE["jvm"]["main"], "instance": "shop.json", "zone": "eu 1"}, got.labels


def test_prom():
    server = Receiver()
    push(document(), "--to", server.url("/base/"), "--as", "prom", "--label", "zone=a/b", "--label", "pod=p-1", "--label", "dots=..")
    method, path, headers, body = server.got[0]
    group = path.split("/")[1:]
    assert method == "PUT" and group[:4] == ["base", "metrics", "job", SOURCE["jvm"]["main"]], path
    labels = dict(zip(group[4::2], group[5::2]))
    assert labels["pod"] == "p-1" and labels["instance"] == "shop.json", path
    assert base64.urlsafe_b64decode(labels["zone@base64"] + "==") == b"a/b" and base64.urlsafe_b64decode(labels["dots@base64"] + "==") == b".."
    assert headers["Content-Type"].startswith("text/plain") and f"\nbbflow_leaked_buffers_total {LEAKED}\n".encode() in body, body
    push(document(), "--to", server.url("/metrics/job/own"), "--label", "pod=p-2")
    assert server.got[1][1] == "/metrics/job/own/pod/p-2", server.got[1][1]


def test_headers():
    server = Receiver([(401, {}, f"no such token: {SECRET}".encode())])
    path = os.path.join(WORK, "headers")
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"# secrets\n\nAuthorization: {SECRET}\r\nX-Scope-OrgID: tenant-1")
    push(document(), "--to", server.url(), "--header", "@" + path, "--header", "X-Own: 1", code=1, err="HTTP status 401")
    headers = server.got[0][2]
    assert headers["Authorization"] == SECRET and headers["X-Scope-OrgID"] == "tenant-1" and headers["X-Own"] == "1", headers
    with open(path, "a", encoding="utf-8") as out:
        out.write("\ns3cr3t without a name\n")
    push(document(), "--to", server.url(), "--header", "@" + path, code=1, err="line 5: no header")
    push(document(), "--to", server.url(), "--header", "@" + path + ".not", code=1, err="cannot read the headers in")
    with open(path, "w", encoding="utf-8") as out:
        out.write("X: " + "s3cr3t" * 2000)
    push(document(), "--to", server.url(), "--header", "@" + path, code=1, err="line 1: no header")
    assert len(server.got) == 1
    url = server.url().replace("//", "//user:s3cr3t@")
    assert f"to {server.url(PROFILES)}" in push(document(), "--to", url).stdout
    assert server.got[1][2]["Authorization"] == "Basic " + base64.b64encode(b"user:s3cr3t").decode()


def test_again():
    for first in (503, 502, (429, {"Retry-After": "1"}, b"slowly"), cut_off, hang_up):
        server = Receiver([first])
        start = time.monotonic()
        push(document(), "--to", server.url())
        assert len(server.got) == 2 and server.got[0][3] == server.got[1][3], (first, len(server.got))
        assert time.monotonic() - start > (0.99 if isinstance(first, tuple) else 0.49), first


def test_slow():
    server = Receiver([stay_silent])
    push(document(), "--to", server.url(), "--timeout", "0.5")
    assert len(server.got) == 2


def test_give_up():
    server = Receiver([503] * 9)
    push(document(), "--to", server.url(), code=1, err="after 5 attempts: HTTP status 503")
    assert len(server.got) == 5


def test_refused():
    other = Receiver()
    for status, words in ((400, "HTTP status 400: bad"), (404, "--as"), (413, "too small"), (415, "--as"), (500, "HTTP status 500")):
        server = Receiver([(status, {}, b"bad\nworse \x1b[31m")])
        done = push(document(), "--to", server.url(), code=1, err=words)
        assert len(server.got) == 1 and "worse" not in done.stderr, (status, done.stderr)
    server = Receiver([(307, {"Location": other.url()}, b"")])
    push(document(), "--to", server.url(), "--header", f"Authorization: {SECRET}", code=1, err="redirects are not followed")
    assert len(server.got) == 1 and not other.got


def test_partial_success():
    text = b"s3 full"
    inner = b"\x08\x03\x12" + bytes([len(text)]) + text
    server = Receiver([(200, {}, b"\x0a" + bytes([len(inner)]) + inner), (200, {}, b"\x0a\xff"), (200, {}, b"\x0a\x00")])
    push(document(), "--to", server.url(), code=1, err="rejected 3 profiles: s3 full")
    push(document(), "--to", server.url())  # an answer that is no message is an answer
    push(document(), "--to", server.url())
    assert len(server.got) == 3


def test_since():
    server, state = Receiver(), os.path.join(WORK, "state.json")
    words = ("--to", server.url(), "--as", "pprof", "--since", state)
    push(document(3, 10), *words)
    assert Push(server.got[-1]).values["leaked_buffers"] == 3 * LEAKED
    push(document(7, 40), *words)
    got = Push(server.got[-1])
    assert got.values["leaked_buffers"] == 4 * LEAKED and got.duration == 30 * 10**9, vars(got)
    assert any("losses of the 30 s" in comment for comment in got.comments), got.comments
    push(document(7, 50), *words)
    assert Push(server.got[-1]).values["leaked_buffers"] == 0
    push(document(2, 55), *words, err="the counts began again")  # a reset
    assert Push(server.got[-1]).values["leaked_buffers"] == 2 * LEAKED
    push(document(9, 58, pid=4712), *words, err="the counts began again")  # another JVM
    assert Push(server.got[-1]).values["leaked_buffers"] == 9 * LEAKED
    server.script = [400]
    push(document(10, 59, pid=4712), *words, code=1, err="400")  # did not arrive: the next push has it
    push(document(10, 59, pid=4712), *words)
    assert Push(server.got[-1]).values["leaked_buffers"] == LEAKED
    push(document(10, 59, pid=4712), "--to", server.url(), "--since", state)
    otlp = Otlp(server.got[-1])
    assert otlp.leaked == 0
    with open(state, "w", encoding="utf-8") as out:
        out.write("{")
    push(document(), *words, code=1, err="is not what a push wrote")


def test_every():
    server = Receiver([200, 503, 503, 503, 503, 503, 503])
    path = document(3, 10)
    process = subprocess.Popen([BBFLOW, "push", path, "--to", server.url(), "--every", "1s"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
    first = Otlp(server.wait(1))
    assert first.leaked == 0, first.leaked  # the baseline
    document(5, 20)
    server.wait(2)
    document(6, 30)
    while True:  # until it arrives
        with server.lock:
            if not server.script:
                break
            server.lock.wait(60)
    last = Otlp(server.wait(8))
    assert last.leaked == 3 * LEAKED and last.duration == 20 * 10**9, vars(last)
    n = len(server.got)
    time.sleep(2.5)  # the file is the same: nothing is sent
    assert len(server.got) == n, "pushed twice"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0 and out.count("pushed") == 2 and "503" in err, (process.returncode, out, err)
    os.remove(path)
    push(path, "--to", server.url(), "--every", "1s", code=3, err="cannot read")
    server.script = [403]
    push(document(), "--to", server.url(), "--every", "1s", code=1, err="HTTP status 403")  # the first: a wrong flag


def test_ends_while_it_waits():
    server = Receiver([stay_silent])
    process = subprocess.Popen([BBFLOW, "push", document(), "--to", server.url(), "--every", "60s"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
    server.wait(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=15)
    assert process.returncode == 1 and "ended by a signal" in err, (process.returncode, out, err)


def test_tls():
    if shutil.which("openssl") is None:
        return "no openssl to make a certificate"
    key, cert = os.path.join(WORK, "key.pem"), os.path.join(WORK, "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    server = Receiver(context=context)
    push(document(), "--to", server.url(), code=1, err="--cacert")
    assert not server.got
    push(document(), "--to", server.url(), "--cacert", cert)
    assert Otlp(server.got[0]).leaked == LEAKED
    push(document(), "--to", server.url(), "--cacert", key + ".not", code=1, err="--cacert")
    return None


def test_usage():
    file, to = document(), ("--to", "http://127.0.0.1:1")
    for words, err in (((), "needs a receiver"), (("--to", "ftp://x"), "begins with http://"), (("--to", "http://"), "has a host"),
                       (("--to", "http://a b"), "a blank"), ((*to, "--as", "jfr"), "--as takes otlp"),
                       ((*to, "--every", "0s"), "--every takes a time"), ((*to, "--every", "9999h"), "--every takes a time"),
                       ((*to, "--header", "s3cr3t"), "not shown"), ((*to, "--header", "A: s3cr3t\r\nB: c"), "not shown"),
                       ((*to, "--header", "A b: s3cr3t"), "not shown"), ((*to, "--header", "@"), "needs a file"),
                       ((*to, "--label", "a"), "name=value"), ((*to, "--label", "a=\n"), "control character"),
                       ((*to, "--label", "a=1", "--label", "a=2"), "given twice"),
                       ((*to, "--as", "prom", "--label", "a.b=1"), "no label of the name 'a.b'"),
                       ((*to, "--as", "pprof", "--label", "__name__=1"), "no label of the name"),
                       ((*to, "--as", "prom", "--label", "place=1"), "have a label 'place' themselves"),
                       ((*to, "--as", "prom", "--since", "x"), "--since is for profiles"),
                       (("--to", "http://127.0.0.1:1?x=1"), "needs its whole path")):
        push(file, *words, code=2, err=err)
    push(file, *[w for i in range(33) for w in ("--label", f"a{i}=1")], *to, code=2, err="more than 32 --label")
    push(os.path.join(WORK, "not.json"), *to, code=3, err="cannot read")


def main():
    if ctypes.util.find_library("curl") is None:
        print("libcurl is not installed")
        sys.exit(77)
    names = sys.argv[2:]
    passed = failed = 0
    for name, test in [(n[5:], t) for n, t in globals().items() if n.startswith("test_")]:
        if names and name not in names:
            continue
        try:
            note = test()
            print(f"ok {name}" + (f": left out, {note}" if note else ""))
            passed += 1
        except Exception as problem:  # pylint: disable=broad-except
            print(f"FAILED {name}: {type(problem).__name__}: {problem}")
            failed += 1
    shutil.rmtree(WORK, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
