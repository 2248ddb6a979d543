/* link: bbf_wire bbf_core */
/*
 * The command server, met over its real socket by a client made of bare bytes: conversations,
 * hostile input, clients that are slow, silent or gone. The expected bytes are written out, not
 * made by the codec under test.
 */
#include "tests/unit/wire_peer.h"

static void the_conversation_of_d9(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    int fd = open_raw(server);

    (void)state;
    CONVERSE(fd, MAGIC, MAGIC);
    CONVERSE(fd, LIST_REQUEST, LIST_ANSWER);
    CONVERSE(fd, RECONNECT, BOUND);
    /* In a session that continues, the answer to LIST_PROBES is the end of the document. */
    CONVERSE(fd, EVENT_HELLO LIST_REQUEST, HELLO LIST_ANSWER);
    CONVERSE(fd, EVENT_HELLO LIST_REQUEST, HELLO LIST_ANSWER);
    CONVERSE_END(fd, DISCONNECT_REQUEST, DISCONNECT_ANSWER);
    close(fd);
    struct bbf_server_stats stats = stats_of(server);
    assert_int_equal(stats.accepted, 1);
    assert_int_equal(stats.commands, 7);
    assert_int_equal(stats.malformed + stats.refused + stats.dropped, 0);
    bbf_server_stop(server, 1000);
}

/* Everything at once, as a stock client does, with the EXIT that its exit hook sends at the end. */
static void a_burst_is_answered_in_order_and_nothing_after_disconnect(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});

    (void)state;
    ASK(server, MAGIC RECONNECT EVENT_HELLO DISCONNECT_REQUEST EXIT_7 EVENT_HELLO,
        MAGIC BOUND HELLO DISCONNECT_ANSWER);
    ASK(server, MAGIC RECONNECT EVENT_HELLO DISCONNECT_REQUEST,
        MAGIC BOUND HELLO DISCONNECT_ANSWER);
    bbf_server_stop(server, 1000);
}

static void any_fragmentation_is_accepted(void **state)
{
    static const char c2s[] = MAGIC LIST_REQUEST RECONNECT EVENT_HELLO DISCONNECT_REQUEST;
    static const char s2c[] = MAGIC LIST_ANSWER BOUND HELLO DISCONNECT_ANSWER;
    struct bbf_server *server = start((struct bbf_server_config){0});

    (void)state;
    for (size_t step = 1; step < 8; step++) {
        char got[512];
        int fd = open_raw(server);
        for (size_t at = 0; at < sizeof c2s - 1; at += step) {
            size_t left = sizeof c2s - 1 - at;
            raw_send(fd, c2s + at, left < step ? left : step);
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
        assert_int_equal(raw_receive(fd, got, sizeof got), sizeof s2c - 1);
        assert_memory_equal(got, s2c, sizeof s2c - 1);
        close(fd);
    }
    bbf_server_stop(server, 1000);
}

static void what_the_handshake_answers(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});

    (void)state;
    /* EXIT before a probe: the end, without an answer. */
    ASK(server, MAGIC EXIT_7, MAGIC);
    ASK(server, MAGIC "\x03\x11\0\0\0\0" EXIT_7, MAGIC "\x03\x11\0\0\0\0");
    /* Ids: unknown, null, longer, and in capitals. */
    ASK(server, MAGIC "\x03\x10\0\0\0\x04nope", MAGIC NOT_BOUND);
    ASK(server, MAGIC "\x03\x10\xFF\xFF\xFF\xFF", MAGIC NOT_BOUND);
    ASK(server, MAGIC "\x03\x10\0\0\0\x25" PROBE "0", MAGIC NOT_BOUND);
    ASK(server,
        MAGIC "\x03\x10\0\0\0\x24"
              "123e4567-e89b-12d3-a456-426614174001",
        MAGIC NOT_BOUND);
    ASK(server,
        MAGIC "\x03\x10\0\0\0\x24"
              "123E4567-E89B-12D3-A456-426614174000" EXIT_7,
        MAGIC BOUND EXIT_7);
    /* A refused reconnect ends it, whatever follows. */
    ASK(server, MAGIC "\x03\x10\0\0\0\x04nope" RECONNECT EVENT_HELLO, MAGIC NOT_BOUND);
    bbf_server_stop(server, 1000);
}

