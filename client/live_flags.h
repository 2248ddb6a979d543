/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/live_flags.h - the flags of a view that stays open: --interval, --sort, --once, --port,
 * --open.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_LIVE_FLAGS_H
#define BBF_CLIENT_LIVE_FLAGS_H

#include <stdbool.h>

#include "render/top.h"

/* 0: not given. */
struct bbf_live_flags {
    bool once;
    bool opens;
    unsigned port; /* 0: any free one */
    unsigned interval_ms;
    enum bbf_top_order order;
};

enum { BBF_LIVE_INTERVAL_MS = 2000 };

/* Apply --NAME VALUE. An exit code; if it is not 0, the reason was printed. */
int bbf_live_flag(struct bbf_live_flags *flags, const char *name, const char *value);

#endif
