/* link: bbf_wire bbf_core */
/*
 * The client's end: against the real server, and against peers that are something else, silent,
 * gone or wrong. Also the Python client of docs/protocol.md, as it stands there.
 */
#include "tests/unit/wire_peer.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tests/unit/wire_flat.h"
#include "wire/conn_io.h"

static char why[512];

static struct bbf_conn *open_conn(const struct bbf_server *server)
{
    struct bbf_conn *conn;
    int err = bbf_conn_open_unix(&conn, bbf_server_path(server), 5000, why, sizeof why);

    if (err != BBF_OK)
        fail_msg("open: %d %s", err, why);
    return conn;
}

static int ask(const struct bbf_server *server, const char *event, struct bbf_buf *document)
{
    struct bbf_conn *conn = open_conn(server);
    int err = bbf_conn_event(conn, event, document, why, sizeof why);

    bbf_conn_close(conn);
    return err;
}

static void a_question_and_its_document(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_buf document = BBF_BUF_INIT;

    (void)state;
    assert_int_equal(ask(server, "hello", &document), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&document), "hello\n");
    bbf_buf_free(&document);
    assert_int_equal(ask(server, "text 12345", &document), BBF_OK);
    assert_int_equal(document.len, 12345);
    bbf_buf_free(&document);
    assert_int_equal(ask(server, "doc 30000000", &document), BBF_OK);
    assert_int_equal(document.len, 30000000);
    for (size_t i = 0; i < document.len; i += 997)
        assert_int_equal(document.data[i], i % 61 == 60 ? '\n' : (char)('a' + i % 26));
    bbf_buf_free(&document);
    assert_int_equal(ask(server, "doc 0", &document), BBF_OK);
    assert_int_equal(document.len, 0);
    bbf_server_stop(server, 1000);
}

struct sizes {
    size_t messages, deflated, bytes;
};

static void note_size(void *ctx, const struct bbf_command *command)
{
    struct sizes *sizes = ctx;

    if (command->type != BBF_CMD_MESSAGE)
        return;
    sizes->messages++;
    sizes->deflated += command->deflated;
    sizes->bytes += command->text[0].len;
}

static struct sizes sizes_of(const struct bbf_server *server, const char *event, uint32_t compress)
{
    struct bbf_conn_config config = {.path = bbf_server_path(server),
                                     .protocol = BBF_PROTOCOL_2,
                                     .timeout_ms = 5000,
                                     .compress = compress};
    struct sizes sizes = {0, 0, 0};
    struct bbf_conn *conn;

    assert_int_equal(bbf_conn_open(&conn, &config, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_conn_ask(conn, NULL, event, &sizes, note_size, why, sizeof why), BBF_OK);
    bbf_conn_close(conn);
    return sizes;
}

static void long_messages_are_deflated_for_who_asks(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});

    (void)state;
    struct sizes sizes = sizes_of(server, "doc 3000000", 0);
    assert_int_equal(sizes.deflated, 0);
    sizes = sizes_of(server, "doc 3000000", 4096);
    assert_int_equal(sizes.messages, 3);
    assert_int_equal(sizes.deflated, 3);
    assert_int_equal(sizes.bytes, 3000000);
    sizes = sizes_of(server, "doc 4096", 4096);
    assert_int_equal(sizes.messages, 1);
    assert_int_equal(sizes.deflated, 0);
    bbf_server_stop(server, 1000);
}

static void a_refusal_says_why(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_buf document = BBF_BUF_INIT;

    (void)state;
    assert_int_equal(ask(server, "fail", &document), BBF_EREFUSED);
    assert_string_equal(why, "it did not work");
    assert_int_equal(document.len, 0);
    /* Without an ERROR, its text does. */
    assert_int_equal(ask(server, "what?", &document), BBF_EREFUSED);
    assert_string_equal(why, "known: hello, text, doc, slow, fail\n");
    bbf_buf_free(&document);
    bbf_server_stop(server, 1000);
}

