/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/misuse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/events.h"
#include "agent/jvm/frames.h"
#include "agent/jvm/names.h"
#include "agent/report/uses.h"
#include "agent/state.h"
#include "core/buf.h"
#include "core/err.h"
#include "instrument/netty.h"

enum {
    ROWS = 256,
    FRAMES = 17,
    NEAR = 11 /* frames, ours included */
};

/* One row: uses with the same stack and path are added to it. Agent thread. */
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

/* "Lcom/app/Handler;" and "read" as com.app.Handler.read. A name without room is left out as a
 * whole. */
static void add_method(struct bbf_use_seen *seen, const char *signature, const char *method)
{
    size_t left = sizeof seen->used_by - seen->len, class_len = strcspn(signature + 1, ";");
    class_len = bbf_names_stable_len(signature + 1, class_len);
    int n =
        snprintf(seen->used_by + seen->len, left, "%.*s.%s", (int)class_len, signature + 1, method);
    if (n < 0 || (size_t)n >= left)
        return;
    for (size_t i = 0; i < class_len; i++)
        if (seen->used_by[seen->len + i] == '/')
            seen->used_by[seen->len + i] = '.';
    seen->len += (size_t)n + 1;
}

/* Names while the frames are there: a jmethodID is no longer good afterwards. Is it, near the top,
 * a buffer's own retain or release? */
static bool add_frame(JNIEnv *env, struct bbf_use_seen *seen, jmethodID id)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jclass class = NULL;
    char *method = NULL, *signature = NULL;
    bool counts = false;
    if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == 0 &&
        (*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == 0 &&
        (*jvmti)->GetMethodName(jvmti, id, &method, NULL, NULL) == 0) {
        counts = ends_with(signature, "netty/buffer/AbstractReferenceCountedByteBuf;");
        if (seen->len > 0 || !is_ours(signature))
            add_method(seen, signature, method);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)method);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
    if (class != NULL)
        (*env)->DeleteLocalRef(env, class);
    return counts;
}

/* Is it a buffer's own retain or release that makes the exception? */
static bool look_at_stack(JNIEnv *env, struct bbf_use_seen *seen)
{
    jvmtiFrameInfo frames[FRAMES];
    /* The exception's own stack trace costs more than this. */
    jint n = bbf_frames_here(frames, FRAMES);
    bool counts = n <= 0; /* no stack: it counts as a misuse */
    seen->len = 0;
    for (jint i = 0; i < n; i++) {
        bool here = add_frame(env, seen, frames[i].method);
        counts = counts || (here && i < NEAR);
    }
    return counts;
}

bool bbf_misuse_seen(JNIEnv *env, uint64_t handle, uint32_t use, uint32_t class_number,
                     uint64_t tid)
{
    struct bbf_use_seen *seen = bbf_uses_claim();
    if (seen == NULL)
        return true; /* the agent thread has not come to it yet: counted, without details */
    seen->use = use;
    seen->class_number = class_number;
    seen->used_tid = (uint32_t)tid;
    if (!bbf_life_find_ended(bbf_agent.tracker, handle, &seen->node, &seen->released_tid))
        seen->node = seen->released_tid = 0;
    bool counts = look_at_stack(env, seen);
    bool right = use == BBF_L_USE_ACCESS || counts;
    if (right)
        bbf_uses_ready(seen);
    else
        bbf_uses_cancel(seen);
    return right;
}

/* ---- names ---- */

int bbf_misuse_add_step(char ***list, size_t *n, const char *class_name, const char *method)
{
    struct bbf_buf name = BBF_BUF_INIT;
    if (class_name == NULL)
        return bbf_snapshot_add_text(list, n, "?");
    bbf_buf_printf(&name, "%s%s%s", class_name,
                   class_name[0] != '\0' && method[0] != '\0' ? "." : "", method);
    int err = bbf_snapshot_add_text(list, n, bbf_buf_cstr(&name));
    bbf_buf_free(&name);
    return err;
}

