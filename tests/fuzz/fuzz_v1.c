/* link: bbf_wire bbf_core */
/*
 * Any bytes as a v1 stream after its header: the commands that decode are encoded and decode to the
 * same again (compared as v2 frames), also in pieces. The stream cut anywhere asks for more than it
 * was given, then gives the same command, also by the slow path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "tests/unit/wire_flat.h"
#include "wire/btrace/v1/v1.h"
#include "wire/btrace/v1/v1_plain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Small, so that a fuzzer finds the bounds. */
static const struct bbf_wire_limits small = {
    .frame = 1 << 16, .string = 1 << 12, .entries = 200, .objects = 1 << 16};
/* Text that stands for an object, and repaired text, are longer. */
static const struct bbf_wire_limits wide = {
    .frame = 1 << 22, .string = 1 << 20, .entries = 300, .objects = 1 << 16};

static void require(int condition)
{
    if (!condition)
        abort();
}

static struct bbf_v1_reader *reader_of(const struct bbf_wire_limits *limits)
{
    struct bbf_v1_reader *reader = bbf_v1_reader_new(limits);

    require(reader != NULL);
    return reader;
}

static void same(const struct bbf_command *a, const struct bbf_command *b)
{
    struct bbf_buf one = BBF_BUF_INIT, two = BBF_BUF_INIT;

    require(bbf_command_encode(&one, a, SIZE_MAX) == BBF_OK);
    require(bbf_command_encode(&two, b, SIZE_MAX) == BBF_OK);
    require(one.len == two.len && memcmp(one.data, two.data, one.len) == 0);
    bbf_buf_free(&one);
    bbf_buf_free(&two);
}

static void read_whole(struct bbf_command *command, const struct bbf_buf *in)
{
    struct bbf_v1_reader *reader = reader_of(&wide);
    size_t used;

    require(bbf_v1_decode(reader, command, (const uint8_t *)in->data, in->len, &used, NULL) ==
            BBF_OK);
    require(used == in->len);
    bbf_v1_reader_free(reader);
}

/* But for the blocks of what is not copied. */
static void same_in_pieces(const struct bbf_command *command, const struct bbf_buf *whole, int err)
{
    struct bbf_pieces pieces = BBF_PIECES_INIT;
    struct bbf_buf flat = BBF_BUF_INIT;

    require(bbf_v1_encode_pieces(&pieces, command, true) == err);
    flatten(&flat, &pieces);
    if (pieces.copied.len == flat.len) {
        require(flat.len == whole->len &&
                (flat.len == 0 || memcmp(flat.data, whole->data, flat.len) == 0));
    } else {
        struct bbf_command there, here;
        read_whole(&there, &flat);
        read_whole(&here, whole);
        same(&there, &here);
        bbf_command_free(&there);
        bbf_command_free(&here);
    }
    bbf_buf_free(&flat);
    bbf_pieces_free(&pieces);
}

static void round_trip(const struct bbf_command *command)
{
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_command again;

    int err = bbf_v1_encode(&out, command, true);
    require(err == BBF_OK || err == BBF_EINVAL);
    same_in_pieces(command, &out, err);
    if (err == BBF_OK) {
        read_whole(&again, &out);
        require(again.type == command->type);
        if (command->type != BBF_CMD_ERROR) /* written without frames and class */
            same(command, &again);
        bbf_command_free(&again);
    } else {
        require(out.len == 0);
    }
    bbf_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bbf_v1_reader *whole = reader_of(&small), *pieces = reader_of(&small);
    size_t pos = 0, used, cut_used;
    int err = BBF_OK;

    bbf_v1_reader_the_long_way(pieces);
    while (pos < size && err == BBF_OK) {
        struct bbf_command command, again;
        const char *why = NULL;
        err = bbf_v1_decode(whole, &command, data + pos, size - pos, &used, &why);
        require((err == BBF_OK) == (why == NULL));
        require(err != BBF_EMORE || used > size - pos);
        require(err == BBF_OK || command.block == NULL);
        if (err != BBF_OK)
            break;
        require(used > 0 && used <= size - pos);
        size_t have = (used + 1) / 2;
        int cut = bbf_v1_decode(pieces, &again, data + pos, have, &cut_used, NULL);
        if (cut == BBF_EMORE) {
            require(cut_used > have && cut_used <= used);
            cut = bbf_v1_decode(pieces, &again, data + pos, size - pos, &cut_used, NULL);
        }
        require(cut == BBF_OK && cut_used == used);
        same(&command, &again);
        round_trip(&command);
        bbf_command_free(&command);
        bbf_command_free(&again);
        pos += used;
    }
    bbf_v1_reader_free(whole);
    bbf_v1_reader_free(pieces);
    return 0;
}
