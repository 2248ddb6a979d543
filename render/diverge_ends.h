/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/diverge_ends.h - in which methods the lives of a divergence were lost. A part of
 * bbf_divergences_init().
 *
 * Threads: one owner. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_DIVERGE_ENDS_H
#define BBF_RENDER_DIVERGE_ENDS_H

#include "render/diverge_walk.h"

/* Each row's `last`, `memory`, `ways`, `ends`, `most` and `beyond`, of the lives that w->row gives
 * it. A row of several places keeps `last`, `memory` and `ways`: they belong to its `losing`. */
int bbf_diverge_ends(const struct bbf_diverge_walk *w, struct bbf_divergences *out);

#endif
