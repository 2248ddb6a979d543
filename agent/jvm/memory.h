/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/jvm/memory.h - memory that the JVM takes or gives (JVMTI Allocate, Deallocate).
 *
 * Threads: any.
 */
#ifndef BBF_AGENT_JVM_MEMORY_H
#define BBF_AGENT_JVM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* For a class file that is handed to the JVM, which frees it. NULL: no memory. `ctx` is not used
 * (struct bbf_cf_config's allocate). */
uint8_t *bbf_jvm_allocate(void *ctx, size_t size);
/* What a JVMTI function has allocated; NULL is allowed. */
void bbf_jvm_free(void *memory);

#endif