static void one_conversation_a_connection(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_conn *conn = open_conn(server);
    struct bbf_buf document = BBF_BUF_INIT;

    (void)state;
    assert_int_equal(bbf_conn_event(conn, "hello", &document, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_conn_event(conn, "hello", &document, why, sizeof why), BBF_ECLOSED);
    assert_string_equal(why, "this connection has had its conversation");
    assert_int_equal(bbf_conn_set(conn, NULL, 0, &document, why, sizeof why), BBF_ECLOSED);
    assert_string_equal(bbf_buf_cstr(&document), "hello\n");
    bbf_buf_free(&document);
    bbf_conn_close(conn);
    bbf_conn_close(NULL);
    bbf_server_stop(server, 1000);
}

static struct bbf_entry param(const char *key, const char *value)
{
    struct bbf_entry entry = {.value = {.kind = BBF_VALUE_STRING}};

    entry.key = (struct bbf_wire_str){(char *)(uintptr_t)key, strlen(key)};
    entry.value.text = (struct bbf_wire_str){(char *)(uintptr_t)value, strlen(value)};
    return entry;
}

static void options_are_set_and_answered(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_conn *conn = open_conn(server);
    struct bbf_buf answer = BBF_BUF_INIT;
    struct bbf_entry params[2] = {param("age", "5m"), param("include", "com.app+org.x")};

    (void)state;
    assert_int_equal(bbf_conn_set(conn, params, 2, &answer, why, sizeof why), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&answer), "age=5m\ninclude=com.app+org.x\n");
    bbf_buf_free(&answer);
    params[1] = param("bad", "1");
    assert_int_equal(bbf_conn_set(conn, params, 2, &answer, why, sizeof why), BBF_EREFUSED);
    assert_string_equal(bbf_buf_cstr(&answer), "bad: no such option");
    assert_string_equal(why, "bad: no such option");
    bbf_buf_free(&answer);
    /* The connection is still good for a question. */
    assert_int_equal(bbf_conn_event(conn, "hello", &answer, why, sizeof why), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&answer), "hello\n");
    bbf_buf_free(&answer);
    bbf_conn_close(conn);
    bbf_server_stop(server, 1000);
}

static void a_slow_agent_times_out(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_buf document = BBF_BUF_INIT;
    struct bbf_conn *conn;

    (void)state;
    assert_int_equal(bbf_conn_open_unix(&conn, bbf_server_path(server), 200, why, sizeof why),
                     BBF_OK);
    int64_t before = peer_now_ms();
    assert_int_equal(bbf_conn_event(conn, "slow 600", &document, why, sizeof why), BBF_ETIMEOUT);
    assert_in_range(peer_now_ms() - before, 190, 590);
    assert_string_equal(why, "the agent did not answer within 200 ms");
    bbf_conn_close(conn);
    bbf_server_stop(server, 2000);
}

static void many_clients_at_once(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.max_clients = 32});
    struct bbf_conn *conns[32];

    (void)state;
    for (int i = 0; i < 32; i++)
        conns[i] = open_conn(server);
    struct bbf_conn *extra;
    assert_int_equal(bbf_conn_open_unix(&extra, bbf_server_path(server), 2000, why, sizeof why),
                     BBF_EREFUSED);
    assert_non_null(strstr(why, "too many clients"));
    assert_null(extra);
    for (int i = 0; i < 32; i++) {
        struct bbf_buf document = BBF_BUF_INIT;
        assert_int_equal(bbf_conn_event(conns[i], "text 5000", &document, why, sizeof why), BBF_OK);
        assert_int_equal(document.len, 5000);
        bbf_buf_free(&document);
        bbf_conn_close(conns[i]);
    }
    bbf_server_stop(server, 1000);
}

/* A peer that answers any connection with fixed bytes, then waits for us to go, or goes itself. */
struct stub {
    const char *bytes;
    size_t len;
    bool closes;
    int listen_fd;
    pthread_t thread;
    char path[108];
};

static void *stub_main(void *arg)
{
    struct stub *stub = arg;
    char waste[4096];
    int fd = accept(stub->listen_fd, NULL, NULL);

    if (fd < 0)
        return NULL;
    if (recv(fd, waste, 4, MSG_WAITALL) == 4 && stub->len > 0)
        send(fd, stub->bytes, stub->len, MSG_NOSIGNAL);
    if (stub->closes)
        shutdown(fd, SHUT_WR);
    while (recv(fd, waste, sizeof waste, 0) > 0)
        continue;
    close(fd);
    return NULL;
}

static void stub_start(struct stub *stub)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(stub->path, sizeof stub->path, "%s/stub.sock", peer_base);
    unlink(stub->path);
    strcpy(address.sun_path, stub->path);
    stub->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stub->listen_fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(stub->listen_fd, 4), 0);
    assert_int_equal(pthread_create(&stub->thread, NULL, stub_main, stub), 0);
}

static void stub_stop(struct stub *stub)
{
    shutdown(stub->listen_fd, SHUT_RDWR);
    assert_int_equal(pthread_join(stub->thread, NULL), 0);
    close(stub->listen_fd);
    unlink(stub->path);
}

/* What a question ends in when the peer says these bytes. */
static void against(const char *bytes, size_t len, bool closes, int expected, const char *text)
{
    struct stub stub = {.bytes = bytes, .len = len, .closes = closes};
    struct bbf_buf document = BBF_BUF_INIT;
    struct bbf_conn *conn;

    stub_start(&stub);
    int err = bbf_conn_open_unix(&conn, stub.path, 300, why, sizeof why);
    if (err == BBF_OK) {
        err = bbf_conn_event(conn, "hello", &document, why, sizeof why);
        bbf_conn_close(conn);
    }
    stub_stop(&stub);
    if (err != expected || strstr(why, text) == NULL)
        fail_msg("%d %s, not %d %s", err, why, expected, text);
    bbf_buf_free(&document);
}
#define AGAINST(bytes, closes, err, text) against(bytes, sizeof bytes - 1, closes, err, text)

