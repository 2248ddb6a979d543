/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/measure.h - `bbflow status --measure TIME`: what following costs a JVM that follows all
 * buffers. For that time the agent follows those of every second moment (duty=50%, ADR 65) and
 * measures the moments against each other; then the settings are as they were, also after Ctrl-C.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_MEASURE_H
#define BBF_CLIENT_MEASURE_H

#include "client/client.h"

/* Print the figure for request->measure_ns. An exit code; if it is not 0, the reason was printed.
 */
int bbf_measure(const struct bbf_command_line *request);

#endif
