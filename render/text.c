/* SPDX-License-Identifier: Apache-2.0 */
#include "render/text.h"

#include <inttypes.h>
#include <string.h>

void bbf_text_safe(struct bbf_buf *out, const char *text, char also)
{
    bbf_safe_add(out, text, strlen(text), BBF_SAFE_VALUE, also);
}

void bbf_text_bytes(struct bbf_buf *out, uint64_t bytes)
{
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned shift = 10;
    size_t i = 0;

    if (bytes < 1024) {
        bbf_buf_printf(out, "%" PRIu64 " B", bytes);
        return;
    }
    /* 1023.95 KiB and more is 1.0 MiB, not 1024.0 KiB. */
    while (i < 5 && (bytes >> shift) >= 1023 &&
           ((bytes >> shift) >= 1024 ||
            (bytes & ((UINT64_C(1) << shift) - 1)) * 20 >= (UINT64_C(19) << shift))) {
        shift += 10;
        i++;
    }
    uint64_t whole = bytes >> shift;
    /* Ten bits of fraction are enough for a tenth and keep the product within 64 bits. */
    uint64_t fraction = bytes >> (shift - 10) & 1023;
    uint64_t tenths = (fraction * 10 + 512) / 1024;
    bbf_buf_printf(out, "%" PRIu64 ".%" PRIu64 " %s", whole + tenths / 10, tenths % 10, unit[i]);
}

void bbf_text_grouped(struct bbf_buf *out, uint64_t n)
{
    struct bbf_buf digits = BBF_BUF_INIT;

    bbf_text_number(&digits, n);
    for (size_t i = 0; i < digits.len; i++) {
        if (i > 0 && (digits.len - i) % 3 == 0)
            bbf_buf_char(out, ',');
        bbf_buf_char(out, digits.data[i]);
    }
    out->failed = out->failed || digits.failed;
    bbf_buf_free(&digits);
}

void bbf_text_percent(struct bbf_buf *out, uint64_t part, uint64_t whole)
{
    uint64_t hundredths;

    if (whole == 0 || part == 0)
        hundredths = 0;
    else if (part > UINT64_MAX / 20000)
        /* Too large to multiply: whole / 20000 is exact enough. */
        hundredths = (part / ((whole / 20000) != 0 ? whole / 20000 : 1) + 1) / 2;
    else
        hundredths = (part * 20000 / whole + 1) / 2;
    bbf_buf_printf(out, "%" PRIu64 ".%02" PRIu64 "%%", hundredths / 100, hundredths % 100);
}

void bbf_text_share(struct bbf_buf *out, uint64_t part, uint64_t whole)
{
    double percent = whole != 0 ? 100.0 * (double)part / (double)whole : 0;

    if (part >= whole)
        bbf_buf_str(out, "100%");
    else if (percent < 0.1)
        bbf_buf_str(out, part == 0 ? "0%" : "<0.1%");
    else
        bbf_buf_printf(out, percent > 99.9 ? ">99.9%%" : "%.1f%%", percent);
}

const char *bbf_ref_name(uint8_t bucket)
{
    static const char *const names[] = {"0", "1", "3", "6"};
    return names[bucket];
}

void bbf_text_lost_bytes(struct bbf_buf *out, uint64_t bytes, enum bbf_memory memory)
{
    if (bytes == 0 && memory == BBF_MEM_COMPOSITE) {
        bbf_buf_str(out, "composite, its bytes are its components'");
        return;
    }
    bbf_text_bytes(out, bytes);
    bbf_buf_printf(out, " %s", bbf_memory_name(memory));
}

const char *bbf_lost_text(enum bbf_lost lost)
{
    switch (lost) {
    case BBF_LOST_FOR_GOOD:
        return "lost for good";
    case BBF_LOST_COUNTER:
        return "lost in Netty's counter only";
    case BBF_LOST_NOTHING:
        return "freed by the garbage collector";
    case BBF_LOST_UNKNOWN:
        break;
    }
    return "";
}

void bbf_text_thread_share(struct bbf_buf *out, const char *name, uint64_t id, uint64_t part,
                           uint64_t count, char also)
{
    if (name != NULL)
        bbf_text_safe(out, name, also);
    else
        bbf_buf_printf(out, "thread %" PRIu64 " (ended)", id);
    if (part < count)
        bbf_buf_printf(out, " (%" PRIu64 " of %" PRIu64 ")", part, count);
}

void bbf_text_opener(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                     const struct bbf_snap_leak *leak, char also)
{
    if (leak->thread != 0)
        bbf_text_thread_share(out, bbf_snapshot_thread(snapshot, leak->thread), leak->thread,
                              leak->thread_count, leak->count, also);
}

const char *bbf_memory_name(enum bbf_memory memory)
{
    switch (memory) {
    case BBF_MEM_DIRECT:
        return "direct";
    case BBF_MEM_HEAP:
        return "heap";
    case BBF_MEM_COMPOSITE:
        return "composite";
    case BBF_MEM_UNKNOWN:
        break;
    }
    return "unknown";
}
