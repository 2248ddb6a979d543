#include "tests/model/memory.h"

#include <string.h>

#include "tests/model/search.h"

static bool weak, used;
static unsigned n_actors, n_dependent, pick;

void memory_choose(bool is_weak, unsigned actors, unsigned dependent)
{
    n_dependent = dependent;
    weak = is_weak;
    n_actors = actors;
}

void memory_step(unsigned choice)
{
    pick = choice;
    used = false;
    model_refused = 0;
}

static void refuse(int how)
{
    model_refused = how;
}

enum { NO_SUCH_CHOICE = 1, NOT_THIS_ONE = 2 };

int memory_step_end(int moved)
{
    int how = model_refused;
    model_refused = 0;
    if (how == NO_SUCH_CHOICE || (how == 0 && !used && pick > 0))
        return 0;
    return how == NOT_THIS_ONE ? -1 : moved;
}

unsigned memory_own_choice(void)
{
    used = true;
    return pick;
}

static uint16_t value_of(const struct memory *m, unsigned at, unsigned age)
{
    return age == 0 ? m->newest[at] : m->views.older[at][age - 1];
}

static void set_value(struct memory *m, unsigned at, unsigned age, uint16_t value)
{
    if (age == 0)
        m->newest[at] = value;
    else
        m->views.older[at][age - 1] = value;
}

static void clamp(uint8_t *age, unsigned most)
{
    if (*age > most)
        *age = (uint8_t)most;
}

/* Keep the newest 1 + n stores of a word. */
static void forget(struct memory *m, unsigned at, unsigned n)
{
    struct memory_views *v = &m->views;
    for (unsigned i = n + 1; i <= v->n[at]; i++) {
        set_value(m, at, i, 0);
        memset(v->view[at][i], 0, MEMORY_WORDS);
    }
    v->n[at] = (uint8_t)n;
    v->rmw[at] &= (uint8_t)((1u << n) - 1); /* nothing comes before the oldest */
    for (unsigned a = 0; a < n_actors; a++) {
        clamp(&v->age[a][at], n);
        clamp(&v->fence[a][at], n);
    }
    for (unsigned k = 0; k < MEMORY_KEPT; k++)
        clamp(&v->kept[k][at], n);
    for (unsigned w = 0; w < MEMORY_WORDS; w++)
        for (unsigned i = 0; i <= v->n[w]; i++)
            clamp(&v->view[w][i][at], n);
}

/* Stores that no thread can read any more are not part of the state. */
static void normalise(struct memory *m)
{
    for (unsigned w = 0; w < MEMORY_WORDS; w++) {
        unsigned most = 0;
        if (m->views.n[w] == 0)
            continue;
        for (unsigned a = 0; a < n_actors; a++)
            if (m->views.age[a][w] > most)
                most = m->views.age[a][w];
        if (most < m->views.n[w])
            forget(m, w, most);
    }
}

static void join(uint8_t *mine, const uint8_t *other)
{
    for (unsigned w = 0; w < MEMORY_WORDS; w++)
        if (other[w] < mine[w])
            mine[w] = other[w];
}

uint16_t memory_load(struct memory *m, unsigned who, unsigned at, enum memory_order order)
{
    uint8_t *age = m->views.age[who];
    if (!weak)
        return m->newest[at];
    used = true;
    if (pick > age[at]) {
        refuse(NO_SUCH_CHOICE);
        return m->newest[at];
    }
    uint16_t value = value_of(m, at, pick);
    age[at] = (uint8_t)pick;
    if ((order & ACQUIRE) != 0)
        join(age, m->views.view[at][pick]);
    for (unsigned w = 0; (order & DEPENDENT) != 0 && w < n_dependent; w++)
        clamp(&age[w], m->views.view[at][pick][w]);
    normalise(m);
    return value;
}

static void age_from(uint8_t *age, unsigned position)
{
    if (*age >= position)
        ++*age;
}

static void insert(struct memory *m, unsigned who, unsigned at, unsigned position, uint16_t value,
                   bool rmw)
{
    struct memory_views *v = &m->views;
    unsigned low = (1u << position) - 1;
    for (unsigned i = v->n[at] + 1u; i > position; i--) {
        set_value(m, at, i, value_of(m, at, i - 1));
        memcpy(v->view[at][i], v->view[at][i - 1], MEMORY_WORDS);
    }
    v->n[at]++;
    v->rmw[at] =
        (uint8_t)((v->rmw[at] & ~low) << 1 | (v->rmw[at] & low) | (rmw ? 1u << position : 0));
    set_value(m, at, position, value);
    for (unsigned a = 0; a < n_actors; a++) {
        age_from(&v->age[a][at], position);
        age_from(&v->fence[a][at], position);
    }
    for (unsigned k = 0; k < MEMORY_KEPT; k++)
        if ((v->keeps >> k & 1) != 0)
            age_from(&v->kept[k][at], position);
    for (unsigned w = 0; w < MEMORY_WORDS; w++)
        for (unsigned i = 0; i <= v->n[w]; i++)
            if (w != at || i != position)
                age_from(&v->view[w][i][at], position);
    v->age[who][at] = (uint8_t)position;
}

