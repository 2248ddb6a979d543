/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/names.h - how a step is called in the text renders: "Handler.process", simple class names
 * as the seed has them. Where two classes of one snapshot share a simple name, both get as many
 * packages in front as tell them apart ("a.Handler.process", "b.Handler.process"); where two
 * methods of one class share a name, both get their parameters ("Handler.process(ByteBuf, int)").
 * What a compiler named is called as people wrote it (render/step_words.h): "Handler.process
 * (lambda, line 26)". Made once per render, so that a line is a copy.
 *
 * Threads: one owner. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_NAMES_H
#define BBF_RENDER_NAMES_H

#include "core/buf.h"
#include "snapshot/snapshot.h"

struct bbf_name {
    const char *text; /* safe for a terminal, not NUL-terminated */
    uint32_t len;
    uint32_t rank; /* by the sites' order, text, class, descriptor, id: no two sites share one */
};

struct bbf_names {
    struct bbf_name *names; /* by index of the site */
    struct bbf_buf texts;   /* what they point into */
    bool lines;             /* "Handler.process:26" */
};

/* `separator`: a byte that must not occur in a name ('\0': none), see bbf_text_safe(). `lines`:
 * each name has its line number, where that is known. */
int bbf_names_init(struct bbf_names *names, const struct bbf_snapshot *snapshot, char separator,
                   bool lines);
void bbf_names_free(struct bbf_names *names);

/* The full name, without descriptor: "com.app.Handler.process", "?raced", "?first-seen a.B". Not
 * made safe. */
void bbf_site_full_name(struct bbf_buf *out, const struct bbf_snap_site *site);
/* The same as people wrote it: "com.app.Handler.process (lambda, line 26)". Not made safe. */
void bbf_site_readable_name(struct bbf_buf *out, const struct bbf_snap_site *site);

#endif
