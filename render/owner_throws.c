/* SPDX-License-Identifier: Apache-2.0 */
#include "render/owner_throws.h"

#include <inttypes.h>
#include <string.h>

#include "core/facts.h"
#include "render/text.h"

static const struct bbf_snap_site *site_of(const struct bbf_view *view, uint32_t node)
{
    return &view->snapshot->sites[view->snapshot->nodes[node].site];
}

/* The step that the owner lent the buffer to, on the way to the last step; NULL: the owner is it.
 */
static const struct bbf_snap_site *lent_to(const struct bbf_view *view, uint32_t owner,
                                           uint32_t last)
{
    return owner == last ? NULL : site_of(view, bbf_owner_lent_to(view, last));
}

/* Would the call have made a step? Then a buffer that was lost in it has another last step. */
static bool is_step(const struct bbf_view *view, const struct bbf_snap_site *owner,
                    const struct bbf_snap_throw *one)
{
    for (uint32_t i = 0; i < owner->n_calls; i++)
        if (strcmp(view->snapshot->sites[owner->calls[i]].method, one->method) == 0)
            return true;
    return false;
}

/* How well it fits what the path shows: 0 best. */
static unsigned rank_of(const struct bbf_view *view, const struct bbf_snap_site *owner,
                        const struct bbf_snap_site *lent, const struct bbf_snap_throw *one)
{
    const size_t len = strlen(one->class_name);

    if (lent != NULL && strcmp(one->method, lent->method) == 0)
        return 0;
    if (is_step(view, owner, one))
        return 3;
    return len >= 7 && strcmp(one->class_name + len - 7, "ByteBuf") == 0 ? 2 : 1;
}

size_t bbf_owner_throws(const struct bbf_view *view, uint32_t last,
                        const struct bbf_snap_throw *most[BBF_THROWS_SHOWN], uint32_t *owner)
{
    size_t n = 0;

    *owner = bbf_owner_of(view, last);
    const struct bbf_snap_site *site = site_of(view, *owner), *lent = lent_to(view, *owner, last);
    for (unsigned rank = 0; rank < 4 && n < BBF_THROWS_SHOWN; rank++) {
        for (uint32_t i = 0; i < site->n_throws && n < BBF_THROWS_SHOWN; i++)
            if (rank_of(view, site, lent, &site->throws[i]) == rank)
                most[n++] = &site->throws[i];
        if (rank == 0 && n > 0)
            break; /* the path names it */
        if (rank == 0 && (uint64_t)site->n_throws + site->more_throws > BBF_THROWS_UNSURE)
            break;
    }
    return n;
}

static const char *simple(const char *class_name)
{
    const char *dot = strrchr(class_name, '.');
    return dot != NULL ? dot + 1 : class_name;
}

void bbf_owner_throw_name(struct bbf_buf *out, const struct bbf_snap_throw *one, char also)
{
    if (strcmp(one->method, BBF_FACT_THROW) == 0) {
        bbf_buf_str(out, BBF_FACT_THROW);
        bbf_buf_str(out, one->class_name[0] != '\0' ? " " : "");
        bbf_text_safe(out, simple(one->class_name), also);
        return;
    }
    bbf_text_safe(out, simple(one->class_name), also);
    bbf_buf_char(out, '.');
    bbf_text_safe(out, one->method, also);
}

void bbf_owner_throws_text(struct bbf_buf *out, const struct bbf_view *view, uint32_t last)
{
    const struct bbf_snap_throw *most[BBF_THROWS_SHOWN];
    uint32_t owner;
    size_t n = bbf_owner_throws(view, last, most, &owner);
    const struct bbf_snap_site *site = site_of(view, owner);

    if (n == 0)
        return;
    bbf_buf_str(out, "   ");
    bbf_view_name(out, view, owner);
    bbf_buf_str(out, " does not release them if this throws: ");
    for (size_t i = 0; i < n; i++) {
        bbf_buf_str(out, i > 0 ? ", " : "");
        bbf_owner_throw_name(out, most[i], '\0');
        if (most[i]->line != 0)
            bbf_buf_printf(out, " (line %" PRIu32 ")", most[i]->line);
    }
    uint64_t others = (uint64_t)site->n_throws + site->more_throws - n;
    if (others > 0)
        bbf_buf_printf(out, ", or %" PRIu64 " other call%s", others, others > 1 ? "s" : "");
    bbf_buf_char(out, '\n');
}
