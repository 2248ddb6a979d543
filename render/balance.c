/* SPDX-License-Identifier: Apache-2.0 */
#include "render/balance.h"

#include <string.h>

/* The name without the suffix that says that it is such a step; a remark or a line may follow it.
 */
static void add_name(struct bbf_buf *out, const char *name, size_t len)
{
    static const char *const suffixes[] = {"_retain", "_release"};
    const char *remark = memmem(name, len, " (", 2), *line = memrchr(name, ':', len);
    size_t end = remark != NULL ? (size_t)(remark - name)
                 : line != NULL ? (size_t)(line - name)
                                : len;

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t k = strlen(suffixes[i]);
        if (end > k && memcmp(name + end - k, suffixes[i], k) == 0) {
            bbf_buf_add(out, name, end - k);
            bbf_buf_add(out, name + end, len - end);
            return;
        }
    }
    bbf_buf_add(out, name, len); /* overloaded: its parameters follow */
}

size_t bbf_balance_text(struct bbf_buf *out, struct bbf_view *view, uint32_t node,
                        enum bbf_site_kind kind, const char *before, const char *between)
{
    size_t count = 0;

    if (!view->has_balance)
        return 0;
    const struct bbf_view_path path = bbf_view_path(view, node);
    for (size_t i = 0; i < path.n; i++) {
        uint32_t site = view->snapshot->nodes[path.nodes[i]].site;
        if (view->snapshot->sites[site].kind != kind)
            continue;
        const struct bbf_name *name = &view->names.names[site];
        bbf_buf_str(out, count++ == 0 ? before : between);
        add_name(out, name->text, name->len);
    }
    return count;
}
