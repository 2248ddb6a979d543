/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/writer.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "jfr/chunk.h"

/* State of a chunk in its header. 1 to 254 count the flushes while it is being written. */
enum { STATE_FINISHED = 0, STATE_LAST = 254, STATE_UPDATING = 255 };
enum { CHECKPOINT_TYPE = 1, CHECKPOINT_FLUSH = 1, POOLED_MIN = 16, POOLED_MAX = 128 };
enum { MAJOR = 2, MINOR = 1, STATE_AT = 64 };
enum { ENCODED_MAX = 4 }; /* bytes of a byte of text and its encoding: U+FFFD takes 3 */

#define TICKS_PER_SECOND UINT64_C(1000000000)

static void fail(struct bbf_jfr_writer *w, int err)
{
    if (w->err == BBF_OK)
        w->err = err;
}

int bbf_jfr_writer_init(struct bbf_jfr_writer *w, const struct bbf_jfr_config *config)
{
    struct bbf_buf test = BBF_BUF_INIT;
    int err = bbf_jfr_put_metadata(&test, &config->schema, 0, NULL);

    bbf_buf_free(&test);
    memset(w, 0, sizeof(*w));
    w->config = *config;
    if (w->config.chunk_bytes == 0)
        w->config.chunk_bytes = BBF_JFR_CHUNK_BYTES;
    w->err = err;
    return err;
}

void bbf_jfr_writer_free(struct bbf_jfr_writer *w)
{
    for (size_t i = 0; i < BBF_JFR_ANNOTATIONS; i++)
        bbf_jfr_pool_free(&w->pools[i]);
    bbf_jfr_pool_free(&w->names);
    free(w->methods);
    w->methods = NULL;
    w->methods_room = 0;
    bbf_buf_free(&w->pending);
    bbf_buf_free(&w->scratch);
}

int bbf_jfr_writer_error(const struct bbf_jfr_writer *w)
{
    return w->err != BBF_OK ? w->err : w->pending.failed || w->scratch.failed ? BBF_ENOMEM : BBF_OK;
}

/* ---- the header ---- */

static uint64_t chunk_start_ns(const struct bbf_jfr_writer *w)
{
    return w->config.start_ns + (w->begin_ticks - w->config.start_ticks);
}

static void fill_header(const struct bbf_jfr_writer *w, char *to, uint64_t size, int state,
                        bool is_last)
{
    bbf_jfr_header_write(&(struct bbf_jfr_header){.major = MAJOR,
                                                  .minor = MINOR,
                                                  .size = size,
                                                  .checkpoint = w->checkpoint,
                                                  .metadata = BBF_JFR_HEADER_BYTES,
                                                  .start_ns = chunk_start_ns(w),
                                                  .duration_ns = w->last_ticks - w->begin_ticks,
                                                  .start_ticks = w->begin_ticks,
                                                  .ticks_per_second = TICKS_PER_SECOND,
                                                  .state = (unsigned)state,
                                                  .is_compressed = true,
                                                  .is_last = is_last},
                         to);
}

/* ---- handing on ---- */

/* One checkpoint at the end of `pending` with all constants that are new; may have none. */
static void put_checkpoint(struct bbf_jfr_writer *w, uint64_t ticks)
{
    static const char size[BBF_JFR_SIZE_BYTES];
    struct bbf_buf *out = &w->pending;
    size_t start = out->len, pools = 0;
    uint64_t at = w->chunk_bytes + start;

    for (size_t i = 0; i < BBF_JFR_ANNOTATIONS; i++)
        pools += bbf_jfr_pool_new(&w->pools[i]) > 0;
    bbf_buf_add(out, size, sizeof(size));
    bbf_jfr_put_long(out, CHECKPOINT_TYPE);
    bbf_jfr_put_long(out, ticks);
    bbf_jfr_put_long(out, 0); /* duration */
    bbf_jfr_put_long(out, w->checkpoint != 0 ? w->checkpoint - at : 0);
    bbf_jfr_put_byte(out, CHECKPOINT_FLUSH);
    bbf_jfr_put_long(out, pools);
    for (size_t i = 0; i < BBF_JFR_ANNOTATIONS; i++) {
        if (bbf_jfr_pool_new(&w->pools[i]) > 0)
            bbf_jfr_pool_put(out, &w->pools[i], bbf_jfr_common_id((enum bbf_jfr_common)i));
    }
    if (!out->failed)
        bbf_jfr_set_size(out->data + start, (uint32_t)(out->len - start));
    w->checkpoint = at;
}

static void append(struct bbf_jfr_writer *w)
{
    if (w->pending.failed)
        fail(w, BBF_ENOMEM);
    if (w->err == BBF_OK)
        fail(w, w->config.output.append(w->config.output.ctx, w->pending.data, w->pending.len));
    w->chunk_bytes += w->pending.len;
    w->pending.len = 0;
}

