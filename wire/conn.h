/*
 * wire/conn.h - the client's end of a conversation: blocking, with a time-out for each wait.
 *
 * Called by: client. Threads: one owner. Errors: BBF_E… with `why` filled for a person.
 */
#ifndef BBF_WIRE_CONN_H
#define BBF_WIRE_CONN_H

#include <stddef.h>
#include <sys/types.h>

#include "wire/command.h"

struct bbf_conn;

/* Connect to a Unix socket and negotiate BTR2. BBF_ENOTFOUND (no socket / nobody answers),
 * BBF_EPERMISSION, BBF_ETIMEOUT, BBF_EVERSION, BBF_EIO. */
int bbf_conn_open_unix(struct bbf_conn **out, const char *path, unsigned timeout_ms, char *why,
                       size_t why_size);
void bbf_conn_close(struct bbf_conn *conn); /* NULL is allowed */
int bbf_conn_send(struct bbf_conn *conn, const struct bbf_command *command, char *why,
                  size_t why_size);
int bbf_conn_receive(struct bbf_conn *conn, struct bbf_command *out, char *why, size_t why_size);

/*
 * The whole conversation of D9: LIST_PROBES, RECONNECT, EVENT name, DISCONNECT; the MESSAGE texts,
 * concatenated, go to *document. BBF_EREFUSED when the agent answered ERROR (why = its message).
 */
int bbf_conn_event(struct bbf_conn *conn, const char *name, struct bbf_buf *document, char *why,
                   size_t why_size);
/* SET_PARAMS name=value…; the agent's answer (MESSAGE texts or the ERROR's) goes to *answer.
 * BBF_EREFUSED when it failed. */
int bbf_conn_set(struct bbf_conn *conn, const struct bbf_entry *params, size_t n,
                 struct bbf_buf *answer, char *why, size_t why_size);

/* Where sockets live: calls `found` for each BASE/bbflow-UID/PID.sock of the own uid (root: every
 * uid and /proc/PID/root/…) that somebody answers on; sockets that nobody answers on are removed
 * when they are ours. */
void bbf_conn_discover(void *ctx, void (*found)(void *ctx, pid_t pid, uid_t uid, const char *path));

#endif
