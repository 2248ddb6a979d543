/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/proc.h - facts about other processes from /proc: is it a JVM, who owns it, what is its
 * main class. All of this is only a hint for a person, because a process may end or change at any
 * time.
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

/* Classify `pid`. *owner (may be NULL) gets its user if it exists. */
enum bbf_proc_kind bbf_proc_kind_of(pid_t pid, uid_t *owner);

/* Read at most size - 1 bytes of /proc/PID/NAME and end them with a NUL; how many, 0 if it cannot
 * be read. */
size_t bbf_proc_read(pid_t pid, const char *name, char *to, size_t size);

/* Has it ended (a zombie has)? Is it stopped by a signal or a debugger, so that it cannot
 * answer? */
bool bbf_proc_has_ended(pid_t pid);
bool bbf_proc_is_stopped(pid_t pid);

/* Does one of its threads have this name (the kernel's, of 15 characters at most)? */
bool bbf_proc_has_thread(pid_t pid, const char *name);

/*
 * The main class ("com.app.Main"), the jar's file name ("app.jar"), or the program's name for a JVM
 * that the java launcher did not start; "" if unknown. The caller frees it; NULL: out of memory.
 */
char *bbf_proc_main(pid_t pid);

/* The same from the bytes of /proc/PID/cmdline: arguments, each ended by a NUL. */
char *bbf_main_of_cmdline(const char *bytes, size_t len);

/* How many of these bytes are before the main class: the options, if the java launcher started the
 * JVM, else all. */
size_t bbf_options_of_cmdline(const char *bytes, size_t len);

/* All process ids in /proc, unordered. */
void bbf_proc_each(void *ctx, void (*found)(void *ctx, pid_t pid));

#endif
