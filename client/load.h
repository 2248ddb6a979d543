/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/load.h - a snapshot from where a command line says: a JVM, a document, a black box. Each
 * function returns an exit code; if it is not 0, it has printed the reason.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_LOAD_H
#define BBF_CLIENT_LOAD_H

#include "client/client.h"
#include "client/connect.h"
#include "core/buf.h"
#include "snapshot/snapshot.h"

struct bbf_loaded {
    struct bbf_buf document; /* as it was read or sent */
    struct bbf_snapshot *snapshot;
    char who[BBF_WHO]; /* the file or the JVM, for messages */
    bool from_box;     /* the document is not the whole of what is known */
};

/* Free with bbf_loaded_free(), also after a failure. */
int bbf_load(const struct bbf_command_line *request, struct bbf_loaded *loaded);
void bbf_loaded_free(struct bbf_loaded *loaded);

/* Request the document of `event` from the target. */
int bbf_ask_target(const struct bbf_command_line *request, const char *event,
                   struct bbf_buf *document, char who[BBF_WHO]);

int bbf_read_file(const char *path, struct bbf_buf *document);

#endif
