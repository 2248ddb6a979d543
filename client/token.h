/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/token.h - reads the file with the secret of an agent's TCP port (BTrace 3.0's
 * authentication). Source: docs/btrace-wire.md 2.1, without its rule on the owner: the file may be
 * a copy, or root may read another user's.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_TOKEN_H
#define BBF_CLIENT_TOKEN_H

#include <stddef.h>
#include <stdint.h>

enum { BBF_TOKEN_FILE_MAX = 4096 };

/*
 * Read `path` into `token`. Returns an exit code; if it is not 0, it has printed the reason: not a
 * regular file, readable by group or others, not 1 to 4,096 bytes in one line (a line break at the
 * end is not part of it).
 */
int bbf_token_file_read(const char *path, uint8_t token[BBF_TOKEN_FILE_MAX], size_t *len);

#endif
