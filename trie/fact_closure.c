/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what each method does itself to what it does with all that it calls: flags grow along the
 * calls until nothing changes, over the methods that the shown ones reach. A virtual call may run
 * any method of that name and descriptor; a method that no record describes has the flags of its
 * name.
 */
#include "trie/fact_closure.h"

#include <stdlib.h>
#include <string.h>

enum { SUPERS = 32 }; /* superclasses that are looked through for a method */

static int compare_methods(const void *a, const void *b)
{
    const struct bbf_closed_method *x = a, *y = b;
    if (x->record->key != y->record->key)
        return x->record->key < y->record->key ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

static int compare_classes(const void *a, const void *b)
{
    const struct bbf_fact_class *x = *(const struct bbf_fact_class *const *)a,
                                *y = *(const struct bbf_fact_class *const *)b;
    return (x->key > y->key) - (x->key < y->key);
}

static const struct bbf_fact_class *find_class(const struct bbf_closure *c, uint32_t key)
{
    size_t low = 0, high = c->n_classes;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->classes[middle]->key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->n_classes && c->classes[low]->key == key ? c->classes[low] : NULL;
}

/* The methods of that key: from *first, how many. */
static size_t find_methods(const struct bbf_closure *c, uint64_t key, size_t *first)
{
    size_t low = 0, high = c->n_methods, n = 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->methods[middle].record->key < key)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low + n < c->n_methods && c->methods[low + n].record->key == key)
        n++;
    return n;
}

struct bbf_closed_method *bbf_closure_find(const struct bbf_closure *c, uint64_t key,
                                           uint32_t owner)
{
    size_t first, n = find_methods(c, key, &first);

    for (size_t i = first; i < first + n; i++)
        if (c->methods[i].owner == owner)
            return &c->methods[i];
    return NULL;
}

size_t bbf_closure_targets(const struct bbf_closure *c, const struct bbf_fact_call *call,
                           struct bbf_closed_method **first)
{
    size_t at, n = find_methods(c, call->callee, &at);
    const struct bbf_fact_class *owner;

    *first = &c->methods[at];
    if ((call->outside & BBF_FACT_VIRTUAL) || n == 0)
        return n;
    owner = find_class(c, call->owner);
    for (int i = 0; owner != NULL && i < SUPERS; i++, owner = find_class(c, owner->super))
        if ((*first = bbf_closure_find(c, call->callee, owner->key)) != NULL)
            return 1;
    return 0;
}

/* What the method does with that argument; false: it has no record of it. */
static bool flags_of(const struct bbf_closure *c, const struct bbf_closed_method *m,
                     uint8_t argument, unsigned *flags)
{
    const uint8_t *arguments = bbf_fact_arguments(m->record);

    for (unsigned i = 0; i < m->record->n_params; i++)
        if (arguments[i] == argument) {
            *flags |= c->flags[m->flags + i];
            return true;
        }
    return false;
}

/* What a call does with its argument. */
static unsigned flags_by(const struct bbf_closure *c, const struct bbf_closed_method *m,
                         const struct bbf_fact_call *call)
{
    const unsigned outside = call->outside & ~(unsigned)BBF_FACT_VIRTUAL;
    struct bbf_closed_method *to;
    size_t n = bbf_closure_targets(c, call, &to);
    if (n > BBF_CLOSURE_TARGETS)
        return BBF_FACT_UNKNOWN;
    unsigned flags = n == 0 || find_class(c, call->owner) == NULL ? outside : 0;

    for (size_t i = 0; i < n; i++)
        if (!flags_of(c, &to[i], call->argument, &flags))
            flags |= outside;
    if (flags & BBF_FACT_RETURNS) { /* then what becomes of the result matters */
        flags &= ~(unsigned)BBF_FACT_RETURNS;
        if (call->result != BBF_FACT_NO_ORIGIN)
            flags |= c->flags[m->flags + call->result];
    }
    return flags & ~(unsigned)BBF_FACT_WEAK;
}

static bool grow(struct bbf_closure *c, const struct bbf_closed_method *m)
{
    const struct bbf_fact_call *calls = bbf_fact_calls(m->record);
    bool changed = false, again = true;

    while (again) {
        again = false;
        for (uint32_t i = 0; i < m->record->n_calls; i++) {
            if (calls[i].origin == BBF_FACT_NO_ORIGIN)
                continue;
            uint8_t *to = &c->flags[m->flags + calls[i].origin];
            unsigned flags = *to | flags_by(c, m, &calls[i]);
            again = again || flags != *to;
            *to = (uint8_t)flags;
        }
        changed = changed || again;
    }
    return changed;
}

static void reach(struct bbf_closure *c, struct bbf_closed_method *m)
{
    if (m->reached)
        return;
    m->reached = true;
    c->queue[c->n_queue++] = (uint32_t)(m - c->methods);
}

/* A method that is reached may come to the end of the queue, from where it is looked at itself. */
static void reach_callees(struct bbf_closure *c, const struct bbf_closed_method *m)
{
    const struct bbf_fact_call *calls = bbf_fact_calls(m->record);
    struct bbf_closed_method *to;

    for (uint32_t i = 0; i < m->record->n_calls; i++) {
        size_t n =
            calls[i].origin != BBF_FACT_NO_ORIGIN ? bbf_closure_targets(c, &calls[i], &to) : 0;
        for (size_t k = 0; n <= BBF_CLOSURE_TARGETS && k < n; k++)
            reach(c, &to[k]);
    }
}

