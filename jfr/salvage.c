/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/salvage.h"

#include <string.h>

#include "core/err.h"

enum {
    METADATA = 0,
    ATTRIBUTES_MAX = 256,
    PROBE_ELEMENTS = 8,         /* this many elements in a row are no accident */
    STRING_MAX_BYTES = 1 << 14, /* behind damage */
    WORK_MAX_BYTES = 1 << 26    /* looked at for strings behind damage */
};

struct salvaging {
    const struct bbf_jfr_salvage *how;
    struct bbf_jfr_tree *to;
    struct bbf_jfr_arena *arena;
    const unsigned char *start, *end; /* the event */
    const unsigned char **strings;    /* where each is, encoded; NULL: lost */
    const char **texts;               /* the same, once it was asked for */
    size_t n_strings;
};

static struct bbf_jfr_cursor cursor_at(const struct salvaging *s, const unsigned char *at)
{
    return bbf_jfr_cursor(at, (size_t)(s->end - at));
}

static void lose(struct salvaging *s, const unsigned char *from, const unsigned char *to,
                 const char *what)
{
    if (s->how->lost != NULL && to > from)
        s->how->lost(s->how->ctx, (uint64_t)(from - s->start), (uint64_t)(to - from), what);
}

/* ---- strings ---- */

/* Behind the string at `at`; NULL: none is there. */
static const unsigned char *skip_string(const struct salvaging *s, const unsigned char *at)
{
    struct bbf_jfr_cursor c = cursor_at(s, at);
    struct bbf_jfr_text text = bbf_jfr_get_text(&c);

    return c.bad || text.encoding == BBF_JFR_STRING_POOLED ? NULL : c.at;
}

static const char *text_of(struct salvaging *s, uint64_t index)
{
    if (index >= s->n_strings || s->strings[index] == NULL)
        return "";
    if (s->texts[index] == NULL) {
        struct bbf_jfr_cursor c = cursor_at(s, s->strings[index]);
        struct bbf_jfr_text text = bbf_jfr_get_text(&c);
        const char *copy = bbf_jfr_copy_text(s->arena, &text);
        s->texts[index] = copy;
    }
    return s->texts[index] != NULL ? s->texts[index] : "";
}

/* Does it look like a tree, whose strings are not known yet? The root has "metadata" and "region",
 * these many types. */
static bool is_tree_at(const struct salvaging *s, const unsigned char *at)
{
    struct bbf_jfr_cursor c = cursor_at(s, at);
    uint64_t root = bbf_jfr_get_long(&c), attributes = bbf_jfr_get_long(&c);
    uint64_t children = bbf_jfr_get_long(&c), metadata = bbf_jfr_get_long(&c);
    uint64_t none = bbf_jfr_get_long(&c), types = bbf_jfr_get_long(&c);

    if (c.bad || attributes != 0 || none != 0 || children == 0 || children > 3 || types == 0 ||
        root >= s->n_strings || metadata >= s->n_strings || root == metadata)
        return false;
    for (int i = 0; i < PROBE_ELEMENTS && !c.bad; i++) {
        bool is_known = bbf_jfr_get_long(&c) < s->n_strings;
        uint64_t n = bbf_jfr_get_long(&c);
        if (!is_known || n > ATTRIBUTES_MAX || (i == 0 && n < 2))
            return false;
        for (uint64_t k = 0; k < 2 * n; k++) {
            if (bbf_jfr_get_long(&c) >= s->n_strings)
                return false;
        }
        if (bbf_jfr_get_long(&c) > ATTRIBUTES_MAX)
            return false;
    }
    return !c.bad;
}

/* How many strings lead from `at` to exactly `tree`; 0: they do not. `seen`: places that a try
 * came through. */
static size_t strings_to(const struct salvaging *s, const unsigned char *at,
                         const unsigned char *tree, unsigned char *seen, size_t *work)
{
    size_t n = 0;

    while (at != NULL && at < tree && !seen[at - s->start]) {
        const unsigned char *next = skip_string(s, at);
        seen[at - s->start] = 1;
        *work += next != NULL ? (size_t)(next - at) : 1;
        at = next != NULL && next - at <= STRING_MAX_BYTES ? next : NULL;
        n++;
    }
    return at == tree ? n : 0;
}

/* The last strings, of which the first that can be read is somewhere behind `from`. */
static bool find_last_strings(struct salvaging *s, const unsigned char *from,
                              const unsigned char *tree)
{
    unsigned char *seen = bbf_jfr_take(s->arena, (size_t)(tree - s->start) + 1, 1);
    size_t n = 0, work = 0;
    const unsigned char *at = from;

    for (; seen != NULL && at < tree && n == 0 && work < WORK_MAX_BYTES; at += n == 0)
        n = strings_to(s, at, tree, seen, &work);
    if (n == 0 || n > s->n_strings)
        return false;
    lose(s, from, at, "strings of the metadata cannot be read");
    for (size_t i = s->n_strings - n; i < s->n_strings; i++) {
        s->strings[i] = at;
        at = skip_string(s, at);
    }
    return true;
}

