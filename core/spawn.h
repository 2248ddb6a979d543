/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/spawn.h - starts a thread that belongs to bbflow alone: every signal is blocked in it,
 * because the JVM's and the application's handlers must not run there.
 *
 * Threads: any.
 */
#ifndef BBF_CORE_SPAWN_H
#define BBF_CORE_SPAWN_H

#include <pthread.h>
#include <stddef.h>

/* `thread` NULL: the thread is detached; otherwise the caller joins or detaches it. BBF_EIO. */
int bbf_spawn(pthread_t *thread, size_t stack_bytes, void *(*run)(void *arg), void *arg);

#endif
