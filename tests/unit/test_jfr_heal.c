/* link: bbf_jfr bbf_core */
/*
 * Damage in the metadata of a chunk, at each place: what `repair` writes has to pass the rules of
 * the JDK's parser, which are written down here a second time, apart from jfr/heal.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jfr/heal.h"
#include "jfr/mend.h"
#include "jfr/print.h"
#include "jfr/tree.h"
#include "jfr_sample.h"

static const struct bbf_jfr_print all = {.stack_depth = 64};

static const unsigned char *bytes_of(const struct bbf_buf *file)
{
    return (const unsigned char *)file->data;
}

/* ---- the rules ---- */

struct rules {
    const struct bbf_jfr_element *metadata;
    struct bbf_jfr_arena arena;
};

static bool is(const char *text, const char *other)
{
    return text != NULL && strcmp(text, other) == 0;
}

static const struct bbf_jfr_element *next(const struct bbf_jfr_element *e, const char *name)
{
    while (e != NULL && !is(e->name, name))
        e = e->next;
    return e;
}

#define EACH(e, parent, kind)                                                                      \
    for (const struct bbf_jfr_element *e = next((parent)->first, kind); e != NULL;                 \
         e = next(e->next, kind))

static const struct bbf_jfr_element *declared(const struct rules *r, const char *id)
{
    const struct bbf_jfr_element *found = NULL;

    assert_non_null(id);
    EACH(type, r->metadata, "class")
    {
        if (is(bbf_jfr_attribute(type, "id"), id)) {
            assert_null(found); /* two types of one id */
            found = type;
        }
    }
    assert_non_null(found);
    return found;
}

static void assert_long(const char *text)
{
    char *end;

    (void)strtoll(text, &end, 10);
    assert_true(end != text && *end == '\0');
}

static void assert_class_name(const char *name)
{
    bool begins = true;

    assert_non_null(name);
    for (const char *at = name; *at != '\0'; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' ||
                      *at == '$' || (*at & 0x80) != 0;
        assert_true(letter || (!begins && ((*at >= '0' && *at <= '9') || *at == '.')));
        begins = *at == '.';
    }
    assert_false(begins);
}

static bool is_primitive(const struct bbf_jfr_element *type)
{
    return bbf_jfr_kind_of(bbf_jfr_attribute(type, "name")) != BBF_JFR_KIND_STRUCT;
}

/* Integer.valueOf() of null, and an annotation's null, are errors. */
static void check_annotations(const struct rules *r, const struct bbf_jfr_element *on)
{
    EACH(note, on, "annotation")
    {
        const struct bbf_jfr_element *type = declared(r, bbf_jfr_attribute(note, "class"));
        EACH(field, type, "field")
        {
            const struct bbf_jfr_element *of = declared(r, bbf_jfr_attribute(field, "class"));
            const char *text = bbf_jfr_attribute(note, bbf_jfr_attribute(field, "name"));
            assert_true(is_primitive(of));
            if (bbf_jfr_attribute(field, "dimension") == NULL)
                assert_non_null(text);
            if (text != NULL && bbf_jfr_kind_of(bbf_jfr_attribute(of, "name")) == BBF_JFR_KIND_INT)
                assert_long(text);
        }
    }
}

/* The reader asks these for their unit when it prints a value. */
static void check_units(const struct rules *r, const struct bbf_jfr_element *field)
{
    const char *type = bbf_jfr_attribute(declared(r, bbf_jfr_attribute(field, "class")), "name");

    EACH(note, field, "annotation")
    {
        const char *name = bbf_jfr_attribute(declared(r, bbf_jfr_attribute(note, "class")), "name");
        if (!is(name, "jdk.jfr.Timestamp") && !is(name, "jdk.jfr.Timespan"))
            continue;
        assert_true(bbf_jfr_time_of(name, bbf_jfr_attribute(note, "value")) != BBF_JFR_TIME_NONE);
        assert_true(is(type, "long") || is(type, "int") || is(type, "short") || is(type, "byte") ||
                    is(type, "char"));
    }
}

