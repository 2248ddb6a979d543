/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sinks/disk.h"

#include <errno.h>
#include <fcntl.h>
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
#include "jfr/chunk.h"

enum { WHY = PATH_MAX + 300, STACK = 256 << 10 };

enum kind { APPEND, PATCH, NEXT_FILE };

struct part {
    struct part *next;
    enum kind kind;
    uint64_t at;
    size_t len;
    char data[];
};

/* Parts that are written as one. */
struct batch {
    struct batch *next;
    struct part *first, *last;
    size_t bytes;
    uint64_t chunk;
};

struct bbf_disk {
    char *path, *previous;
    struct batch *making; /* the owner's; NULL: empty */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct batch *first, *last;
    size_t queued;
    bool is_busy, is_failed, is_closing, is_left; /* left: the owner waits no more */
    uint64_t kept;
    char why[WHY];

    /* The thread's, or the owner's while the thread is failed or has not begun. */
    int fd;
    uint64_t size, chunk;
    char header[BBF_JFR_HEADER_BYTES]; /* of the open chunk, as the file has it */
    uint64_t good_size, good_chunk;
    char good_header[BBF_JFR_HEADER_BYTES];
    pthread_t thread;
};

/* ---- the file ---- */

static int fail(struct bbf_disk *d, const char *why)
{
    pthread_mutex_lock(&d->lock);
    snprintf(d->why, sizeof d->why, "%s: %s", d->path, why);
    pthread_mutex_unlock(&d->lock);
    return BBF_EIO;
}

static int make_file(struct bbf_disk *d, char *why, size_t why_size)
{
    int err = bbf_file_set_aside(d->path, d->previous, why, why_size);

    if (err == BBF_OK)
        err = bbf_file_make(d->path, &d->fd, why, why_size);
    d->size = d->good_size = d->chunk = d->good_chunk = 0;
    return err;
}

static int next_file(struct bbf_disk *d)
{
    char why[WHY] = "";
    bool closed = close(d->fd) == 0;

    d->fd = -1;
    int err = closed ? make_file(d, why, sizeof why) : fail(d, strerror(errno));
    if (err != BBF_OK && closed) {
        pthread_mutex_lock(&d->lock);
        snprintf(d->why, sizeof d->why, "%s", why);
        pthread_mutex_unlock(&d->lock);
    }
    return err;
}

static int append(struct bbf_disk *d, const char *data, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = bbf_file_write_some(d->fd, data + done, len - done);
        if (n < 0 && errno != EINTR)
            return fail(d, strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    d->size += len;
    return BBF_OK;
}

static int patch(struct bbf_disk *d, uint64_t at, const char *data, size_t len)
{
    ssize_t n;

    do
        n = pwrite(d->fd, data, len, (off_t)at);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)len ? BBF_OK : fail(d, n < 0 ? strerror(errno) : "cut short");
}

/* What the file has of the batch's open chunk, for the day that the next batch fails. */
static void note_header(struct bbf_disk *d, const struct part *part, uint64_t at, uint64_t chunk)
{
    if (at <= chunk && at + part->len >= chunk + BBF_JFR_HEADER_BYTES)
        memcpy(d->header, part->data + (chunk - at), BBF_JFR_HEADER_BYTES);
}

static int write_part(struct bbf_disk *d, const struct part *part, uint64_t chunk)
{
    uint64_t at = part->kind == APPEND ? d->size : part->at;
    int err = part->kind == APPEND  ? append(d, part->data, part->len)
              : part->kind == PATCH ? patch(d, part->at, part->data, part->len)
                                    : next_file(d);

    if (err == BBF_OK && part->kind != NEXT_FILE)
        note_header(d, part, at, chunk);
    return err;
}

/* A file that was removed takes writes for ever, which no reader sees. */
static int check_name(struct bbf_disk *d)
{
    struct stat st;

    if (fstat(d->fd, &st) != 0 || st.st_nlink > 0)
        return BBF_OK;
    (void)close(d->fd);
    d->fd = -1;
    return fail(d, "it was removed while it was written");
}

