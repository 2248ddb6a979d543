/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "jfr/encode.h"

enum { DEPTH_MAX = 32, METADATA = 0 };

struct reader {
    struct bbf_jfr_tree *to;
    struct bbf_jfr_arena *arena;
    struct bbf_jfr_cursor at;
    const unsigned char *start;
    const char **strings; /* NULL: null */
    size_t n_strings;
};

static int fail(struct reader *r, const char *why)
{
    if (r->to->why == NULL)
        r->to->why = why;
    return BBF_EFORMAT;
}

/* ---- reading ---- */

const char *bbf_jfr_copy_text(struct bbf_jfr_arena *arena, const struct bbf_jfr_text *text)
{
    struct bbf_buf utf8 = BBF_BUF_INIT;

    bbf_jfr_add_text(&utf8, text);
    arena->failed |= utf8.failed;
    char *copy = utf8.failed ? NULL : bbf_jfr_take(arena, utf8.len + 1, 1);
    if (copy != NULL && utf8.len > 0)
        memcpy(copy, utf8.data, utf8.len);
    bbf_buf_free(&utf8);
    return copy;
}

static int read_strings(struct reader *r)
{
    size_t n = bbf_jfr_get_count(&r->at);

    r->strings = bbf_jfr_take(r->arena, n + 1, sizeof(*r->strings));
    if (r->strings == NULL)
        return BBF_ENOMEM;
    for (; r->n_strings < n; r->n_strings++) {
        struct bbf_jfr_text text = bbf_jfr_get_text(&r->at);
        if (r->at.bad || text.encoding == BBF_JFR_STRING_POOLED)
            return fail(r, "a string of the metadata cannot be read");
        if (text.encoding == BBF_JFR_STRING_NULL)
            continue;
        r->strings[r->n_strings] = bbf_jfr_copy_text(r->arena, &text);
        if (r->arena->failed)
            return BBF_ENOMEM;
    }
    return BBF_OK;
}

static const char *read_string(struct reader *r)
{
    uint64_t i = bbf_jfr_get_long(&r->at);

    if (i >= r->n_strings)
        bbf_jfr_spoil(&r->at);
    return i < r->n_strings ? r->strings[i] : NULL;
}

static const char *read_name(struct reader *r)
{
    const char *name = read_string(r);

    r->to->has_null |= name == NULL;
    return name != NULL ? name : "";
}

static int read_element(struct reader *r, struct bbf_jfr_element *e, int depth)
{
    e->at = (uint64_t)(r->at.at - r->start);
    e->name = read_name(r);
    e->n_attributes = bbf_jfr_get_count(&r->at);
    e->names = bbf_jfr_take(r->arena, e->n_attributes, sizeof(*e->names));
    e->values = bbf_jfr_take(r->arena, e->n_attributes, sizeof(*e->values));
    for (size_t i = 0; i < e->n_attributes && !r->arena->failed; i++) {
        e->names[i] = read_name(r);
        const char *value = read_string(r);
        e->values[i] = value != NULL ? value : "";
    }
    size_t n = bbf_jfr_get_count(&r->at);
    if (r->arena->failed)
        return BBF_ENOMEM;
    if (r->at.bad || depth == DEPTH_MAX)
        return fail(r, "the metadata's tree is cut or too deep");
    for (struct bbf_jfr_element **to = &e->first; n > 0; n--, to = &(*to)->next) {
        *to = bbf_jfr_take(r->arena, 1, sizeof(**to));
        int err = *to != NULL ? read_element(r, *to, depth + 1) : BBF_ENOMEM;
        if (err != BBF_OK)
            return err;
    }
    e->end = (uint64_t)(r->at.at - r->start);
    return BBF_OK;
}

int bbf_jfr_tree_read(struct bbf_jfr_tree *tree, struct bbf_jfr_cursor event,
                      struct bbf_jfr_arena *arena)
{
    struct reader r = {.to = tree, .arena = arena, .at = event, .start = event.at};

    memset(tree, 0, sizeof(*tree));
    (void)bbf_jfr_get_long(&r.at); /* size */
    if (bbf_jfr_get_long(&r.at) != METADATA)
        return fail(&r, "where the header says, there is no metadata event");
    tree->ticks = bbf_jfr_get_long(&r.at);
    tree->duration = bbf_jfr_get_long(&r.at);
    tree->id = bbf_jfr_get_long(&r.at);
    int err = read_strings(&r);
    if (err == BBF_OK)
        err = read_element(&r, &tree->root, 0);
    if (err == BBF_OK && bbf_jfr_child(&tree->root, "metadata") == NULL)
        err = fail(&r, "the metadata's tree has no element \"metadata\"");
    return arena->failed ? BBF_ENOMEM : err;
}

