/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/token.h - the shared secret of BTrace 3.0's authentication: a file that only the JVM's
 * account can read.
 * Source: docs/btrace-wire.md 2.1.
 *
 * Threads: any, no shared state. Units: bytes.
 */
#ifndef BBF_WIRE_TOKEN_H
#define BBF_WIRE_TOKEN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BBF_TOKEN_MAX = 4096 };

struct bbf_token {
    uint8_t bytes[BBF_TOKEN_MAX];
    size_t len;
    char path[PATH_MAX]; /* absolute if the caller's path was */
    bool made;           /* by this process: bbf_token_remove() deletes it */
    dev_t dev;
    ino_t ino;
};

/*
 * Read the token from an existing file, or make the file: 0600, 32 random bytes as 43 characters of
 * URL-safe base64. Refused: a symlink, a file that is not regular, another owner, any permission
 * for group or others, not readable for its owner, no token or more than 4,096 bytes, a line break
 * in it (one at the end is not part of it). Errors: BBF_EPERMISSION (these rules), BBF_EIO; why
 * filled.
 */
int bbf_token_open(struct bbf_token *token, const char *path, char *why, size_t why_size);
/* Make a new one, `dir`/btrace-RANDOM.token. */
int bbf_token_make(struct bbf_token *token, const char *dir, char *why, size_t why_size);
/* Delete the file if this process made it and it is still the same file. Calls only lstat(2) and
 * unlink(2). */
void bbf_token_remove(const struct bbf_token *token);
/* A new secret that is in no file: 32 random bytes as 43 characters of URL-safe base64, and a NUL.
 * False: the system has no random bytes now. */
enum { BBF_TOKEN_TEXT = 44 };
bool bbf_token_new(char text[BBF_TOKEN_TEXT]);
/* Overwrite the secret. */
void bbf_token_wipe(struct bbf_token *token);
/* Are they equal? The time depends only on `len`. */
bool bbf_token_equal(const uint8_t *token, size_t token_len, const uint8_t *given, size_t len);

#endif
