/* link: bbf_wire bbf_core */
/*
 * What the server serves beside v2 on its Unix socket: TCP on the loopback, and the token. The
 * expected bytes are written out.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/unit/wire_peer.h"
#include "wire/btrace/v1/v1.h"

/* ---- TCP ---- */

static void tcp_serves_the_same_conversation_on_the_loopback_alone(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.tcp = true});
    struct sockaddr_in own;
    socklen_t len = sizeof own;

    (void)state;
    assert_true(bbf_server_port(server) > 0);
    ASK_TCP(server, MAGIC RECONNECT EVENT_HELLO DISCONNECT_REQUEST EXIT_7,
            MAGIC BOUND HELLO DISCONNECT_ANSWER);
    ASK(server, MAGIC RECONNECT EVENT_HELLO DISCONNECT_REQUEST,
        MAGIC BOUND HELLO DISCONNECT_ANSWER);
    /* 127.0.0.2 is also this host, but not the address of the listener. */
    assert_int_equal(tcp_connect_to("127.0.0.2", bbf_server_port(server)), -1);
    int fd = tcp_open(server);
    assert_int_equal(getpeername(fd, (struct sockaddr *)&own, &len), 0);
    assert_int_equal(own.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    close(fd);
    bbf_server_stop(server, 1000);
}

static void without_tcp_there_is_no_port(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.port = 1});

    (void)state;
    assert_int_equal(bbf_server_port(server), 0);
    bbf_server_stop(server, 1000);
}

static void one_place_of_two_is_enough(void **state)
{
    struct bbf_server *first = start((struct bbf_server_config){.tcp = true}), *second;
    struct bbf_server_config config = {.socket_dir = peer_base,
                                       .pid = 77,
                                       .max_clients = 2,
                                       .tcp = true,
                                       .port = bbf_server_port(first),
                                       .probe_id = PROBE,
                                       .event = app_event};
    char why[512];

    (void)state;
    assert_int_equal(bbf_server_start(&second, &config, why, sizeof why), BBF_OK);
    assert_non_null(strstr(why, "127.0.0.1:"));
    assert_int_equal(bbf_server_port(second), 0);
    ASK(second, MAGIC RECONNECT EXIT_7, MAGIC BOUND EXIT_7);
    bbf_server_stop(second, 1000);
    config.socket_dir = "/proc/nowhere";
    config.port = 0;
    assert_int_equal(bbf_server_start(&second, &config, why, sizeof why), BBF_OK);
    assert_non_null(strstr(why, "/proc/nowhere"));
    assert_string_equal(bbf_server_path(second), "");
    ASK_TCP(second, MAGIC RECONNECT EXIT_7, MAGIC BOUND EXIT_7);
    bbf_server_stop(second, 1000);
    config.port = bbf_server_port(first);
    assert_int_equal(bbf_server_start(&second, &config, why, sizeof why), BBF_EIO);
    bbf_server_stop(first, 1000);
}

/* Who may connect by TCP is anybody: they must not shut the owner of the socket out. */
static void strangers_leave_a_place(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.tcp = true, .max_clients = 4});
    int fds[4];

    (void)state;
    for (int i = 0; i < 3; i++) {
        fds[i] = tcp_open(server);
        CONVERSE(fds[i], MAGIC, MAGIC);
    }
    fds[3] = tcp_open(server);
    CONVERSE_END(fds[3], MAGIC, "BTAFFULL");
    ASK(server, MAGIC RECONNECT EXIT_7, MAGIC BOUND EXIT_7);
    assert_int_equal(stats_of(server).refused, 1);
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    bbf_server_stop(server, 1000);
}

/* ---- the token ---- */

#define TOKEN    "secret-of-the-test"
#define TOKEN_IS "BTA1\0\0\0\x12" TOKEN

static struct bbf_server *start_with_token(struct bbf_server_config config)
{
    static struct bbf_token token = {.bytes = TOKEN, .len = sizeof TOKEN - 1};

    config.tcp = true;
    config.token = &token;
    return start(config);
}