static void check_field(const struct rules *r, const struct bbf_jfr_element *of,
                        const struct bbf_jfr_element *field)
{
    const struct bbf_jfr_element *type = declared(r, bbf_jfr_attribute(field, "class"));
    const char *dimension = bbf_jfr_attribute(field, "dimension");
    const char *name = bbf_jfr_attribute(field, "name");

    assert_non_null(name);
    EACH(other, of, "field")
    assert_true(other == field || !is(bbf_jfr_attribute(other, "name"), name));
    if (dimension != NULL)
        assert_long(dimension);
    if (bbf_jfr_attribute(field, "constantPool") == NULL) /* "Unknown primitive type" */
        assert_true(is_primitive(type) || next(type->first, "field") != NULL);
    check_annotations(r, field);
    check_units(r, field);
}

static void check_type(const struct rules *r, const struct bbf_jfr_element *type)
{
    const struct bbf_jfr_element *first = next(type->first, "field");
    bool is_event = is(bbf_jfr_attribute(type, "superType"), "jdk.jfr.Event");

    assert_ptr_equal(declared(r, bbf_jfr_attribute(type, "id")), type);
    assert_long(bbf_jfr_attribute(type, "id"));
    assert_class_name(bbf_jfr_attribute(type, "name"));
    if (bbf_jfr_attribute(type, "simpleType") != NULL)
        assert_true(first != NULL && next(first->next, "field") == NULL);
    if (is_event) { /* its start is read before all else */
        assert_non_null(first);
        assert_string_equal(
            bbf_jfr_attribute(declared(r, bbf_jfr_attribute(first, "class")), "name"), "long");
        assert_null(bbf_jfr_attribute(first, "constantPool"));
    }
    EACH(field, type, "field")
    check_field(r, type, field);
    EACH(setting, type, "setting")
    {
        assert_true(is_event);
        assert_non_null(bbf_jfr_attribute(setting, "name"));
        (void)declared(r, bbf_jfr_attribute(setting, "class"));
        check_annotations(r, setting);
    }
    check_annotations(r, type);
}

static void check_chunk(const unsigned char *chunk, size_t len)
{
    struct rules r = {0};
    struct bbf_jfr_tree tree;
    uint64_t at = bbf_jfr_u8(chunk + 24);

    assert_int_equal(
        bbf_jfr_tree_read(&tree, bbf_jfr_cursor(chunk + at, len - (size_t)at), &r.arena), BBF_OK);
    assert_false(tree.has_null);
    r.metadata = bbf_jfr_child(&tree.root, "metadata");
    const struct bbf_jfr_element *region = bbf_jfr_child(&tree.root, "region");
    assert_non_null(region);
    if (bbf_jfr_attribute(region, "gmtOffset") != NULL)
        assert_long(bbf_jfr_attribute(region, "gmtOffset"));
    EACH(type, r.metadata, "class")
    check_type(&r, type);
    bbf_jfr_arena_free(&r.arena);
}

static void check_file(const struct bbf_buf *file)
{
    size_t size;

    for (size_t at = 0; at < file->len; at += size) {
        size = (size_t)bbf_jfr_u8(bytes_of(file) + at + 8);
        check_chunk(bytes_of(file) + at, size);
    }
}

/* ---- repairs ---- */

struct repaired {
    struct bbf_buf file;
    struct bbf_jfr_loss first; /* the first that was lost, not only set right */
    uint64_t losses;
    size_t events;
    int err;
};

static int put(void *ctx, const char *data, size_t len)
{
    bbf_buf_add(&((struct repaired *)ctx)->file, data, len);
    return BBF_OK;
}

static void on_loss(void *ctx, const struct bbf_jfr_loss *loss)
{
    struct repaired *to = ctx;

    if (loss->len > 0 && to->first.len == 0)
        to->first = *loss;
}

static size_t count_events(const struct bbf_buf *file)
{
    struct bbf_buf text = BBF_BUF_INIT;
    struct bbf_jfr_recording r;
    size_t n = 0;

    bbf_jfr_recording_init(&r, bytes_of(file), file->len, true);
    assert_int_equal(bbf_jfr_print_json(&text, &r, &all), BBF_OK);
    assert_null(r.trouble.what);
    bbf_jfr_recording_close(&r);
    for (const char *at = bbf_buf_cstr(&text); (at = strstr(at, "\"values\"")) != NULL; at++)
        n++;
    bbf_buf_free(&text);
    return n;
}

static struct repaired repair(const struct bbf_buf *file)
{
    struct repaired to = {0};
    struct bbf_jfr_mend mend = {.put = put, .report = on_loss, .ctx = &to};

