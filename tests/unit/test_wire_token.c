/* link: bbf_wire bbf_core */
/* The token: compared whole and in constant time, read from a file, made. */
#include <fcntl.h>

#include "tests/unit/wire_peer.h"

static void token_compares_whole(void **state)
{
    const uint8_t *t = (const uint8_t *)"abcabc";

    (void)state;
    assert_true(bbf_token_equal(t, 6, (const uint8_t *)"abcabc", 6));
    assert_false(bbf_token_equal(t, 3, (const uint8_t *)"abcabc", 6));
    assert_false(bbf_token_equal(t, 6, (const uint8_t *)"abc", 3));
    assert_false(bbf_token_equal(t, 0, (const uint8_t *)"", 0));
    assert_false(bbf_token_equal(t, 6, (const uint8_t *)"abcabC", 6));
}

static uint64_t compare_ns(const uint8_t *token, const uint8_t *given, size_t len, bool *equal)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 400; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int k = 0; k < 10; k++)
            *equal = bbf_token_equal(token, BBF_TOKEN_MAX, given, len);
        clock_gettime(CLOCK_MONOTONIC, &end);
        uint64_t ns = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)end.tv_nsec -
                      (uint64_t)begin.tv_nsec;
        best = ns < best ? ns : best;
    }
    return best;
}

/* How long a comparison takes does not say how much of the token was right. */
static void token_compares_in_constant_time(void **state)
{
    static uint8_t token[BBF_TOKEN_MAX], given[BBF_TOKEN_MAX];
    bool equal;

    (void)state;
    memset(token, 'x', sizeof token);
    memset(given, 'x', sizeof given);
    uint64_t right = compare_ns(token, given, sizeof given, &equal);
    assert_true(equal);
    given[sizeof given - 1] = 'y';
    uint64_t last = compare_ns(token, given, sizeof given, &equal);
    assert_false(equal);
    memset(given, 'y', sizeof given);
    uint64_t first = compare_ns(token, given, sizeof given, &equal);
    assert_false(equal);
    print_message(
        "a token of 4,096 bytes, 10 times: right %llu ns, last byte wrong %llu, all wrong "
        "%llu\n",
        (unsigned long long)right, (unsigned long long)last, (unsigned long long)first);
    assert_in_range(last, right / 2, right * 2);
    assert_in_range(first, right / 2, right * 2);
}

static void put_file(const char *path, const char *text, size_t len, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), len);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void token_files_that_are_taken_and_refused(void **state)
{
    static const struct {
        const char *text;
        size_t len;
        mode_t mode;
        const char *expected, *why;
    } cases[] = {
        {"token", 5, 0600, "token", ""},          {"token\n", 6, 0400, "token", ""},
        {"token\r", 6, 0600, "token", ""},        {"token", 5, 0640, NULL, "others"},
        {"token", 5, 0604, NULL, "others"},       {"token", 5, 0200, NULL, "readable"},
        {"", 0, 0600, NULL, "1 to 4096"},         {"\n", 1, 0600, NULL, "1 to 4096"},
        {"token\r\n", 7, 0600, NULL, "one line"}, {"to\nken", 6, 0600, NULL, "one line"},
    };
    char path[128], link[128], why[PATH_MAX + 100];
    struct bbf_token token;

    (void)state;
    snprintf(path, sizeof path, "%s/token", peer_base);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file(path, cases[i].text, cases[i].len, cases[i].mode);
        int err = bbf_token_open(&token, path, why, sizeof why);
        if (geteuid() != 0 && cases[i].mode == 0200) {
            assert_int_equal(err, BBF_EPERMISSION); /* the kernel's own words */
        } else if (cases[i].expected == NULL) {
            assert_int_equal(err, BBF_EPERMISSION);
            assert_non_null(strstr(why, cases[i].why));
        } else {
            assert_int_equal(err, BBF_OK);
            assert_int_equal(token.len, strlen(cases[i].expected));
            assert_memory_equal(token.bytes, cases[i].expected, token.len);
            bbf_token_remove(&token); /* not ours to delete */
        }
        assert_int_equal(unlink(path), 0);
    }
    /* A symlink, a folder, a FIFO, another user's file. */
    put_file(path, "token", 5, 0600);
    snprintf(link, sizeof link, "%s/link", peer_base);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(bbf_token_open(&token, link, why, sizeof why), BBF_EPERMISSION);
    assert_non_null(strstr(why, "symlink"));
    assert_int_equal(bbf_token_open(&token, peer_base, why, sizeof why), BBF_EPERMISSION);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(mkfifo(link, 0600), 0);
    assert_int_equal(bbf_token_open(&token, link, why, sizeof why), BBF_EPERMISSION);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_int_equal(bbf_token_open(&token, path, why, sizeof why), BBF_EPERMISSION);
        assert_non_null(strstr(why, "another user"));
    }
    unlink(path);
    unlink(link);
}

static void a_token_that_is_made(void **state)
{
    struct bbf_token one, two, again;
    char why[PATH_MAX + 100], path[128];
    struct stat st;

    (void)state;
    mode_t old = umask(0777);
    assert_int_equal(bbf_token_make(&one, peer_base, why, sizeof why), BBF_OK);
    umask(old);
    assert_int_equal(bbf_token_make(&two, peer_base, why, sizeof why), BBF_OK);
    assert_int_equal(one.len, 43);
    assert_int_equal(strspn((char *)one.bytes,
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                            "0123456789-_"),
                     43);
    assert_memory_not_equal(one.bytes, two.bytes, 43);
    assert_string_not_equal(one.path, two.path);
    assert_int_equal(stat(one.path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(bbf_token_open(&again, one.path, why, sizeof why), BBF_OK);
    assert_int_equal(again.len, 43);
    assert_memory_equal(again.bytes, one.bytes, 43);
    bbf_token_remove(&again);
    assert_int_equal(access(one.path, F_OK), 0);
    /* Another file of that name is not ours. */
    assert_int_equal(rename(two.path, one.path), 0);
    bbf_token_remove(&one);
    assert_int_equal(access(one.path, F_OK), 0);
    assert_int_equal(rename(one.path, two.path), 0);
    bbf_token_remove(&two);
    assert_int_equal(access(two.path, F_OK), -1);
    /* A path that is named and not there is made, in a folder that is there. */
    snprintf(path, sizeof path, "%s/named", peer_base);
    assert_int_equal(bbf_token_open(&one, path, why, sizeof why), BBF_OK);
    assert_true(one.made && one.len == 43);
    bbf_token_remove(&one);
    snprintf(path, sizeof path, "%s/no/named", peer_base);
    assert_int_equal(bbf_token_open(&one, path, why, sizeof why), BBF_EIO);
    bbf_token_wipe(&two);
    assert_int_equal(two.len, 0);
    assert_int_equal(two.bytes[0] | two.bytes[42], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(token_compares_whole),
        cmocka_unit_test(token_compares_in_constant_time),
        cmocka_unit_test(token_files_that_are_taken_and_refused),
        cmocka_unit_test(a_token_that_is_made),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