/* The tree, behind the strings; NULL: neither can be found. */
static const unsigned char *read_strings(struct salvaging *s, struct bbf_jfr_cursor *c)
{
    const unsigned char *at, *next;

    s->n_strings = bbf_jfr_get_count(c);
    s->strings = bbf_jfr_take(s->arena, s->n_strings + 1, sizeof(*s->strings));
    s->texts = bbf_jfr_take(s->arena, s->n_strings + 1, sizeof(*s->texts));
    if (s->arena->failed || s->n_strings == 0)
        return NULL;
    at = next = c->at;
    for (size_t i = 0; i < s->n_strings && next != NULL; i++) {
        at = next;
        s->strings[i] = at;
        next = skip_string(s, at);
    }
    if (next != NULL && is_tree_at(s, next))
        return next;
    /* A lost length leads past the good ones: try from the beginning of the damage. */
    for (const unsigned char *tree = c->at; tree < s->end; tree++) {
        if (is_tree_at(s, tree)) {
            memset(s->texts, 0, s->n_strings * sizeof(*s->texts));
            const unsigned char *from = at < tree ? at : tree;
            return find_last_strings(s, from, tree) ? tree : NULL;
        }
    }
    return NULL;
}

/* ---- elements ---- */

enum kind { NONE, CLASS, FIELD, ANNOTATION, SETTING, REGION };

static bool is_known(enum kind kind, const char *attribute)
{
    static const char *const names[][5] = {[CLASS] = {"name", "superType", "simpleType", "id"},
                                           [FIELD] = {"name", "class", "constantPool", "dimension"},
                                           [SETTING] = {"name", "class", "defaultValue"},
                                           [REGION] = {"locale", "gmtOffset", "dst"}};

    for (size_t i = 0; kind != ANNOTATION && names[kind][i] != NULL; i++) {
        if (strcmp(names[kind][i], attribute) == 0)
            return true;
    }
    return kind == ANNOTATION;
}

static enum kind kind_of(const char *name)
{
    static const char *const names[] = {
        [NONE] = "",           [CLASS] = "class",  [FIELD] = "field", [ANNOTATION] = "annotation",
        [SETTING] = "setting", [REGION] = "region"};

    for (enum kind kind = CLASS; kind <= REGION; kind++) {
        if (strcmp(names[kind], name) == 0)
            return kind;
    }
    return NONE;
}

/* Can an element of that kind have these attributes? */
static bool is_plausible(enum kind kind, const struct bbf_jfr_element *e)
{
    const char *id = bbf_jfr_attribute(e, kind == CLASS ? "id" : "class");
    uint64_t number;

    return kind == REGION || (bbf_jfr_read_id(id, &number) &&
                              (kind == ANNOTATION || bbf_jfr_attribute(e, "name") != NULL));
}

struct head {
    enum kind kind; /* NONE: no element is there */
    struct bbf_jfr_element *element;
    size_t children;
    const unsigned char *end;
};

/* Takes no memory where no element is. */
static enum kind probe(struct salvaging *s, const unsigned char *at)
{
    struct bbf_jfr_cursor c = cursor_at(s, at);
    enum kind kind = kind_of(text_of(s, bbf_jfr_get_long(&c)));
    uint64_t n = kind != NONE ? bbf_jfr_get_long(&c) : 0;

    if (kind == NONE || n > ATTRIBUTES_MAX || n == 0)
        return NONE;
    for (uint64_t i = 0; i < n; i++) {
        bool is_good = is_known(kind, text_of(s, bbf_jfr_get_long(&c)));
        if (!is_good || bbf_jfr_get_long(&c) >= s->n_strings || c.bad)
            return NONE;
    }
    (void)bbf_jfr_get_count(&c);
    return c.bad ? NONE : kind;
}

static struct head read_head(struct salvaging *s, const unsigned char *at)
{
    struct head head = {.kind = probe(s, at)};
    struct bbf_jfr_cursor c = cursor_at(s, at);

    if (head.kind == NONE)
        return head;
    struct bbf_jfr_element *e = head.element = bbf_jfr_take(s->arena, 1, sizeof(*e));
    if (e == NULL)
        return (struct head){.kind = NONE};
    e->name = text_of(s, bbf_jfr_get_long(&c));
    e->n_attributes = bbf_jfr_get_count(&c);
    e->names = bbf_jfr_take(s->arena, e->n_attributes, sizeof(*e->names));
    e->values = bbf_jfr_take(s->arena, e->n_attributes, sizeof(*e->values));
    for (size_t i = 0; i < e->n_attributes && !s->arena->failed; i++) {
        e->names[i] = text_of(s, bbf_jfr_get_long(&c));
        e->values[i] = text_of(s, bbf_jfr_get_long(&c));
    }
    head.children = bbf_jfr_get_count(&c);
    e->at = (uint64_t)(at - s->start);
    e->end = (uint64_t)(c.at - s->start);
    head.end = c.at;
    if (s->arena->failed || !is_plausible(head.kind, e))
        head.kind = NONE;
    return head;
}

