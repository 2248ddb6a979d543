/* link: bbf_agent */
/* agent/report/box_file.h: what was handed over is in the file, whole, whatever happens to the
 * file; a write that fails leaves the document before as it was. */
#include "agent/report/box_file.h"
#include "core/err.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { SLOT = 4096, MOST = BBF_BOX_SLOTS_AT + BBF_BOX_SLOTS * SLOT, WAIT_MS = 10000 };

static char base[64], path[96], previous[96], why[800], bytes[MOST + 1];
static struct bbf_box box;

static const struct bbf_box_head head = {
    .pid = 1, .slot_bytes = SLOT, .interval_ms = 20, .version = "0", .main = "com.app.Main"};

static int make_folder(void **state)
{
    (void)state;
    strcpy(base, "/tmp/bbf-box-XXXXXX");
    if (mkdtemp(base) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/x.box", base);
    snprintf(previous, sizeof previous, "%s/x.1.box", base);
    why[0] = '\0';
    alarm(60); /* a hang is a failure */
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    alarm(0);
    (void)unlink(path);
    (void)unlink(previous);
    return rmdir(base);
}

static struct bbf_box_file *open_box(void)
{
    struct bbf_box_file *f = NULL;
    assert_int_equal(bbf_box_file_open(&f, path, previous, &head, why, sizeof why), BBF_OK);
    return f;
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void hand_over(struct bbf_box_file *f, const char *text, int64_t at)
{
    struct bbf_buf document = BBF_BUF_INIT;
    while (bbf_box_file_is_busy(f))
        rest();
    bbf_buf_str(&document, text);
    bbf_box_file_write(f, &document, at);
    assert_int_equal(document.len, 0);
    while (bbf_box_file_is_busy(f))
        rest();
}

/* BBF_OK and a document that is `text`. */
static bool has(const char *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, bytes, MOST) : 0;
    if (fd >= 0)
        (void)close(fd);
    return n > 0 && bbf_box_read(&box, bytes, (size_t)n, why, sizeof why) == BBF_OK &&
           box.document != NULL && box.slot.len == strlen(text) &&
           memcmp(box.document, text, box.slot.len) == 0;
}

static void documents_take_turns_and_the_end_is_marked(void **state)
{
    char text[40];
    struct bbf_box_file *f = open_box();
    (void)state;
    for (int i = 1; i <= 5; i++) {
        snprintf(text, sizeof text, "{\"document\": %d}", i);
        hand_over(f, text, 100 + i);
        assert_true(has(text));
        assert_int_equal(box.slot.number, i);
        assert_int_equal(box.slot.captured_ms, 100 + i);
        assert_int_equal(box.damaged, 0);
        assert_true(box.has_beat);
        assert_int_equal(box.beat.state, BBF_BOX_RUNNING);
    }
    bbf_box_file_memory(f, 5, 6);
    assert_true(bbf_box_file_close(f, BBF_BOX_ENDED, WAIT_MS));
    assert_true(has(text));
    assert_int_equal(box.beat.state, BBF_BOX_ENDED);
    assert_int_equal(box.beat.memory_used, 5);
    assert_int_equal(box.beat.memory_limit, 6);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_true(box.head.inode == st.st_ino);
}

static void it_beats_without_a_document(void **state)
{
    struct bbf_box_file *f = open_box();
    uint64_t first = 0;
    (void)state;
    hand_over(f, "{}", 1);
    assert_true(has("{}"));
    first = box.beat.number;
    while (!has("{}") || box.beat.number < first + 3)
        rest();
    assert_int_equal(box.slot.number, 1);
    assert_true(bbf_box_file_close(f, BBF_BOX_STOPPED, WAIT_MS));
    assert_true(has("{}"));
    assert_int_equal(box.beat.state, BBF_BOX_STOPPED);
}

/* The lock shows a reader that the writer lives; it ends with the file. */
static void it_is_locked_while_it_is_open(void **state)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct bbf_box_file *f = open_box();
    (void)state;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_OFD_GETLK, &lock), 0);
    assert_int_equal(lock.l_type, F_WRLCK);
    assert_true(bbf_box_file_close(f, BBF_BOX_ENDED, WAIT_MS));
    lock = (struct flock){.l_type = F_RDLCK, .l_whence = SEEK_SET};
    assert_int_equal(fcntl(fd, F_OFD_GETLK, &lock), 0);
    assert_int_equal(lock.l_type, F_UNLCK);
    (void)close(fd);
}