static void a_token_opens_both_protocols(void **state)
{
    struct bbf_server *server = start_with_token((struct bbf_server_config){0});

    (void)state;
    ASK_TCP(server, TOKEN_IS MAGIC RECONNECT EXIT_7, "BTAK" MAGIC BOUND EXIT_7);
    int fd = tcp_open(server);
    CONVERSE(fd, TOKEN_IS, "BTAK");
    CONVERSE(fd, BBF_V1_HEADER, BBF_V1_HEADER);
    close(fd);
    for (size_t step = 1; step < 5; step++) {
        static const char c2s[] = TOKEN_IS MAGIC RECONNECT EXIT_7;
        char got[64];
        fd = tcp_open(server);
        for (size_t at = 0; at < sizeof c2s - 1; at += step) {
            size_t left = sizeof c2s - 1 - at;
            raw_send(fd, c2s + at, left < step ? left : step);
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        }
        assert_int_equal(raw_receive(fd, got, sizeof got), 4 + 4 + 7 + 6);
        assert_memory_equal(got, "BTAK" MAGIC BOUND, 4 + 4 + 7);
        close(fd);
    }
    /* Not over the Unix socket: the kernel says who it is. */
    ASK(server, MAGIC RECONNECT EXIT_7, MAGIC BOUND EXIT_7);
    assert_int_equal(stats_of(server).unauthorized, 0);
    bbf_server_stop(server, 1000);
}

static void without_the_token_nothing_is_said_but_no(void **state)
{
    struct bbf_server *server = start_with_token((struct bbf_server_config){0});
    static const char longest[] = "BTA1\0\0\x10\x01";
    uint64_t n = 0;

    (void)state;
#define NO(c2s)                                                                                    \
    ASK_TCP(server, c2s, "BTAF");                                                                  \
    n++
    NO(MAGIC);
    NO(MAGIC RECONNECT EVENT_HELLO);
    NO(BBF_V1_HEADER);
    NO("GET / HTTP/1.1\r\n\r\n");
    NO("BTA1\0\0\0\0");
    NO("BTA1\xFF\xFF\xFF\xFF");
    NO("BTA1\0\0\0\x12"
       "secret-of-the-tesT" MAGIC RECONNECT);
    NO("BTA1\0\0\0\x11"
       "secret-of-the-tes");
    NO("BTA1\0\0\0\x13" TOKEN "t");
    NO("BTA1\0\0\0\x24" TOKEN TOKEN);
#undef NO
    int fd = tcp_open(server);
    CONVERSE_END(fd, longest, "BTAF");
    close(fd);
    assert_int_equal(stats_of(server).unauthorized, n + 1);
    assert_int_equal(stats_of(server).accepted, 0);
    assert_int_equal(stats_of(server).commands, 0);
    bbf_server_stop(server, 1000);
}

static void who_is_silent_before_the_token_is_left(void **state)
{
    struct bbf_server *server = start_with_token((struct bbf_server_config){.handshake_ms = 300});

    (void)state;
    int fd = tcp_open(server);
    raw_send(fd,
             "BTA1\0\0\0\x12"
             "sec",
             11);
    assert_true(raw_closes(fd, 10000));
    close(fd);
    bbf_server_stop(server, 1000);
}

/* A byte at a time, each well before the time is over: what counts is when the token is there. */
static void who_sends_the_token_slowly_is_left(void **state)
{
    struct bbf_server *server = start_with_token((struct bbf_server_config){.auth_ms = 400});
    static const char c2s[] = TOKEN_IS MAGIC;
    char got[16];
    size_t sent = 0;

    (void)state;
    int fd = tcp_open(server);
    int64_t before = peer_now_ms();
    while (sent < sizeof c2s - 1 && send(fd, c2s + sent, 1, MSG_NOSIGNAL) == 1 &&
           stats_of(server).late == 0) {
        sent++;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    assert_true(sent < sizeof c2s - 1);
    assert_in_range(peer_now_ms() - before, 390, 2000);
    assert_int_equal(raw_receive(fd, got, sizeof got), 8);
    assert_memory_equal(got, "BTAFLATE", 8);
    close(fd);
    assert_int_equal(stats_of(server).late, 1);
    /* Once the token is there it has the time that every client has. */
    fd = tcp_open(server);
    CONVERSE(fd, TOKEN_IS, "BTAK");
    nanosleep(&(struct timespec){.tv_nsec = 600000000}, NULL);
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    close(fd);
    bbf_server_stop(server, 1000);
}

/* If no token is needed, a client that sends one gets a message. */
static void a_token_that_is_not_asked_for(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.tcp = true});

    (void)state;
    ASK_TCP(server, TOKEN_IS MAGIC, "BTAFNONE");
    assert_int_equal(stats_of(server).malformed, 0);
    bbf_server_stop(server, 1000);
}

