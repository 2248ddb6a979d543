/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/screen.h - what stdout and stderr are: a terminal or not, its width, whether it shows
 * colours and characters beyond ASCII. By the environment, and by --ascii, --color and --wide.
 *
 * Threads: one. No errors: what is not known is the plain case.
 */
#ifndef BBF_CLIENT_SCREEN_H
#define BBF_CLIENT_SCREEN_H

#include <stdbool.h>

#include "client/layout.h"

enum bbf_color { BBF_COLOR_AUTO, BBF_COLOR_ALWAYS, BBF_COLOR_NEVER };

/* --color, --ascii, --wide. */
struct bbf_screen_flags {
    enum bbf_color color;
    bool ascii, wide;
};

/* A terminal without a size of its own, and the narrowest that is laid out for. Columns. */
enum { BBF_SCREEN_COLUMNS = 80, BBF_SCREEN_LEAST = 20 };

struct bbf_screen {
    bool terminal;
    bool asked_ascii; /* by --ascii: files too */
    struct bbf_look look;
};

/* Take the locale's character set: first of all in main(). */
void bbf_screen_init(void);
/* What the flags say; before it stdout and stderr are as the environment has them. */
void bbf_screen_set(const struct bbf_screen_flags *flags);

const struct bbf_screen *bbf_screen_out(void);
const struct bbf_screen *bbf_screen_err(void);

#endif