#define LISTED                                                                                     \
    "BTR2\x03\x0E\0\0\0\x01\0\0\0\x0C"                                                             \
    "abc [bbflow]"

static void other_peers_are_told_apart(void **state)
{
    (void)state;
    AGAINST("", false, BBF_ETIMEOUT, "within 300 ms");
    AGAINST("", true, BBF_EREFUSED, "at once");
    AGAINST("BT", true, BBF_EREFUSED, "at once");
    AGAINST("HTTP/1.1 400 Bad Request\r\n", true, BBF_EVERSION, "no BTrace v2");
    AGAINST("\xAC\xED\x00\x05", false, BBF_EVERSION, "v1 only");
    AGAINST("BTR2", true, BBF_ECLOSED, "closed the connection");
    AGAINST("BTR2", false, BBF_ETIMEOUT, "within 300 ms");
    AGAINST("BTR2\x02", false, BBF_EVERSION, "frame version");
    AGAINST("BTR2\x03\x12", false, BBF_EFORMAT, "unknown command type");
    AGAINST("BTR2\x03\x0E\0\0\0\x01\0\0", true, BBF_ECLOSED, "in the middle of an answer");
    /* A stock BTrace agent: no probes, or others'. */
    AGAINST("BTR2\x03\x0E\0\0\0\0", false, BBF_ENOTFOUND, "no bbflow probe");
    AGAINST("BTR2\x03\x0E\0\0\0\x02\xFF\xFF\xFF\xFF\0\0\0\x0D"
            "abc [a.Probe]",
            false, BBF_ENOTFOUND, "no bbflow probe");
    AGAINST(LISTED "\x03\x06\0\0\0\x08\0", false, BBF_EREFUSED, "refused to reconnect to abc");
    AGAINST(LISTED "\x03\x06\0\0\0\x08\x01", true, BBF_ECLOSED, "closed the connection");
    AGAINST(LISTED "\x03\x06\0\0\0\x08\x01\x03\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\x04"
                   "oops"
                   "\x03\x0F\0\0\0\x03"
                   "abc",
            false, BBF_EREFUSED, "oops");
}

/* Commands that we did not ask for are passed over; a stock agent deflates long texts. */
static void strange_but_legal_answers_are_understood(void **state)
{
    struct bbf_buf s2c = BBF_BUF_INIT, document = BBF_BUF_INIT;
    struct bbf_command message = {.type = BBF_CMD_MESSAGE, .flag = true};
    char text[5000];
    struct stub stub = {0};
    struct bbf_conn *conn;

    (void)state;
    memset(text, 'x', sizeof text);
    message.text[0] = (struct bbf_wire_str){text, sizeof text};
    bbf_buf_add(&s2c, "BTR2\x03\x05\xFF\xFF\xFF\xFF", 10);
    bbf_buf_add(&s2c, &LISTED[4], sizeof LISTED - 5);
    bbf_buf_add(&s2c, "\x03\x0B\0\0\0\x01\x03\x06\0\0\0\x08\x01", 13);
    assert_int_equal(bbf_command_encode(&s2c, &message, BBF_DEFLATE_OVER), BBF_OK);
    message.timestamp_ms = 5; /* of the live stream: no part of the document */
    assert_int_equal(bbf_command_encode(&s2c, &message, BBF_DEFLATE_OVER), BBF_OK);
    bbf_buf_add(&s2c,
                "\x03\x0F\0\0\0\x03"
                "abc",
                9);
    stub.bytes = s2c.data;
    stub.len = s2c.len;
    stub_start(&stub);
    assert_int_equal(bbf_conn_open_unix(&conn, stub.path, 2000, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_conn_event(conn, "hello", &document, why, sizeof why), BBF_OK);
    assert_int_equal(document.len, sizeof text);
    assert_memory_equal(document.data, text, sizeof text);
    bbf_conn_close(conn);
    stub_stop(&stub);
    bbf_buf_free(&document);
    bbf_buf_free(&s2c);
}

/* ---- what is sent in pieces ---- */

/* In v1, with little room in the socket; the other end is *peer. */
static struct bbf_conn *paired(int *peer, unsigned timeout_ms)
{
    struct bbf_conn *conn = calloc(1, sizeof *conn);
    int fds[2], room = 8192;

    assert_non_null(conn);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room), 0);
    conn->fd = fds[0];
    conn->timeout_ms = timeout_ms;
    conn->reader = bbf_v1_reader_new(&bbf_wire_client_limits);
    assert_non_null(conn->reader);
    *peer = fds[1];
    return conn;
}

struct reading {
    int fd;
    struct bbf_buf got;
};

