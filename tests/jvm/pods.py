"""What kubernetes/ has, without a cluster: the image's tree and layout, its files against schemas of Kubernetes, and the
JVM's side of each recipe: a root that is read-only, a user that is not root, volumes as a kubelet mounts them."""

import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import attach
import harness
import java_agent
from harness import ROOT, Scenario
from snapshot import same

USER = 1000
FOLDER = os.path.join(ROOT, "kubernetes")
ARCHITECTURE = "arm64" if java_agent.PLATFORM == "linux-aarch64" else "amd64"
FILES = {"LICENSE": 0o644, "bin/cp": 0o755, "javaagent.jar": 0o644, "libbbflow.so": 0o755}
VERSIONS = ("1.33.0", "1.35.0", "1.37.0")
VALIDATOR = "kubernetes-validate==1.37.0"


def make_image(bench, name):
    out = bench.path(name)
    shutil.rmtree(out, ignore_errors=True)
    done = bench.run([os.path.join(FOLDER, "image"), java_agent.JAR, out, f"{ARCHITECTURE}=-,gcc"])
    same(f"made ({done.stderr})", done.returncode, 0)
    return out


def blob(layout, of):
    return os.path.join(layout, "blobs", *of["digest"].split(":"))


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def image(bench):
    """Two builds are equal; the layout leads to the tree, file by file; programs for another machine are refused."""
    one, two = make_image(bench, "one"), make_image(bench, "two")
    same("two builds", bench.run(["diff", "-r", one, two]).stdout, "")
    layout = os.path.join(one, "oci")
    top, = read_json(os.path.join(layout, "index.json"))["manifests"]
    manifest_of, = read_json(blob(layout, top))["manifests"]
    same("platform", manifest_of["platform"], {"architecture": ARCHITECTURE, "os": "linux"})
    manifest = read_json(blob(layout, manifest_of))
    config = read_json(blob(layout, manifest["config"]))["config"]
    same("user", config["User"], "65532:65532")
    layer, = manifest["layers"]
    with tarfile.open(blob(layout, layer)) as tar:
        entries = {entry.name: entry for entry in tar if not entry.isdir()}
        same("files", {name: entry.mode for name, entry in entries.items()}, FILES)
        same("owners", {(entry.uid, entry.gid) for entry in tar.getmembers()}, {(0, 0)})
        for name in FILES:
            with open(os.path.join(one, "context", ARCHITECTURE, name), "rb") as file:
                assert tar.extractfile(name).read() == file.read(), f"{name} differs from the context's"
    with open(os.path.join(FOLDER, "Containerfile"), encoding="utf-8") as file:
        lines = [line.strip() for line in file if not line.startswith("#")]
    same("Containerfile", lines, ["FROM scratch", "ARG TARGETARCH", "COPY ${TARGETARCH}/ /", f"USER {config['User']}",
                                  f"ENV {config['Env'][0]}", 'ENTRYPOINT ["/bbflow"]'])
    if shutil.which("skopeo"):
        version = top["annotations"]["org.opencontainers.image.ref.name"]
        done = bench.run(["skopeo", "inspect", f"oci:{layout}:{version}"])
        same(f"skopeo ({done.stderr})", done.returncode, 0)
    other = "amd64" if ARCHITECTURE == "arm64" else "arm64"
    for what, argument in (("dynamic", f"{ARCHITECTURE}={harness.CLIENT}"), ("of another machine", f"{other}=-,gcc")):
        done = bench.run([os.path.join(FOLDER, "image"), java_agent.JAR, bench.path("refused"), argument])
        same(f"{what}: exit", done.returncode, 1)
        assert done.stderr.startswith("kubernetes/image: "), done.stderr
        assert not os.path.exists(bench.path("refused")), what


# ---- schemas ----

def validator():
    """Python of an environment that has kubernetes-validate, which brings the schemas."""
    folder = os.path.join(harness.OUT, "kubernetes-validate")
    python = os.path.join(folder, "bin/python")
    if not os.path.exists(os.path.join(folder, "done")):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "-q", "install", VALIDATOR], check=True)
        with open(os.path.join(folder, "done"), "w", encoding="utf-8"):
            pass
    return python


