/* SPDX-License-Identifier: Apache-2.0 */
#include "render/direct_counter.h"

#include <string.h>

/* Only a Netty of 4.2 counts memory that java.nio counts as well: what it has from
 * ByteBuffer.allocateDirect(). 4.1 counts what it allocates past java.nio. */
static bool may_count_twice(const struct bbf_snapshot *s)
{
    for (size_t i = 0; i < s->jvm.n_netty; i++)
        if (strncmp(s->jvm.netty[i], "4.1.", 4) != 0)
            return true;
    return false;
}

/* Both are of the same memory if java.nio's is large enough for the chunks; their sum would then
 * have them twice. */
enum bbf_direct_counter bbf_direct_counter(const struct bbf_snapshot *s)
{
    const struct bbf_snap_reconciled *r = &s->reconciled;
    uint64_t nio = r->nio_capacity_ != BBF_NOT_TOLD ? r->nio_capacity_ : 0, chunks = 0;

    for (size_t i = 0; i < r->n_pools; i++)
        if (r->pools[i].memory == BBF_MEM_DIRECT && r->pools[i].reserved_ != BBF_NOT_TOLD)
            chunks += r->pools[i].reserved_;
    if (r->used_direct_ == BBF_NOT_TOLD || r->used_direct_ == 0)
        return BBF_COUNTED_BY_NIO;
    return may_count_twice(s) && nio >= chunks ? BBF_COUNTED_BY_BOTH : BBF_COUNTED_BY_NETTY;
}
