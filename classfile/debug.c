/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/debug.h"

#include <stddef.h>

enum { LINE_SIZE = 4, LOCAL_SIZE = 10, NESTING_MAX = 32 };

static uint32_t map_debug(const struct cf__map *map, uint32_t pc)
{
    return pc == 0 ? 0 : cf__map_near(map, pc);
}

bool cf__lines_move(const struct cf__map *map, uint8_t *p, uint32_t len)
{
    const uint8_t *end = p + len;

    if (len < 2 || (size_t)cf__u2(p) * LINE_SIZE != len - 2)
        return false;
    for (p += 2; p < end; p += LINE_SIZE) {
        uint32_t to = map_debug(map, cf__u2(p));

        if (to >= map->new_len) /* includes CF__NOWHERE: a line starts at an instruction */
            return false;
        cf__put2(p, to);
    }
    return true;
}

/* The start, length pair at p. */
static bool move_range(const struct cf__map *map, uint8_t *p)
{
    uint32_t old_start = cf__u2(p), start = map_debug(map, old_start);
    uint32_t end = cf__map_near(map, old_start + cf__u2(p + 2));

    if (start == CF__NOWHERE || end == CF__NOWHERE || end < start)
        return false;
    cf__put2(p, start);
    cf__put2(p + 2, end - start);
    return true;
}

bool cf__locals_move(const struct cf__map *map, uint8_t *p, uint32_t len)
{
    const uint8_t *end = p + len;

    if (len < 2 || (size_t)cf__u2(p) * LOCAL_SIZE != len - 2)
        return false;
    for (p += 2; p < end; p += LOCAL_SIZE)
        if (!move_range(map, p))
            return false;
    return true;
}

static uint8_t *skip_value(uint8_t *p, const uint8_t *end, int depth);

/* An annotation without its target: type_index, pairs of name and value (JVMS 4.7.16). */
static uint8_t *skip_annotation(uint8_t *p, const uint8_t *end, int depth)
{
    uint32_t pairs;

    if (depth > NESTING_MAX || end - p < 4)
        return NULL;
    pairs = cf__u2(p + 2);
    for (p += 4; pairs > 0; pairs--)
        if (end - p < 2 || (p = skip_value(p + 2, end, depth + 1)) == NULL)
            return NULL;
    return p;
}

/* JVMS 4.7.16.1 */
static uint8_t *skip_value(uint8_t *p, const uint8_t *end, int depth)
{
    uint32_t count;

    if (depth > NESTING_MAX || end - p < 3)
        return NULL;
    switch (*p++) {
    case 'B':
    case 'C':
    case 'D':
    case 'F':
    case 'I':
    case 'J':
    case 'S':
    case 'Z':
    case 's':
    case 'c':
        return p + 2;
    case 'e':
        return end - p < 4 ? NULL : p + 4;
    case '@':
        return skip_annotation(p, end, depth + 1);
    case '[':
        count = cf__u2(p);
        for (p += 2; count > 0; count--)
            if ((p = skip_value(p, end, depth + 1)) == NULL)
                return NULL;
        return p;
    default:
        return NULL;
    }
}

/* localvar_target: a table of ranges with their local. */
static uint8_t *move_localvar_target(const struct cf__map *map, uint8_t *p, const uint8_t *end)
{
    uint32_t count;

    if (end - p < 2)
        return NULL;
    count = cf__u2(p);
    for (p += 2; count > 0; count--, p += 6) {
        if (end - p < 6)
            return NULL;
        (void)move_range(map, p); /* an impossible range stays impossible */
    }
    return p;
}

/* Move target_info of `type` (JVMS table 4.7.20-A, 4.7.20.1). Returns the end of it, or NULL. */
static uint8_t *move_target(const struct cf__map *map, uint8_t *p, const uint8_t *end, uint8_t type)
{
    if (type == 0x40 || type == 0x41)
        return move_localvar_target(map, p, end);
    if (type >= 0x43 && type <= 0x4B) { /* offset_target, type_argument_target */
        ptrdiff_t size = type >= 0x47 ? 3 : 2;
        uint32_t to;

        if (end - p < size)
            return NULL;
        to = cf__map_insn(map, cf__u2(p));
        if (to <= UINT16_MAX)
            cf__put2(p, to);
        return p + size;
    }
    if (type == 0x42) /* catch_target: an index of the exception table */
        return end - p < 2 ? NULL : p + 2;
    /* The others belong to declarations, but their sizes are known. */
    if (type == 0x00 || type == 0x01 || type == 0x16)
        return end - p < 1 ? NULL : p + 1;
    if ((type >= 0x10 && type <= 0x12) || type == 0x17)
        return end - p < 2 ? NULL : p + 2;
    return type >= 0x13 && type <= 0x15 ? p : NULL;
}

void cf__annotations_move(const struct cf__map *map, uint8_t *p, uint32_t len)
{
    const uint8_t *end = p + len;
    uint32_t count;

    if (len < 2)
        return;
    count = cf__u2(p);
    for (p += 2; count > 0; count--) {
        uint32_t path;

        if (end - p < 1 || (p = move_target(map, p + 1, end, *p)) == NULL || end - p < 1)
            return;
        path = 2u * *p++;
        if ((size_t)(end - p) < path || (p = skip_annotation(p + path, end, 0)) == NULL)
            return;
    }
}
