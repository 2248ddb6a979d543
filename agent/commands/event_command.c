/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/commands/event_command.h"

#include <string.h>
#include <time.h>

#include "agent/report/status.h"
#include "agent/report/top.h"
#include "agent/state.h"
#include "agent/stream.h"
#include "agent/thread.h"
#include "core/err.h"
#include "render/render.h"
#include "render/stock.h"

enum { WAIT_MS = 30000 }; /* for the agent thread to begin */

void bbf_event_command_failure(struct bbf_buf *text, const char *what, int err)
{
    const char *off = atomic_load(&bbf_agent.off_why);
    bbf_buf_printf(text, "%s: ", what);
    if (err == BBF_ETIMEOUT)
        bbf_buf_str(text, "the agent thread is busy; ask again later");
    else if (err == BBF_EREFUSED)
        bbf_buf_str(text, "no id range for nodes is left in this JVM");
    else if (err == BBF_ELIMIT)
        bbf_buf_str(text, "memory= has no room for the counters to subtract; 'reset nodes' needs "
                          "none, or set a higher memory=");
    else if (err == BBF_ECLOSED)
        bbf_buf_printf(text, "tracking is off: %s",
                       off != NULL ? off : "bbflow was stopped, or the JVM is ending");
    else
        bbf_buf_str(text, bbf_strerror(err));
}

static void reply_failure(struct bbf_reply *reply, const char *what, int err)
{
    struct bbf_buf text = BBF_BUF_INIT;
    bbf_event_command_failure(&text, what, err);
    bbf_reply_error(reply, bbf_buf_cstr(&text));
    bbf_buf_free(&text);
}

static void reply_stop(struct bbf_reply *reply)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_job job = {.kind = BBF_JOB_DETACH, .text = &text};
    int err = bbf_thread_ask(&job, WAIT_MS, 0);
    if (err != BBF_OK)
        reply_failure(reply, "stop", err);
    else
        bbf_reply_text(reply, text.data, text.len);
    bbf_buf_free(&text);
}

const char *bbf_event_command_reset_text(bool nodes)
{
    return nodes ? "counters are zero, the trie is empty, open lives are at ?before-reset\n"
                 : "counters are zero, nodes and open lives stay\n";
}

static void reply_reset(struct bbf_reply *reply, bool nodes)
{
    struct bbf_job job = {.kind = nodes ? BBF_JOB_RESET_NODES : BBF_JOB_RESET};
    int err = bbf_thread_ask(&job, WAIT_MS, 0);
    if (err != BBF_OK) {
        reply_failure(reply, "reset", err);
        return;
    }
    const char *text = bbf_event_command_reset_text(nodes);
    bbf_reply_text(reply, text, strlen(text));
}

static int send_part(void *ctx, const char *data, size_t len)
{
    return bbf_reply_document_part(ctx, data, len);
}

/* A format that streams goes out as it is written: JSON of 1 M nodes has 194 MB. */
static int render(struct bbf_reply *reply, struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                  enum bbf_format format)
{
    static const struct bbf_render_options options = {.max_lines = 100};
    bool streams = (bbf_format_flags(format) & BBF_FORMAT_STREAMS) != 0;

    if (streams) {
        out->flush = send_part;
        out->ctx = reply;
        /* All at once: if memory runs out, no part was sent. */
        (void)bbf_buf_reserve(out, 2 * BBF_BUF_PIECE);
    }
    int err = bbf_render(out, snapshot, format, &options);
    if (err == BBF_OK && streams)
        (void)bbf_buf_flush(out);
    return err;
}

static int reply_with(struct bbf_reply *reply, const struct bbf_snapshot *snapshot,
                      const char *name)
{
    struct bbf_buf out = BBF_BUF_INIT;
    enum bbf_format format;
    int err = BBF_OK;

    if (strcmp(name, "top") == 0)
        return bbf_report_top(reply, snapshot);
    if (strcmp(name, "status") == 0)
        bbf_report_status(&out, snapshot);
    else if (strcmp(name, "leaks") == 0)
        err = bbf_stock_leaks(&out, snapshot);
    else if (bbf_format_of_name(name, &format) == BBF_OK)
        err = render(reply, &out, snapshot, format);
    if (err == BBF_OK && out.failed)
        err = BBF_ENOMEM;
    if (err == BBF_OK && out.flush == NULL)
        bbf_reply_text(reply, out.data, out.len);
    bbf_buf_free(&out);
    return err;
}

