/* link: bbf_client bbf_render bbf_trie bbf_wire bbf_core */
/* client/show.h: what an answer becomes is not much longer than the answer. */
#include "client/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CELLS = 255, CELL = 200, BUCKETS = 10000 };

static struct bbf_value string(char *text, size_t len)
{
    return (struct bbf_value){.kind = BBF_VALUE_STRING, .text = {text, len}};
}

static void add_buckets(struct bbf_buf *text)
{
    for (int i = 0; i < BUCKETS; i++)
        bbf_buf_str(text, i == 0 ? "1" : ",1");
}

/* Each bucket has a line; the cells before it must not indent all of them. */
static void a_histogram_behind_many_cells_is_bounded(void **state)
{
    static char wide[CELL];
    static struct bbf_value cells[CELLS + 1];
    struct bbf_row row = {.cells = cells, .n_cells = CELLS + 1};
    struct bbf_command grid = {.type = BBF_CMD_GRID_DATA, .rows = &row, .n_rows = 1};
    struct bbf_buf text = BBF_BUF_INIT, out = BBF_BUF_INIT;
    (void)state;

    memset(wide, 'w', sizeof wide);
    for (size_t i = 0; i < CELLS; i++)
        cells[i] = string(wide, sizeof wide);
    bbf_buf_str(&text, "HistogramData[");
    add_buckets(&text);
    bbf_buf_str(&text, "][");
    add_buckets(&text);
    bbf_buf_str(&text, "]");
    (void)bbf_buf_cstr(&text);
    cells[CELLS] = string(text.data, text.len);
    bbf_show(&out, &grid);
    assert_false(out.failed);
    assert_in_range(out.len, BUCKETS, (size_t)4 << 20);
    const char *second = strchr(bbf_buf_cstr(&out), '\n');
    assert_non_null(second);
    assert_int_equal(strspn(second + 1, " "), 200);
    assert_true(strncmp(second + 201, "1: 1\n", 5) == 0);
    bbf_buf_free(&text);
    bbf_buf_free(&out);
}

static size_t pieces, longest;

static void take_away(void *ctx, struct bbf_buf *out)
{
    (void)ctx;
    assert_int_equal(out->data[out->len - 1], '\n');
    pieces++;
    longest = out->len > longest ? out->len : longest;
    out->len = 0;
}

/* One row of wide cells makes all of them wide. */
static void a_grid_goes_out_in_pieces(void **state)
{
    enum { ROWS = 500 };
    static char wide[CELL];
    static struct bbf_value cells[CELLS], nulls[CELLS];
    static struct bbf_row rows[ROWS];
    struct bbf_command grid = {.type = BBF_CMD_GRID_DATA, .rows = rows, .n_rows = ROWS};
    struct bbf_buf out = BBF_BUF_INIT;
    (void)state;

    memset(wide, 'w', sizeof wide);
    for (size_t i = 0; i < CELLS; i++) {
        cells[i] = string(wide, sizeof wide);
        nulls[i].kind = BBF_VALUE_NULL;
    }
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = (struct bbf_row){i == 0 ? cells : nulls, CELLS};
    bbf_show_to(&(struct bbf_show_to){&out, take_away, NULL}, &grid);
    assert_false(out.failed);
    assert_true(pieces > 10);
    assert_in_range(longest, BBF_BUF_PIECE, 2 * BBF_BUF_PIECE);
    assert_true(out.cap <= 4 * BBF_BUF_PIECE);
    bbf_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_histogram_behind_many_cells_is_bounded),
        cmocka_unit_test(a_grid_goes_out_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
