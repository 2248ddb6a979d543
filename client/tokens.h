/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/tokens.h - random words that stand for names in a redacted report, and the file that says
 * which is whose: a line each, "TOKEN NAME" (in NAME, \\ is a backslash and \n a line end). A token
 * says nothing of its name but whether that begins with a small letter; without the file it cannot
 * be read back.
 *
 * Threads: one owner. Errors: BBF_ENOMEM, BBF_EFORMAT, and those of the file with `why`.
 */
#ifndef BBF_CLIENT_TOKENS_H
#define BBF_CLIENT_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"

enum { BBF_TOKEN = 11 }; /* characters: a letter, then 50 random bits */

struct bbf_tokens;

/* Read the file. Without it the table is empty, if `may_be_new`, or it is an error. */
int bbf_tokens_open(struct bbf_tokens **tokens, const char *path, bool may_be_new, char *why,
                    size_t why_size);
/* Write what was added: mode 0600, at once or not at all. */
int bbf_tokens_save(struct bbf_tokens *tokens, const char *path, char *why, size_t why_size);
void bbf_tokens_free(struct bbf_tokens *tokens); /* NULL is allowed */

/* The token of a name, the same each time; a new one for a new name. NULL: no memory, or the kernel
 * has no random bytes. */
const char *bbf_tokens_of(struct bbf_tokens *tokens, const char *name, size_t len);
/* The token of a name that has one; NULL: it has none. */
const char *bbf_tokens_find(const struct bbf_tokens *tokens, const char *name, size_t len);

/* Append `text` with each token as its name: safe for a terminal (core/safe.h), in a JSON document
 * (`json`) escaped as JSON. */
void bbf_tokens_restore(const struct bbf_tokens *tokens, struct bbf_buf *out, const char *text,
                        size_t len, bool json);

#endif
