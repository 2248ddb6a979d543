/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/heal.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/safe.h"
#include "jfr/heal_fields.h"
#include "jfr/heal_notes.h"
#include "jfr/heal_state.h"
#include "jfr/salvage.h"

#define EVENT "jdk.jfr.Event"

/* Attributes and elements without a name, for which the JDK's parser has no answer but an end. */
static void drop_nameless(struct bbf_jfr_healing *h, struct bbf_jfr_element *e)
{
    if (bbf_jfr_attribute(e, "") != NULL) {
        bbf_jfr_heal_lost(h, e, false, "an attribute of the metadata lost its name");
        bbf_jfr_heal_set(h, e, "", NULL);
    }
    for (struct bbf_jfr_element **c = &e->first; *c != NULL;) {
        if ((*c)->name[0] == '\0') {
            bbf_jfr_heal_lost(h, *c, true, "an element of the metadata lost its name");
            *c = (*c)->next;
        } else {
            drop_nameless(h, *c);
            c = &(*c)->next;
        }
    }
}

/* ---- types ---- */

static size_t count_fields(const struct bbf_jfr_element *type)
{
    size_t n = 0;

    for (const struct bbf_jfr_element *e = type->first; e != NULL; e = e->next)
        n += bbf_jfr_is_element(e, "field");
    return n;
}

/* The JDK takes a type's name only if Java has such a class name: 25 of events, 17 of all. */
static bool is_letter(uint32_t c, bool is_first)
{
    /* Blocks without gaps, as far as people name classes in them. */
    static const uint32_t blocks[][2] = {
        {'A', 'Z'},       {'_', '_'},       {'a', 'z'},      {'$', '$'},       {0xC0, 0xD6},
        {0xD8, 0xF6},     {0xF8, 0x24F},    {0x3A3, 0x3CE},  {0x400, 0x481},   {0x5D0, 0x5EA},
        {0x620, 0x64A},   {0x904, 0x939},   {0xE01, 0xE30},  {0x3041, 0x3096}, {0x30A1, 0x30FA},
        {0x3400, 0x4DB5}, {0x4E00, 0x9FA5}, {0xAC00, 0xD7A3}};

    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        if (c >= blocks[i][0] && c <= blocks[i][1])
            return true;
    }
    return !is_first && c >= '0' && c <= '9';
}

/* The name with '$' for each character that cannot be in it; the same pointer: it is right. ('_'
 * alone is a keyword.) */
static const char *class_name(struct bbf_jfr_healing *h, const char *name)
{
    char *made = bbf_jfr_take(&h->arena, strlen(name) + sizeof(BBF_JFR_LOST_TYPE), 1), *to = made;
    bool is_first = true, is_right = name[0] != '\0';

    if (made == NULL)
        return name;
    if (!is_right)
        return strcpy(made, BBF_JFR_LOST_TYPE);
    for (const char *at = name, *end = name + strlen(name); at < end;) {
        uint32_t c;
        size_t n = bbf_utf8_next(at, end, &c);
        bool is_dot = c == '.' && !is_first && at + n < end;
        bool fits = (is_dot || is_letter(c, is_first)) &&
                    !(c == '_' && is_first && n == 1 && (at + n == end || at[n] == '.'));
        if (fits)
            memcpy(to, at, n);
        else
            *to = '$';
        to += fits ? n : 1;
        is_right &= fits;
        is_first = is_dot;
        at += n;
    }
    return is_right ? name : made;
}

static void read_type(struct bbf_jfr_healing *h, struct bbf_jfr_element *e)
{
    struct bbf_jfr_heal_type *type = &h->types[h->n];
    const char *name = bbf_jfr_attribute(e, "name"), *super = bbf_jfr_attribute(e, "superType");

    *type = (struct bbf_jfr_heal_type){.element = e, .n_fields = count_fields(e)};
    h->n++;
    bool has_id = bbf_jfr_read_id(bbf_jfr_attribute(e, "id"), &type->id);
    type->is_event = super != NULL && strcmp(super, EVENT) == 0;
    if (name == NULL || !has_id || (type->is_event && type->id <= BBF_JFR_RESERVED_ID)) {
        bbf_jfr_heal_lose(h, type, "a type of the metadata lost its name or id");
        return;
    }
    const char *right = class_name(h, name);
    if (right != name) {
        bbf_jfr_heal_lost(h, e, false, "a type's name is damaged");
        bbf_jfr_heal_set(h, e, "name", right);
    }
    type->name = right;
    type->kind = bbf_jfr_kind_of(right);
    if (type->kind != BBF_JFR_KIND_STRUCT)
        type->n_fields = 0;
}