    to.err = bbf_jfr_repair(bytes_of(file), file->len, &mend);
    to.losses = mend.losses;
    if (to.err == BBF_OK) {
        check_file(&to.file);
        to.events = count_events(&to.file);
    }
    return to;
}

enum { EVENTS = 5, WINDOW = 60 };

struct place {
    size_t at, end; /* of the metadata event of the first chunk */
};

static struct place metadata_of(const struct bbf_buf *file)
{
    size_t at = (size_t)bbf_jfr_u8(bytes_of(file) + 24);
    struct bbf_jfr_cursor c = bbf_jfr_cursor(bytes_of(file) + at, file->len - at);

    return (struct place){at, at + (size_t)bbf_jfr_get_long(&c)};
}

struct sum {
    size_t places, all_events, no_file;
};

static void count_place(struct sum *sum, const struct bbf_buf *file, size_t events)
{
    struct repaired r = repair(file);

    assert_true(r.err == BBF_OK || r.err == BBF_ENOTFOUND);
    assert_true(r.err != BBF_OK || r.events == events || r.losses > 0); /* the exit code */
    sum->places++;
    sum->all_events += r.events == events;
    sum->no_file += r.err != BBF_OK;
    bbf_buf_free(&r.file);
}

static void zeroed_metadata_leave_what_the_jdk_reads(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT;
    struct sum sum = {0};
    char saved[WINDOW];
    (void)state;

    sample_write(&file, 1, EVENTS);
    struct place m = metadata_of(&file);
    for (size_t at = m.at; at + WINDOW <= m.end; at += 4) {
        memcpy(saved, file.data + at, WINDOW);
        memset(file.data + at, 0, WINDOW);
        count_place(&sum, &file, EVENTS);
        memcpy(file.data + at, saved, WINDOW);
    }
    /* 560, 277 and 32 when it was written: half of the bytes are of the one event's type. */
    assert_true(sum.all_events * 100 >= sum.places * 45);
    assert_true(sum.no_file * 100 <= sum.places * 8);
    bbf_buf_free(&file);
}

static void flipped_metadata_leave_what_the_jdk_reads(void **state)
{
    struct bbf_buf file = BBF_BUF_INIT;
    struct sum sum = {0};
    (void)state;

    sample_write(&file, 1, EVENTS);
    struct place m = metadata_of(&file);
    for (size_t at = m.at; at < m.end; at++) {
        char old = file.data[at];
        file.data[at] = (char)(old ^ (1 << at % 8));
        count_place(&sum, &file, EVENTS);
        file.data[at] = old;
    }
    /* 2299, 1947 and 46 when it was written */
    assert_true(sum.all_events * 100 >= sum.places * 80);
    assert_true(sum.no_file * 100 <= sum.places * 3);
    bbf_buf_free(&file);
}

/* A metadata event written with another tree, in place of a file's first; the file's chunk has
 * only this event behind it moved. */
struct changed {
    struct bbf_buf file;
    struct bbf_jfr_arena arena;
    struct bbf_jfr_tree tree;
};

static struct bbf_jfr_element *type_named(struct changed *c, const char *name)
{
    struct bbf_jfr_element *metadata = c->tree.root.first, *e = metadata->first;

    while (e != NULL && !is(bbf_jfr_attribute(e, "name"), name))
        e = e->next;
    assert_non_null(e);
    return e;
}

static void begin_change(struct changed *c)
{
    memset(c, 0, sizeof(*c));
    sample_write(&c->file, 1, EVENTS);
    struct place m = metadata_of(&c->file);
    assert_int_equal(bbf_jfr_tree_read(&c->tree,
                                       bbf_jfr_cursor(bytes_of(&c->file) + m.at, m.end - m.at),
                                       &c->arena),
                     BBF_OK);
}

/* The metadata come last, so that no other offset changes. */
static struct repaired end_change(struct changed *c, size_t *metadata)
{
    *metadata = c->file.len;
    bbf_jfr_set_u8(c->file.data + 24, c->file.len);
    assert_int_equal(bbf_jfr_tree_put(&c->file, &c->tree), BBF_OK);
    bbf_jfr_set_u8(c->file.data + 8, c->file.len);
    bbf_jfr_arena_free(&c->arena);
    struct repaired r = repair(&c->file);
    bbf_buf_free(&c->file);
    return r;
}

