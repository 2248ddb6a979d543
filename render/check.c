/* SPDX-License-Identifier: Apache-2.0 */
#include "render/check.h"

#include "core/err.h"
#include "render/check_notes.h"

#include <stdlib.h>
#include <string.h>

struct bbf_check_rules bbf_check_defaults(void)
{
    struct bbf_check_rules rules = {.tolerance = BBF_CHECK_TOLERANCE};

    for (size_t i = 0; i < BBF_RULES; i++)
        rules.limits[i] = BBF_NO_LIMIT;
    rules.limits[BBF_RULE_MAX_LEAKED] = 0;
    rules.limits[BBF_RULE_MAX_WORSE] = 0;
    rules.limits[BBF_RULE_MIN_LIVES] = 1;
    return rules;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool is_above(const struct bbf_compared *row, uint64_t limit)
{
    return row->now.leaked > 0 && row->now.rate.low * 1e9 > (double)limit;
}

static bool is_worse(const struct bbf_compared *row)
{
    return row->change == BBF_WORSE && row->now.leaked > 0;
}

/* Leaks that the baseline has count for max-worse and max-rate only. */
static uint64_t value_of(const struct bbf_check *check, enum bbf_rule_id id)
{
    const struct bbf_snap_totals *totals = &check->now->snapshot->totals;
    uint64_t leaked = 0, bytes = 0, above = 0, worse = 0;

    for (size_t i = 0; i < check->comparison.count; i++) {
        const struct bbf_compared *row = &check->comparison.rows[i];
        leaked += row->change == BBF_NEW ? row->now.leaked : 0;
        bytes += row->change == BBF_NEW ? row->now.leaked_bytes : 0;
        above += is_above(row, check->asked->limits[BBF_RULE_MAX_RATE]);
        worse += is_worse(row);
    }
    const uint64_t values[BBF_RULES] = {[BBF_RULE_MAX_LEAKED] = leaked,
                                        [BBF_RULE_MAX_LEAKED_BYTES] = bytes,
                                        [BBF_RULE_MAX_RATE] = above,
                                        [BBF_RULE_MAX_WORSE] = worse,
                                        [BBF_RULE_MAX_AGED] = totals->aged_,
                                        [BBF_RULE_MAX_LIVE] = totals->live_,
                                        [BBF_RULE_MAX_MISUSE] = totals->misuse_,
                                        [BBF_RULE_MIN_LIVES] = totals->lives_};
    return values[id];
}

static void judge_rules(struct bbf_check *check)
{
    for (unsigned id = 0; id < BBF_RULES; id++) {
        const uint64_t limit = check->asked->limits[id];
        if (limit == BBF_NO_LIMIT || (id == BBF_RULE_MAX_WORSE && !check->has_before))
            continue;
        struct bbf_check_rule *rule = &check->rules[check->n_rules++];
        *rule = (struct bbf_check_rule){.id = (enum bbf_rule_id)id, .limit = limit};
        rule->value = value_of(check, rule->id);
        rule->is_broken = id == BBF_RULE_MIN_LIVES  ? rule->value < limit
                          : id == BBF_RULE_MAX_RATE ? rule->value > 0
                                                    : rule->value > limit;
        check->n_broken += rule->is_broken;
    }
}

static bool is_broken(const struct bbf_check *check, enum bbf_rule_id id)
{
    for (size_t i = 0; i < check->n_rules; i++)
        if (check->rules[i].id == id)
            return check->rules[i].is_broken;
    return false;
}

static unsigned fails(const struct bbf_check *check, const struct bbf_compared *row)
{
    const bool too_many =
        is_broken(check, BBF_RULE_MAX_LEAKED) || is_broken(check, BBF_RULE_MAX_LEAKED_BYTES);
    unsigned set = 0;

    if (row->change == BBF_NEW && row->now.leaked > 0 && too_many)
        set |= BBF_FAILS_NEW;
    if (is_worse(row) && is_broken(check, BBF_RULE_MAX_WORSE))
        set |= BBF_FAILS_WORSE;
    if (is_broken(check, BBF_RULE_MAX_RATE) &&
        is_above(row, check->asked->limits[BBF_RULE_MAX_RATE]))
        set |= BBF_FAILS_RATE;
    if (row->now.aged > 0 && is_broken(check, BBF_RULE_MAX_AGED))
        set |= BBF_FAILS_AGED;
    return set;
}

static int judge(struct bbf_check *check)
{
    check->fails = calloc(check->comparison.count + 1, sizeof *check->fails);
    if (check->fails == NULL)
        return BBF_ENOMEM;
    if (check->asked->compare_only)
        return BBF_OK;
    judge_rules(check);
    for (size_t i = 0; i < check->comparison.count; i++) {
        check->fails[i] = fails(check, &check->comparison.rows[i]);
        check->n_failing += check->fails[i] != 0;
    }
    return BBF_OK;
}

/* ---- Its parts ------------------------------------------------------------------------------- */

static int add_parts(struct bbf_view *view)
{
    int err = bbf_view_add_names(view, '\0');

    if (err == BBF_OK)
        err = bbf_view_add_owners(view);
    if (err == BBF_OK)
        err = bbf_view_add_divergences(view);
    return err;
}

static int init_before(struct bbf_check *check)
{
    if (check->asked->baseline == NULL)
        return BBF_OK;
    int err = bbf_view_init(&check->before, check->asked->baseline);
    if (err != BBF_OK)
        return err;
    check->has_before = true;
    return add_parts(&check->before);
}

int bbf_check_init(struct bbf_check *check, struct bbf_view *view, struct bbf_check_rules *asked)
{
    *check = (struct bbf_check){.asked = asked, .now = view};
    int err = add_parts(view);

    if (err == BBF_OK)
        err = init_before(check);
    if (err == BBF_OK)
        err = bbf_compare(&check->comparison, check->has_before ? &check->before : NULL, view,
                          asked->tolerance);
    if (err == BBF_OK)
        err = judge(check);
    if (err == BBF_OK)
        err = bbf_check_add_notes(&check->notes, &check->n_notes, asked->baseline, view->snapshot,
                                  !asked->compare_only);
    if (err != BBF_OK)
        bbf_check_free(check);
    asked->is_broken = check->n_broken > 0;
    return err;
}

int bbf_check_render(struct bbf_buf *out, struct bbf_view *view,
                     const struct bbf_render_options *options,
                     void (*write)(struct bbf_buf *out, struct bbf_check *check))
{
    struct bbf_check_rules defaults = bbf_check_defaults();
    struct bbf_check check;
    int err = bbf_check_init(&check, view, options->check != NULL ? options->check : &defaults);

    if (err != BBF_OK)
        return err;
    write(out, &check);
    bbf_check_free(&check);
    return BBF_OK;
}

void bbf_check_free(struct bbf_check *check)
{
    bbf_comparison_free(&check->comparison);
    free(check->fails);
    check->fails = NULL;
    for (size_t i = 0; i < check->n_notes; i++)
        free(check->notes[i]);
    free(check->notes);
    check->notes = NULL;
    check->n_notes = 0;
    if (check->has_before)
        bbf_view_free(&check->before);
    check->has_before = false;
}

struct bbf_view *bbf_check_view(struct bbf_check *check, const struct bbf_compared *row,
                                const struct bbf_divergence **divergence)
{
    const bool gone = row->now.row == BBF_NO_NODE;
    struct bbf_view *view = gone ? &check->before : check->now;

    *divergence = &view->divergences.rows[gone ? row->before.row : row->now.row];
    return view;
}

static const char *source_of(const struct bbf_check *check, const struct bbf_view *view,
                             uint32_t node)
{
    const struct bbf_snap_site *site = &view->snapshot->sites[view->snapshot->nodes[node].site];

    if (check->asked->source == NULL || site->class_name[0] == '\0')
        return NULL;
    return check->asked->source(check->asked->source_ctx, site->class_name);
}

struct bbf_check_place bbf_check_place(struct bbf_check *check, struct bbf_view *view,
                                       uint32_t last)
{
    const struct bbf_snapshot *s = view->snapshot;
    const uint32_t owner = bbf_owner_to_mend(view, last);
    struct bbf_check_place place = {.node = owner};

    place.file = source_of(check, view, owner);
    for (uint32_t at = last; place.file == NULL && at != BBF_NO_PARENT; at = view->parents[at]) {
        place.file = source_of(check, view, at);
        place.node = place.file != NULL ? at : owner;
    }
    place.line = s->sites[s->nodes[place.node].site].line;
    return place;
}
