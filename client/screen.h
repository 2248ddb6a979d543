/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/screen.h - properties of stdout and stderr: a terminal or not, its width, whether it shows
 * colours and characters beyond ASCII. From the environment, and from --ascii, --color, --wide and
 * --quiet.
 *
 * Threads: one. No errors: an unknown property has its plain value.
 */
#ifndef BBF_CLIENT_SCREEN_H
#define BBF_CLIENT_SCREEN_H

#include <stdbool.h>

#include "client/layout.h"

enum bbf_color { BBF_COLOR_AUTO, BBF_COLOR_ALWAYS, BBF_COLOR_NEVER };

/* --color, --ascii, --wide, --quiet. */
struct bbf_screen_flags {
    enum bbf_color color;
    bool ascii, wide, quiet;
};

/* The width of a terminal that reports no size, and the smallest width for layout. Columns. */
enum { BBF_SCREEN_COLUMNS = 80, BBF_SCREEN_LEAST = 20 };

struct bbf_screen {
    bool terminal;
    bool asked_ascii; /* by --ascii: also for files */
    bool erases;      /* TERM: it obeys more than line ends */
    bool quiet;       /* no notes, no progress */
    struct bbf_look look;
};

/* Set the locale's character set; the first call in main(). */
void bbf_screen_init(void);
/* Apply the flags; before this call the environment alone decides. */
void bbf_screen_set(const struct bbf_screen_flags *flags);

const struct bbf_screen *bbf_screen_out(void);
const struct bbf_screen *bbf_screen_err(void);

#endif
