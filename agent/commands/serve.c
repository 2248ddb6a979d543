/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/commands/serve.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/commands/discovery.h"
#include "agent/report/leaks.h"
#include "agent/report/report.h"
#include "agent/rules.h"
#include "agent/settings.h"
#include "agent/state.h"
#include "agent/stream.h"
#include "agent/thread.h"
#include "core/err.h"
#include "core/log.h"
#include "core/safe.h"
#include "render/render.h"
#include "wire/server/server.h"

enum { WAIT_MS = 30000 };

/* ---- EVENT ---- */

static void add_failure(struct bbf_buf *text, const char *what, int err)
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
    add_failure(&text, what, err);
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

static void reply_reset(struct bbf_reply *reply, bool nodes)
{
    struct bbf_job job = {.kind = nodes ? BBF_JOB_RESET_NODES : BBF_JOB_RESET};
    int err = bbf_thread_ask(&job, WAIT_MS, 0);
    if (err != BBF_OK) {
        reply_failure(reply, "reset", err);
        return;
    }
    const char *text =
        nodes ? "counters are zero, the trie is empty, open lives are at ?before-reset\n"
              : "counters are zero, nodes and open lives stay\n";
    bbf_reply_text(reply, text, strlen(text));
}

/* JSON goes out as it is written: at 1 M nodes it has 194 MB. */
static int send_part(void *ctx, const char *data, size_t len)
{
    return bbf_reply_part(ctx, data, len);
}

