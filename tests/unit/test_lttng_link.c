/* link: bbf_wire bbf_core pthread */
/*
 * The link to a session daemon over real sockets, with a clock of the test's own: it registers,
 * answers, gives up what stalls, comes back later each time, and does what a hostile daemon asks
 * for no faster than its limits. Then the client with its thread, and two daemons at once.
 */
#include "core/clock.h"
#include "core/err.h"
#include "lttng_bytes.h"
#include "wire/lttng/client.h"
#include "wire/lttng/link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const loggers[] = {"bbflow.leak", "bbflow.misuse"};
static char folder[] = "/tmp/bbf-lttng-XXXXXX", port_file[64];
static struct lttng_bytes bytes;

/* ---- a daemon ---- */

static void write_port(const char *path, uint16_t port)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%u\n", port);
    fclose(file);
}

static int listen_at(const char *path)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    write_port(path, ntohs(address.sin_port));
    return fd;
}

static void send_all(int fd)
{
    assert_int_equal(send(fd, bytes.at, bytes.len, MSG_NOSIGNAL), bytes.len);
    bytes.len = 0;
}

static void expect(int fd, const char *expected, size_t len)
{
    char got[256];
    size_t n = 0;

    while (n < len) {
        struct pollfd in = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&in, 1, 5000), 1);
        ssize_t more = recv(fd, got + n, len - n, 0);
        assert_true(more > 0);
        n += (size_t)more;
    }
    assert_memory_equal(got, expected, len);
}

/* ---- a link, driven by the test ---- */

static int64_t now_ms;

static void start_link(struct bbf_lttng_link *link, enum bbf_lttng_version version, bool may_switch)
{
    const struct bbf_lttng_state state = {
        .version = version, .loggers = loggers, .n_loggers = 2, .enabled = BBF_LTTNG_ENABLED_INIT};

    setenv("LTTNG_UST_APP_PATH", folder, 1);
    now_ms = 1000000;
    assert_true(bbf_lttng_link_init(link, BBF_LTTNG_USER, 77, &state));
    link->may_switch = may_switch;
    bytes.len = 0;
}

/* Do all work that is due; the clock does not advance. */
static void drive(struct bbf_lttng_link *link)
{
    for (int i = 0; i < 100; i++) {
        struct pollfd p = bbf_lttng_link_poll(link);
        int ready = p.fd >= 0 ? poll(&p, 1, 20) : 0;
        bbf_lttng_link_work(link, ready > 0 ? p.revents : 0, now_ms, 0);
        if (ready <= 0 && i > 0)
            return;
    }
    fail_msg("the link has work without an end");
}

static void drive_until_due(struct bbf_lttng_link *link)
{
    assert_true(link->due_ms > now_ms);
    now_ms = link->due_ms;
    drive(link);
}

static int accept_link(int listener, struct bbf_lttng_link *link)
{
    drive(link);
    assert_int_not_equal(link->fd, -1);
    drive(link);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), one = 1;
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), 0);
    return fd;
}

static const char registration[] = "\0\0\0\3\0\0\0\115\0\0\0\2\0\0\0";

static void registers_and_answers(void **state)
{
    struct bbf_lttng_link link;
    int listener = listen_at(port_file);
    (void)state;

    start_link(&link, BBF_LTTNG_2_0, true);
    int fd = accept_link(listener, &link);
    expect(fd, registration, 16);
    add_enable(&bytes, "bbflow.*", INT32_MIN, 0, NULL);
    add_header(&bytes, false, 0, 4);
    add_header(&bytes, false, 0, 1);
    send_all(fd);
    drive(&link);
    expect(fd, "\0\0\0\1", 4);
    expect(fd, "\0\0\0\1\0\0\0\032\0\0\0\2bbflow.leak\0bbflow.misuse", 38);
    assert_true(link.state.is_registered);
    assert_int_equal(bbf_lttng_enabled_levels(&link.state.enabled, "bbflow.leak").most, INT32_MAX);
    add_header(&bytes, false, 3, 42);
    add_bytes(&bytes, "abc", 3);
    add_disable(&bytes, "bbflow.*");
    add_disable(&bytes, "bbflow.*");
    add_header(&bytes, false, 5, 2);
    add_bytes(&bytes, "short", 5);
    send_all(fd);
    drive(&link);
    expect(fd, "\0\0\0\2\0\0\0\1\0\0\0\3\0\0\0\2", 16);
    assert_int_equal(link.malformed, 1);
    assert_int_equal(link.phase, BBF_LTTNG_OPEN);
    close(fd);
    drive(&link);
    assert_int_equal(link.phase, BBF_LTTNG_WAITING);
    assert_int_equal(link.state.enabled.n, 0);
    bbf_lttng_link_free(&link);
    close(listener);
}

