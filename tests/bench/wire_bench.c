/*
 * tests/bench/wire_bench.c - frames a second of the v2 codec, and what the socket adds. The frames
 * are those of docs/btrace-wire.md 9, with the Java peer's numbers of an earlier run; a
 * comparison counts only within one run on one machine (design.md: targets).
 *
 *     cmake --build build/release --target wire_bench && build/release/wire_bench [SECONDS]
 *
 * write = encode into a buffer that is kept; read = decode and free; both = one after the other.
 * Each figure is the best of three rounds of SECONDS (0.3) of the thread's CPU time; the socket's
 * are of the wall clock, with the server in the same process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/err.h"
#include "wire/client/conn.h"
#include "wire/server/server.h"

enum { ROUNDS = 3, ROWS_MAX = 1000, COLUMNS = 6, NUMBERS = 20 };

static double seconds = 0.3;

static double seconds_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void require(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "wire_bench: %s\n", what);
    exit(1);
}

/* One frame, kept in both forms. */
struct subject {
    const char *name;
    struct bbf_command command;
    struct bbf_buf frame;
    size_t deflate_over;
};

static void write_once(struct subject *subject, struct bbf_buf *scratch)
{
    scratch->len = 0;
    require(bbf_command_encode(scratch, &subject->command, subject->deflate_over) == BBF_OK,
            "encode");
}

static void read_once(const struct bbf_buf *frame)
{
    struct bbf_command command;
    size_t used;

    require(bbf_command_decode(&command, (const uint8_t *)frame->data, frame->len, &used,
                               &bbf_wire_client_limits, NULL) == BBF_OK,
            "decode");
    bbf_command_free(&command);
}

/* Operations a second: bit 0 of `what` writes, bit 1 reads. */
static double measure(struct subject *subject, int what)
{
    struct bbf_buf scratch = BBF_BUF_INIT;
    double best = 0;
    size_t batch = subject->frame.len > 4096 ? 16 : 4096;

    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds_of(CLOCK_THREAD_CPUTIME_ID), end;
        size_t n = 0;
        do {
            for (size_t i = 0; i < batch; i++, n++) {
                if ((what & 1) != 0)
                    write_once(subject, &scratch);
                if ((what & 2) != 0)
                    read_once(what == 3 ? &scratch : &subject->frame);
            }
            end = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        } while (end - start < seconds);
        double rate = (double)n / (end - start);
        best = rate > best ? rate : best;
    }
    bbf_buf_free(&scratch);
    return best;
}

static void report(const char *name, struct bbf_command command, size_t deflate_over)
{
    struct subject subject = {name, command, BBF_BUF_INIT, deflate_over};

    write_once(&subject, &subject.frame);
    printf("%-32s %8zu %14.0f %14.0f %14.0f\n", name, subject.frame.len, measure(&subject, 1),
           measure(&subject, 2), measure(&subject, 3));
    bbf_buf_free(&subject.frame);
}

static struct bbf_wire_str string(const char *text)
{
    return (struct bbf_wire_str){(char *)(uintptr_t)text, strlen(text)};
}

/* Lines like those of a leak report, `len` bytes. */
static char *log_text(size_t len)
{
    char *text = malloc(len + 200);

    require(text != NULL, "memory");
    for (size_t at = 0, i = 0; at < len; i++)
        at += (size_t)sprintf(text + at,
                              "leak #%zu PooledUnsafeDirectByteBuf ridx=%zu at "
                              "io.netty.buffer.PooledByteBufAllocator.newDirectBuffer\n",
                              i, i * 37);
    text[len] = '\0';
    return text;
}

static void report_messages(void)
{
    static const struct {
        const char *name;
        size_t len, over;
    } cases[] = {
        {"MESSAGE 42 B", 42, BBF_DEFLATE_OVER},
        {"MESSAGE 500 B", 500, BBF_DEFLATE_OVER},
        {"MESSAGE 10 KiB, deflated", 10240, BBF_DEFLATE_OVER},
        {"MESSAGE 10 KiB, as it is", 10240, SIZE_MAX},
        {"MESSAGE 1 MiB, as it is", 1 << 20, SIZE_MAX},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = log_text(cases[i].len);
        struct bbf_command command = {
            .type = BBF_CMD_MESSAGE, .timestamp_ms = 1638360000000, .text = {string(text)}};
        report(cases[i].name, command, cases[i].over);
        free(text);
    }
}