#define UNBOUND_TEXT(name) name " before RECONNECT: list the probes, reconnect to one, then ask"

static void events_need_a_probe(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});

    (void)state;
    ASK(server, MAGIC EVENT_HELLO LIST_REQUEST,
        MAGIC "\x03\0\0\0\0\x06"
              "bbflow\0\0\0\x43" UNBOUND_TEXT("EVENT") "\0\0\0\x43" UNBOUND_TEXT("EVENT")
                  STATUS_0_FAILED);
    ASK(server, MAGIC DISCONNECT_REQUEST,
        MAGIC "\x03\0\0\0\0\x06"
              "bbflow\0\0\0\x48" UNBOUND_TEXT("DISCONNECT") "\0\0\0\x48" UNBOUND_TEXT("DISCONNECT")
                  STATUS_0_FAILED);
    bbf_server_stop(server, 1000);
}

#define ERROR_OF(length, text)                                                                     \
    "\x03\0\0\0\0\x06"                                                                             \
    "bbflow\0\0\0" length text "\0\0\0" length text

static void scripts_are_refused(void **state)
{
    static const char script[] = MAGIC "\x03\x0D\0\0\0\x01\0\0\0\x05"
                                       "debug\x04\0" /* a stock client's settings: no answer */
                                       "\x03\x03\0\0\0\x04\xCA\xFE\xBA\xBE\0\0\0\x01\0\0\0\x01"
                                       "a\0\0\0\x01"
                                       "1" EXIT_7;
    struct bbf_server *server = start((struct bbf_server_config){0});

    (void)state;
    ASK(server, script, MAGIC ERROR_OF("\x16", "bbflow runs no scripts") STATUS_1_FAILED EXIT_1);
    bbf_server_stop(server, 1000);
}

#define SET(n, entries) "\x03\x0D\0\0\0" n entries
#define A_IS_1                                                                                     \
    "\0\0\0\x01"                                                                                   \
    "a\x01\0\0\0\x01"                                                                              \
    "1"
#define BAD_IS_TRUE                                                                                \
    "\0\0\0\x03"                                                                                   \
    "bad\x04\x01"
#define STOCK_KEYS                                                                                 \
    "\0\0\0\x10scriptOutputFile\0\0\0\0\x07"                                                       \
    "dumpDir\x01\0\0\0\0\0\0\0\x07trusted\x04\0"                                                   \
    "\0\0\0\x0DprobeDescPath\x01\0\0\0\x01.\0\0\0\x11trackRetransforms\x04\0"

