/*
 * tests/jvm/wire/codec.c - our v1 codec on a stream that the Java one (Codec.java) wrote.
 *
 *     codec copy FROM TO        every command decoded and encoded again
 *     codec bench FILE SECONDS  commands a second: "INDEX NAME BYTES WRITE READ", the best of three
 *                               rounds of this thread's processor time, after one to warm; written
 *                               is what a connection hands to sendmsg()
 *     codec copied FILE SECONDS the same, each command written into one buffer
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/err.h"
#include "tests/unit/wire_flat.h"
#include "wire/btrace/v1/v1.h"

static void require(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "codec: %s\n", what);
    exit(1);
}

static struct bbf_buf read_file(const char *path)
{
    struct bbf_buf all = BBF_BUF_INIT;
    FILE *from = fopen(path, "rb");
    size_t n;

    require(from != NULL, path);
    do {
        char *to = bbf_buf_reserve(&all, 65536);
        require(to != NULL, "memory");
        n = fread(to, 1, 65536, from);
        all.len += n;
    } while (n > 0);
    fclose(from);
    require(all.len >= BBF_V1_HEADER_LEN && memcmp(all.data, BBF_V1_HEADER, 4) == 0, "no header");
    return all;
}

/* The command at *pos, and past it. False: the end. */
static int next(struct bbf_v1_reader *reader, const struct bbf_buf *in, size_t *pos,
                struct bbf_command *command)
{
    const char *why = "cut off";
    size_t used = 0;

    if (*pos == in->len)
        return 0;
    int err = bbf_v1_decode(reader, command, (const uint8_t *)in->data + *pos, in->len - *pos,
                            &used, &why);
    require(err == BBF_OK, why);
    *pos += used;
    return 1;
}

static struct bbf_v1_reader *new_reader(void)
{
    struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_client_limits);

    require(reader != NULL, "memory");
    return reader;
}

/* As a connection sends it. */
static void copy(const char *from, const char *to)
{
    struct bbf_pieces pieces = BBF_PIECES_INIT;
    struct bbf_buf in = read_file(from), out = BBF_BUF_INIT;
    struct bbf_v1_reader *reader = new_reader();
    struct bbf_command command;
    size_t pos = BBF_V1_HEADER_LEN;

    bbf_buf_add(&out, BBF_V1_HEADER, BBF_V1_HEADER_LEN);
    for (int reset = 0; next(reader, &in, &pos, &command); reset = 1) {
        require(bbf_v1_encode_pieces(&pieces, &command, reset) == BBF_OK,
                bbf_command_name(command.type));
        flatten(&out, &pieces);
        bbf_command_free(&command);
    }
    FILE *file = fopen(to, "wb");
    require(file != NULL && fwrite(out.data, 1, out.len, file) == out.len && fclose(file) == 0, to);
    bbf_v1_reader_free(reader);
    bbf_pieces_free(&pieces);
    bbf_buf_free(&in);
    bbf_buf_free(&out);
}

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How many commands between two looks at the clock, as Codec.java does it. */
static size_t batch_of(size_t bytes)
{
    size_t n = 4000000 / bytes;

    return n < 8 ? 8 : n > 2000 ? 2000 : n;
}

/* The same command again and again, behind each other as on a connection. */
static struct bbf_buf repeated(const char *bytes, size_t len, size_t n)
{
    struct bbf_buf all = BBF_BUF_INIT;

    while (n-- > 0)
        bbf_buf_add(&all, bytes, len);
    require(!all.failed, "memory");
    return all;
}

enum what { WRITE, WRITE_COPIED, READ };

static void write_batch(const struct bbf_command *command, enum what what, struct bbf_pieces *out,
                        size_t n)
{
    for (size_t i = 0; i < n && what == WRITE; i++)
        require(bbf_v1_encode_pieces(out, command, 1) == BBF_OK, "encode");
    for (size_t i = 0; i < n && what == WRITE_COPIED; i++) {
        out->copied.len = 0;
        require(bbf_v1_encode(&out->copied, command, 1) == BBF_OK, "encode");
    }
}

static void read_batch(struct bbf_v1_reader *reader, const struct bbf_buf *in)
{
    struct bbf_command command;
    size_t pos = 0;

    while (pos < in->len) {
        require(next(reader, in, &pos, &command), "decode");
        bbf_command_free(&command);
    }
}

/* Commands a second. */
static double measure(const struct bbf_command *command, enum what what, const struct bbf_buf *in,
                      size_t batch, double seconds)
{
    struct bbf_v1_reader *reader = new_reader();
    struct bbf_pieces out = BBF_PIECES_INIT;
    double best = 0;

    for (int round = 0; round < 4; round++) {
        double start = cpu(), now;
        size_t n = 0;
        do {
            if (what == READ)
                read_batch(reader, in);
            else
                write_batch(command, what, &out, batch);
            n += batch;
            now = cpu();
        } while (now - start < seconds);
        double rate = (double)n / (now - start);
        best = round > 0 && rate > best ? rate : best;
    }
    bbf_v1_reader_free(reader);
    bbf_pieces_free(&out);
    return best;
}

static void bench(const char *from, enum what how, double seconds)
{
    struct bbf_buf in = read_file(from);
    struct bbf_v1_reader *reader = new_reader();
    struct bbf_command command;
    size_t pos = BBF_V1_HEADER_LEN;

    for (size_t begin = pos, index = 0; next(reader, &in, &pos, &command); begin = pos, index++) {
        /* Java's bytes are what we read, so that both read the same. */
        size_t batch = batch_of(pos - begin);
        struct bbf_buf theirs = repeated(in.data + begin, pos - begin, batch), ours = BBF_BUF_INIT;
        require(bbf_v1_encode(&ours, &command, 1) == BBF_OK, "encode");
        printf("%zu %s %zu %.0f %.0f\n", index, bbf_command_name(command.type), ours.len,
               measure(&command, how, NULL, batch, seconds),
               measure(&command, READ, &theirs, batch, seconds));
        fflush(stdout);
        bbf_buf_free(&ours);
        bbf_buf_free(&theirs);
        bbf_command_free(&command);
    }
    bbf_v1_reader_free(reader);
    bbf_buf_free(&in);
}

int main(int argc, char **argv)
{
    require(argc == 4, "copy FROM TO | bench FILE SECONDS | copied FILE SECONDS");
    if (strcmp(argv[1], "copy") == 0)
        copy(argv[2], argv[3]);
    else
        bench(argv[2], strcmp(argv[1], "copied") == 0 ? WRITE_COPIED : WRITE,
              strtod(argv[3], NULL));
    return 0;
}
