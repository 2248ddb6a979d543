/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/attach_facts.h - what /proc and the performance data say about attaching to a JVM. All of
 * it is only read.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_ATTACH_FACTS_H
#define BBF_CLIENT_ATTACH_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The facts about a process in /proc/PID/status. */
struct bbf_attach_status {
    pid_t inner; /* its pid in its own namespace: the last of NSpid, or of Pid */
    uid_t uid;   /* effective */
    gid_t gid;
    bool catches_quit; /* SIGQUIT has a handler: without one it would end the process */
};

/* Read it from the file's text; false if a field is missing. */
bool bbf_attach_read_status(const char *text, struct bbf_attach_status *status);

/*
 * Does the JVM accept an attach, according to its performance data (/tmp/hsperfdata_USER/PID)? By
 * the first character of sun.rt.jvmCapabilities: 1 yes, 0 no, -1 unknown (no such entry, or unknown
 * format). Source: perfMemory.hpp (PerfDataPrologue, PerfDataEntry), runtimeService.cpp.
 */
int bbf_attach_perf(const unsigned char *bytes, size_t len);

/* The text of another entry, as "java.rt.vmArgs"; the caller frees it. NULL: there is none. */
char *bbf_perf_text(const unsigned char *bytes, size_t len, const char *name);

/* Read the performance data of the JVM, /tmp/hsperfdata_USER/N of whichever user; the caller frees
 * them. `tmp_folder`: its folder /tmp, opened. NULL: there are none (-XX:-UsePerfData). */
unsigned char *bbf_perf_read(int tmp_folder, const struct bbf_attach_status *status, size_t *len);

/* The last setting of DisableAttachMechanism in a command line or an environment: 1 off (attach is
 * accepted), 0 on, -1 not mentioned. */
int bbf_attach_flag(const char *bytes, size_t len);

/* The `n`-th number (from 0; -1: the last) in the line of `text` that begins with `name`, to the
 * base 10 or 16. */
bool bbf_attach_number(const char *text, const char *name, int n, int base,
                       unsigned long long *value);

/*
 * Does the JVM accept an attach? `tmp` is its folder /tmp, opened. True if nothing says otherwise.
 * A JVM with -XX:+DisableAttachMechanism answers SIGQUIT with a thread dump on its stdout.
 */
bool bbf_attach_is_on(pid_t pid, int tmp, const struct bbf_attach_status *status);

#endif