static void options_are_set_before_and_after_reconnect(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    int fd = open_raw(server);

    (void)state;
    CONVERSE(fd, MAGIC, MAGIC);
    CONVERSE(fd, SET("\x01", A_IS_1),
             "\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x04"
             "a=1\n" STATUS_0_OK);
    CONVERSE(fd, RECONNECT, BOUND);
    /* Stock keys are dropped from among ours, and alone they get no answer at all. */
    CONVERSE(fd, SET("\x06", STOCK_KEYS A_IS_1) SET("\x05", STOCK_KEYS) SET("\0", "") LIST_REQUEST,
             "\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x04"
             "a=1\n" STATUS_0_OK LIST_ANSWER);
    /* The connection's own: no answer, unless it is no number. */
    CONVERSE(fd,
             SET("\x01", "\0\0\0\x13"
                         "connection.compress\x02\0\0\x10\0") LIST_REQUEST,
             LIST_ANSWER);
    CONVERSE(fd,
             SET("\x02", "\0\0\0\x13"
                         "connection.compress\x04\x01" A_IS_1),
             ERROR_OF("\x40", "connection.compress takes an int or a long of bytes, 0 for never")
                 STATUS_0_FAILED);
    CONVERSE(fd, SET("\x02", A_IS_1 BAD_IS_TRUE),
             ERROR_OF("\x13", "bad: no such option") STATUS_0_FAILED);
    /* Names that a C string would cut short, or that are no names. */
    CONVERSE(fd,
             SET("\x01", "\0\0\0\x03"
                         "a\0b\x01\0\0\0\x01"
                         "1"),
             ERROR_OF("\x36", "an option has a name and no NUL bytes; nothing was set")
                 STATUS_0_FAILED);
    CONVERSE(fd,
             SET("\x01", "\xFF\xFF\xFF\xFF\x01\0\0\0\x01"
                         "1"),
             ERROR_OF("\x36", "an option has a name and no NUL bytes; nothing was set")
                 STATUS_0_FAILED);
    close(fd);
    bbf_server_stop(server, 1000);
}

static void what_a_session_answers(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    int fd = open_raw(server);

    (void)state;
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    CONVERSE(fd,
             "\x03\x01\0\0\0\x04"
             "fail",
             ERROR_OF("\x0F", "it did not work") STATUS_0_FAILED);
    CONVERSE(fd, "\x03\x01\0\0\0\x05what?",
             "\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x24known: hello, text, doc, slow, "
             "fail\n" STATUS_0_FAILED);
    CONVERSE(fd, "\x03\x01\xFF\xFF\xFF\xFF",
             "\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x24known: hello, text, doc, slow, "
             "fail\n" STATUS_0_FAILED);
    CONVERSE(fd, "\x03\x01\0\0\0\x08hello\0no",
             ERROR_OF("\x20", "an event's name has no NUL bytes") STATUS_0_FAILED);
    CONVERSE(fd, "\x03\x11\0\0\0\0", "\x03\x11\0\0\0\0");
    /* Everything else is ignored: a second RECONNECT, an agent's commands. */
    CONVERSE(fd, RECONNECT HELLO STATUS_0_OK "\x03\x05\xFF\xFF\xFF\xFF" EVENT_HELLO, HELLO);
    CONVERSE_END(fd, EXIT_7, EXIT_7);
    close(fd);
    /* EXIT ended the session, not the server. */
    ASK(server, MAGIC RECONNECT EXIT_7, MAGIC BOUND EXIT_7);
    bbf_server_stop(server, 1000);
}

static void what_starts_no_protocol_is_sent_away_at_once(void **state)
{
    static const char *const starts[] = {"GET / HTTP/1.1\r\n\r\n", "\xAC\xED\x01", "BTA1", "B!",
                                         "BTR3"};
    struct bbf_server *server = start((struct bbf_server_config){0});
    char got[16];

    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        int fd = open_raw(server);
        raw_send(fd, starts[i], strlen(starts[i]));
        int64_t before = peer_now_ms();
        assert_int_equal(raw_receive(fd, got, sizeof got), 0);
        assert_true(peer_now_ms() - before < 2000);
        close(fd);
    }
    assert_int_equal(stats_of(server).malformed, 5);
    assert_int_equal(stats_of(server).accepted, 0);
    bbf_server_stop(server, 1000);
}

static void a_malformed_frame_ends_the_connection_only(void **state)
{
    static const char *const frames[] = {"\x02\x02\0\0\0\0", "\x03\x12\0\0\0\0",
                                         "\x03\x01\x80\0\0\0", "\x03\x01\0\x01\0\x01"};
    struct bbf_server *server = start((struct bbf_server_config){0});
    char got[16];

    (void)state;
    int other = open_raw(server);
    CONVERSE(other, MAGIC RECONNECT, MAGIC BOUND);
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        int fd = open_raw(server);
        raw_send(fd, MAGIC, 4);
        raw_send(fd, frames[i], 6);
        assert_int_equal(raw_receive(fd, got, sizeof got), 4);
        close(fd);
    }
    assert_int_equal(stats_of(server).malformed, 4);
    CONVERSE(other, EVENT_HELLO, HELLO);
    close(other);
    bbf_server_stop(server, 1000);
}

