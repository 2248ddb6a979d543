/* link: bbf_wire bbf_core */
/* v1 clients, known by their header. The expected bytes are written out, or recorded. */
#include "tests/unit/wire_peer.h"
#include "wire/btrace/v1/v1.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v1_clients_are_known_by_their_header),
        cmocka_unit_test(recorded_stock_clients_are_answered),
        cmocka_unit_test(a_slow_v1_sender_is_understood),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