/* Back to the last whole batch; its open chunk becomes a finished one, which every reader takes. */
static void cut_back(struct bbf_disk *d)
{
    enum { STATE_AT = 64 };

    if (d->fd < 0) {
        d->good_size = 0;
        return;
    }
    int cut = ftruncate(d->fd, (off_t)d->good_size);
    (void)cut;
    (void)lseek(d->fd, (off_t)d->good_size, SEEK_SET);
    d->size = d->good_size;
    if (d->good_chunk >= d->good_size)
        return;
    d->good_header[STATE_AT] = 0;
    ssize_t n = pwrite(d->fd, d->good_header, sizeof d->good_header, (off_t)d->good_chunk);
    (void)n;
    d->good_chunk = d->good_size;
}

static int write_batch(struct bbf_disk *d, const struct batch *batch)
{
    int err = d->fd >= 0 ? check_name(d) : BBF_EIO;

    for (const struct part *part = batch->first; part != NULL && err == BBF_OK; part = part->next)
        err = write_part(d, part, batch->chunk);
    if (err != BBF_OK) {
        cut_back(d);
        return err;
    }
    d->good_size = d->size;
    d->good_chunk = batch->chunk;
    memcpy(d->good_header, d->header, sizeof d->header);
    return BBF_OK;
}

/* ---- batches ---- */

static void free_batch(struct batch *batch)
{
    while (batch != NULL && batch->first != NULL) {
        struct part *part = batch->first;
        batch->first = part->next;
        free(part);
    }
    free(batch);
}

static int add_part(struct bbf_disk *d, enum kind kind, uint64_t at, const char *data, size_t len)
{
    struct part *part = malloc(sizeof *part + len);

    if (d->making == NULL)
        d->making = calloc(1, sizeof *d->making);
    if (part == NULL || d->making == NULL) {
        free(part);
        return BBF_ENOMEM;
    }
    *part = (struct part){.kind = kind, .at = at, .len = len};
    if (len > 0)
        memcpy(part->data, data, len);
    if (d->making->last != NULL)
        d->making->last->next = part;
    else
        d->making->first = part;
    d->making->last = part;
    d->making->bytes += len;
    return BBF_OK;
}

int bbf_disk_append(struct bbf_disk *d, const char *data, size_t len)
{
    return add_part(d, APPEND, 0, data, len);
}

int bbf_disk_patch(struct bbf_disk *d, uint64_t at, const char *data, size_t len)
{
    return add_part(d, PATCH, at, data, len);
}

int bbf_disk_next_file(struct bbf_disk *d)
{
    return add_part(d, NEXT_FILE, 0, NULL, 0);
}

void bbf_disk_commit(struct bbf_disk *d, uint64_t chunk)
{
    struct batch *batch = d->making;

    if (batch == NULL)
        return;
    d->making = NULL;
    batch->chunk = chunk;
    pthread_mutex_lock(&d->lock);
    bool taken = !d->is_failed;
    if (taken) {
        if (d->last != NULL)
            d->last->next = batch;
        else
            d->first = batch;
        d->last = batch;
        d->queued += batch->bytes;
        pthread_cond_broadcast(&d->changed);
    }
    pthread_mutex_unlock(&d->lock);
    if (!taken)
        free_batch(batch);
}

/* Under the lock. */
static struct batch *take_first(struct bbf_disk *d)
{
    struct batch *batch = d->first;

    if (batch != NULL) {
        d->first = batch->next;
        if (d->first == NULL)
            d->last = NULL;
    }
    return batch;
}

static void drop_all(struct bbf_disk *d)
{
    for (struct batch *batch; (batch = take_first(d)) != NULL;)
        free_batch(batch);
    d->queued = 0;
}

/* ---- the thread ---- */

static void free_disk(struct bbf_disk *d)
{
    if (d->fd >= 0)
        (void)close(d->fd);
    free_batch(d->making);
    drop_all(d);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d->path);
    free(d->previous);
    free(d);
}

