#include "render/text.h"

#include <inttypes.h>
#include <string.h>

#include "render/cost.h"

#define REPLACEMENT 0xFFFDu

size_t bbf_utf8_next(const char *p, const char *end, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*p;
    size_t len;

    if (first < 0x80) {
        *code = first;
        return 1;
    }
    *code = REPLACEMENT;
    if (first >= 0xF0 && first < 0xF5)
        len = 4;
    else if (first >= 0xE0 && first < 0xF0)
        len = 3;
    else if (first >= 0xC2 && first < 0xE0)
        len = 2;
    else
        return 1;
    if ((size_t)(end - p) < len)
        return 1;
    uint32_t value = first & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        unsigned char c = (unsigned char)p[i];
        if ((c & 0xC0) != 0x80)
            return 1;
        value = value << 6 | (c & 0x3Fu);
    }
    if (value < least[len] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 1;
    *code = value;
    return len;
}

/* Controls, line and paragraph separators, and the marks that turn the reading direction. */
static bool is_unsafe(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x200E || code == 0x200F ||
           code == 0x061C || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

void bbf_text_safe(struct bbf_buf *out, const char *text, char also)
{
    const char *end = text + strlen(text);
    const char *plain = text; /* start of what can be copied as it is */

    for (const char *p = text; p < end;) {
        uint32_t code;
        size_t len = bbf_utf8_next(p, end, &code);
        bool bad = code == REPLACEMENT && len == 1;
        if (bad || is_unsafe(code) || (also != '\0' && *p == also)) {
            bbf_buf_add(out, plain, (size_t)(p - plain));
            if (bad)
                bbf_buf_str(out, "\xEF\xBF\xBD");
            else
                bbf_buf_printf(out, "\\u%04" PRIx32, code);
            plain = p + len;
        }
        p += len;
    }
    bbf_buf_add(out, plain, (size_t)(end - plain));
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

const char *bbf_ref_name(uint8_t bucket)
{
    static const char *const names[] = {"0", "1", "3", "6"};
    return names[bucket];
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

void bbf_text_opener(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                     const struct bbf_snap_leak *leak, char also)
{
    const char *name = bbf_snapshot_thread(snapshot, leak->thread);

    if (leak->thread == 0)
        return;
    if (name != NULL)
        bbf_text_safe(out, name, also);
    else
        bbf_buf_printf(out, "thread %" PRIu64 " (ended)", leak->thread);
    if (leak->thread_count < leak->count)
        bbf_buf_printf(out, " (%" PRIu64 " of %" PRIu64 ")", leak->thread_count, leak->count);
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

/* "<prefix>12 <one or many>" when count is not 0. */
static size_t head_count(struct bbf_buf *out, const char *prefix, uint64_t count, const char *one,
                         const char *many)
{
    if (count == 0)
        return 0;
    bbf_buf_printf(out, "%s%" PRIu64 " %s\n", prefix, count, count == 1 ? one : many);
    return 1;
}

static size_t head_totals(struct bbf_buf *out, const struct bbf_snap_totals *t, const char *prefix)
{
    const struct {
        uint64_t count;
        const char *one, *many;
    } lines[] = {
        {t->untracked_classes_, "ByteBuf class not followed", "ByteBuf classes not followed"},
        {t->dropped_lives_, "buffer not followed: a limit was reached (dropped_lives)",
         "buffers not followed: a limit was reached (dropped_lives)"},
        {t->dropped_steps_, "step not recorded: a limit was reached (dropped_steps)",
         "steps not recorded: a limit was reached (dropped_steps)"},
        {t->raced_steps_, "raced step: two threads used a buffer at once, its path is uncertain",
         "raced steps: two threads used a buffer at once, those paths are uncertain"},
        {t->holders_unknown_, "object could not be looked into for a buffer (holders_unknown)",
         "objects could not be looked into for a buffer (holders_unknown)"},
        {t->elements_cut_,
         "element of an array or list was not looked at: option maxElements (elements_cut)",
         "elements of arrays or lists were not looked at: option maxElements (elements_cut)"},
        {t->no_weakref_,
         "buffer without garbage detection: its leak would not be seen (no_weakref)",
         "buffers without garbage detection: their leak would not be seen (no_weakref)"},
        {t->untouched_classes_, "class left as it was (untouched_classes)",
         "classes left as they were (untouched_classes)"},
        {t->untouched_methods_, "method left as it was (untouched_methods)",
         "methods left as they were (untouched_methods)"},
        {t->entry_only_methods_, "method followed at its entry only (entry_only_methods)",
         "methods followed at their entry only (entry_only_methods)"},
        {t->unknown_, "buffer whose end is unknown", "buffers whose end is unknown"},
        {t->internal_errors_, "internal error of bbflow: see its log",
         "internal errors of bbflow: see its log"},
    };
    size_t count = 0;

    if (t->sampled_ > 0) {
        bbf_buf_printf(out,
                       "%sestimated: 1 buffer in %" PRIu64 " was followed (sample=%" PRIu64
                       "), and stands for that many\n",
                       prefix, t->sampled_, t->sampled_);
        count++;
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        count += head_count(out, prefix, lines[i].count, lines[i].one, lines[i].many);
    return count;
}

size_t bbf_text_head(struct bbf_buf *out, const struct bbf_snapshot *snapshot, const char *prefix)
{
    size_t count = snapshot->n_notes + snapshot->jvm.n_map_mode;

    for (size_t i = 0; i < snapshot->n_notes; i++) {
        bbf_buf_str(out, prefix);
        bbf_text_safe(out, snapshot->notes[i], '\0');
        bbf_buf_char(out, '\n');
    }
    for (size_t i = 0; i < snapshot->jvm.n_map_mode; i++) {
        bbf_buf_printf(out, "%swithout the hidden field: ", prefix);
        bbf_text_safe(out, snapshot->jvm.map_mode[i], '\0');
        bbf_buf_char(out, '\n');
    }
    count += head_totals(out, &snapshot->totals, prefix);
    count += bbf_cost_head(out, &snapshot->cost, prefix);
    for (size_t i = 0; i < snapshot->n_limits; i++) {
        const struct bbf_snap_limit *limit = &snapshot->limits[i];
        if (limit->hit == 0)
            continue;
        bbf_buf_printf(out, "%slimit ", prefix);
        bbf_text_safe(out, limit->name, '\0');
        bbf_buf_printf(out, " reached %" PRIu64 " %s (used %" PRIu64 " of %" PRIu64 "): option ",
                       limit->hit, limit->hit == 1 ? "time" : "times", limit->used, limit->limit);
        bbf_text_safe(out, limit->name, '\0');
        bbf_buf_str(out, " raises it\n");
        count++;
    }
    return count;
}
