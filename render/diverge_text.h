/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/diverge_text.h - the divergences of a view in words, for a person.
 *
 * Threads: the view's owner. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_DIVERGE_TEXT_H
#define BBF_RENDER_DIVERGE_TEXT_H

#include "core/buf.h"
#include "render/view.h"

/* One of them, two lines or more, without its number. The view has names and
 * divergences; its last path is no longer valid. */
void bbf_divergence_text(struct bbf_buf *out, struct bbf_view *view,
                         const struct bbf_divergence *d);

/* At most `max` of them, two or three lines each; nothing where nothing was lost. The
 * view as above. */
void bbf_divergences_text(struct bbf_buf *out, struct bbf_view *view, size_t max);

/* One of them as one line, with its id and a line end: "15 of 156 (9.62%) that reach …". */
void bbf_divergence_line(struct bbf_buf *out, struct bbf_view *view,
                         const struct bbf_divergence *divergence);

/* "3.0 MiB direct", "3.0 MiB direct and heap" */
void bbf_divergence_bytes(struct bbf_buf *out, const struct bbf_divergence *divergence);

#endif
