/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/memory.h"

#include "agent/state.h"

uint8_t *bbf_jvm_allocate(void *ctx, size_t size)
{
    unsigned char *memory = NULL;
    (void)ctx;
    if ((*bbf_agent.code)->Allocate(bbf_agent.code, (jlong)size, &memory) != 0)
        return NULL;
    return memory;
}

void bbf_jvm_free(void *memory)
{
    (void)(*bbf_agent.code)->Deallocate(bbf_agent.code, memory);
}
