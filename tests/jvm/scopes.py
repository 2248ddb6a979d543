"""bbflow-junit.jar: the test that lost buffers fails, by name, and no other one (docs/junit.md)."""

import functools
import os
import re
import subprocess

import harness
from harness import ROOT, Case
from snapshot import same

NETTY = "4.1.140.Final"
NETTY_42 = "4.2.20.Final"
LAUNCHER = "org.junit.platform.console.ConsoleLauncher"
PARALLEL = ["--config=junit.jupiter.execution.parallel.enabled=true",
            "--config=junit.jupiter.execution.parallel.config.strategy=fixed",
            "--config=junit.jupiter.execution.parallel.config.fixed.parallelism=8"]
CONSOLE = ["execute", "--disable-banner", "--disable-ansi-colors", "--details=tree",
           "--details-theme=ascii"]


@functools.lru_cache(None)
def libraries():
    def paths(*command):
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    build = os.path.join(ROOT, "build/release")
    subprocess.run([os.path.join(ROOT, "scripts/make-junit"), build], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "JAVAC": harness.javac()})
    four = [jar for jar in paths(os.path.join(ROOT, "scripts/make-junit"), "--needs")
            if re.search("/(junit-4|testng)", jar)]
    others = paths(os.path.join(ROOT, "scripts/fetch-maven"),
                   "org.junit.platform:junit-platform-console-standalone:1.12.1", "org.hamcrest:hamcrest-core:1.3",
                   "com.beust:jcommander:1.78", "org.webjars:jquery:3.5.1", "org.slf4j:slf4j-api:1.7.36")
    return [os.path.join(build, "bbflow-junit.jar"), *others, *four]


def compiled(sources):
    return ("junit", NETTY, sources, libraries)


def results(run):
    """test or class -> the text of its failure, None where it passed; from the launcher's tree"""
    found, way, last = {}, [], None
    for line in run.stdout.split("\nFailures (")[0].split("\nTest run finished")[0].splitlines():
        row = re.match(r"((?:[|'] ?|   )*)[+'`]?-- (.*) \[(OK|X|A)\] ?(.*)$", line)
        if row:
            depth = (line.index("--") - 1) // 2
            way[depth:] = [row[2]]
            last = ".".join(way[1:]) or row[2]  # the engine's own name
            assert last not in found, last
            found[last] = None if row[3] == "OK" else row[4]
        elif last and found[last] is not None:
            found[last] += "\n" + line.lstrip("| ").rstrip()
    for engine in ("Platform Suite", "Jupiter", "Vintage"):
        same(engine, found.pop("JUnit " + engine), None)
    return found


LOST = r"com\.unit\.\S+\(\)( .*)? leaked [12] buffers?\n1 LEAK proven  .*\n.*Lose\..*<- last seen here\n(.*\n)*id [0-9a-f]{16}"


def judged(found, wanted):
    """LOSES in its name: it failed for that, and the error has its name; else it passed."""
    tests = {name: text for name, text in found.items() if name.count(".") and "." + name.split(".")[-1] not in (".Inner",)}
    same("tests", len(tests), wanted)
    for name, text in tests.items():
        test = name.split(".")[-1].split("(")[0]
        if "LOSESAndFails" in name or "LOSESAndHangs" in name:
            same(name, text.split("\n")[0], "of its own" if "Fails" in name else "LOSESAndHangs() timed out after 100 milliseconds")
        elif ("LOSES" in name and "Later" not in name) or "2 of 3" in name:
            assert text is not None and re.match(LOST, text), (name, text)
            assert f".{test}(" in text or "[2] LOSES leaked" in text or ".dynamic() LOSES leaked" in text or "2 of 3" in text, (name, text)
        elif "LEAVES" in name:
            assert text and "1 buffer open at the end, 0 may be" in text, (name, text)
        else:
            same(name, text, None)


