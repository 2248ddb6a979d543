/* SPDX-License-Identifier: Apache-2.0 */
#include "client/netty_pins.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/err.h"
#include "render/path.h"
#include "render/text.h"

enum { PATH_BYTES = 240, PATHS = 2 };

/* A chunk, what of it is used, and the paths of two of its buffers. */
struct pin {
    uint64_t address, bytes, used, buffers;
    int64_t start_ns; /* no buffer in it is older */
    bool is_returned;
    uint32_t nodes[PATHS];
    size_t n_nodes;
};

static int by_address(const void *a, const void *b)
{
    const struct pin *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static bool is_pinned(const struct pin *pin)
{
    return pin->buffers > 0 && pin->used < pin->bytes / 100 * BBF_NETTY_PINNED_PERCENT;
}

/* Pinned ones first, and of these the one that wastes most. */
static int by_waste(const void *a, const void *b)
{
    const struct pin *x = a, *y = b;
    uint64_t x_waste = is_pinned(x) ? x->bytes - x->used : 0,
             y_waste = is_pinned(y) ? y->bytes - y->used : 0;

    if (x_waste != y_waste)
        return x_waste > y_waste ? -1 : 1;
    return by_address(a, b);
}

static struct pin *pin_of(struct pin *pins, size_t n, uint64_t address)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pins[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address - pins[low - 1].address < pins[low - 1].bytes ? &pins[low - 1] : NULL;
}

static void add_buffer(struct pin *pin, const struct bbf_netty_life *life)
{
    bool is_known = life->node == BBF_NETTY_BEFORE; /* it has no path */

    if (pin->is_returned && life->start_ns < pin->start_ns)
        return; /* its end was not recorded: the chunk was empty since */
    pin->buffers++;
    pin->used += life->bytes;
    for (size_t i = 0; i < pin->n_nodes; i++)
        is_known = is_known || pin->nodes[i] == life->node;
    if (!is_known && pin->n_nodes < PATHS)
        pin->nodes[pin->n_nodes++] = life->node;
}

/* NULL: no memory. */
static struct pin *find_pins(const struct bbf_netty_state *s)
{
    struct pin *pins = calloc(s->chunks.n + 1, sizeof *pins);
    size_t n = 0;

    for (size_t i = 0; pins != NULL && i < s->chunks.room; i++) {
        const struct bbf_netty_life *chunk = &s->chunks.places[i];
        if (chunk->address != 0)
            pins[n++] = (struct pin){.address = chunk->address,
                                     .bytes = chunk->bytes,
                                     .start_ns = chunk->start_ns,
                                     .is_returned = chunk->node != 0};
    }
    if (pins == NULL || n == 0)
        return pins;
    qsort(pins, n, sizeof *pins, by_address);
    for (size_t i = 0; i < s->buffers.room; i++) {
        const struct bbf_netty_life *life = &s->buffers.places[i];
        struct pin *pin = life->address != 0 ? pin_of(pins, n, life->address) : NULL;
        if (pin != NULL)
            add_buffer(pin, life);
    }
    return pins;
}

static void add_path(struct bbf_buf *out, const struct bbf_snapshot *to, uint32_t node)
{
    struct bbf_path path = BBF_PATH_INIT;

    for (int64_t at = node; at >= 0; at = to->nodes[at].parent) {
        const struct bbf_snap_site *site = &to->sites[to->nodes[at].site];
        if (!bbf_path_climb(&path, site->class_name, site->method))
            break;
    }
    bbf_path_text(out, &path, BBF_CLASS_SIMPLE, PATH_BYTES);
}

static int note_pin(struct bbf_snapshot *to, const struct pin *pin)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_buf_printf(&text, "pinned: %" PRIu64 " %s of ", pin->buffers,
                   pin->buffers == 1 ? "buffer" : "buffers");
    bbf_text_bytes(&text, pin->used);
    bbf_buf_printf(&text, " %s the chunk 0x%" PRIX64 " of ", pin->buffers == 1 ? "keeps" : "keep",
                   pin->address);
    bbf_text_bytes(&text, pin->bytes);
    for (size_t i = 0; i < pin->n_nodes; i++) {
        bbf_buf_str(&text, i == 0 ? ": " : "; ");
        add_path(&text, to, pin->nodes[i]);
    }
    int err = text.failed ? BBF_ENOMEM
                          : bbf_snapshot_add_text(&to->notes, &to->n_notes, bbf_buf_cstr(&text));
    bbf_buf_free(&text);
    return err;
}

static int note_sums(struct bbf_snapshot *to, const struct pin *pins, size_t n)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct pin sum = {0};
    uint64_t empty = 0, returned = 0, pinned = 0;

    for (size_t i = 0; i < n; i++) {
        sum.bytes += pins[i].bytes;
        sum.used += pins[i].used;
        empty += pins[i].buffers == 0;
        returned += pins[i].buffers == 0 && pins[i].is_returned;
        pinned += is_pinned(&pins[i]);
    }
    bbf_buf_printf(&text, "%zu direct %s: ", n, n == 1 ? "chunk" : "chunks");
    bbf_text_bytes(&text, sum.bytes);
    bbf_buf_str(&text, " reserved, ");
    bbf_text_bytes(&text, sum.used);
    bbf_buf_printf(&text,
                   " in use by buffers of this recording; %" PRIu64
                   " without such a buffer (%" PRIu64 " of them given back for reuse), %" PRIu64
                   " pinned (less than %d%% in use)",
                   empty, returned, pinned, BBF_NETTY_PINNED_PERCENT);
    int err = text.failed ? BBF_ENOMEM
                          : bbf_snapshot_add_text(&to->notes, &to->n_notes, bbf_buf_cstr(&text));
    bbf_buf_free(&text);
    return err;
}

static int note_unplaced(struct bbf_snapshot *to, uint64_t n)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_buf_printf(&text,
                   "%" PRIu64 " direct %s without an address: which buffers %s cannot be known", n,
                   n == 1 ? "chunk is" : "chunks are", n == 1 ? "keep it" : "keep them");
    int err = text.failed ? BBF_ENOMEM
                          : bbf_snapshot_add_text(&to->notes, &to->n_notes, bbf_buf_cstr(&text));
    bbf_buf_free(&text);
    return err;
}

int bbf_netty_note_pins(struct bbf_snapshot *to, const struct bbf_netty_state *s)
{
    size_t n = s->chunks.n;
    int err = s->chunks_unplaced > 0 ? note_unplaced(to, s->chunks_unplaced) : BBF_OK;

    if (err != BBF_OK || n == 0)
        return err;
    struct pin *pins = find_pins(s);
    if (pins == NULL)
        return BBF_ENOMEM;
    err = note_sums(to, pins, n);
    qsort(pins, n, sizeof *pins, by_waste);
    for (size_t i = 0; err == BBF_OK && i < n && i < BBF_NETTY_PINS_SHOWN && is_pinned(&pins[i]);
         i++)
        err = note_pin(to, &pins[i]);
    free(pins);
    return err;
}
