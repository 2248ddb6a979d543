/* link: bbf_wire bbf_core */
/*
 * The command server's coming and going: its folder and socket, who may connect, start and stop,
 * fork and exec.
 */
#include "tests/unit/wire_peer.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>

static void stop_closes_everything(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    int fd = open_raw(server);
    char path[108];

    (void)state;
    strcpy(path, bbf_server_path(server));
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(fd,
             "\x03\x01\0\0\0\x0B"
             "doc 9000000",
             17);
    bbf_server_stop(server, 5000);
    assert_true(raw_closes(fd, 1000));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(raw_connect(path), -1);
    close(fd);
}

/* A callback that does not return is left behind; the caller continues, the socket is closed. */
static void stop_does_not_wait_for_ever(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    int fd = open_raw(server);
    char path[108];

    (void)state;
    strcpy(path, bbf_server_path(server));
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(fd, "\x03\x01\0\0\0\x09slow 1500", 15);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    int64_t before = peer_now_ms();
    bbf_server_stop(server, 100);
    int64_t took = peer_now_ms() - before;
    assert_in_range(took, 90, 1000);
    assert_int_equal(raw_connect(path), -1);
    /* The thread ends by itself, and closes its connections. */
    assert_true(raw_closes(fd, 5000));
    close(fd);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL); /* for the leak checker */
}

static int start_in(const char *base, char *why, size_t why_size)
{
    struct bbf_server *server;
    struct bbf_server_config config = {
        .socket_dir = base, .pid = 1, .max_clients = 2, .probe_id = PROBE, .event = app_event};
    int err = bbf_server_start(&server, &config, why, why_size);

    if (err == BBF_OK)
        bbf_server_stop(server, 1000);
    return err;
}

static void one_after_another_on_the_same_path(void **state)
{
    char why[512];

    (void)state;
    for (int i = 0; i < 20; i++)
        assert_int_equal(start_in(peer_base, why, sizeof why), BBF_OK);
}

static void the_folder_must_be_ours_alone(void **state)
{
    char dir[128], elsewhere[128], why[512];

    (void)state;
    snprintf(dir, sizeof dir, "%s/bbflow-%u", peer_base, (unsigned)geteuid());
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", peer_base);
    rmdir(dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(start_in(peer_base, why, sizeof why), BBF_EPERMISSION);
    assert_non_null(strstr(why, dir));
    assert_non_null(strstr(why, "mode is 0755, must be 0700"));
    if (geteuid() == 0) {
        assert_int_equal(chmod(dir, 0700), 0);
        assert_int_equal(chown(dir, 12345, 12345), 0);
        assert_int_equal(start_in(peer_base, why, sizeof why), BBF_EPERMISSION);
        assert_non_null(strstr(why, "belongs to uid 12345, not to 0"));
    }
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(symlink(elsewhere, dir), 0);
    assert_int_equal(start_in(peer_base, why, sizeof why), BBF_EPERMISSION);
    assert_non_null(strstr(why, "symlink"));
    assert_int_equal(unlink(dir), 0);
    assert_int_equal(rmdir(elsewhere), 0);
    assert_int_equal(start_in("/nonexistent/folder", why, sizeof why), BBF_EIO);
    assert_non_null(strstr(why, "/nonexistent/folder"));
    assert_int_equal(start_in("/proc", why, sizeof why), BBF_EIO);
    assert_int_equal(start_in(peer_base, why, sizeof why), BBF_OK);
}

static void a_path_too_long_is_said(void **state)
{
    char base[300], why[512];

    (void)state;
    memset(base, 'x', sizeof base);
    memcpy(base, "/tmp/", 5);
    base[100] = '\0';
    assert_int_equal(start_in(base, why, sizeof why), BBF_EIO);
    assert_non_null(strstr(why, "would exceed 107 bytes"));
}

static void the_first_usable_of_three_bases_is_taken(void **state)
{
    struct bbf_server *server;
    struct bbf_server_config config = {
        .pid = getpid(), .max_clients = 2, .probe_id = PROBE, .event = app_event};
    char why[512], expected[128];

    (void)state;
    setenv("XDG_RUNTIME_DIR", peer_base, 1);
    assert_int_equal(bbf_server_start(&server, &config, why, sizeof why), BBF_OK);
    snprintf(expected, sizeof expected, "%s/bbflow-%u/%d.sock", peer_base, (unsigned)geteuid(),
             (int)getpid());
    assert_string_equal(bbf_server_path(server), expected);
    bbf_server_stop(server, 1000);
    setenv("XDG_RUNTIME_DIR", "/nonexistent/run", 1);
    assert_int_equal(bbf_server_start(&server, &config, why, sizeof why), BBF_OK);
    snprintf(expected, sizeof expected, "/tmp/bbflow-%u/%d.sock", (unsigned)geteuid(),
             (int)getpid());
    assert_string_equal(bbf_server_path(server), expected);
    bbf_server_stop(server, 1000);
    unsetenv("XDG_RUNTIME_DIR");
}

static void stale_sockets_go_and_live_ones_stay(void **state)
{
    struct bbf_server_config config = {
        .socket_dir = peer_base, .pid = 1, .max_clients = 2, .probe_id = PROBE, .event = app_event};
    struct bbf_server *first;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[108], why[512];
    struct stat st;

    (void)state;
    assert_int_equal(bbf_server_start(&first, &config, why, sizeof why), BBF_OK);
    strcpy(path, bbf_server_path(first));
    /* The folder is also closed to others. */
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777 & ~0600u, 0);
    assert_int_equal(start_in(peer_base, why, sizeof why), BBF_EIO);
    assert_non_null(strstr(why, "another process answers"));
    ASK(first, MAGIC RECONNECT EXIT_7, MAGIC BOUND EXIT_7);
    bbf_server_stop(first, 1000);
    /* As a process leaves it that was killed. */
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    assert_int_equal(start_in(peer_base, why, sizeof why), BBF_OK);
    /* A file that is not a socket is never removed. */
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(start_in(peer_base, why, sizeof why), BBF_EIO);
    assert_non_null(strstr(why, "is not a socket"));
    assert_int_equal(unlink(path), 0);
}