/* `btrace` and `bbflow list` test whether the server listens, and disconnect. */
static void a_connection_that_says_nothing_is_shrugged_off(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.max_clients = 2});

    (void)state;
    for (int i = 0; i < 50; i++) {
        int fd = open_raw(server);
        if (i % 2 == 0)
            raw_send(fd, MAGIC, (size_t)i % 4);
        close(fd);
        ASK(server, MAGIC RECONNECT EXIT_7, MAGIC BOUND EXIT_7);
    }
    assert_int_equal(stats_of(server).malformed, 0);
    bbf_server_stop(server, 1000);
}

static void a_silent_client_has_its_time(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.handshake_ms = 300});
    int silent = open_raw(server), half = open_raw(server), talker = open_raw(server);
    int64_t before = peer_now_ms();

    (void)state;
    raw_send(half, "BT", 2);
    CONVERSE(talker, MAGIC, MAGIC);
    /* Each command starts the time anew; a part of one does not. */
    for (int i = 0; i < 4; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 150000000}, NULL);
        CONVERSE(talker, LIST_REQUEST, LIST_ANSWER);
    }
    assert_true(raw_closes(silent, 0));
    assert_true(raw_closes(half, 0));
    assert_true(peer_now_ms() - before >= 300);
    for (int i = 0; i < 6; i++) {
        send(talker, &LIST_REQUEST[i], 1, MSG_NOSIGNAL);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    assert_true(raw_closes(talker, 1000));
    close(silent);
    close(half);
    close(talker);
    /* Once bound there is no limit. */
    int bound = open_raw(server);
    CONVERSE(bound, MAGIC RECONNECT, MAGIC BOUND);
    nanosleep(&(struct timespec){.tv_nsec = 700000000}, NULL);
    CONVERSE(bound, EVENT_HELLO, HELLO);
    close(bound);
    bbf_server_stop(server, 1000);
}

static void clients_do_not_wait_for_each_other(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    int a = open_raw(server), b = open_raw(server);

    (void)state;
    CONVERSE(a, MAGIC RECONNECT, MAGIC BOUND);
    CONVERSE(b, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(a, "\x03\x01\0", 3); /* half a frame, and silence */
    for (int i = 0; i < 20; i++)
        CONVERSE(b, EVENT_HELLO, HELLO);
    raw_send(b, "\x03", 1);
    CONVERSE(a, "\0\0\x05hello", HELLO);
    close(a);
    close(b);
    bbf_server_stop(server, 1000);
}

static void too_many_clients_are_sent_away(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.max_clients = 2});
    int fds[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        fds[i] = open_raw(server);
        if (i < 2)
            CONVERSE(fds[i], MAGIC RECONNECT, MAGIC BOUND);
    }
    assert_true(raw_closes(fds[2], 2000));
    assert_int_equal(stats_of(server).refused, 1);
    CONVERSE(fds[0], EVENT_HELLO, HELLO);
    CONVERSE_END(fds[0], EXIT_7, EXIT_7);
    close(fds[0]);
    /* The place is free again as soon as the server has seen the close. */
    for (int tries = 0;; tries++) {
        char got[64];
        assert_true(tries < 100);
        int fd = open_raw(server);
        send(fd, MAGIC, 4, MSG_NOSIGNAL);
        size_t n = raw_receive(fd, got, 4);
        close(fd);
        if (n == 4)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    close(fds[1]);
    close(fds[2]);
    bbf_server_stop(server, 1000);
}