/* All places taken: a client with the token gets a message, and a stuck client makes room. */
static void who_is_stuck_makes_room(void **state)
{
    struct bbf_server *server =
        start_with_token((struct bbf_server_config){.max_clients = 2, .handshake_ms = 60000});
    static const char c2s[] = MAGIC RECONNECT "\x03\x01\0\0\0\x05watch";
    char line[1024];
    int stuck[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        stuck[i] = open_raw(server);
        int small = 4096;
        assert_int_equal(setsockopt(stuck[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
        CONVERSE(stuck[i], c2s, MAGIC BOUND);
    }
    ASK(server, "", "BTAFFULL"); /* no client is stuck yet: they are only silent */
    int fd = tcp_open(server);
    CONVERSE_END(fd, TOKEN_IS MAGIC, "BTAFFULL");
    close(fd);
    assert_int_equal(stats_of(server).refused, 2);
    /* Much is sent to both, and they do not read it. */
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 2000; i++)
        bbf_server_publish(server, line, sizeof line);
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
    ASK(server, MAGIC RECONNECT EXIT_7, MAGIC BOUND EXIT_7);
    assert_int_equal(stats_of(server).dropped, 1);
    close(stuck[0]);
    close(stuck[1]);
    bbf_server_stop(server, 1000);
}

/* auth=off: every user may connect, and none takes all places. */
static void without_a_token_no_user_takes_all_places(void **state)
{
    enum { MAX = 8, EACH = 3 }; /* of 6 over TCP */
    struct bbf_server *server = start((struct bbf_server_config){.tcp = true, .max_clients = MAX});
    int fds[MAX], pipes[2];
    char word = 0;

    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (setresuid(65534, 65534, 65534) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
            _exit(2);
        for (int i = 0; i < MAX; i++) {
            fds[i] = tcp_open(server);
            word = (char)(word + (send(fds[i], MAGIC, 4, MSG_NOSIGNAL) == 4 &&
                                  recv(fds[i], &fds[i], 4, MSG_WAITALL) == 4 &&
                                  memcmp(&fds[i], MAGIC, 4) == 0));
        }
        (void)!write(pipes[1], &word, 1);
        pause();
    }
    assert_int_equal(read(pipes[0], &word, 1), 1);
    assert_int_equal(word, EACH);
    for (int i = 0; i < 6 - EACH; i++) {
        fds[i] = tcp_open(server);
        CONVERSE(fds[i], MAGIC, MAGIC);
    }
    for (int i = 0; i < 6 - EACH; i++)
        close(fds[i]);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(pipes[0]);
    close(pipes[1]);
    bbf_server_stop(server, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tcp_serves_the_same_conversation_on_the_loopback_alone),
        cmocka_unit_test(without_tcp_there_is_no_port),
        cmocka_unit_test(one_place_of_two_is_enough),
        cmocka_unit_test(strangers_leave_a_place),
        cmocka_unit_test(a_token_opens_both_protocols),
        cmocka_unit_test(without_the_token_nothing_is_said_but_no),
        cmocka_unit_test(who_is_silent_before_the_token_is_left),
        cmocka_unit_test(who_sends_the_token_slowly_is_left),
        cmocka_unit_test(a_token_that_is_not_asked_for),
        cmocka_unit_test(who_is_stuck_makes_room),
        cmocka_unit_test(without_a_token_no_user_takes_all_places),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
