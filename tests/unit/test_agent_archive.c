/* link: bbf_core */
/* agent/classes/archive.c: the archive that is mapped is found, and nothing that is put at a path
 * that the JVM has mapped holds the thread that looks. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void (*before_open)(const char *path);
static int looked_at_open(const char *path, int flags);

#define open looked_at_open
#include "agent/classes/archive.c"
#undef open

struct bbf_agent bbf_agent;

static char base[64], maps[96], archive[96];

static int looked_at_open(const char *path, int flags)
{
    if (before_open != NULL)
        before_open(path);
    return open(path, flags);
}

static void put(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    const uint32_t magic = ARCHIVE_MAGIC;
    char line[200];
    (void)state;
    strcpy(base, "/tmp/bbf-archive-XXXXXX");
    if (mkdtemp(base) == NULL)
        return -1;
    snprintf(maps, sizeof maps, "%s/maps", base);
    snprintf(archive, sizeof archive, "%s/app.aot", base);
    snprintf(line, sizeof line, "7f00-7f01 r--p 00000000 08:01 7  %s\n", archive);
    put(maps, line, strlen(line));
    put(archive, &magic, sizeof magic);
    before_open = NULL;
    alarm(20); /* a hang is a failure */
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    alarm(0);
    unlink(maps);
    unlink(archive);
    return rmdir(base);
}

static void assert_found(bool found)
{
    char *path = bbf_archive_find(maps, "/jdk");
    if (found)
        assert_string_equal(path, archive);
    else
        assert_null(path);
    free(path);
}

static void an_archive_is_known_by_its_first_word(void **state)
{
    (void)state;
    assert_found(true);
    char *path = bbf_archive_find(maps, base); /* the JDK's own */
    assert_null(path);
    put(archive, "text", 4);
    assert_found(false);
    put(archive, "x", 1);
    assert_found(false);
    unlink(archive);
    assert_found(false);
}

static void swap_for_fifo(const char *path)
{
    unlink(path);
    assert_int_equal(mkfifo(path, 0666), 0);
}

static void what_is_no_file_holds_nothing_up(void **state)
{
    (void)state;
    swap_for_fifo(archive);
    assert_found(false);
}

static void what_is_swapped_in_between_holds_nothing_up(void **state)
{
    (void)state;
    before_open = swap_for_fifo;
    assert_found(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_archive_is_known_by_its_first_word, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_is_no_file_holds_nothing_up, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_is_swapped_in_between_holds_nothing_up, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