/* Takes MESSAGE frames apart by hand until another type comes: returns the length of the texts. */
static size_t read_messages(int fd, size_t largest, char *next_type)
{
    static char text[2 * 1024 * 1024];
    uint8_t head[16];
    size_t total = 0;

    for (;;) {
        assert_int_equal(raw_receive(fd, head, 2), 2);
        assert_int_equal(head[0], 3);
        *next_type = (char)head[1];
        if (head[1] != 4)
            return total;
        assert_int_equal(raw_receive(fd, head + 2, 14), 14);
        assert_memory_equal(head + 2, "\0\0\0\0\0\0\0\0\0\0", 10); /* time 0, not deflated */
        size_t n =
            (size_t)head[12] << 24 | (size_t)head[13] << 16 | (size_t)head[14] << 8 | head[15];
        assert_in_range(n, 1, largest);
        assert_int_equal(raw_receive(fd, text, n), n);
        for (size_t i = 0; i < n; i++) {
            size_t at = total + i;
            char expected = at % 61 == 60 ? '\n' : (char)('a' + at % 26);
            if (text[i] != expected)
                fail_msg("byte %zu is wrong", at);
        }
        total += n;
    }
}

static void texts_and_documents_arrive_whole(void **state)
{
    static const struct {
        const char *event;
        size_t size, largest;
    } cases[] = {
        {"\x03\x01\0\0\0\x06text 1", 1, 1024},
        {"\x03\x01\0\0\0\x09text 1024", 1024, 1024},
        {"\x03\x01\0\0\0\x09text 1025", 1025, 1024},
        {"\x03\x01\0\0\0\x0Btext 100000", 100000, 1024},
        {"\x03\x01\0\0\0\x0B"
         "doc 1048560",
         1048560, 1048560},
        {"\x03\x01\0\0\0\x0B"
         "doc 1048561",
         1048561, 1048560},
        {"\x03\x01\0\0\0\x0C"
         "doc 20000000",
         20000000, 1048560},
    };
    struct bbf_server *server = start((struct bbf_server_config){0});
    int fd = open_raw(server);

    (void)state;
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char rest[64], type;
        raw_send(fd, cases[i].event, 6 + (size_t)cases[i].event[5]);
        raw_send(fd, LIST_REQUEST, 6);
        assert_int_equal(read_messages(fd, cases[i].largest, &type), cases[i].size);
        assert_int_equal(type, 0x0E);
        assert_int_equal(raw_receive(fd, rest, sizeof LIST_ANSWER - 3), sizeof LIST_ANSWER - 3);
    }
    close(fd);
    bbf_server_stop(server, 1000);
}

static void text_lines_stay_whole(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    int fd = open_raw(server);
    uint8_t got[16 + 976];

    (void)state;
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(fd, "\x03\x01\0\0\0\x09text 1025", 15);
    assert_int_equal(raw_receive(fd, got, sizeof got), sizeof got);
    /* 16 lines of 61 bytes fit into 1,024. */
    assert_memory_equal(got + 12, "\0\0\x03\xD0", 4);
    assert_int_equal(got[16 + 975], '\n');
    close(fd);
    bbf_server_stop(server, 1000);
}

static bool wait_for_drop(const struct bbf_server *server, int ms)
{
    for (int64_t until = peer_now_ms() + ms; peer_now_ms() < until;) {
        if (stats_of(server).dropped > 0)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return false;
}

static void who_does_not_read_is_dropped_by_size(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.queue_bytes = 4 << 20});
    int lazy = open_raw(server), good = open_raw(server);

    (void)state;
    CONVERSE(lazy, MAGIC RECONNECT, MAGIC BOUND);
    CONVERSE(good, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(lazy,
             "\x03\x01\0\0\0\x0B"
             "doc 9000000",
             17);
    assert_true(wait_for_drop(server, 5000));
    CONVERSE(good, EVENT_HELLO, HELLO);
    assert_true(raw_closes(lazy, 1000));
    close(lazy);
    close(good);
    bbf_server_stop(server, 1000);
}

