/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/choice.h - which losses a report shows: --lost, --memory, --older, --rate and --path of
 * the command, and the same filters of the HTML page (render/html/choice.js), which must mean the
 * same.
 *
 * A leak row matches by its verdict, memory, age and path. An entry is shown if one of its rows
 * matches, and its rate does. Of the rows those are shown that match and whose entry is shown. No
 * number changes: a rate is that of all lives.
 *
 * Threads: any; pure. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_CHOICE_H
#define BBF_RENDER_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "render/diverge.h"
#include "snapshot/snapshot.h"

enum bbf_rate_is { BBF_RATE_ANY, BBF_RATE_ABOVE, BBF_RATE_BELOW };

struct bbf_choice {
    bool lost;           /* --lost: proven ones only */
    unsigned memories;   /* --memory: bits 1 << enum bbf_memory; 0: any */
    uint64_t older;      /* --older: the oldest life of a row, seconds at least; 0: any */
    const char *path;    /* --path: a part of the name of a step on its way; NULL: any */
    enum bbf_rate_is is; /* --rate: the share of the lives that reach the entry's place … */
    double percent;      /* … and are lost there, above or below this */
};

bool bbf_choice_is_set(const struct bbf_choice *choice);

/* "'>1%'" and "'<0.5%'". false: it is neither. */
bool bbf_choice_parse_rate(const char *text, struct bbf_choice *choice);
/* "direct", "direct+heap". */
bool bbf_choice_parse_memory(const char *text, struct bbf_choice *choice);

/*
 * Is `pattern` a part of the step's name, from one boundary of names to another? "CartParser",
 * "CartParser.total", "shop.CartParser" and "com.shop" are parts of com.shop.CartParser.total;
 * "Cart" is not. '.' also matches '$'.
 */
bool bbf_site_has_name(const struct bbf_snap_site *site, const char *pattern);

/* The rows and entries that are shown. All zero: all of them. */
struct bbf_chosen {
    bool *leaks;   /* by row of snapshot->leaks */
    bool *entries; /* by number of a divergence */
    size_t n_entries;
};

/* `parents` is bbf_snapshot_parents()'s. After an error there is nothing to free. */
int bbf_chosen_init(struct bbf_chosen *chosen, const struct bbf_snapshot *snapshot,
                    const uint32_t *parents, const struct bbf_divergences *divergences,
                    const struct bbf_choice *choice);
void bbf_chosen_free(struct bbf_chosen *chosen);

/* "--lost --memory direct --older 600s": what was asked for, without a line end. The path is safe
 * for a terminal. */
void bbf_choice_text(struct bbf_buf *out, const struct bbf_choice *choice);

#endif
