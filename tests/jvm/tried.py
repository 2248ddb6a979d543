"""What other programs do that no probe did before (issue 19, point 8): threads that are stopped, exits in
followed code, a SecurityManager, virtual threads that park, modules and a jlinked image, an archive of
classes beside another agent."""

import os

import coming
import harness
from harness import OUT, ROOT, Case, Special, javac, tool
from snapshot import Snapshot, same

NETTY = "4.1.140.Final"


def stopped(run):
    for name in ("survived", "others"):
        same(name, run.oracle[name], 0)
    t = run.json.totals
    same("internal_errors", t["internal_errors"], 0)
    same("lives", t["released"] + t["leaked"] + t["live"] + t["unknown"], t["lives"])
    assert t["released"] > 50_000, t


def one_life(**expected):
    def check(run):
        for name, value in dict(lives=1, leaked=0, unknown=0, internal_errors=0, **expected).items():
            same(name, run.json.totals[name], value)
    return check


def exact(run):
    for name in ("lives", "released", "leaked", "live"):
        if name in run.oracle:
            same(name, run.json.totals[name], run.oracle[name])
    for name in ("unknown", "raced_steps", "dropped_steps", "internal_errors"):
        same(name, run.json.totals[name], 0)
    same("last steps", run.json.last_steps(), {"com.app.Steps.leaky": run.oracle["leaked"]})


# ---- modules ----

SHOP = {"module-info.java": "module com.shop { requires io.netty.buffer; requires io.netty.common; }\n",
        "com/shop/Main.java": """package com.shop;
import io.netty.buffer.*;
public final class Main {
    static void step(ByteBuf b) { b.setByte(0, 1); }
    static void lose(ByteBuf b) { b.setByte(0, 2); }
    public static void main(String[] args) {
        for (int i = 0; i < 10; i++) {
            ByteBuf b = PooledByteBufAllocator.DEFAULT.heapBuffer(64);
            step(b);
            if (i % 5 == 4) lose(b); else b.release();
        }
        System.out.println(Main.class.getModule());
    }
}
"""}


def run_module(bench, java):
    """The module com.shop on Netty's as automatic modules, by that java."""
    netty, out = os.path.dirname(harness.netty_jars(NETTY)), bench.path("out.json")
    files = []
    for name, text in SHOP.items():
        files.append(bench.path(os.path.join("src", name)))
        os.makedirs(os.path.dirname(files[-1]), exist_ok=True)
        with open(files[-1], "w", encoding="utf-8") as file:
            file.write(text)
    done = bench.run([javac(), "-encoding", "UTF-8", "--release", "11", "-nowarn", "-p", netty, "-d",
                      bench.path("mods/com.shop"), *files])
    same(f"javac ({done.stderr[-500:]})", done.returncode, 0)
    done = bench.run([java, f"-agentpath:{harness.AGENT}=include=com.shop,gc=exit,file={out}", "-p",
                      f"{bench.path('mods')}:{netty}", "-m", "com.shop/com.shop.Main"])
    same(f"exit ({done.stderr[-500:]})", (done.returncode, done.stdout), (0, "module com.shop\n"))
    with open(out, encoding="utf-8") as file:
        picture = Snapshot(file.read())
    picture.check()
    for name, value in (("lives", 10), ("released", 8), ("leaked", 2), ("untracked_classes", 0)):
        same(name, picture.totals[name], value)
    same("last steps", picture.last_steps(), {"com.shop.Main.lose": 2})
    same("without the hidden field", picture.doc["jvm"]["map_mode"], [])


def modules(bench):
    run_module(bench, bench.jdk.java)


def image(bench):
    """jlink: three modules of the JDK, java.instrument and java.management not among them."""
    folder = bench.path("image")
    done = bench.run([tool("jlink"), "--add-modules", "java.base,java.logging,jdk.unsupported",
                      "--output", folder], timeout=harness.TIMEOUT)
    same(f"jlink ({done.stderr[-500:]})", done.returncode, 0)
    run_module(bench, os.path.join(folder, "bin/java"))


# ---- AppCDS ----

def app_cds(bench):
    """Classes of an archive are followed, a Java agent that retransforms them beside us."""
    path, archive = coming.jars_alone(bench), bench.path("app.jsa")
    out, log = bench.path("out.json"), bench.path("load.log")
    program = ["-cp", path, "com.app.W", "busy", "1"]
    done = bench.run([bench.jdk.java, f"-XX:ArchiveClassesAtExit={archive}", *program])
    same(f"exit of the dump ({done.stderr[-500:]})", done.returncode, 0)
    done = bench.run([bench.jdk.java, f"-XX:SharedArchiveFile={archive}",
                      f"-Xlog:class+load:file={log}",
                      f"-agentpath:{harness.AGENT}=include=com.app,gc=exit,file={out}",
                      f"-javaagent:{OUT}/other-agent.jar=retransform", *program])
    same(f"exit ({done.stderr[-500:]})", done.returncode, 0)
    assert "OTHER retransformed" in done.stdout, done.stdout
    with open(log, encoding="utf-8") as file:
        archived = sum("shared objects file (top)" in line for line in file)
    assert archived > 100, f"{archived} classes of the archive: nothing was tested"
    with open(out, encoding="utf-8") as file:
        picture = Snapshot(file.read())
    picture.check()
    oracle = dict(part.split("=") for line in done.stdout.splitlines() if line.startswith("ORACLE")
                  for part in line.split()[1:])
    for name in ("lives", "released", "leaked"):
        same(name, picture.totals[name], int(oracle[name]))
    same("without the hidden field", picture.doc["jvm"]["map_mode"], [])


def cases():
    # Thread.stop() throws in 20 and newer.
    for name, flags, rounds in (("", [], "25"), (" interpreter", ["-Xint"], "5")):
        yield Case(f"tried/stopped threads{name}", "com.app.W", "stopped", "4", rounds, jvm=flags,
                   check=stopped, agent="include=com.app,objects=on", jdk=(11, 17), own_jvm=True,
                   short=(11,) if flags else (17,))
    yield Case("tried/stopped threads, map mode", "com.app.W", "stopped", "4", "25", check=stopped,
               jvm=["-javaagent:@OUT@/other-agent.jar=load"], jdk=(17,), own_jvm=True,
               agent="include=com.app,objects=on")
    for how, code in (("exit", 7), ("halt", 8), ("hook", 9)):
        yield Case(f"tried/{how} in followed code", "com.app.W", "ends", how, exit_code=code,
                   check=one_life(live=1, released=0), short=(25,))
    yield Case("tried/interrupt in followed code", "com.app.W", "ends", "interrupt", short=(17,),
               check=one_life(live=0, released=1), oracle={"interrupted": 1})
    yield Case("tried/SecurityManager", "com.app.W", "default", check=exact, jdk=(11, 17), short=(17,),
               agent="include=com.app,gc=exit",
               jvm=["-Djava.security.manager",
                    f"-Djava.security.policy=={ROOT}/tests/jvm/tried.policy"])
    for flags in ([], [coming.COMPACT]):
        yield Case(" ".join(["tried/virtual threads", *flags]), "com.app.W", "virtual", "5000",
                   check=exact, jvm=flags, jdk=(25,) if flags else (21, 25), short=(25,),
                   oracle={"interrupted": 1}, agent="include=com.app,objects=on")
    yield Special("tried/modules", modules, jdk=(11, 17, 25), short=(25,))
    yield Special("tried/jlink", image, jdk=(17,))
    yield Special("tried/AppCDS and another agent", app_cds, short=(17,))
