/* link: class_mutator bbf_classfile bbf_core */
/*
 * The fuzzer's mutator of class files (tests/fuzz/class_mutator.h): without it the fuzzer and
 * tests/long/verify-fuzzed-classes would run, and find nothing.
 */
#include "classfile/classfile.h"
#include "classfile/reader.h"
#include "tests/fuzz/class_mutator.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 1 << 16, FILES_MAX = 200 };

static struct file {
    uint8_t bytes[MAX];
    size_t len;
} files[FILES_MAX];
static unsigned n_files;
static uint8_t out[4 * MAX], again[4 * MAX];

/* The corpus's classes that javac and ASM made. */
static int setup(void **state)
{
    const char *folder = BBF_SOURCE_DIR "/tests/fuzz/corpus/classfile";
    DIR *dir = opendir(folder);

    (void)state;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[4096];
        FILE *file;

        if (strncmp(entry->d_name, "java-", 5) != 0 && strncmp(entry->d_name, "synth-", 6) != 0)
            continue;
        assert_true(n_files < FILES_MAX);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        file = fopen(path, "rb");
        assert_non_null(file);
        files[n_files].len = fread(files[n_files].bytes, 1, MAX, file);
        n_files++;
        fclose(file);
    }
    closedir(dir);
    assert_true(n_files > 20);
    return 0;
}

static size_t mutate(const struct file *file, uint64_t seed, unsigned changes, unsigned breaking)
{
    return class_mutate(file->bytes, file->len, out, sizeof out, seed, changes, breaking, NULL, 0);
}

static void no_change_gives_the_same_bytes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < n_files; i++) {
        assert_int_equal(mutate(&files[i], i, 0, 50), files[i].len);
        assert_memory_equal(out, files[i].bytes, files[i].len);
    }
}

static void a_seed_gives_the_same_mutant(void **state)
{
    (void)state;
    for (unsigned i = 0; i < n_files; i++) {
        size_t len = mutate(&files[i], i, 3, 50);

        memcpy(again, out, len);
        assert_int_equal(mutate(&files[i], i, 3, 50), len);
        assert_memory_equal(out, again, len);
    }
}

/* Most mutants differ, and our reader reads those that mean to keep the class valid. */
static void keeping_mutants_can_be_read(void **state)
{
    unsigned mutants = 0, different = 0, readable = 0;

    (void)state;
    for (unsigned i = 0; i < n_files; i++) {
        for (uint64_t seed = 0; seed < 50; seed++, mutants++) {
            size_t len = mutate(&files[i], seed, 2, 0);
            struct cf__class c;

            different += len != files[i].len || memcmp(out, files[i].bytes, len) != 0;
            if (cf__class_open(&c, out, len, NULL, NULL) == BBF_CF_CHANGED) {
                readable++;
                cf__class_close(&c);
            }
        }
    }
    assert_true(different > mutants * 9 / 10);
    assert_int_equal(readable, mutants);
}

static void breaking_mutants_break(void **state)
{
    unsigned mutants = 0, refused = 0;

    (void)state;
    for (unsigned i = 0; i < n_files; i++) {
        for (uint64_t seed = 0; seed < 50; seed++, mutants++) {
            size_t len = mutate(&files[i], seed, 4, 100);
            struct cf__class c;

            if (len != 0 && cf__class_open(&c, out, len, NULL, NULL) == BBF_CF_CHANGED)
                cf__class_close(&c);
            else
                refused++;
        }
    }
    assert_in_range(refused, mutants / 10, mutants * 9 / 10);
}

static void two_classes_give_one(void **state)
{
    unsigned made = 0;

    (void)state;
    for (unsigned i = 0; i < n_files; i++) {
        const struct file *a = &files[i], *b = &files[(i + 7) % n_files];

        for (uint64_t seed = 0; seed < 20; seed++)
            made += class_cross(a->bytes, a->len, b->bytes, b->len, out, sizeof out, seed) != 0;
    }
    assert_true(made > 10 * n_files);
}

static void no_room_is_no_mutant(void **state)
{
    (void)state;
    assert_int_equal(
        class_mutate(files[0].bytes, files[0].len, out, files[0].len - 1, 1, 0, 0, NULL, 0), 0);
    assert_int_equal(class_mutate((const uint8_t *)"none", 4, out, sizeof out, 1, 1, 0, NULL, 0),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_change_gives_the_same_bytes),
        cmocka_unit_test(a_seed_gives_the_same_mutant),
        cmocka_unit_test(keeping_mutants_can_be_read),
        cmocka_unit_test(breaking_mutants_break),
        cmocka_unit_test(two_classes_give_one),
        cmocka_unit_test(no_room_is_no_mutant),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
