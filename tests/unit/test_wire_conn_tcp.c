/* link: bbf_wire bbf_core */
/*
 * The client's end over TCP: v2 first, then v1 to a peer that does not know it, the token before
 * both. The peers say fixed bytes, and note what they were sent.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>

#include "tests/unit/wire_peer.h"
#include "wire/client/conn.h"

static char why[512];

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

/* In v1 we send the same as a stock client: a reset before each command but the first. */
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
    assert_non_null(strstr(why, "without an answer to the token"));
}

/* Each reason has its own words; only a busy peer is asked again. */
static void what_turned_us_away_is_said(void **state)
{
    static const struct turn busy[] = {
        TURN("BTA1\0\0\0\x01x", "BTAFBUSY", true), TURN("BTA1\0\0\0\x01x", "BTAFBUSY", true),
        TURN("BTA1\0\0\0\x01x", "BTAK" V2_ANSWERS, false), NO_MORE_TURNS};
    static const struct turn full[] = {TURN("BTA1\0\0\0\x01x", "BTAFFULL", true), NO_MORE_TURNS};
    static const struct turn full_v2[] = {TURN("BTR2", "BTAFFULL", true), NO_MORE_TURNS};
    static const struct turn late[] = {TURN("BTA1\0\0\0\x01x", "BTAFLATE", true), NO_MORE_TURNS};
    static const struct turn none[] = {TURN("BTA1\0\0\0\x01x", "BTAFNONE", true), NO_MORE_TURNS};
    static const struct turn silent[] = {TURN("BTA1\0\0\0\x01x", "", false), NO_MORE_TURNS};
    static const struct {
        const struct turn *turns;
        const char *token;
        int err;
        const char *words;
    } cases[] = {{full, "x", BBF_EREFUSED, "too many clients (its option maxClients=)"},
                 {full_v2, NULL, BBF_EREFUSED, "too many clients (its option maxClients=)"},
                 {late, "x", BBF_EREFUSED, "did not come in time"},
                 {none, "x", BBF_EREFUSED, "asks for no token"},
                 {silent, "x", BBF_ETIMEOUT, "did not answer within 300 ms"}};
    struct bbf_buf document = BBF_BUF_INIT;

    (void)state;
    assert_int_equal(ask_tcp(busy, BBF_PROTOCOL_AUTO, "x", &document), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&document), "hello\n");
    bbf_buf_free(&document);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int err = ask_tcp(cases[i].turns, BBF_PROTOCOL_AUTO, cases[i].token, &document);
        assert_int_equal(err, cases[i].err);
        assert_non_null(strstr(why, cases[i].words));
    }
}

/* 192.0.2.0/24 is not assigned: a connect to it would not return within the time-out. */
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
    assert_non_null(strstr(why, "no process listens on port"));
    config.host = "no.such.host.invalid";
    assert_int_equal(bbf_conn_open(&conn, &config, why, sizeof why), BBF_ENOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_tcp_v2_is_spoken_first),
        cmocka_unit_test(an_agent_of_v1_is_asked_anew),
        cmocka_unit_test(v1_says_what_a_stock_client_says),
        cmocka_unit_test(a_token_goes_first),
        cmocka_unit_test(what_turned_us_away_is_said),
        cmocka_unit_test(a_token_stays_on_this_machine),
        cmocka_unit_test(where_nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