static void *read_to_the_end(void *ctx)
{
    struct reading *reading = ctx;
    char bytes[997];
    ssize_t n;

    while ((n = recv(reading->fd, bytes, sizeof bytes, 0)) > 0)
        bbf_buf_add(&reading->got, bytes, (size_t)n);
    return NULL;
}

static struct bbf_command instrument(size_t len)
{
    struct bbf_command c = {
        .type = BBF_CMD_INSTRUMENT, .code = malloc(len), .code_len = len, .n_entries = 0};

    assert_non_null(c.code);
    for (size_t i = 0; i < len; i++)
        c.code[i] = (uint8_t)(i * 7 + (i >> 10));
    return c;
}

/* 2,000 pieces, more than one sendmsg() takes, cut anywhere by a socket that is full. */
static void long_texts_arrive_whole(void **state)
{
    enum { TEXTS = 1000, LONG = 16384 };
    static struct bbf_wire_str list[TEXTS];
    static char text[LONG + TEXTS];
    struct bbf_command probes = {.type = BBF_CMD_LIST_PROBES, .list = list, .n_list = TEXTS};
    struct bbf_command exit = {.type = BBF_CMD_EXIT};
    struct bbf_buf expected = BBF_BUF_INIT;
    struct bbf_pieces pieces = BBF_PIECES_INIT;
    struct reading reading = {-1, BBF_BUF_INIT};
    struct bbf_conn *conn = paired(&reading.fd, 5000);
    pthread_t reader;
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + (i * 7 + (i >> 8)) % 26);
    for (size_t i = 0; i < TEXTS; i++)
        list[i] = (struct bbf_wire_str){text + i, LONG};
    assert_int_equal(pthread_create(&reader, NULL, read_to_the_end, &reading), 0);
    assert_int_equal(bbf_conn_send(conn, &probes, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_conn_send(conn, &exit, why, sizeof why), BBF_OK);
    bbf_conn_close(conn);
    pthread_join(reader, NULL);
    assert_int_equal(bbf_v1_encode_pieces(&pieces, &probes, false), BBF_OK);
    (void)bbf_pieces_all(&pieces, &n);
    assert_true(n > IOV_MAX);
    flatten(&expected, &pieces);
    assert_int_equal(bbf_v1_encode(&expected, &exit, true), BBF_OK);
    assert_int_equal(reading.got.len, expected.len);
    assert_memory_equal(reading.got.data, expected.data, expected.len);
    bbf_pieces_free(&pieces);
    bbf_buf_free(&expected);
    bbf_buf_free(&reading.got);
    close(reading.fd);
}

static void nobody_takes_it(void **state)
{
    struct bbf_command code = instrument(2000 << 10);
    int peer;
    struct bbf_conn *conn = paired(&peer, 50);

    (void)state;
    assert_int_equal(bbf_conn_send(conn, &code, why, sizeof why), BBF_ETIMEOUT);
    close(peer);
    assert_int_equal(bbf_conn_send(conn, &code, why, sizeof why), BBF_ECLOSED);
    bbf_conn_close(conn);
    free(code.code);
}

/* ---- TCP, tokens, v1 ------------------------------------------------------------------------- */

/* A TCP peer with one line for each connection it accepts: what it has to be sent, exactly, what it
 * then says, and whether it closes. `answer` NULL ends the list. */
struct turn {
    const char *expect;
    size_t expect_len;
    const char *answer;
    size_t answer_len;
    bool closes;
};
struct tcp_stub {
    const struct turn *turns;
    int listen_fd, wrong; /* the first turn (from 1) whose client said something else */
    char port[8];
    char heard[256]; /* behind what was expected, on the last connection */
    size_t heard_len;
    pthread_t thread;
};
#define TURN(expect, answer, closes)                                                               \
    {                                                                                              \
        expect, sizeof expect - 1, answer, sizeof answer - 1, closes                               \
    }
#define NO_MORE_TURNS                                                                              \
    {                                                                                              \
        NULL, 0, NULL, 0, false                                                                    \
    }

static void *tcp_main(void *arg)
{
    struct tcp_stub *stub = arg;
    char got[4096];

    for (const struct turn *turn = stub->turns; turn->answer != NULL; turn++) {
        int fd = accept(stub->listen_fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        ssize_t n = recv(fd, got, turn->expect_len, MSG_WAITALL);
        if (stub->wrong == 0 &&
            (n != (ssize_t)turn->expect_len || memcmp(got, turn->expect, turn->expect_len) != 0))
            stub->wrong = (int)(turn - stub->turns) + 1;
        send(fd, turn->answer, turn->answer_len, MSG_NOSIGNAL);
        if (turn->closes)
            shutdown(fd, SHUT_WR);
        stub->heard_len = 0;
        while ((n = recv(fd, stub->heard + stub->heard_len, sizeof stub->heard - stub->heard_len,
                         0)) > 0)
            stub->heard_len += (size_t)n;
        close(fd);
    }
    return NULL;
}

static void tcp_start(struct tcp_stub *stub, const struct turn *turns)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;

    *stub = (struct tcp_stub){.turns = turns};
    stub->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stub->listen_fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(stub->listen_fd, 4), 0);
    assert_int_equal(getsockname(stub->listen_fd, (struct sockaddr *)&address, &size), 0);
    snprintf(stub->port, sizeof stub->port, "%u", (unsigned)ntohs(address.sin_port));
    assert_int_equal(pthread_create(&stub->thread, NULL, tcp_main, stub), 0);
}