/* Root only: a process of another user that gets past the folder is known by the kernel. */
static void another_user_is_refused(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    char dir[128];
    int status;

    (void)state;
    if (geteuid() != 0) {
        bbf_server_stop(server, 1000);
        skip();
    }
    snprintf(dir, sizeof dir, "%s/bbflow-0", peer_base);
    assert_int_equal(chmod(peer_base, 0755), 0);
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(chmod(bbf_server_path(server), 0777), 0);
    pid_t child = fork();
    if (child == 0) {
        char got[8];
        if (setuid(65534) != 0)
            _exit(2);
        int fd = raw_connect(bbf_server_path(server));
        if (fd < 0)
            _exit(3);
        send(fd, MAGIC, 4, MSG_NOSIGNAL);
        _exit(recv(fd, got, sizeof got, 0) <= 0 ? 0 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(stats_of(server).refused, 1);
    assert_int_equal(stats_of(server).accepted, 0);
    assert_int_equal(chmod(dir, 0700), 0);
    bbf_server_stop(server, 1000);
}

static int count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    if (dir == NULL)
        return -1;
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

static void a_forked_child_keeps_nothing(void **state)
{
    int before = count_fds(), status;
    struct bbf_server *server = start((struct bbf_server_config){0});
    int a = open_raw(server), b = open_raw(server);

    (void)state;
    CONVERSE(a, MAGIC RECONNECT, MAGIC BOUND);
    CONVERSE(b, MAGIC RECONNECT, MAGIC BOUND);
    pid_t child = fork();
    if (child == 0) {
        bbf_server_forget(server);
        close(a);
        close(b);
        int after = count_fds();
        bbf_server_stop(server, 1000); /* nothing: it is the parent's */
        _exit(after == before && access(bbf_server_path(server), F_OK) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    CONVERSE(a, EVENT_HELLO, HELLO);
    CONVERSE(b, EVENT_HELLO, HELLO);
    close(a);
    close(b);
    bbf_server_stop(server, 1000);
    assert_int_equal(count_fds(), before);
}

/* What a program sees that this process starts. */
static int count_fds_after_exec(void)
{
    int n = -1;
    FILE *pipe = popen("ls /proc/self/fd | wc -l", "r");

    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

static void every_fd_is_close_on_exec(void **state)
{
    int before = count_fds_after_exec();
    struct bbf_server *server = start((struct bbf_server_config){0});
    int fd = open_raw(server);

    (void)state;
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    assert_int_equal(count_fds_after_exec(), before);
    close(fd);
    bbf_server_stop(server, 1000);
}

static void a_config_that_cannot_work_is_refused(void **state)
{
    struct bbf_server_config config = {
        .socket_dir = peer_base, .pid = 1, .max_clients = 0, .probe_id = PROBE, .event = app_event};
    struct bbf_server *server;
    char why[64];

    (void)state;
    assert_int_equal(bbf_server_start(&server, &config, why, sizeof why), BBF_EINVAL);
    assert_null(server);
    bbf_server_stop(NULL, 0);
    bbf_server_forget(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stop_closes_everything),
        cmocka_unit_test(one_after_another_on_the_same_path),
        cmocka_unit_test(the_folder_must_be_ours_alone),
        cmocka_unit_test(a_path_too_long_is_said),
        cmocka_unit_test(the_first_usable_of_three_bases_is_taken),
        cmocka_unit_test(stale_sockets_go_and_live_ones_stay),
        cmocka_unit_test(another_user_is_refused),
        cmocka_unit_test(a_forked_child_keeps_nothing),
        cmocka_unit_test(every_fd_is_close_on_exec),
        cmocka_unit_test(a_config_that_cannot_work_is_refused),
        cmocka_unit_test(stop_does_not_wait_for_ever),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
