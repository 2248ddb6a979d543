/* link: bbf_wire bbf_core */
/*
 * Pieces: the v1 encoder's output with references, compared with its output when it copies
 * everything; and what arrives of them through a socket that is full, or that has no reader.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/wire_streams.h"
#include "wire/client/conn.h"
#include "wire/client/conn_io.h"

/* ---- what is written ---- */

/* Where blocks, their headers and the ways to write them change. */
static const size_t edges[] = {0,    1,    200,  250,  255,  256,   1013,  1018,  1019,  1020,
                               1023, 1024, 1025, 2042, 2043, 10240, 16383, 16384, 16385, 100 << 10};

static void long_code_is_not_copied(void **state)
{
    static uint8_t code[100 << 10];
    static char name[] = "name";
    struct bbf_entry entry = {.key = {name, 4}, .value.text = {name, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = (uint8_t)(i * 7 + (i >> 8));
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        struct bbf_command c = {.type = BBF_CMD_INSTRUMENT,
                                .code = code,
                                .code_len = edges[i],
                                .entries = &entry,
                                .n_entries = edges[i] % 2};
        snprintf(where, sizeof where, "code of %zu bytes", edges[i]);
        size_t copied = check_pieces(&c, i % 2 == 0);
        CHECK(edges[i] < 16384 ? copied > edges[i] : copied < 300);
    }
}

/* Its bytes at a place that differs from call to call. */
static struct bbf_wire_str any_text(void)
{
    static char texts[(100 << 10) + 64];
    size_t n = edges[(size_t)rand() % (sizeof edges / sizeof *edges)];

    if (texts[0] == '\0')
        for (size_t i = 0; i < sizeof texts; i++)
            texts[i] = (char)('a' + (i * 7 + (i >> 8)) % 26);
    memcpy(texts + 32, "\xE2\x82\xAC", 3); /* some need another form */
    return (struct bbf_wire_str){texts + rand() % 64, n < 30000 ? n : 30000};
}

static void pieces_of_any_command(void **state)
{
    static const enum bbf_command_type types[] = {
        BBF_CMD_EVENT,       BBF_CMD_INSTRUMENT,        BBF_CMD_MESSAGE,
        BBF_CMD_STRING_MAP,  BBF_CMD_GRID_DATA,         BBF_CMD_SET_PARAMS,
        BBF_CMD_LIST_PROBES, BBF_CMD_RETRANSFORM_CLASS, BBF_CMD_ERROR};
    size_t referred = 0;

    (void)state;
    srand(8);
    for (int n = 0; n < 3000; n++) {
        struct bbf_entry entries[5];
        struct bbf_value cells[5];
        struct bbf_wire_str list[5];
        struct bbf_row row = {cells, 5};
        struct bbf_command c = {.type = types[n % 9],
                                .text = {any_text(), any_text()},
                                .entries = entries,
                                .n_entries = (size_t)rand() % 6,
                                .list = list,
                                .n_list = (size_t)rand() % 6,
                                .rows = &row,
                                .n_rows = 1};
        struct bbf_wire_str code = any_text();
        c.code = (uint8_t *)code.s;
        c.code_len = code.len;
        for (size_t i = 0; i < 5; i++) {
            cells[i] = (struct bbf_value){.kind = BBF_VALUE_STRING, .text = any_text()};
            entries[i] = (struct bbf_entry){any_text(), cells[i]};
            list[i] = any_text();
        }
        snprintf(where, sizeof where, "random command %d, %s", n, bbf_command_name(c.type));
        struct bbf_buf out = BBF_BUF_INIT;
        CHECK(bbf_v1_encode(&out, &c, false) == BBF_OK);
        referred += check_pieces(&c, false) < out.len;
        bbf_buf_free(&out);
    }
    assert_in_range(referred, 500, 2500);
}

/* ---- what is sent ---- */

static char why[512];

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_code_is_not_copied),
        cmocka_unit_test(pieces_of_any_command),
        cmocka_unit_test(long_texts_arrive_whole),
        cmocka_unit_test(nobody_takes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