static void without_a_change_a_chunk_is_copied(void **state)
{
    struct bbf_buf healed = BBF_BUF_INIT;
    const struct bbf_jfr_heal silent = {0};
    struct changed c;
    size_t metadata;
    (void)state;

    begin_change(&c);
    struct repaired r = end_change(&c, &metadata);
    assert_int_equal(r.losses, 0);
    assert_int_equal(r.events, EVENTS);
    assert_int_equal(bbf_jfr_u8(bytes_of(&r.file) + 24), metadata); /* where it was */
    struct bbf_jfr_cursor event =
        bbf_jfr_cursor(bytes_of(&r.file) + metadata, r.file.len - metadata);
    assert_int_equal(bbf_jfr_heal(&healed, event, &silent), BBF_OK);
    assert_int_equal(healed.len, 0);
    bbf_buf_free(&r.file);
}

/* "Annotation value can't be null": the JDK 17 refused a file for one of them. */
static void an_annotation_without_its_value_is_lost_and_named(void **state)
{
    struct changed c;
    size_t metadata;
    (void)state;

    begin_change(&c);
    struct bbf_jfr_element *note = type_named(&c, "test.All")->first;
    assert_string_equal(note->name, "annotation");
    assert_int_equal(note->n_attributes, 2);
    note->n_attributes = 1; /* class, and no value */
    struct repaired r = end_change(&c, &metadata);
    assert_int_equal(r.err, BBF_OK);
    assert_int_equal(r.losses, 1);
    assert_string_equal(r.first.what, "an annotation lost its value");
    assert_true(r.first.offset > metadata);
    assert_int_equal(r.events, EVENTS);
    bbf_buf_free(&r.file);
}

static void a_lost_type_of_a_key_makes_it_null(void **state)
{
    struct changed c;
    size_t metadata;
    (void)state;

    begin_change(&c);
    struct bbf_jfr_element *thread = type_named(&c, "java.lang.Thread");
    thread->n_attributes--; /* its id */
    struct repaired r = end_change(&c, &metadata);
    assert_int_equal(r.err, BBF_OK);
    assert_true(r.losses > 0);
    assert_int_equal(r.events, EVENTS);
    bbf_buf_free(&r.file);
}

static void a_field_without_its_type_costs_the_events_of_one_type(void **state)
{
    struct changed c;
    size_t metadata;
    (void)state;

    begin_change(&c);
    struct bbf_jfr_element *e = type_named(&c, "test.All")->first;
    while (!is(bbf_jfr_attribute(e, "name"), "rate"))
        e = e->next;
    e->n_attributes = 1;
    struct repaired r = end_change(&c, &metadata);
    assert_int_equal(r.err, BBF_OK);
    assert_true(r.losses >= 2); /* the type and its events */
    assert_int_equal(r.events, 0);
    bbf_buf_free(&r.file);
}

static void damaged_names_units_and_the_region_are_set_right(void **state)
{
    struct changed c;
    size_t metadata;
    (void)state;

    begin_change(&c);
    struct bbf_jfr_element *e = type_named(&c, "test.All");
    e->values[0] = "test..Al l";
    for (e = e->first; e != NULL; e = e->next) {
        const char *name = bbf_jfr_attribute(e, "name");
        if (is(name, "duration")) /* its Timespan */
            e->first->values[1] = "TIC";
        if (is(name, "letter") || is(name, "flag"))
            e->values[0] = "duration";
    }
    c.tree.root.first->next = NULL;
    struct repaired r = end_change(&c, &metadata);
    assert_int_equal(r.err, BBF_OK);
    assert_int_equal(r.losses, 5);
    assert_int_equal(r.events, EVENTS);
    bbf_buf_free(&r.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_metadata_leave_what_the_jdk_reads),
        cmocka_unit_test(flipped_metadata_leave_what_the_jdk_reads),
        cmocka_unit_test(without_a_change_a_chunk_is_copied),
        cmocka_unit_test(an_annotation_without_its_value_is_lost_and_named),
        cmocka_unit_test(a_lost_type_of_a_key_makes_it_null),
        cmocka_unit_test(a_field_without_its_type_costs_the_events_of_one_type),
        cmocka_unit_test(damaged_names_units_and_the_region_are_set_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
