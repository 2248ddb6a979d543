/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/sockdir.h - where the sockets live: BASE/bbflow-UID/PID.sock (design.md: serving), and
 * whether such a folder may be trusted. The folder is the lock on the door: 0700, ours, not a
 * symlink.
 *
 * Threads: any, no state. Errors: BBF_E… with `why`.
 */
#ifndef BBF_WIRE_SOCKDIR_H
#define BBF_WIRE_SOCKDIR_H

#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* PATH_MAX is no bound for a path that we print; this is one for what we accept. */
enum { BBF_SOCKDIR_PATH = 512, BBF_SOCKET_PATH = sizeof(((struct sockaddr_un *)0)->sun_path) };

/* Names of the agent's thread, by which a client that finds no socket knows whether bbflow runs, or
 * was stopped and waits for its last buffers. The kernel takes 15 characters. */
#define BBF_AGENT_THREAD  "bbflow"
#define BBF_AGENT_STOPPED "bbflow-stopped"

/* The three places, first to last; the i-th, or NULL when i is past the end. An unset, relative or
 * empty $XDG_RUNTIME_DIR is "". */
const char *bbf_sockdir_base(unsigned i);

/* Is `path` a folder (no symlink) that belongs to `uid` and that nobody else may enter?
 * BBF_ENOTFOUND, BBF_EPERMISSION, BBF_EIO. */
int bbf_sockdir_check(const char *path, uid_t uid, char *why, size_t why_size);

/* Make BASE/bbflow-UID of the effective user if need be, check it, and write the path of the
 * pid's socket to `path`. BBF_EPERMISSION, BBF_EIO, BBF_ERANGE (path too long). */
int bbf_sockdir_make(const char *base, pid_t pid, char path[BBF_SOCKET_PATH], char *why,
                     size_t why_size);

/* Does somebody listen there? BBF_OK (*peer: who called listen, zeros when the kernel does not
 * say), BBF_ECLOSED (a socket that its process left behind), BBF_ENOTFOUND, BBF_EPERMISSION,
 * BBF_ERANGE, BBF_EIO. Never waits; the server shrugs it off. */
int bbf_socket_probe(const char *path, struct ucred *peer);

#endif
