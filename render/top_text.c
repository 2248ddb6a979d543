/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/top_text.c - the table of `bbflow top` in an order, and as lines of columns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/growth.h"
#include "render/text.h"
#include "render/top.h"

/* ---- the order ---- */

static const struct {
    const char *word;
    int key;
} orders[] = {
#define XX(id, key, word) {#word, key},
    BBF_TOP_ORDERS(XX)
#undef XX
};

const char *bbf_top_order_name(enum bbf_top_order order)
{
    return orders[order].word;
}

enum bbf_top_order bbf_top_order_of(const char *word)
{
    unsigned i = 0;

    while (i < BBF_TOP_N_ORDERS && strcmp(orders[i].word, word) != 0)
        i++;
    return (enum bbf_top_order)i;
}

enum bbf_top_order bbf_top_order_of_key(int key)
{
    unsigned i = 0;

    while (i < BBF_TOP_N_ORDERS && orders[i].key != key)
        i++;
    return (enum bbf_top_order)i;
}

static double value_of(const struct bbf_top_place *p, enum bbf_top_order order)
{
    switch (order) {
    case BBF_TOP_LOST:
        return (double)p->lost;
    case BBF_TOP_NEW:
        return (double)p->fresh;
    case BBF_TOP_RATE:
        return p->passed != 0 ? (double)p->lost / (double)p->passed : 0;
    case BBF_TOP_BYTES:
        return (double)p->bytes;
    case BBF_TOP_SPEED:
        return p->bytes_speed;
    case BBF_TOP_OLDEST:
        return (double)p->oldest_seconds;
    default:
        return -(double)p->number;
    }
}

struct chosen {
    enum bbf_top_order order;
    int sign;
};

static int compare(const void *a, const void *b, void *ctx)
{
    const struct bbf_top_place *x = a, *y = b;
    const struct chosen *chosen = ctx;
    int result = 0;

    if (chosen->order == BBF_TOP_PLACE) {
        result = strcmp(x->place, y->place);
    } else {
        double left = value_of(x, chosen->order), right = value_of(y, chosen->order);
        result = (left < right) - (left > right);
    }
    if (result == 0)
        return (x->number > y->number) - (x->number < y->number);
    return chosen->sign * result;
}

void bbf_top_sort(struct bbf_top *top, enum bbf_top_order order, bool inverted)
{
    struct chosen chosen = {order, inverted ? -1 : 1};

    qsort_r(top->places, top->n, sizeof *top->places, compare, &chosen);
}

/* ---- the columns ---- */

enum { VERDICT, LOST, NEW, RATE, BYTES, SPEED, OLDEST, COLUMNS, PLACE_LEAST = 24, CELL = 32 };

/* `leave`: which column a narrow screen loses first. LOST always fits. */
static const struct {
    const char *head;
    int width;
    unsigned leave;
} columns[COLUMNS] = {
    [VERDICT] = {"", 4, 6},     [LOST] = {"LOST", 9, 7},    [NEW] = {"NEW", 6, 1},
    [RATE] = {"RATE", 6, 4},    [BYTES] = {"BYTES", 10, 5}, [SPEED] = {"SPEED", 13, 2},
    [OLDEST] = {"OLDEST", 6, 3}};

/* A set of bits 1 << column that leaves room for a place's name. */
static unsigned shown_in(size_t width)
{
    unsigned shown = (1u << COLUMNS) - 1;

    for (unsigned leave = 1; width != 0 && leave < COLUMNS; leave++) {
        size_t sum = 0;
        for (unsigned i = 0; i < COLUMNS; i++)
            sum += (shown >> i & 1) != 0 ? (size_t)columns[i].width + 1 : 0;
        if (sum + PLACE_LEAST <= width)
            break;
        for (unsigned i = 0; i < COLUMNS; i++)
            if (columns[i].leave == leave)
                shown &= ~(1u << i);
    }
    return shown;
}