/* Root to release; of a very long path its end. A row keeps names: a reset takes the nodes. */
int bbf_misuse_name_path(struct bbf_snap_misuse *row, uint32_t node, uint32_t class_number)
{
    struct bbf_path path;
    int err = BBF_OK;
    bbf_event_path(bbf_agent.tracker, node, &path);
    if (path.cut)
        err = bbf_snapshot_add_text(&row->path, &row->n_path, "…");
    for (size_t n = path.n; n-- > 0 && err == BBF_OK;)
        err = bbf_misuse_add_step(&row->path, &row->n_path, path.steps[n].class_name,
                                  path.steps[n].method);
    const struct bbf_site *release =
        bbf_site_get(bbf_agent.tracker, bbf_class_release_site(bbf_agent.tracker, class_number));
    if (err == BBF_OK && path.n > 0 && release != NULL)
        err = bbf_misuse_add_step(&row->path, &row->n_path, release->class_name, release->method);
    return err;
}

/* ---- rows ---- */

void bbf_misuse_row_free(struct bbf_snap_misuse *row)
{
    for (size_t i = 0; i < row->n_path; i++)
        free(row->path[i]);
    for (size_t i = 0; i < row->n_used_by; i++)
        free(row->used_by[i]);
    free(row->path);
    free(row->used_by);
}

static bool is_like(const struct row *row, const struct bbf_use_seen *seen)
{
    if (row->snap.use != (enum bbf_use)seen->use || row->node != seen->node ||
        row->class_number != seen->class_number)
        return false;
    const char *at = seen->used_by, *end = seen->used_by + seen->len;
    for (size_t i = 0; i < row->snap.n_used_by; i++, at += strlen(at) + 1)
        if (at == end || strcmp(row->snap.used_by[i], at) != 0)
            return false;
    return at == end;
}

static struct bbf_event event_of(const struct row *row)
{
    struct bbf_event event = bbf_event_new(BBF_EVENT_MISUSE);
    event.tracker = bbf_agent.tracker;
    event.node = row->node;
    event.count = row->snap.count;
    event.thread = row->snap.used_thread;
    event.detail.misuse = &row->snap;
    return event;
}

static void count(const struct bbf_use_seen *seen)
{
    for (size_t i = 0; i < n_rows; i++)
        if (is_like(&rows[i], seen)) {
            rows[i].snap.count++;
            return;
        }
    if (n_rows == ROWS)
        return;
    struct row *row = &rows[n_rows];
    *row = (struct row){.snap = {.use = (enum bbf_use)seen->use,
                                 .count = 1,
                                 .released_thread = seen->released_tid,
                                 .used_thread = seen->used_tid},
                        .class_number = seen->class_number,
                        .node = seen->node};
    int err = bbf_misuse_name_path(&row->snap, seen->node, seen->class_number);
    for (const char *at = seen->used_by; err == BBF_OK && at < seen->used_by + seen->len;
         at += strlen(at) + 1)
        err = bbf_snapshot_add_text(&row->snap.used_by, &row->snap.n_used_by, at);
    if (err != BBF_OK) {
        bbf_misuse_row_free(&row->snap);
        return;
    }
    n_rows++;
    if (!bbf_events_wanted(BBF_EVENT_MISUSE))
        return;
    struct bbf_event event = event_of(row);
    event.added = 1;
    bbf_events_post(&event);
}

void bbf_misuse_poll(void)
{
    size_t at = 0;
    for (struct bbf_use_seen *seen; (seen = bbf_uses_next(&at)) != NULL;) {
        count(seen);
        bbf_uses_done(seen);
    }
}

void bbf_misuse_each(void (*take)(void *ctx, const struct bbf_event *event), void *ctx)
{
    for (size_t i = 0; i < n_rows; i++) {
        const struct bbf_event event = event_of(&rows[i]);
        take(ctx, &event);
    }
}

void bbf_misuse_reset(void)
{
    size_t at = 0;
    for (struct bbf_use_seen *seen; (seen = bbf_uses_next(&at)) != NULL;)
        bbf_uses_done(seen);
    for (size_t i = 0; i < n_rows; i++)
        bbf_misuse_row_free(&rows[i].snap);
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
