"""Runs the JVM cases that cases.py declares, by pytest: python3 -m pytest tests/jvm, or tests/jvm/run.

One item for each case and JDK. Before the first one, agent and client are copied, so that a build
meanwhile cannot change them under a test. With -n N (pytest-xdist) the items are N workers'; those
that share a JVM (sharing.py) go to one of them.
"""

import contextlib
import fcntl
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import traceback

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
CASE_LIMIT_S = int(os.environ.get("BBF_CASE_LIMIT", "900"))  # each wait has a limit of its own, below this
MAX_UNSTEADY = int(os.environ.get("BBF_UNSTEADY", "2"))  # cases of a run that may pass at the second try only
TIERS = {"quick": [17], "full": [11, 17, 21, 25], "long": [11, 17, 21, 25]}


def pytest_addoption(parser):
    ours = parser.getgroup("bbflow")
    ours.addoption("--tier", choices=TIERS, default="full",
                   help="quick; full (default); long: each case on all its JDKs, a JVM each")
    ours.addoption("--jdk", help="17,25: these alone")
    ours.addoption("--pattern", action="append", default=[],
                   help="cases whose name has this in it, on all their JDKs")
    ours.addoption("--without-agent", action="store_true",
                   help="the programs alone, which shows that their own oracles hold")
    ours.addoption("--isolated", action="store_true", help="each case in a JVM of its own")


def is_worker(config):
    return hasattr(config, "workerinput")


# ---- what must not outlive us -----------------------------------------------------------------

def descendants(pid):
    """Its children, theirs, and so on."""
    children = {}
    for stat in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(stat, encoding="utf-8", errors="replace") as file:
            parent = file.read().rpartition(")")[2].split()[1]
            children.setdefault(int(parent), []).append(int(stat.split("/")[2]))
    found = [pid]
    for one in found:
        found += children.get(one, ())
    return found[1:]


def kill_descendants():
    for pid in descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def end_at(number, _):
    """xdist's workers would end without their JVMs."""
    kill_descendants()
    os._exit(128 + number)


def too_long(*_):
    kill_descendants()
    raise TimeoutError(f"still running after {CASE_LIMIT_S} s: it and its processes are killed")


@contextlib.contextmanager
def limited():
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(CASE_LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)


# ---- before anything runs ---------------------------------------------------------------------

def freeze():
    """A copy of agent and client for all workers, in the environment; a second run at the same time
    gets folders of its own."""
    import harness
    os.makedirs(harness.OUT, exist_ok=True)
    lock = open(os.path.join(harness.OUT, ".lock"), "w", encoding="utf-8")
    runs = os.path.join(harness.OUT, "runs")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        runs += f"-{os.getpid()}"
    copies = runs + ".bin"
    shutil.rmtree(copies, ignore_errors=True)
    os.makedirs(copies)
    for name in ("AGENT", "CLIENT"):
        os.environ["BBF_" + name] = shutil.copy(getattr(harness, name), copies)
    for recorder in glob.glob(os.path.join(os.path.dirname(harness.AGENT), "libbbflow-lttng*.so")):
        shutil.copy(recorder, copies)
    os.environ["BBF_RUNS"] = runs
    del sys.modules["harness"]  # read again by the cases, with these names
    return lock


def find_jdks(config):
    wanted = TIERS[config.option.tier]
    if config.option.jdk:
        if not re.fullmatch(r"\d+(,\d+)*", config.option.jdk):
            pytest.exit(f"--jdk={config.option.jdk}: not of the form 17,25", 4)
        wanted = [int(major) for major in config.option.jdk.split(",")]
    import harness
    text = subprocess.run([os.path.join(harness.ROOT, "scripts/fetch-jdks"), *map(str, wanted)],
                          stdout=subprocess.PIPE, text=True, check=False).stdout
    os.environ["BBF_JDKS"] = text
    os.environ["BBF_MAJORS"] = ",".join(map(str, wanted))


def pytest_configure(config):
    if is_worker(config):
        return
    # Started with '&' by a shell, or by nohup, SIGINT and SIGHUP would be ignored, also by the JVMs
    # that are asked to end by them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, end_at)
    import harness
    find_jdks(config)
    os.environ["BBF_TIER"] = config.option.tier
    if not (config.option.collectonly or config.option.without_agent):
        if not os.path.exists(harness.AGENT):
            pytest.exit(f"there is no {harness.AGENT}", 1)
        config.bbf_lock = freeze()
    config.bbf_counts = {"passed": 0, "failed": 0}
    config.pluginmanager.register(Lines(config), "bbflow-lines")


