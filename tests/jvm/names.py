"""Names: what a compiler named is called as people wrote it (issue 23, points 3 and 9)."""

import glob
import os
import re
import zipfile

from harness import AGENT, CLIENT, Case, Scenario, class_path
from snapshot import Snapshot, same

OWN = "com.app.Written."
RECORD, ANONYMOUS, LOCAL, TWICE = 38, 47, 56, 63  # lines of Written.java

READABLE = {
    f"{OWN}record (lambda, line {RECORD})": 6,
    f"{OWN}anonymous (take, line {ANONYMOUS})": 6,
    f"{OWN}local (take, line {LOCAL})": 6,
}
RAW = ("lambda$record$", "Written$1.take", "Written$1Local.take", "lambda$twice$")


def site_passed(snapshot, name):
    """Lives that reached the steps of that readable name."""
    return sum(n["passed"] for n in snapshot.nodes.values()
               if snapshot.sites[n["site"]]["name"] == name)


def written(run):
    for name, count in READABLE.items():
        same(name, site_passed(run.json, name), count)
    same("two lambdas of a line", site_passed(run.json, f"{OWN}twice (lambda, line {TWICE})"), 12)
    for raw in RAW:
        assert any(raw in name for name in run.json.names()), f"no raw name {raw}"
    for site in run.json.sites.values():
        if site["class"].startswith("com.app."):
            assert site.get("line", 0) > 0, f"no line: {site}"
    text, _ = run.client("tree", run.json_path)
    for want in (f"Written.record (lambda, line {RECORD}) [", f"Written.local (take, line {LOCAL}) [",
                 f"Written.anonymous (take, line {ANONYMOUS}) ["):
        assert want in text, f"no {want!r} in {text}"
    for n in (0, 1):
        assert re.search(rf"Written\.twice \(lambda, line {TWICE}: Written\.lambda\$twice\$\d\) \[", text), text
    assert "$1" not in text.replace("lambda$twice$1", ""), text
    text, _ = run.client("tree", run.json_path, "--lines")
    assert re.search(r"Written\.end:\d\d \[", text), text
    assert "Written.end [" not in text, text


REFERENCE = f"{OWN}refer_release (method reference)"


def references(run):
    """Who released a buffer by ByteBuf::release: the method that made the reference."""
    same("released by the reference", site_passed(run.json, REFERENCE), 6)
    same("names with addresses", [n for n in run.json.names() if "0x" in n], [])


def without_times(text):
    """A tree without what differs between two runs: seconds, costs, Netty's own numbers."""
    lines = [line for line in text.splitlines()
             if not line.startswith(("Cost of bbflow", "Reconciled", "note:"))]
    return [re.sub(r" oldest \d+ s", "", line) for line in lines]


def report(bench, number, netty="4.1.140.Final"):
    path = bench.path(f"out{number}.json")
    done = bench.java("com.app.Probes", "written", agent=f"include=com.app,refs=on,file={path}", netty=netty)
    same("exit", done.returncode, 0)
    return path


def two_runs(bench):
    texts = []
    for number in (1, 2):
        path = report(bench, number)
        texts.append(without_times(bench.run([CLIENT, "tree", path, "--all", "--lines"]).stdout))
        with open(path, encoding="utf-8") as file:
            snapshot = Snapshot(file.read())
        assert site_passed(snapshot, REFERENCE) == 6, sorted(snapshot.names())
    assert len(texts[0]) > 10, texts[0]
    same("the second run's tree", texts[1], texts[0])


def constants(data):
    """Each constant of a class file, as its bytes (JVMS 4.4)."""
    sizes = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
    at, index = 10, 1
    while index < int.from_bytes(data[8:10], "big"):
        tag = data[at]
        end = at + 1 + (2 + int.from_bytes(data[at + 1:at + 3], "big") if tag == 1 else sizes[tag])
        yield data[at:end]
        at, index = end, index + (2 if tag in (5, 6) else 1)


def utf8(text):
    return b"\x01" + len(text).to_bytes(2, "big") + text


def relocate(data):
    """A class file whose constants name corp.shaded.io.netty."""
    out, at = [data[:10]], 10
    for constant in constants(data):
        at += len(constant)
        if constant[0] == 1:
            text = constant[3:]
            for old in (b"io/netty/", b"io.netty."):
                text = text.replace(old, b"corp" + old[2:3] + b"shaded" + old[2:3] + old)
            constant = utf8(text)
        out.append(constant)
    return b"".join(out) + data[at:]


def with_field(data):
    """A class file with a field more, `private long other` (JVMS 4.1, 4.5)."""
    n, pool = int.from_bytes(data[8:10], "big"), 10 + sum(len(c) for c in constants(data))
    fields = pool + 8 + 2 * int.from_bytes(data[pool + 6:pool + 8], "big")
    count = int.from_bytes(data[fields:fields + 2], "big")
    return (data[:8] + (n + 2).to_bytes(2, "big") + data[10:pool] + utf8(b"other") + utf8(b"J") + data[pool:fields]
            + (count + 1).to_bytes(2, "big") + b"".join(x.to_bytes(2, "big") for x in (2, n, n + 1, 0)) + data[fields + 2:])


