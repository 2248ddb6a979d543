/* link: bbf_core */
/* core/file.h, core/folder.h: a file that another user put there does no harm and is refused by
 * name; our own file is replaced as a whole or left as it was. The parts with another user need
 * root. */
#include "core/err.h"
#include "core/file.h"
#include "core/folder.h"

#include <dirent.h>
#include <errno.h>
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { OTHER = 65534 };

static char base[64], target[96], secret[96], why[800];

/* A new sticky folder that everybody may write to; the process waits for nothing. */
static int make_folder(void **state)
{
    (void)state;
    strcpy(base, "/tmp/bbf-file-XXXXXX");
    if (mkdtemp(base) == NULL || chmod(base, 01777) != 0)
        return -1;
    snprintf(target, sizeof target, "%s/report.json", base);
    snprintf(secret, sizeof secret, "%s/secret", base);
    why[0] = '\0';
    alarm(30); /* a hang is a failure */
    return 0;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    alarm(0);
    umask(022);
    snprintf(command, sizeof command, "rm -rf %s", base);
    return system(command); // NOLINT: a constant and our own folder
}

static void skip_unless_root(void)
{
    if (geteuid() != 0) {
        print_message("needs root, to be another user as well\n");
        skip();
    }
}

/* In a child that is another user: its exit code. */
static int as_other(void (*act)(void))
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(20);
        if (setgid(OTHER) != 0 || setuid(OTHER) != 0)
            _exit(99);
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void put(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) != 0)
        _exit(98);
    close(fd);
}

static const char *content(const char *path)
{
    static char text[4096];
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

/* Names in the folder: none of our files may be left. */
static size_t entries(void)
{
    size_t n = 0;
    DIR *dir = opendir(base);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static int save(const char *text)
{
    return bbf_file_save(target, text, strlen(text), why, sizeof why);
}

static void is_said(const char *words)
{
    if (strstr(why, words) == NULL)
        fail_msg("no '%s' in '%s'", words, why);
}

static void a_new_file_is_ours_alone_whatever_the_umask(void **state)
{
    const mode_t masks[] = {0, 022, 0777};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        umask(masks[i]);
        assert_int_equal(save("whole"), BBF_OK);
        assert_int_equal(mode_of(target) & 07777, 0600);
        assert_string_equal(content(target), "whole");
        assert_int_equal(entries(), 1);
        unlink(target);
    }
}

static void nobody_can_guess_the_temporary_name(void **state)
{
    struct bbf_file a = {.deadline_ns = 0}, b = {.deadline_ns = 0};
    char pid[16];
    (void)state;
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    assert_int_equal(bbf_file_begin(&a, target, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_file_begin(&b, target, why, sizeof why), BBF_OK);
    assert_string_not_equal(a.temporary, b.temporary);
    assert_int_equal(strlen(a.temporary), strlen(".bbflow-") + 32);
    assert_int_equal(entries(), 2);
    assert_int_equal(bbf_file_end(&a, BBF_ENOMEM, why, sizeof why), BBF_ENOMEM);
    assert_int_equal(bbf_file_end(&b, BBF_OK, why, sizeof why), BBF_OK);
    assert_int_equal(entries(), 1);
}

static void plant_fifo(void)
{
    if (mkfifo(target, 0666) != 0)
        _exit(1);
}

static void plant_link(void)
{
    if (symlink(secret, target) != 0)
        _exit(1);
}

static void plant_folder(void)
{
    if (mkdir(target, 0777) != 0)
        _exit(1);
}

static void plant_file(void)
{
    put(target, "theirs", 0666);
}

static void plant_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", target);
    if (bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address) != 0)
        _exit(1);
}

static const struct plant {
    const char *kind;
    void (*act)(void);
} plants[] = {{"a FIFO of uid 65534", plant_fifo},
              {"a symlink of uid 65534", plant_link},
              {"a folder of uid 65534", plant_folder},
              {"a file of uid 65534", plant_file},
              {"a socket of uid 65534", plant_socket}};

