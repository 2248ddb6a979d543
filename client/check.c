/* SPDX-License-Identifier: Apache-2.0 */
#include "client/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/load.h"
#include "client/output.h"
#include "client/progress.h"
#include "client/sources.h"
#include "core/err.h"
#include "render/check_json.h"
#include "render/render.h"
#include "snapshot/merge.h"

/* ---- Snapshots ------------------------------------------------------------------------------- */

struct input {
    struct bbf_snapshot *snapshot;
    char who[BBF_WHO];
};

static int load_one(const struct bbf_command_line *request, const char *target, struct input *input)
{
    struct bbf_command_line one = *request;
    struct bbf_loaded loaded;

    one.target = target;
    int exit_code = bbf_load(&one, &loaded);
    snprintf(input->who, sizeof input->who, "%s", loaded.who);
    input->snapshot = loaded.snapshot;
    loaded.snapshot = NULL;
    bbf_loaded_free(&loaded);
    return exit_code;
}

static int add_one(struct bbf_merge *merge, const struct input *one)
{
    const char *of = "";
    int err = bbf_merge_add(merge, one->snapshot, one->who, &of);

    if (err == BBF_OK)
        return BBF_EXIT_OK;
    if (err == BBF_EREFUSED)
        return bbf_fail(BBF_EXIT_FAILED,
                        "%s is the same snapshot as %s: one JVM at one time; its lives would be "
                        "counted twice, so name it once",
                        one->who, of);
    return bbf_fail(BBF_EXIT_FAILED, "%s: %s", one->who, bbf_strerror(err));
}

/* Each snapshot is freed before the next one is read: a thousand need the memory of two. */
static int load_merged(const struct bbf_command_line *request, struct input *input)
{
    struct bbf_merge *merge = bbf_merge_new();
    int exit_code = BBF_EXIT_OK, err = merge != NULL ? BBF_OK : BBF_ENOMEM;

    for (size_t i = 0; i < request->n_params && exit_code == BBF_EXIT_OK && err == BBF_OK; i++) {
        bbf_progress_part(i + 1, request->n_params);
        exit_code = load_one(request, request->params[i], input);
        bbf_progress_stage("adding %s", input->who);
        if (exit_code == BBF_EXIT_OK)
            exit_code = add_one(merge, input);
        bbf_snapshot_free(input->snapshot);
        input->snapshot = NULL;
    }
    bbf_progress_part(0, 0);
    bbf_progress_stage("merging %zu snapshots", request->n_params);
    if (exit_code == BBF_EXIT_OK && err == BBF_OK)
        err = bbf_merge_end(merge, &input->snapshot);
    bbf_merge_free(merge);
    snprintf(input->who, sizeof input->who, "%zu snapshots", request->n_params);
    return err == BBF_OK ? exit_code
                         : bbf_fail(BBF_EXIT_FAILED, "%s: %s", input->who, bbf_strerror(err));
}

static int load_all(const struct bbf_command_line *request, struct input *input)
{
    *input = (struct input){.snapshot = NULL};
    return request->n_params > 1 ? load_merged(request, input)
                                 : load_one(request, request->target, input);
}

