/* link: bbf_core */
/* core/blackbox.h: what was written is read; whatever is cut, torn or changed is never taken for
 * whole, and the other slot's document is. */
#include "core/blackbox.h"
#include "core/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SLOT = 256, SIZE = BBF_BOX_SLOTS_AT + BBF_BOX_SLOTS * SLOT };

static char file[SIZE], why[200];
static struct bbf_box box;

static const struct bbf_box_head head = {.pid = 4711,
                                         .started_ms = 1795273400123,
                                         .begun_ms = 1795273400999,
                                         .slot_bytes = SLOT,
                                         .interval_ms = 1000,
                                         .inode = UINT64_MAX,
                                         .version = "0.1.0",
                                         .main = "com.app.Main"};

static void put_document(unsigned i, uint64_t number, const char *text)
{
    const struct bbf_box_slot slot = {number, INT64_C(1795273401000) + (int64_t)number,
                                      strlen(text)};
    char *at = file + bbf_box_slot_at(SLOT, i);
    memcpy(at + BBF_BOX_SLOT_HEAD, text, slot.len);
    bbf_box_put_slot(at, &slot, text);
}

static int make(void **state)
{
    const struct bbf_box_beat beat = {7, 1795273402000, BBF_BOX_ENDED, 90, 100};
    (void)state;
    memset(file, 0, sizeof file);
    bbf_box_put_head(file, &head);
    bbf_box_put_beat(file + BBF_BOX_HEAD_BYTES, &beat);
    put_document(0, 3, "{\"three\": 3}");
    put_document(1, 4, "{\"four\": 4}");
    return 0;
}

static int read_box(size_t len)
{
    char *exact = malloc(len > 0 ? len : 1); /* so that a read behind its end is found */
    memcpy(exact, file, len);
    int err = bbf_box_read(&box, exact, len, why, sizeof why);
    if (err == BBF_OK && box.document != NULL) {
        static char kept[SIZE];
        memcpy(kept, box.document, box.slot.len);
        kept[box.slot.len] = '\0';
        box.document = kept;
    }
    free(exact);
    return err;
}

static void all_fields_come_back(void **state)
{
    (void)state;
    assert_true(bbf_box_is(file, SIZE));
    assert_int_equal(read_box(SIZE), BBF_OK);
    assert_memory_equal(&box.head, &head, sizeof head);
    assert_true(box.has_beat);
    assert_int_equal(box.beat.number, 7);
    assert_int_equal(box.beat.alive_ms, 1795273402000);
    assert_int_equal(box.beat.state, BBF_BOX_ENDED);
    assert_int_equal(box.beat.memory_used, 90);
    assert_int_equal(box.beat.memory_limit, 100);
    assert_string_equal(box.document, "{\"four\": 4}");
    assert_int_equal(box.slot.number, 4);
    assert_int_equal(box.slot.captured_ms, 1795273401004);
    assert_int_equal(box.damaged, 0);
}

static void the_newest_document_counts_in_either_slot(void **state)
{
    (void)state;
    put_document(0, 5, "{\"five\": 5}");
    assert_int_equal(read_box(SIZE), BBF_OK);
    assert_string_equal(box.document, "{\"five\": 5}");
}

/* Whatever byte of a slot is another, the other slot's document is taken. */
static void a_torn_slot_is_left_out(void **state)
{
    uint64_t at = bbf_box_slot_at(SLOT, 1);
    (void)state;
    for (size_t i = 0; i < BBF_BOX_SLOT_HEAD + strlen("{\"four\": 4}"); i++) {
        file[at + i] ^= 0x10;
        assert_int_equal(read_box(SIZE), BBF_OK);
        assert_string_equal(box.document, "{\"three\": 3}");
        assert_int_equal(box.damaged, 1);
        file[at + i] ^= 0x10;
    }
}