static void tcp_stop(struct tcp_stub *stub)
{
    shutdown(stub->listen_fd, SHUT_RDWR);
    assert_int_equal(pthread_join(stub->thread, NULL), 0);
    close(stub->listen_fd);
    assert_int_equal(stub->wrong, 0);
}

static struct bbf_conn_config tcp_config(const struct tcp_stub *stub, enum bbf_protocol protocol,
                                         const char *token)
{
    return (struct bbf_conn_config){.host = "127.0.0.1",
                                    .port = stub->port,
                                    .protocol = protocol,
                                    .timeout_ms = 300,
                                    .token = (const uint8_t *)token,
                                    .token_len = token != NULL ? strlen(token) : 0};
}

/* What "hello" over TCP ends in; *document is what came. */
static int ask_tcp(const struct turn *turns, enum bbf_protocol protocol, const char *token,
                   struct bbf_buf *document)
{
    struct tcp_stub stub;
    struct bbf_conn *conn;

    tcp_start(&stub, turns);
    struct bbf_conn_config config = tcp_config(&stub, protocol, token);
    int err = bbf_conn_open(&conn, &config, why, sizeof why);
    if (err == BBF_OK) {
        err = bbf_conn_event(conn, "hello", document, why, sizeof why);
        bbf_conn_close(conn);
    }
    tcp_stop(&stub);
    return err;
}

/* A whole conversation in one turn: the peer hears the first `expect` bytes and says all at once.
 */
#define V2_ANSWERS "BTR2" LIST_ANSWER BOUND HELLO DISCONNECT_ANSWER
#define V1_HEADER  "\xAC\xED\x00\x05"
#define V1_ANSWERS                                                                                 \
    V1_HEADER "\x77\x34\x0E\0\0\0\x01\0\x2D" PROBE " [bbflow]"                                     \
              "\x79\x77\x05\x06\0\0\0\x08"                                                         \
              "\x79\x77\x14\x04\0\0\0\0\0\0\0\0\0\0\0\0\x06hello\n"                                \
              "\x79\x77\x27\x0F\0\x24" PROBE

static void over_tcp_v2_is_spoken_first(void **state)
{
    static const struct turn turns[] = {TURN("BTR2", V2_ANSWERS, false), NO_MORE_TURNS};
    struct bbf_buf document = BBF_BUF_INIT;

    (void)state;
    int err = ask_tcp(turns, BBF_PROTOCOL_AUTO, NULL, &document);
    assert_string_equal(err == BBF_OK ? bbf_buf_cstr(&document) : why, "hello\n");
    bbf_buf_free(&document);
}

/* An answer of v1, the end, silence, anything else: a new connection and v1. */
static void an_agent_of_v1_is_asked_anew(void **state)
{
    static const struct turn answers_v1[] = {TURN("BTR2", V1_HEADER, false),
                                             TURN(V1_HEADER, V1_ANSWERS, false), NO_MORE_TURNS};
    static const struct turn closes[] = {TURN("BTR2", "", true), TURN(V1_HEADER, V1_ANSWERS, false),
                                         NO_MORE_TURNS};
    static const struct turn is_silent[] = {TURN("BTR2", "", false),
                                            TURN(V1_HEADER, V1_ANSWERS, false), NO_MORE_TURNS};
    static const struct turn *const peers[] = {answers_v1, closes, is_silent};

    (void)state;
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        struct bbf_buf document = BBF_BUF_INIT;
        int err = ask_tcp(peers[i], BBF_PROTOCOL_AUTO, NULL, &document);
        assert_string_equal(err == BBF_OK ? bbf_buf_cstr(&document) : why, "hello\n");
        bbf_buf_free(&document);
        assert_int_equal(ask_tcp(peers[i] + 1, BBF_PROTOCOL_1, NULL, &document), BBF_OK);
        bbf_buf_free(&document);
    }
    static const struct turn once[] = {TURN("BTR2", V1_HEADER, false), NO_MORE_TURNS};
    struct bbf_buf document = BBF_BUF_INIT;
    assert_int_equal(ask_tcp(once, BBF_PROTOCOL_2, NULL, &document), BBF_EVERSION);
    static const struct turn web[] = {TURN("BTR2", "HTTP/1.1 400 Bad Request\r\n", true),
                                      TURN(V1_HEADER, "HTTP/1.1 400 Bad Request\r\n", true),
                                      NO_MORE_TURNS};
    assert_int_equal(ask_tcp(web, BBF_PROTOCOL_AUTO, NULL, &document), BBF_EVERSION);
    assert_string_equal(why, "who answers there speaks no BTrace");
}

