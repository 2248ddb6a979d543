/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/owner_throws.h - which calls of an owner may leave it by an exception while it has the
 * buffer, where nothing in it releases the buffer then (core/facts.h). What the path shows decides
 * the order: the call that lent the buffer to the last steps first.
 *
 * Threads: any; the view is only read, and has its owners.
 */
#ifndef BBF_RENDER_OWNER_THROWS_H
#define BBF_RENDER_OWNER_THROWS_H

#include "core/buf.h"
#include "render/view.h"

enum { BBF_THROWS_SHOWN = 3, BBF_THROWS_UNSURE = 5 };

/* Those of the owner of a buffer lost at `last`, best first; returns how many. None where the path
 * names none of them and there are more than BBF_THROWS_UNSURE: that would help no reader. */
size_t bbf_owner_throws(const struct bbf_view *view, uint32_t last,
                        const struct bbf_snap_throw *most[BBF_THROWS_SHOWN], uint32_t *owner);

/* "Json.parse", "throw TooLongFrameException", safe for a terminal; `also` as in bbf_text_safe().
 */
void bbf_owner_throw_name(struct bbf_buf *out, const struct bbf_snap_throw *one, char also);

/* "   A.read does not release them if this throws: Json.parse (line 26)" and a line end, or
 * nothing. */
void bbf_owner_throws_text(struct bbf_buf *out, const struct bbf_view *view, uint32_t last);

#endif
