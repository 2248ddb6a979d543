/* link: bbf_wire bbf_core */
/* The live stream: who gets what was published, in which order, and what is lost. */
#include "tests/unit/wire_peer.h"

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
        cmocka_unit_test(what_is_published_flows_to_who_watches),
        cmocka_unit_test(a_new_watcher_is_told_what_was_and_then_what_is_new),
        cmocka_unit_test(a_watcher_behind_silent_connections_counts),
        cmocka_unit_test(the_stream_keeps_out_of_documents),
        cmocka_unit_test(a_slow_watcher_loses_the_oldest),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
