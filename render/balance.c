/* SPDX-License-Identifier: Apache-2.0 */
#include "render/balance.h"

#include <string.h>

size_t bbf_balance_name_len(const char *name, size_t len)
{
    static const char *const suffixes[] = {"_retain", "_release"};

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t k = strlen(suffixes[i]);
        if (len > k && memcmp(name + len - k, suffixes[i], k) == 0)
            return len - k;
    }
    return len; /* overloaded: its parameters follow */
}

size_t bbf_balance_sites(const struct bbf_snapshot *snapshot, const uint32_t *parents,
                         uint32_t node, enum bbf_site_kind kind, uint32_t *out)
{
    size_t n = 0;

    for (uint32_t i = node; i != BBF_NO_PARENT; i = parents[i]) {
        uint32_t site = snapshot->nodes[i].site;
        if (snapshot->sites[site].kind == kind)
            out[n++] = site;
    }
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t other = out[i];
        out[i] = out[n - 1 - i];
        out[n - 1 - i] = other;
    }
    return n;
}
