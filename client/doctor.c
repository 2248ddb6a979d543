/* SPDX-License-Identifier: Apache-2.0 */
#include "client/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "client/doctor_show.h"
#include "client/library.h"
#include "client/next_start.h"
#include "client/output.h"
#include "client/progress.h"
#include "client/print.h"
#include "client/target.h"
#include "core/err.h"

enum { PATH_BYTES = 512, OPTION_BYTES = 2048 };

struct doctor {
    const struct bbf_command_line *request;
    struct bbf_library_facts library;
    struct bbf_buf out;
    size_t jvms;
    bool found, failed;
};

/* Stable: rules are in the order in which a person should act. */
static void sort(struct bbf_findings *findings)
{
    for (size_t i = 1; i < findings->count; i++) {
        struct bbf_finding one = findings->items[i];
        size_t at = i;
        for (; at > 0 && findings->items[at - 1].severity > one.severity; at--)
            findings->items[at] = findings->items[at - 1];
        findings->items[at] = one;
    }
}

void bbf_doctor_judge(struct bbf_findings *findings, const struct bbf_jvm_facts *facts,
                      const struct bbf_library_facts *library)
{
    char option[OPTION_BYTES];

    bbf_doctor_start(findings, facts, library);
    bbf_doctor_seen(findings, facts);
    if (facts->kind != BBF_PROC_FORBIDDEN) {
        if (bbf_next_start(facts, library, option, sizeof option, &findings->copy))
            findings->next = strdup(option);
        else
            bbf_findings_add(findings, BBF_LIMITS, "path-not-usable",
                             "the path of libbbflow.so or an option has a character that "
                             "-agentpath or a shell cannot take",
                             library->path, "put the library elsewhere");
    }
    sort(findings);
}

static void examine(struct doctor *doctor, pid_t pid, bool named)
{
    struct bbf_findings findings = {.items = NULL};
    struct bbf_jvm_facts facts;
    const struct bbf_command_line *request = doctor->request;

    bbf_progress_stage("looking at process %ld", (long)pid);
    bbf_jvm_facts_read(&facts, pid, request->socket, request->timeout_ms);
    facts.named = named;
    bbf_doctor_judge(&findings, &facts, &doctor->library);
    doctor->found = doctor->found || bbf_findings_matter(&findings);
    doctor->failed = doctor->failed || findings.failed;
    if (request->json) {
        bbf_buf_str(&doctor->out, doctor->jvms > 0 ? ",\n" : "\n");
        bbf_doctor_json(&doctor->out, &facts, &findings, doctor->library.path);
    } else {
        bbf_buf_str(&doctor->out, doctor->jvms > 0 ? "\n" : "");
        bbf_doctor_text(&doctor->out, &facts, &findings, doctor->library.path);
    }
    doctor->jvms++;
    bbf_findings_free(&findings);
    bbf_jvm_facts_free(&facts);
}

/* Other users' processes hide whether they are JVMs: their name is a hint. */
static bool may_be_jvm(pid_t pid)
{
    char comm[32];
    enum bbf_proc_kind kind = bbf_proc_kind_of(pid, NULL);

    if (kind == BBF_PROC_FORBIDDEN)
        return bbf_proc_read(pid, "comm", comm, sizeof comm) > 0 && strcmp(comm, "java\n") == 0;
    return kind == BBF_PROC_JVM || kind == BBF_PROC_AGENT;
}

static void examine_each(void *ctx, pid_t pid)
{
    if (may_be_jvm(pid))
        examine(ctx, pid, false);
}

/* "all", or no target: each JVM that can be seen. */
static int examine_targets(struct doctor *doctor)
{
    const char *target = doctor->request->target;
    int exit_code = BBF_EXIT_OK;

    if (target != NULL && strcmp(target, "all") != 0) {
        pid_t pid = bbf_target_any(doctor->request, &exit_code);
        if (pid != 0)
            examine(doctor, pid, true);
        return exit_code;
    }
    bbf_proc_each(doctor, examine_each);
    if (doctor->jvms == 0)
        return bbf_fail(BBF_EXIT_TARGET,
                        "no JVM is to be seen here; one in another container has process ids of "
                        "its own: run bbflow on the host, as root, or in that container");
    return exit_code;
}

static int write_out(struct doctor *doctor)
{
    const char *output = doctor->request->output;

    if (doctor->request->json)
        bbf_buf_str(&doctor->out, "]}\n");
    if (doctor->out.failed || doctor->failed)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    return doctor->request->json ? bbf_output_exact(output, &doctor->out)
                                 : bbf_output_write(output, &doctor->out);
}

int bbf_verb_doctor(const struct bbf_command_line *request)
{
    struct doctor doctor = {.request = request, .out = BBF_BUF_INIT};
    char library[PATH_BYTES];

    bbf_library_find(request->agent, library, sizeof library);
    bbf_library_facts_read(&doctor.library, library);
    if (request->json)
        bbf_buf_printf(&doctor.out, "{\"schema\":\"bbflow-doctor/1\",\"version\":\"%s\",\"jvms\":[",
                       BBF_VERSION);
    int exit_code = examine_targets(&doctor);
    if (exit_code == BBF_EXIT_OK)
        exit_code = write_out(&doctor);
    if (exit_code == BBF_EXIT_OK && doctor.found)
        exit_code = BBF_EXIT_LOST;
    bbf_buf_free(&doctor.out);
    return exit_code;
}
