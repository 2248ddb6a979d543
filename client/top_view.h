/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/top_view.h - the state of `bbflow top` on a terminal, how it is drawn, and the loop that
 * changes it. The last two need ncursesw: without it only `--once` is there (BBF_WITH_NCURSES).
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_TOP_VIEW_H
#define BBF_CLIENT_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "client/client.h"
#include "client/reload.h"
#include "render/top.h"

struct bbf_top_view {
    const struct bbf_command_line *request;
    struct bbf_reload reload;
    struct bbf_top top; /* the last one that could be read */
    enum bbf_top_order order;
    bool inverted, paused, gc, help;
    size_t selected, first; /* a place; the first one on the screen */
    size_t help_first;      /* the first line of the help */
    char *trouble;          /* why `top` is not of now; NULL: it is */
};

/* Take over the snapshot that was read; an exit code, with the reason in `trouble`. */
int bbf_top_view_take(struct bbf_top_view *view);

/* Draw it all; only what has changed is sent to the terminal. */
void bbf_top_draw(struct bbf_top_view *view);

/* Stay on the terminal until the user or a signal ends it. `view` has its first table. */
int bbf_top_run(struct bbf_top_view *view);

#endif