/* ---- a type ---- */

struct reading {
    const unsigned char *at;
    struct bbf_jfr_element **last_child;        /* of the type */
    struct bbf_jfr_element **last_note, *field; /* of the field (or setting) that was begun */
    size_t children, due_notes;                 /* of the type; of the field */
    bool is_damaged;
};

/* The next element, over damage; the kind NONE: the end. */
static struct head next_head(struct salvaging *s, struct reading *r)
{
    const unsigned char *from = r->at;
    struct head head = {.kind = NONE};

    while (r->at < s->end && !s->arena->failed) {
        head = read_head(s, r->at);
        if (head.kind != NONE)
            break;
        r->at++;
    }
    if (r->at > from) {
        r->is_damaged = true;
        lose(s, from, r->at, "elements of the metadata cannot be read");
    }
    return head;
}

static void add_note(struct reading *r, const struct head *head)
{
    bool is_of_field = r->field != NULL && (r->due_notes > 0 || r->is_damaged);

    r->due_notes -= r->due_notes > 0;
    if (is_of_field) {
        *r->last_note = head->element;
        r->last_note = &head->element->next;
        r->field->end = head->element->end;
    } else {
        *r->last_child = head->element;
        r->last_child = &head->element->next;
        r->children++;
    }
}

static void add_child(struct reading *r, const struct head *head)
{
    *r->last_child = head->element;
    r->last_child = &head->element->next;
    r->children++;
    r->field = head->element;
    r->last_note = &head->element->first;
    r->due_notes = head->children;
}

/* The children of a type, up to the next type. Its own children must be as many as it says: then
 * no field was lost. */
static bool read_type(struct salvaging *s, struct reading *r, const struct head *type)
{
    struct bbf_jfr_element *e = type->element;

    *r = (struct reading){.at = type->end, .last_child = &e->first};
    while (r->is_damaged || r->children < type->children || r->due_notes > 0) {
        struct head head = next_head(s, r);
        if (head.kind == NONE || head.kind == CLASS || head.kind == REGION)
            break;
        if (head.kind == ANNOTATION)
            add_note(r, &head);
        else
            add_child(r, &head);
        r->at = head.end;
    }
    e->end = (uint64_t)(r->at - s->start);
    return r->children == type->children;
}

static int read_tree(struct salvaging *s, const unsigned char *tree)
{
    struct bbf_jfr_element *metadata = bbf_jfr_take(s->arena, 1, sizeof(*metadata));
    struct reading r = {0};

    if (metadata == NULL)
        return BBF_ENOMEM;
    struct bbf_jfr_cursor c = cursor_at(s, tree);
    for (int i = 0; i < 6; i++) /* the heads of root and metadata */
        (void)bbf_jfr_get_long(&c);
    r.at = c.at;
    s->to->root = (struct bbf_jfr_element){.name = "root", .first = metadata};
    s->to->root.at = metadata->at = (uint64_t)(tree - s->start);
    s->to->root.end = metadata->end = (uint64_t)(c.at - s->start);
    metadata->name = "metadata";
    struct bbf_jfr_element **last = &metadata->first;
    for (;;) {
        struct head head = next_head(s, &r);
        if (head.kind == REGION)
            metadata->next = head.element;
        if (head.kind == NONE || head.kind == REGION)
            break;
        r.at = head.end;
        if (head.kind == CLASS && read_type(s, &r, &head)) {
            *last = head.element;
            last = &head.element->next;
        } else {
            lose(s, s->start + head.element->at, r.at,
                 head.kind == CLASS ? "a type of the metadata lost its fields"
                                    : "an element of the metadata lost its type");
        }
    }
    return s->arena->failed ? BBF_ENOMEM : metadata->first != NULL ? BBF_OK : BBF_EFORMAT;
}

int bbf_jfr_salvage(struct bbf_jfr_tree *tree, struct bbf_jfr_cursor event,
                    struct bbf_jfr_arena *arena, const struct bbf_jfr_salvage *how)
{
    struct salvaging s = {
        .how = how, .to = tree, .arena = arena, .start = event.at, .end = event.end};
    struct bbf_jfr_cursor c = event;

    memset(tree, 0, sizeof(*tree));
    uint64_t size = bbf_jfr_get_long(&c);
    bool is_metadata = bbf_jfr_get_long(&c) == METADATA;
    tree->ticks = bbf_jfr_get_long(&c);
    tree->duration = bbf_jfr_get_long(&c);
    tree->id = bbf_jfr_get_long(&c);
    if (c.bad || !is_metadata || size > bbf_jfr_left(&event) || size < (size_t)(c.at - s.start))
        return BBF_EFORMAT;
    s.end = c.end = s.start + size;
    const unsigned char *at = read_strings(&s, &c);
    int err = at != NULL ? read_tree(&s, at) : BBF_EFORMAT;
    return arena->failed ? BBF_ENOMEM : err;
}
