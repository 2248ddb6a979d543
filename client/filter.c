/* SPDX-License-Identifier: Apache-2.0 */
#include "client/filter.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/err.h"
#include "render/choice.h"
#include "snapshot/regroup.h"

enum { NOTE_MAX = 512 };

static bool is_wanted(const struct bbf_snap_site *site, void *pattern)
{
    return bbf_site_has_name(site, pattern);
}

bool bbf_filter_is_set(const struct bbf_command_line *request)
{
    return request->only != NULL || request->depth != 0;
}

int bbf_filter_check(const struct bbf_command_line *request, enum bbf_format format)
{
    if (request->choice.path != NULL && request->redact != NULL)
        return bbf_fail(BBF_EXIT_USAGE,
                        "--path would show the name '%s' that --redact hides; take "
                        "--only, which chooses before names are replaced",
                        request->choice.path);
    if (!bbf_choice_is_set(&request->choice) ||
        (bbf_format_flags(format) & BBF_FORMAT_CHOOSES) != 0)
        return BBF_EXIT_OK;
    return bbf_fail(
        BBF_EXIT_USAGE,
        "--lost, --memory, --older, --rate and --path choose what leaks, tree, summary, llm "
        "and html show; this format always has all losses, leave them out");
}

static int note(struct bbf_snapshot *snapshot, const char *text)
{
    return bbf_snapshot_add_text(&snapshot->notes, &snapshot->n_notes, text);
}

static int keep_only(const struct bbf_command_line *request, const char *who,
                     struct bbf_snapshot *snapshot)
{
    char text[NOTE_MAX];
    uint64_t all = snapshot->totals.lives_;
    char *pattern = (char *)(uintptr_t)request->only; /* is_wanted() only reads it */
    int err = bbf_snapshot_only(snapshot, is_wanted, pattern);

    if (err == BBF_OK)
        err = bbf_snapshot_finish(snapshot);
    if (err == BBF_OK && snapshot->n_nodes == 0)
        return bbf_fail(
            BBF_EXIT_FAILED,
            "%s: no path has a step '%s'; --only takes whole names of packages, classes "
            "and methods, as 'bbflow tree --all' prints them",
            who, request->only);
    snprintf(text, sizeof text,
             "only the paths with a step %.200s are shown: %" PRIu64 " of %" PRIu64
             " lives (--only)",
             request->only, snapshot->totals.lives_, all);
    if (err == BBF_OK)
        err = note(snapshot, text);
    return err == BBF_OK ? BBF_EXIT_OK
                         : bbf_fail(BBF_EXIT_FAILED, "%s: %s", who, bbf_strerror(err));
}

static int cut_depth(const struct bbf_command_line *request, const char *who,
                     struct bbf_snapshot *snapshot)
{
    char text[NOTE_MAX];
    size_t all = snapshot->n_nodes;
    int err = bbf_snapshot_cut_depth(snapshot, request->depth);

    if (err == BBF_OK)
        err = bbf_snapshot_finish(snapshot);
    snprintf(
        text, sizeof text,
        "only the first %u steps of a path are shown, %zu of %zu lines; lives that went further "
        "are counted at the last of them (--depth)",
        request->depth, snapshot->n_nodes, all);
    if (err == BBF_OK && snapshot->n_nodes < all)
        err = note(snapshot, text);
    return err == BBF_OK ? BBF_EXIT_OK
                         : bbf_fail(BBF_EXIT_FAILED, "%s: %s", who, bbf_strerror(err));
}

int bbf_filter(const struct bbf_command_line *request, const char *who,
               struct bbf_snapshot *snapshot)
{
    int exit_code = BBF_EXIT_OK;

    if (request->only != NULL)
        exit_code = keep_only(request, who, snapshot);
    if (exit_code == BBF_EXIT_OK && request->depth != 0)
        exit_code = cut_depth(request, who, snapshot);
    return exit_code;
}
