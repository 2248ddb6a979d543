/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/symbols.h - the functions of a library that is opened at run time, because only some
 * commands need it.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_SYMBOLS_H
#define BBF_CLIENT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

struct bbf_symbol {
    const char *name;
    void *to; /* a pointer to a function */
};

/* Open the first of `names` (up to NULL) that is there: *library, NULL if none is. False: none, or
 * it has not all symbols. It stays open until the process ends. */
bool bbf_symbols_open(void **library, const char *const *names, const struct bbf_symbol *symbols,
                      size_t n);

#endif
