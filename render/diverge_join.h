/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/diverge_join.h - one bug, one row: the rows of one bug are joined. A part of
 * bbf_divergences_init().
 *
 * Threads: one owner. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_DIVERGE_JOIN_H
#define BBF_RENDER_DIVERGE_JOIN_H

#include "render/diverge_walk.h"

/* One bug, one row: those of one origin method that end in one component of the steps
 * (render/components.h). Changes w->row. */
int bbf_diverge_join(const struct bbf_diverge_walk *w, struct bbf_divergences *out);

#endif
