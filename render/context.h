/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/context.h - context=on in reports: of the lives that were lost last, which channel had
 * them, the hint that touch() got, and the exception that was caught.
 *
 * Texts of the application and the network are made safe. Threads: one owner.
 */
#ifndef BBF_RENDER_CONTEXT_H
#define BBF_RENDER_CONTEXT_H

#include "core/buf.h"
#include "render/diverge.h"
#include "render/view.h"

/* "   last lost: channel 0x1a2b3c4d /127.0.0.1:51324, touched \"cart parsed\", after X in Y", a
 * line for each of the last lives that the divergence lost; nothing without context=on. */
void bbf_contexts_text(struct bbf_buf *out, const struct bbf_view *view,
                       const struct bbf_divergence *divergence);

/* llm: a section of rows; nothing where there are none. */
void bbf_context_rows(struct bbf_buf *out, const struct bbf_view *view);

#endif