static void patch(struct bbf_jfr_writer *w, uint64_t at, const char *data, size_t len)
{
    if (w->err == BBF_OK)
        fail(w, w->config.output.patch(w->config.output.ctx, w->file_bytes + at, data, len));
}

/*
 * A reader of the growing file sees the state first: 255 says that the header is being changed, and
 * the new state is written only after all else.
 */
static void patch_header(struct bbf_jfr_writer *w, int state, bool is_last)
{
    char header[BBF_JFR_HEADER_BYTES];

    fill_header(w, header, w->chunk_bytes, STATE_UPDATING, is_last);
    patch(w, STATE_AT, header + STATE_AT, 1);
    patch(w, 0, header, sizeof(header));
    header[STATE_AT] = (char)state;
    patch(w, STATE_AT, header + STATE_AT, 1);
}

/* ---- chunks ---- */

static bool is_streaming(const struct bbf_jfr_writer *w)
{
    return w->config.output.patch != NULL;
}

static void begin_chunk(struct bbf_jfr_writer *w, uint64_t ticks)
{
    char header[BBF_JFR_HEADER_BYTES];

    /* Each chunk begins later than the one before ended, though an event may be older. */
    w->begin_ticks = w->chunks > 0 && ticks <= w->last_ticks ? w->last_ticks + 1 : ticks;
    if (w->begin_ticks < w->config.start_ticks)
        w->begin_ticks = w->config.start_ticks;
    w->last_ticks = w->begin_ticks;
    w->checkpoint = 0;
    w->chunk_bytes = 0;
    w->generation = 1;
    w->is_open = true;
    fill_header(w, header, 0, (int)w->generation, false);
    bbf_buf_add(&w->pending, header, sizeof(header));
    fail(w, bbf_jfr_put_metadata(&w->pending, &w->config.schema, w->begin_ticks, NULL));
    /* A reader must never meet a size of 0, which makes the JDK's loop: flush at once. */
    if (is_streaming(w))
        (void)bbf_jfr_flush(w, w->begin_ticks);
}

int bbf_jfr_flush(struct bbf_jfr_writer *w, uint64_t ticks)
{
    if (!is_streaming(w) || !w->is_open || w->err != BBF_OK)
        return bbf_jfr_writer_error(w);
    if (ticks > w->last_ticks)
        w->last_ticks = ticks;
    bool is_first = w->chunk_bytes == 0;
    put_checkpoint(w, w->last_ticks);
    if (is_first && !w->pending.failed)
        fill_header(w, w->pending.data, w->pending.len, (int)w->generation, false);
    append(w);
    if (!is_first) {
        w->generation = w->generation == STATE_LAST ? 1 : w->generation + 1;
        patch_header(w, (int)w->generation, false);
    }
    return bbf_jfr_writer_error(w);
}

static void close_chunk(struct bbf_jfr_writer *w, uint64_t next)
{
    w->file_bytes = next;
    w->chunk_bytes = 0;
    w->chunks++;
    w->is_open = false;
    for (size_t i = 0; i < BBF_JFR_ANNOTATIONS; i++)
        bbf_jfr_pool_clear(&w->pools[i]);
    bbf_jfr_pool_clear(&w->names);
    if (w->methods != NULL)
        memset(w->methods, 0, w->methods_room * sizeof(*w->methods));
}

int bbf_jfr_finish_chunk(struct bbf_jfr_writer *w, uint64_t ticks, bool is_last)
{
    if (!w->is_open || w->err != BBF_OK)
        return bbf_jfr_writer_error(w);
    if (ticks > w->last_ticks)
        w->last_ticks = ticks;
    put_checkpoint(w, w->last_ticks);
    if (!is_streaming(w) && !w->pending.failed)
        fill_header(w, w->pending.data, w->pending.len, STATE_FINISHED, is_last);
    append(w);
    if (is_streaming(w))
        patch_header(w, STATE_FINISHED, is_last);
    close_chunk(w, w->file_bytes + w->chunk_bytes);
    return bbf_jfr_writer_error(w);
}

int bbf_jfr_finish(struct bbf_jfr_writer *w, uint64_t ticks)
{
    if (!w->is_open && w->chunks == 0 && w->err == BBF_OK)
        begin_chunk(w, ticks);
    return bbf_jfr_finish_chunk(w, ticks, true);
}

uint64_t bbf_jfr_written(const struct bbf_jfr_writer *w)
{
    return w->file_bytes + w->chunk_bytes;
}

size_t bbf_jfr_pending(const struct bbf_jfr_writer *w)
{
    return w->pending.len;
}