static int load_baseline(const struct bbf_command_line *request, struct input *baseline)
{
    struct bbf_command_line file = *request;

    *baseline = (struct input){.snapshot = NULL};
    file.gc = false; /* for the JVM, if there is one */
    return request->check.baseline == NULL ? BBF_EXIT_OK
                                           : load_one(&file, request->check.baseline, baseline);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static struct bbf_check_rules rules_of(const struct bbf_command_line *request,
                                       const struct input *now, const struct input *before,
                                       struct bbf_sources *sources)
{
    struct bbf_check_rules rules = bbf_check_defaults();

    for (size_t i = 0; i < BBF_RULES; i++)
        if (request->check.is_set[i])
            rules.limits[i] = request->check.limits[i];
    if (request->check.has_tolerance)
        rules.tolerance = request->check.tolerance;
    rules.name = now->who;
    if (before->snapshot != NULL) {
        rules.baseline = before->snapshot;
        rules.baseline_name = before->who;
    }
    rules.source = bbf_sources_find;
    rules.source_ctx = sources;
    return rules;
}

static int render(struct bbf_buf *text, const struct input *now, enum bbf_format format,
                  struct bbf_check_rules *rules)
{
    const struct bbf_render_options options = {.check = rules};
    bbf_progress_stage(rules->baseline != NULL ? "comparing %s" : "checking %s", now->who);
    int err = format == BBF_FORMAT_JSON ? bbf_check_json(text, now->snapshot, rules)
                                        : bbf_render(text, now->snapshot, format, &options);

    return err == BBF_OK ? BBF_EXIT_OK
                         : bbf_fail(BBF_EXIT_FAILED, "%s: %s", now->who, bbf_strerror(err));
}

static bool goes_to_file(const struct bbf_command_line *request)
{
    return request->output != NULL && strcmp(request->output, "-") != 0;
}

static int show(const struct bbf_command_line *request, const struct input *now,
                enum bbf_format format, struct bbf_check_rules *rules)
{
    struct bbf_buf text = BBF_BUF_INIT;
    int exit_code = render(&text, now, format, rules);

    if (exit_code == BBF_EXIT_OK)
        exit_code = format == BBF_FORMAT_CHECK ? bbf_output_write(request->output, &text)
                                               : bbf_output_exact(request->output, &text);
    /* A report for a program is in a file: the log of the build has the answer for a person. */
    text.len = 0;
    if (exit_code == BBF_EXIT_OK && goes_to_file(request) && format != BBF_FORMAT_CHECK)
        exit_code = render(&text, now, BBF_FORMAT_CHECK, rules);
    if (exit_code == BBF_EXIT_OK && text.len > 0)
        exit_code = bbf_output_write(NULL, &text);
    bbf_buf_free(&text);
    return exit_code;
}

/* The format of the flags; `allowed` is a set of 1 << enum bbf_format, said as `names`. */
static int format_of(const struct bbf_command_line *request, unsigned allowed, const char *names,
                     enum bbf_format *format)
{
    struct bbf_command_line as = *request;

    as.verb = "check"; /* the format of diff's text also */
    int exit_code = bbf_output_format(&as, format);
    if (exit_code == BBF_EXIT_OK && (allowed >> *format & 1) == 0)
        return bbf_fail(BBF_EXIT_USAGE, "%s writes %s; say which with -f", request->verb, names);
    return exit_code;
}

int bbf_verb_check(const struct bbf_command_line *request)
{
    struct input now = {.snapshot = NULL}, before = {.snapshot = NULL};
    struct bbf_sources sources;
    enum bbf_format format;

    int exit_code =
        format_of(request,
                  1U << BBF_FORMAT_CHECK | 1U << BBF_FORMAT_JUNIT | 1U << BBF_FORMAT_SARIF |
                      1U << BBF_FORMAT_GITHUB | 1U << BBF_FORMAT_MARKDOWN | 1U << BBF_FORMAT_JSON,
                  "check, junit, sarif, github, markdown and json", &format);
    if (exit_code == BBF_EXIT_OK)
        exit_code = load_baseline(request, &before);
    if (exit_code == BBF_EXIT_OK)
        exit_code = load_all(request, &now);
    if (exit_code == BBF_EXIT_OK) {
        bbf_sources_init(&sources, request->check.sources);
        struct bbf_check_rules rules = rules_of(request, &now, &before, &sources);
        exit_code = show(request, &now, format, &rules);
        if (exit_code == BBF_EXIT_OK && rules.is_broken)
            exit_code = BBF_EXIT_LOST;
        bbf_sources_free(&sources);
    }
    bbf_snapshot_free(now.snapshot);
    bbf_snapshot_free(before.snapshot);
    return exit_code;
}

int bbf_verb_diff(const struct bbf_command_line *request)
{
    struct input now = {.snapshot = NULL}, before = {.snapshot = NULL};
    struct bbf_sources sources;
    enum bbf_format format;

    if (request->n_params != 2)
        return bbf_fail(BBF_EXIT_USAGE, "diff needs two snapshots, the earlier one first, as: "
                                        "bbflow diff before.json after.json");
    int exit_code = format_of(
        request, 1U << BBF_FORMAT_CHECK | 1U << BBF_FORMAT_MARKDOWN | 1U << BBF_FORMAT_JSON,
        "check (a text), markdown and json", &format);
    if (exit_code == BBF_EXIT_OK)
        exit_code = load_one(request, request->params[0], &before);
    if (exit_code == BBF_EXIT_OK)
        exit_code = load_one(request, request->params[1], &now);
    if (exit_code == BBF_EXIT_OK) {
        bbf_sources_init(&sources, request->check.sources);
        struct bbf_check_rules rules = rules_of(request, &now, &before, &sources);
        rules.compare_only = true;
        exit_code = show(request, &now, format, &rules);
        bbf_sources_free(&sources);
    }
    bbf_snapshot_free(now.snapshot);
    bbf_snapshot_free(before.snapshot);
    return exit_code;
}

int bbf_verb_merge(const struct bbf_command_line *request)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct input all = {.snapshot = NULL};
    enum bbf_format format;

    if (request->n_params == 0)
        return bbf_fail(BBF_EXIT_USAGE, "merge needs snapshots, as: bbflow merge a.json b.json -o "
                                        "all.json");
    int exit_code = bbf_output_format(request, &format);
    if (exit_code == BBF_EXIT_OK)
        exit_code = load_merged(request, &all);
    if (exit_code == BBF_EXIT_OK) {
        bbf_output_stage(all.snapshot);
        int err = bbf_render(&text, all.snapshot, format, NULL);
        if (err != BBF_OK)
            exit_code = bbf_fail(BBF_EXIT_FAILED, "%s: %s", all.who, bbf_strerror(err));
        else if ((bbf_format_flags(format) & BBF_FORMAT_BINARY) != 0)
            exit_code = bbf_output_binary(request->output, &text);
        else if ((bbf_format_flags(format) & BBF_FORMAT_EXACT) != 0)
            exit_code = bbf_output_exact(request->output, &text);
        else
            exit_code = bbf_output_write(request->output, &text);
    }
    bbf_snapshot_free(all.snapshot);
    bbf_buf_free(&text);
    return exit_code;
}
