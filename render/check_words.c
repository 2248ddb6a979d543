/* SPDX-License-Identifier: Apache-2.0 */
#include "render/check.h"

#include <inttypes.h>

#include "render/diverge_text.h"
#include "render/text.h"

static const struct {
    const char *name, *one, *more;
    enum bbf_unit unit;
} rules[BBF_RULES] = {
#define XX(id, name, unit, one, more) {name, one, more, BBF_UNIT_##unit},
    BBF_CHECK_RULES(XX)
#undef XX
};

const char *bbf_rule_name(enum bbf_rule_id id)
{
    return rules[id].name;
}

static void add_amount(struct bbf_buf *out, enum bbf_unit unit, uint64_t amount)
{
    if (unit == BBF_UNIT_BYTES)
        bbf_text_bytes(out, amount);
    else if (unit == BBF_UNIT_RATE)
        bbf_rate_text(out, (double)amount / 1e9, false);
    else
        bbf_buf_printf(out, "%" PRIu64, amount);
}

void bbf_check_rule_text(struct bbf_buf *out, const struct bbf_check_rule *rule)
{
    const enum bbf_unit unit = rules[rule->id].unit;

    bbf_buf_printf(out, "%s ", rules[rule->id].name);
    add_amount(out, unit, rule->limit);
    bbf_buf_str(out, rule->is_broken ? " is broken: " : " is kept: ");
    add_amount(out, unit == BBF_UNIT_RATE ? BBF_UNIT_LIVES : unit, rule->value);
    bbf_buf_printf(out, " %s", rule->value == 1 ? rules[rule->id].one : rules[rule->id].more);
    if (unit == BBF_UNIT_RATE) {
        bbf_buf_char(out, ' ');
        add_amount(out, unit, rule->limit);
        bbf_buf_str(out, " per 1,000");
    }
}

void bbf_check_row_text(struct bbf_buf *out, struct bbf_check *check,
                        const struct bbf_compared *row)
{
    const struct bbf_divergence *d;
    struct bbf_view *view = bbf_check_view(check, row, &d);

    bbf_divergence_line(out, view, d);
    if (out->len > 0 && out->data[out->len - 1] == '\n')
        out->len--;
}

void bbf_check_rates_text(struct bbf_buf *out, const struct bbf_compared *row)
{
    const struct bbf_loss *before = &row->before, *now = &row->now;

    if (now->row != BBF_NO_NODE)
        bbf_rate_interval_text(out, &now->rate);
    if (before->row == BBF_NO_NODE)
        return;
    bbf_buf_str(out, now->row != BBF_NO_NODE ? "; before " : "before ");
    bbf_buf_printf(out, "%" PRIu64 " of %" PRIu64 ", ", before->leaked + before->aged,
                   before->passed);
    bbf_rate_interval_text(out, &before->rate);
    if (now->row == BBF_NO_NODE)
        return;
    bbf_buf_str(out, "; difference ");
    bbf_rate_text(out, row->difference.at, true);
    bbf_buf_str(out, " (95%: ");
    bbf_rate_text(out, row->difference.low, true);
    bbf_buf_str(out, " to ");
    bbf_rate_text(out, row->difference.high, true);
    bbf_buf_char(out, ')');
}

void bbf_check_verdict_text(struct bbf_buf *out, const struct bbf_check *check)
{
    const size_t *of = check->comparison.of;

    if (check->asked->compare_only) {
        bbf_buf_printf(out, "%zu new, %zu worse, %zu unchanged, %zu better, %zu gone", of[BBF_NEW],
                       of[BBF_WORSE], of[BBF_UNCHANGED], of[BBF_BETTER], of[BBF_GONE]);
        return;
    }
    if (check->n_broken == 0)
        bbf_buf_printf(out, "passed: %zu rule%s kept", check->n_rules,
                       check->n_rules == 1 ? " is" : "s are");
    else
        bbf_buf_printf(out, "failed: %zu of %zu rule%s broken", check->n_broken, check->n_rules,
                       check->n_rules == 1 ? " is" : "s are");
    if (check->n_failing > 0)
        bbf_buf_printf(out, ", %zu leak%s", check->n_failing,
                       check->n_failing == 1 ? " fails" : "s fail");
}

void bbf_check_kind(struct bbf_buf *out, const struct bbf_check *check,
                    const struct bbf_compared *row)
{
    const struct bbf_loss *loss = row->now.row != BBF_NO_NODE ? &row->now : &row->before;

    if (check->has_before)
        bbf_buf_printf(out, "%s ", bbf_change_name(row->change));
    bbf_buf_str(out, loss->leaked > 0 ? "leak" : "open");
}

void bbf_check_program(struct bbf_buf *out, const struct bbf_check *check)
{
    const struct bbf_snapshot *s = check->now->snapshot;

    bbf_text_safe(out, s->jvm.main != NULL && s->jvm.main[0] != '\0' ? s->jvm.main : "a JVM", '\0');
    if (check->asked->name != NULL) {
        bbf_buf_str(out, ", ");
        bbf_text_safe(out, check->asked->name, '\0');
    }
    bbf_buf_printf(out, ", %" PRIu64 " %s", s->totals.lives_,
                   s->totals.lives_ == 1 ? "life" : "lives");
    if (check->asked->baseline_name != NULL) {
        bbf_buf_str(out, ", baseline ");
        bbf_text_safe(out, check->asked->baseline_name, '\0');
    }
}
