/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/attach.h - our own client of HotSpot's attach protocol, so that `bbflow attach` needs no
 * JDK. A file .attach_pidN and SIGQUIT wake the JVM's attach listener, which listens on
 * /tmp/.java_pidN. A request is five strings, each ended by a NUL: "1", "load", the library, "true"
 * (its path is absolute), the options. The answer is a number, a newline and text, up to the end of
 * the connection.
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

enum bbf_attach_outcome {
    BBF_ATTACH_LOADED,    /* Agent_OnAttach has run: *code is its return value */
    BBF_ATTACH_NOT_LOADED /* the JVM refuses; its text has the reason */
};

/* Parse the JVM's whole answer to `load`. *text is the start of its text within `answer`. */
enum bbf_attach_outcome bbf_attach_read_answer(const char *answer, int *code, const char **text);

/*
 * Have the JVM `pid` load `library` with `options`. The library is a local file; it is copied to
 * the JVM's /tmp meanwhile if the JVM has another file system or may not read it. Returns the exit
 * code; prints its messages. `who` names the JVM. When run as root, this switches to the JVM's user
 * while it works.
 */
int bbf_attach_load(pid_t pid, const char *who, const char *library, const char *options);

#endif
