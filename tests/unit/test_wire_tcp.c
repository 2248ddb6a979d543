/* link: bbf_wire bbf_core */
/*
 * What the server serves beside v2 on its Unix socket: TCP on the loopback, the token, v1 clients
 * by their header, and the live stream. The expected bytes are written out.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/unit/wire_peer.h"
#include "wire/btrace/v1/v1.h"

/* ---- TCP ---- */

static int tcp_connect_to(const char *address, uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(inet_pton(AF_INET, address, &to.sin_addr), 1);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int tcp_open(const struct bbf_server *server)
{
    int fd = tcp_connect_to("127.0.0.1", bbf_server_port(server));

    assert_true(fd >= 0);
    return fd;
}

#define ASK_TCP(server, c2s, s2c)                                                                  \
    do {                                                                                           \
        int ask_fd = tcp_open(server);                                                             \
        CONVERSE_END(ask_fd, c2s, s2c);                                                            \
        close(ask_fd);                                                                             \
    } while (0)

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

/* ---- v1 ---- */

#define V1_LIST         "\x77\5\x0E\0\0\0\0"
#define V1_LIST_ANSWER  "\x79\x77\x34\x0E\0\0\0\1\0\x2D" PROBE " [bbflow]"
#define V1_RECONNECT    "\x77\x27\x10\0\x24" PROBE
#define V1_BOUND        "\x79\x77\5\6\0\0\0\x08"
#define V1_NOT_BOUND    "\x79\x77\5\6\xFF\xFF\xFF\xF8"
#define V1_EVENT        "\x79\x77\x08\1\0\5hello"
#define V1_HELLO        "\x79\x77\x14\4\0\0\0\0\0\0\0\0\0\0\0\0\6hello\n"
#define V1_DISCONNECT   "\x79\x77\3\x0F\0\0"
#define V1_DISCONNECTED "\x79\x77\x27\x0F\0\x24" PROBE
#define V1_EXIT(code)   "\x79\x77\5\2\0\0\0" code

static void v1_clients_are_known_by_their_header(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.tcp = true});

    (void)state;
    /* The answer to the header comes before any command. */
    int fd = tcp_open(server);
    CONVERSE(fd, BBF_V1_HEADER, BBF_V1_HEADER);
    CONVERSE(fd, V1_LIST, V1_LIST_ANSWER);
    CONVERSE_END(fd, V1_EXIT("\0"), "");
    close(fd);
    ASK_TCP(server, BBF_V1_HEADER V1_RECONNECT V1_EVENT V1_DISCONNECT V1_EXIT("\0"),
            BBF_V1_HEADER V1_BOUND V1_HELLO V1_DISCONNECTED);
    ASK_TCP(server, BBF_V1_HEADER V1_RECONNECT V1_EXIT("\3"), BBF_V1_HEADER V1_BOUND V1_EXIT("\3"));
    ASK_TCP(server, BBF_V1_HEADER "\x77\3\x10\0\0" V1_EXIT("\0"), BBF_V1_HEADER V1_NOT_BOUND);
    ASK_TCP(server, BBF_V1_HEADER "\x77\1\x12", BBF_V1_HEADER);
    assert_int_equal(stats_of(server).malformed, 1);
    bbf_server_stop(server, 1000);
}

