/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/blackbox.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/cost/meter.h"
#include "agent/report/box_file.h"
#include "agent/report/file.h"
#include "agent/report/fill.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"
#include "render/render.h"

enum {
    REASON = PATH_MAX + 300,
    RETRY_SECONDS = 10,
    LOG_SECONDS = 60,
    SHARE = 100,     /* at most this part of one core */
    ROW_BYTES = 400, /* of a document, at the first attempt */
    LEAST_ROWS = 100,
    SLACK_MS = 200, /* the agent thread awakes about once a second */
    END_MS = 1000   /* for the disk, where blackbox= is changed */
};
#define MS UINT64_C(1000000)

static struct {
    char *asked; /* the value of blackbox= that was looked at last; NULL: none */
    struct bbf_box_file *file;
    uint64_t room;     /* bytes of a document */
    size_t rows;       /* at most; smaller after a document that had no room */
    uint64_t due_ns;   /* CLOCK_MONOTONIC */
    uint64_t retry_ns; /* after an error: when to open it again; 0: there was none */
    uint64_t folded;   /* nodes without a row in the newest document */
    uint64_t refused;  /* documents that were not made: no memory, no room */
    bool is_failed;    /* the disk's last write failed */
    uint64_t log_ns;   /* when the next such error may be logged */
    char why[REASON];
} black;

static uint64_t monotonic(void)
{
    return bbf_clock_ns(CLOCK_MONOTONIC);
}

/* ---- the file ---- */

/* "/a/x.box" -> "/a/x.1.box", "/a/x" -> "/a/x.1". */
static void name_previous(struct bbf_buf *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t stem = dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
    bbf_buf_printf(out, "%.*s.1%s", (int)stem, path, path + stem);
}

int bbf_blackbox_check(const char *pattern, char *why, size_t why_size)
{
    struct bbf_buf path = BBF_BUF_INIT;
    int err = bbf_report_path(&path, pattern, why, why_size);
    if (err == BBF_OK)
        err = bbf_file_check(bbf_buf_cstr(&path), why, why_size);
    int cause = errno; /* the caller's */
    bbf_buf_free(&path);
    errno = cause;
    return err;
}

/* When the process began, of /proc/self/stat; 0: not known. */
static int64_t process_start_ms(void)
{
    char text[1024];
    unsigned long long ticks = 0;
    FILE *stat = fopen("/proc/self/stat", "re");
    size_t n = stat != NULL ? fread(text, 1, sizeof text - 1, stat) : 0;
    long a_second = sysconf(_SC_CLK_TCK);

    if (stat != NULL)
        (void)fclose(stat);
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* a name may have any character */
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at == NULL || a_second <= 0 || sscanf(at, " %llu", &ticks) != 1)
        return 0;
    uint64_t age_ms = bbf_clock_ns(CLOCK_BOOTTIME) / MS - ticks * 1000 / (unsigned long)a_second;
    return (int64_t)(bbf_clock_ns(CLOCK_REALTIME) / MS - age_ms);
}

static int open_file(const struct bbf_options *options, char *why, size_t why_size)
{
    struct bbf_buf path = BBF_BUF_INIT, previous = BBF_BUF_INIT;
    struct bbf_box_head head = {.pid = getpid(),
                                .started_ms = process_start_ms(),
                                .begun_ms = (int64_t)(bbf_clock_ns(CLOCK_REALTIME) / MS),
                                .slot_bytes =
                                    (options->box_size - BBF_BOX_SLOTS_AT) / BBF_BOX_SLOTS,
                                .interval_ms = options->box_seconds * 1000};
    snprintf(head.version, sizeof head.version, "%s", BBF_VERSION);
    snprintf(head.main, sizeof head.main, "%s", bbf_report_main());
    int err = bbf_report_path(&path, options->blackbox, why, why_size);
    if (err == BBF_OK)
        name_previous(&previous, bbf_buf_cstr(&path));
    if (err == BBF_OK && (path.failed || previous.failed))
        err = BBF_ENOMEM;
    if (err == BBF_OK)
        err = bbf_box_file_open(&black.file, bbf_buf_cstr(&path), bbf_buf_cstr(&previous), &head,
                                why, why_size);
    black.room = head.slot_bytes - BBF_BOX_SLOT_HEAD;
    black.rows = black.room / ROW_BYTES;
    black.due_ns = black.retry_ns = 0;
    bbf_buf_free(&path);
    bbf_buf_free(&previous);
    return err;
}

static int try_open(const struct bbf_options *options, char *why, size_t why_size)
{
    int err = open_file(options, why, why_size);
    if (err == BBF_OK)
        return BBF_OK;
    if (why[0] == '\0')
        snprintf(why, why_size, "%s", bbf_strerror(err));
    if (black.why[0] == '\0')
        bbf_log(BBF_LOG_ERROR, "blackbox: nothing is written: %s; tried again each %d s", why,
                RETRY_SECONDS);
    snprintf(black.why, sizeof black.why, "%s", why);
    black.retry_ns = monotonic() + RETRY_SECONDS * BBF_CLOCK_SECOND;
    return err;
}

static void close_file(enum bbf_box_state state, unsigned timeout_ms)
{
    if (black.file != NULL)
        (void)bbf_box_file_close(black.file, state, timeout_ms);
    black.file = NULL;
    black.retry_ns = 0;
    black.is_failed = false;
    black.why[0] = '\0';
    free(black.asked);
    black.asked = NULL;
}

