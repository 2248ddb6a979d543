/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/misuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/frames.h"
#include "instrument/netty.h"
#include "agent/stream.h"
#include "agent/state.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/log.h"
#include "render/misuse.h"

enum {
    EVENTS = 64,
    ROWS = 256,
    FRAMES = 17,
    STEPS = 64,
    NEAR = 11, /* frames, ours included */
    TEXT = 4096
};
enum state { FREE, TAKEN, READY };

/* One use, from the thread that did it to the agent thread. */
struct event {
    _Atomic uint32_t state;
    uint32_t use, class_number, node, released_tid, used_tid;
    size_t len;
    char used_by[TEXT]; /* the methods on its stack, innermost first, each with its NUL */
};

static struct event events[EVENTS];
static _Atomic uint32_t next_event;

/* A row, and what the next like it has. Agent thread. */
struct row {
    struct bbf_snap_misuse snap;
    uint32_t class_number, node;
};

static struct row rows[ROWS];
static size_t n_rows;

/* ---- any thread ---- */

static bool ends_with(const char *text, const char *tail)
{
    size_t len = strlen(text), k = strlen(tail);
    return len >= k && strcmp(text + len - k, tail) == 0;
}

/* The hooks, and the exception that is being made: above what used the buffer. */
static bool is_ours(const char *signature)
{
    const char *name = signature + (signature[0] == 'L');
    size_t len = strcspn(name, ";");
    return strncmp(name, "java/lang/BBFlow", 16) == 0 || bbf_netty_refused(name, len);
}

/* "Lcom/app/Handler;" and "read" as com.app.Handler.read. What has no room is cut, as a whole. */
static void add_method(struct event *e, const char *signature, const char *method)
{
    size_t left = sizeof e->used_by - e->len, class_len = strcspn(signature + 1, ";");
    int n = snprintf(e->used_by + e->len, left, "%.*s.%s", (int)class_len, signature + 1, method);
    if (n < 0 || (size_t)n >= left)
        return;
    for (size_t i = 0; i < class_len; i++)
        if (e->used_by[e->len + i] == '/')
            e->used_by[e->len + i] = '.';
    e->len += (size_t)n + 1;
}

/* Names while the frames are there: a jmethodID is no longer good afterwards. Is it, near the top,
 * a buffer's own retain or release? */
static bool add_frame(JNIEnv *env, struct event *e, jmethodID id)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jclass class = NULL;
    char *method = NULL, *signature = NULL;
    bool counts = false;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == 0 &&
        (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == 0 &&
        (*jvmti)->GetMethodName(jvmti, id, &method, NULL, NULL) == 0) {
        counts = ends_with(signature, "netty/buffer/AbstractReferenceCountedByteBuf;");
        if (e->len > 0 || !is_ours(signature))
            add_method(e, signature, method);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)method);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    if (class != NULL)
        (*env)->DeleteLocalRef(env, class);
    return counts;
}

/* Is it a buffer's own retain or release that makes the exception? */
static bool look_at_stack(JNIEnv *env, struct event *e)
{
    jvmtiFrameInfo frames[FRAMES];
    /* An exception with a stack trace is being made anyway: this is less. */
    jint n = bbf_frames_here(frames, FRAMES);
    bool counts = n <= 0; /* no stack to be had: nothing speaks against it */
    e->len = 0;
    for (jint i = 0; i < n; i++) {
        bool here = add_frame(env, e, frames[i].method);
        counts = counts || (here && i < NEAR);
    }
    return counts;
}

bool bbf_misuse_seen(JNIEnv *env, uint64_t handle, uint32_t use, uint32_t class_number,
                     uint64_t tid)
{
    struct event *e = &events[atomic_fetch_add(&next_event, 1) % EVENTS];
    uint32_t is_free = FREE;
    if (!atomic_compare_exchange_strong(&e->state, &is_free, TAKEN))
        return true; /* the agent thread has not come to it yet: counted, without details */
    e->use = use;
    e->class_number = class_number;
    e->used_tid = (uint32_t)tid;
    if (!bbf_life_ended(bbf_agent.tracker, handle, &e->node, &e->released_tid))
        e->node = e->released_tid = 0;
    bool counts = look_at_stack(env, e);
    bool right = use == BBF_L_USE_ACCESS || counts;
    atomic_store(&e->state, right ? READY : FREE);
    return right;
}

/* ---- names ---- */

static int add_site(struct bbf_snap_misuse *row, uint32_t id)
{
    const struct bbf_site *site = bbf_site_get(bbf_agent.tracker, id);
    struct bbf_buf name = BBF_BUF_INIT;
    if (site != NULL)
        bbf_buf_printf(&name, "%s%s%s", site->class_name,
                       site->class_name[0] != '\0' && site->method[0] != '\0' ? "." : "",
                       site->method);
    int err =
        bbf_snapshot_add_text(&row->path, &row->n_path, site != NULL ? bbf_buf_cstr(&name) : "?");
    bbf_buf_free(&name);
    return err;
}