# ---- which cases, in which order --------------------------------------------------------------

def pytest_generate_tests(metafunc):
    from cases import CASES
    majors = [int(m) for m in os.environ["BBF_MAJORS"].split(",")]
    work = [(case, major) for case in CASES for major in majors if major in case.jdk]
    metafunc.parametrize(("case", "major"), [
        pytest.param(case, major, marks=list(marks(case, major)), id=f"{case.name}-{major}")
        for case, major in work])


def marks(case, major):
    if case.quick and major == 17:
        yield pytest.mark.quick
    if major in case.short:
        yield pytest.mark.full
    if case.alone:
        yield pytest.mark.alone
    yield pytest.mark.long


def chosen(item, option):
    import harness
    case = item.callspec.params["case"]
    if option.without_agent and (not isinstance(case, harness.Case) or case.live):
        return False
    if option.pattern:
        return any(word in case.name for word in option.pattern) and (
            option.tier != "quick" or case.quick)
    if option.tier == "quick":
        return case.quick  # on the JDKs that --jdk names
    return bool(option.markexpr or option.keyword or item.get_closest_marker(option.tier))


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups after us
def pytest_collection_modifyitems(config, items):
    """Those that share a JVM together and first, those that measure time last."""
    import sharing
    dropped = [item for item in items if not chosen(item, config.option)]
    config.hook.pytest_deselected(items=dropped)
    left = {(item.callspec.params["case"], item.callspec.params["major"]): item
            for item in items if item not in set(dropped)}
    option, together = config.option, []
    if not (option.isolated or option.without_agent or option.tier == "long"):
        together = list(sharing.groups(left))
    first = []
    for number, members in enumerate(together):
        for place in members:
            item = left.pop(place)
            item.bbf_group = number
            item.add_marker(pytest.mark.xdist_group(f"jvm-{number}"))
            first.append(item)
    last = [item for item in left.values() if item.callspec.params["case"].alone]
    for item in last:
        item.add_marker(pytest.mark.xdist_group("alone"))
    rest = [item for item in left.values() if not item.callspec.params["case"].alone]
    items[:] = first + rest + last


def pytest_collection_finish(session):
    """What -k and -m left of each group."""
    members = {}
    for item in session.items:
        if hasattr(item, "bbf_group"):
            params = item.callspec.params
            members.setdefault(item.bbf_group, []).append((params["case"], params["major"]))
    TOGETHER.groups = members
    if session.config.option.collectonly:
        for item in session.items:
            params = item.callspec.params
            print(f"{params['case'].name} (Java {params['major']})")


# ---- one case ---------------------------------------------------------------------------------

