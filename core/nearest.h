/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/nearest.h - "did you mean …": the known word nearest to what was written, by edit distance
 * (optimal string alignment: insert, delete, replace, swap of neighbours), letters' case ignored.
 *
 * Threads: any. Pure.
 */
#ifndef BBF_CORE_NEAREST_H
#define BBF_CORE_NEAREST_H

#include <stddef.h>

/* Edits from `a` to `b`, case ignored. Words are cut at 64 bytes, which no known word reaches. */
size_t bbf_edit_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/*
 * The nearest of `count` words, word(0) … word(count - 1), or NULL when none is near enough to be
 * a slip of the hand (over a third of the letters, at least two; one in words of up to three). The
 * first of equals.
 */
const char *bbf_nearest(const char *text, size_t len, size_t count, const char *(*word)(size_t i));

#endif