static void reply_snapshot(struct bbf_reply *reply, const char *name, bool gc)
{
    struct bbf_snapshot *snapshot = bbf_snapshot_new();
    struct bbf_job job = {.kind = BBF_JOB_SNAPSHOT, .gc = gc, .snapshot = snapshot};
    int err = snapshot == NULL ? BBF_ENOMEM : bbf_thread_ask(&job, WAIT_MS, 0);

    if (err == BBF_OK)
        err = reply_with(reply, snapshot, name);
    if (err != BBF_OK)
        reply_failure(reply, name, err);
    bbf_snapshot_free(snapshot);
}

static void reply_document(struct bbf_reply *reply, const char *name, bool gc)
{
    reply_snapshot(reply, strcmp(name, "flows") == 0 ? "tree" : name, gc);
}

static void reply_counters(struct bbf_reply *reply, const char *name, bool gc)
{
    (void)gc;
    reply_reset(reply, strcmp(name, "reset") != 0);
}

static void reply_leave(struct bbf_reply *reply, const char *name, bool gc)
{
    (void)name;
    (void)gc;
    reply_stop(reply);
}

static void reply_help(struct bbf_reply *reply, const char *name, bool gc);

/* Every EVENT there is, in the order of `help`; docs/protocol.md has the same ones, and a test in
 * tests/jvm/tcp.py compares the two. An answer is text, so there is none for a binary format. A
 * reply of NULL: the server's own. */
static const struct event {
    const char *name; /* NULL: no event */
    bool may_gc;      /* with " gc" behind it a garbage collection comes first */
    void (*reply)(struct bbf_reply *reply, const char *name, bool gc);
} events[] = {
#define XX(id, name, extension, flags)                                                             \
    {((flags) & (BBF_FORMAT_BINARY | BBF_FORMAT_CLIENT)) != 0 ? NULL : #name, true, reply_document},
    BBF_FORMATS(XX)
#undef XX
        {"flows", true, reply_document},
    {"leaks", true, reply_document},
    {"top", true, reply_document},
    {"status", true, reply_document},
    {"reset", false, reply_counters},
    {"reset nodes", false, reply_counters},
    {"watch", false, NULL},
    {"stop", false, reply_leave},
    {"help", false, reply_help}};
enum { EVENTS = sizeof events / sizeof events[0] };

static void add_help(struct bbf_buf *out)
{
    const char *before = "events: ";

    for (size_t i = 0; i < EVENTS; i++) {
        if (events[i].name == NULL)
            continue;
        bbf_buf_printf(out, "%s%s", before, events[i].name);
        before = ", ";
    }
    bbf_buf_str(out, "; with \" gc\" behind a name up to status the JVM is asked for a garbage "
                     "collection first\n");
}

static void reply_help(struct bbf_reply *reply, const char *name, bool gc)
{
    struct bbf_buf text = BBF_BUF_INIT;
    (void)name;
    (void)gc;
    add_help(&text);
    bbf_reply_text(reply, bbf_buf_cstr(&text), text.len);
    bbf_buf_free(&text);
}

void bbf_event_command_reply(void *ctx, const char *name, struct bbf_reply *reply)
{
    struct bbf_buf text = BBF_BUF_INIT;
    (void)ctx;
    if (name[0] == '\0') /* what a stock client sends without a name */
        name = "help";
    for (size_t i = 0; i < EVENTS; i++) {
        if (events[i].name == NULL)
            continue;
        size_t len = strlen(events[i].name);
        bool found = strncmp(name, events[i].name, len) == 0;
        bool gc = found && events[i].may_gc && strcmp(name + len, " gc") == 0;
        if (events[i].reply != NULL && found && (gc || name[len] == '\0')) {
            events[i].reply(reply, events[i].name, gc);
            return;
        }
    }
    bbf_buf_printf(&text, "unknown event '%.60s'; ", name);
    add_help(&text);
    bbf_reply_error(reply, bbf_buf_cstr(&text));
    bbf_buf_free(&text);
}

/* ---- the live stream ---- */

/* A new client first gets the losses so far, each line with the current time. */
uint64_t bbf_event_command_watch(void *ctx, struct bbf_reply *reply)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_job job = {.kind = BBF_JOB_WATCH, .text = &text};
    struct timespec now;
    (void)ctx;
    int err = bbf_thread_ask(&job, WAIT_MS, 0);
    if (err != BBF_OK) {
        text.len = 0;
        bbf_event_command_failure(&text, "watch", err);
        bbf_buf_char(&text, '\n');
        job.place = bbf_stream_published();
    }
    clock_gettime(CLOCK_REALTIME, &now);
    const char *end = text.data + text.len;
    for (char *at = text.data, *next; !text.failed && at < end; at = next) {
        next = (char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        struct bbf_command line = {.type = BBF_CMD_MESSAGE,
                                   .text = {{at, (size_t)(next - at)}},
                                   .timestamp_ms =
                                       (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000};
        bbf_reply_command(reply, &line);
    }
    bbf_buf_free(&text);
    return job.place;
}