static void what_was_there_gets_the_other_name(void **state)
{
    struct bbf_box_file *f = open_box();
    (void)state;
    hand_over(f, "{\"first\": 1}", 1);
    assert_true(bbf_box_file_close(f, BBF_BOX_ENDED, WAIT_MS));
    f = open_box();
    hand_over(f, "{\"second\": 2}", 1);
    assert_true(has("{\"second\": 2}"));
    assert_true(bbf_box_file_close(f, BBF_BOX_ENDED, WAIT_MS));
    assert_int_equal(rename(previous, path), 0);
    assert_true(has("{\"first\": 1}"));
}

/* As `logrotate copytruncate` does. */
static void a_file_that_is_cut_is_written_again(void **state)
{
    struct bbf_box_file *f = open_box();
    (void)state;
    hand_over(f, "{\"before\": 1}", 1);
    for (int at = 0; at < 6000; at += 500) {
        assert_int_equal(truncate(path, at), 0);
        hand_over(f, "{\"after\": 1}", 2);
        assert_true(has("{\"after\": 1}"));
    }
    assert_true(bbf_box_file_close(f, BBF_BOX_ENDED, WAIT_MS));
}

/* A document that has no room leaves the one before, and the next one that has is written. */
static void a_write_that_fails_leaves_the_document_before(void **state)
{
    struct rlimit before, small = {BBF_BOX_SLOTS_AT + SLOT + 1000, RLIM_INFINITY};
    static char large[3001];
    struct bbf_box_file *f = open_box();
    (void)state;
    memset(large, ' ', 3000);
    hand_over(f, "{\"first\": 1}", 1); /* slot 0; slot 1 has 1,000 bytes below the limit */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 3; i++) {
        hand_over(f, large, 2);
        assert_true(has("{\"first\": 1}"));
        assert_int_equal(box.slot.number, 1);
    }
    assert_true(bbf_box_file_failed(f, why, sizeof why));
    assert_non_null(strstr(why, "x.box: File too large"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    hand_over(f, "{\"second\": 2}", 3);
    assert_true(has("{\"second\": 2}"));
    assert_false(bbf_box_file_failed(f, why, sizeof why));
    assert_true(bbf_box_file_close(f, BBF_BOX_ENDED, WAIT_MS));
}

/* It is made anew at once the first time; a name that is taken is left to its owner. */
static void a_file_that_was_removed_is_made_anew(void **state)
{
    struct bbf_box_file *f = open_box();
    (void)state;
    hand_over(f, "{\"first\": 1}", 1);
    assert_int_equal(unlink(path), 0);
    hand_over(f, "{\"second\": 2}", 2);
    assert_true(has("{\"second\": 2}"));
    assert_int_equal(unlink(path), 0);
    FILE *other = fopen(path, "we");
    assert_non_null(other);
    assert_int_equal(fputs("another's", other) >= 0 && fclose(other) == 0, 1);
    hand_over(f, "{\"third\": 3}", 3);
    assert_true(bbf_box_file_failed(f, why, sizeof why));
    assert_non_null(strstr(why, "it was removed"));
    assert_false(has("{\"third\": 3}"));
    assert_false(bbf_box_file_close(f, BBF_BOX_ENDED, WAIT_MS));
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, strlen("another's"));
}

static void a_name_that_is_taken_is_refused(void **state)
{
    struct bbf_box_file *f = NULL;
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(bbf_box_file_open(&f, path, previous, &head, why, sizeof why),
                     BBF_EPERMISSION);
    assert_non_null(strstr(why, "a FIFO is there"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(bbf_box_file_open(&f, path, previous, &head, why, sizeof why),
                     BBF_EPERMISSION);
    assert_null(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(documents_take_turns_and_the_end_is_marked, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(it_beats_without_a_document, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(it_is_locked_while_it_is_open, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_was_there_gets_the_other_name, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_file_that_is_cut_is_written_again, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_write_that_fails_leaves_the_document_before, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_file_that_was_removed_is_made_anew, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_name_that_is_taken_is_refused, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