static void a_damaged_head_or_beat_is_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < BBF_BOX_HEAD_BYTES; i++) {
        file[i] ^= 1;
        assert_int_not_equal(read_box(SIZE), BBF_OK);
        assert_int_not_equal(why[0], '\0');
        file[i] ^= 1;
    }
    for (size_t i = 0; i < BBF_BOX_BEAT_BYTES; i++) {
        file[BBF_BOX_HEAD_BYTES + i] ^= 1;
        assert_int_equal(read_box(SIZE), BBF_OK);
        assert_false(box.has_beat);
        file[BBF_BOX_HEAD_BYTES + i] ^= 1;
    }
}

/* Of each length: an error, or the newest document that is whole within it. */
static void a_file_that_is_cut_off_is_read_as_far_as_it_goes(void **state)
{
    size_t first_end = BBF_BOX_SLOTS_AT + BBF_BOX_SLOT_HEAD + strlen("{\"three\": 3}");
    size_t second_end = bbf_box_slot_at(SLOT, 1) + BBF_BOX_SLOT_HEAD + strlen("{\"four\": 4}");
    (void)state;
    for (size_t len = 0; len < SIZE; len++) {
        int err = read_box(len);
        if (len < BBF_BOX_HEAD_BYTES + BBF_BOX_BEAT_BYTES) {
            assert_int_not_equal(err, BBF_OK);
            continue;
        }
        assert_int_equal(err, BBF_OK);
        if (len < first_end)
            assert_null(box.document);
        else
            assert_string_equal(box.document,
                                len < second_end ? "{\"three\": 3}" : "{\"four\": 4}");
    }
}

/* A length that leaves the slot, though both hashes are right. */
static void a_length_beyond_the_slot_is_refused(void **state)
{
    (void)state;
    for (uint64_t len = SLOT - BBF_BOX_SLOT_HEAD; len < SLOT + 9; len++) {
        const struct bbf_box_slot slot = {9, 1, len};
        char *at = file + bbf_box_slot_at(SLOT, 0);
        bbf_box_put_slot(at, &slot, at + BBF_BOX_SLOT_HEAD);
        assert_int_equal(read_box(SIZE), BBF_OK);
        assert_int_equal(box.slot.number, len > SLOT - BBF_BOX_SLOT_HEAD ? 4 : 9);
    }
}

static void other_files_and_versions_are_told_apart(void **state)
{
    (void)state;
    assert_false(bbf_box_is("{\"schema\"", 9));
    assert_false(bbf_box_is("bbflow", 6));
    file[16] = '2';
    assert_true(bbf_box_is(file, SIZE));
    assert_int_equal(read_box(SIZE), BBF_EVERSION);
    file[0] = 'B';
    assert_int_equal(read_box(SIZE), BBF_EFORMAT);
}

/* Names that are too long are cut, and end. */
static void long_names_are_cut(void **state)
{
    struct bbf_box_head longer = head;
    (void)state;
    memset(longer.main, 'm', sizeof longer.main);
    memset(longer.version, 'v', sizeof longer.version);
    bbf_box_put_head(file, &longer);
    assert_int_equal(read_box(SIZE), BBF_OK);
    assert_int_equal(strlen(box.head.main), BBF_BOX_MAIN - 1);
    assert_int_equal(strlen(box.head.version), BBF_BOX_VERSION - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_fields_come_back, make),
        cmocka_unit_test_setup(the_newest_document_counts_in_either_slot, make),
        cmocka_unit_test_setup(a_torn_slot_is_left_out, make),
        cmocka_unit_test_setup(a_damaged_head_or_beat_is_seen, make),
        cmocka_unit_test_setup(a_file_that_is_cut_off_is_read_as_far_as_it_goes, make),
        cmocka_unit_test_setup(a_length_beyond_the_slot_is_refused, make),
        cmocka_unit_test_setup(other_files_and_versions_are_told_apart, make),
        cmocka_unit_test_setup(long_names_are_cut, make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
