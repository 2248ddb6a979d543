/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/capture.h"

#include <stdio.h>

#include "agent/cost/meter.h"
#include "agent/jvm/heap.h"
#include "agent/report/file.h"
#include "agent/report/fill.h"
#include "agent/rules.h"
#include "agent/state.h"
#include "core/err.h"

static struct bbf_jvm_refs heap;

void bbf_capture_begin(JNIEnv *env)
{
    bbf_heap_init(&heap, env);
}

void bbf_capture_abandon(void)
{
    bbf_lives_abandon(bbf_agent.tracker, &heap);
}

void bbf_capture_scan(void)
{
    uint64_t begin = bbf_meter_clock();
    bbf_lives_scan(bbf_agent.tracker, &heap);
    bbf_meter_scanned(begin);
}

void bbf_capture_collect_garbage(void)
{
    bbf_capture_scan();
    (void)(*bbf_agent.code)->ForceGarbageCollection(bbf_agent.code);
}

int bbf_capture_report(JNIEnv *env, struct bbf_snapshot *snapshot)
{
    uint64_t begin = bbf_meter_clock();
    int err = bbf_report_fill(env, snapshot);
    bbf_meter_reported(begin);
    return err;
}

int bbf_capture_snapshot(JNIEnv *env, struct bbf_snapshot *snapshot)
{
    bbf_capture_scan();
    return bbf_capture_report(env, snapshot);
}

int bbf_capture_file(JNIEnv *env, struct bbf_snapshot *snapshot, uint64_t deadline_ns,
                     struct bbf_buf *text)
{
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    struct bbf_buf path = BBF_BUF_INIT;
    char why[700] = "";
    int err = bbf_capture_report(env, snapshot);
    if (err != BBF_OK)
        snprintf(why, sizeof why, "file: no report: %s", bbf_strerror(err));
    else
        err = bbf_report_path(&path, rules->options.file, why, sizeof why);
    if (err == BBF_OK)
        err = bbf_report_write(snapshot, bbf_buf_cstr(&path), deadline_ns, why, sizeof why);
    bbf_buf_str(text, why);
    bbf_buf_free(&path);
    return err == BBF_ETIMEOUT ? BBF_ELIMIT : err; /* ETIMEOUT: there is no answer */
}