void bbf_closure_close(struct bbf_closure *c, struct bbf_closed_method *const *shown, size_t n)
{
    bool changed = true;

    for (size_t i = 0; i < n; i++)
        if (shown[i] != NULL)
            reach(c, shown[i]);
    for (size_t i = 0; i < c->n_queue; i++)
        reach_callees(c, &c->methods[c->queue[i]]);
    while (changed) { /* ends: flags only grow */
        changed = false;
        for (size_t i = c->n_queue; i-- > 0;) /* callees tend to come later */
            changed = grow(c, &c->methods[c->queue[i]]) || changed;
    }
}

unsigned bbf_closure_parameter(const struct bbf_closure *c, const struct bbf_closed_method *m)
{
    unsigned strong = 0, weak = 0;

    for (unsigned i = 0; i < m->record->n_params; i++) {
        unsigned flags = c->flags[m->flags + i];
        if (flags & BBF_FACT_WEAK)
            weak |= flags | BBF_FACT_SEEN;
        else
            strong |= flags | BBF_FACT_SEEN;
    }
    return (strong != 0 ? strong : weak) & ~(unsigned)BBF_FACT_WEAK;
}

/* Is something held at that throw that no called method has taken, and that is taken otherwise? */
static bool leaves_any(const struct bbf_closure *c, const struct bbf_closed_method *m,
                       const struct bbf_fact_throw *one)
{
    const struct bbf_fact_call *calls = bbf_fact_calls(m->record);
    const unsigned takes = BBF_FACT_TAKES & ~(unsigned)BBF_FACT_UNKNOWN;
    uint32_t held = one->held, handed = 1;

    for (uint32_t i = 0; i < m->record->n_calls && handed != 0; i++) {
        if (calls[i].origin == BBF_FACT_NO_ORIGIN)
            continue;
        if (((one->passed | one->caught) & handed) != 0 && calls[i].origin < 32 &&
            (held >> calls[i].origin & 1) && (flags_by(c, m, &calls[i]) & BBF_FACT_TAKES) != 0)
            held &= ~(1u << calls[i].origin);
        handed <<= 1; /* 0 after 32: what follows was taken as given up */
    }
    for (; held != 0; held &= held - 1)
        if ((c->flags[m->flags + (unsigned)__builtin_ctz(held)] & takes) != 0)
            return true;
    return false;
}

size_t bbf_closure_throws(const struct bbf_closure *c, const struct bbf_closed_method *m,
                          struct bbf_closed_throw out[BBF_CLOSURE_THROWS], uint32_t *more)
{
    const struct bbf_fact_class *of = find_class(c, m->owner);
    size_t n = 0;

    *more = 0;
    for (uint8_t i = 0; of != NULL && i < m->record->n_throws && n < BBF_CLOSURE_THROWS; i++) {
        const struct bbf_fact_throw *one = &bbf_fact_throws(m->record)[i];

        if (one->name >= of->names_len || !leaves_any(c, m, one))
            continue;
        const char *name = bbf_fact_name(of, one);
        out[n++] = (struct bbf_closed_throw){one->line, name, name + strlen(name) + 1};
    }
    if (n > 0)
        *more = m->record->more_throws;
    return n;
}

static void add_methods(struct bbf_closure *c, const struct bbf_fact_class *of, size_t *n_flags)
{
    const struct bbf_fact_method *m = bbf_fact_first(of);

    for (; (const void *)m < bbf_fact_end(of); m = bbf_fact_next(m)) {
        if (c->methods != NULL) {
            c->methods[c->n_methods] =
                (struct bbf_closed_method){m, of->key, (uint32_t)*n_flags, false, false};
            memcpy(&c->flags[*n_flags], bbf_fact_flags(m), m->n_origins);
        }
        c->n_methods++;
        *n_flags += m->n_origins;
    }
}

bool bbf_closure_init(struct bbf_closure *c, struct bbf_tracker *t)
{
    size_t n_flags = 0;

    *c = (struct bbf_closure){.tracker = t};
    c->n_classes = bbf__facts_hold(t, &c->classes);
    if (c->n_classes == 0)
        return false;
    qsort(c->classes, c->n_classes, sizeof *c->classes, compare_classes);
    for (size_t i = 0; i < c->n_classes; i++)
        add_methods(c, c->classes[i], &n_flags);
    c->methods = calloc(c->n_methods + 1, sizeof *c->methods);
    c->queue = calloc(c->n_methods + 1, sizeof *c->queue);
    c->flags = calloc(n_flags + 1, 1);
    if (c->methods == NULL || c->queue == NULL || c->flags == NULL || n_flags > UINT32_MAX) {
        bbf_closure_free(c);
        return false;
    }
    c->n_methods = n_flags = 0;
    for (size_t i = 0; i < c->n_classes; i++)
        add_methods(c, c->classes[i], &n_flags);
    qsort(c->methods, c->n_methods, sizeof *c->methods, compare_methods);
    return true;
}

void bbf_closure_free(struct bbf_closure *c)
{
    free(c->methods);
    free(c->queue);
    free(c->flags);
    bbf__facts_let_go(c->tracker, c->classes);
    *c = (struct bbf_closure){.tracker = c->tracker};
}
