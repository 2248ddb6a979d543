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

/* At most `max` of them, two or three lines each; nothing where nothing was lost. The view has
 * names and divergences; its last path is no longer valid. */
void bbf_divergences_text(struct bbf_buf *out, struct bbf_view *view, size_t max);

/* "3.0 MiB direct", "3.0 MiB direct and heap" */
void bbf_divergence_bytes(struct bbf_buf *out, const struct bbf_divergence *divergence);

#endif