def prepared(case):
    """Its class folders, Netty and other jars are there; one worker makes what is not."""
    import harness
    import programs
    with open(os.path.join(harness.OUT, ".programs"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        programs.make(case)
        if getattr(case, "netty", None):
            harness.netty_jars(case.netty)
        if isinstance(case, harness.Case):
            case.libraries()


@contextlib.contextmanager
def beside(alone):
    """Not beside a case that measures time; `alone`: beside no case."""
    import harness
    os.makedirs(harness.RUNS, exist_ok=True)
    with open(os.path.join(harness.RUNS, ".beside"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def found_jdk(major):
    import harness
    for line in os.environ["BBF_JDKS"].splitlines():
        if line.split("\t")[0] == str(major):
            return harness.Jdk(*line.split("\t"))
    pytest.fail(f"there is no Java {major}", pytrace=False)


class Together:
    """The JVM that this worker's items share at the moment."""

    def __init__(self):
        self.jvm = self.number = None
        self.groups = {}  # number -> its cases
        self.left = 0  # of the group, those that are still to come
        self.broken = set()

    def run(self, case, jdk, number):
        import sharing
        members = self.groups[number]
        if number != self.number:
            self.number, self.left = number, len(members)
        self.left -= 1
        if number in self.broken:
            case.execute(jdk, True)
            return
        try:
            if not self.jvm:
                self.jvm = sharing.Shared(members, jdk, f"shared-{number}")
            self.jvm.turn(case)
            if not self.left or not self.jvm.usable:
                self.close()
        except sharing.Broken as why:
            self.broken.add(number)
            self.alone_too(case, jdk, why)
        except BaseException:
            self.drop()
            raise

    def close(self):
        jvm, self.jvm = self.jvm, None
        jvm.close()

    def drop(self):
        """Whatever state it is in."""
        jvm, self.jvm = self.jvm, None
        if jvm:
            jvm.kill()
            with contextlib.suppress(AssertionError):
                jvm.finish()

    def alone_too(self, case, jdk, why):
        """A JVM that ended under a case is a failure, whatever the case does alone."""
        folder = self.jvm.folder if self.jvm else "its folder"
        self.drop()
        try:
            case.execute(jdk, True)
            alone = "passes"
        except Exception as failure:  # reported, below
            alone = f"fails: {failure}"
        raise AssertionError(f"the JVM that it shares ended ({why}): {folder}; alone the case {alone}")


TOGETHER = Together()


def first_try(item, case, jdk):
    with beside(case.alone):
        if hasattr(item, "bbf_group"):
            TOGETHER.run(case, jdk, item.bbf_group)
        else:
            case.execute(jdk, not item.config.option.without_agent)


def second_try(item, case, jdk):
    with beside(True):
        case.execute(jdk, not item.config.option.without_agent)


def why_not(attempt, *args):
    """None if it passed. A failure of an assertion is one line; of anything else, a short trace."""
    try:
        with limited():
            attempt(*args)
    except AssertionError as failure:
        return str(failure) or traceback.format_exc(limit=-1)
    except Exception:  # a broken test is a failed test
        return traceback.format_exc(limit=-4)
    return None


def may_try_again(why):
    """Wrong once by chance is a wrong test or a rare defect: it is shown and limited. A JVM that
    crashes, or hangs, once is a failure."""
    return MAX_UNSTEADY > 0 and not re.search(r"exit code|JVM that it shares ended|still running after|Sanitizer", why)


def run_case(item, case, major):
    jdk, before = found_jdk(major), os.times()
    why = why_not(prepared, case) or why_not(first_try, item, case, jdk)
    if why and may_try_again(why) and not why_not(second_try, item, case, jdk):
        item.user_properties.append(("unsteady", why))
        why = None
    after = os.times()  # of a shared JVM: when it has ended
    used = after.children_user + after.children_system - before.children_user - before.children_system
    item.user_properties.append(("processor_seconds", round(used, 2)))
    if why:
        pytest.fail(why, pytrace=False)


def pytest_sessionfinish():
    TOGETHER.drop()


# ---- what is printed --------------------------------------------------------------------------

def whole(why):
    """A trace's first line says nothing, and CI shows one line."""
    return f"{last_line(why)}\n{why}" if why.startswith("Traceback") else why


def last_line(text):
    """Of a trace it says what happened."""
    return text.strip().splitlines()[-1] if text.startswith("Traceback") else text


class Lines:
    """One line a case, at the end "N passed, N failed". Of more than MAX_UNSTEADY cases that passed
    at the second try only, each counts as failed."""

    def __init__(self, config):
        self.config = config
        self.counts = {"passed": 0, "failed": 0}
        self.unsteady = 0

    def pytest_report_teststatus(self, report):
        return (report.outcome, "", "") if report.when == "call" or report.failed else ("", "", "")

    def pytest_runtest_logreport(self, report):
        if report.when != "call" and report.passed:
            return
        # A case that is skipped has shown nothing.
        self.counts["passed" if report.passed else "failed"] += 1
        case, major = report.nodeid.split("[", 1)[1].split("]@")[0].removesuffix("]").rsplit("-", 1)
        # xdist puts a line in front that names its worker.
        why = "" if report.passed else ": " + whole(re.sub(r"^\[gw\d+\] .*\n", "", report.longreprtext))
        word = "ok" if report.passed else "not ok"
        first = dict(report.user_properties).get("unsteady")
        if first and report.passed:
            self.unsteady += 1
            word, why = "unsteady", f": passed at the second try, alone; the first: {last_line(first)}"
        self.line(f"{word} {case} (Java {major}, {report.duration:.1f} s){why}")

    def line(self, text):
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if self.unsteady > MAX_UNSTEADY:
            self.line(f"not ok: {self.unsteady} cases are unsteady, {MAX_UNSTEADY} may be (BBF_UNSTEADY)")
            self.counts["passed"] -= self.unsteady
            self.counts["failed"] += self.unsteady
            session.exitstatus = 1

    def pytest_unconfigure(self):
        if not self.config.option.collectonly:
            self.line(f"{self.counts['passed']} passed, {self.counts['failed']} failed")
