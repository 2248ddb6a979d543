/* SPDX-License-Identifier: Apache-2.0 */
#include "client/measure.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/agent_answer.h"
#include "client/load.h"
#include "client/output.h"
#include "client/progress.h"
#include "client/set.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/units.h"
#include "render/text.h"

enum { VALUE = 32, PAIRS = 8, MILLION = 1000000 }; /* PAIRS: as render/cost.c */

struct before {
    char duty[VALUE], budget[VALUE];
    bool by_windows; /* the agent follows and measures by windows anyway */
};

/* Copy the setting `name`; "off" where the agent has no such one. */
static void keep(const struct bbf_agent_answer *answer, const char *name, char to[VALUE])
{
    const char *value = bbf_agent_setting(answer, name);
    snprintf(to, VALUE, "%s", value != NULL && value[0] != '\0' ? value : "off");
}

static bool is_part(const char *share)
{
    return strcmp(share, "off") != 0 && strcmp(share, "100%") != 0;
}

static int read_settings(const struct bbf_command_line *request, struct before *before,
                         char who[BBF_WHO])
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_agent_answer answer = {0};
    int exit_code = bbf_ask_target(request, "status", &text, who);

    if (exit_code == BBF_EXIT_OK && !bbf_agent_read_status(&answer, bbf_buf_cstr(&text)))
        exit_code = bbf_fail(BBF_EXIT_FAILED, "%s: its answer to 'status' is not bbflow's", who);
    keep(&answer, "duty", before->duty);
    keep(&answer, "budget", before->budget);
    before->by_windows = is_part(before->duty) || is_part(before->budget);
    bbf_agent_answer_free(&answer);
    bbf_buf_free(&text);
    return exit_code;
}

static int set_shares(const struct bbf_command_line *request, const char *duty, const char *budget)
{
    char one[VALUE + 8], other[VALUE + 8], *params[] = {one, other};
    struct bbf_command_line change = *request;
    struct bbf_buf answer = BBF_BUF_INIT;
    char who[BBF_WHO];

    snprintf(one, sizeof one, "duty=%s", duty);
    snprintf(other, sizeof other, "budget=%s", budget);
    change.params = params;
    change.n_params = 2;
    int exit_code = bbf_set(&change, &answer, who);
    bbf_buf_free(&answer);
    return exit_code;
}

/* That long, or until a signal that ends a command. True: all of it. The signals are blocked; the
 * timer of the line of progress is not, and interrupts the wait. */
static bool pass(uint64_t ns, const sigset_t *end)
{
    const uint64_t until = bbf_monotonic_ns() + ns;

    for (uint64_t now = until - ns; now < until; now = bbf_monotonic_ns()) {
        const uint64_t left = until - now;
        const struct timespec time = {(time_t)(left / BBF_CLOCK_SECOND),
                                      (long)(left % BBF_CLOCK_SECOND)};
        if (sigtimedwait(end, NULL, &time) >= 0)
            return false;
    }
    return true;
}

static void add_percent(struct bbf_buf *out, uint64_t ppm)
{
    bbf_text_percent(out, ppm, MILLION);
}

static int print_figure(const struct bbf_loaded *loaded, const struct before *before)
{
    const struct bbf_snap_cost *cost = &loaded->snapshot->cost;
    struct bbf_buf out = BBF_BUF_INIT;

    if (cost->pairs_ < PAIRS)
        return bbf_fail(BBF_EXIT_FAILED,
                        "%s: %" PRIu64 " windows had enough allocations to measure, %d are needed; "
                        "measure longer, or under load",
                        loaded->who, cost->pairs_, PAIRS);
    bbf_buf_str(&out, "following takes ");
    add_percent(&out, cost->part_ppm_);
    bbf_buf_str(&out, " (");
    add_percent(&out, cost->part_low_ppm_);
    bbf_buf_str(&out, " to ");
    add_percent(&out, cost->part_high_ppm_);
    bbf_buf_printf(&out,
                   ") of the processor time while buffers are followed, by %" PRIu64 " windows\n",
                   cost->pairs_);
    if (!before->by_windows)
        bbf_buf_str(&out, "Not followed: about half of the buffers that were allocated meanwhile. "
                          "All are followed again.\n");
    else
        bbf_buf_str(&out, "duty= or budget= is in force, so only its windows cost that: 'bbflow "
                          "status' has the share of all the time.\n");
    return bbf_output_write(NULL, &out);
}

static int measure(const struct bbf_command_line *request, const struct before *before,
                   const sigset_t *end)
{
    struct bbf_loaded loaded = {0};

    bbf_progress_stage("measuring what following costs");
    bool whole = before->by_windows || pass(request->measure_ns, end);
    int exit_code = whole ? bbf_load(request, &loaded) : BBF_EXIT_FAILED;

    if (exit_code == BBF_EXIT_OK)
        exit_code = print_figure(&loaded, before);
    else if (!whole)
        (void)bbf_fail(exit_code, "stopped before the time was over: nothing is printed");
    bbf_loaded_free(&loaded);
    return exit_code;
}

int bbf_measure(const struct bbf_command_line *request)
{
    struct before before = {0};
    sigset_t end, old;
    char who[BBF_WHO];
    int exit_code = read_settings(request, &before, who);

    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    sigemptyset(&end);
    sigaddset(&end, SIGINT);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGHUP);
    sigprocmask(SIG_BLOCK, &end, &old);
    if (!before.by_windows)
        exit_code = set_shares(request, "50%", "off");
    if (exit_code == BBF_EXIT_OK) {
        exit_code = measure(request, &before, &end);
        if (!before.by_windows) {
            int back = set_shares(request, before.duty, before.budget);
            exit_code = exit_code != BBF_EXIT_OK ? exit_code : back;
        }
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    return exit_code;
}
