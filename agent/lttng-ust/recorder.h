/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/lttng-ust/recorder.h - what libbbflow-lttng.so gives to libbbflow.so. It alone links
 * liblttng-ust, so that libbbflow.so runs where that is not installed. The library exports one
 * symbol, BBF_RECORDER_SYMBOL, a struct bbf_recorder.
 *
 * It is built twice, because two libraries with the tracepoint lttng_jul:event in one process
 * record each event twice: libbbflow-lttng.so has the tracepoint and its calls,
 * libbbflow-lttng-shared.so the calls alone. The second one is for a JVM in which LTTng's own Java
 * agent (liblttng-ust-jul-jni.so) has the tracepoint already.
 *
 * Threads: any. Neither call blocks: without room in the trace's buffer an event is discarded, and
 * the trace counts it.
 */
#ifndef BBF_AGENT_LTTNG_UST_RECORDER_H
#define BBF_AGENT_LTTNG_UST_RECORDER_H

#include <stdbool.h>

enum { BBF_RECORDER_ABI = 1 };
#define BBF_RECORDER_SYMBOL "bbf_recorder"

/* One event, as LTTng's Java agent has them. */
struct bbf_log_record {
    const char *message, *logger, *class_name, *method;
    long time_ms; /* since 1970 */
    int level;    /* java.util.logging.Level.intValue() */
    int thread;   /* of Java; 0: not known */
};

struct bbf_recorder {
    unsigned abi;
    bool (*is_on)(void); /* has any session the tracepoint enabled? One load. */
    void (*record)(const struct bbf_log_record *record);
};

#endif
