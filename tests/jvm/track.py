"""track=: objects of the application's own, from constructor to closing method (track/*)."""

import subprocess
import time

import harness
from ages import near
from harness import Case, Scenario
from seed import ends
from snapshot import Snapshot, same

OPTIONS = ("include=com.app,track=com.app.Tracked$Connection:close+com.app.Tracked$Resource:dispose"
           "+com.app.Tracked$Stream:close")
APP = "com.app.Tracked."


def flows(run):
    same("ends", {path.replace("com.app.Tracked", "T"): end for path, end in ends(run.json).items()}, {
        "T$Connection.<init> > T.use > T$Connection.close": {"released": 7},
        "T$Connection.<init> > T.leak": {"leaked": 3},
        "T$Connection.<init> > T.queued > T$Connection.close": {"released": 1},
        "T$Connection.<init> > T.make_return > T.flows": {"live": 1},
        "T$Secure.<init> > T.use > T$Secure.close": {"released": 1},
        "T$Silent.<init> > T.use > T$Silent.close": {"released": 1},
        "T$Plain.<init> > T.use > T$Plain.close": {"released": 1},
        "T$Handle.<init> > T.dispose > T$Handle.dispose": {"released": 1},
        "T$Handle.<init> > T.leakHandle": {"leaked": 1}})
    for name in ("lives", "released", "leaked", "live"):
        same(name, run.json.totals[name], run.oracle[name])
    for name in ("undone", "dropped_lives", "raced_steps", "unknown", "internal_errors"):
        same(name, run.json.totals[name], 0)
    same("memory", run.json.memory(), {"unknown": (4, 0)})
    same("collected", run.oracle["gone"], 5)


def stress(run):
    for name in ("lives", "released", "leaked", "live"):
        same(name, run.json.totals[name], run.oracle[name])
    for name in ("unknown", "held", "undone", "dropped_lives", "raced_steps", "internal_errors"):
        same(name, run.json.totals[name], 0)
    made = {"com.app.Tracked$Connection.<init>", "com.app.Tracked$Secure.<init>"}  # at the end
    same("losing steps", set(run.json.last_steps()) - made, {APP + "after"})


def sampled(run):
    """Each object draws once, however many constructors of its classes are hooked."""
    for name in ("lives", "released", "leaked"):
        near(name, run.json.totals[name], run.oracle[name], 10)
    for name in ("unknown", "held", "undone", "live", "dropped_lives", "internal_errors"):
        same(name, run.json.totals[name], 0)


def attached(bench):
    """Attach with a track= of another class, stop, attach: what was made before is none of ours, and what
    a class was taken for in the first session is forgotten. Stop puts the bodies back."""
    process = subprocess.Popen(
        [bench.jdk.java, "-XX:+EnableDynamicAgentLoading", "-cp",
         harness.class_path("probes", None), "com.app.Tracked", "later"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=bench.env)
    pid = str(process.pid)

    def client(*args):
        done = bench.run([harness.CLIENT, *args])
        same(f"bbflow {args[0]}: exit code ({done.stderr.strip()})", done.returncode, 0)
        return done.stdout

    def make():
        process.stdin.write(b"m")
        process.stdin.flush()
        same("the program", process.stdout.readline(), b"MADE\n")

    def totals():
        t = Snapshot(client("dump", "--gc", pid)).totals
        return [t[name] for name in ("lives", "released", "leaked", "live", "unknown")]
    try:
        same("the program", process.stdout.readline(), b"READY\n")
        agent = ["--agent", harness.AGENT]
        client("attach", *agent, pid, "include=com.app,objects=on,track=com.app.Nothing:close")
        make()
        same("of another class", totals(), [0, 0, 0, 0, 0])
        client("stop", pid)
        for include in ("com.app", "com.other"):  # the second: by track= alone
            client("attach", *agent, pid, OPTIONS.replace("com.app", include, 1))
            make()
            same("with track=", totals(), [4, 2, 2, 0, 0])
            assert "0 classes" not in client("stop", pid)
            time.sleep(0.2)
            make()
        client("attach", *agent, pid, "include=com.app")
        make()
        same("without it again", totals(), [0, 0, 0, 0, 0])
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()
        process.stderr.close()


def left_out(bench):
    """The one whose close() is a JDK class's is logged once, though it was made several times."""
    done = bench.java("com.app.Tracked", "flows", agent=OPTIONS + ",loglevel=warn")
    same("exit", done.returncode, 0)
    same("said", [line for line in harness.agent_lines(done.stderr) if "track" in line],
         ["[bbflow] warn: track: com/app/Tracked$Stream is not followed: bbflow cannot see the call "
          "that closes it"])


def cases():
    yield Scenario("track/left out", left_out, jdk=(17,))
    for netty in (None, "4.1.140.Final"):
        yield Case("track/flows" + (" beside Netty" if netty else ""), "com.app.Tracked", "flows",
                   netty=netty, agent=OPTIONS, check=flows, quick=netty is None,
                   jdk=(11, 17, 21, 25), short=(17, 25))
    yield Case("track/sampled", "com.app.Tracked", "stress", "2", "1", netty=None, check=sampled,
               agent=OPTIONS + ",sample=10,gc=exit")
    yield Case("track/stress", "com.app.Tracked", "stress", "8", "3", netty=None, check=stress,
               agent=OPTIONS + ",gc=exit", jvm=["-Xmx512m"])
    yield Case("track/stress, one hash", "com.app.Tracked", "stress", "4", "3", netty=None,
               check=stress, agent=OPTIONS + ",gc=exit", jdk=(17,),
               jvm=["-Xmx512m", "-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2"])
    yield Scenario("track/attach, stop, attach", attached, jdk=(17, 25))
