/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/heal_state.h"

#include <stdlib.h>
#include <string.h>

void bbf_jfr_heal_lost(struct bbf_jfr_healing *h, const struct bbf_jfr_element *e, bool all,
                       const char *what)
{
    uint64_t end = !all && e->first != NULL && e->first->at > e->at ? e->first->at : e->end;

    h->changed = true;
    if (h->report.lost != NULL && end > e->at)
        h->report.lost(h->report.ctx, e->at, end - e->at, what);
}

/* Set, add, or with NULL remove an attribute. */
void bbf_jfr_heal_set(struct bbf_jfr_healing *h, struct bbf_jfr_element *e, const char *name,
                      const char *value)
{
    size_t n = 0;
    const char **names = bbf_jfr_take(&h->arena, e->n_attributes + 1, sizeof(*names));
    const char **values = bbf_jfr_take(&h->arena, e->n_attributes + 1, sizeof(*values));

    if (h->arena.failed)
        return;
    for (size_t i = 0; i < e->n_attributes; i++) {
        if (strcmp(e->names[i], name) != 0) {
            names[n] = e->names[i];
            values[n++] = e->values[i];
        }
    }
    if (value != NULL) {
        names[n] = name;
        values[n++] = value;
    }
    e->names = names;
    e->values = values;
    e->n_attributes = n;
    h->changed = true;
}

/* A new last child; it has no attributes. */
struct bbf_jfr_element *bbf_jfr_heal_add(struct bbf_jfr_healing *h, struct bbf_jfr_element *e,
                                         const char *name)
{
    struct bbf_jfr_element *child = bbf_jfr_take(&h->arena, 1, sizeof(*child)), **to = &e->first;

    while (*to != NULL)
        to = &(*to)->next;
    if (child != NULL)
        child->name = name;
    *to = child;
    h->changed = true;
    return child;
}

/* ---- types ---- */

static int compare_types(const void *a, const void *b)
{
    const struct bbf_jfr_heal_type *x = *(struct bbf_jfr_heal_type *const *)a;
    const struct bbf_jfr_heal_type *y = *(struct bbf_jfr_heal_type *const *)b;

    if (x->id != y->id)
        return x->id > y->id ? 1 : -1;
    return (x->element->at > y->element->at) - (x->element->at < y->element->at);
}

struct bbf_jfr_heal_type *bbf_jfr_heal_type(const struct bbf_jfr_healing *h, const char *id_text)
{
    size_t low = 0, high = h->n_by_id;
    uint64_t id;

    if (!bbf_jfr_read_id(id_text, &id))
        return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->by_id[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < h->n_by_id && h->by_id[low]->id == id && !h->by_id[low]->is_gone;
    return found ? h->by_id[low] : NULL;
}

void bbf_jfr_heal_lose(struct bbf_jfr_healing *h, struct bbf_jfr_heal_type *type, const char *what)
{
    type->is_gone = true;
    bbf_jfr_heal_lost(h, type->element, true, what);
}

/* Those that are there, each id once: of two the first counts, as for a reader. */
void bbf_jfr_heal_index(struct bbf_jfr_healing *h)
{
    size_t n = 0, kept = 0;

    for (size_t i = 0; i < h->n; i++) {
        if (!h->types[i].is_gone)
            h->by_id[n++] = &h->types[i];
    }
    if (n > 1)
        qsort(h->by_id, n, sizeof(*h->by_id), compare_types);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && h->by_id[i]->id == h->by_id[kept - 1]->id)
            bbf_jfr_heal_lose(h, h->by_id[i], "two types of the metadata have the same id");
        else
            h->by_id[kept++] = h->by_id[i];
    }
    h->n_by_id = kept;
}
