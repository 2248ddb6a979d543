/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/step_words.h - the names that people wrote, from those that compilers made of them: a
 * lambda, a coroutine, a closure or a class without a name becomes the method around it. What the
 * class file adds (its EnclosingMethod, lines) makes it exact; without it the name alone says most.
 *
 *     com.app.Audit, lambda$record$0           -> Audit.record (lambda, line 26)
 *     com.app.Audit$1, onNext                  -> Audit.record (onNext, line 31)
 *     com.app.Audit$store$1, invokeSuspend     -> Audit.store (coroutine, line 12)
 *     com.app.Audit, $anonfun$record$1         -> Audit.record (lambda, line 8)
 *
 * Threads: any; pure. Nothing is made safe for a terminal (core/safe.h).
 */
#ifndef BBF_RENDER_STEP_WORDS_H
#define BBF_RENDER_STEP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

struct bbf_slice {
    const char *s; /* not NUL-terminated */
    size_t len;
};

/* A step's name apart. Points into what bbf_step_words() was given. */
struct bbf_step_words {
    struct bbf_slice class_name; /* full, dotted */
    struct bbf_slice method;     /* "" where no method is around it, or none is known */
    struct bbf_slice suffix;     /* "_return", "_retain", "_release", or "" */
    struct bbf_slice inner;      /* the method of a class without a name, of a local class */
    const char *what;            /* "lambda", "coroutine", "closure"; NULL: none of these */
};

/* What a site has (snapshot/snapshot.h: bbf_snap_site). `enclosing` may be NULL. */
void bbf_step_words(struct bbf_step_words *words, const char *class_name, const char *method,
                    const char *enclosing);

/* Is the name another than "Class.method" as in the class file? */
static inline bool bbf_step_is_made(const struct bbf_step_words *words)
{
    return words->what != NULL || words->inner.len > 0;
}

/*
 * What follows "Class.method": " (lambda, line 26)", or nothing. `line` 0: without. `raw`, where
 * not NULL, follows: " (lambda, line 26: lambda$record$1)", for two of one method and line.
 */
void bbf_step_remark(struct bbf_buf *out, const struct bbf_step_words *words, uint32_t line,
                     const char *raw);

#endif