static void commands_come_in_any_pieces(void **state)
{
    struct bbf_lttng_link link;
    int listener = listen_at(port_file);
    (void)state;

    start_link(&link, BBF_LTTNG_2_0, true);
    int fd = accept_link(listener, &link);
    expect(fd, registration, 16);
    add_enable(&bytes, "bbflow.leak", 900, 1, "logger_name == \"bbflow.leak\"");
    add_header(&bytes, false, 0, 1);
    for (size_t i = 0; i < bytes.len; i++) {
        assert_int_equal(send(fd, bytes.at + i, 1, MSG_NOSIGNAL), 1);
        bbf_lttng_link_work(&link, POLLIN, now_ms, 0);
    }
    drive(&link);
    expect(fd, "\0\0\0\1\0\0\0\1\0\0\0\032\0\0\0\2bbflow.leak\0bbflow.misuse", 42);
    bbf_lttng_link_free(&link);
    close(fd);
    close(listener);
}

/* Each malformed length ends or is answered, and the link comes back; later each time. */
static void comes_back_later_each_time(void **state)
{
    struct bbf_lttng_link link;
    int listener = listen_at(port_file);
    int64_t expected = BBF_LTTNG_RETRY_FIRST_MS;
    (void)state;

    start_link(&link, BBF_LTTNG_2_0, true);
    for (int i = 0; i < 8; i++) {
        int fd = accept_link(listener, &link);
        add_header(&bytes, false, UINT64_MAX, 2);
        send_all(fd);
        drive(&link);
        assert_int_equal(link.phase, BBF_LTTNG_WAITING);
        assert_int_equal(link.fd, -1);
        assert_in_range(link.due_ms - now_ms, expected - expected / 4, expected + expected / 4);
        expected = 2 * expected < BBF_LTTNG_RETRY_MOST_MS ? 2 * expected : BBF_LTTNG_RETRY_MOST_MS;
        close(fd);
        now_ms = link.due_ms;
    }
    int fd = accept_link(listener, &link);
    add_header(&bytes, false, 0, 4);
    send_all(fd);
    drive(&link);
    close(fd);
    drive(&link);
    assert_in_range(link.due_ms - now_ms, 375, 625); /* it was registered in between */
    bbf_lttng_link_free(&link);
    close(listener);
}

static void no_daemon(void **state)
{
    struct bbf_lttng_link link;
    (void)state;

    unlink(port_file);
    start_link(&link, BBF_LTTNG_2_0, true);
    for (int i = 0; i < 3; i++) {
        bbf_lttng_link_work(&link, 0, now_ms, 0);
        assert_int_equal(link.phase, BBF_LTTNG_WAITING);
        assert_in_range(link.due_ms - now_ms, 1500, 2500);
        now_ms = link.due_ms;
    }
    int listener = listen_at(port_file); /* it was killed, and its file is there */
    close(listener);
    drive(&link);
    drive(&link);
    assert_int_equal(link.phase, BBF_LTTNG_WAITING);
    assert_true(link.due_ms > now_ms);
    bbf_lttng_link_free(&link);
}

static void what_stalls_is_given_up(void **state)
{
    struct bbf_lttng_link link;
    int listener = listen_at(port_file);
    (void)state;

    start_link(&link, BBF_LTTNG_2_0, true); /* registered by silence: by no means */
    int fd = accept_link(listener, &link);
    assert_int_equal(link.due_ms, now_ms + BBF_LTTNG_STALL_MS);
    drive_until_due(&link);
    assert_int_equal(link.phase, BBF_LTTNG_WAITING);
    close(fd);

    now_ms = link.due_ms;
    fd = accept_link(listener, &link);
    add_header(&bytes, false, 0, 4);
    send_all(fd);
    drive(&link);
    assert_int_equal(link.due_ms, INT64_MAX); /* between commands it waits for ever */
    assert_int_equal(send(fd, "\0\0\0", 3, MSG_NOSIGNAL), 3);
    drive(&link);
    assert_int_equal(link.due_ms, now_ms + BBF_LTTNG_STALL_MS);
    drive_until_due(&link);
    assert_int_equal(link.phase, BBF_LTTNG_WAITING);
    close(fd);
    bbf_lttng_link_free(&link);
    close(listener);
}

static size_t drain(int fd)
{
    static char got[1 << 20];
    size_t n = 0;
    ssize_t more;

    while ((more = recv(fd, got, sizeof got, MSG_DONTWAIT)) > 0)
        n += (size_t)more;
    return n;
}

enum { CODES = 3000 };

