#!/usr/bin/python3
"""tests/setup/release.py AGENT: the parts of a release that can be checked without building one: what
scripts/check-libc finds in a library that is not for old systems, jars and packages that are made twice, the SBOM, and
what scripts/release says when something is missing. tests/long/release has the rest."""
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = tempfile.mkdtemp(prefix="bbf-release-")
PACKAGING = os.path.join(ROOT, "packaging")
bad = []


def run(*command, env=None, code=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT,
                          env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", **(env or {})}, check=False)
    expect(done.returncode == code, f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(fact, text):
    if not fact:
        bad.append(text)


def says(text, *words):
    for word in words:
        expect(word in text, f"{word!r} is not in:\n{text}")


def file(*names, text=""):
    path = os.path.join(WORK, *names)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def content(path):
    with open(path, "rb") as data:
        return data.read()


def libraries(agent):
    """The usual build has what check-libc is there to find."""
    says(run(os.path.join(ROOT, "scripts/check-libc"), agent, code=1), "needs libz.so.1",
         "initial-exec thread-local words", "needs GLIBC_2.")
    source = file("one.c", text="double answer(void){return 42;}\nextern int missing_here(void);\n"
                                "int ask(void){return missing_here();}\n")
    fine, lacks = os.path.join(WORK, "fine.so"), os.path.join(WORK, "lacks.so")
    compiler = ("cc", "-shared", "-fPIC", "-nostdlib", "-Wl,--build-id=sha1", source, "-o")
    run(*compiler, lacks)
    run(*compiler, fine, "-Wl,--defsym=missing_here=0")
    run(os.path.join(ROOT, "scripts/check-libc"), fine, fine)
    says(run(os.path.join(ROOT, "scripts/check-libc"), lacks, lacks, code=1), "missing_here is not in")
    return fine


def jars():
    made = []
    for order, moment in ((1, 2001), (-1, 2011)):
        path = os.path.join(WORK, f"{moment}.jar")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as jar:
            for name in ("a/", "a/B.class", "META-INF/MANIFEST.MF", "a/A.class")[::order]:
                entry = zipfile.ZipInfo(name, (moment, 1, 1, 1, 1, 1))
                entry.external_attr = (0o100600 if order > 0 else 0o100664) << 16
                jar.writestr(entry, "" if name.endswith("/") else name * 50)
        expect(not made or made[0] != content(path), "the jars were equal before")
        run(os.path.join(PACKAGING, "jar"), path)
        made.append(content(path))
        with zipfile.ZipFile(path) as jar:
            expect(jar.namelist()[0] == "META-INF/MANIFEST.MF", "the manifest is not the first entry")
            expect(jar.read("a/B.class") == b"a/B.class" * 50, "a class has changed")
    expect(made[0] == made[1], "two jars of the same classes differ")


def packages(library):
    """Of a tree with the file modes of two users, in two folders."""
    made = []
    for name, umask in (("one", 0o022), ("two", 0o077)):
        os.umask(umask)
        stage, debug, out = (os.path.join(WORK, name, part) for part in ("stage", "debug", "out"))
        for part in ("README.md", "LICENSE", "NOTICES"):
            file(name, "stage/share/doc/bbflow", part, text="text\n\nmore\n")
        file(name, "stage/share/java/bbflow-api.jar", text="a jar")
        file(name, "stage/share/man/man1/bbflow.1", text=".TH\n")
        file(name, "stage/lib/pkgconfig/bbflow.pc", text="prefix=/x\nlibdir=/x/lib\n")
        os.makedirs(os.path.join(stage, "bin"))
        os.makedirs(out)
        shutil.copy(library, os.path.join(stage, "lib/libbbflow.so"))
        shutil.copy(library, os.path.join(stage, "bin/bbflow-dynamic"))
        notes = run("readelf", "-nW", library)
        identity = notes.split("Build ID: ")[1].split()[0]
        file(name, f"debug/lib/debug/.build-id/{identity[:2]}/{identity[2:]}.debug", text="symbols")
        run(os.path.join(PACKAGING, "deb"), stage, debug, "1.2.3", "x86_64", "A <a@b.example>", out)
        made.append({deb: content(os.path.join(out, deb)) for deb in os.listdir(out)})
    os.umask(0o022)
    expect(sorted(made[0]) == ["bbflow-dbgsym_1.2.3-1_amd64.deb", "bbflow_1.2.3-1_amd64.deb"],
           f"packages: {sorted(made[0])}")
    expect(made[0] == made[1], "two packages of the same files differ")


def messages():
    script = os.path.join(ROOT, "scripts/release")
    out = os.path.join(WORK, "release")
    tools = os.path.join(WORK, "tools")
    os.makedirs(tools)
    for tool in ("bash", "sed", "dirname", "uname", "git", "python3", "mktemp", "cat"):
        os.symlink(shutil.which(tool), os.path.join(tools, tool))
    says(run(script, out, env={"PATH": tools}, code=1), "llvm-objcopy: apt-get install llvm",
         "cmake: apt-get install cmake", "scripts/install release")
    says(run(script, "--sign", "gpg:nobody-has-this-key", out, code=1), "--sign")
    says(run(script, "--sign", "minisign:/nowhere", out, code=1), "--sign", "/nowhere")
    says(run(script, "--arch", "sparc", out, code=1), "sparc: x86_64 or aarch64")
    says(run(script, WORK, code=1), "is there already")
    says(run(script, code=2), "--sign KEY")
    expect(not os.path.exists(out), "a release that failed left a folder")


def main():
    agent = sys.argv[1]
    os.umask(0o022)
    try:
        jars()
        packages(libraries(agent))
        messages()
    finally:
        shutil.rmtree(WORK)
    print("\n".join(bad) or "the parts of a release are as they must be")
    return 1 if bad else 0


sys.exit(main())