def plain(run):
    found = results(run)
    text = found.pop("ClassTest")
    same("PlainTest", found.pop("PlainTest"), None)
    judged(found, 29)
    for suppressed in ("LOSESAndFails", "LOSESAndHangs"): # beside what failed of its own
        assert re.search(rf"Suppressed: io\.bbflow\.junit\.BufferLeakError: com\.unit\.PlainTest\.{suppressed}\(\) leaked 1 buffer",
                         run.stdout), run.stdout
    assert text.startswith("found after the test: com.unit.ClassTest.LOSESLater() leaked 1 buffer\n1 LEAK proven"), text
    assert ("\nclass com.unit.ClassTest leaked 2 buffers that no single test is known to have opened; opened while this "
            "test ran alone: com.unit.ClassTest.asksTheServer() (1)\n") in text, text
    same("errors", run.json.totals["internal_errors"], 0)


def parallel(run):
    """No wrong test is blamed: the task of a pool that all share may be anyone's, and an event of another scope's
    channel may be within anything, so for these the class fails."""
    found = results(run)
    text = found.pop("ParallelTest")
    judged(found, 8)
    assert text.startswith("class com.unit.ParallelTest leaked 2 buffers that no single test is known to have opened\n"), text
    same("errors", run.json.totals["internal_errors"], 0)


def four(run):
    blamed = re.findall(r"BufferLeakError: (?:found after the test: )?com\.unit\.FourTest(\S*) leaked 1 buffer", run.stdout)
    same("blamed", blamed, [".b_LOSES()", ".c_LOSESInAnotherThread()", ".d_LOSESLater()"])
    assert "class com.unit.FourTest leaked 1 buffer that no single test" in run.stdout, run.stdout


def testng(run):
    same("failed", sorted(re.findall(r"^FAILED: (.*)$", run.stdout, re.M)), ["LOSES", 'data("LOSES")'])
    blamed = re.findall(r"com\.unit\.TestngTest(\S* ?\S*) leaked 1 buffer", run.stdout + run.stderr)
    same("blamed", sorted(blamed), ["", ".LOSES()", ".LOSESLater()", ".data() [2]"])


def without(bench):
    """No agent: one line, and the tests run; with required they do not."""
    command = [bench.jdk.java, "-cp", ":".join([harness.class_path("junit", NETTY), *libraries()]), LAUNCHER, *CONSOLE,
               "-c", "com.unit.ClassTest", "-c", "com.unit.PlainTest$Inner"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=bench.env,
                          cwd=bench.folder, timeout=60, check=False)
    same("exit", done.returncode, 0)
    lines = [line for line in done.stderr.splitlines() if line.startswith("bbflow: ")]
    same("notes", [line[:37] for line in lines], ["bbflow: no agent in this JVM, so test"])
    done = subprocess.run([command[0], "-Dbbflow.required=true", *command[1:]], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=bench.env, cwd=bench.folder, timeout=60, check=False)
    same("exit", done.returncode, 1)
    assert "IllegalStateException: bbflow: no agent in this JVM" in done.stdout, done.stdout


def cases():
    options = {"classes": "junit", "libraries": libraries, "agent": "include=com.unit", "exit_code": 1}
    yield Case("scopes/plain", LAUNCHER, *CONSOLE, "-c", "com.unit.PlainTest", "-c", "com.unit.ClassTest",
               check=plain, short=(17,), **options)
    yield Case("scopes/parallel", LAUNCHER, *CONSOLE, *PARALLEL, "-c", "com.unit.ParallelTest", check=parallel, short=(25,), netty=NETTY_42, **options)
    yield Case("scopes/four", "org.junit.runner.JUnitCore", "com.unit.FourTest", check=four, short=(17,), **options)
    yield Case("scopes/testng", "org.testng.TestNG", "-d", "reports", "-verbose", "2", "-testclass", "com.unit.TestngTest",
               check=testng, short=(17,), **options)
    yield harness.Scenario("scopes/without", without, short=(17,), classes="junit")