/* The link takes 3,000 commands in three seconds and no faster, and does not spin meanwhile. */
static void a_flood_has_to_wait(void **state)
{
    struct bbf_lttng_link link;
    int listener = listen_at(port_file);
    size_t codes = 0;
    (void)state;

    start_link(&link, BBF_LTTNG_2_0, true);
    int fd = accept_link(listener, &link);
    expect(fd, registration, 16);
    for (int i = 0; i < CODES; i++)
        add_header(&bytes, false, 0, 99);
    send_all(fd);
    for (int second = 1; second <= CODES / BBF_LTTNG_COMMANDS_A_SECOND; second++) {
        drive(&link);
        codes += drain(fd) / 4;
        assert_int_equal(codes, second * BBF_LTTNG_COMMANDS_A_SECOND);
        assert_int_equal(bbf_lttng_link_poll(&link).fd, -1);
        assert_int_equal(link.due_ms, now_ms + 1000);
        now_ms = link.due_ms;
    }
    bbf_lttng_link_free(&link);
    close(fd);
    close(listener);
}

/* The answers to what was read at once are more than BBF_LTTNG_ANSWERS_MAX; the daemon reads them
 * and says nothing more. All commands are answered, and the clock does not advance. */
static void commands_behind_many_answers(void **state)
{
    enum { LISTS = 1000, LIST_BYTES = 12 + 5 * 14 };
    static const char *const five[] = {"bbflow.logger", "bbflow.lagger", "bbflow.ligger",
                                       "bbflow.lugger", "bbflow.legger"};
    _Static_assert(LISTS * LIST_BYTES > (int)BBF_LTTNG_ANSWERS_MAX, "one pass would answer all");
    _Static_assert(LISTS <= (int)BBF_LTTNG_COMMANDS_A_SECOND, "the clock would have to advance");
    struct bbf_lttng_link link;
    int listener = listen_at(port_file);
    size_t got = 0;
    (void)state;

    start_link(&link, BBF_LTTNG_2_0, true);
    link.state.loggers = five;
    link.state.n_loggers = 5;
    int fd = accept_link(listener, &link);
    expect(fd, registration, 16);
    for (int i = 0; i < LISTS; i++)
        add_header(&bytes, false, 0, 1);
    send_all(fd);
    struct pollfd p = bbf_lttng_link_poll(&link);
    while (p.fd >= 0 && poll(&p, 1, 100) > 0) { /* as its owner does, and never without a reason */
        bbf_lttng_link_work(&link, p.revents, now_ms, 0);
        got += drain(fd);
        p = bbf_lttng_link_poll(&link);
    }
    got += drain(fd);
    assert_int_equal(got, LISTS * LIST_BYTES);
    assert_int_equal(link.in.len, 0);
    bbf_lttng_link_free(&link);
    close(fd);
    close(listener);
}

