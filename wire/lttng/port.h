/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/lttng/port.h - where a session daemon listens: it writes its TCP port into a file.
 *
 * Threads: bbf_lttng_port_path(): where the environment does not change; the other: any.
 */
#ifndef BBF_WIRE_LTTNG_PORT_H
#define BBF_WIRE_LTTNG_PORT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose daemon: root's, and that of the application's user. */
enum bbf_lttng_daemon { BBF_LTTNG_ROOT, BBF_LTTNG_USER, BBF_LTTNG_DAEMONS };

/* "root" or "user", for a message. */
const char *bbf_lttng_daemon_name(enum bbf_lttng_daemon daemon);

/*
 * The file of that daemon, as liblttng-ust finds it: with LTTNG_UST_APP_PATH the user's one is in
 * its first folder, and root's is not looked at; otherwise /var/run/lttng/agent.port and
 * .lttng/agent.port in LTTNG_HOME or HOME. false: there is none, or the path is too long.
 */
bool bbf_lttng_port_path(enum bbf_lttng_daemon daemon, char path[PATH_MAX]);

/* The port in the file, 1 to 65535; 0: no file, or it has anything but one number in one line. It
 * opens regular files only and does not wait. */
uint16_t bbf_lttng_port_read(const char *path);

#endif
