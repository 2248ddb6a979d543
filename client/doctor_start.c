/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/doctor_start.c - rules of `bbflow doctor`: can the agent be loaded, is it, does it answer?
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/findings.h"
#include "client/next_start.h"
#include "wire/sockdir.h"

#define T bbf_findings_text

enum { JAVA_FIRST = 11, JAVA_LAST_TESTED = 25 };

struct doctor {
    struct bbf_findings *findings;
    const struct bbf_jvm_facts *jvm;
    const struct bbf_library_facts *library;
    char package[256]; /* "": unknown */
};

/* ---- The JVM itself -------------------------------------------------------------------------- */

static void check_kind_of_jvm(const struct doctor *d)
{
    const struct bbf_jvm_facts *jvm = d->jvm;

    if (jvm->vm != NULL && (strstr(jvm->vm, "OpenJ9") != NULL || strstr(jvm->vm, "Zing") != NULL))
        bbf_findings_add(d->findings, BBF_STOPS, "not-hotspot",
                         T("the JVM is %s, and bbflow needs HotSpot", jvm->vm),
                         jvm->libjvm != NULL ? jvm->libjvm : "", "run it with a HotSpot JDK");
    if (jvm->java != 0 && jvm->java < JAVA_FIRST)
        bbf_findings_add(d->findings, BBF_STOPS, "java-too-old",
                         T("Java %d is too old: bbflow needs %d", jvm->java, JAVA_FIRST),
                         jvm->libjvm != NULL ? jvm->libjvm : "",
                         T("run it with Java %d to %d", JAVA_FIRST, JAVA_LAST_TESTED));
    else if (jvm->java > JAVA_LAST_TESTED)
        bbf_findings_add(
            d->findings, BBF_LIMITS, "java-not-tested",
            T("Java %d is newer than this bbflow: it is tested with Java %d to %d", jvm->java,
              JAVA_FIRST, JAVA_LAST_TESTED),
            jvm->libjvm != NULL ? jvm->libjvm : "",
            "read the notes below and those of 'bbflow status', or use a newer bbflow");
    if (jvm->stopped)
        bbf_findings_add(d->findings, BBF_STOPS, "stopped",
                         "the process is stopped, by SIGSTOP or a debugger, and answers nothing",
                         T("/proc/%ld/stat", (long)jvm->pid),
                         T("kill -CONT %ld, or resume it in the debugger", (long)jvm->pid));
}

/* ---- Our library ----------------------------------------------------------------------------- */

static void check_machine(const struct doctor *d)
{
    const struct bbf_elf *ours = &d->library->elf, *its = &d->jvm->elf;
    char one[32], two[32];

    if (ours->machine != 0 && its->machine != 0 && ours->machine != its->machine)
        bbf_findings_add(d->findings, BBF_STOPS, "other-machine",
                         T("libbbflow.so is for %s, the JVM is for %s",
                           bbf_elf_machine(ours->machine, one, sizeof one),
                           bbf_elf_machine(its->machine, two, sizeof two)),
                         d->library->path, "use the libbbflow.so of the JVM's machine (--agent)");
    else if (ours->libc != BBF_LIBC_UNKNOWN && its->libc != BBF_LIBC_UNKNOWN &&
             ours->libc != its->libc)
        bbf_findings_add(d->findings, BBF_STOPS, "other-libc",
                         T("libbbflow.so is linked to %s, the JVM runs on %s",
                           ours->libc == BBF_LIBC_MUSL ? "musl" : "glibc",
                           its->libc == BBF_LIBC_MUSL ? "musl" : "glibc"),
                         d->library->path,
                         "name the libbbflow.so of a release by --agent, which runs with both, or "
                         "one that was built "
                         "on the JVM's system");
    else if (its->libc == BBF_LIBC_GLIBC && its->glibc_minor != 0 &&
             ours->glibc_minor > its->glibc_minor)
        bbf_findings_add(d->findings, BBF_STOPS, "glibc-too-old",
                         T("libbbflow.so needs glibc 2.%u, the JVM has glibc 2.%u",
                           ours->glibc_minor, its->glibc_minor),
                         d->library->path,
                         "name the libbbflow.so of a release by --agent, which needs glibc 2.17, "
                         "or one that was "
                         "built on a system as old as the JVM's");
}

static void check_zlib(const struct doctor *d)
{
    if (d->library->elf.names_libz && !d->jvm->has_libz)
        bbf_findings_add(d->findings, BBF_LIMITS, "no-libz",
                         "libbbflow.so needs libz.so.1, which is in no usual folder of the JVM's "
                         "files",
                         T("/proc/%ld/root", (long)d->jvm->pid),
                         "install zlib in the JVM's image (zlib1g, zlib), or set LD_LIBRARY_PATH");
}