static uint8_t *read_golden(const char *name, size_t *len)
{
    char path[512];
    snprintf(path, sizeof path, BBF_SOURCE_DIR "/tests/golden/wire/btrace-v1/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *data = malloc(1 << 20);
    assert_non_null(data);
    *len = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

/* What the stock 2.2.6 client really sent, answered; a script is refused so that it ends with 1:
 * ERROR, STATUS(1, failed), EXIT(1). */
static void recorded_stock_clients_are_answered(void **state)
{
    static const struct {
        const char *stream;
        enum bbf_command_type answers[4];
        size_t n;
    } sessions[] = {
        {"conv/submit_c2s.bin", {BBF_CMD_ERROR, BBF_CMD_STATUS, BBF_CMD_EXIT}, 3},
        {"conv/submit_fail_c2s.bin", {BBF_CMD_ERROR, BBF_CMD_STATUS, BBF_CMD_EXIT}, 3},
        {"conv/unattended_c2s.bin", {BBF_CMD_ERROR, BBF_CMD_STATUS, BBF_CMD_EXIT}, 3},
        {"conv/list_probes_c2s.bin", {BBF_CMD_LIST_PROBES}, 1},
        {"conv/reconnect_exit_c2s.bin", {BBF_CMD_STATUS, BBF_CMD_EXIT}, 2},
        {"conv/reconnect_event_c2s.bin",
         {BBF_CMD_STATUS, BBF_CMD_MESSAGE, BBF_CMD_STATUS, BBF_CMD_DISCONNECT},
         4},
    };
    struct bbf_server *server = start((struct bbf_server_config){.tcp = true});

    (void)state;
    for (size_t i = 0; i < sizeof sessions / sizeof sessions[0]; i++) {
        uint8_t got[8192];
        size_t len, pos = BBF_V1_HEADER_LEN;
        uint8_t *stream = read_golden(sessions[i].stream, &len);
        struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_client_limits);
        assert_non_null(reader);
        int fd = tcp_open(server);
        raw_send(fd, stream, len);
        size_t n = raw_receive(fd, got, sizeof got);
        assert_memory_equal(got, BBF_V1_HEADER, BBF_V1_HEADER_LEN);
        for (size_t k = 0; k < sessions[i].n; k++) {
            struct bbf_command c;
            size_t used;
            assert_int_equal(bbf_v1_decode(reader, &c, got + pos, n - pos, &used, NULL), BBF_OK);
            assert_int_equal(c.type, sessions[i].answers[k]);
            if (c.type == BBF_CMD_ERROR)
                assert_string_equal(c.text[1].s, "bbflow runs no scripts");
            if (c.type == BBF_CMD_STATUS && sessions[i].n == 3)
                assert_true(c.number[0] == 1 && !c.flag);
            if (c.type == BBF_CMD_EXIT && sessions[i].n == 3)
                assert_int_equal(c.number[0], 1);
            pos += used;
            bbf_command_free(&c);
        }
        assert_int_equal(pos, n);
        close(fd);
        bbf_v1_reader_free(reader);
        free(stream);
    }
    bbf_server_stop(server, 1000);
}

/* A large v1 command a piece at a time: is it complete although the server waits for more to come
 * before it tries again? Both when the sender pauses and when it ends. */
static void a_slow_v1_sender_is_understood(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.tcp = true});
    size_t len;
    uint8_t *params = read_golden("set_params_all_types.bin", &len);

    (void)state;
    for (size_t step = 1; step <= 64; step *= 8) {
        char got[4096];
        int fd = tcp_open(server);
        raw_send(fd, params, BBF_V1_HEADER_LEN);
        for (size_t at = BBF_V1_HEADER_LEN; at < len; at += step) {
            raw_send(fd, params + at, len - at < step ? len - at : step);
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
        /* Its answer: the options that are not a stock client's, then STATUS(0). */
        size_t n = raw_receive(fd, got, BBF_V1_HEADER_LEN + 9);
        assert_int_equal(n, BBF_V1_HEADER_LEN + 9);
        assert_memory_equal(got, BBF_V1_HEADER "\x79\x77", BBF_V1_HEADER_LEN + 2);
        shutdown(fd, SHUT_WR);
        assert_true(raw_closes(fd, 5000));
        close(fd);
    }
    assert_int_equal(stats_of(server).malformed, 0);
    free(params);
    bbf_server_stop(server, 1000);
}

/* ---- the live stream ---- */

#define EVENT_WATCH "\x03\x01\0\0\0\x05watch"

