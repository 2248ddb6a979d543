/* link: bbf_agent */
/* agent/report/cgroup.h: the limit that counts, in version 1 and 2, at several levels, in a
 * container; texts of any kind are survived. */
#include "agent/report/cgroup.h"

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

enum { NINETY = 900000, MIB = 1 << 20 };

static char base[64], text[4096];
static struct bbf_cgroup group;

static int make_folder(void **state)
{
    (void)state;
    strcpy(base, "/tmp/bbf-cgroup-XXXXXX");
    return mkdtemp(base) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", base);
    return system(command); // NOLINT: a constant and our own folder
}

static void put(const char *level, const char *name, const char *value)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", base, level);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s%s/%s", base, level, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(value, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static bool parse_v2(const char *cgroup)
{
    snprintf(
        text, sizeof text,
        "22 1 0:20 / /proc rw - proc proc rw\n31 22 0:28 / %s rw,nosuid - cgroup2 cgroup2 rw\n",
        base);
    return bbf_cgroup_parse(&group, cgroup, text);
}

static void paths_are_found(void **state)
{
    static const struct {
        const char *cgroup, *mounts, *path;
        bool is_v1;
    } rows[] = {
        {"0::/a/b\n", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup/a/b",
         false},
        {"0::/\n", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup",
         false},
        /* both: the controller is in version 1 */
        {"5:cpu,memory:/d/1\n1:name=systemd:/x\n0::/u\n",
         "31 23 0:28 / /u rw - cgroup2 cgroup2 rw\n"
         "32 31 0:29 / /c rw - cgroup cgroup rw,cpuset\n"
         "35 31 0:32 / /m rw shared:9 - cgroup cgroup rw,cpu,memory\n",
         "/m/d/1", true},
        /* a container without its own namespace: the mount's root is its cgroup */
        {"4:memory:/docker/abc\n",
         "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup c rw,memory\n",
         "/sys/fs/cgroup/memory", true},
        {"4:memory:/docker/abc/x\n", "35 31 0:32 /docker/abc /m ro - cgroup c rw,memory\n", "/m/x",
         true},
        /* not below the mount's root, though it begins like it; and above it */
        {"4:memory:/docker/abcd\n", "35 31 0:32 /docker/abc /m ro - cgroup c rw,memory\n", "/m",
         true},
        {"0::/../other\n", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
         "/sys/fs/cgroup", false},
        {"0::/a b:c\n", "31 23 0:28 / /c\\040d rw - cgroup2 cgroup2 rw\n", "/c d/a b:c", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(bbf_cgroup_parse(&group, rows[i].cgroup, rows[i].mounts));
        assert_string_equal(group.path, rows[i].path);
        assert_int_equal(group.is_v1, rows[i].is_v1);
    }
}

static void texts_without_a_cgroup_are_refused(void **state)
{
    static const char mount[] = "31 23 0:28 / /c rw - cgroup2 cgroup2 rw\n";
    static const char *const rows[][2] = {{"", mount},
                                          {"\n\n", mount},
                                          {"0::", "x"},
                                          {"0::/a\n", ""},
                                          {"0::/a\n", "- cgroup2\n - \n31 - cgroup2\n"},
                                          {"4:memory:/a\n", mount},
                                          {"3:cpu:/a\n", mount},
                                          {"4:mem:/a\n5:memoryx:/b\n", mount}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_false(bbf_cgroup_parse(&group, rows[i][0], rows[i][1]));
}

static void the_level_nearest_to_its_limit_counts(void **state)
{
    struct bbf_cgroup_memory memory;
    (void)state;
    assert_true(parse_v2("0::/pod/app\n"));
    assert_false(bbf_cgroup_read(&group, NINETY, &memory)); /* nothing is there */
    put("/pod", "memory.max", "1048576000\n");
    put("/pod", "memory.current", "104857600\n");
    put("/pod/app", "memory.max", "max\n");
    put("/pod/app", "memory.current", "94371840\n");
    assert_true(bbf_cgroup_read(&group, NINETY, &memory));
    assert_int_equal(memory.limit, 1000 * MIB);
    assert_int_equal(memory.used, 100 * MIB);
    put("/pod/app", "memory.max", "104857600\n");
    assert_true(bbf_cgroup_read(&group, NINETY, &memory));
    assert_int_equal(memory.limit, 100 * MIB);
    assert_int_equal(memory.used, 90 * MIB);
    assert_true(bbf_cgroup_reaches(&memory, NINETY));
    assert_false(bbf_cgroup_reaches(&memory, NINETY + 1));
    put("/pod", "memory.current", "1047576000\n"); /* the others in the pod need it */
    assert_true(bbf_cgroup_read(&group, NINETY, &memory));
    assert_int_equal(memory.limit, 1000 * MIB);
}

/* Pages of files that the kernel drops first are no reason for a kill. */
static void inactive_file_pages_do_not_count(void **state)
{
    struct bbf_cgroup_memory memory;
    (void)state;
    assert_true(parse_v2("0::/a\n"));
    put("/a", "memory.max", "104857600\n");
    put("/a", "memory.current", "103809024\n"); /* 99 MiB */
    put("/a", "memory.stat", "anon 1\ntotal_inactive_file 1\ninactive_file 52428800\nfile 9\n");
    assert_true(bbf_cgroup_read(&group, NINETY, &memory));
    assert_int_equal(memory.used, 49 * MIB);
    put("/a", "memory.stat", "inactive_file 999999999999\n");
    assert_true(bbf_cgroup_read(&group, NINETY, &memory));
    assert_int_equal(memory.used, 0);
}

static void version_1_has_other_names(void **state)
{
    struct bbf_cgroup_memory memory;
    (void)state;
    snprintf(text, sizeof text, "35 31 0:32 / %s rw - cgroup cgroup rw,memory\n", base);
    assert_true(bbf_cgroup_parse(&group, "4:memory:/a\n", text));
    put("/a", "memory.limit_in_bytes", "9223372036854771712\n");
    put("/a", "memory.usage_in_bytes", "1048576\n");
    assert_false(bbf_cgroup_read(&group, NINETY, &memory));
    put("/a", "memory.limit_in_bytes", "2097152\n");
    put("/a", "memory.usage_in_bytes", "2097152\n");
    put("/a", "memory.stat", "inactive_file 7\ntotal_inactive_file 1048576\n");
    assert_true(bbf_cgroup_read(&group, NINETY, &memory));
    assert_int_equal(memory.limit, 2 * MIB);
    assert_int_equal(memory.used, MIB);
}

static void a_limit_of_nothing_is_none(void **state)
{
    struct bbf_cgroup_memory memory;
    static const char *const limits[] = {"0\n", "", "garbage", "-\n"};
    (void)state;
    assert_true(parse_v2("0::/a\n"));
    put("/a", "memory.current", "5\n");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        put("/a", "memory.max", limits[i]);
        assert_false(bbf_cgroup_read(&group, NINETY, &memory));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_found),
        cmocka_unit_test(texts_without_a_cgroup_are_refused),
        cmocka_unit_test_setup_teardown(the_level_nearest_to_its_limit_counts, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(inactive_file_pages_do_not_count, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(version_1_has_other_names, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_limit_of_nothing_is_none, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
