/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/balance.h - with refs=on: who retained and who released the lives of a leak row, by the
 * steps on its path.
 *
 * Threads: any; pure.
 */
#ifndef BBF_RENDER_BALANCE_H
#define BBF_RENDER_BALANCE_H

#include "snapshot/snapshot.h"

/* "Keeper.keep" of a step "Keeper.keep_retain": the length of a name (not NUL-terminated) without
 * the suffix. */
size_t bbf_balance_name_len(const char *name, size_t len);

/* The sites of that kind on the path to `node`, in order, to `out` (room for the path); how many.
 */
size_t bbf_balance_sites(const struct bbf_snapshot *snapshot, const uint32_t *parents,
                         uint32_t node, enum bbf_site_kind kind, uint32_t *out);

#endif