/* One live MESSAGE of v2; its time is not 0. Returns the text's length. */
static size_t live_message(int fd, char text[1100])
{
    uint8_t head[16];
    uint64_t time = 0;

    assert_int_equal(raw_receive(fd, head, 16), 16);
    assert_int_equal(head[0] << 8 | head[1], 0x0304);
    for (int i = 2; i < 10; i++)
        time = time << 8 | head[i];
    assert_true(time > 1600000000000);
    size_t len = (size_t)head[14] << 8 | head[15];
    assert_true(len < 1100);
    assert_int_equal(raw_receive(fd, text, len), len);
    text[len] = '\0';
    return len;
}

static void what_is_published_flows_to_who_watches(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.queue = 4});
    char text[1100], big[2000];

    (void)state;
    memset(big, 'x', sizeof big);
    bbf_server_publish(server, "zero", 4);
    for (int i = 1; i <= 4; i++) /* queue=4: the first is dropped, and no client missed it */
        bbf_server_publish(server, (char[]){(char)('0' + i)}, 1);
    int fd = open_raw(server);
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(fd, EVENT_WATCH, sizeof EVENT_WATCH - 1);
    for (int i = 1; i <= 4; i++) {
        assert_int_equal(live_message(fd, text), 1);
        assert_int_equal(text[0], '0' + i);
    }
    bbf_server_publish(server, big, sizeof big);
    assert_int_equal(live_message(fd, text), 1024);
    /* A question in between is answered as usual; the stream continues; a new client gets the old
     * messages. */
    CONVERSE(fd, EVENT_HELLO LIST_REQUEST, HELLO LIST_ANSWER);
    bbf_server_publish(server, "five", 4);
    assert_int_equal(live_message(fd, text), 4);
    assert_string_equal(text, "five");
    bbf_server_unpublish(server);
    int other = open_raw(server);
    CONVERSE(other, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(other, EVENT_WATCH, sizeof EVENT_WATCH - 1);
    bbf_server_publish(server, "six", 3);
    assert_int_equal(live_message(other, text), 3);
    assert_string_equal(text, "six");
    CONVERSE_END(other, DISCONNECT_REQUEST, DISCONNECT_ANSWER);
    assert_int_equal(live_message(fd, text), 3);
    CONVERSE_END(fd, DISCONNECT_REQUEST, DISCONNECT_ANSWER);
    assert_int_equal(stats_of(server).lost, 0);
    close(fd);
    close(other);
    bbf_server_stop(server, 1000);
}

/* The earlier messages; ctx: the server, once it is known. */
static uint64_t begin(void *ctx, struct bbf_reply *reply)
{
    struct bbf_server **server = ctx;
    struct bbf_command line = {.type = BBF_CMD_MESSAGE,
                               .text = {{(char *)(uintptr_t) "so far", 6}},
                               .timestamp_ms = 1700000000000};

    bbf_reply_command(reply, &line);
    return bbf_server_published(*server);
}

