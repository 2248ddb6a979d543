/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/top.h"

#include <string.h>

#include "core/err.h"
#include "render/stock.h"

static struct bbf_value text_cell(const char *text)
{
    return (struct bbf_value){.kind = BBF_VALUE_STRING,
                              .text = {(char *)(uintptr_t)text, strlen(text)}};
}

static struct bbf_value long_cell(uint64_t n)
{
    return (struct bbf_value){.kind = BBF_VALUE_LONG, .u = {.l = (int64_t)n}};
}

int bbf_report_top(struct bbf_reply *reply, const struct bbf_snapshot *s)
{
    struct bbf_stock_table table;
    struct bbf_value cells[BBF_STOCK_ROWS + 1][BBF_STOCK_COLUMNS];
    struct bbf_row rows[BBF_STOCK_ROWS + 1];
    struct bbf_wire_str columns[BBF_STOCK_COLUMNS];
    int err = bbf_stock_table_init(&table, s);

    if (err != BBF_OK)
        return err;
    for (size_t i = 0; i < BBF_STOCK_COLUMNS; i++) {
        cells[0][i] = text_cell(bbf_stock_columns[i]);
        columns[i] = cells[0][i].text;
    }
    for (size_t i = 0; i < table.n; i++) {
        const struct bbf_stock_row *row = &table.rows[i];
        struct bbf_value *to = cells[i + 1];
        to[0] = text_cell(row->verdict);
        to[1] = text_cell(row->memory);
        to[2] = long_cell(row->buffers);
        to[3] = long_cell(row->bytes);
        to[4] = long_cell(row->oldest_seconds);
        to[5] = text_cell(row->last_step);
    }
    for (size_t i = 0; i <= table.n; i++)
        rows[i] = (struct bbf_row){cells[i], BBF_STOCK_COLUMNS};
    struct bbf_command grid = {.type = BBF_CMD_GRID_DATA,
                               .text = {{"leaks", 5}},
                               .list = columns,
                               .n_list = BBF_STOCK_COLUMNS,
                               .rows = rows,
                               .n_rows = table.n + 1};
    bbf_reply_command(reply, &grid);
    bbf_stock_table_free(&table);
    return BBF_OK;
}
