/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/check.h - is a snapshot good enough? Rules with a limit each, and a baseline: what `bbflow
 * check` decides. The formats junit, sarif, github, markdown and check show one and the same
 * answer.
 *
 * A leak fails the check if it is new in the snapshot (all are, without a baseline) and the new
 * ones are more than max-leaked or max-leaked-bytes; if its rate is worse than the baseline's; or
 * if the lower end of its rate is above max-rate. Only lives whose loss is proven do, but for
 * max-aged.
 *
 * Threads: one owner. Errors: BBF_ENOMEM.
 */
#ifndef BBF_RENDER_CHECK_H
#define BBF_RENDER_CHECK_H

#include "render/compare.h"
#include "render/formats.h"
#include "render/view.h"

#define BBF_NO_LIMIT UINT64_MAX
enum { BBF_CHECK_TOLERANCE = 10 };

/* id, name, the unit of its limit, what its value is: of one, of more */
#define BBF_CHECK_RULES(XX)                                                                        \
    XX(MAX_LEAKED, "max-leaked", LIVES, "life leaked", "lives leaked")                             \
    XX(MAX_LEAKED_BYTES, "max-leaked-bytes", BYTES, "leaked", "leaked")                            \
    XX(MAX_RATE, "max-rate", RATE, "leak above", "leaks above")                                    \
    XX(MAX_WORSE, "max-worse", LIVES, "leak worse than in the baseline",                           \
       "leaks worse than in the baseline")                                                         \
    XX(MAX_AGED, "max-aged", LIVES, "life open for too long", "lives open for too long")           \
    XX(MAX_LIVE, "max-live", LIVES, "life open", "lives open")                                     \
    XX(MAX_MISUSE, "max-misuse", LIVES, "use after release", "uses after release")                 \
    XX(MIN_LIVES, "min-lives", LIVES, "life followed", "lives followed")

enum bbf_unit { BBF_UNIT_LIVES, BBF_UNIT_BYTES, BBF_UNIT_RATE };
enum bbf_rule_id {
#define XX(id, name, unit, one, more) BBF_RULE_##id,
    BBF_CHECK_RULES(XX)
#undef XX
};
enum { BBF_RULES = BBF_RULE_MIN_LIVES + 1 };

/* The question. */
struct bbf_check_rules {
    uint64_t limits[BBF_RULES]; /* BBF_NO_LIMIT: not a rule; a rate in millionths of one in 1,000 */
    unsigned tolerance;         /* percent, of bbf_compare() */
    bool compare_only;          /* no rule at all: `bbflow diff` */
    const struct bbf_snapshot *baseline; /* NULL: none; finished */
    const char *name, *baseline_name;    /* where the snapshots came from; may be NULL */
    /* The source file of a class, relative to where a report's reader begins, as
     * "src/main/java/a/B.java". NULL: not known. The result is valid until the next call. */
    const char *(*source)(void *ctx, const char *class_name);
    void *source_ctx;
    bool is_broken; /* the answer, set by bbf_check_init() */
};

/* No leak is allowed, and a snapshot without a life is no proof. */
struct bbf_check_rules bbf_check_defaults(void);

/* Why a leak fails. */
enum { BBF_FAILS_NEW = 1, BBF_FAILS_WORSE = 2, BBF_FAILS_RATE = 4, BBF_FAILS_AGED = 8 };

struct bbf_check_rule {
    enum bbf_rule_id id;
    uint64_t limit, value; /* max-rate: the number of leaks above */
    bool is_broken;
};

struct bbf_check {
    const struct bbf_check_rules *asked;
    struct bbf_view *now;
    struct bbf_view before;
    bool has_before;
    struct bbf_comparison comparison;
    unsigned *fails; /* by row of the comparison: a set of BBF_FAILS_… */
    size_t n_failing;
    struct bbf_check_rule rules[BBF_RULES];
    size_t n_rules, n_broken;
    char **notes; /* sentences: what the reader must know of the two snapshots */
    size_t n_notes;
};

/* `asked` is that of the options, or NULL: bbf_check_defaults(). `view` has nothing added yet.
 * After an error there is nothing to free. */
int bbf_check_init(struct bbf_check *check, struct bbf_view *view, struct bbf_check_rules *asked);
void bbf_check_free(struct bbf_check *check);

/* What each format of a check does: judge by the options' rules, and have `write` show it. */
int bbf_check_render(struct bbf_buf *out, struct bbf_view *view,
                     const struct bbf_render_options *options,
                     void (*write)(struct bbf_buf *out, struct bbf_check *check));

const char *bbf_rule_name(enum bbf_rule_id id);

/* ---- Words that the formats share; no line ends ---- */

/* "max-leaked 0 is broken: 43 lives leaked", "min-lives 1 is kept: 918 lives followed" */
void bbf_check_rule_text(struct bbf_buf *out, const struct bbf_check_rule *rule);
/* "15 of 156 (9.62%) that reach A.b end in C.d: 2.2 KiB direct (id …)", of the newer snapshot that
 * has it; names are safe for a terminal. */
void bbf_check_row_text(struct bbf_buf *out, struct bbf_check *check,
                        const struct bbf_compared *row);
/* "96.2 per 1,000 (95%: 59.1 to 152.5); before 12.3 (…), +83.9 (…)" */
void bbf_check_rates_text(struct bbf_buf *out, const struct bbf_compared *row);
/* "3 of 4 rules are kept, 2 leaks fail" */
void bbf_check_verdict_text(struct bbf_buf *out, const struct bbf_check *check);
/* "new leak", "worse leak", "leak" where there is no baseline; "new open" where nothing is proven.
 */
void bbf_check_kind(struct bbf_buf *out, const struct bbf_check *check,
                    const struct bbf_compared *row);
/* "com.app.Main, out.json, 918 lives"; names are safe for a terminal. */
void bbf_check_program(struct bbf_buf *out, const struct bbf_check *check);

/* The view that has a row's names, and its divergence there: `now`, or for a leak that is gone
 * `before`. */
struct bbf_view *bbf_check_view(struct bbf_check *check, const struct bbf_compared *row,
                                const struct bbf_divergence **divergence);

/* Where to look: the method that owned the lost buffers, or the step nearest to it on the path
 * whose source file was found. */
struct bbf_check_place {
    uint32_t node;
    const char *file; /* NULL: no step of the path has one; valid until the next call */
    uint32_t line;    /* of the method's first instruction; 0: not known */
};
struct bbf_check_place bbf_check_place(struct bbf_check *check, struct bbf_view *view,
                                       uint32_t last);

#endif
