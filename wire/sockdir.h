/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/sockdir.h - the places of the sockets, BASE/bbflow-UID/PID.sock (design.md: serving), and
 * the check whether such a folder can be trusted. The folder is what keeps other users out: it has
 * mode 0700, belongs to us and is not a symlink.
 *
 * Threads: any, no state. Errors: BBF_E… with `why`.
 */
#ifndef BBF_WIRE_SOCKDIR_H
#define BBF_WIRE_SOCKDIR_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* The longest path that we accept; PATH_MAX does not bound a path that we print. */
enum { BBF_SOCKDIR_PATH = 512, BBF_SOCKET_PATH = sizeof(((struct sockaddr_un *)0)->sun_path) };

/* Names of the agent's thread. A client that finds no socket reads from them whether bbflow runs,
 * or was stopped and waits for its last buffers. The kernel allows 15 characters. */
#define BBF_AGENT_THREAD  "bbflow"
#define BBF_AGENT_STOPPED "bbflow-stopped"

/* The i-th of the three places, in the order of preference; NULL if i is past the end. "" for an
 * unset, relative or empty $XDG_RUNTIME_DIR. */
const char *bbf_sockdir_base(unsigned i);

/* Is `path` a folder (not a symlink) that belongs to `uid` and that no other user may enter?
 * Errors: BBF_ENOTFOUND, BBF_EPERMISSION, BBF_EIO. */
int bbf_sockdir_check(const char *path, uid_t uid, char *why, size_t why_size);

/* Make BASE/bbflow-UID of the effective user if it does not exist, check it, and write the path of
 * the pid's socket to `path`. Errors: BBF_EPERMISSION, BBF_EIO, BBF_ERANGE (path too long). */
int bbf_sockdir_make(const char *base, pid_t pid, char path[BBF_SOCKET_PATH], char *why,
                     size_t why_size);

/* Does a process listen at this socket? BBF_OK (*peer: the process that called listen, zeros if the
 * kernel does not know), BBF_ECLOSED (a socket that its process left behind), BBF_ENOTFOUND,
 * BBF_EPERMISSION, BBF_ERANGE, BBF_EIO. Never waits; the server ignores such a connection. */
int bbf_socket_probe(const char *path, struct ucred *peer);

#endif