/* What is sent in v1 is what a stock client sends: a reset before each command but the first. */
static void v1_says_what_a_stock_client_says(void **state)
{
    static const char expected[] =
        V1_HEADER "\x77\x05\x0E\0\0\0\0"
                  "\x79\x77\x27\x10\0\x24" PROBE "\x79\x77\x08\x01\0\x05hello"
                  "\x79\x77\x03\x0F\0\0";
    static const struct turn turns[] = {TURN("", V1_ANSWERS, false), NO_MORE_TURNS};
    struct bbf_buf document = BBF_BUF_INIT;
    struct tcp_stub stub;
    struct bbf_conn *conn;

    (void)state;
    tcp_start(&stub, turns);
    struct bbf_conn_config config = tcp_config(&stub, BBF_PROTOCOL_1, NULL);
    assert_int_equal(bbf_conn_open(&conn, &config, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_conn_protocol(conn), BBF_PROTOCOL_1);
    assert_int_equal(bbf_conn_event(conn, "hello", &document, why, sizeof why), BBF_OK);
    bbf_conn_close(conn);
    tcp_stop(&stub);
    bbf_buf_free(&document);
    assert_int_equal(stub.heard_len, sizeof expected - 1);
    assert_memory_equal(stub.heard, expected, sizeof expected - 1);
}

static void a_token_goes_first(void **state)
{
    static const struct turn accepted[] = {TURN("BTA1\0\0\0\x05s3cr3", "BTAK" V2_ANSWERS, false),
                                           NO_MORE_TURNS};
    static const struct turn anew[] = {TURN("BTA1\0\0\0\x05s3cr3", "BTAK" V1_HEADER, false),
                                       TURN("BTA1\0\0\0\x05s3cr3", "BTAK" V1_ANSWERS, false),
                                       NO_MORE_TURNS};
    static const struct turn wrong[] = {TURN("BTA1\0\0\0\x01x", "BTAF", true), NO_MORE_TURNS};
    static const struct turn missing[] = {TURN("BTR2", "BTAF", true), NO_MORE_TURNS};
    static const struct turn missing_v1[] = {TURN(V1_HEADER, "BTAF", true), NO_MORE_TURNS};
    static const struct turn none_wanted[] = {TURN("BTA1\0\0\0\x01x", V1_HEADER, true),
                                              NO_MORE_TURNS};
    static const struct turn closed[] = {TURN("BTA1\0\0\0\x01x", "", true), NO_MORE_TURNS};
    struct bbf_buf document = BBF_BUF_INIT;

    (void)state;
    assert_int_equal(ask_tcp(accepted, BBF_PROTOCOL_AUTO, "s3cr3", &document), BBF_OK);
    assert_int_equal(ask_tcp(anew, BBF_PROTOCOL_AUTO, "s3cr3", &document), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&document), "hello\nhello\n");
    bbf_buf_free(&document);
    /* No second try in any of these. */
    assert_int_equal(ask_tcp(wrong, BBF_PROTOCOL_AUTO, "x", &document), BBF_EPERMISSION);
    assert_non_null(strstr(why, "the token is wrong"));
    assert_int_equal(ask_tcp(missing, BBF_PROTOCOL_AUTO, NULL, &document), BBF_EPERMISSION);
    assert_non_null(strstr(why, "asks for a token: --token-file"));
    assert_int_equal(ask_tcp(missing_v1, BBF_PROTOCOL_1, NULL, &document), BBF_EPERMISSION);
    assert_int_equal(ask_tcp(none_wanted, BBF_PROTOCOL_AUTO, "x", &document), BBF_EREFUSED);
    assert_non_null(strstr(why, "no token; leave it out"));
    assert_int_equal(ask_tcp(closed, BBF_PROTOCOL_AUTO, "x", &document), BBF_EREFUSED);
}

/* 192.0.2.0/24 is nobody's: a connect to it would not come back within the time-out. */
static void a_token_stays_on_this_machine(void **state)
{
    struct bbf_conn_config config = {.host = "192.0.2.1",
                                     .port = "2020",
                                     .timeout_ms = 50,
                                     .token = (const uint8_t *)"x",
                                     .token_len = 1};
    struct bbf_conn *conn;

    (void)state;
    assert_int_equal(bbf_conn_open(&conn, &config, why, sizeof why), BBF_EPERMISSION);
    assert_non_null(strstr(why, "--remote-token"));
    assert_null(conn);
    config.token_anywhere = true;
    assert_int_not_equal(bbf_conn_open(&conn, &config, why, sizeof why), BBF_EPERMISSION);
    assert_null(strstr(why, "--remote-token"));
    config.token = NULL;
    config.token_anywhere = false;
    assert_int_not_equal(bbf_conn_open(&conn, &config, why, sizeof why), BBF_EPERMISSION);
}

