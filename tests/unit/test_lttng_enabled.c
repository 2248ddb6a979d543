/* link: bbf_wire bbf_core */
/* What a session daemon has enabled: wildcards, counts, ranges of levels, the limit; and the files
 * that have its port. */
#include "core/err.h"
#include "wire/lttng/enabled.h"
#include "wire/lttng/port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void wildcards(void **state)
{
    static const struct {
        const char *pattern, *logger;
        bool matches;
    } cases[] = {
        {"bbflow.leak", "bbflow.leak", true},
        {"bbflow.leak", "bbflow.leaks", false},
        {"bbflow.leak", "bbflow.lea", false},
        {"*", "bbflow.leak", true},
        {"*", "", true},
        {"", "", true},
        {"", "a", false},
        {"bbflow.*", "bbflow.leak", true},
        {"bbflow.*", "bbflow.", true},
        {"bbflow.*", "bbflow", false},
        {"*.leak", "bbflow.leak", true},
        {"*.leak", "bbflow.leak.leak", true},
        {"*.leak", "bbflow.leaky", false},
        {"b*w.l*k", "bbflow.leak", true},
        {"b*w.l*k", "bbflow.leap", false},
        {"**b**", "abc", true},
        {"a\\*c", "a*c", true},
        {"a\\*c", "abc", false},
        {"a\\\\c", "a\\c", true},
        {"a\\c", "a\\c", true},
        {"a\\", "a\\", true},
        {"*\\*", "aa*", true},
        {"*\\*", "aaa", false},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (bbf_lttng_matches(cases[i].pattern, cases[i].logger) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].logger);
}

/* A pattern that would take a recursive matcher for ever. */
static void wildcards_take_little_time(void **state)
{
    char pattern[256], logger[256];
    (void)state;

    memset(logger, 'a', sizeof logger);
    logger[255] = '\0';
    for (size_t i = 0; i < 254; i += 2) {
        pattern[i] = '*';
        pattern[i + 1] = 'a';
    }
    memcpy(pattern + 252, "*b", 3);
    assert_false(bbf_lttng_matches(pattern, logger));
}

static int enable(struct bbf_lttng_enabled *enabled, const char *name, int32_t level,
                  enum bbf_lttng_level_type type)
{
    const struct bbf_lttng_command command = {.name = name, .level = level, .type = type};
    return bbf_lttng_enabled_add(enabled, &command);
}

static bool allows(const struct bbf_lttng_enabled *enabled, const char *logger, int32_t level)
{
    struct bbf_lttng_levels levels = bbf_lttng_enabled_levels(enabled, logger);
    return levels.least <= level && level <= levels.most;
}

static void levels(void **state)
{
    struct bbf_lttng_enabled enabled = BBF_LTTNG_ENABLED_INIT;
    (void)state;

    assert_false(allows(&enabled, "bbflow.leak", 900));
    assert_int_equal(enable(&enabled, "bbflow.leak", 900, BBF_LTTNG_LEVEL_RANGE), BBF_OK);
    assert_true(allows(&enabled, "bbflow.leak", 900));
    assert_true(allows(&enabled, "bbflow.leak", 1000));
    assert_false(allows(&enabled, "bbflow.leak", 899));
    assert_false(allows(&enabled, "bbflow.flow", 900));
    assert_int_equal(enable(&enabled, "bbflow.f*", 500, BBF_LTTNG_LEVEL_SINGLE), BBF_OK);
    assert_true(allows(&enabled, "bbflow.flow", 500));
    assert_false(allows(&enabled, "bbflow.flow", 501));
    assert_false(allows(&enabled, "bbflow.flow", 499));
    assert_int_equal(enable(&enabled, "*", INT32_MIN, BBF_LTTNG_LEVEL_ALL), BBF_OK);
    assert_true(allows(&enabled, "bbflow.flow", INT32_MIN));
    assert_true(allows(&enabled, "any", INT32_MAX));
    bbf_lttng_enabled_clear(&enabled);
    assert_false(allows(&enabled, "any", INT32_MAX));
    bbf_lttng_enabled_free(&enabled);
}

