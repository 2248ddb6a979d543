/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/attach_mapped.h - is the library that is to be attached in the JVM already, from another
 * path? A JVM takes a second file for another build, and refuses it.
 *
 * Threads: any, no state.
 */
#ifndef BBF_CLIENT_ATTACH_MAPPED_H
#define BBF_CLIENT_ATTACH_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A number for the bytes of an open file, which is at its start again afterwards. */
uint64_t bbf_attach_sum(int fd);

/* Find a libbbflow.so that process `pid` has mapped and that has the bytes of `from`. `root`: the
 * folder that the process has as its root. True: `path` is its path there. */
bool bbf_attach_mapped(pid_t pid, int root, int from, char *path, size_t size);

#endif