/* A store behind `position` newer ones; `base`: what the store before it carried, for an RMW. */
static void put(struct memory *m, unsigned who, unsigned at, unsigned position, uint16_t value,
                enum memory_order order, const uint8_t *base)
{
    struct memory_views *v = &m->views;
    uint8_t carried[MEMORY_WORDS];
    if (position > 0 && (v->rmw[at] >> (position - 1) & 1) != 0) {
        refuse(NOT_THIS_ONE);
        return;
    }
    if (v->n[at] == MEMORY_HISTORY - 1)
        forget(m, at, MEMORY_HISTORY - 2);
    if (position > v->n[at]) {
        refuse(NOT_THIS_ONE);
        return;
    }
    memcpy(carried, (order & RELEASE) != 0 ? v->age[who] : v->fence[who], sizeof carried);
    if (base != NULL)
        join(carried, base);
    insert(m, who, at, position, value, base != NULL);
    carried[at] = (uint8_t)position;
    memcpy(v->view[at][position], carried, sizeof carried);
    normalise(m);
}

void memory_store(struct memory *m, unsigned who, unsigned at, uint16_t value,
                  enum memory_order order)
{
    if (!weak) {
        m->newest[at] = value;
        return;
    }
    used = true;
    if (pick > m->views.age[who][at])
        refuse(NO_SUCH_CHOICE);
    else
        put(m, who, at, pick, value, order, NULL);
}

/* The store that an RMW of `who` reads and follows is `pick`. */
static void follow(struct memory *m, unsigned who, unsigned at, uint16_t value,
                   enum memory_order order)
{
    uint8_t base[MEMORY_WORDS];
    memcpy(base, m->views.view[at][pick], sizeof base);
    m->views.age[who][at] = (uint8_t)pick;
    if ((order & ACQUIRE) != 0)
        join(m->views.age[who], base);
    put(m, who, at, pick, value, order, base);
}

bool memory_cas(struct memory *m, unsigned who, unsigned at, uint16_t expected, uint16_t value,
                enum memory_order order)
{
    if (!weak) {
        if (m->newest[at] != expected)
            return false;
        m->newest[at] = value;
        return true;
    }
    if (pick > m->views.age[who][at] || value_of(m, at, pick) != expected) {
        (void)memory_load(m, who, at, order);
        return false;
    }
    used = true;
    follow(m, who, at, value, order);
    return true;
}

uint16_t memory_swap(struct memory *m, unsigned who, unsigned at, uint16_t value,
                     enum memory_order order)
{
    uint16_t before = m->newest[at];
    if (!weak) {
        m->newest[at] = value;
        return before;
    }
    used = true;
    if (pick > m->views.age[who][at]) {
        refuse(NO_SUCH_CHOICE);
        return before;
    }
    before = value_of(m, at, pick);
    follow(m, who, at, value, order);
    return before;
}

void memory_fence(struct memory *m, unsigned who)
{
    if (weak)
        memcpy(m->views.fence[who], m->views.age[who], MEMORY_WORDS);
}

void memory_join(struct memory *m, unsigned to, unsigned from)
{
    if (!weak)
        return;
    join(m->views.age[to], m->views.age[from]);
    normalise(m);
}

void memory_depend(struct memory *m, unsigned to, unsigned from, unsigned words)
{
    if (!weak)
        return;
    for (unsigned w = 0; w < words; w++)
        clamp(&m->views.age[to][w], m->views.fence[from][w]);
    normalise(m);
}

void memory_keep(struct memory *m, unsigned who, unsigned thing)
{
    if (!weak)
        return;
    memcpy(m->views.kept[thing], m->views.age[who], MEMORY_WORDS);
    m->views.keeps |= (uint8_t)(1u << thing);
}

void memory_take(struct memory *m, unsigned who, unsigned thing)
{
    if (!weak || (m->views.keeps >> thing & 1) == 0)
        return;
    join(m->views.age[who], m->views.kept[thing]);
    memset(m->views.kept[thing], 0, MEMORY_WORDS);
    m->views.keeps &= (uint8_t) ~(1u << thing);
    normalise(m);
}

void memory_join_all(struct memory *m)
{
    uint8_t keeps = m->views.keeps;
    if (!weak)
        return;
    memset(&m->views, 0, sizeof m->views);
    m->views.keeps = keeps;
}

void memory_renew(struct memory *m, unsigned who)
{
    if (!weak)
        return;
    memcpy(m->views.age[who], m->views.n, MEMORY_WORDS);
    memcpy(m->views.fence[who], m->views.n, MEMORY_WORDS);
}

void memory_leave(struct memory *m, unsigned who)
{
    if (!weak)
        return;
    memset(m->views.age[who], 0, MEMORY_WORDS);
    memset(m->views.fence[who], 0, MEMORY_WORDS);
    normalise(m);
}

void memory_swap_actors(struct memory *m, unsigned a, unsigned b)
{
    if (!weak)
        return;
    for (unsigned w = 0; w < MEMORY_WORDS; w++) {
        uint8_t age = m->views.age[a][w], fence = m->views.fence[a][w];
        m->views.age[a][w] = m->views.age[b][w];
        m->views.fence[a][w] = m->views.fence[b][w];
        m->views.age[b][w] = age;
        m->views.fence[b][w] = fence;
    }
}