static void read_types(struct bbf_jfr_healing *h)
{
    size_t n = 1; /* one more can be made */

    for (const struct bbf_jfr_element *e = h->metadata->first; e != NULL; e = e->next)
        n += bbf_jfr_is_element(e, "class");
    h->types = bbf_jfr_take(&h->arena, n, sizeof(*h->types));
    h->by_id = bbf_jfr_take(&h->arena, n, sizeof(*h->by_id));
    for (struct bbf_jfr_element *e = h->metadata->first; e != NULL && !h->arena.failed;
         e = e->next) {
        if (bbf_jfr_is_element(e, "class"))
            read_type(h, e);
    }
    if (!h->arena.failed)
        bbf_jfr_heal_index(h);
}

/* ---- the whole ---- */

static void drop_lost_types(struct bbf_jfr_healing *h)
{
    size_t i = 0; /* in the order of the elements */

    for (struct bbf_jfr_element **at = &h->metadata->first; *at != NULL;) {
        bool is_lost = bbf_jfr_is_element(*at, "class") && h->types[i++].is_gone;
        if (is_lost)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
}

static bool is_number(const char *text)
{
    uint64_t number;

    return text == NULL || bbf_jfr_read_id(text + (*text == '-'), &number);
}

static void heal_region(struct bbf_jfr_healing *h, struct bbf_jfr_element *root)
{
    static const char *const numbers[] = {"gmtOffset", "dst"};
    struct bbf_jfr_element *region = (struct bbf_jfr_element *)bbf_jfr_child(root, "region");

    if (region == NULL) {
        bbf_jfr_heal_lost(h, root, false, "the metadata lost the time zone");
        region = bbf_jfr_heal_add(h, root, "region");
        if (region != NULL)
            bbf_jfr_heal_set(h, region, "gmtOffset", "0");
    }
    for (size_t i = 0; i < 2 && region != NULL; i++) {
        if (!is_number(bbf_jfr_attribute(region, numbers[i]))) {
            bbf_jfr_heal_lost(h, region, false, "the metadata lost the time zone");
            bbf_jfr_heal_set(h, region, numbers[i], NULL);
        }
    }
}

static bool heal_tree(struct bbf_jfr_healing *h, struct bbf_jfr_element *root)
{
    drop_nameless(h, root);
    h->metadata = (struct bbf_jfr_element *)bbf_jfr_child(root, "metadata");
    if (h->metadata == NULL || h->arena.failed)
        return false;
    read_types(h);
    for (size_t i = 0; i < h->n && !h->arena.failed; i++) {
        if (!h->types[i].is_gone)
            bbf_jfr_heal_simple(h, &h->types[i]);
    }
    if (h->arena.failed)
        return false;
    bbf_jfr_heal_unknown(h);
    drop_lost_types(h);
    size_t n = h->n;
    for (size_t i = 0; i < n && !h->arena.failed; i++) {
        if (!h->types[i].is_gone)
            bbf_jfr_heal_fields(h, &h->types[i]);
    }
    for (size_t i = 0; i < n && !h->arena.failed; i++) {
        if (!h->types[i].is_gone)
            bbf_jfr_heal_notes(h, &h->types[i]);
    }
    heal_region(h, root);
    return !h->arena.failed && h->metadata->first != NULL;
}

/* The tree as the JDK's parser would read it: nothing is wrong with it, nearly always. */
static int heal_as_read(struct bbf_jfr_cursor event, bool *is_right)
{
    struct bbf_jfr_healing h = {0}; /* reports nothing */
    struct bbf_jfr_tree tree;

    int err = bbf_jfr_tree_read(&tree, event, &h.arena);
    h.changed = tree.has_null;
    *is_right = err == BBF_OK && heal_tree(&h, &tree.root) && !h.changed;
    bbf_jfr_arena_free(&h.arena);
    return h.arena.failed ? BBF_ENOMEM : BBF_OK;
}

int bbf_jfr_heal(struct bbf_buf *out, struct bbf_jfr_cursor event, const struct bbf_jfr_heal *how)
{
    struct bbf_jfr_healing h = {.report = {how->lost, how->ctx}};
    struct bbf_jfr_tree tree;
    bool is_right;

    int err = heal_as_read(event, &is_right);
    if (err != BBF_OK || is_right)
        return err;
    err = bbf_jfr_salvage(&tree, event, &h.arena, &h.report);
    if (err == BBF_OK && !heal_tree(&h, &tree.root))
        err = BBF_EFORMAT;
    tree.id = how->id;
    if (err == BBF_OK && !h.arena.failed)
        err = bbf_jfr_tree_put(out, &tree);
    bbf_jfr_arena_free(&h.arena);
    return h.arena.failed ? BBF_ENOMEM : err;
}