/* Under the lock, which is let go of while the batch is written. */
static void write_first(struct bbf_disk *d)
{
    struct batch *batch = take_first(d);

    d->is_busy = true;
    pthread_mutex_unlock(&d->lock);
    int err = write_batch(d, batch);
    pthread_mutex_lock(&d->lock);
    d->is_busy = false;
    d->queued -= batch->bytes;
    free_batch(batch);
    if (err != BBF_OK) {
        d->is_failed = true;
        d->kept = d->good_size;
        drop_all(d);
    }
    pthread_cond_broadcast(&d->changed);
}

static void *run(void *arg)
{
    struct bbf_disk *d = arg;

    (void)pthread_setname_np(pthread_self(), "bbflow jfr");
    pthread_mutex_lock(&d->lock);
    while (d->first != NULL || !d->is_closing)
        if (d->first != NULL)
            write_first(d);
        else
            pthread_cond_wait(&d->changed, &d->lock);
    bool left = d->is_left;
    pthread_mutex_unlock(&d->lock);
    if (left)
        free_disk(d);
    return NULL;
}

int bbf_disk_open(struct bbf_disk **disk, const char *path, const char *previous, char *why,
                  size_t why_size)
{
    struct bbf_disk *d = calloc(1, sizeof *d);
    pthread_condattr_t attributes;

    if (d == NULL)
        return BBF_ENOMEM;
    d->fd = -1;
    d->path = strdup(path);
    d->previous = strdup(previous);
    (void)pthread_mutex_init(&d->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&d->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    int err = d->path != NULL && d->previous != NULL ? make_file(d, why, why_size) : BBF_ENOMEM;
    if (err == BBF_OK)
        err = bbf_spawn(&d->thread, STACK, run, d);
    if (err != BBF_OK)
        free_disk(d);
    else
        *disk = d;
    return err;
}

/* ---- the owner ---- */

bool bbf_disk_has_room(struct bbf_disk *d)
{
    pthread_mutex_lock(&d->lock);
    bool room = !d->is_failed && d->queued < BBF_DISK_QUEUE;
    pthread_mutex_unlock(&d->lock);
    return room;
}

bool bbf_disk_failed(struct bbf_disk *d, uint64_t *kept, char *why, size_t why_size)
{
    pthread_mutex_lock(&d->lock);
    bool failed = d->is_failed && !d->is_busy;
    *kept = d->kept;
    if (failed)
        snprintf(why, why_size, "%s", d->why);
    pthread_mutex_unlock(&d->lock);
    return failed;
}

void bbf_disk_resume(struct bbf_disk *d, uint64_t *kept)
{
    char why[WHY] = "";

    free_batch(d->making);
    d->making = NULL;
    /* The thread waits: it has no batch, and takes none while is_failed is set. */
    int err = d->fd < 0 ? make_file(d, why, sizeof why) : BBF_OK;
    pthread_mutex_lock(&d->lock);
    if (err == BBF_OK)
        d->is_failed = false;
    else
        snprintf(d->why, sizeof d->why, "%s", why);
    d->kept = *kept = d->good_size;
    pthread_mutex_unlock(&d->lock);
}

bool bbf_disk_close(struct bbf_disk *d, unsigned timeout_ms)
{
    uint64_t until = bbf_monotonic_ns() + (uint64_t)timeout_ms * 1000000;
    const struct timespec end = {.tv_sec = (time_t)(until / 1000000000),
                                 .tv_nsec = (long)(until % 1000000000)};
    int late = 0;

    pthread_mutex_lock(&d->lock);
    d->is_closing = true;
    pthread_cond_broadcast(&d->changed);
    while ((d->first != NULL || d->is_busy) && late == 0)
        late = pthread_cond_timedwait(&d->changed, &d->lock, &end);
    bool over = d->first == NULL && !d->is_busy; /* then the thread ends, and frees nothing */
    bool whole = over && !d->is_failed;
    d->is_left = !over;
    pthread_t thread = d->thread;
    pthread_mutex_unlock(&d->lock);
    if (!over) {
        (void)pthread_detach(thread); /* it frees everything when the disk answers */
        return false;
    }
    (void)pthread_join(thread, NULL);
    free_disk(d);
    return whole;
}
