/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/check_flags.h - the flags of `check` and `diff`: limits of rules, the baseline, where
 * sources are.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_CHECK_FLAGS_H
#define BBF_CLIENT_CHECK_FLAGS_H

#include "render/check.h"

/* Strings are borrowed from argv. */
struct bbf_check_flags {
    bool is_set[BBF_RULES];
    uint64_t limits[BBF_RULES]; /* as in bbf_check_rules */
    bool has_tolerance;
    unsigned tolerance;
    const char *baseline; /* NULL: none */
    const char *sources;  /* folders, joined by ':'; NULL: where build tools have them */
};

/* Take the value of a flag by its name, "max-leaked". An exit code; if it is not 0, the reason is
 * printed. */
int bbf_check_flag(struct bbf_check_flags *flags, const char *name, const char *value);

#endif
