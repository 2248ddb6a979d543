/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/exit.h"

#include <limits.h>
#include <stdio.h>

#include "agent/rules.h"
#include "agent/state.h"
#include "agent/thread.h"
#include "core/err.h"
#include "core/log.h"

/* Static: if the agent thread does not finish in time it keeps the job (agent/thread.h). */
static void write_report(const struct bbf_options *options)
{
    static struct bbf_buf why = BBF_BUF_INIT;
    static struct bbf_job job = {.kind = BBF_JOB_FILE, .text = &why};
    char limit[32] = "";
    job.deadline_ns = bbf_thread_deadline(options->exit_timeout);
    job.snapshot = bbf_snapshot_new();
    int err = job.snapshot == NULL ? BBF_ENOMEM : bbf_thread_ask(&job, UINT_MAX, 0);
    if (err == BBF_OK)
        return;
    if (err == BBF_ETIMEOUT || err == BBF_ELIMIT)
        snprintf(limit, sizeof limit, " (exitTimeout=%llus)",
                 (unsigned long long)options->exit_timeout);
    if (err == BBF_ETIMEOUT) /* the text is still the agent thread's */
        bbf_log(BBF_LOG_ERROR,
                "file: no report: %s was not written when its time was over%s; the JVM has much "
                "else to do, or the file system does not answer",
                options->file, limit);
    else if (why.len > 0)
        bbf_log(BBF_LOG_ERROR, "%s%s", bbf_buf_cstr(&why), limit);
    else
        bbf_log(BBF_LOG_ERROR, "file: no report: %s", bbf_strerror(err));
}

/*
 * gc=exit: in a shutdown hook, because at VMDeath HotSpot has already stopped the threads of its
 * concurrent collectors, and a collection asked for then never returns (ZGC on 17: seen).
 */
void bbf_exit_collect(void)
{
    static struct bbf_job job = {.kind = BBF_JOB_GC};
    const struct bbf_rules_hold hold = bbf_rules_hold();
    bool on = hold.rules != NULL;
    job.deadline_ns = on ? bbf_thread_deadline(hold.rules->options.exit_timeout) : 0;
    bbf_rules_let_go(&hold);
    if (on && bbf_thread_ask(&job, UINT_MAX, 0) != BBF_OK)
        bbf_log(BBF_LOG_WARN, "gc=exit: no garbage collection before the report");
}

void bbf_exit_write(void)
{
    const struct bbf_rules_hold hold = bbf_rules_hold();
    if (hold.rules != NULL && hold.rules->options.file != NULL)
        write_report(&hold.rules->options);
    bbf_rules_let_go(&hold);
}

void bbf_exit_record(void)
{
    static struct bbf_job job = {.kind = BBF_JOB_RECORDED};
    const struct bbf_rules_hold hold = bbf_rules_hold();
    bool on = hold.rules != NULL &&
              (hold.rules->options.jfr != NULL || hold.rules->options.blackbox != NULL);
    bool recorded = on && hold.rules->options.jfr != NULL;
    if (on)
        job.deadline_ns = bbf_thread_deadline(hold.rules->options.exit_timeout);
    bbf_rules_let_go(&hold);
    if (on && bbf_thread_ask(&job, UINT_MAX, 0) != BBF_OK && recorded)
        bbf_log(BBF_LOG_ERROR, "jfr: the recording was not ended when the exit's time was over; "
                               "'bbflow jfr repair' mends it");
}