const char *bbf_jfr_attribute(const struct bbf_jfr_element *e, const char *name)
{
    for (size_t i = 0; i < e->n_attributes; i++) {
        if (strcmp(e->names[i], name) == 0)
            return e->values[i];
    }
    return NULL;
}

bool bbf_jfr_is_element(const struct bbf_jfr_element *e, const char *name)
{
    return strcmp(e->name, name) == 0;
}

const struct bbf_jfr_element *bbf_jfr_child(const struct bbf_jfr_element *e, const char *name)
{
    const struct bbf_jfr_element *c = e != NULL ? e->first : NULL;

    while (c != NULL && !bbf_jfr_is_element(c, name))
        c = c->next;
    return c;
}

bool bbf_jfr_read_id(const char *text, uint64_t *id)
{
    enum { DIGITS_MAX = 19 }; /* of a Java long; as many can pass INT64_MAX, never UINT64_MAX */
    size_t n = text != NULL ? strspn(text, "0123456789") : 0;

    if (n == 0 || n > DIGITS_MAX || text[n] != '\0')
        return false;
    *id = strtoull(text, NULL, 10);
    return *id <= INT64_MAX;
}

/* ---- writing ---- */

/* The strings of the new event, each once: a hash table of their indexes. */
struct strings {
    const char **list;
    size_t n, room;
    size_t *slots; /* index + 1; 0: free; twice as many as `room`, a power of two */
    bool no_memory;
};

static size_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (size_t)(hash ^ hash >> 32);
}

static size_t *slot_of(const struct strings *s, const char *text)
{
    size_t mask = 2 * s->room - 1, i = hash_of(text) & mask;

    while (s->slots[i] != 0 && strcmp(s->list[s->slots[i] - 1], text) != 0)
        i = (i + 1) & mask;
    return &s->slots[i];
}

static bool grow(struct strings *s)
{
    size_t room = s->room > 0 ? 2 * s->room : 1024;
    const char **list = realloc(s->list, room * sizeof(*list));

    if (list != NULL)
        s->list = list;
    free(s->slots);
    s->slots = calloc(2 * room, sizeof(*s->slots));
    if (list == NULL || s->slots == NULL)
        return false;
    s->room = room;
    for (size_t i = 0; i < s->n; i++)
        *slot_of(s, s->list[i]) = i + 1;
    return true;
}

static size_t index_of(struct strings *s, const char *text)
{
    if (s->no_memory || (s->n == s->room && !grow(s))) {
        s->no_memory = true;
        return 0;
    }
    size_t *slot = slot_of(s, text);
    if (*slot == 0) {
        s->list[s->n] = text;
        *slot = ++s->n;
    }
    return *slot - 1;
}

static void put_element(struct bbf_buf *out, struct strings *s, const struct bbf_jfr_element *e)
{
    size_t children = 0;

    bbf_jfr_put_long(out, index_of(s, e->name));
    bbf_jfr_put_long(out, e->n_attributes);
    for (size_t i = 0; i < e->n_attributes; i++) {
        bbf_jfr_put_long(out, index_of(s, e->names[i]));
        bbf_jfr_put_long(out, index_of(s, e->values[i]));
    }
    for (const struct bbf_jfr_element *c = e->first; c != NULL; c = c->next)
        children++;
    bbf_jfr_put_long(out, children);
    for (const struct bbf_jfr_element *c = e->first; c != NULL; c = c->next)
        put_element(out, s, c);
}

int bbf_jfr_tree_put(struct bbf_buf *out, const struct bbf_jfr_tree *tree)
{
    static const char no_size[BBF_JFR_SIZE_BYTES];
    struct bbf_buf elements = BBF_BUF_INIT;
    struct strings s = {0};
    size_t start = out->len;

    put_element(&elements, &s, &tree->root);
    bbf_buf_add(out, no_size, sizeof(no_size));
    bbf_jfr_put_long(out, METADATA);
    bbf_jfr_put_long(out, tree->ticks);
    bbf_jfr_put_long(out, tree->duration);
    bbf_jfr_put_long(out, tree->id);
    bbf_jfr_put_long(out, s.n);
    for (size_t i = 0; i < s.n; i++)
        bbf_jfr_put_text(out, s.list[i], strlen(s.list[i]));
    bbf_buf_add(out, elements.data, elements.len);
    bool failed = s.no_memory || elements.failed || out->failed;
    if (!failed)
        bbf_jfr_set_size(out->data + start, (uint32_t)(out->len - start));
    bbf_buf_free(&elements);
    free(s.list);
    free(s.slots);
    return failed ? BBF_ENOMEM : BBF_OK;
}
