/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/library.h - where the agent's library is.
 *
 * Threads: any, no state.
 */
#ifndef BBF_CLIENT_LIBRARY_H
#define BBF_CLIENT_LIBRARY_H

#include <stddef.h>

/* Write the path of libbbflow.so, which need not exist: `wanted` (--agent) if it is not NULL, else
 * beside this program (a build folder), where `cmake --install` put it, or in ../lib; the last of
 * these if it is in none. */
void bbf_library_find(const char *wanted, char *path, size_t size);

#endif
