/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/doctor_seen.c - rules of `bbflow doctor`: what does the agent see in this JVM, what not?
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/findings.h"
#include "client/next_start.h"

#define T bbf_findings_text

/* ---- Netty ----------------------------------------------------------------------------------- */

static const char several[] = "if one was expected: a shaded copy or a second class path; "
                              "'mvn dependency:tree' names who brings it";

static bool is_relocated(const char *package)
{
    return strcmp(package, "io.netty") != 0;
}

/* One line of the agent's for each Netty that is loaded. */
static void check_loaded_netty(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm)
{
    const struct bbf_words *netty = &jvm->agent.netty;

    for (size_t i = 0; i < netty->count; i++)
        bbf_findings_add(findings, BBF_KNOW, "netty", T("Netty is loaded: %s", netty->items[i]),
                         "the agent's status", "");
    if (netty->count > 1)
        bbf_findings_add(findings, BBF_KNOW, "several-nettys",
                         T("%zu Nettys are loaded; bbflow follows each of them", netty->count),
                         "the agent's status", several);
}

/* Before 4.1, which is the oldest that the tests cover. */
static bool is_old(const char *version)
{
    return strncmp(version, "4.0.", 4) == 0;
}

static void check_jar(struct bbf_findings *findings, const struct bbf_netty_jar *netty)
{
    const char *version = netty->version[0] != '\0' ? netty->version : "of unknown version";

    if (netty->major == 4 && is_old(netty->version))
        bbf_findings_add(findings, BBF_LIMITS, "old-netty",
                         T("Netty %s is older than bbflow supports: 4.1 and 4.2", version),
                         netty->jar, "use Netty 4.1 or 4.2");
    else if (netty->major == 4)
        bbf_findings_add(findings, BBF_KNOW, "netty",
                         T("Netty %s%s%s", version,
                           is_relocated(netty->package) ? ", shaded as " : "",
                           is_relocated(netty->package) ? netty->package : ""),
                         netty->jar, "");
    else
        bbf_findings_add(
            findings, BBF_LIMITS, "other-netty",
            T("Netty %d has no ByteBuf, so bbflow follows none of its buffers", netty->major),
            netty->jar, "bbflow follows Netty 4.1 and 4.2");
}

/* Without the agent: Nettys in jars that class loaders have open. */
static void check_jars(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm)
{
    const struct bbf_jars *jars = &jvm->jars;

    for (size_t i = 0; i < jars->count; i++)
        check_jar(findings, &jars->nettys[i]);
    if (jars->count + jars->more > 1)
        bbf_findings_add(
            findings, BBF_KNOW, "several-nettys",
            T("%zu Nettys are in the jars that the JVM has open", jars->count + jars->more),
            T("/proc/%ld/fd", (long)jvm->pid), several);
    if (jars->count == 0)
        bbf_findings_add(
            findings, BBF_KNOW, "no-netty",
            T("none of the %zu jars that the JVM has open has Netty in it", jars->read),
            T("/proc/%ld/fd", (long)jvm->pid),
            "is it the JVM that you mean? A Netty in a folder of classes is not seen here");
    if (jars->skipped > 0)
        bbf_findings_add(findings, BBF_KNOW, "jars-not-read",
                         T("%zu jars could not be looked into, or not to their end", jars->skipped),
                         T("/proc/%ld/fd", (long)jvm->pid), "");
}

/* ---- The agent's own notes ------------------------------------------------------------------- */

