/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/pattern.h - the patterns of include=, exclude= and trackConstructors= (design.md: names and
 * formats).
 *
 * `com.app` means the package com.app and everything below it, or the class of that name and its
 * inner classes; `com.app.*` means the same. Patterns match at name boundaries: com.app never
 * matches com.application. Lists join with '+'; core/option.c handles ',' and ';' inside a list.
 *
 * Threads: parse by one, match by any; a parsed list never changes.
 */
#ifndef BBF_CORE_PATTERN_H
#define BBF_CORE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct bbf_patterns; /* opaque, immutable */

/* A syntax error and its place: `column` counts from 1 within the text given to the parser. */
struct bbf_parse_error {
    size_t column;
    char text[240]; /* a sentence that names the thing and the remedy */
};

/*
 * Parse "a.b+c.D+e.f.*". The caller owns *out and frees it with bbf_patterns_free().
 * Errors: BBF_EINVAL (err filled), BBF_ENOMEM. An empty list or empty pattern is BBF_EINVAL.
 */
int bbf_patterns_parse(struct bbf_patterns **out, const char *text, size_t len,
                       struct bbf_parse_error *err);
/* The patterns of `a`, then those of `b`; either may be NULL (join(out, a, NULL) is a copy; both
 * NULL gives NULL). Errors: BBF_ENOMEM. */
int bbf_patterns_join(struct bbf_patterns **out, const struct bbf_patterns *a,
                      const struct bbf_patterns *b);
void bbf_patterns_free(struct bbf_patterns *patterns);          /* NULL is allowed */
size_t bbf_patterns_bytes(const struct bbf_patterns *patterns); /* bytes of memory; 0 for NULL */

/*
 * Length in characters of the longest pattern that matches the class, 0 if none does. `name` is the
 * internal form (com/app/Main$Inner), `len` its length. NULL patterns match nothing. A hidden or
 * lambda class (com/app/Main$$Lambda/0x1f) counts as an inner class of its host.
 */
size_t bbf_patterns_match(const struct bbf_patterns *patterns, const char *name, size_t len);

/*
 * Is the class (internal form) beside one of the patterns, that is, does it share the pattern's
 * first two names? com/seed/Main is beside com.seed.alpha.Alpha; com/app/Main is beside com.app,
 * com/other/Main is not. True also for a class that matches; false for NULL patterns.
 */
bool bbf_patterns_near(const struct bbf_patterns *patterns, const char *name, size_t len);

/* The number of patterns, and the i-th in dotted form, without ".*" (borrowed, NUL-terminated). */
size_t bbf_patterns_count(const struct bbf_patterns *patterns);
const char *bbf_patterns_get(const struct bbf_patterns *patterns, size_t i);

#endif