static void report_grids(void)
{
    static struct bbf_value cells[ROWS_MAX][COLUMNS];
    static struct bbf_row rows[ROWS_MAX];
    struct bbf_wire_str columns[COLUMNS] = {string("site"), string("count"), string("bytes"),
                                            string("age"),  string("ratio"), string("direct")};
    struct bbf_command grid = {.type = BBF_CMD_GRID_DATA,
                               .text = {string("leaks")},
                               .list = columns,
                               .n_list = COLUMNS,
                               .rows = rows};

    for (int i = 0; i < ROWS_MAX; i++) {
        rows[i] = (struct bbf_row){cells[i], COLUMNS};
        cells[i][0].kind = BBF_VALUE_STRING;
        cells[i][0].text = string("io.netty.buffer.Site#alloc:17");
        cells[i][1].kind = BBF_VALUE_INT;
        cells[i][1].u.i = i;
        cells[i][2].kind = BBF_VALUE_LONG;
        cells[i][2].u.l = 4096L * i;
        cells[i][3].kind = BBF_VALUE_FLOAT;
        cells[i][4].kind = BBF_VALUE_DOUBLE;
        cells[i][5].kind = BBF_VALUE_BOOLEAN;
    }
    grid.n_rows = 10;
    report("GRID_DATA 10 x 6", grid, SIZE_MAX);
    grid.n_rows = ROWS_MAX;
    report("GRID_DATA 1000 x 6", grid, SIZE_MAX);
}

static void report_others(void)
{
    static struct bbf_entry entries[NUMBERS];
    static uint8_t code[100 * 1024];
    struct bbf_entry argument = {.key = string("x")};

    report("EXIT", (struct bbf_command){.type = BBF_CMD_EXIT}, SIZE_MAX);
    argument.value.kind = BBF_VALUE_STRING;
    argument.value.text = string("1");
    report("INSTRUMENT 4 KiB",
           (struct bbf_command){.type = BBF_CMD_INSTRUMENT,
                                .code = code,
                                .code_len = 4096,
                                .entries = &argument,
                                .n_entries = 1},
           SIZE_MAX);
    report("INSTRUMENT 100 KiB",
           (struct bbf_command){.type = BBF_CMD_INSTRUMENT,
                                .code = code,
                                .code_len = sizeof code,
                                .entries = &argument,
                                .n_entries = 1},
           SIZE_MAX);
    for (int i = 0; i < NUMBERS; i++) {
        entries[i].key = string("key-12345");
        entries[i].value.kind = BBF_VALUE_LONG;
        entries[i].value.u.l = i;
    }
    report("NUMBER_MAP 20 longs",
           (struct bbf_command){.type = BBF_CMD_NUMBER_MAP,
                                .text = {string("big")},
                                .entries = entries,
                                .n_entries = NUMBERS},
           SIZE_MAX);
}

/* What a document costs on the socket: the callback hands over the same text each time. */
static void send_document(void *ctx, const char *name, struct bbf_reply *reply)
{
    bbf_reply_document(reply, ctx, (size_t)strtoul(name, NULL, 10));
}

static double ask(const struct bbf_server *server, const char *size)
{
    struct bbf_buf document = BBF_BUF_INIT;
    struct bbf_conn *conn;
    const struct bbf_conn_config config = {
        .path = bbf_server_path(server), .protocol = BBF_PROTOCOL_2, .timeout_ms = 10000};
    char why[256];
    double start = seconds_of(CLOCK_MONOTONIC);

    require(bbf_conn_open(&conn, &config, why, sizeof why) == BBF_OK &&
                bbf_conn_event(conn, size, &document, why, sizeof why) == BBF_OK,
            "conversation");
    bbf_conn_close(conn);
    require(document.len == strtoul(size, NULL, 10), "length");
    bbf_buf_free(&document);
    return seconds_of(CLOCK_MONOTONIC) - start;
}

static void report_socket(void)
{
    static const char *const sizes[] = {"100", "100000", "10000000", "100000000"};
    char base[] = "/tmp/bbflow-bench-XXXXXX", command[64], why[512];
    char *text = log_text(100000000);
    struct bbf_server *server;

    require(mkdtemp(base) != NULL, "folder");
    struct bbf_server_config config = {.socket_dir = base,
                                       .pid = getpid(),
                                       .max_clients = 2,
                                       .probe_id = "123e4567-e89b-12d3-a456-426614174000",
                                       .ctx = text,
                                       .event = send_document};
    require(bbf_server_start(&server, &config, why, sizeof why) == BBF_OK, why);
    printf("\n%-32s %14s %14s\n", "connect to DISCONNECT", "best, ms", "MB/s");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double best = 1e9;
        for (int round = 0; round < 5; round++) {
            double took = ask(server, sizes[i]);
            best = took < best ? took : best;
        }
        printf("%-10s bytes                 %14.3f %14.1f\n", sizes[i], best * 1e3,
               strtod(sizes[i], NULL) / best / 1e6);
    }
    bbf_server_stop(server, 1000);
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    require(system(command) == 0, "clean up");
    free(text);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seconds = strtod(argv[1], NULL);
    printf("%-32s %8s %14s %14s %14s\n", "frame", "bytes", "write/s", "read/s", "both/s");
    report_others();
    report_messages();
    report_grids();
    report_socket();
    return 0;
}
