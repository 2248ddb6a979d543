/* SPDX-License-Identifier: Apache-2.0 */
#include "render/pins.h"

#include <inttypes.h>

#include "render/json_names.h"
#include "render/text.h"

static uint64_t told(uint64_t number)
{
    return number != BBF_NOT_TOLD ? number : 0;
}

struct bbf_pinned bbf_pins_sum(const struct bbf_snapshot *s, enum bbf_memory memory)
{
    struct bbf_pinned sum = {0};

    for (size_t i = 0; i < s->reconciled.n_pools; i++) {
        const struct bbf_snap_pool *row = &s->reconciled.pools[i];
        if (row->memory != memory)
            continue;
        sum.chunks += told(row->pinned_chunks_);
        sum.bytes += told(row->pinned_bytes_);
        sum.free += told(row->pinned_free_);
        sum.by += told(row->pinned_by_);
    }
    return sum;
}

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* All chunks of the pools of that memory; 0: not known. */
static uint64_t reserved(const struct bbf_snapshot *s, enum bbf_memory memory)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < s->reconciled.n_pools; i++)
        if (s->reconciled.pools[i].memory == memory)
            bytes += told(s->reconciled.pools[i].reserved_);
    return bytes;
}

static void add_sum(struct bbf_buf *out, const struct bbf_view *view, enum bbf_memory memory,
                    const struct bbf_pinned *sum)
{
    const uint64_t all = reserved(view->snapshot, memory);

    bbf_buf_printf(out, "%s%" PRIu64 " chunk%s, ",
                   view->snapshot->reconciled.sampled ? "at least " : "", sum->chunks,
                   plural(sum->chunks));
    bbf_text_bytes(out, sum->bytes);
    if (all >= sum->bytes) {
        bbf_buf_str(out, " of ");
        bbf_text_bytes(out, all);
    }
    bbf_buf_printf(out, " reserved, kept by %" PRIu64 " open buffer%s; ", sum->by, plural(sum->by));
    bbf_text_bytes(out, sum->free);
    bbf_buf_str(out, " of it is free\n");
}

static void add_pin(struct bbf_buf *out, const struct bbf_view *view,
                    const struct bbf_snap_pin *pin, uint64_t all)
{
    bbf_buf_printf(out, "%" PRIu64 " of %" PRIu64 " at ", pin->buffers,
                   all > pin->buffers ? all : pin->buffers);
    bbf_view_name(out, view, pin->node);
    bbf_buf_str(out, ", ");
    bbf_text_bytes(out, pin->smallest);
    if (pin->largest != pin->smallest) {
        bbf_buf_str(out, " to ");
        bbf_text_bytes(out, pin->largest);
    }
    bbf_buf_str(out, pin->buffers > 1 ? " each" : "");
    if (pin->chunks != 0) {
        bbf_buf_printf(out, ": %" PRIu64 " chunk%s, ", pin->chunks, plural(pin->chunks));
        bbf_text_bytes(out, pin->reserved);
    }
    bbf_buf_char(out, '\n');
}

void bbf_pins_text(struct bbf_buf *out, const struct bbf_view *view, enum bbf_memory memory,
                   const char *indent, size_t most)
{
    const struct bbf_snapshot *s = view->snapshot;
    const struct bbf_pinned sum = bbf_pins_sum(s, memory);
    size_t shown = 0;

    if (sum.chunks == 0)
        return;
    bbf_buf_str(out, indent);
    add_sum(out, view, memory, &sum);
    for (size_t i = 0; i < s->n_pins && shown < most; i++) {
        if (s->pins[i].memory != memory)
            continue;
        bbf_buf_str(out, indent);
        add_pin(out, view, &s->pins[i], sum.by);
        shown++;
    }
}

void bbf_pins_section(struct bbf_buf *out, const struct bbf_view *view, size_t most)
{
    const char *title = "\n=== Chunks Pinned by Small Buffers ===\n";

    for (int m = BBF_MEM_DIRECT; m <= BBF_MEM_HEAP; m++) {
        if (bbf_pins_sum(view->snapshot, (enum bbf_memory)m).chunks == 0)
            continue;
        bbf_buf_printf(out, "%s%s:\n", title, bbf_memory_name((enum bbf_memory)m));
        bbf_pins_text(out, view, (enum bbf_memory)m, "  ", most);
        title = "";
    }
}

void bbf_pins_rows(struct bbf_buf *out, const struct bbf_view *view)
{
    const struct bbf_snapshot *s = view->snapshot;

    if (s->n_pins == 0)
        return;
    bbf_buf_str(out, "\nPINNED CHUNKS:\n");
    for (size_t i = 0; i < s->n_pins && !out->failed; i++) {
        const struct bbf_snap_pin *pin = &s->pins[i];
        bbf_buf_printf(out,
                       "pool=%s|memory=%s|buffers=%" PRIu64 "|bytes=%" PRIu64 "|smallest=%" PRIu64
                       "|largest=%" PRIu64 "|chunks=%" PRIu64 "|reserved=%" PRIu64 "|at=",
                       bbf_json_pools[pin->pool], bbf_memory_name(pin->memory), pin->buffers,
                       pin->bytes, pin->smallest, pin->largest, pin->chunks, pin->reserved);
        bbf_view_name(out, view, pin->node);
        bbf_buf_char(out, '\n');
    }
}