void bbf_jfr_continue(struct bbf_jfr_writer *w, uint64_t at)
{
    bbf_buf_free(&w->pending);
    bbf_buf_free(&w->scratch);
    w->err = BBF_OK;
    if (w->is_open)
        close_chunk(w, at);
    w->file_bytes = at;
}

/* ---- events ---- */

static bool is_full(const struct bbf_jfr_writer *w)
{
    size_t constants = w->names.bytes.len;

    for (size_t i = 0; i < BBF_JFR_ANNOTATIONS; i++)
        constants += w->pools[i].bytes.len;
    return w->chunk_bytes + w->pending.len + constants >= w->config.chunk_bytes;
}

void bbf_jfr_begin_chunk(struct bbf_jfr_writer *w, uint64_t ticks)
{
    if (!w->is_open)
        begin_chunk(w, ticks);
}

struct bbf_buf *bbf_jfr_begin(struct bbf_jfr_writer *w, size_t index, uint64_t ticks)
{
    static const char size[BBF_JFR_SIZE_BYTES];

    if (w->is_open && is_full(w))
        (void)bbf_jfr_finish_chunk(w, ticks, false);
    if (!w->is_open)
        begin_chunk(w, ticks);
    w->event = w->pending.len;
    bbf_buf_add(&w->pending, size, sizeof(size));
    bbf_jfr_put_long(&w->pending, bbf_jfr_own_id(index));
    bbf_jfr_put_long(&w->pending, ticks);
    if (ticks > w->last_ticks)
        w->last_ticks = ticks;
    return &w->pending;
}

void bbf_jfr_end(struct bbf_jfr_writer *w)
{
    size_t size = w->pending.len - w->event;

    if (size > BBF_JFR_EVENT_MAX) {
        w->pending.len = w->event;
        fail(w, BBF_ERANGE);
    } else if (!w->pending.failed) {
        bbf_jfr_set_size(w->pending.data + w->event, (uint32_t)size);
        w->events++;
    }
}

/* ---- constants ---- */

/* The key of what `scratch` has from `start` on, which goes from there. */
static uint64_t intern(struct bbf_jfr_writer *w, enum bbf_jfr_common pool, size_t start)
{
    if (w->scratch.failed)
        return 0;
    uint64_t key =
        bbf_jfr_pool_key(&w->pools[pool], w->scratch.data + start, w->scratch.len - start);
    w->scratch.len = start;
    if (key == 0)
        fail(w, BBF_ENOMEM);
    return key;
}

static uint64_t text_constant(struct bbf_jfr_writer *w, enum bbf_jfr_common pool, const char *text,
                              size_t len)
{
    size_t start = w->scratch.len;

    bbf_jfr_put_text(&w->scratch, text, len);
    return intern(w, pool, start);
}

uint64_t bbf_jfr_symbol(struct bbf_jfr_writer *w, const char *text, size_t len)
{
    return text_constant(w, BBF_JFR_SYMBOL, text, len);
}

/* A class's name as the JVM has it: with slashes. */
static uint64_t class_symbol(struct bbf_jfr_writer *w, const char *name)
{
    size_t len = strlen(name), start = w->scratch.len;
    /* Room for the copy and its encoding at once, since growing would move the copy. */
    char *copy = bbf_buf_reserve(&w->scratch, ENCODED_MAX * len + 2 * BBF_JFR_INTEGER_MAX);

    if (copy == NULL)
        return 0;
    for (size_t i = 0; i < len; i++)
        copy[i] = name[i] == '.' ? '/' : name[i];
    w->scratch.len += len; /* the encoded form goes behind the copy */
    bbf_jfr_put_text(&w->scratch, copy, len);
    uint64_t key = intern(w, BBF_JFR_SYMBOL, start + len);
    w->scratch.len = start;
    return key;
}

uint64_t bbf_jfr_class(struct bbf_jfr_writer *w, const char *name)
{
    uint64_t symbol = class_symbol(w, name);
    size_t start = w->scratch.len;

    bbf_jfr_put_long(&w->scratch, 0); /* class loader */
    bbf_jfr_put_long(&w->scratch, symbol);
    bbf_jfr_put_long(&w->scratch, 0); /* package */
    bbf_jfr_put_int(&w->scratch, 1);  /* public */
    bbf_jfr_put_byte(&w->scratch, 0); /* hidden */
    return intern(w, BBF_JFR_CLASS, start);
}

static uint64_t new_method(struct bbf_jfr_writer *w, const struct bbf_jfr_frame *frame)
{
    uint64_t class_key = bbf_jfr_class(w, frame->class_name);
    uint64_t name = bbf_jfr_symbol(w, frame->method, strlen(frame->method));
    /* The JDK's `jfr print` stops at a descriptor without parentheses. */
    const char *text = frame->descriptor[0] == '(' ? frame->descriptor : "()V";
    uint64_t descriptor = bbf_jfr_symbol(w, text, strlen(text));
    size_t start = w->scratch.len;

    bbf_jfr_put_long(&w->scratch, class_key);
    bbf_jfr_put_long(&w->scratch, name);
    bbf_jfr_put_long(&w->scratch, descriptor);
    bbf_jfr_put_int(&w->scratch, 1);
    bbf_jfr_put_byte(&w->scratch, 0);
    return intern(w, BBF_JFR_METHOD, start);
}