static void where_nobody_listens(void **state)
{
    static const struct turn none[] = {NO_MORE_TURNS};
    struct bbf_conn *conn;
    struct tcp_stub stub;

    (void)state;
    tcp_start(&stub, none);
    tcp_stop(&stub);
    struct bbf_conn_config config = tcp_config(&stub, BBF_PROTOCOL_AUTO, NULL);
    assert_int_equal(bbf_conn_open(&conn, &config, why, sizeof why), BBF_ENOTFOUND);
    assert_non_null(strstr(why, "nobody listens on port"));
    config.host = "no.such.host.invalid";
    assert_int_equal(bbf_conn_open(&conn, &config, why, sizeof why), BBF_ENOTFOUND);
}

/* A wait that a signal may end leaves the connection, and half a frame on it, as they are. */
static void a_wait_can_be_ended(void **state)
{
    struct bbf_command command;
    struct bbf_conn *conn;
    int stop[2], feed[2];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[108];

    (void)state;
    assert_int_equal(pipe(stop), 0);
    snprintf(path, sizeof path, "%s/wait.sock", peer_base);
    strcpy(address.sun_path, path);
    feed[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(feed[0], (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(feed[0], 1), 0);
    struct stub stub = {.bytes = "BTR2\x03\x06\0\0", .len = 8, .listen_fd = feed[0]};
    assert_int_equal(pthread_create(&stub.thread, NULL, stub_main, &stub), 0);
    assert_int_equal(bbf_conn_open_unix(&conn, path, 2000, why, sizeof why), BBF_OK);
    assert_int_equal(write(stop[1], "x", 1), 1);
    assert_int_equal(bbf_conn_receive_until(conn, stop[0], &command, why, sizeof why), BBF_EMORE);
    bbf_conn_set_timeout(conn, 50);
    assert_int_equal(bbf_conn_receive(conn, &command, why, sizeof why), BBF_ETIMEOUT);
    bbf_conn_close(conn);
    assert_int_equal(pthread_join(stub.thread, NULL), 0);
    close(feed[0]);
    close(stop[0]);
    close(stop[1]);
    unlink(path);
}

static void where_nobody_answers(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct bbf_conn *conn;
    char path[108], longer[300];

    (void)state;
    snprintf(path, sizeof path, "%s/none.sock", peer_base);
    assert_int_equal(bbf_conn_open_unix(&conn, path, 100, why, sizeof why), BBF_ENOTFOUND);
    assert_non_null(strstr(why, "no such socket"));
    assert_null(conn);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    assert_int_equal(bbf_conn_open_unix(&conn, path, 100, why, sizeof why), BBF_ENOTFOUND);
    assert_non_null(strstr(why, "nobody answers"));
    unlink(path);
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(bbf_conn_open_unix(&conn, longer, 100, why, sizeof why), BBF_EIO);
}

/* A full backlog: connect would block, and we wait no longer than we were told to. */
static void a_peer_that_accepts_nobody_times_out(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct bbf_conn *conn;
    char path[108];
    int waiting[2], err;

    (void)state;
    snprintf(path, sizeof path, "%s/full.sock", peer_base);
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    for (int i = 0; i < 2; i++)
        waiting[i] = raw_connect(path);
    err = bbf_conn_open_unix(&conn, path, 150, why, sizeof why);
    assert_int_equal(err, BBF_ETIMEOUT);
    assert_non_null(strstr(why, "not accepted within 150 ms"));
    for (int i = 0; i < 2; i++)
        close(waiting[i]);
    close(fd);
    unlink(path);
}

struct finding {
    const char *expected; /* path */
    int times;
    pid_t pid;
    uid_t uid;
};

static void note_finding(void *ctx, pid_t pid, uid_t uid, const char *path)
{
    struct finding *finding = ctx;

    if (strcmp(path, finding->expected) == 0) {
        finding->times++;
        finding->pid = pid;
        finding->uid = uid;
    }
}

static void running_agents_are_found_and_dead_ones_cleared_away(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct finding finding = {.expected = bbf_server_path(server)};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char dir[90], stale[sizeof address.sun_path], other[120];

    (void)state;
    setenv("XDG_RUNTIME_DIR", peer_base, 1);
    snprintf(dir, sizeof dir, "%s/bbflow-%u", peer_base, (unsigned)geteuid());
    snprintf(stale, sizeof stale, "%s/99999999.sock", dir);
    snprintf(other, sizeof other, "%s/notes.txt", dir);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(address.sun_path, stale, sizeof stale);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    FILE *file = fopen(other, "w");
    assert_non_null(file);
    fclose(file);
    bbf_conn_discover(&finding, note_finding);
    assert_int_equal(finding.times, 1);
    /* Its name says 1000-something; the kernel knows better. */
    assert_int_equal(finding.pid, getpid());
    assert_int_equal(finding.uid, geteuid());
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(other, F_OK), 0);
    /* A folder that others may enter is not looked into. */
    assert_int_equal(chmod(dir, 0755), 0);
    finding.times = 0;
    bbf_conn_discover(&finding, note_finding);
    assert_int_equal(finding.times, 0);
    assert_int_equal(chmod(dir, 0700), 0);
    unlink(other);
    unsetenv("XDG_RUNTIME_DIR");
    bbf_server_stop(server, 1000);
}

/* The text between ```python and ``` of docs/protocol.md. */
static void write_document_client(const char *path)
{
    FILE *from = fopen(BBF_SOURCE_DIR "/docs/protocol.md", "r"), *to = fopen(path, "w");
    char line[256];
    bool inside = false;
    int lines = 0;

    assert_non_null(from);
    assert_non_null(to);
    while (fgets(line, sizeof line, from) != NULL) {
        if (strncmp(line, "```", 3) == 0)
            inside = strcmp(line, "```python\n") == 0;
        else if (inside)
            lines += fputs(line, to) >= 0;
    }
    fclose(from);
    assert_int_equal(fclose(to), 0);
    assert_in_range(lines, 30, 60);
}

static void the_python_client_of_the_documents_works(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    char script[108], command[512], got[20000];

    (void)state;
    if (system("python3 -c '' 2>/dev/null") != 0) {
        bbf_server_stop(server, 1000);
        skip();
    }
    snprintf(script, sizeof script, "%s/client.py", peer_base);
    write_document_client(script);
    snprintf(command, sizeof command, "python3 '%s' '%s' 'text 12345'", script,
             bbf_server_path(server));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(got, 1, sizeof got, pipe);
    assert_int_equal(pclose(pipe), 0);
    assert_int_equal(n, 12345);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], i % 61 == 60 ? '\n' : (char)('a' + i % 26));
    snprintf(command, sizeof command, "python3 '%s' '%s' fail 2>&1", script,
             bbf_server_path(server));
    pipe = popen(command, "r");
    assert_non_null(pipe);
    n = fread(got, 1, sizeof got - 1, pipe);
    got[n] = '\0';
    assert_int_equal(WEXITSTATUS(pclose(pipe)), 1);
    assert_string_equal(got, "it did not work\n");
    bbf_server_stop(server, 1000);
}

