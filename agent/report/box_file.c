/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/box_file.h"

#include <errno.h>
#include <fcntl.h> /* F_OFD_SETLK: Linux */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/err.h"
#include "core/file.h"
#include "core/spawn.h"

enum { WHY = PATH_MAX + 300, STACK = 256 << 10, AGAIN_MS = 10000, PIECE = 1 << 20 };
#define MS UINT64_C(1000000)

struct bbf_box_file {
    char *path;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct bbf_buf document; /* that waits, or is being written; len 0: none */
    int64_t captured_ms;
    uint64_t interval_ms, memory_used, memory_limit;
    enum bbf_box_state state; /* not RUNNING: the last beat is due */
    bool is_over;             /* it was written, or could not be */
    bool is_left;             /* the owner waits no more: the thread frees all */
    bool is_failed;
    char why[WHY];

    /* The thread's alone. */
    int fd;
    uint64_t documents, beats, make_ns;
    struct bbf_box_head about;
    unsigned slot; /* the next document's */
    pthread_t thread;
};

/* ---- the file ---- */

/* The kernel gives the lock up when the process ends, however it ends: a reader sees by it that the
 * writer lives, also from another container. A file system without locks has no such sign. */
static void take_lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int err = fcntl(fd, F_OFD_SETLK, &whole);
    (void)err;
}

static int make_file(struct bbf_box_file *f, char *why, size_t why_size)
{
    struct stat st;
    int err = bbf_file_make(f->path, &f->fd, why, why_size);
    if (err == BBF_OK)
        take_lock(f->fd);
    else
        f->fd = -1;
    f->about.inode = err == BBF_OK && fstat(f->fd, &st) == 0 ? st.st_ino : 0;
    f->slot = 0;
    return err;
}