CHECK = """
import sys, yaml, kubernetes_validate
version, failed = sys.argv[1], 0
def check(document):
    kubernetes_validate.validate(document, version, strict=True)
for path in sys.argv[2:]:
    for document in yaml.safe_load_all(open(path, encoding="utf-8")):
        if document.get("kind") == "Instrumentation":  # of the operator; its keys are what its CRD has
            assert set(document) == {"apiVersion", "kind", "metadata", "spec"}
            assert set(document["spec"]) == {"java"} and set(document["spec"]["java"]) == {"image", "env"}
            assert all(set(variable) == {"name", "value"} for variable in document["spec"]["java"]["env"])
            continue
        if "kind" not in document:  # for kubectl debug --custom: a part of a container
            document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"},
                        "spec": {"containers": [{"name": "x", "image": "x", **document}]}}
        check(document)
        spec = document["spec"].get("template", document)["spec"]
        spec["containers"][0]["volumeMount"] = []
        try:
            check(document)
        except Exception:
            continue
        sys.exit(f"{path}: a wrong key is accepted")
print("valid")
"""


def schemas(bench):
    paths = sorted(glob.glob(os.path.join(FOLDER, "*.yaml")))
    same("recipes", [os.path.basename(path) for path in paths],
         ["debug.yaml", "image-volume.yaml", "init-container.yaml", "operator.yaml"])
    python = validator()
    for version in VERSIONS:
        done = bench.run([python, "-c", CHECK, version, *paths])
        same(f"{version} ({done.stderr[-1500:]})", (done.returncode, done.stdout), (0, "valid\n"))


# ---- pods ----