static void check_library(const struct doctor *d)
{
    if (!d->library->there) {
        bbf_findings_add(d->findings, BBF_STOPS, "no-library", "libbbflow.so is not there",
                         d->library->path, "install it beside bbflow, or name it by --agent FILE");
        return;
    }
    /* A JVM that has loaded the library shows that it could. */
    if (d->jvm->mapped_agent != NULL)
        return;
    check_machine(d);
    check_zlib(d);
    if (d->library->noexec && !d->jvm->other_files)
        bbf_findings_add(d->findings, BBF_STOPS, "noexec",
                         "libbbflow.so is on a file system that is mounted noexec",
                         d->library->path,
                         "copy it to another file system, and name that file by --agent");
}

/* ---- Attach ---------------------------------------------------------------------------------- */

/* True: it is forbidden. */
static bool check_attach_allowed(const struct doctor *d)
{
    const struct bbf_jvm_facts *jvm = d->jvm;
    static const char another[] = "start the JVM without it, or with the agent";

    if (!jvm->attach) {
        bbf_findings_add(d->findings, BBF_STOPS, "attach-off",
                         "the JVM takes no attach: -XX:+DisableAttachMechanism", "its options",
                         another);
        return true;
    }
    if (bbf_words_switch(&jvm->words, "EnableDynamicAgentLoading") == 0) {
        bbf_findings_add(d->findings, BBF_STOPS, "dynamic-loading-off",
                         "the JVM loads no agent later: -XX:-EnableDynamicAgentLoading",
                         "its options", another);
        return true;
    }
    if (jvm->has_status && !jvm->status.catches_quit) {
        bbf_findings_add(
            d->findings, BBF_STOPS, "no-sigquit",
            "the JVM has no handler for SIGQUIT, by which an attach begins: -Xrs, or it "
            "is just starting",
            T("SigCgt in /proc/%ld/status", (long)jvm->pid),
            "start it without -Xrs, or with the agent");
        return true;
    }
    return false;
}

/* True: it is impossible. */
static bool check_attach_files(const struct doctor *d)
{
    const struct bbf_jvm_facts *jvm = d->jvm;

    if (!jvm->listens && jvm->tmp.seen && !jvm->tmp.writable && !jvm->cwd_writable) {
        bbf_findings_add(
            d->findings, BBF_STOPS, "tmp-not-writable",
            "an attach begins with a file in the JVM's /tmp or its working folder, and "
            "its user may write to neither",
            jvm->tmp.read_only ? "/tmp is on a file system that is mounted read-only" : "/tmp",
            "give it a /tmp that can be written to (an emptyDir, a tmpfs), or start it "
            "with the agent");
        return true;
    }
    if (jvm->other_files && jvm->tmp.seen && (!jvm->tmp.writable || jvm->tmp.noexec)) {
        bbf_findings_add(
            d->findings, BBF_STOPS, "tmp-noexec",
            T("the JVM sees other files than we, so an attach copies libbbflow.so to its "
              "/tmp, which %s",
              jvm->tmp.noexec ? "is mounted noexec" : "cannot be written to"),
            T("/proc/%ld/root/tmp", (long)jvm->pid),
            "put libbbflow.so into its files, and load it by jcmd's JVMTI.agent_load, or "
            "at its start");
        return true;
    }
    return false;
}

static void check_attach_warning(const struct doctor *d)
{
    if (d->jvm->java >= 21 && bbf_words_switch(&d->jvm->words, "EnableDynamicAgentLoading") < 0)
        bbf_findings_add(d->findings, BBF_KNOW, "dynamic-loading-warns",
                         T("Java %d prints a warning to its stderr at an attach", d->jvm->java), "",
                         "-XX:+EnableDynamicAgentLoading avoids it; so does -agentpath");
}

/* ---- Is the agent there? --------------------------------------------------------------------- */

static bool is_in_options(const struct bbf_jvm_facts *jvm)
{
    for (size_t i = 0; i < jvm->words.count; i++)
        if (bbf_words_start_bbflow(jvm->words.items[i]))
            return true;
    return false;
}

static bool has_netty(const struct bbf_jvm_facts *jvm)
{
    for (size_t i = 0; i < jvm->jars.count; i++)
        if (jvm->jars.nettys[i].major == 4)
            return true;
    return false;
}