/* A daemon that asks and does not read: what waits for it is bounded, and so is what is read. */
static void answers_that_are_not_read(void **state)
{
    struct bbf_lttng_link link;
    int listener = listen_at(port_file), small = 1024;
    size_t most = 0;
    (void)state;

    start_link(&link, BBF_LTTNG_2_0, true);
    assert_int_equal(setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    int fd = accept_link(listener, &link);
    assert_int_equal(setsockopt(link.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    for (int round = 0; round < 200; round++) {
        bytes.len = 0;
        for (int i = 0; i < 500; i++)
            add_header(&bytes, false, 0, 1);
        (void)!send(fd, bytes.at, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        drive(&link);
        now_ms += 500;
        most = link.out.len > most ? link.out.len : most;
        assert_true(link.in.len < BBF_LTTNG_PAYLOAD_MAX + 32 * 1024);
        if (link.phase == BBF_LTTNG_WAITING)
            break;
    }
    assert_in_range(most, BBF_LTTNG_ANSWERS_MAX, BBF_LTTNG_ANSWERS_MAX + 38);
    assert_int_equal(link.phase, BBF_LTTNG_WAITING); /* after BBF_LTTNG_STALL_MS */
    close(fd);
    bbf_lttng_link_free(&link);
    close(listener);
}

static void speaks_the_version_that_the_daemon_speaks(void **state)
{
    struct bbf_lttng_link link;
    int listener = listen_at(port_file);
    (void)state;

    start_link(&link, BBF_LTTNG_2_0, true);
    int fd = accept_link(listener, &link);
    expect(fd, registration, 16);
    add_header(&bytes, true, 0, 1);
    send_all(fd);
    drive(&link);
    assert_int_equal(link.phase, BBF_LTTNG_WAITING);
    close(fd);
    now_ms = link.due_ms;
    fd = accept_link(listener, &link);
    add_header(&bytes, true, 0, 1);
    add_header(&bytes, true, 1024, 2);
    add_name(&bytes, "bbflow.leak", 1024);
    send_all(fd);
    drive(&link);
    expect(fd, "\0\0\0\0\0\0\0\2bbflow.leak\0bbflow.misuse\0\0\0\0\1\0\0\0\1", 42);
    assert_int_equal(link.state.enabled.n, 1);
    add_header(&bytes, false, 0, 1); /* and back */
    send_all(fd);
    drive(&link);
    assert_int_equal(link.state.version, BBF_LTTNG_2_0);
    close(fd);
    bbf_lttng_link_free(&link);

    start_link(&link, BBF_LTTNG_0_1, false);
    fd = accept_link(listener, &link);
    add_header(&bytes, false, 0, 1);
    send_all(fd);
    drive(&link);
    assert_int_equal(link.phase, BBF_LTTNG_WAITING);
    assert_int_equal(link.state.version, BBF_LTTNG_0_1);
    bbf_lttng_link_free(&link);
    close(fd);
    close(listener);
}

/* ---- the client with its thread ---- */

static _Atomic int times_enabled;

static void on_enabled(void)
{
    times_enabled++;
}

static bool soon(const struct bbf_lttng_client *client, bool enabled)
{
    for (int i = 0; i < 1000; i++) {
        if (bbf_lttng_wants(client, 0, 900) == enabled)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return false;
}

static struct bbf_lttng_client *start_client(void)
{
    const struct bbf_lttng_config config = {.daemons = {true, true},
                                            .pid = 77,
                                            .loggers = loggers,
                                            .n_loggers = 2,
                                            .may_switch = true,
                                            .enabled = on_enabled};
    struct bbf_lttng_client *client;

    setenv("LTTNG_UST_APP_PATH", folder, 1);
    assert_int_equal(bbf_lttng_start(&client, &config), BBF_OK);
    return client;
}

static void the_client_follows_its_daemon(void **state)
{
    int listener = listen_at(port_file);
    struct bbf_lttng_client *client = start_client();
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    (void)state;

    times_enabled = 0;
    bytes.len = 0;
    expect(fd, registration, 16);
    assert_false(bbf_lttng_wants(client, 0, 900));
    assert_int_equal(bbf_lttng_port(client, BBF_LTTNG_USER), 0);
    add_enable(&bytes, "bbflow.leak", 900, 1, NULL);
    add_header(&bytes, false, 0, 4);
    send_all(fd);
    expect(fd, "\0\0\0\1", 4);
    assert_true(soon(client, true));
    assert_true(times_enabled == 1);
    assert_false(bbf_lttng_wants(client, 0, 800));
    assert_false(bbf_lttng_wants(client, 1, 900));
    add_disable(&bytes, "bbflow.leak");
    send_all(fd);
    expect(fd, "\0\0\0\1", 4);
    assert_true(soon(client, false));
    add_enable(&bytes, "*", 0, 0, NULL);
    send_all(fd);
    assert_true(soon(client, true));
    assert_int_not_equal(bbf_lttng_port(client, BBF_LTTNG_USER), 0);
    close(fd); /* the daemon dies: nothing is enabled, and the next one is found */
    assert_true(soon(client, false));
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    expect(fd, registration, 16);
    bbf_lttng_stop(client);
    assert_int_equal(recv(fd, bytes.at, 1, 0), 0);
    close(fd);
    close(listener);
}

/* A daemon that accepts and says nothing does not delay a stop, nor take processor time. */
static void a_silent_daemon_costs_nothing(void **state)
{
    int listener = listen_at(port_file);
    struct bbf_lttng_client *client = start_client();
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    struct timespec before, after;
    (void)state;

    expect(fd, registration, 16);
    assert_int_equal(send(fd, "\0", 1, 0), 1);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t used_ns =
        (after.tv_sec - before.tv_sec) * INT64_C(1000000000) + after.tv_nsec - before.tv_nsec;
    assert_true(used_ns < 50000000);
    uint64_t began = bbf_monotonic_ns();
    bbf_lttng_stop(client);
    assert_true(bbf_monotonic_ns() - began < UINT64_C(2000000000));
    close(fd);
    close(listener);
}

static void starts_and_stops_without_a_daemon(void **state)
{
    (void)state;
    unlink(port_file);
    for (int i = 0; i < 20; i++)
        bbf_lttng_stop(start_client());
    bbf_lttng_stop(NULL);
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(port_file, sizeof port_file, "%s/agent.port", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(port_file);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_and_answers),
        cmocka_unit_test(commands_come_in_any_pieces),
        cmocka_unit_test(comes_back_later_each_time),
        cmocka_unit_test(no_daemon),
        cmocka_unit_test(what_stalls_is_given_up),
        cmocka_unit_test(a_flood_has_to_wait),
        cmocka_unit_test(commands_behind_many_answers),
        cmocka_unit_test(answers_that_are_not_read),
        cmocka_unit_test(speaks_the_version_that_the_daemon_speaks),
        cmocka_unit_test(the_client_follows_its_daemon),
        cmocka_unit_test(a_silent_daemon_costs_nothing),
        cmocka_unit_test(starts_and_stops_without_a_daemon),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