int bbf_blackbox_apply(const struct bbf_options *options, char *why, size_t why_size)
{
    const char *asked = options != NULL ? options->blackbox : NULL;
    bool same = asked == NULL || black.asked == NULL ? asked == black.asked
                                                     : strcmp(asked, black.asked) == 0;
    if (same && (black.retry_ns == 0 || monotonic() < black.retry_ns)) {
        snprintf(why, why_size, "%s", black.why);
        return black.retry_ns != 0 ? BBF_EIO : BBF_OK;
    }
    if (!same) {
        close_file(BBF_BOX_STOPPED, END_MS);
        if (asked == NULL)
            return BBF_OK;
        black.asked = strdup(asked);
    }
    return black.asked != NULL ? try_open(options, why, why_size) : BBF_ENOMEM;
}

/* ---- a document ---- */

static int keep_in_room(void *ctx, const char *data, size_t len)
{
    struct bbf_buf *all = ctx;
    if (len > black.room - all->len)
        return BBF_ELIMIT;
    bbf_buf_add(all, data, len);
    return all->failed ? BBF_ENOMEM : BBF_OK;
}

static int note_folded(struct bbf_snapshot *s)
{
    char text[300];
    black.folded = s->folded_rows;
    if (black.folded == 0)
        return BBF_OK;
    snprintf(text, sizeof text,
             "the black box has no room for the rows of %llu nodes that few lives passed: their "
             "lives are counted in the rows of their callers (blackboxSize=, memory=)",
             (unsigned long long)black.folded);
    return bbf_snapshot_add_text(&s->notes, &s->n_notes, text);
}

static int make_document(JNIEnv *env, struct bbf_buf *document, int64_t *captured_ms)
{
    struct bbf_buf text = {.flush = keep_in_room, .ctx = document};
    struct bbf_snapshot *s = bbf_snapshot_new();
    int err = s == NULL ? BBF_ENOMEM : bbf_report_fill_brief(env, s, black.rows);
    if (err == BBF_OK)
        err = note_folded(s);
    if (err == BBF_OK)
        err = bbf_render(&text, s, BBF_FORMAT_JSON, NULL);
    if (err == BBF_OK && !bbf_buf_flush(&text))
        err = BBF_ENOMEM;
    if (err != BBF_OK && s != NULL && s->n_nodes < black.rows)
        black.rows = s->n_nodes; /* from there it becomes smaller */
    *captured_ms = err == BBF_OK ? s->captured_at_ms : 0;
    bbf_snapshot_free(s);
    bbf_buf_free(&text);
    return err;
}

static void write_document(JNIEnv *env)
{
    struct bbf_buf document = BBF_BUF_INIT;
    int64_t captured_ms;

    if (bbf_box_file_is_busy(black.file))
        return; /* the disk has not taken the last one yet */
    int err = make_document(env, &document, &captured_ms);
    if (err == BBF_OK) {
        bbf_box_file_write(black.file, &document, captured_ms);
    } else {
        black.refused++;
        black.rows -= black.rows / 4;
        if (black.rows < LEAST_ROWS)
            black.rows = LEAST_ROWS;
    }
    bbf_buf_free(&document);
}

static void look_for_errors(void)
{
    char why[REASON] = "";
    bool failed = bbf_box_file_failed(black.file, why, sizeof why);
    if (failed && !black.is_failed && monotonic() >= black.log_ns) {
        bbf_log(BBF_LOG_ERROR, "blackbox: nothing is written: %s; tried again", why);
        black.log_ns = monotonic() + LOG_SECONDS * BBF_CLOCK_SECOND;
    }
    black.is_failed = failed;
    snprintf(black.why, sizeof black.why, "%s", why);
}

void bbf_blackbox_poll(JNIEnv *env, const struct bbf_options *options)
{
    if (black.file == NULL || options == NULL || monotonic() < black.due_ns)
        return;
    uint64_t pause = options->box_seconds * BBF_CLOCK_SECOND - SLACK_MS * MS;
    uint64_t begin = bbf_meter_clock();
    look_for_errors();
    bbf_box_file_pace(black.file, options->box_seconds * 1000);
    write_document(env);
    bbf_meter_reported(begin);
    uint64_t least = SHARE * (bbf_meter_clock() - begin);
    black.due_ns = monotonic() + (pause > least ? pause : least);
}

void bbf_blackbox_hurry(void)
{
    black.due_ns = 0;
}

void bbf_blackbox_memory(uint64_t used, uint64_t limit)
{
    if (black.file != NULL)
        bbf_box_file_memory(black.file, used, limit);
}

void bbf_blackbox_end(JNIEnv *env, unsigned timeout_ms)
{
    if (black.file != NULL)
        write_document(env);
    close_file(BBF_BOX_ENDED, timeout_ms);
}

void bbf_blackbox_note(struct bbf_buf *out)
{
    if (black.why[0] != '\0')
        bbf_buf_printf(out, "blackbox: nothing is written: %s", black.why);
    else if (black.refused > 0)
        bbf_buf_printf(out,
                       "blackbox: %llu states had no room and were not written; a later one has "
                       "fewer rows (blackboxSize=)",
                       (unsigned long long)black.refused);
}