/* The number of the frame's names in w->names, from 0; SIZE_MAX: no memory. */
static size_t names_of(struct bbf_jfr_writer *w, const struct bbf_jfr_frame *frame)
{
    size_t start = w->scratch.len;

    bbf_buf_add(&w->scratch, frame->class_name, strlen(frame->class_name) + 1);
    bbf_buf_add(&w->scratch, frame->method, strlen(frame->method) + 1);
    bbf_buf_add(&w->scratch, frame->descriptor, strlen(frame->descriptor) + 1);
    if (w->scratch.failed)
        return SIZE_MAX;
    uint64_t key = bbf_jfr_pool_key(&w->names, w->scratch.data + start, w->scratch.len - start);
    w->scratch.len = start;
    return key > 0 ? (size_t)(key - w->names.first_key - 1) : SIZE_MAX;
}

static bool has_room_for(struct bbf_jfr_writer *w, size_t i)
{
    if (i < w->methods_room)
        return true;
    size_t room = 2 * i + 64;
    uint64_t *methods = realloc(w->methods, room * sizeof(*methods));
    if (methods == NULL)
        return false;
    memset(methods + w->methods_room, 0, (room - w->methods_room) * sizeof(*methods));
    w->methods = methods;
    w->methods_room = room;
    return true;
}

static uint64_t method(struct bbf_jfr_writer *w, const struct bbf_jfr_frame *frame)
{
    size_t i = names_of(w, frame);

    if (i == SIZE_MAX || !has_room_for(w, i)) {
        fail(w, BBF_ENOMEM);
        return 0;
    }
    if (w->methods[i] == 0)
        w->methods[i] = new_method(w, frame);
    return w->methods[i];
}

uint64_t bbf_jfr_stack(struct bbf_jfr_writer *w, const struct bbf_jfr_frame *frames, size_t n,
                       bool truncated)
{
    static const char compiled[] = "JIT compiled";

    if (n == 0) /* JDK 25's view asks an empty trace for its first frame */
        return 0;
    uint64_t type = text_constant(w, BBF_JFR_FRAME_TYPE, compiled, sizeof(compiled) - 1);
    size_t start = w->scratch.len;
    bbf_jfr_put_byte(&w->scratch, truncated);
    bbf_jfr_put_long(&w->scratch, n);
    for (size_t i = 0; i < n; i++) {
        bbf_jfr_put_long(&w->scratch, method(w, &frames[i]));
        bbf_jfr_put_int(&w->scratch, frames[i].line);
        bbf_jfr_put_int(&w->scratch, frames[i].bytecode_index);
        bbf_jfr_put_long(&w->scratch, type);
    }
    return intern(w, BBF_JFR_STACK_TRACE, start);
}

static uint64_t thread_group(struct bbf_jfr_writer *w)
{
    static const char name[] = "main";
    size_t start = w->scratch.len;

    bbf_jfr_put_long(&w->scratch, 0); /* parent */
    bbf_jfr_put_text(&w->scratch, name, sizeof(name) - 1);
    return intern(w, BBF_JFR_THREAD_GROUP, start);
}

uint64_t bbf_jfr_thread(struct bbf_jfr_writer *w, const char *name, uint64_t os_id,
                        uint64_t java_id, bool is_virtual)
{
    uint64_t group = java_id != 0 ? thread_group(w) : 0;
    size_t start = w->scratch.len, len = strlen(name);

    bbf_jfr_put_text(&w->scratch, name, len);
    bbf_jfr_put_long(&w->scratch, os_id);
    bbf_jfr_put_text(&w->scratch, java_id != 0 ? name : NULL, len);
    bbf_jfr_put_long(&w->scratch, java_id);
    bbf_jfr_put_long(&w->scratch, group);
    bbf_jfr_put_byte(&w->scratch, is_virtual);
    return intern(w, BBF_JFR_THREAD, start);
}

void bbf_jfr_text(struct bbf_jfr_writer *w, const char *text)
{
    size_t len = text != NULL ? strlen(text) : 0;

    if (len < POOLED_MIN || len > POOLED_MAX) {
        bbf_jfr_put_text(&w->pending, text, len);
        return;
    }
    uint64_t key = text_constant(w, BBF_JFR_STRING, text, len);
    bbf_jfr_put_byte(&w->pending, BBF_JFR_STRING_POOLED);
    bbf_jfr_put_long(&w->pending, key);
}