def relocated(jar, changes=()):
    """The probes and their Netty in one jar, relocated as the shade plugin does it. changes: what else is done to
    the class of a name."""
    with zipfile.ZipFile(jar, "w") as to:
        for part in class_path("probes", "4.1.140.Final").split(":"):
            for name, data in classes_of(part):
                if name.startswith("io/netty/"):
                    name = "corp/shaded/" + name
                if name not in to.NameToInfo:
                    to.writestr(name, dict(changes).get(name, bytes)(relocate(data)))
    return jar


def classes_of(part):
    for path in glob.glob(part + ".jar"):  # "folder/*"
        with zipfile.ZipFile(path) as jar:
            for name in jar.namelist():
                if name.endswith(".class") and name.startswith("io/netty/"):
                    yield name, jar.read(name)
    for folder, _, names in os.walk(part):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".class"):
                with open(path, "rb") as file:
                    yield os.path.relpath(path, part), file.read()


def fingerprints(path):
    """losing step's readable name -> ids of its leaks"""
    with open(path, encoding="utf-8") as file:
        snapshot = Snapshot(file.read())
    found = {}
    for leak in snapshot.leaks:
        name = snapshot.sites[snapshot.nodes[leak["node"]]["site"]]["name"]
        found.setdefault(name.rsplit(".", 1)[-1], set()).add(leak["fingerprint"])
    return found


# Of the four ways to Written.end, each a bug of its own: in every run, JVM and Netty.
END = {"a1f5c5dab15bd761", "2d19f364cdd664d3", "47582fcb1cf1a3ad", "e5d0846b023d3842"}


def same_ids(bench):
    """One id over runs, JVMs and relocated Nettys; another leak, or another way there, has another."""
    first, second = fingerprints(report(bench, 1)), fingerprints(report(bench, 2))
    same("ids of the second run", second, first)
    same("ids of the four leaks of one root and one last step", first["end"], END)
    path = bench.path("relocated.json")
    done = bench.run([bench.jdk.java, f"-agentpath:{AGENT}=include=com.app,refs=on,file={path}", "-cp",
                      relocated(bench.path("relocated.jar")), "com.app.Probes", "written"])
    same("exit with a relocated Netty", done.returncode, 0)
    with open(path, encoding="utf-8") as file:
        assert '"class":"corp.shaded.io.netty.buffer.PooledByteBufAllocator"' in file.read()
    same("ids with a relocated Netty", fingerprints(path)["end"], END)
    path = bench.path("other.json")
    done = bench.java("com.app.Probes", "refs", agent=f"include=com.app,file={path}",
                      netty="4.1.140.Final")
    same("exit", done.returncode, 0)
    for ids in fingerprints(path).values():
        assert not END & ids, "another leak has the same id"


USER = re.compile(r"com\.app|Written|Probes|anonymous|directBuffer_return|refer_|twice")
FORMATS = ("leaks", "tree", "summary", "llm", "folded", "json", "speedscope", "trace", "mermaid", "dot", "prom", "openmetrics", "csv",
           "flow")
NETTY = "PooledByteBufAllocator.directBuffer"


def without_ids(text):
    """Ids of a redacted report are made of its tokens."""
    return re.sub(r"(\(id |fingerprint[\"=:]+|[{\"]id[\"=:]+|^\d+,)[0-9a-f]{16}", r"\1", text, flags=re.M)


def redacted(bench):
    """No name of the application in any format; numbers, Netty's and the JDK's names stay; it reads back."""
    path, key = report(bench, 1), bench.path("names.key")
    for form in FORMATS:
        plain = bench.run([CLIENT, "dump", path, "--format", form]).stdout
        assert USER.search(plain), f"{form}: nothing to redact"
        hidden = bench.path(f"redacted.{form}")
        done = bench.run([CLIENT, "dump", path, "--format", form, "--redact", key, "-o", hidden])
        same(f"{form}: exit", (done.returncode, done.stderr), (0, ""))
        with open(hidden, encoding="utf-8") as file:
            text = file.read()
        found = USER.search(text)
        assert found is None, f"{form}: {found.group()} is left"
        assert NETTY in text or NETTY not in plain, f"{form}: Netty's names are gone"
        # The numbers of the paths, in their order: the ids are of the tokens.
        numbers = [re.findall(r"(?:count|ref|leaked|bytes)[\"]?[=:][\"]?\d+", t) for t in (plain, text)]
        same(f"{form}: numbers", numbers[1], numbers[0])
        back = bench.run([CLIENT, "unredact", hidden, "--redact", key]).stdout
        same(f"{form}: read back", without_ids(back), without_ids(plain))
    same("mode of the key file", os.stat(key).st_mode & 0o777, 0o600)
    other = bench.path("other.key")
    done = bench.run([CLIENT, "unredact", bench.path("redacted.tree"), "--redact", other])
    assert done.returncode == 1 and "other.key" in done.stderr, done


def cases():
    yield Case("names/written", "com.app.Probes", "written", check=written, jdk=(11, 17, 21, 25), short=(17, 25),
               quick=True)
    yield Case("names/references", "com.app.Probes", "written", check=references,
               agent="include=com.app,refs=on", jdk=(11, 17, 21, 25), short=(17, 25))
    yield Scenario("names/two runs", two_runs, jdk=(17, 25))
    yield Scenario("names/redacted", redacted, jdk=(17, 25))
    yield Scenario("names/same ids", same_ids, jdk=(17, 25), short=(17, 25))
