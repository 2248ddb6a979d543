/* SPDX-License-Identifier: Apache-2.0 */
#include "render/reconciled.h"

#include <inttypes.h>

#include "render/json_names.h"
#include "render/text.h"

/* The memory that Netty has in use, and how much of it bbflow also knows; buffers that are not
 * compared, because Netty does not count them, or does not separate them from released ones in
 * thread caches. */
struct share {
    uint64_t lives, of_lives, bytes, of_bytes, untold;
    bool left_out; /* a pool was not read, or is not followed; the causes say why */
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool is_comparable(const struct bbf_snap_pool *row)
{
    return row->netty_lives_ != BBF_NOT_TOLD && row->cached_ != BBF_NOT_TOLD;
}

/* Netty's allocations without the released buffers that wait in thread caches. */
static uint64_t in_use(const struct bbf_snap_pool *row)
{
    return row->netty_lives_ - least(row->cached_, row->netty_lives_);
}

static struct share share_of(const struct bbf_snap_reconciled *r)
{
    struct share s = {0};
    for (size_t i = 0; i < r->n_pools; i++) {
        const struct bbf_snap_pool *row = &r->pools[i];
        if (is_comparable(row)) {
            s.lives += least(row->lives_, in_use(row));
            s.of_lives += in_use(row);
        } else if (row->netty_bytes_ == BBF_NOT_TOLD) {
            s.untold += row->netty_lives_ != BBF_NOT_TOLD ? row->netty_lives_ : row->lives_;
        }
        s.left_out |= row->pool != BBF_POOL_ADAPTIVE && row->netty_lives_ == BBF_NOT_TOLD &&
                      row->netty_bytes_ == BBF_NOT_TOLD;
        if (row->netty_bytes_ != BBF_NOT_TOLD) {
            s.bytes += least(row->rounded_, row->netty_bytes_);
            s.of_bytes += row->netty_bytes_;
        }
    }
    return s;
}

/* Rounded down: 100.00% is all of it. */
static void add_percent(struct bbf_buf *out, uint64_t part, uint64_t whole)
{
    uint64_t unit = whole / 10000, hundredths = 10000;
    if (part < whole) {
        hundredths = whole < UINT64_MAX / 10000 ? part * 10000 / whole : part / unit;
        hundredths = least(hundredths, 9999);
    }
    bbf_buf_printf(out, "%" PRIu64 ".%02" PRIu64 "%%", hundredths / 100, hundredths % 100);
}

static void add_explained(struct bbf_buf *out, const struct bbf_snap_reconciled *r)
{
    const struct share share = share_of(r), *s = &share;
    if (r->sampled || (s->of_lives == 0 && s->of_bytes == 0)) {
        bbf_buf_str(out, r->sampled       ? "not compared with Netty's own numbers\n"
                         : s->left_out    ? "Netty has nothing in use of what is compared\n"
                         : s->untold != 0 ? "Netty does not tell what of its memory is in use\n"
                                          : "Netty has nothing in use\n");
        return;
    }
    if (s->of_bytes != 0) {
        add_percent(out, s->bytes, s->of_bytes);
        bbf_buf_str(out, " of ");
        bbf_text_bytes(out, s->of_bytes);
    }
    bbf_buf_str(out, s->of_lives != 0 && s->of_bytes != 0 ? " and " : "");
    if (s->of_lives != 0) {
        add_percent(out, s->lives, s->of_lives);
        bbf_buf_printf(out, " of %" PRIu64 " %s", s->of_lives,
                       s->of_lives == 1 ? "buffer" : "buffers");
    }
    bbf_buf_str(out, " that Netty has in use are explained\n");
}

void bbf_reconciled_causes(struct bbf_buf *out, const struct bbf_snap_reconciled *r,
                           const char *prefix)
{
    for (size_t i = 0; i < r->n_causes; i++) {
        bbf_buf_str(out, prefix);
        bbf_text_safe(out, r->causes[i], '\0');
        bbf_buf_char(out, '\n');
    }
}

void bbf_reconciled_line(struct bbf_buf *out, const struct bbf_snap_reconciled *r)
{
    if (!r->read)
        return;
    bbf_buf_str(out, "Reconciled: ");
    add_explained(out, r);
    bbf_reconciled_causes(out, r, "  ");
}

void bbf_reconciled_agrees(struct bbf_buf *out, const struct bbf_snap_reconciled *r)
{
    if (!r->read || r->sampled)
        return;
    const struct share s = share_of(r);
    const uint64_t part = s.of_bytes != 0 ? s.bytes : s.lives;
    const uint64_t whole = s.of_bytes != 0 ? s.of_bytes : s.of_lives;
    if (whole == 0)
        return;
    bbf_buf_str(out, part < whole ? "Netty has more: " : "Netty agrees: ");
    if (part < whole)
        add_percent(out, part, whole);
    else
        bbf_buf_str(out, "100%");
    bbf_buf_printf(out, " of %s%s.", s.of_bytes != 0 ? "bytes" : "buffers",
                   part < whole ? " in use are followed ('bbflow why')" : "");
}

/* "40 of 40 buffers (12 more in thread caches)", "40 buffers (Netty counts 52 with its caches)" */
static void add_lives(struct bbf_buf *out, const struct bbf_snap_pool *row)
{
    bool comparable = is_comparable(row);
    bbf_buf_printf(out, "%" PRIu64, row->lives_);
    if (comparable)
        bbf_buf_printf(out, " of %" PRIu64, in_use(row));
    bbf_buf_str(out, (comparable ? in_use(row) : row->lives_) == 1 ? " buffer" : " buffers");
    if (comparable && row->cached_ != 0)
        bbf_buf_printf(out, " (%" PRIu64 " more in thread caches)", row->cached_);
    else if (!comparable && row->netty_lives_ != BBF_NOT_TOLD)
        bbf_buf_printf(out, " (Netty counts %" PRIu64 " with its caches)", row->netty_lives_);
}

/* "40 of 40 buffers, 10.0 KiB of 10.0 KiB (9.8 KiB before rounding to size classes)" */
static void add_pool(struct bbf_buf *out, const struct bbf_snap_pool *row, bool sampled)
{
    bool bytes = row->netty_bytes_ != BBF_NOT_TOLD;
    bbf_buf_printf(out, "%s %s: ", bbf_json_pools[row->pool], bbf_memory_name(row->memory));
    add_lives(out, row);
    bbf_buf_str(out, ", ");
    bbf_text_bytes(out, bytes ? row->rounded_ : row->bytes_);
    if (bytes) {
        bbf_buf_str(out, sampled ? " followed, Netty has " : " of ");
        bbf_text_bytes(out, row->netty_bytes_);
    }
    if (bytes && row->rounded_ != row->bytes_) {
        bbf_buf_str(out, " (");
        bbf_text_bytes(out, row->bytes_);
        bbf_buf_str(out, " before rounding to size classes)");
    }
    if (!bytes && row->netty_lives_ == BBF_NOT_TOLD)
        bbf_buf_str(out, "; Netty has no number for these");
    if (row->reserved_ != BBF_NOT_TOLD) {
        uint64_t used = bytes ? row->netty_bytes_ : row->bytes_;
        bbf_buf_str(out, "; ");
        bbf_text_bytes(out, row->reserved_ > used ? row->reserved_ - used : 0);
        bbf_buf_str(out, " reserved by the pool");
    }
    bbf_buf_char(out, '\n');
}

/* Direct memory by what it is for: the pools' chunks, what of them buffers have, unpooled. */
struct direct {
    uint64_t chunks, in_use, unpooled;
};

static struct direct direct_of(const struct bbf_snap_reconciled *r)
{
    struct direct d = {0};
    for (size_t i = 0; i < r->n_pools; i++) {
        const struct bbf_snap_pool *row = &r->pools[i];
        bool told = row->netty_bytes_ != BBF_NOT_TOLD;
        if (row->memory != BBF_MEM_DIRECT)
            continue;
        if (row->pool == BBF_POOL_UNPOOLED) {
            d.unpooled += told ? row->netty_bytes_ : row->bytes_;
        } else if (row->reserved_ != BBF_NOT_TOLD) {
            d.chunks += row->reserved_;
            d.in_use += least(told ? row->netty_bytes_ : row->bytes_, row->reserved_);
        }
    }
    return d;
}

/*
 * A total of direct memory in its parts. Which of Netty's memory a total has depends on Netty, JDK
 * and settings (with or without java.nio's cleaner): the chunks if it is large enough for them,
 * then unpooled buffers (collected ones give theirs back to a cleaner). The rest is others'.
 */
static void add_total(struct bbf_buf *out, const char *name, uint64_t total,
                      const struct direct *direct)
{
    const struct direct d = total >= direct->chunks ? *direct : (struct direct){0};
    uint64_t unpooled = least(total - d.chunks, direct->unpooled);
    uint64_t other = total - d.chunks - unpooled;
    bbf_buf_printf(out, "%s ", name);
    bbf_text_bytes(out, total);
    bbf_buf_str(out, ": ");
    bbf_text_bytes(out, d.in_use);
    bbf_buf_str(out, " in use and ");
    bbf_text_bytes(out, d.chunks - d.in_use);
    bbf_buf_str(out, " reserved by the pool, ");
    bbf_text_bytes(out, unpooled);
    bbf_buf_str(out, " unpooled, ");
    bbf_text_bytes(out, other);
    bbf_buf_str(out, " not Netty's allocators'\n");
}

static void add_process(struct bbf_buf *out, const struct bbf_snap_reconciled *r)
{
    const struct direct d = direct_of(r);
    if (r->used_direct_ != BBF_NOT_TOLD)
        add_total(out, "usedDirectMemory", r->used_direct_, &d);
    if (r->nio_capacity_ != BBF_NOT_TOLD)
        add_total(out, "java.nio direct buffers", r->nio_capacity_, &d);
}

void bbf_reconciled_section(struct bbf_buf *out, const struct bbf_snap_reconciled *r)
{
    if (!r->read)
        return;
    bbf_buf_str(out, "\n=== Reconciled with Netty's own numbers ===\n");
    add_explained(out, r);
    for (size_t i = 0; i < r->n_pools; i++)
        add_pool(out, &r->pools[i], r->sampled);
    add_process(out, r);
    bbf_reconciled_causes(out, r, "");
}

static void add_told(struct bbf_buf *out, const char *glue, const char *name, uint64_t value)
{
    if (value != BBF_NOT_TOLD)
        bbf_buf_printf(out, "%s%s=%" PRIu64, glue, name, value);
}

void bbf_reconciled_rows(struct bbf_buf *out, const struct bbf_snap_reconciled *r)
{
    if (!r->read)
        return;
    bbf_buf_str(out, "\nRECONCILED:\n");
    for (size_t i = 0; i < r->n_pools; i++) {
        const struct bbf_snap_pool *row = &r->pools[i];
        bbf_buf_printf(out, "pool=%s|memory=%s", bbf_json_pools[row->pool],
                       bbf_memory_name(row->memory));
#define XX(name) add_told(out, "|", #name, row->name##_);
        BBF_POOL_COLUMNS(XX)
#undef XX
        bbf_buf_char(out, '\n');
    }
    bbf_buf_str(out, "process");
#define XX(name) add_told(out, "|", #name, r->name##_);
    BBF_PROCESS_COUNTS(XX)
#undef XX
    bbf_buf_char(out, '\n');
    bbf_reconciled_causes(out, r, "cause=");
}
