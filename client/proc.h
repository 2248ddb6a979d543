/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/proc.h - what /proc tells of other processes: is it a JVM, whose, with which main class.
 * Everything here is a hint for a person: a process may end or change at any time.
 *
 * Threads: any. Source: proc(5); java(1) for the launcher's options.
 */
#ifndef BBF_CLIENT_PROC_H
#define BBF_CLIENT_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum bbf_proc_kind {
    BBF_PROC_NONE,     /* no such process */
    BBF_PROC_OTHER,    /* not a JVM */
    BBF_PROC_JVM,      /* libjvm.so is mapped, libbbflow.so is not */
    BBF_PROC_AGENT,    /* both are mapped */
    BBF_PROC_FORBIDDEN /* another user's: its maps cannot be read */
};

/* What `pid` is. *owner (may be NULL) gets its user when it exists. */
enum bbf_proc_kind bbf_proc_kind_of(pid_t pid, uid_t *owner);

/* Has it ended (a zombie has)? Is it stopped, by a signal or a debugger, so that it answers
 * nothing?
 */
bool bbf_proc_has_ended(pid_t pid);
bool bbf_proc_is_stopped(pid_t pid);

/* Does one of its threads have this name (the kernel's, of 15 characters at most)? */
bool bbf_proc_has_thread(pid_t pid, const char *name);

/*
 * The main class ("com.app.Main"), the jar's file name ("app.jar"), or the program's name for a
 * JVM that the java launcher did not start; "" when unknown. The caller frees; NULL without memory.
 */
char *bbf_proc_main(pid_t pid);

/* The same from the bytes of /proc/PID/cmdline: arguments, each ended by a NUL. */
char *bbf_main_of_cmdline(const char *bytes, size_t len);

/* Every process id in /proc, in no order. */
void bbf_proc_each(void *ctx, void (*found)(void *ctx, pid_t pid));

#endif