/* Two sessions, two levels; one of them goes: nothing is let through less than before. */
static void names_are_counted(void **state)
{
    struct bbf_lttng_enabled enabled = BBF_LTTNG_ENABLED_INIT;
    (void)state;

    assert_int_equal(enable(&enabled, "a", 900, BBF_LTTNG_LEVEL_RANGE), BBF_OK);
    assert_int_equal(enable(&enabled, "a", 300, BBF_LTTNG_LEVEL_SINGLE), BBF_OK);
    assert_int_equal(enabled.n, 1);
    assert_true(allows(&enabled, "a", 300));
    assert_int_equal(bbf_lttng_enabled_remove(&enabled, "a"), BBF_OK);
    assert_true(allows(&enabled, "a", 300));
    assert_true(allows(&enabled, "a", 900));
    assert_int_equal(bbf_lttng_enabled_remove(&enabled, "a"), BBF_OK);
    assert_false(allows(&enabled, "a", 900));
    assert_int_equal(bbf_lttng_enabled_remove(&enabled, "a"), BBF_ENOTFOUND);
    bbf_lttng_enabled_free(&enabled);
}

static void names_have_a_limit(void **state)
{
    struct bbf_lttng_enabled enabled = BBF_LTTNG_ENABLED_INIT;
    char name[16];
    (void)state;

    for (int i = 0; i < BBF_LTTNG_NAMES_MAX; i++) {
        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(enable(&enabled, name, 0, BBF_LTTNG_LEVEL_ALL), BBF_OK);
    }
    assert_int_equal(enable(&enabled, "more", 0, BBF_LTTNG_LEVEL_ALL), BBF_ELIMIT);
    assert_int_equal(enable(&enabled, "n7", 0, BBF_LTTNG_LEVEL_ALL), BBF_OK);
    assert_int_equal(bbf_lttng_enabled_remove(&enabled, "n8"), BBF_OK);
    assert_int_equal(enable(&enabled, "more", 0, BBF_LTTNG_LEVEL_ALL), BBF_OK);
    bbf_lttng_enabled_free(&enabled);
}

/* ---- ports ---- */

static void port_paths(void **state)
{
    char path[PATH_MAX];
    (void)state;

    unsetenv("LTTNG_UST_APP_PATH");
    unsetenv("LTTNG_HOME");
    setenv("HOME", "/h", 1);
    assert_true(bbf_lttng_port_path(BBF_LTTNG_ROOT, path));
    assert_string_equal(path, "/var/run/lttng/agent.port");
    assert_true(bbf_lttng_port_path(BBF_LTTNG_USER, path));
    assert_string_equal(path, "/h/.lttng/agent.port");
    setenv("LTTNG_HOME", "/l", 1);
    assert_true(bbf_lttng_port_path(BBF_LTTNG_USER, path));
    assert_string_equal(path, "/l/.lttng/agent.port");
    setenv("LTTNG_UST_APP_PATH", "/first:/second", 1);
    assert_false(bbf_lttng_port_path(BBF_LTTNG_ROOT, path));
    assert_true(bbf_lttng_port_path(BBF_LTTNG_USER, path));
    assert_string_equal(path, "/first/agent.port");
    unsetenv("LTTNG_UST_APP_PATH");
    unsetenv("LTTNG_HOME");
    unsetenv("HOME");
    assert_false(bbf_lttng_port_path(BBF_LTTNG_USER, path));
}

static void port_files(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        uint16_t port;
    } cases[] = {{"5345\n", 5, 5345}, {"1", 1, 1},         {"65535\n", 6, 65535},
                 {"65536\n", 6, 0},   {"0\n", 2, 0},       {"", 0, 0},
                 {"\n", 1, 0},        {"-1\n", 3, 0},      {" 5345\n", 6, 0},
                 {"5345 \n", 6, 0},   {"5345\n\n", 6, 0},  {"53x\n", 4, 0},
                 {"5345\0", 5, 0},    {"5345\n6\n", 7, 0}, {"99999999999999999999", 20, 0}};
    char folder[] = "/tmp/bbf-lttng-XXXXXX", path[64];
    (void)state;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/agent.port", folder);
    assert_int_equal(bbf_lttng_port_read(path), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fwrite(cases[i].text, 1, cases[i].len, file);
        fclose(file);
        assert_int_equal(bbf_lttng_port_read(path), cases[i].port);
    }
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* would wait for a writer */
    assert_int_equal(bbf_lttng_port_read(path), 0);
    unlink(path);
    assert_int_equal(bbf_lttng_port_read(folder), 0);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wildcards),
        cmocka_unit_test(wildcards_take_little_time),
        cmocka_unit_test(levels),
        cmocka_unit_test(names_are_counted),
        cmocka_unit_test(names_have_a_limit),
        cmocka_unit_test(port_paths),
        cmocka_unit_test(port_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
