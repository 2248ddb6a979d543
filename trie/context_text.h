/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trie/context_text.h - the words of a context as texts. The application and the network wrote
 * them: the texts are UTF-8, and otherwise anything.
 *
 * Threads: any, no state.
 */
#ifndef BBF_TRIE_CONTEXT_TEXT_H
#define BBF_TRIE_CONTEXT_TEXT_H

#include <stdint.h>

#include "snapshot/snapshot.h"
#include "trie/site.h"

/* What the words have as numbers; NULL: not known. Borrowed. */
struct bbf_context_names {
    const char *hint, *thrown; /* classes */
    const struct bbf_site *caught_in;
};

/* Fill the texts of a row, which is otherwise filled. BBF_ENOMEM; the row then has some of them. */
int bbf_context_text(const uint64_t words[], const struct bbf_context_names *names,
                     struct bbf_snap_context *to);

#endif