static void who_does_not_read_is_dropped_by_time(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.stall_ms = 300});
    int lazy = open_raw(server), slow = open_raw(server), good = open_raw(server);
    char got[65536];
    size_t total = 0;

    (void)state;
    CONVERSE(lazy, MAGIC RECONNECT, MAGIC BOUND);
    CONVERSE(slow, MAGIC RECONNECT, MAGIC BOUND);
    CONVERSE(good, MAGIC RECONNECT, MAGIC BOUND);
    raw_send(lazy,
             "\x03\x01\0\0\0\x0B"
             "doc 3000000",
             17);
    raw_send(slow,
             "\x03\x01\0\0\0\x0B"
             "doc 3000000",
             17);
    /* Slow, but reading: 60 reads in more than 0.6 s. */
    while (total < 2 * 1048576 + 902848 + 3 * 16) {
        ssize_t n = recv(slow, got, sizeof got, 0);
        assert_true(n > 0);
        total += (size_t)n;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    CONVERSE(slow, EVENT_HELLO, HELLO);
    assert_true(wait_for_drop(server, 5000));
    assert_int_equal(stats_of(server).dropped, 1);
    CONVERSE(good, EVENT_HELLO, HELLO);
    close(lazy);
    close(slow);
    close(good);
    bbf_server_stop(server, 1000);
}