/* Notes that explain an empty report, by their beginnings (agent/report/notes.c); others limit. */
static const struct {
    const char *start, *id, *remedy;
    enum bbf_severity severity;
    bool restart;
} notes[] = {
    {"tracking is off", "tracking-off", "read the JVM's stderr, or the file of log=", BBF_STOPS,
     false},
    {"Netty was never loaded", "netty-not-loaded",
     "send it a request; if it has no Netty, bbflow has nothing to follow", BBF_STOPS, false},
    {"include matches no class", "include-matches-nothing", "", BBF_STOPS, true},
    {"include matched no class", "include-matches-nothing", "", BBF_STOPS, true},
    {"include= matches ", "include-without-buffers", "", BBF_STOPS, true},
    {"no application class", "no-class-with-buffers",
     "send it a request: classes are looked at when they load", BBF_LIMITS, false},
    {"no include= given", "no-include", "", BBF_KNOW, true},
    {"budget: ", "windows", "", BBF_KNOW, false},
    {"duty: ", "windows", "", BBF_KNOW, false},
    {"not tested", "java-not-tested", "use a newer bbflow", BBF_LIMITS, false},
};

/* The remedy of an include that does not fit. */
static const char *other_include(const struct bbf_jvm_facts *jvm)
{
    char package[256];

    if (!bbf_guess_package(jvm, package, sizeof package))
        snprintf(package, sizeof package, "your.package");
    return T("bbflow set %ld include=%s", (long)jvm->pid, package);
}

static void check_note(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm,
                       const char *note)
{
    size_t i = 0, n = sizeof notes / sizeof notes[0];

    while (i < n && strncmp(note, notes[i].start, strlen(notes[i].start)) != 0)
        i++;
    if (i == n) {
        bool table = strstr(note, "has no place for bbflow's mark") != NULL;
        bbf_findings_add(findings, BBF_LIMITS, table ? "found-by-table" : "note", note,
                         "the agent's status", "");
        return;
    }
    bbf_findings_add(findings, notes[i].severity, notes[i].id, note, "the agent's status",
                     notes[i].restart ? other_include(jvm) : notes[i].remedy);
}

/* ---- What settings leave out ----------------------------------------------------------------- */

static void check_setting(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm,
                          const char *name, const char *usual, const char *what)
{
    const char *value = bbf_agent_setting(&jvm->agent, name);

    if (value != NULL && value[0] != '\0' && strcmp(value, usual) != 0)
        bbf_findings_add(findings, BBF_LIMITS, name, T("%s=%s: %s", name, value, what),
                         "the agent's settings",
                         T("bbflow set %ld %s=%s", (long)jvm->pid, name, usual));
}

/* "maxNodes: 1000000 of 1000000, reached 17 times" */
static void check_limit(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm,
                        const char *limit)
{
    int name = (int)strcspn(limit, ":");

    bbf_findings_add(findings, BBF_LIMITS, "limit-reached", T("a limit was reached: %s", limit),
                     "the agent's status",
                     T("bbflow set %ld %.*s=MORE (docs/limits.md says what it costs); after that "
                       "'bbflow reset' forgets what was dropped",
                       (long)jvm->pid, name, limit));
}

static void check_answer(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm)
{
    const struct bbf_agent_answer *answer = &jvm->agent;
    bool explained = false;

    for (size_t i = 0; i < answer->notes.count; i++)
        check_note(findings, jvm, answer->notes.items[i]);
    for (size_t i = 0; i < findings->count; i++)
        explained = explained || findings->items[i].severity == BBF_STOPS;
    if (answer->has_lives && answer->lives == 0 && !explained)
        bbf_findings_add(
            findings, BBF_LIMITS, "no-lives", "no buffer has been followed so far",
            "the agent's totals",
            T("send the application a request, then: bbflow tree %ld --all", (long)jvm->pid));
    for (size_t i = 0; i < answer->limits.count; i++)
        check_limit(findings, jvm, answer->limits.items[i]);
    check_setting(findings, jvm, "trackDirectOnly", "false", "heap buffers are not followed");
    check_setting(findings, jvm, "sample", "1", "not every buffer is followed");
    check_setting(findings, jvm, "budget", "off",
                  "buffers that are allocated outside its windows are not followed");
    check_setting(findings, jvm, "duty", "off",
                  "only buffers that are allocated in short windows of time are followed");
}

/* ---- How the JVM was started ----------------------------------------------------------------- */

