/* SPDX-License-Identifier: Apache-2.0 */
#include "client/black_box.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/fail.h"
#include "core/err.h"
#include "core/safe.h"
#include "render/text.h"

enum { PEEK = 64, NEAR_LIMIT = 90 };

bool bbf_black_box_is_at(const char *path)
{
    char begin[PEEK];
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, begin, sizeof begin) : 0;
    (void)close(fd);
    return n > 0 && bbf_box_is(begin, (size_t)n);
}

bool bbf_black_box_is_too_large(const struct bbf_buf *bytes)
{
    uint64_t most = bbf_box_slot_at(BBF_BOX_SLOT_MAX, BBF_BOX_SLOTS);
    return bytes->len > most && bbf_box_is(bytes->data, bytes->len);
}

/* The writer's lock ends with its process, however that ends. A copy has none, and a file system
 * may have none. */
static enum bbf_black_box_writer find_writer(const char *path, uint64_t inode, bool *is_copy)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct stat st = {0};
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool asked = fd >= 0 && fstat(fd, &st) == 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0;
    if (fd >= 0)
        (void)close(fd);
    *is_copy = asked && st.st_ino != inode;
    if (!asked || *is_copy)
        return BBF_WRITER_UNKNOWN;
    return lock.l_type != F_UNLCK ? BBF_WRITER_LIVES : BBF_WRITER_GONE;
}

static int nothing_whole(const struct bbf_black_box *black, const char *path)
{
    const struct bbf_box *box = &black->box;
    if (box->damaged > 0)
        return bbf_fail(BBF_EXIT_FAILED,
                        "%s: what the JVM %" PRId64 " (%s) wrote is damaged; another process has "
                        "changed the file",
                        path, box->head.pid, box->head.main);
    return bbf_fail(BBF_EXIT_FAILED,
                    "%s: no state of the JVM %" PRId64 " (%s) is in it: it writes the first within "
                    "seconds after its start; an older file is cut off",
                    path, box->head.pid, box->head.main);
}

int bbf_black_box_take(struct bbf_black_box *black, const char *path, struct bbf_buf *document,
                       bool last)
{
    char why[200] = "";
    struct bbf_box *box = &black->box;
    int err = bbf_box_read(box, document->data, document->len, why, sizeof why);
    if (err == BBF_EVERSION)
        return bbf_fail(BBF_EXIT_FAILED,
                        "%s: %s; this bbflow is version %s, and another wrote the file", path, why,
                        BBF_VERSION);
    if (err != BBF_OK)
        return bbf_fail(BBF_EXIT_FAILED, "%s is no whole black box: %s", path, why);
    black->writer = find_writer(path, box->head.inode, &black->is_copy);
    if (box->document == NULL)
        return black->writer == BBF_WRITER_LIVES && !last ? BBF_EXIT_OK
                                                          : nothing_whole(black, path);
    memmove(document->data, box->document, box->slot.len);
    document->len = box->slot.len;
    black->is_taken = true;
    return BBF_EXIT_OK;
}

/* ---- notes ---- */

static void add_time(struct bbf_buf *out, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    char text[40];
    struct tm tm;
    if (ms <= 0 || gmtime_r(&seconds, &tm) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        bbf_buf_str(out, "an unknown time");
    else
        bbf_buf_str(out, text);
}

/* "JVM 4711 (com.app.Main, started …)" */
static void add_jvm(struct bbf_buf *out, const struct bbf_box_head *head)
{
    bbf_buf_printf(out, "JVM %" PRId64 " (", head->pid);
    if (head->main[0] != '\0') {
        bbf_safe_add(out, head->main, strlen(head->main), BBF_SAFE_VALUE, '\0');
        bbf_buf_str(out, ", ");
    }
    bbf_buf_str(out, "started ");
    add_time(out, head->started_ms);
    bbf_buf_str(out, ") ");
}

static void add_end(struct bbf_buf *out, const struct bbf_black_box *black)
{
    const struct bbf_box *box = &black->box;
    add_jvm(out, &box->head);
    if (!box->has_beat)
        bbf_buf_str(out, "ended at an unknown time");
    else if (box->beat.state == BBF_BOX_ENDED)
        bbf_buf_str(out, "ended by itself at ");
    else if (box->beat.state == BBF_BOX_STOPPED)
        bbf_buf_str(out, "closed this file, by 'bbflow stop' or 'bbflow set', at ");
    else if (black->writer == BBF_WRITER_LIVES)
        bbf_buf_str(out, "runs, and wrote this file at ");
    else if (black->writer == BBF_WRITER_GONE)
        bbf_buf_str(out, "did not end by itself, it was killed or it crashed: last alive at ");
    else
        bbf_buf_printf(out,
                       "was alive at the end of this file%s; whether it still runs is not "
                       "known: last alive at ",
                       black->is_copy ? ", which is a copy" : "");
    if (box->has_beat)
        add_time(out, box->beat.alive_ms);
    bbf_buf_str(out, "; the numbers are of ");
    add_time(out, box->slot.captured_ms);
}

/* Only where it may be the reason of the end. */
static void add_memory(struct bbf_buf *out, const struct bbf_black_box *black)
{
    const struct bbf_box_beat *beat = &black->box.beat;
    if (!black->box.has_beat || beat->memory_limit == 0)
        return;
    double share = 100.0 * (double)beat->memory_used / (double)beat->memory_limit;
    bbf_buf_str(out, "its cgroup had ");
    bbf_text_bytes(out, beat->memory_used);
    bbf_buf_str(out, " of its memory limit of ");
    bbf_text_bytes(out, beat->memory_limit);
    bbf_buf_printf(out, " in use (%.0f%%)", share);
    if (share >= NEAR_LIMIT && beat->state == BBF_BOX_RUNNING && black->writer == BBF_WRITER_GONE)
        bbf_buf_str(out, ": the kernel's OOM killer may have ended it, which 'dmesg' or the "
                         "container's state (OOMKilled) shows");
}

/* `text` becomes the snapshot's first note, unless it is empty. */
static int put_first(struct bbf_snapshot *s, struct bbf_buf *text)
{
    if (text->len == 0)
        return BBF_OK;
    int err = text->failed ? BBF_ENOMEM
                           : bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(text));
    if (err != BBF_OK)
        return err;
    char *last = s->notes[s->n_notes - 1];
    memmove(s->notes + 1, s->notes, (s->n_notes - 1) * sizeof *s->notes);
    s->notes[0] = last;
    return BBF_OK;
}

int bbf_black_box_notes(const struct bbf_black_box *black, struct bbf_snapshot *snapshot)
{
    struct bbf_buf text = BBF_BUF_INIT;
    add_memory(&text, black);
    int err = put_first(snapshot, &text);
    text.len = 0;
    add_end(&text, black);
    if (err == BBF_OK)
        err = put_first(snapshot, &text);
    bbf_buf_free(&text);
    return err;
}