class Node:
    """Files that another user can read; below /var/tmp, which no pod has mounted over."""

    def __init__(self, bench):
        self.bench = bench
        self.base = tempfile.mkdtemp(prefix="bbflow-node-", dir="/var/tmp")
        os.chmod(self.base, 0o755)
        self.image = os.path.join(make_image(bench, "image"), "context", ARCHITECTURE)
        shutil.copytree(self.image, os.path.join(self.base, "image"))
        self.image = os.path.join(self.base, "image")
        self.classes = os.path.join(self.base, "app")
        shutil.copytree(os.path.join(harness.OUT, "classes/probes"), self.classes)
        for jar in glob.glob(harness.netty_jars(java_agent.NETTY)):
            shutil.copy(jar, self.classes)
        self.java = os.path.join(self.base, "jdk/bin/java")
        shutil.copytree(bench.jdk.home, os.path.join(self.base, "jdk"), symlinks=False,
                        ignore=shutil.ignore_patterns("src.zip", "*.jmod", "demo", "man", "*.debuginfo"),
                        ignore_dangling_symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", self.base], check=True)
        self.path = f"{self.classes}:{self.classes}/*"
        self.volumes = os.path.join(self.base, "volumes")
        os.mkdir(self.volumes)

    def empty_dir(self, name):
        """As a kubelet makes it: for all users, not sticky."""
        path = os.path.join(self.volumes, name)
        os.mkdir(path)
        os.chmod(path, 0o777)
        return path

    def enter(self, mounts, user=USER):
        """A prefix of a command: a mount namespace with a read-only root, these mounts in it (TARGET: shell text that mounts
        at $1/TARGET), /dev/shm as a runtime mounts it, no capabilities."""
        root = os.path.join(self.base, "root")
        os.makedirs(root, exist_ok=True)
        script = ["set -e", f"mount --bind / {root}", f"mount -o remount,ro,bind {root}", f"mount -t tmpfs none {root}/mnt",
                  f"mount --rbind /proc {root}/proc", f"mount --rbind /dev {root}/dev",
                  f"mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 none {root}/dev/shm"]
        for target, options, source in mounts:
            script += [f"[ -d {root}{target} ] || mkdir {root}{target}", f"mount --bind {source} {root}{target}",
                       f"mount -o remount,bind,{options} {root}{target}"]
        script.append(f"exec chroot {root} setpriv --reuid {user} --regid {user} --clear-groups --bounding-set=-all "
                      f"--inh-caps=-all --no-new-privs \"$@\"")
        return ["unshare", "--mount", "sh", "-c", "\n".join(script), "sh"]

    def copy(self, volume, *words):
        """The init container: cp of the image, in the image as root folder, with the volume."""
        target = os.path.join(self.image, "volume")
        os.makedirs(target, exist_ok=True)
        inside = f"mount --bind {volume} {target} && exec python3 -c '{CHROOT}' {self.image} {USER} \"$@\""
        done = self.bench.run(["unshare", "--mount", "sh", "-c", inside, "sh", *words])
        same(f"{' '.join(words)} ({done.stderr})", done.returncode, 0)

    def run(self, mounts, env, program, flags=()):
        netty = ["--sun-misc-unsafe-memory-access=allow"] if self.bench.jdk.major >= 24 else []
        env = {"XDG_RUNTIME_DIR": "", **env}
        return self.bench.run([*self.enter(mounts), self.java, *java_agent.QUICK, *netty, *flags, "-cp", self.path, *program],
                              env=env, timeout=harness.TIMEOUT)


# The image has cp alone, so the user is changed before it runs.
CHROOT = "import os, sys; os.chroot(sys.argv[1]); os.chdir(\"/\"); os.setgroups([]); n = int(sys.argv[2]); " \
         "os.setgid(n); os.setuid(n); os.execve(\"/bin/\" + sys.argv[3], sys.argv[3:], {})"


@contextlib.contextmanager
def node(bench):
    made = Node(bench)
    try:
        yield made
    finally:
        shutil.rmtree(made.base, ignore_errors=True)


def followed(what, done, out):
    """Every line on stderr is the JVM's about the variable; the counts are right."""
    rest = [line for line in done.stderr.splitlines() if not line.startswith("Picked up JAVA_TOOL_OPTIONS: ")]
    same(f"{what}: exit, stderr", (done.returncode, rest), (0, []))
    java_agent.counted(out)


def recipes(bench):
    """Each as its file has it: JAVA_TOOL_OPTIONS of the file, its mounts, its user, a read-only root."""
    if os.getuid() != 0:
        return
    log = [java_agent.LOG]
    with node(bench) as made:
        out = os.path.join(made.empty_dir("out"), "out.json")
        reports = ("/mnt/out", "rw", os.path.dirname(out))
        options = "include=com.app,gc=exit,file=/mnt/out/out.json"

        operator = made.empty_dir("operator")
        made.copy(operator, "cp", "/javaagent.jar", "/volume/javaagent.jar")
        tool = " -javaagent:/mnt/otel-auto-instrumentation-java-shop/javaagent.jar"
        mounts = [("/mnt/otel-auto-instrumentation-java-shop", "rw", operator), reports]
        done = made.run(mounts, {"JAVA_TOOL_OPTIONS": tool, "BBFLOW_OPTIONS": options}, java_agent.CYCLES, log)
        followed("operator, no /tmp", done, out)
        same("operator: loaded", java_agent.place_of(done), f"/mnt/otel-auto-instrumentation-java-shop/bbflow-{USER}")

        agent = made.empty_dir("agent")
        made.copy(agent, "cp", "/libbbflow.so", "/volume/")
        env = {"JAVA_TOOL_OPTIONS": f"-agentpath:/mnt/bbflow/libbbflow.so={options}"}
        os.remove(out)
        followed("init container", made.run([("/mnt/bbflow", "ro", agent), reports], env, java_agent.CYCLES), out)

        env = {"JAVA_TOOL_OPTIONS": f"-javaagent:/mnt/bbflow/javaagent.jar={options}"}
        tmp = ("/tmp", "rw", made.empty_dir("tmp"))
        for what, mounted, place in (("exec", "ro", "/mnt/bbflow/libbbflow.so"), ("noexec", "ro,noexec", "/tmp")):
            os.remove(out)
            done = made.run([("/mnt/bbflow", mounted, made.image), tmp, reports], env, java_agent.CYCLES, log)
            followed(f"image volume, {what}", done, out)
            assert java_agent.loaded(done).startswith(place), (what, java_agent.loaded(done))
        os.remove(out)
        done = made.run([("/mnt/bbflow", "ro,noexec", made.image), reports], env, java_agent.CYCLES)
        same("no place: exit", done.returncode, 0)
        first, = java_agent.lines(done)
        assert first.startswith("no place for libbbflow.so: ") and first.endswith(java_agent.STAYS_OFF), first
        files_of_recipes()


def files_of_recipes():
    """What the files say is what ran here."""
    texts = {}
    for name in ("operator", "init-container", "image-volume", "debug"):
        with open(os.path.join(FOLDER, name + ".yaml"), encoding="utf-8") as file:
            texts[name] = file.read()
    for name, part in (("operator", "- name: BBFLOW_OPTIONS\n        value: include="),
                       ("init-container", "command: [cp, /libbbflow.so, /bbflow/]"),
                       ("init-container", "value: -agentpath:/bbflow/libbbflow.so=include="),
                       ("init-container", "{name: bbflow, mountPath: /bbflow, readOnly: true}"),
                       ("image-volume", "value: -javaagent:/bbflow/javaagent.jar=include="),
                       ("debug", f"runAsUser: {USER}")):
        assert part in texts[name], (name, part)
    for name in ("operator", "init-container", "image-volume"):
        assert "readOnlyRootFilesystem: true" in texts[name] and f"runAsUser: {USER}" in texts[name], name


def debug_container(bench):
    """From a container of the same pod: the process namespace is shared, the file system and its /tmp are not."""
    if os.getuid() != 0:
        return
    bench.env.pop("XDG_RUNTIME_DIR", None)
    with node(bench) as made:
        tools = os.path.join(made.base, "tools")
        os.mkdir(tools)
        for file in (harness.CLIENT, harness.AGENT):
            shutil.copy(file, tools)
        subprocess.run(["chmod", "-R", "a+rX", tools], check=True)

        def bbflow(*words, user=USER, code=0):
            done = bench.run([*made.enter([("/tmp", "rw", own)], user), os.path.join(tools, "bbflow"), *words], timeout=120)
            if code is not None:
                same(f"bbflow {' '.join(words)} ({done.stdout[-300:]}{done.stderr[-800:]})", done.returncode, code)
            return done.stdout + done.stderr

        def jvm(mounts):
            return attach.Program(bench, "rounds", "1", jvm=[attach.NO_LEAK_DETECTOR], prefix=made.enter(mounts),
                                  home=made.java, path=made.path)
        own = made.empty_dir("debug-tmp")
        tmp = made.empty_dir("app-tmp")
        with jvm([("/tmp", "rw", tmp)]) as program:
            pid = str(program.pid)
            bbflow("attach", pid, "include=com.app")
            harness.Snapshot(bbflow("dump", pid)).check()
            assert pid in bbflow("list"), "list"
            said = bbflow("attach", pid, "include=com.app", user=2000, code=4)
            assert "belongs to user 1000" in said, said
            left = [n for n in os.listdir(tmp) if re.fullmatch("bbflow-[0-9a-f]{16}", n)]
            same("copies left", left, [])
            bbflow("stop", pid)
            same("exit", program.end(), 0)
        with jvm([]) as program:
            said = bbflow("attach", str(program.pid), "include=com.app", code=None)
            assert "its /tmp is read-only" in said and "an emptyDir" in said, said
            same("exit", program.end(), 0)


def cases():
    yield Scenario("pods/image", image, jdk=(17,), short=())
    yield Scenario("pods/schemas", schemas, jdk=(17,), short=())
    yield Scenario("pods/recipes", recipes, jdk=(17, 25), short=())
    yield Scenario("pods/debug container", debug_container, jdk=(17, 25), short=())