static void a_new_watcher_is_told_what_was_and_then_what_is_new(void **state)
{
    struct bbf_server *server = NULL;
    char text[1100];

    (void)state;
    server = start((struct bbf_server_config){.begin = begin, .ctx = &server});
    bbf_server_publish(server, "old", 3);
    assert_int_equal(bbf_server_watchers(server), 0);
    int asks = open_raw(server), waits = open_raw(server);
    CONVERSE(asks, MAGIC RECONNECT, MAGIC BOUND);
    CONVERSE(waits, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(asks, EVENT_WATCH, sizeof EVENT_WATCH - 1);
    for (int i = 0; i < 2; i++) { /* without a question: after a second */
        assert_int_equal(live_message(i == 0 ? asks : waits, text), 6);
        assert_string_equal(text, "so far");
    }
    for (int i = 0; i < 100 && bbf_server_watchers(server) < 2; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(bbf_server_watchers(server), 2);
    bbf_server_publish(server, "new", 3);
    assert_int_equal(live_message(asks, text), 3);
    assert_string_equal(text, "new");
    assert_int_equal(live_message(waits, text), 3);
    CONVERSE_END(asks, DISCONNECT_REQUEST, DISCONNECT_ANSWER);
    close(asks);
    close(waits);
    for (int i = 0; i < 100 && bbf_server_watchers(server) > 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(bbf_server_watchers(server), 0);
    bbf_server_stop(server, 1000);
}

/* Connections that say nothing may have the first slots: a watcher behind them counts as well. */
static void a_watcher_behind_silent_connections_counts(void **state)
{
    enum { SILENT = 2 };
    struct bbf_server *server =
        start((struct bbf_server_config){.tcp = true, .max_clients = SILENT});
    char text[1100];
    int silent[SILENT];

    (void)state;
    for (int i = 0; i < SILENT; i++)
        silent[i] = tcp_open(server);
    while (bbf_server_clients(server) < SILENT)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    int fd = open_raw(server);
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(fd, EVENT_WATCH, sizeof EVENT_WATCH - 1);
    bbf_server_publish(server, "news", 4);
    assert_int_equal(live_message(fd, text), 4);
    assert_int_equal(bbf_server_watchers(server), 1);
    close(fd);
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    bbf_server_stop(server, 1000);
}

/* A stock client reconnects and listens: the stream comes when it has been quiet for a second. One
 * that asks at once gets its answer and nothing else. */
static void the_stream_keeps_out_of_documents(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    char text[1100];

    (void)state;
    bbf_server_publish(server, "news", 4);
    ASK(server, MAGIC RECONNECT EVENT_HELLO DISCONNECT_REQUEST,
        MAGIC BOUND HELLO DISCONNECT_ANSWER);
    int fd = open_raw(server);
    int64_t before = peer_now_ms();
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    assert_int_equal(live_message(fd, text), 4);
    assert_true(peer_now_ms() - before >= 1000);
    close(fd);
    bbf_server_stop(server, 1000);
}

/* A client that does not read keeps its place, loses the oldest messages, gets their number, and
 * costs nothing; another client gets them all. */
static void a_slow_watcher_loses_the_oldest(void **state)
{
    enum { MESSAGES = 2000, QUEUE = 10 };
    struct bbf_server *server = start((struct bbf_server_config){.queue = QUEUE, .stall_ms = 100});
    char text[1100], line[1000];
    unsigned long long lost = 0, n = 0, total = 0;

    (void)state;
    memset(line, 'y', sizeof line);
    int slow = open_raw(server), quick = open_raw(server);
    CONVERSE(slow, MAGIC RECONNECT, MAGIC BOUND);
    CONVERSE(quick, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(slow, EVENT_WATCH, sizeof EVENT_WATCH - 1);
    raw_send(quick, EVENT_WATCH, sizeof EVENT_WATCH - 1);
    for (int i = 0; i < MESSAGES; i++) {
        bbf_server_publish(server, line, sizeof line);
        assert_int_equal(live_message(quick, text), sizeof line);
    }
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); /* over the stall limit */
    bbf_server_publish(server, "last", 4);
    while (strcmp(text, "last") != 0) {
        (void)live_message(slow, text);
        if (sscanf(text, "%llu messages lost", &n) == 1)
            lost += n;
        else
            total++;
    }
    assert_true(lost > 0);
    assert_int_equal(total + lost, MESSAGES + 1);
    assert_int_equal(stats_of(server).lost, lost);
    assert_int_equal(stats_of(server).dropped, 0);
    close(slow);
    close(quick);
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
        cmocka_unit_test(token_compares_whole),
        cmocka_unit_test(token_compares_in_constant_time),
        cmocka_unit_test(token_files_that_are_taken_and_refused),
        cmocka_unit_test(a_token_that_is_made),
        cmocka_unit_test(v1_clients_are_known_by_their_header),
        cmocka_unit_test(recorded_stock_clients_are_answered),
        cmocka_unit_test(a_slow_v1_sender_is_understood),
        cmocka_unit_test(what_is_published_flows_to_who_watches),
        cmocka_unit_test(a_new_watcher_is_told_what_was_and_then_what_is_new),
        cmocka_unit_test(a_watcher_behind_silent_connections_counts),
        cmocka_unit_test(the_stream_keeps_out_of_documents),
        cmocka_unit_test(a_slow_watcher_loses_the_oldest),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