static void reply_snapshot(struct bbf_reply *reply, const char *name, bool gc)
{
    struct bbf_snapshot *snapshot = bbf_snapshot_new();
    struct bbf_job job = {.kind = BBF_JOB_SNAPSHOT, .gc = gc, .snapshot = snapshot};
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_render_options options = {.max_leaves = 100};
    enum bbf_format format = BBF_FORMAT_JSON;
    bool top = strcmp(name, "top") == 0;
    bool json = strcmp(name, "json") == 0;
    int err = snapshot == NULL ? BBF_ENOMEM : bbf_thread_ask(&job, WAIT_MS, 0);
    if (err == BBF_OK && strcmp(name, "status") == 0)
        bbf_report_status(&out, snapshot);
    else if (err == BBF_OK && strcmp(name, "leaks") == 0)
        err = bbf_leaks_text(&out, snapshot);
    else if (err == BBF_OK && top)
        err = bbf_leaks_top(reply, snapshot);
    else if (err == BBF_OK && bbf_format_of_name(name, &format) == BBF_OK) {
        if (json) {
            out.flush = send_part;
            out.ctx = reply;
            /* All of it at once: no part is out when there is no memory. */
            (void)bbf_buf_reserve(&out, 2 * BBF_BUF_PIECE);
        }
        err = bbf_render(&out, snapshot, format, &options);
    }
    if (err == BBF_OK && json)
        (void)bbf_buf_flush(&out);
    if (err == BBF_OK && out.failed)
        err = BBF_ENOMEM;
    if (err != BBF_OK)
        reply_failure(reply, name, err);
    else if (!json && !top)
        bbf_reply_text(reply, out.data, out.len);
    bbf_buf_free(&out);
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
 * tests/jvm/tcp.py compares the two. NULL: the server's own. */
static const struct event {
    const char *name;
    bool may_gc; /* with " gc" behind it a garbage collection comes first */
    void (*reply)(struct bbf_reply *reply, const char *name, bool gc);
} events[] = {
#define XX(id, name, extension, flags) {#name, true, reply_document},
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
    for (size_t i = 0; i < EVENTS; i++)
        bbf_buf_printf(out, "%s%s", i == 0 ? "events: " : ", ", events[i].name);
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

static void on_event(void *ctx, const char *name, struct bbf_reply *reply)
{
    struct bbf_buf text = BBF_BUF_INIT;
    (void)ctx;
    if (name[0] == '\0') /* what a stock client sends without a name */
        name = "help";
    for (size_t i = 0; i < EVENTS; i++) {
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

/* A client begins to hear it: what was so far, each line with the time of now. */
static uint64_t on_begin(void *ctx, struct bbf_reply *reply)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_job job = {.kind = BBF_JOB_WATCH, .text = &text};
    struct timespec now;
    (void)ctx;
    int err = bbf_thread_ask(&job, WAIT_MS, 0);
    if (err != BBF_OK) {
        text.len = 0;
        add_failure(&text, "watch", err);
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

/* ---- SET_PARAMS ---- */

/* A parameter's value as the text that the option table reads. */
static void value_text(const struct bbf_value *value, char *out, size_t size)
{
    switch (value->kind) {
    case BBF_VALUE_STRING:
        snprintf(out, size, "%s", value->text.s != NULL ? value->text.s : "");
        break;
    case BBF_VALUE_INT:
        snprintf(out, size, "%d", value->u.i);
        break;
    case BBF_VALUE_LONG:
        snprintf(out, size, "%lld", (long long)value->u.l);
        break;
    case BBF_VALUE_BOOLEAN:
        snprintf(out, size, "%s", value->u.b ? "true" : "false");
        break;
    default:
        out[0] = '\0';
    }
}

/* Try all on a copy: nothing is changed unless all can be. */
static int try_all(struct bbf_options *copy, const struct bbf_entry *params, size_t n,
                   unsigned *effects, struct bbf_buf *answer)
{
    for (size_t i = 0; i < n; i++) {
        struct bbf_option_error error;
        char value[4096];
        unsigned effect = 0;
        bool changed = false;
        const char *name = params[i].key.s != NULL ? params[i].key.s : "";
        value_text(&params[i].value, value, sizeof value);
        int err = bbf_options_set(copy, name, value, &effect, &changed, &error);
        if (err != BBF_OK) {
            answer->len = 0;
            bbf_buf_str(answer, err == BBF_ENOMEM ? bbf_strerror(err) : error.at.text);
            return err;
        }
        *effects |= changed ? effect : 0;
        bbf_safe_printf(answer, BBF_SAFE_VALUE, "%s=%s%s\n", name, value,
                        changed ? "" : " (as before)");
    }
    if (bbf_tracker_can_sample(bbf_agent.tracker, (uint32_t)copy->sample))
        return BBF_OK;
    answer->len = 0;
    bbf_buf_printf(answer,
                   "sample: %d other rates were set since the start, and each keeps its "
                   "place; choose one of them again, or 1",
                   BBF_L_RATES - 1);
    return BBF_ELIMIT;
}

static int on_set(void *ctx, const struct bbf_entry *params, size_t n, struct bbf_buf *answer)
{
    unsigned effects = 0;
    (void)ctx;
    if (atomic_load(&bbf_agent.phase) != BBF_PHASE_IN) {
        bbf_buf_str(answer, "bbflow is stopping");
        return BBF_EREFUSED;
    }
    if (!bbf_rules_room()) {
        bbf_buf_str(answer,
                    "set: older settings are still read, by classes that are being loaded or by "
                    "a report or collection that is under way; try again");
        return BBF_EREFUSED;
    }
    struct bbf_rules *rules = NULL;
    struct bbf_options fresh;
    if (bbf_options_copy(&fresh, &bbf_agent.options) != BBF_OK)
        return BBF_ENOMEM;
    int err = try_all(&fresh, params, n, &effects, answer);
    if (err == BBF_OK && (rules = bbf_rules_new(&fresh)) == NULL)
        err = BBF_ENOMEM;
    if (err != BBF_OK) {
        bbf_options_free(&fresh);
        return err;
    }
    bbf_settings_replace(&fresh);
    /* Hooks that run now may go on reading the old rules, and so does the agent thread. */
    const struct bbf_rules *before = atomic_exchange(&bbf_agent.rules, rules);
    if (effects == 0) {
        bbf_rules_retire(before);
        return BBF_OK;
    }
    struct bbf_job job = {
        .kind = BBF_JOB_APPLY, .effects = effects, .before = before, .text = answer};
    err = bbf_thread_ask(&job, WAIT_MS, 0);
    bbf_rules_retire(before);
    if (err != BBF_OK) {
        answer->len = 0;
        bbf_buf_printf(answer, "set: %s", bbf_strerror(err));
    }
    return err;
}

/* ---- life cycle ---- */

static void make_uuid(char out[37])
{
    uint8_t b[16];
    FILE *random = fopen("/dev/urandom", "re");
    if (random == NULL || fread(b, 1, sizeof b, random) != sizeof b)
        for (size_t i = 0; i < sizeof b; i++) /* an identity, no secret: the clock will do */
            b[i] =
                (uint8_t)(bbf_agent.started.tv_nsec >> (i % 4 * 8)) ^ (uint8_t)(getpid() + (int)i);
    if (random != NULL)
        fclose(random);
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40); /* RFC 4122, version 4 */
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    for (int i = 0, at = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        at += snprintf(out + at, 3, "%02x", b[i]);
    }
}

/* TCP's part of it, a server's life long. `lock`: the agent thread starts while VMDeath stops. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bbf_token token;
static bool has_token, published;
static bool given;           /* the token's file, by the JVM's property */
static char not_served[600]; /* why there is no port; under lock */

/* Option auth. False: no TCP, and why is logged. */
static bool get_token(JNIEnv *env)
{
    const char *auth = bbf_agent.options.auth != NULL ? bbf_agent.options.auth : "on";
    char why[PATH_MAX + 100] = "", dir[PATH_MAX - 64], file[PATH_MAX];

    if (strcmp(auth, "off") == 0) {
        bbf_log(BBF_LOG_WARN,
                "auth=off: every user of this host may connect to port %llu and see what leaks",
                (unsigned long long)bbf_agent.options.port);
        return true;
    }
    int err;
    given = strcmp(auth, "on") == 0 && bbf_discovery_token_file(env, file, sizeof file);
    if (given)
        auth = file;
    if (strcmp(auth, "on") == 0) {
        bbf_discovery_tmpdir(env, dir, sizeof dir);
        err = bbf_token_make(&token, dir, why, sizeof why);
    } else {
        err = bbf_token_open(&token, auth, why, sizeof why);
    }
    has_token = err == BBF_OK;
    if (err != BBF_OK)
        snprintf(not_served, sizeof not_served, "auth=%.80s fails: %.500s", auth, why);
    if (err != BBF_OK)
        bbf_log(BBF_LOG_ERROR, "port: not served, because auth=%s fails: %s", auth, why);
    return has_token;
}

static void drop_token(void)
{
    if (has_token)
        bbf_token_remove(&token);
    has_token = false;
}

void bbf_serve_start(JNIEnv *env)
{
    char why[600] = "";
    make_uuid(bbf_agent.uuid);
    struct bbf_server_config config = {
        .socket_dir = bbf_agent.options.socket,
        .pid = getpid(),
        .max_clients = (size_t)bbf_agent.options.max_clients,
        .max_waiting = (size_t)bbf_agent.options.max_waiting,
        .auth_ms = (unsigned)bbf_agent.options.auth_seconds * 1000,
        .queue = (size_t)bbf_agent.options.queue,
        .tcp = bbf_agent.options.port != BBF_PORT_OFF && get_token(env),
        .port = (uint16_t)bbf_agent.options.port,
        .token = has_token ? &token : NULL,
        .probe_id = bbf_agent.uuid,
        .event = on_event,
        .begin = on_begin,
        .set = on_set,
    };
    struct bbf_server *server = NULL;
    if (config.tcp)
        not_served[0] = '\0';
    int err = bbf_server_start(&server, &config, why, sizeof why);
    bbf_token_wipe(&token);
    if (err != BBF_OK)
        bbf_log(BBF_LOG_ERROR, "no socket, so no client can ask this JVM: %s", why);
    else if (why[0] != '\0')
        bbf_log(BBF_LOG_ERROR, "not served everywhere: %s", why);
    uint16_t port = err == BBF_OK ? bbf_server_port(server) : 0;
    if (port == 0) {
        drop_token();
    } else {
        bbf_discovery_set(env, port, has_token ? token.path : NULL);
        bbf_log(BBF_LOG_INFO, "serving 127.0.0.1:%u", (unsigned)port);
    }
    pthread_mutex_lock(&lock);
    published = port != 0;
    if (config.tcp && port == 0)
        snprintf(not_served, sizeof not_served, "%.500s", why);
    bbf_stream_open(server);
    pthread_mutex_unlock(&lock);
}

void bbf_serve_stop(JNIEnv *env, unsigned timeout_ms)
{
    pthread_mutex_lock(&lock);
    struct bbf_server *server = bbf_stream_close();
    bool clear = published && env != NULL;
    published = false;
    pthread_mutex_unlock(&lock);
    drop_token();
    if (clear)
        bbf_discovery_clear(env, given);
    if (server != NULL)
        bbf_server_stop(server, timeout_ms);
}

void bbf_serve_port(struct bbf_buf *out)
{
    pthread_mutex_lock(&lock);
    uint16_t port = bbf_agent.server != NULL ? bbf_server_port(bbf_agent.server) : 0;
    if (bbf_agent.options.port != BBF_PORT_OFF && port != 0)
        bbf_buf_printf(out, " (127.0.0.1:%u is served)", (unsigned)port);
    else if (bbf_agent.options.port != BBF_PORT_OFF)
        bbf_buf_printf(out, " (not served: %s)", not_served);
    pthread_mutex_unlock(&lock);
}