/* Over TCP, with the token of a file; and what it ends with when that is another. */
static void it_works_over_tcp_with_a_token(void **state)
{
    static struct bbf_token token = {.bytes = "s3cr3t", .len = 6};
    struct bbf_server *server = start((struct bbf_server_config){.tcp = true, .token = &token});
    char script[108], command[512], got[64] = "";

    (void)state;
    if (system("python3 -c '' 2>/dev/null") != 0) {
        bbf_server_stop(server, 1000);
        skip();
    }
    snprintf(script, sizeof script, "%s/tcp.py", peer_base);
    write_document_client(script);
    for (int wrong = 0; wrong < 2; wrong++) {
        snprintf(command, sizeof command,
                 "echo %s >'%s/t'; python3 '%s' 127.0.0.1:%u hello '%s/t' 2>&1 | tail -1",
                 wrong ? "other" : "s3cr3t", peer_base, script, (unsigned)bbf_server_port(server),
                 peer_base);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        got[fread(got, 1, sizeof got - 1, pipe)] = '\0';
        pclose(pipe);
        assert_string_equal(got, wrong ? "AssertionError: another token\n" : "hello\n");
    }
    bbf_server_stop(server, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_and_its_document),
        cmocka_unit_test(long_messages_are_deflated_for_who_asks),
        cmocka_unit_test(a_refusal_says_why),
        cmocka_unit_test(one_conversation_a_connection),
        cmocka_unit_test(options_are_set_and_answered),
        cmocka_unit_test(a_slow_agent_times_out),
        cmocka_unit_test(many_clients_at_once),
        cmocka_unit_test(other_peers_are_told_apart),
        cmocka_unit_test(strange_but_legal_answers_are_understood),
        cmocka_unit_test(over_tcp_v2_is_spoken_first),
        cmocka_unit_test(long_texts_arrive_whole),
        cmocka_unit_test(nobody_takes_it),
        cmocka_unit_test(an_agent_of_v1_is_asked_anew),
        cmocka_unit_test(v1_says_what_a_stock_client_says),
        cmocka_unit_test(a_token_goes_first),
        cmocka_unit_test(a_token_stays_on_this_machine),
        cmocka_unit_test(where_nobody_listens),
        cmocka_unit_test(a_wait_can_be_ended),
        cmocka_unit_test(where_nobody_answers),
        cmocka_unit_test(a_peer_that_accepts_nobody_times_out),
        cmocka_unit_test(running_agents_are_found_and_dead_ones_cleared_away),
        cmocka_unit_test(the_python_client_of_the_documents_works),
        cmocka_unit_test(it_works_over_tcp_with_a_token),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