static void check_aot(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm)
{
    const char *given = bbf_words_last(&jvm->words, "-XX:AOTCache=");
    const char *cache = jvm->aot != NULL ? jvm->aot : given;

    if (cache != NULL && jvm->java >= 24 && !jvm->agent.answered)
        bbf_findings_add(
            findings, BBF_LIMITS, "aot-cache",
            "classes come from an AOT cache before the agent: ByteBuf gets no place for its mark, "
            "and each step costs more",
            cache,
            "create the cache with -XX:-AOTClassLinking (docs/other-agents.md); its use needs no "
            "flag");
    if (jvm->archive != NULL)
        bbf_findings_add(findings, BBF_KNOW, "cds-archive",
                         "classes come from a CDS archive, which bbflow works with", jvm->archive,
                         "create it without bbflow");
}

/* Without their options, which may be secret. */
static void check_other_agents(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm)
{
    static const char *const starts[] = {"-javaagent:", "-agentpath:", "-agentlib:"};

    for (size_t i = 0; i < jvm->words.count; i++)
        for (size_t k = 0; k < sizeof starts / sizeof starts[0]; k++) {
            const char *word = jvm->words.items[i];
            if (strncmp(word, starts[k], strlen(starts[k])) == 0 && !bbf_words_start_bbflow(word))
                bbf_findings_add(findings, BBF_KNOW, "other-agent",
                                 T("another agent: %.*s", (int)strcspn(word, "="), word),
                                 "its options", "put bbflow's -agentpath before it");
        }
}

static void check_detector(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm)
{
    const char *level = bbf_words_last(&jvm->words, "-Dio.netty.leakDetection.level=");

    if (level == NULL)
        level = bbf_words_last(&jvm->words, "-Dio.netty.leakDetectionLevel=");
    if (level != NULL && strcasecmp(level, "disabled") != 0)
        bbf_findings_add(
            findings, BBF_KNOW, "leak-detector", T("Netty's own leak detector is %s", level),
            "its options",
            "bbflow needs none: -Dio.netty.leakDetection.level=disabled saves its cost");
}

/* Options that take from the JVM what bbflow or this command reads. */
static void check_switches(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm)
{
    const struct bbf_words *words = &jvm->words;

    if (jvm->reads_perf && !jvm->has_perf)
        bbf_findings_add(findings, BBF_KNOW, "perf-data-off",
                         "the JVM has no performance data, so its options are known from its "
                         "command line and environment alone",
                         "/tmp/hsperfdata_*", "-XX:+UsePerfData writes them");
    if (bbf_words_has(words, "-noverify") || bbf_words_has(words, "-Xverify:none") ||
        bbf_words_switch(words, "BytecodeVerificationRemote") == 0)
        bbf_findings_add(findings, BBF_KNOW, "verification-off",
                         "classes are not verified: an error of any agent that changes classes "
                         "would crash the JVM instead of failing a class",
                         "its options", "start it without that option");
}

static void check_memory(struct bbf_findings *findings, const struct bbf_jvm_facts *jvm)
{
    static const char *const names[] = {
        "-XX:MaxDirectMemorySize=", "-Dio.netty.maxDirectMemory=", "-Dio.netty.noPreferDirect=",
        "-Dio.netty.allocator.type=", "-Dio.netty.noUnsafe="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = bbf_words_last(&jvm->words, names[i]);
        if (value != NULL)
            bbf_findings_add(findings, BBF_KNOW, "memory-setting", T("%s%s", names[i], value),
                             "its options", "");
    }
}

void bbf_doctor_seen(struct bbf_findings *findings, const struct bbf_jvm_facts *facts)
{
    if (facts->kind == BBF_PROC_FORBIDDEN)
        return;
    if (facts->agent.answered) {
        check_loaded_netty(findings, facts);
        check_answer(findings, facts);
    } else {
        check_jars(findings, facts);
    }
    check_aot(findings, facts);
    check_switches(findings, facts);
    check_other_agents(findings, facts);
    check_detector(findings, facts);
    check_memory(findings, facts);
    if (facts->words.failed)
        findings->failed = true;
}