static void what_another_user_put_there_is_refused_by_name(void **state)
{
    int fd;
    (void)state;
    skip_unless_root();
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        assert_int_equal(as_other(plants[i].act), 0);
        mode_t before = mode_of(target);
        assert_int_equal(save("ours"), BBF_EPERMISSION);
        is_said(target);
        is_said(plants[i].kind);
        is_said("remove it, or name another file");
        assert_int_equal(bbf_file_check(target, why, sizeof why), BBF_EPERMISSION);
        is_said(plants[i].kind);
        why[0] = '\0';
        assert_int_equal(bbf_file_append(target, &fd, why, sizeof why), BBF_EPERMISSION);
        is_said(plants[i].kind);
        assert_int_equal(bbf_file_make(target, &fd, why, sizeof why), BBF_EIO);
        assert_int_equal(errno, EEXIST);
        assert_int_equal(mode_of(target), before);
        if (S_ISREG(before))
            assert_string_equal(content(target), "theirs");
        assert_int_equal(entries(), 1); /* the secret was not made either */
        assert_int_equal(remove(target), 0);
    }
}

static void what_comes_while_it_is_written_is_refused(void **state)
{
    (void)state;
    skip_unless_root();
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        struct bbf_file file = {.deadline_ns = 0};
        assert_int_equal(bbf_file_begin(&file, target, why, sizeof why), BBF_OK);
        assert_int_equal(bbf_file_write(&file, "ours", 4), BBF_OK);
        assert_int_equal(as_other(plants[i].act), 0);
        why[0] = '\0';
        assert_int_equal(bbf_file_end(&file, BBF_OK, why, sizeof why), BBF_EPERMISSION);
        is_said(plants[i].kind);
        assert_int_equal(entries(), 1);
        assert_int_equal(remove(target), 0);
    }
}

/* The owner of the folder puts a file of their own where the temporary one was. */
static void a_swapped_temporary_file_is_noticed(void **state)
{
    struct bbf_file file = {.deadline_ns = 0};
    char path[200];
    (void)state;
    skip_unless_root();
    assert_int_equal(bbf_file_begin(&file, target, why, sizeof why), BBF_OK);
    snprintf(path, sizeof path, "%s/%s", base, file.temporary);
    put(secret, "forged", 0600);
    assert_int_equal(chown(secret, OTHER, OTHER), 0);
    assert_int_equal(rename(secret, path), 0);
    assert_int_equal(bbf_file_write(&file, "ours", 4), BBF_OK);
    assert_int_equal(bbf_file_end(&file, BBF_OK, why, sizeof why), BBF_EPERMISSION);
    is_said("another user replaced it");
}

static void a_file_of_ours_is_replaced_and_its_other_name_is_not(void **state)
{
    (void)state;
    put(secret, "old", 0644);
    assert_int_equal(link(secret, target), 0);
    assert_int_equal(save("new"), BBF_OK);
    assert_string_equal(content(target), "new");
    assert_string_equal(content(secret), "old");
    unlink(target);
    assert_int_equal(symlink(secret, target), 0); /* our own: not followed and not replaced */
    assert_int_equal(save("new"), BBF_EPERMISSION);
    assert_int_equal(errno, EEXIST);
    is_said("a symlink is there, not a regular file, and is left as it is");
    assert_string_equal(content(secret), "old");
}

