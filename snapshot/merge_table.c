/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot/merge_parts.h"

#include "core/err.h"

#include <stdlib.h>
#include <string.h>

uint32_t bbf_merge_table_next(const struct bbf_merge_table *table, uint64_t hash, size_t *at)
{
    for (; *at < table->size; ++*at) {
        size_t slot = (size_t)(hash + *at) & (table->size - 1);
        if (table->rows[slot] == 0)
            break;
        if (table->hashes[slot] == hash) {
            ++*at;
            return table->rows[slot] - 1;
        }
    }
    return UINT32_MAX;
}

static void put(struct bbf_merge_table *table, uint64_t hash, uint32_t row)
{
    size_t slot = (size_t)hash & (table->size - 1);

    while (table->rows[slot] != 0)
        slot = (slot + 1) & (table->size - 1);
    table->rows[slot] = row;
    table->hashes[slot] = hash;
    table->used++;
}

static int grow(struct bbf_merge_table *table)
{
    struct bbf_merge_table larger = {.size = table->size == 0 ? 64 : table->size * 2};

    larger.rows = calloc(larger.size, sizeof *larger.rows);
    larger.hashes = calloc(larger.size, sizeof *larger.hashes);
    if (larger.rows == NULL || larger.hashes == NULL) {
        bbf_merge_table_free(&larger);
        return BBF_ENOMEM;
    }
    for (size_t i = 0; i < table->size; i++)
        if (table->rows[i] != 0)
            put(&larger, table->hashes[i], table->rows[i]);
    bbf_merge_table_free(table);
    *table = larger;
    return BBF_OK;
}

int bbf_merge_table_put(struct bbf_merge_table *table, uint64_t hash, uint32_t row)
{
    if (2 * (table->used + 1) > table->size && grow(table) != BBF_OK)
        return BBF_ENOMEM;
    put(table, hash, row + 1);
    return BBF_OK;
}

void bbf_merge_table_free(struct bbf_merge_table *table)
{
    free(table->rows);
    free(table->hashes);
    *table = (struct bbf_merge_table){.size = 0};
}

int bbf_merge_room(void **rows, size_t *room, size_t n, size_t more, size_t size)
{
    if (n + more <= *room)
        return BBF_OK;
    size_t wanted = n + more > 2 * *room ? n + more : 2 * *room;
    void *grown = reallocarray(*rows, wanted, size);
    if (grown == NULL)
        return BBF_ENOMEM;
    *rows = grown;
    *room = wanted;
    return BBF_OK;
}

int bbf_merge_add_text(struct bbf_merge_texts *texts, const char *text, const char *name)
{
    uint64_t hash = bbf_merge_hash(0, text, strlen(text));
    size_t at = 0;
    void *items = texts->items;

    for (uint32_t row; (row = bbf_merge_table_next(&texts->by_text, hash, &at)) != UINT32_MAX;)
        if (strcmp(texts->items[row].text, text) == 0) {
            texts->items[row].snapshots++;
            return BBF_OK;
        }
    if (bbf_merge_room(&items, &texts->room, texts->n, 1, sizeof *texts->items) != BBF_OK)
        return BBF_ENOMEM;
    texts->items = items;
    struct bbf_merge_text *one = &texts->items[texts->n];
    *one = (struct bbf_merge_text){strdup(text), strdup(name), 1};
    if (one->text == NULL || one->first == NULL) {
        free(one->text);
        free(one->first);
        return BBF_ENOMEM;
    }
    return bbf_merge_table_put(&texts->by_text, hash, (uint32_t)texts->n++);
}
