/* SPDX-License-Identifier: Apache-2.0 */
#include "client/netty_lives.h"

#include <stdlib.h>

static size_t place_of(const struct bbf_netty_lives *lives, uint64_t address)
{
    return (size_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (lives->room - 1);
}

struct bbf_netty_life *bbf_netty_life_at(const struct bbf_netty_lives *lives, uint64_t address)
{
    if (lives->room == 0 || address == 0)
        return NULL;
    for (size_t i = place_of(lives, address);; i = (i + 1) & (lives->room - 1)) {
        if (lives->places[i].address == address)
            return &lives->places[i];
        if (lives->places[i].address == 0)
            return NULL;
    }
}

static void place(struct bbf_netty_lives *lives, const struct bbf_netty_life *life)
{
    size_t i = place_of(lives, life->address);

    while (lives->places[i].address != 0)
        i = (i + 1) & (lives->room - 1);
    lives->places[i] = *life;
    lives->n++;
}

static bool make_room(struct bbf_netty_lives *lives)
{
    struct bbf_netty_lives more = {.room = lives->room > 0 ? 2 * lives->room : 1024};

    if (lives->n * 4 < lives->room * 3)
        return true;
    more.places = calloc(more.room, sizeof *more.places);
    if (more.places == NULL)
        return false;
    for (size_t i = 0; i < lives->room; i++) {
        if (lives->places[i].address != 0)
            place(&more, &lives->places[i]);
    }
    free(lives->places);
    *lives = more;
    return true;
}

bool bbf_netty_life_put(struct bbf_netty_lives *lives, struct bbf_netty_life life)
{
    struct bbf_netty_life *there = bbf_netty_life_at(lives, life.address);

    if (there != NULL) {
        *there = life;
        return true;
    }
    if (!make_room(lives))
        return false;
    place(lives, &life);
    return true;
}

/* What follows moves up, so that no search ends at the place that becomes free. */
void bbf_netty_life_remove(struct bbf_netty_lives *lives, struct bbf_netty_life *life)
{
    size_t mask = lives->room - 1, hole = (size_t)(life - lives->places);

    for (size_t i = (hole + 1) & mask; lives->places[i].address != 0; i = (i + 1) & mask) {
        size_t home = place_of(lives, lives->places[i].address);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            lives->places[hole] = lives->places[i];
            hole = i;
        }
    }
    lives->places[hole].address = 0;
    lives->n--;
}
