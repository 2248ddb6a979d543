/* link: bbf_core */
/* core/log.h: levels, one write a line, the file and back to stderr, nothing on stdout. */
#include "core/err.h"
#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/bbf-log-XXXXXX";
static char file_a[64], file_b[64], why[400];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(file_a, sizeof file_a, "%s/a", folder);
    snprintf(file_b, sizeof file_b, "%s/b", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)bbf_log_open(NULL, why, sizeof why);
    unlink(file_a);
    unlink(file_b);
    return rmdir(folder);
}

static const char *content(const char *path)
{
    static char text[1 << 20];
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

static void only_what_the_level_allows(void **state)
{
    (void)state;
    unlink(file_a);
    assert_int_equal(bbf_log_open(file_a, why, sizeof why), BBF_OK);
    bbf_log(BBF_LOG_ERROR, "one %d", 1); /* error is the level at start */
    bbf_log(BBF_LOG_WARN, "hidden");
    bbf_log_set_level(BBF_LOG_DEBUG);
    assert_true(bbf_log_enabled(BBF_LOG_DEBUG));
    bbf_log(BBF_LOG_WARN, "two");
    bbf_log(BBF_LOG_INFO, "three");
    bbf_log(BBF_LOG_DEBUG, "four");
    bbf_log_set_level(BBF_LOG_NONE);
    assert_false(bbf_log_enabled(BBF_LOG_ERROR));
    assert_false(bbf_log_enabled(BBF_LOG_NONE));
    bbf_log(BBF_LOG_ERROR, "hidden");
    bbf_log_set_level(BBF_LOG_INFO);
    assert_string_equal(content(file_a), "[bbflow] error: one 1\n[bbflow] warn: two\n"
                                         "[bbflow] info: three\n[bbflow] debug: four\n");
}

static void a_text_is_one_line_and_errno_survives(void **state)
{
    char longer[9000];
    (void)state;
    unlink(file_b);
    assert_int_equal(bbf_log_open(file_b, why, sizeof why), BBF_OK);
    errno = 77;
    bbf_log(BBF_LOG_ERROR, "first\nsecond\r%s", "\x1b[31m");
    assert_int_equal(errno, 77);
    assert_string_equal(content(file_b), "[bbflow] error: first second  [31m\n");
    /* DEL, C1 as UTF-8 and as a byte, a turned reading direction; what is harmless stays. */
    assert_int_equal(ftruncate(open(file_b, O_WRONLY | O_CLOEXEC), 0), 0);
    bbf_log(BBF_LOG_ERROR, "a\x7f|\xC2\x9B|\x9B|\xE2\x80\xAE|\tÉ");
    assert_string_equal(content(file_b), "[bbflow] error: a |  |?|   |\tÉ\n");
    assert_int_equal(ftruncate(open(file_b, O_WRONLY | O_CLOEXEC), 0), 0);
    bbf_log(BBF_LOG_ERROR, "first");
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    bbf_log(BBF_LOG_ERROR, "%s", longer);
    const char *second = strchr(content(file_b), '\n') + 1;
    assert_int_equal(strcspn(second, "\n"), strlen(second) - 1);
    assert_true(strlen(second) > 1000);
    assert_string_equal(second + strlen(second) - 5, "x...\n");
}

static void a_path_that_cannot_be_opened_changes_nothing(void **state)
{
    (void)state;
    unlink(file_a);
    assert_int_equal(bbf_log_open(file_a, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_log_open("/nonexistent/x", why, sizeof why), BBF_ENOTFOUND);
    assert_non_null(strstr(why, "its folder /nonexistent"));
    bbf_log(BBF_LOG_ERROR, "still here");
    assert_string_equal(content(file_a), "[bbflow] error: still here\n");
}

static void without_a_file_it_is_stderr_and_never_stdout(void **state)
{
    int saved_err = dup(STDERR_FILENO), saved_out = dup(STDOUT_FILENO);
    (void)state;
    fflush(stdout);
    unlink(file_a);
    unlink(file_b);
    int err = open(file_a, O_WRONLY | O_CREAT, 0600), out = open(file_b, O_WRONLY | O_CREAT, 0600);
    assert_true(dup2(err, STDERR_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0);
    int rc = bbf_log_open(NULL, why, sizeof why);
    bbf_log(BBF_LOG_ERROR, "to stderr");
    fflush(stdout);
    dup2(saved_err, STDERR_FILENO);
    dup2(saved_out, STDOUT_FILENO);
    close(err);
    close(out);
    close(saved_err);
    close(saved_out);
    assert_int_equal(rc, BBF_OK);
    assert_string_equal(content(file_a), "[bbflow] error: to stderr\n");
    assert_string_equal(content(file_b), "");
    assert_int_equal(bbf_log_open(NULL, why, sizeof why), BBF_OK); /* the real stderr again */
}

/* A pipe without a reader: the line is lost within its time, the next ones at once; then
 * counted. */
static void a_line_without_room_is_lost_and_counted(void **state)
{
    int ends[2], saved = dup(STDERR_FILENO);
    char text[1 << 17];
    struct timespec a, b;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
    memset(text, 'x', sizeof text);
    while (write(ends[1], text, 4096) > 0)
        continue;
    assert_true(fcntl(ends[1], F_SETFL, 0) == 0);
    fflush(stderr);
    dup2(ends[1], STDERR_FILENO);
    alarm(20); /* a hang is a failure */
    int rc = bbf_log_open("/dev/stderr", why, sizeof why);
    uint64_t before = bbf_log_lost();
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < 100; i++)
        bbf_log(BBF_LOG_ERROR, "lost %d", i);
    clock_gettime(CLOCK_MONOTONIC, &b);
    uint64_t lost = bbf_log_lost() - before;
    ssize_t all = read(ends[0], text, sizeof text);
    bbf_log(BBF_LOG_ERROR, "here again");
    ssize_t n = read(ends[0], text, sizeof text - 1);
    alarm(0);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(rc, BBF_OK);
    assert_int_equal(lost, 100);
    assert_true((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 1000);
    assert_true(all > 4096 && n > 0);
    text[n] = '\0';
    assert_string_equal(text, "[bbflow] warn: 100 lines could not be written here\n"
                              "[bbflow] error: here again\n");
    (void)bbf_log_open(NULL, why, sizeof why);
}

static void *write_lines(void *arg)
{
    for (int i = 0; i < 500; i++)
        bbf_log(BBF_LOG_ERROR, "thread %d line %d", *(int *)arg, i);
    return NULL;
}

/* Whole lines from all threads, while the file is opened anew under them. */
static void lines_of_threads_do_not_mix(void **state)
{
    pthread_t threads[4];
    int ids[4];
    size_t lines = 0;
    (void)state;
    unlink(file_a);
    assert_int_equal(bbf_log_open(file_a, why, sizeof why), BBF_OK);
    for (int i = 0; i < 4; i++) {
        ids[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &ids[i]), 0);
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(bbf_log_open(file_a, why, sizeof why), BBF_OK);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (const char *line = content(file_a); *line != '\0';
         line = strchr(line, '\n') + 1, lines++) {
        int id, number, used = 0;
        sscanf(line, "[bbflow] error: thread %d line %d\n%n", &id, &number, &used);
        assert_true(used > 0);
        assert_int_equal(line[strcspn(line, "\n")], '\n');
    }
    assert_int_equal(lines, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_the_level_allows),
        cmocka_unit_test(a_text_is_one_line_and_errno_survives),
        cmocka_unit_test(a_path_that_cannot_be_opened_changes_nothing),
        cmocka_unit_test(without_a_file_it_is_stderr_and_never_stdout),
        cmocka_unit_test(a_line_without_room_is_lost_and_counted),
        cmocka_unit_test(lines_of_threads_do_not_mix),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