static void check_not_loaded(const struct doctor *d)
{
    const struct bbf_jvm_facts *jvm = d->jvm;
    size_t before = d->findings->count;

    if (is_in_options(jvm)) {
        bbf_findings_add(d->findings, BBF_STOPS, "agent-refused",
                         "the JVM was started with the agent, but has not loaded it", "its options",
                         "read the JVM's stderr, or the file of log=, from its start");
        return;
    }
    if (geteuid() != 0 && geteuid() != jvm->owner)
        bbf_findings_add(d->findings, BBF_STOPS, "other-user",
                         T("the JVM belongs to user %u, and only that user and root may attach",
                           (unsigned)jvm->owner),
                         T("/proc/%ld", (long)jvm->pid), "run bbflow as that user or root");
    bool forbidden = check_attach_allowed(d) || check_attach_files(d);
    if (!forbidden)
        check_attach_warning(d);
    bool stopped = false;
    for (size_t i = before; i < d->findings->count; i++)
        stopped = stopped || d->findings->items[i].severity == BBF_STOPS;
    /* `doctor all` need not warn of a JVM that shows no Netty, as a build tool's. */
    bbf_findings_add(d->findings, jvm->named || has_netty(jvm) ? BBF_STOPS : BBF_KNOW,
                     "agent-not-loaded", "the agent is not loaded, so nothing is followed",
                     T("/proc/%ld/maps has no libbbflow.so", (long)jvm->pid),
                     stopped ? "remove what stops an attach, or start the JVM with the agent"
                     : d->package[0] != '\0'
                         ? T("bbflow attach %ld include=%s", (long)jvm->pid, d->package)
                         : T("bbflow attach %ld include=your.package", (long)jvm->pid));
}

static void check_silent(const struct doctor *d)
{
    const struct bbf_jvm_facts *jvm = d->jvm;

    if (bbf_proc_has_thread(jvm->pid, BBF_AGENT_STOPPED))
        bbf_findings_add(d->findings, BBF_STOPS, "agent-was-stopped",
                         "bbflow was stopped in this JVM, so nothing is followed",
                         T("thread bbflow-stopped of %ld", (long)jvm->pid),
                         T("bbflow attach %ld include=%s", (long)jvm->pid,
                           d->package[0] != '\0' ? d->package : "your.package"));
    else if (!jvm->stopped)
        bbf_findings_add(
            d->findings, BBF_STOPS, "agent-silent",
            T("libbbflow.so is loaded, but does not answer: %s", jvm->agent.why),
            jvm->agent.socket[0] != '\0' ? jvm->agent.socket : jvm->mapped_agent,
            "read the JVM's stderr, or the file of log=: tracking may be off, or no socket folder "
            "could be made (socket=DIR chooses one that its user may write to)");
}

static void check_agent(const struct doctor *d)
{
    const struct bbf_jvm_facts *jvm = d->jvm;

    if (jvm->mapped_agent == NULL) {
        check_not_loaded(d);
    } else if (!jvm->agent.answered) {
        check_silent(d);
    } else if (strcmp(jvm->agent.version, BBF_VERSION) != 0) {
        bbf_findings_add(
            d->findings, BBF_LIMITS, "other-version",
            T("the agent is bbflow %s, this command is bbflow %s", jvm->agent.version, BBF_VERSION),
            jvm->mapped_agent,
            "use the command of the agent's version, or start the JVM with this one");
    }
}

/* ---- Where it runs --------------------------------------------------------------------------- */

static void check_container(const struct doctor *d)
{
    const struct bbf_jvm_facts *jvm = d->jvm;
    const char *parts[3] = {"", "", ""};
    int n = 0;

    if (jvm->other_files)
        parts[n++] = "files";
    if (jvm->other_pids)
        parts[n++] = "process ids";
    if (jvm->other_users)
        parts[n++] = "users";
    if (n == 0)
        return;
    bbf_findings_add(d->findings, BBF_KNOW, "container",
                     T("the JVM runs in a container: it has other %s%s%s%s%s than we%s", parts[0],
                       n > 1 ? ", " : "", parts[1], n > 2 ? ", " : "", parts[2],
                       jvm->root_read_only ? "; its root is read-only" : ""),
                     jvm->other_pids && jvm->has_status
                         ? T("it is process %ld there", (long)jvm->status.inner)
                         : T("/proc/%ld/ns", (long)jvm->pid),
                     "paths of file=, socket= and -agentpath are the container's");
}

void bbf_doctor_start(struct bbf_findings *findings, const struct bbf_jvm_facts *facts,
                      const struct bbf_library_facts *library)
{
    struct doctor d = {.findings = findings, .jvm = facts, .library = library};

    if (facts->kind == BBF_PROC_FORBIDDEN) {
        bbf_findings_add(findings, BBF_STOPS, "no-permission",
                         T("user %u may not look at this process, which belongs to user %u",
                           (unsigned)geteuid(), (unsigned)facts->owner),
                         T("/proc/%ld/maps", (long)facts->pid),
                         geteuid() == 0 ? "in a container, add the capability SYS_PTRACE"
                                        : "run bbflow as that user or root");
        return;
    }
    if (!bbf_guess_package(facts, d.package, sizeof d.package))
        d.package[0] = '\0';
    check_kind_of_jvm(&d);
    check_library(&d);
    check_agent(&d);
    check_container(&d);
}
