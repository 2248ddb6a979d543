/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/attach.h - HotSpot's attach protocol, spoken by ourselves, so that `bbflow attach` needs
 * no JDK: a file .attach_pidN and SIGQUIT wake the JVM's attach listener, it listens on
 * /tmp/.java_pidN, and a request is five strings, each ended by a NUL: "1", "load", the library,
 * "true" (its path is absolute), the options. The answer is a number, a newline and text, to the
 * end of the connection.
 * Source: attachListener_linux.cpp / attachListener_posix.cpp of JDK 11 to 25, and
 * sun.tools.attach.VirtualMachineImpl; N is the pid as the JVM sees it (NSpid of proc(5)).
 *
 * Threads: one. Errors: messages by bbf_fail(), exit codes of client.h.
 */
#ifndef BBF_CLIENT_ATTACH_H
#define BBF_CLIENT_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What /proc/PID/status says of a process. */
struct bbf_attach_status {
    pid_t inner; /* its pid in its own namespace: the last of NSpid, or of Pid */
    uid_t uid;   /* effective */
    gid_t gid;
    bool catches_quit; /* SIGQUIT has a handler: without one it would end the process */
};

/* Read it from the file's text; false if a field is missing. */
bool bbf_attach_read_status(const char *text, struct bbf_attach_status *status);

/*
 * What the JVM's performance data (/tmp/hsperfdata_USER/PID) says of attach, by the first character
 * of sun.rt.jvmCapabilities: 1 it takes it, 0 it does not, -1 nothing (no such entry, not
 * understood). Source: perfMemory.hpp (PerfDataPrologue, PerfDataEntry), runtimeService.cpp.
 */
int bbf_attach_perf(const unsigned char *bytes, size_t len);

/* The last word on DisableAttachMechanism in a command line or an environment: 1 it is off (attach
 * is taken), 0 it is on, -1 not mentioned. */
int bbf_attach_flag(const char *bytes, size_t len);

enum bbf_attach_outcome {
    BBF_ATTACH_LOADED,    /* Agent_OnAttach has run: *code is what it returned */
    BBF_ATTACH_NOT_LOADED /* the JVM says why not, in its own words */
};

/* The JVM's whole answer to `load`. *text is where its words begin within `answer`. */
enum bbf_attach_outcome bbf_attach_read_answer(const char *answer, int *code, const char **text);

/*
 * Have the JVM `pid` load `library` (a file of ours; copied to the JVM's /tmp for the while if the
 * JVM sees another file system or may not read it) with `options`. The exit code; messages are out.
 * `who` names the JVM. As root this takes the JVM's user while it works.
 */
int bbf_attach_load(pid_t pid, const char *who, const char *library, const char *options);

#endif