/* 0 or errno. */
static int write_at(struct bbf_box_file *f, uint64_t at, const char *data, size_t len)
{
    if (lseek(f->fd, (off_t)at, SEEK_SET) < 0)
        return errno;
    while (len > 0) {
        ssize_t n = bbf_file_write_some(f->fd, data, len < PIECE ? len : PIECE);
        if (n < 0 && errno != EINTR)
            return errno;
        data += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int write_document(struct bbf_box_file *f, const struct bbf_buf *document,
                          int64_t captured_ms)
{
    const struct bbf_box_slot slot = {f->documents + 1, captured_ms, document->len};
    uint64_t at = bbf_box_slot_at(f->about.slot_bytes, f->slot);
    char about[BBF_BOX_SLOT_HEAD];

    bbf_box_put_slot(about, &slot, document->data);
    int err = write_at(f, at + BBF_BOX_SLOT_HEAD, document->data, document->len);
    if (err == 0)
        err = write_at(f, at, about, sizeof about);
    if (err != 0)
        return err; /* the same slot again: the other one has what is whole */
    f->documents++;
    f->slot = (f->slot + 1) % BBF_BOX_SLOTS;
    return 0;
}

/* With the head: another process may have cut the file (logrotate's copytruncate). */
static int write_beat(struct bbf_box_file *f, struct bbf_box_beat *beat)
{
    char bytes[BBF_BOX_HEAD_BYTES + BBF_BOX_BEAT_BYTES];
    beat->number = ++f->beats;
    beat->alive_ms = (int64_t)(bbf_clock_ns(CLOCK_REALTIME) / MS);
    bbf_box_put_head(bytes, &f->about);
    bbf_box_put_beat(bytes + BBF_BOX_HEAD_BYTES, beat);
    return write_at(f, 0, bytes, sizeof bytes);
}

/* ---- failures ---- */

static void set_failed(struct bbf_box_file *f, const char *why)
{
    pthread_mutex_lock(&f->lock);
    f->is_failed = why != NULL;
    if (why != NULL)
        snprintf(f->why, sizeof f->why, "%s", why);
    pthread_mutex_unlock(&f->lock);
}

static void set_error(struct bbf_box_file *f, const char *cause)
{
    char why[WHY];
    snprintf(why, sizeof why, "%s: %s", f->path, cause);
    set_failed(f, why);
}

/* A file without a name takes writes for ever, and no reader finds it. Only a free name is taken:
 * another JVM may have the file there. */
static bool has_file(struct bbf_box_file *f)
{
    char why[WHY] = "";
    struct stat st;

    if (f->fd >= 0 && fstat(f->fd, &st) == 0 && st.st_nlink == 0) {
        (void)close(f->fd);
        f->fd = -1;
        set_error(f, "it was removed");
    }
    if (f->fd < 0 && bbf_monotonic_ns() >= f->make_ns) {
        f->make_ns = bbf_monotonic_ns() + AGAIN_MS * MS;
        if (make_file(f, why, sizeof why) != BBF_OK)
            set_failed(f, why);
    }
    return f->fd >= 0;
}

static void write_all(struct bbf_box_file *f, const struct bbf_buf *document, int64_t captured_ms,
                      struct bbf_box_beat *beat)
{
    if (!has_file(f))
        return;
    int err = write_beat(f, beat);
    if (err == 0 && document->len > 0)
        err = write_document(f, document, captured_ms);
    if (err != 0)
        set_error(f, strerror(err));
    else if (document->len > 0) /* a beat may have room where a document has none */
        set_failed(f, NULL);
}

/* ---- the thread ---- */

static void free_file(struct bbf_box_file *f)
{
    if (f->fd >= 0)
        (void)close(f->fd);
    bbf_buf_free(&f->document);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    free(f->path);
    free(f);
}

/* Under the lock, which is let go of while the disk works. */
static void write_round(struct bbf_box_file *f)
{
    struct bbf_box_beat beat = {
        .state = f->state, .memory_used = f->memory_used, .memory_limit = f->memory_limit};
    struct bbf_buf document = f->document;
    int64_t captured_ms = f->captured_ms;

    pthread_mutex_unlock(&f->lock);
    write_all(f, &document, captured_ms, &beat);
    pthread_mutex_lock(&f->lock);
    if (document.len > 0) /* else one may have been handed over meanwhile */
        bbf_buf_free(&f->document);
    f->is_over = beat.state != BBF_BOX_RUNNING;
    pthread_cond_broadcast(&f->changed);
}

static void *run(void *arg)
{
    struct bbf_box_file *f = arg;

    (void)pthread_setname_np(pthread_self(), "bbflow box");
    pthread_mutex_lock(&f->lock);
    while (!f->is_over) {
        struct timespec due = bbf_clock_timespec(bbf_monotonic_ns() + f->interval_ms * MS);
        int late = 0;
        write_round(f);
        while (f->document.len == 0 && f->state == BBF_BOX_RUNNING && late == 0)
            late = pthread_cond_timedwait(&f->changed, &f->lock, &due);
    }
    bool left = f->is_left;
    pthread_mutex_unlock(&f->lock);
    if (left)
        free_file(f);
    return NULL;
}

/* ---- the owner ---- */

static void init_lock(struct bbf_box_file *f)
{
    pthread_condattr_t attributes;
    (void)pthread_mutex_init(&f->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&f->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

int bbf_box_file_open(struct bbf_box_file **file, const char *path, const char *previous,
                      const struct bbf_box_head *head, char *why, size_t why_size)
{
    struct bbf_box_file *f = calloc(1, sizeof *f);

    if (f == NULL)
        return BBF_ENOMEM;
    init_lock(f);
    f->fd = -1;
    f->path = strdup(path);
    f->about = *head;
    f->interval_ms = head->interval_ms;
    int err = f->path != NULL ? bbf_file_set_aside(path, previous, why, why_size) : BBF_ENOMEM;
    if (err == BBF_OK)
        err = make_file(f, why, why_size);
    if (err == BBF_OK)
        err = bbf_spawn(&f->thread, STACK, run, f);
    if (err != BBF_OK)
        free_file(f);
    else
        *file = f;
    return err;
}

bool bbf_box_file_is_busy(struct bbf_box_file *f)
{
    pthread_mutex_lock(&f->lock);
    bool busy = f->document.len > 0;
    pthread_mutex_unlock(&f->lock);
    return busy;
}

void bbf_box_file_write(struct bbf_box_file *f, struct bbf_buf *document, int64_t captured_ms)
{
    pthread_mutex_lock(&f->lock);
    f->document = *document;
    f->captured_ms = captured_ms;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    *document = (struct bbf_buf)BBF_BUF_INIT;
}

void bbf_box_file_memory(struct bbf_box_file *f, uint64_t used, uint64_t limit)
{
    pthread_mutex_lock(&f->lock);
    f->memory_used = used;
    f->memory_limit = limit;
    pthread_mutex_unlock(&f->lock);
}

void bbf_box_file_pace(struct bbf_box_file *f, uint64_t interval_ms)
{
    pthread_mutex_lock(&f->lock);
    f->interval_ms = interval_ms;
    pthread_mutex_unlock(&f->lock);
}

bool bbf_box_file_failed(struct bbf_box_file *f, char *why, size_t why_size)
{
    pthread_mutex_lock(&f->lock);
    bool failed = f->is_failed;
    if (failed)
        snprintf(why, why_size, "%s", f->why);
    pthread_mutex_unlock(&f->lock);
    return failed;
}

bool bbf_box_file_close(struct bbf_box_file *f, enum bbf_box_state state, unsigned timeout_ms)
{
    const struct timespec end = bbf_clock_timespec(bbf_monotonic_ns() + timeout_ms * MS);
    int late = 0;

    pthread_mutex_lock(&f->lock);
    f->state = state;
    pthread_cond_broadcast(&f->changed);
    while (!f->is_over && late == 0)
        late = pthread_cond_timedwait(&f->changed, &f->lock, &end);
    bool over = f->is_over, whole = over && !f->is_failed;
    f->is_left = !over;
    pthread_t thread = f->thread;
    pthread_mutex_unlock(&f->lock);
    if (!over) {
        (void)pthread_detach(thread); /* it frees everything when the disk answers */
        return false;
    }
    (void)pthread_join(thread, NULL);
    free_file(f);
    return whole;
}