/* Root to release; of a path longer than STEPS its end. */
static int name_path(struct bbf_snap_misuse *row, uint32_t node, uint32_t class_number)
{
    uint32_t steps[STEPS];
    size_t n = 0;
    int err = BBF_OK;
    for (; node != BBF_L_NODE_NONE && n < STEPS; n++) {
        const struct bbf_node *at = bbf_node_at(bbf_agent.tracker, node);
        steps[n] = at->site;
        node = at->parent;
    }
    if (node != BBF_L_NODE_NONE)
        err = bbf_snapshot_add_text(&row->path, &row->n_path, "…");
    bool known = n > 0;
    while (n-- > 0 && err == BBF_OK)
        err = add_site(row, steps[n]);
    uint32_t site = atomic_load(&bbf_agent.tracker->release_site[class_number % BBF_MAX_CLASSES]);
    if (err == BBF_OK && known && site != 0)
        err = add_site(row, site);
    return err;
}

/* ---- rows ---- */

static void free_row(struct row *row)
{
    for (size_t i = 0; i < row->snap.n_path; i++)
        free(row->snap.path[i]);
    for (size_t i = 0; i < row->snap.n_used_by; i++)
        free(row->snap.used_by[i]);
    free(row->snap.path);
    free(row->snap.used_by);
}

static bool is_like(const struct row *row, const struct event *e)
{
    if (row->snap.use != (enum bbf_use)e->use || row->node != e->node ||
        row->class_number != e->class_number)
        return false;
    const char *at = e->used_by, *end = e->used_by + e->len;
    for (size_t i = 0; i < row->snap.n_used_by; i++, at += strlen(at) + 1)
        if (at == end || strcmp(row->snap.used_by[i], at) != 0)
            return false;
    return at == end;
}

static void say(const struct bbf_snap_misuse *row)
{
    static bool said;
    struct bbf_buf line = BBF_BUF_INIT;
    bbf_misuse_line(&line, row, NULL);
    if (!said)
        bbf_log(BBF_LOG_WARN, "%s (further ones: see a report)", bbf_buf_cstr(&line));
    said = true;
    bbf_buf_char(&line, '\n');
    if (!line.failed)
        bbf_stream_publish(line.data, line.len);
    bbf_buf_free(&line);
}

static void count(const struct event *e)
{
    for (size_t i = 0; i < n_rows; i++)
        if (is_like(&rows[i], e)) {
            rows[i].snap.count++;
            return;
        }
    if (n_rows == ROWS)
        return;
    struct row *row = &rows[n_rows];
    *row = (struct row){.snap = {.use = (enum bbf_use)e->use,
                                 .count = 1,
                                 .released_thread = e->released_tid,
                                 .used_thread = e->used_tid},
                        .class_number = e->class_number,
                        .node = e->node};
    int err = name_path(&row->snap, e->node, e->class_number);
    for (const char *at = e->used_by; err == BBF_OK && at < e->used_by + e->len;
         at += strlen(at) + 1)
        err = bbf_snapshot_add_text(&row->snap.used_by, &row->snap.n_used_by, at);
    if (err != BBF_OK) {
        free_row(row);
        return;
    }
    n_rows++;
    say(&row->snap);
}

void bbf_misuse_poll(void)
{
    for (int i = 0; i < EVENTS; i++)
        if (atomic_load(&events[i].state) == READY) {
            count(&events[i]);
            atomic_store(&events[i].state, FREE);
        }
}

void bbf_misuse_lines(struct bbf_buf *out)
{
    for (size_t i = 0; i < n_rows; i++) {
        bbf_misuse_line(out, &rows[i].snap, NULL);
        bbf_buf_char(out, '\n');
    }
}

void bbf_misuse_reset(void)
{
    for (int i = 0; i < EVENTS; i++)
        if (atomic_load(&events[i].state) == READY)
            atomic_store(&events[i].state, FREE);
    for (size_t i = 0; i < n_rows; i++)
        free_row(&rows[i]);
    n_rows = 0;
}

static int copy_strings(char ***to, size_t *n_to, char *const *from, size_t n)
{
    int err = BBF_OK;
    for (size_t i = 0; i < n && err == BBF_OK; i++)
        err = bbf_snapshot_add_text(to, n_to, from[i]);
    return err;
}

int bbf_misuse_fill(struct bbf_snapshot *s)
{
    int err = BBF_OK;
    bbf_misuse_poll();
    s->misuses = calloc(n_rows + 1, sizeof *s->misuses);
    if (s->misuses == NULL)
        return BBF_ENOMEM;
    for (size_t i = 0; i < n_rows && err == BBF_OK; i++) {
        const struct bbf_snap_misuse *from = &rows[i].snap;
        struct bbf_snap_misuse *to = &s->misuses[s->n_misuses++];
        to->use = from->use;
        to->count = from->count;
        to->released_thread = from->released_thread;
        to->used_thread = from->used_thread;
        err = copy_strings(&to->path, &to->n_path, from->path, from->n_path);
        if (err == BBF_OK)
            err = copy_strings(&to->used_by, &to->n_used_by, from->used_by, from->n_used_by);
    }
    return err;
}