static void what_fails_leaves_the_target_as_it_was(void **state)
{
    struct bbf_file file = {.deadline_ns = 1}; /* long ago */
    (void)state;
    put(target, "old", 0600);
    assert_int_equal(bbf_file_begin(&file, target, why, sizeof why), BBF_OK);
    int err = bbf_file_write(&file, "new", 3);
    assert_int_equal(err, BBF_ETIMEOUT);
    assert_int_equal(bbf_file_end(&file, err, why, sizeof why), BBF_ETIMEOUT);
    is_said("its time was over");
    assert_string_equal(content(target), "old");
    assert_int_equal(entries(), 1);
    assert_int_equal(bbf_file_check(target, why, sizeof why), BBF_OK);
    assert_string_equal(content(target), "old");
    assert_int_equal(entries(), 1);
    assert_int_equal(bbf_file_save("/nonexistent/x", "", 0, why, sizeof why), BBF_ENOTFOUND);
    is_said("/nonexistent/x: its folder /nonexistent: No such file or directory");
    assert_int_equal(bbf_file_check_folder(base, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_file_check_folder(target, why, sizeof why), BBF_ENOTFOUND);
    is_said("Not a directory");
    assert_int_equal(bbf_file_save(base, "", 0, why, sizeof why), BBF_EPERMISSION);
    assert_int_equal(errno, EEXIST);
    is_said("a folder is there, not a regular file");
}

/* Own mistakes are no attack: EEXIST, and no "of uid 0 is there, not a file of uid 0". */
static void what_we_put_there_is_no_other_users(void **state)
{
    static void (*const acts[])(void) = {plant_fifo, plant_folder, plant_socket};
    static const char *const said[] = {"a FIFO is there, not a regular file",
                                       "a folder is there, not a regular file",
                                       "a socket is there, not a regular file"};
    int fd;
    (void)state;
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        acts[i]();
        errno = 0;
        assert_int_equal(bbf_file_check(target, why, sizeof why), BBF_EPERMISSION);
        assert_int_equal(errno, EEXIST);
        is_said(said[i]);
        is_said("remove it, or name another file");
        assert_null(strstr(why, "uid"));
        why[0] = '\0';
        assert_int_equal(bbf_file_append(target, &fd, why, sizeof why), BBF_EPERMISSION);
        assert_int_equal(errno, EEXIST);
        is_said(said[i]);
        assert_int_equal(remove(target), 0);
    }
    /* A second name of our file or link may be another user's doing (fs.protected_hardlinks=0). */
    put(secret, "old", 0600);
    assert_int_equal(link(secret, target), 0);
    assert_int_equal(bbf_file_append(target, &fd, why, sizeof why), BBF_EPERMISSION);
    assert_int_equal(errno, EPERM);
    is_said("2 names (hard links)");
    assert_int_equal(remove(target), 0);
    assert_int_equal(remove(secret), 0);
    assert_int_equal(symlink(base, secret), 0);
    assert_int_equal(link(secret, target), 0);
    assert_int_equal(bbf_file_check(target, why, sizeof why), BBF_EPERMISSION);
    assert_int_equal(errno, EPERM);
    is_said("2 names (hard links)");
}

/* The limit's signal would end a process that has no handler for it. */
static void a_limit_on_file_sizes_ends_no_process(void **state)
{
    static char big[1 << 16];
    struct rlimit limit, before;
    sigset_t pending;
    int fd;
    (void)state;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 4096;
    put(target, "old", 0600);
    assert_int_equal(bbf_file_append(secret, &fd, why, sizeof why), BBF_OK);
    signal(SIGXFSZ, SIG_DFL);
    setrlimit(RLIMIT_FSIZE, &limit);
    int err = bbf_file_save(target, big, sizeof big, why, sizeof why);
    ssize_t first = bbf_file_write_some(fd, big, sizeof big);
    ssize_t second = bbf_file_write_some(fd, big, 1);
    setrlimit(RLIMIT_FSIZE, &before);
    close(fd);
    assert_int_equal(err, BBF_EIO);
    is_said("File too large");
    assert_int_equal(first, 4096);
    assert_int_equal(second, -1);
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGXFSZ), 0);
    assert_string_equal(content(target), "old");
}

static void write_in_closed_folder(void)
{
    char message[800];
    if (bbf_file_save(target, "new", 3, message, sizeof message) != BBF_OK)
        _exit(1);
    if (bbf_file_save(secret, "new", 3, message, sizeof message) != BBF_EPERMISSION ||
        strstr(message, " cannot be written to: Permission denied") == NULL)
        _exit(2);
    if (bbf_file_check(target, message, sizeof message) != BBF_OK)
        _exit(3);
    if (bbf_file_check_folder(base, message, sizeof message) != BBF_EPERMISSION)
        _exit(4);
}

static void where_the_folder_is_closed_our_file_is_written_in_place(void **state)
{
    (void)state;
    skip_unless_root();
    put(target, "a longer old text", 0600);
    assert_int_equal(chown(target, OTHER, OTHER), 0);
    assert_int_equal(chmod(base, 0755), 0);
    assert_int_equal(as_other(write_in_closed_folder), 0);
    assert_string_equal(content(target), "new");
    assert_int_equal(entries(), 1);
}

