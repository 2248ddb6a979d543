/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/row.h - rows of a screen: pieces of a line are appended in a style, and what does not fit
 * goes to further rows. For client/layout.c.
 *
 * Threads: any, no state but the locale's (columns of a character). Errors: those of the buffer.
 */
#ifndef BBF_CLIENT_ROW_H
#define BBF_CLIENT_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"

struct bbf_look {
    size_t width; /* columns; 0: lines stay as they are */
    bool ascii;
    bool colour;
    bool foreign; /* a line that begins like bbflow's own messages is marked as the agent's */
};

enum bbf_style { BBF_PLAIN, BBF_BOLD, BBF_DIM, BBF_RED, BBF_YELLOW };

struct bbf_screen_row {
    struct bbf_buf *out;
    const struct bbf_look *look;
    size_t column;
    size_t pending;   /* spaces to write before the next word of this row */
    const char *hang; /* the beginning of further rows; safe */
    size_t hang_len, hang_columns;
    size_t start;          /* the column that a row's own text begins at */
    struct bbf_buf *spare; /* of one piece */
};

/* The number of columns of the text, by the locale's characters. */
size_t bbf_columns(const char *text, size_t len);

/* Length in bytes of the longest prefix with at most `most` columns. */
size_t bbf_fitting(const char *text, size_t len, size_t most);

/* Append it safe, on one line. In ASCII our own signs become words, all others \uXXXX. */
void bbf_row_safe(struct bbf_buf *out, const char *text, size_t len, bool ascii);

/* Begin and end a style. */
void bbf_row_style(struct bbf_screen_row *row, enum bbf_style style);
void bbf_row_style_end(struct bbf_screen_row *row, enum bbf_style style);

/* Append text; `whole`: its words stay in one row. If rows are laid out, tabs advance to the next
 * stop. */
void bbf_row_add(struct bbf_screen_row *row, const char *text, size_t len, enum bbf_style style,
                 bool whole);

/* The same for text that is already safe and has no tabs. */
void bbf_row_add_safe(struct bbf_screen_row *row, const char *text, size_t len,
                      enum bbf_style style, bool whole);

#endif
