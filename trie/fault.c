/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/fault.h"

#include "trie/model.h"

void bbf_tracker_fault(struct bbf_tracker *t)
{
    atomic_fetch_add_explicit(bbf_shared_long(t, BBF_L_SHARED_ERRORS), 1, memory_order_relaxed);
}