static void add_cell(struct bbf_buf *out, unsigned column, const char *text)
{
    bbf_buf_printf(out, column == VERDICT ? "%-*s " : "%*s ", columns[column].width, text);
}

void bbf_top_columns(struct bbf_buf *out, size_t width)
{
    const unsigned shown = shown_in(width);

    for (unsigned i = 0; i < COLUMNS; i++)
        if ((shown >> i & 1) != 0)
            add_cell(out, i, columns[i].head);
    bbf_buf_str(out, "LOOK AT");
}

/* "59s", "10m", "3h", "12d" */
static void add_age(struct bbf_buf *out, uint64_t seconds)
{
    if (seconds < 120)
        bbf_buf_printf(out, "%" PRIu64 "s", seconds);
    else if (seconds < 7200)
        bbf_buf_printf(out, "%" PRIu64 "m", seconds / 60);
    else if (seconds < 172800)
        bbf_buf_printf(out, "%" PRIu64 "h", seconds / 3600);
    else
        bbf_buf_printf(out, "%" PRIu64 "d", seconds / 86400);
}

/* A number of nine digits still fits; a larger one is given in millions. */
static void add_count(struct bbf_buf *out, uint64_t n)
{
    if (n < 10000000)
        bbf_text_grouped(out, n);
    else if (n < UINT64_C(10000000000000))
        bbf_buf_printf(out, "%" PRIu64 "M", n / 1000000);
    else
        bbf_buf_printf(out, "%.1e", (double)n);
}

static void add_value(struct bbf_buf *out, const struct bbf_top *top, const struct bbf_top_place *p,
                      unsigned column)
{
    switch (column) {
    case VERDICT:
        bbf_buf_str(out, p->proven ? "LEAK" : "OPEN");
        break;
    case LOST:
        add_count(out, p->lost);
        break;
    case NEW:
        if (top->compared && p->fresh < 100000)
            bbf_buf_printf(out, "+%" PRIu64, p->fresh);
        else if (top->compared)
            bbf_buf_printf(out, "+%.0e", (double)p->fresh);
        break;
    case RATE:
        bbf_text_share(out, p->lost, p->passed);
        break;
    case BYTES:
        bbf_text_bytes(out, p->bytes);
        break;
    case SPEED:
        if (p->lives_speed > 0)
            bbf_growth_per_minute(out, p->bytes_speed, p->lives_speed, 1);
        break;
    default:
        if (p->oldest_seconds != 0)
            add_age(out, p->oldest_seconds);
        break;
    }
    if (out->len == 0)
        bbf_buf_char(out, '-');
}

void bbf_top_row(struct bbf_buf *out, const struct bbf_top *top, size_t place, size_t width)
{
    const struct bbf_top_place *p = &top->places[place];
    const unsigned shown = shown_in(width);
    struct bbf_buf cell = BBF_BUF_INIT;

    for (unsigned i = 0; i < COLUMNS; i++) {
        if ((shown >> i & 1) == 0)
            continue;
        cell.len = 0;
        add_value(&cell, top, p, i);
        add_cell(out, i, bbf_buf_cstr(&cell));
    }
    out->failed = out->failed || cell.failed;
    bbf_buf_free(&cell);
    bbf_buf_str(out, p->place);
}

void bbf_top_text(struct bbf_buf *out, const struct bbf_top *top)
{
    bbf_buf_printf(out, "%s  %s\n", top->title, top->clock);
    bbf_buf_str(out, top->notes);
    bbf_buf_printf(out, "%s\n", top->totals);
    if (top->memory[0] != '\0')
        bbf_buf_printf(out, "%s\n", top->memory);
    if (top->n > 0) {
        bbf_top_columns(out, 0);
        bbf_buf_char(out, '\n');
    }
    for (size_t i = 0; i < top->n; i++) {
        bbf_top_row(out, top, i, 0);
        bbf_buf_char(out, '\n');
    }
}
