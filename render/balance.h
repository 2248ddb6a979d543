/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/balance.h - with refs=on: who retained and who released the lives of a leak row, by the
 * steps on its path.
 *
 * Threads: the view's owner. Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_BALANCE_H
#define BBF_RENDER_BALANCE_H

#include "core/buf.h"
#include "render/view.h"

/*
 * The steps of that kind on the path to `node`, in order: `before`, their names with `between`
 * between them; nothing if there is none. A name is "Keeper.keep" of a step "Keeper.keep_retain".
 * Returns how many. The view's last path is no longer valid.
 */
size_t bbf_balance_text(struct bbf_buf *out, struct bbf_view *view, uint32_t node,
                        enum bbf_site_kind kind, const char *before, const char *between);

#endif
