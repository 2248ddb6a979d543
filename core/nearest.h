/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/nearest.h - "did you mean …": finds the known word nearest to a misspelt one, by edit
 * distance (optimal string alignment: insert, delete, replace, swap of neighbours), ignoring case.
 *
 * Threads: any. Pure.
 */
#ifndef BBF_CORE_NEAREST_H
#define BBF_CORE_NEAREST_H

#include <stddef.h>

/* The number of edits from `a` to `b`, ignoring case. Words are cut at 64 bytes, which no known
 * word reaches. */
size_t bbf_edit_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/*
 * The nearest of `count` words, word(0) … word(count - 1); the first of equals. NULL if none is
 * near enough to be a typing error: at most a third of the letters, but two are always allowed; one
 * in words of up to three letters.
 */
const char *bbf_nearest(const char *text, size_t len, size_t count, const char *(*word)(size_t i));

#endif