static void append_line(const char *path, int expected)
{
    int fd;
    why[0] = '\0';
    assert_int_equal(bbf_file_append(path, &fd, why, sizeof why), expected);
    if (expected == BBF_OK) {
        assert_int_equal(bbf_file_write_some(fd, "line\n", 5), 5);
        close(fd);
    } else {
        assert_int_equal(fd, -1);
    }
}

static void a_log_takes_what_is_ours_or_roots(void **state)
{
    char inner[96], link_to[128];
    (void)state;
    umask(0777);
    append_line(target, BBF_OK);
    umask(022);
    append_line(target, BBF_OK);
    assert_string_equal(content(target), "line\nline\n");
    assert_int_equal(mode_of(target) & 07777, 0600);
    assert_int_equal(link(target, secret), 0); /* a second name: of /etc/passwd, say */
    append_line(target, BBF_EPERMISSION);
    is_said("2 names (hard links)");
    unlink(target);
    assert_int_equal(symlink(secret, target), 0); /* ours, but everybody may write here */
    append_line(target, BBF_EPERMISSION);
    is_said("a symlink is there, not a regular file");
    assert_string_equal(content(secret), "line\nline\n");
    snprintf(inner, sizeof inner, "%s/own", base);
    assert_int_equal(mkdir(inner, 0755), 0);
    snprintf(link_to, sizeof link_to, "%s/log", inner);
    assert_int_equal(symlink("../secret", link_to), 0); /* no other user writes there */
    append_line(link_to, BBF_OK);
    assert_string_equal(content(secret), "line\nline\nline\n");
    unlink(link_to);
    assert_int_equal(symlink("log", link_to), 0);
    append_line(link_to, BBF_EIO); /* to itself */
    append_line("/dev/null", BBF_OK);
    append_line("/dev/tty", BBF_EPERMISSION);
    is_said("a device ");
}

