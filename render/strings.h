/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/strings.h - a table of strings, each once, numbered in the order that they came; 0 is "".
 *
 * Threads: one owner. Errors: `failed` is sticky, numbers are then 0.
 */
#ifndef BBF_RENDER_STRINGS_H
#define BBF_RENDER_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

struct bbf_strings {
    struct bbf_buf bytes; /* all strings, one after the other */
    size_t *ends;         /* by number */
    uint32_t *slots;      /* number + 1 by hash; a power of two */
    size_t n, n_slots;
    bool failed;
};

void bbf_strings_init(struct bbf_strings *strings);
void bbf_strings_free(struct bbf_strings *strings);
/* The string's number; it is copied when it is new. */
uint32_t bbf_strings_add(struct bbf_strings *strings, const char *text, size_t len);
/* Not NUL-terminated; valid until the next string is added. */
const char *bbf_strings_at(const struct bbf_strings *strings, size_t number, size_t *len);

#endif