/* Commands of a client that does not read pile up in its own socket, not in the server. */
static void unread_answers_stop_the_reading(void **state)
{
    struct bbf_server *server =
        start((struct bbf_server_config){.stall_ms = 400, .queue_bytes = 3 << 20});
    int fd = open_raw(server);
    size_t sent = 0;

    (void)state;
    CONVERSE(fd, MAGIC RECONNECT, MAGIC BOUND);
    for (int64_t until = peer_now_ms() + 3000; peer_now_ms() < until; sent++) {
        if (send(fd, "\x03\x01\0\0\0\x09text 9000", 15, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
            if (errno != EAGAIN)
                break; /* dropped */
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
    }
    assert_true(wait_for_drop(server, 3000));
    /* It went by the time limit: 1 MiB of answers was made, and not the 3 of the queue's limit. */
    assert_true(stats_of(server).commands < 200);
    close(fd);
    bbf_server_stop(server, 1000);
}

/* Between a frame's end and the flush of a long answer nothing may be forgotten. */
static void a_client_may_close_its_side_and_still_read(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    int fd = open_raw(server);
    char type, rest[64];

    (void)state;
    raw_send(fd, MAGIC RECONNECT, 4 + 42);
    raw_send(fd,
             "\x03\x01\0\0\0\x0B"
             "doc 5000000",
             17);
    raw_send(fd, "\x03\x01\0\0\0\x08text 800", 14);
    raw_send(fd, DISCONNECT_REQUEST, 6);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_int_equal(raw_receive(fd, rest, 11), 11);
    /* 5,000,000 % 61 != 0: the second text starts the pattern anew, so take them apart by length.
     */
    size_t len = 0;
    static char all[6000000];
    len = raw_receive(fd, all, sizeof all);
    assert_int_equal(len, 5000000 + 5 * 16 + 800 + 16 + 42);
    type = all[len - 41];
    assert_int_equal(type, 0x0F);
    close(fd);
    bbf_server_stop(server, 1000);
}

/* A stock client says EXIT after it has heard everything: that must not be an error to it. */
static void the_door_stays_open_for_a_last_word(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    char junk[300000] = {0};
    int fd = open_raw(server);

    (void)state;
    CONVERSE_END(fd, MAGIC RECONNECT DISCONNECT_REQUEST, MAGIC BOUND DISCONNECT_ANSWER);
    raw_send(fd, EXIT_7, 6);
    raw_send(fd, junk, sizeof junk);
    close(fd);
    assert_int_equal(stats_of(server).malformed, 0);
    /* But not for ever. */
    fd = open_raw(server);
    CONVERSE_END(fd, MAGIC RECONNECT DISCONNECT_REQUEST, MAGIC BOUND DISCONNECT_ANSWER);
    nanosleep(&(struct timespec){1, 300000000}, NULL);
    assert_int_equal(send(fd, EXIT_7, 6, MSG_NOSIGNAL), -1);
    close(fd);
    bbf_server_stop(server, 1000);
}

/* Commands behind a long answer wait for it to go out, and are not forgotten when it goes fast. */
static void commands_behind_a_document_are_not_forgotten(void **state)
{
    static char all[1200000 + 4096];
    static const char burst[] = MAGIC RECONNECT "\x03\x01\0\0\0\x0B"
                                                "doc 1200000" EVENT_HELLO DISCONNECT_REQUEST;
    struct bbf_server *server = start((struct bbf_server_config){0});

    (void)state;
    for (int i = 0; i < 100; i++) {
        int fd = open_raw(server);
        raw_send(fd, burst, sizeof burst - 1);
        size_t n = raw_receive(fd, all, sizeof all);
        assert_int_equal(n, 4 + 7 + 1200000 + 2 * 16 + 22 + 42);
        close(fd);
    }
    bbf_server_stop(server, 1000);
}

static void a_slow_callback_costs_the_others_nothing_but_time(void **state)
{
    struct bbf_server *server =
        start((struct bbf_server_config){.handshake_ms = 200, .stall_ms = 200});
    int slow = open_raw(server), other = open_raw(server);

    (void)state;
    CONVERSE(slow, MAGIC RECONNECT, MAGIC BOUND);
    CONVERSE(other, MAGIC, MAGIC);
    raw_send(slow, "\x03\x01\0\0\0\x08slow 600", 14);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    /* Asked in time, answered late: its limit of 200 ms must not have run out meanwhile. */
    CONVERSE(other, LIST_REQUEST, LIST_ANSWER);
    CONVERSE(slow, "",
             "\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x08"
             "at last\n");
    close(slow);
    close(other);
    bbf_server_stop(server, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_conversation_of_d9),
        cmocka_unit_test(a_burst_is_answered_in_order_and_nothing_after_disconnect),
        cmocka_unit_test(any_fragmentation_is_accepted),
        cmocka_unit_test(what_the_handshake_answers),
        cmocka_unit_test(events_need_a_probe),
        cmocka_unit_test(scripts_are_refused),
        cmocka_unit_test(options_are_set_before_and_after_reconnect),
        cmocka_unit_test(what_a_session_answers),
        cmocka_unit_test(what_starts_no_protocol_is_sent_away_at_once),
        cmocka_unit_test(a_malformed_frame_ends_the_connection_only),
        cmocka_unit_test(a_connection_that_says_nothing_is_shrugged_off),
        cmocka_unit_test(a_silent_client_has_its_time),
        cmocka_unit_test(clients_do_not_wait_for_each_other),
        cmocka_unit_test(too_many_clients_are_sent_away),
        cmocka_unit_test(texts_and_documents_arrive_whole),
        cmocka_unit_test(text_lines_stay_whole),
        cmocka_unit_test(who_does_not_read_is_dropped_by_size),
        cmocka_unit_test(who_does_not_read_is_dropped_by_time),
        cmocka_unit_test(unread_answers_stop_the_reading),
        cmocka_unit_test(a_client_may_close_its_side_and_still_read),
        cmocka_unit_test(the_door_stays_open_for_a_last_word),
        cmocka_unit_test(commands_behind_a_document_are_not_forgotten),
        cmocka_unit_test(a_slow_callback_costs_the_others_nothing_but_time),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