static void the_names_of_streams_are_the_streams(void **state)
{
    static const char *const names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    int pipe_of[2], saved = dup(STDOUT_FILENO);
    char text[64];
    (void)state;
    /* A socket, as under systemd: open(2) of /dev/stdout fails there. */
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pipe_of), 0);
    fflush(stdout);
    assert_true(dup2(pipe_of[1], STDOUT_FILENO) >= 0);
    int results[3], fd = -1;
    for (size_t i = 0; i < 3; i++) {
        results[i] = bbf_file_append(names[i], &fd, why, sizeof why);
        if (results[i] == BBF_OK && bbf_file_write_some(fd, "line\n", 5) == 5)
            close(fd);
    }
    int saved_too = bbf_file_save("/dev/fd/1", "text", 4, why, sizeof why);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    ssize_t n = read(pipe_of[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(results[i], BBF_OK);
    assert_int_equal(saved_too, BBF_OK);
    assert_string_equal(text, "line\nline\nline\ntext");
    assert_int_equal(bbf_file_append("/dev/fd/999", &fd, why, sizeof why), BBF_EIO);
    is_said("Bad file descriptor");
    assert_int_equal(bbf_file_save("/dev/full", "x", 1, why, sizeof why), BBF_EIO);
    is_said("No space left");
    assert_int_equal(bbf_file_save("/dev/null", "x", 1, why, sizeof why), BBF_OK);
}

static char way[160], inside[160];

static void plant_way(void)
{
    if (symlink(inside, way) != 0)
        _exit(1);
}

static void another_users_link_on_the_way_is_not_followed(void **state)
{
    char path[200];
    (void)state;
    skip_unless_root();
    snprintf(way, sizeof way, "%s/way", base);
    snprintf(inside, sizeof inside, "%s/inside", base);
    snprintf(path, sizeof path, "%s/report.json", way);
    assert_int_equal(mkdir(inside, 0700), 0);
    assert_int_equal(as_other(plant_way), 0);
    assert_int_equal(bbf_file_save(path, "x", 1, why, sizeof why), BBF_EPERMISSION);
    is_said("'way' on the way is a symlink of uid 65534 and is not followed");
    assert_int_equal(chown(base, OTHER, OTHER), 0); /* in their own folder, to one of our folders */
    assert_int_equal(chmod(base, 0755), 0);
    assert_int_equal(bbf_file_save(path, "x", 1, why, sizeof why), BBF_EPERMISSION);
    assert_int_equal(chown(inside, OTHER, OTHER), 0); /* all theirs */
    assert_int_equal(bbf_file_save(path, "x", 1, why, sizeof why), BBF_OK);
    assert_int_equal(chown(base, 0, 0), 0);
    assert_int_equal(chmod(base, 01777), 0);
    unlink(way);
    assert_int_equal(symlink(inside, way), 0); /* ours */
    assert_int_equal(bbf_file_save(path, "xy", 2, why, sizeof why), BBF_OK);
    assert_int_equal(link(way, secret), 0); /* a second name of the link, which others may make */
    assert_int_equal(bbf_file_save(path, "z", 1, why, sizeof why), BBF_EPERMISSION);
    snprintf(path, sizeof path, "%s/inside/report.json", base);
    assert_string_equal(content(path), "xy");
}

/* A chroot whose /tmp is a link: absolute, or with more ".." than there are folders. */
static void a_root_folder_is_not_left(void **state)
{
    static const char *const leads[] = {"/var/tmp", "../../../../var/tmp", "var/./tmp"};
    char path[160], real[PATH_MAX];
    struct stat wanted, found;
    int folder, root;
    (void)state;
    snprintf(path, sizeof path, "%s/var", base);
    assert_int_equal(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/var/tmp", base);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(stat(path, &wanted), 0);
    root = open(base, O_PATH | O_DIRECTORY);
    snprintf(path, sizeof path, "%s/tmp", base);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(symlink(leads[i], path), 0);
        assert_int_equal(bbf_folder_open(root, "tmp", &folder, why, sizeof why), BBF_OK);
        assert_int_equal(fstat(folder, &found), 0);
        assert_true(found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino);
        close(folder);
        assert_int_equal(bbf_folder_real(root, "/./tmp//", real, why, sizeof why), BBF_OK);
        assert_string_equal(real, "/var/tmp");
        unlink(path);
    }
    assert_int_equal(symlink("tmp", path), 0);
    assert_int_equal(bbf_folder_open(root, "/tmp", &folder, why, sizeof why), BBF_EIO);
    is_said("Too many levels of symbolic links");
    assert_int_equal(bbf_folder_open(root, "none", &folder, why, sizeof why), BBF_ENOTFOUND);
    close(root);
}

static void a_file_is_set_aside_only_for_files_of_ours(void **state)
{
    char aside[sizeof target + 2];

    (void)state;
    snprintf(aside, sizeof aside, "%s.1", target);
    assert_int_equal(bbf_file_set_aside(target, aside, why, sizeof why), BBF_OK); /* nothing */
    put(target, "one", 0600);
    assert_int_equal(bbf_file_set_aside(target, aside, why, sizeof why), BBF_OK);
    assert_int_equal(access(target, F_OK), -1);
    put(target, "two", 0600);
    assert_int_equal(bbf_file_set_aside(target, aside, why, sizeof why), BBF_OK); /* replaces */
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(symlink("elsewhere", target), 0);
    assert_int_equal(bbf_file_set_aside(target, aside, why, sizeof why), BBF_EPERMISSION);
    is_said("a symlink is there");
    assert_int_equal(unlink(target), 0);
    put(target, "three", 0600);
    assert_int_equal(unlink(aside), 0);
    assert_int_equal(mkdir(aside, 0700), 0);
    assert_int_equal(bbf_file_set_aside(target, aside, why, sizeof why), BBF_EPERMISSION);
    is_said("a folder is there");
    assert_int_equal(access(target, F_OK), 0);
    assert_int_equal(rmdir(aside), 0);
    assert_int_equal(unlink(target), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_file_is_ours_alone_whatever_the_umask, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(nobody_can_guess_the_temporary_name, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_another_user_put_there_is_refused_by_name, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_comes_while_it_is_written_is_refused, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_swapped_temporary_file_is_noticed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_file_of_ours_is_replaced_and_its_other_name_is_not,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(what_fails_leaves_the_target_as_it_was, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(what_we_put_there_is_no_other_users, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_limit_on_file_sizes_ends_no_process, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(where_the_folder_is_closed_our_file_is_written_in_place,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_log_takes_what_is_ours_or_roots, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_names_of_streams_are_the_streams, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(another_users_link_on_the_way_is_not_followed, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_file_is_set_aside_only_for_files_of_ours, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_root_folder_is_not_left, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
