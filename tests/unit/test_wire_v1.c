/* link: bbf_wire bbf_core json-c */
/*
 * The v1 codec beside the real one: the streams that BTrace 2.2.6's classes wrote
 * (tests/golden/wire/btrace-v1), compared field by field with manifest.json, encoded again, cut
 * anywhere; ten recorded sessions of the real client; hand-made streams that its reader took; and
 * what is malformed.
 */
#include <inttypes.h>

#include "core/err.h"
#include "wire/btrace/utf8.h"
#include "wire/btrace/v1/v1.h"
#include "wire/btrace/v1/v1_plain.h"

#define VECTORS BBF_SOURCE_DIR "/tests/golden/wire/btrace-v1/"
#include "tests/unit/wire_streams.h"
#include "tests/unit/wire_vectors.h"

enum { HEADER = BBF_V1_HEADER_LEN };

/* ---- the manifest's fields ---- */

static const char *member(struct json_object *from, const char *key)
{
    return json_object_get_string(get(from, key));
}

/* The kinds that v2 has: its numbers are long, what has no kind is text. */
static void check_number(const struct bbf_value *value, const char *t, const char *v)
{
    double real = strtod(v, NULL);
    float small = strtof(v, NULL);

    if (strcmp(t, "integer") == 0) {
        CHECK(value->kind == BBF_VALUE_INT && value->u.i == atoi(v));
    } else if (strcmp(t, "long") == 0 || strcmp(t, "short") == 0 || strcmp(t, "byte") == 0 ||
               strcmp(t, "atomiclong") == 0) {
        CHECK(value->kind == BBF_VALUE_LONG && value->u.l == strtoll(v, NULL, 10));
    } else if (strcmp(t, "float") == 0) {
        CHECK(value->kind == BBF_VALUE_FLOAT && memcmp(&value->u.float_bits, &small, 4) == 0);
    } else if (strcmp(t, "double") == 0) {
        CHECK(value->kind == BBF_VALUE_DOUBLE && memcmp(&value->u.double_bits, &real, 8) == 0);
    } else if (strcmp(t, "biginteger") == 0) {
        CHECK(value->kind == BBF_VALUE_BIGINT && strcmp(value->text.s, v) == 0);
    } else if (value->kind == BBF_VALUE_STRING) { /* a cell */
        CHECK(strcmp(t, "bigdecimal") == 0 && strcmp(value->text.s, v) == 0);
    } else {
        CHECK(strcmp(t, "bigdecimal") == 0);
        CHECK(value->kind == BBF_VALUE_BIGDEC && strcmp(value->text.s, v) == 0);
    }
}

static void check_any(const struct bbf_value *value, struct json_object *expected)
{
    struct json_object *t;

    if (expected == NULL) {
        CHECK(value->kind == BBF_VALUE_NULL);
    } else if (json_object_is_type(expected, json_type_int)) {
        CHECK(value->kind == BBF_VALUE_INT && value->u.i == json_object_get_int(expected));
    } else if (json_object_is_type(expected, json_type_string)) {
        const char *text = json_object_get_string(expected);
        if (strncmp(text, "Histogram[", 10) == 0) /* v2 has none: its class's name, its arrays */
            CHECK(value->kind == BBF_VALUE_STRING && strstr(value->text.s, "[1, 2, 4]") != NULL &&
                  strstr(value->text.s, "[5, 0, 7]") != NULL);
        else if (value->kind == BBF_VALUE_LONG) /* the manifest's way with longs */
            CHECK(value->u.l == strtoll(text, NULL, 10));
        else
            check_text(&value->text, expected);
    } else if (json_object_object_get_ex(expected, "t", &t) &&
               strcmp(json_object_get_string(t), "boolean") == 0) {
        CHECK(value->kind == BBF_VALUE_BOOLEAN);
        CHECK(value->u.b == json_object_get_boolean(get(expected, "v")));
    } else if (t != NULL) {
        check_number(value, json_object_get_string(t), member(expected, "v"));
    } else {
        check_text(&value->text, expected);
    }
}

/* Pairs, or more of them than the manifest lists. */
static void check_pairs(const struct bbf_command *c, struct json_object *expected)
{
    CHECK(json_object_array_length(expected) <= c->n_entries);
    CHECK(json_object_array_length(expected) == c->n_entries || c->n_entries > 100);
    for (size_t i = 0; i < json_object_array_length(expected); i++) {
        struct json_object *pair = json_object_array_get_idx(expected, i);
        check_text(&c->entries[i].key, json_object_array_get_idx(pair, 0));
        check_any(&c->entries[i].value, json_object_array_get_idx(pair, 1));
    }
}

static void check_grid(const struct bbf_command *c, struct json_object *e)
{
    struct json_object *rows = get(e, "data"), *format = get(e, "format");

    check_text(&c->text[0], get(e, "name"));
    CHECK(strcmp(c->text[1].s, format != NULL ? json_object_get_string(format) : "") == 0);
    CHECK(json_object_array_length(rows) == c->n_rows ||
          (c->n_rows == 1000 && json_object_array_length(rows) > 0));
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        CHECK(c->rows[i].n_cells == json_object_array_length(row));
        for (size_t k = 0; k < c->rows[i].n_cells; k++)
            check_any(&c->rows[i].cells[k], json_object_array_get_idx(row, k));
    }
}

/* One throwable of the chain; returns where the next one's text begins. */
static const char *check_throwable(const char *text, struct json_object *e)
{
    struct json_object *message = get(e, "message"), *first = get(e, "first5");
    const char *class_name = member(e, "class");
    int frames = json_object_get_int(get(e, "frames"));

    CHECK(strncmp(text, class_name, strlen(class_name)) == 0);
    text += strlen(class_name);
    if (message != NULL) {
        size_t n = (size_t)json_object_get_string_len(message);
        CHECK(memcmp(text, ": ", 2) == 0);
        CHECK(memcmp(text + 2, json_object_get_string(message), n) == 0);
        text += 2 + n;
    }
    CHECK(*text++ == '\n');
    for (int i = 0; i < frames; i++) {
        CHECK(memcmp(text, "\tat ", 4) == 0);
        text += 4;
        if (i < (int)json_object_array_length(first)) {
            const char *frame = json_object_get_string(json_object_array_get_idx(first, (size_t)i));
            CHECK(strncmp(text, frame, strlen(frame)) == 0 && text[strlen(frame)] == '\n');
        }
        text = strchr(text, '\n') + 1;
    }
    return text;
}

static void check_error(const struct bbf_command *c, struct json_object *cause)
{
    static const char caused_by[] = "Caused by: ";

    if (cause == NULL) {
        CHECK(c->text[0].s == NULL && c->text[1].s == NULL && c->text[2].s == NULL);
        return;
    }
    check_text(&c->text[0], get(cause, "class"));
    check_text(&c->text[1], get(cause, "message"));
    const char *text = check_throwable(c->text[2].s, cause);
    for (cause = get(cause, "cause"); cause != NULL; cause = get(cause, "cause")) {
        CHECK(strncmp(text, caused_by, strlen(caused_by)) == 0);
        text = check_throwable(text + strlen(caused_by), cause);
    }
    CHECK(text == c->text[2].s + c->text[2].len);
}

static void check_message(const struct bbf_command *c, struct json_object *e)
{
    CHECK(c->timestamp_ms == strtoll(member(e, "time"), NULL, 10));
    CHECK(c->flag == json_object_get_boolean(get(e, "urgent")));
    check_text(&c->text[0], get(e, "msg"));
}

static void check_decoded(const struct bbf_command *c, struct json_object *e)
{
    static const char *const text_key[] = {[BBF_CMD_EVENT] = "event",
                                           [BBF_CMD_RENAME] = "newName",
                                           [BBF_CMD_DISCONNECT] = "probeId",
                                           [BBF_CMD_RECONNECT] = "probeId",
                                           [BBF_CMD_RETRANSFORM_CLASS] = "className"};
    int32_t flag;

    switch (c->type) {
    case BBF_CMD_ERROR:
        check_error(c, get(e, "cause"));
        break;
    case BBF_CMD_EVENT:
    case BBF_CMD_RENAME:
    case BBF_CMD_DISCONNECT:
    case BBF_CMD_RECONNECT:
    case BBF_CMD_RETRANSFORM_CLASS:
        check_text(&c->text[0], get(e, text_key[c->type]));
        break;
    case BBF_CMD_EXIT:
        CHECK(c->number[0] == json_object_get_int(get(e, "exitCode")));
        break;
    case BBF_CMD_INSTRUMENT:
        check_code(c, get(e, "code"));
        check_pairs(c, get(e, "args"));
        break;
    case BBF_CMD_MESSAGE:
        check_message(c, e);
        break;
    case BBF_CMD_STATUS:
        flag = json_object_get_int(get(e, "flag"));
        CHECK(c->number[0] == abs(flag) && c->flag == (flag >= 0));
        break;
    case BBF_CMD_NUMBER_MAP:
    case BBF_CMD_STRING_MAP:
        check_text(&c->text[0], get(e, "name"));
        check_pairs(c, get(e, "data"));
        break;
    case BBF_CMD_NUMBER:
        check_text(&c->text[0], get(e, "name"));
        check_any(&c->value, get(e, "value"));
        break;
    case BBF_CMD_GRID_DATA:
        check_grid(c, e);
        break;
    case BBF_CMD_RETRANSFORMATION_START:
        CHECK(c->number[0] == json_object_get_int(get(e, "numClasses")));
        break;
    case BBF_CMD_SET_PARAMS:
        check_pairs(c, get(e, "params"));
        break;
    default:
        CHECK(c->type == BBF_CMD_LIST_PROBES);
        CHECK(c->n_list == json_object_array_length(get(e, "probes")));
        for (size_t i = 0; i < c->n_list; i++)
            check_text(&c->list[i], json_object_array_get_idx(get(e, "probes"), i));
        break;
    }
}

/* ---- reading and writing ---- */

/* Our writing of it reads as the same command; are the bytes the same, too? */
static bool check_encoded(const struct bbf_command *c, const uint8_t *stream, size_t len)
{
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_command again;
    struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_client_limits);

    assert_non_null(reader);
    CHECK(bbf_v1_encode(&out, c, false) == BBF_OK);
    (void)check_pieces(c, true);
    size_t used = read_command(reader, &again, (const uint8_t *)out.data, out.len);
    CHECK(used == out.len);
    if (c->type == BBF_CMD_ERROR)
        CHECK(strcmp(again.text[1].s, c->text[1].s != NULL ? c->text[1].s : "") == 0 ||
              c->text[1].s == NULL || strlen(c->text[1].s) != c->text[1].len);
    else
        check_equal(c, &again);
    bool same = out.len == len && memcmp(out.data, stream, len) == 0;
    bbf_command_free(&again);
    bbf_v1_reader_free(reader);
    bbf_buf_free(&out);
    return same;
}

/* The long way gives the same command. */
static void check_long_way(const struct bbf_command *c, const uint8_t *stream, size_t len)
{
    struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_client_limits);
    struct bbf_command again;

    assert_non_null(reader);
    bbf_v1_reader_the_long_way(reader);
    CHECK(read_command(reader, &again, stream, len) == len);
    check_equal(c, &again);
    bbf_command_free(&again);
    bbf_v1_reader_free(reader);
}

/* ---- the tests ---- */

static void streams_of_the_real_classes_decode_to_the_manifest(void **state)
{
    struct json_object *vectors = get(manifest, "vectors");
    int same = 0;

    (void)state;
    assert_int_equal(json_object_array_length(vectors), 64);
    for (size_t i = 0; i < 64; i++) {
        struct json_object *vector = json_object_array_get_idx(vectors, i);
        struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_client_limits);
        struct bbf_command c;
        size_t len;
        snprintf(where, sizeof where, "%s", member(vector, "name"));
        uint8_t *stream = read_file(member(vector, "file"), &len);
        assert_non_null(reader);
        CHECK(memcmp(stream, BBF_V1_HEADER, HEADER) == 0);
        if (strcmp(where, "grid_null_data_quirk") == 0) {
            /* The real writer leaves a field out, so that no reader can tell where it ends. */
            size_t used;
            CHECK(bbf_v1_decode(reader, &c, stream + HEADER, len - HEADER, &used, NULL) ==
                  BBF_EMORE);
            CHECK(used > len - HEADER);
        } else {
            CHECK(read_command(reader, &c, stream + HEADER, len - HEADER) == len - HEADER);
            CHECK((int)c.type == json_object_get_int(get(vector, "type")));
            check_decoded(&c, get(vector, "decoded"));
            check_long_way(&c, stream + HEADER, len - HEADER);
            same += check_encoded(&c, stream + HEADER, len - HEADER);
            bbf_command_free(&c);
        }
        bbf_v1_reader_free(reader);
        free(stream);
    }
    /* Others differ: shared objects, Throwables, kinds that v2 knows as long or text. */
    assert_int_equal(same, 51);
}

static void many_commands_on_one_stream(void **state)
{
    struct json_object *streams = get(manifest, "streams");

    (void)state;
    assert_int_equal(json_object_array_length(streams), 3);
    for (size_t i = 0; i < 3; i++) {
        struct json_object *s = json_object_array_get_idx(streams, i);
        struct json_object *commands = get(s, "commands");
        struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_client_limits);
        size_t len, pos = HEADER;
        snprintf(where, sizeof where, "%s", member(s, "name"));
        uint8_t *stream = read_file(member(s, "file"), &len);
        assert_non_null(reader);
        for (size_t k = 0; k < json_object_array_length(commands); k++) {
            struct json_object *e = json_object_array_get_idx(commands, k);
            struct bbf_command c;
            pos += read_command(reader, &c, stream + pos, len - pos);
            CHECK(strcmp(bbf_command_name(c.type), member(e, "command")) == 0);
            check_decoded(&c, e);
            bbf_command_free(&c);
        }
        CHECK(pos == len);
        bbf_v1_reader_free(reader);
        free(stream);
    }
}

/* What the real client sent in ten sessions, with the recorder's notes; and what it was sent. */
static void recorded_sessions(void **state)
{
    static const struct {
        const char *name;
        unsigned commands, answers;
    } sessions[] = {{"error_null_cause", 2, 3}, {"error_then_exit", 2, 2}, {"grid_null_cell", 2, 3},
                    {"list_probes", 2, 1},      {"reconnect_event", 4, 2}, {"reconnect_exit", 2, 2},
                    {"reconnect_fail", 2, 1},   {"submit", 2, 5},          {"submit_fail", 3, 1},
                    {"unattended", 4, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof sessions / sizeof sessions[0]; i++) {
        char path[128], direction[8], command[32], line[4096];
        struct bbf_v1_reader *readers[2] = {bbf_v1_reader_new(&bbf_wire_server_limits),
                                            bbf_v1_reader_new(&bbf_wire_client_limits)};
        uint8_t *streams[2];
        size_t len[2], pos[2] = {HEADER, HEADER};
        unsigned n[2] = {0, 0};
        int json_at = 0;
        for (int side = 0; side < 2; side++) {
            snprintf(path, sizeof path, "conv/%s_%s.bin", sessions[i].name,
                     side == 0 ? "c2s" : "s2c");
            streams[side] = read_file(path, &len[side]);
        }
        snprintf(path, sizeof path, VECTORS "conv/%.60s.txt", sessions[i].name);
        FILE *notes = fopen(path, "r");
        assert_non_null(notes);
        while (fgets(line, sizeof line, notes) != NULL) {
            struct bbf_command c;
            if (sscanf(line, "%*d ms %7s %31s %n", direction, command, &json_at) < 2 ||
                direction[1] != '2')
                continue;
            int side = direction[0] == 's';
            snprintf(where, sizeof where, "%s %s %u", sessions[i].name, direction, n[side]++);
            pos[side] +=
                read_command(readers[side], &c, streams[side] + pos[side], len[side] - pos[side]);
            if (side == 0) {
                struct json_object *e = json_tokener_parse(line + json_at);
                CHECK(strcmp(bbf_command_name(c.type), command) == 0);
                check_decoded(&c, e);
                json_object_put(e);
            } else if (strncmp(command, "status", 6) == 0) {
                int flag = atoi(command + 6);
                CHECK(c.type == BBF_CMD_STATUS);
                CHECK(c.number[0] == abs(flag) && c.flag == (flag >= 0));
            }
            (void)check_encoded(&c, streams[side], 0);
            bbf_command_free(&c);
        }
        fclose(notes);
        CHECK(n[0] == sessions[i].commands && n[1] == sessions[i].answers);
        CHECK(pos[0] == len[0] && pos[1] == len[1]);
        for (int side = 0; side < 2; side++) {
            bbf_v1_reader_free(readers[side]);
            free(streams[side]);
        }
    }
}

/* Built byte by byte, taken by the real reader. */
static void hand_made_streams(void **state)
{
    static const struct {
        const char *file;
        enum bbf_command_type types[3];
        size_t n;
    } streams[] = {
        {"empty_block_first", {BBF_CMD_STATUS}, 1},
        {"error_minimal_then_exit1", {BBF_CMD_ERROR, BBF_CMD_EXIT}, 2},
        {"error_null", {BBF_CMD_ERROR}, 1},
        {"grid_2x2_handle_reuse", {BBF_CMD_GRID_DATA}, 1},
        {"grid_longstring_cell", {BBF_CMD_GRID_DATA}, 1},
        {"list_probes", {BBF_CMD_LIST_PROBES}, 1},
        {"message_70000_one_long_block", {BBF_CMD_MESSAGE}, 1},
        {"number_long", {BBF_CMD_NUMBER}, 1},
        {"reset_between", {BBF_CMD_LIST_PROBES, BBF_CMD_DISCONNECT}, 2},
        {"status_message_exit", {BBF_CMD_STATUS, BBF_CMD_MESSAGE, BBF_CMD_EXIT}, 3},
        {"status_split_blocks", {BBF_CMD_STATUS}, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        char path[128];
        struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_client_limits);
        size_t len, pos = HEADER;
        snprintf(path, sizeof path, "handmade/%s.bin", streams[i].file);
        snprintf(where, sizeof where, "%s", streams[i].file);
        uint8_t *stream = read_file(path, &len);
        assert_non_null(reader);
        for (size_t k = 0; k < streams[i].n; k++) {
            struct bbf_command c;
            pos += read_command(reader, &c, stream + pos, len - pos);
            CHECK(c.type == streams[i].types[k]);
            if (c.type == BBF_CMD_MESSAGE && i == 6)
                CHECK(c.text[0].len == 70000);
            bbf_command_free(&c);
        }
        CHECK(pos == len);
        bbf_v1_reader_free(reader);
        free(stream);
    }
}

/* What v1 cannot say is refused, and nothing is written of it. */
static void what_v1_cannot_say(void **state)
{
    static char long_text[65536];
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_command event = {.type = BBF_CMD_EVENT, .text = {{long_text, sizeof long_text}}};
    struct bbf_command number = {.type = BBF_CMD_NUMBER,
                                 .value = {.kind = BBF_VALUE_BIGINT, .text = {"12x", 3}}};

    (void)state;
    memset(long_text, 'e', sizeof long_text);
    bbf_buf_str(&out, "kept");
    assert_int_equal(bbf_v1_encode(&out, &event, true), BBF_EINVAL);
    assert_int_equal(bbf_v1_encode(&out, &number, true), BBF_EINVAL);
    number.value.text = (struct bbf_wire_str){"", 0};
    assert_int_equal(bbf_v1_encode(&out, &number, true), BBF_EINVAL);
    number.value.kind = BBF_VALUE_BIGDEC;
    number.value.text = (struct bbf_wire_str){"1e99999999999", 13};
    assert_int_equal(bbf_v1_encode(&out, &number, true), BBF_EINVAL);
    assert_int_equal(out.len, 4);
    struct bbf_pieces pieces = BBF_PIECES_INIT;
    event.text[0].len = 65535;
    assert_int_equal(bbf_v1_encode(&out, &event, true), BBF_OK);
    assert_int_equal(bbf_v1_encode_pieces(&pieces, &event, true), BBF_OK);
    event.text[0].len = 65536;
    assert_int_equal(bbf_v1_encode_pieces(&pieces, &event, true), BBF_EINVAL);
    assert_int_equal(pieces.copied.len + pieces.list.len, 0);
    bbf_pieces_free(&pieces);
    bbf_buf_free(&out);
}

/* Written and read, each through its own way with digits. */
static void big_numbers_of_any_length(void **state)
{
    char digits[101];
    struct bbf_command c = {.type = BBF_CMD_NUMBER,
                            .text = {{"", 0}},
                            .value = {.kind = BBF_VALUE_BIGINT, .text = {digits, 0}}};

    (void)state;
    for (size_t i = 0; i < 100; i++)
        digits[i] = (char)('1' + i * 7 % 9);
    for (size_t n = 1; n <= 100; n++) {
        c.value.text.len = n;
        snprintf(where, sizeof where, "%zu digits", n);
        (void)check_encoded(&c, NULL, 0);
    }
    memset(digits + 1, '0', 99); /* whole words of zeros */
    for (size_t n = 1; n <= 100; n++) {
        c.value.text.len = n;
        snprintf(where, sizeof where, "1 and %zu zeros", n - 1);
        (void)check_encoded(&c, NULL, 0);
    }
}

static void a_byte_above_127_is_seen_anywhere(void **state)
{
    uint8_t text[100];

    (void)state;
    memset(text, 'a', sizeof text);
    for (size_t len = 0; len <= sizeof text; len++) {
        assert_true(bbf_utf8_is_ascii(text, len));
        for (size_t i = 0; i < sizeof text; i++) {
            text[i] = 0x80;
            if (bbf_utf8_is_ascii(text, len) != (i >= len))
                fail_msg("byte %zu of %zu", i, len);
            text[i] = 'a';
        }
    }
}

#define MALFORMED(bytes, result)                                                                   \
    {                                                                                              \
        bytes, sizeof bytes - 1, result                                                            \
    }
#define CLASS_A(flags, super) "\x72\0\1A\0\0\0\0\0\0\0\0" flags "\0\0\x78" super /* no fields */

static void malformed_streams(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        int result;
    } cases[] = {
        MALFORMED("\x77\1\x12", BBF_EFORMAT),                   /* type 18 */
        MALFORMED("\x77\1\xFF", BBF_EFORMAT),                   /* type -1 */
        MALFORMED("\x70", BBF_EFORMAT),                         /* an object first */
        MALFORMED("\x7A\xFF\xFF\xFF\xFF", BBF_EFORMAT),         /* block of -1 bytes */
        MALFORMED("\x7A\x7F\xFF\xFF\xFF\2", BBF_EMORE),         /* of 2^31-1: is not stored */
        MALFORMED("\x77\5\3\x7F\xFF\xFF\xFF", BBF_ELIMIT),      /* code of 2^31-1 bytes */
        MALFORMED("\x77\5\3\x80\0\0\0", BBF_ELIMIT),            /* of -2^31 */
        MALFORMED("\x77\5\x0E\x7F\xFF\xFF\xFF", BBF_ELIMIT),    /* a list of 2^31-1 */
        MALFORMED("\x77\5\x0E\xFF\xFF\xFF\xFF", BBF_OK),        /* of -1: none, as in v2 */
        MALFORMED("\x77\4\1\0\1\x80", BBF_EFORMAT),             /* no modified UTF-8 */
        MALFORMED("\x77\3\x09\0\0\x71\0\x7E\0\0", BBF_EFORMAT), /* no such handle */
        MALFORMED("\x77\3\x09\0\0\x71\0\0\0\0", BBF_EFORMAT),   /* handle before the first */
        MALFORMED("\x77\3\x09\0\0\x79", BBF_EFORMAT),           /* a reset inside a command */
        MALFORMED("\x77\3\x09\0\0\x7B", BBF_EFORMAT),           /* an exception of the writer */
        MALFORMED("\x77\4\x09\0\0\0\x70", BBF_EFORMAT),         /* bytes where an object belongs */
        MALFORMED("\x77\3\x09\0\0\x74\0\1a", BBF_EFORMAT),      /* text that is no number */
        MALFORMED("\x77\3\x09\0\0\x73\x74\0\1A", BBF_EFORMAT),  /* an object of a string */
        MALFORMED("\x77\3\x09\0\0\x73" CLASS_A("\x0C", "\x70"), BBF_EFORMAT), /* Externalizable */
        MALFORMED("\x77\3\x09\0\0\x73" CLASS_A("\2", "\x71\0\x7E\0\0"), BBF_ELIMIT), /* of itself */
        MALFORMED("\x77\3\x09\0\0\x75" CLASS_A("\2", "\x70") "\0\0\0\1", BBF_EFORMAT),
        MALFORMED("\x77\3\x09\0\0\x7C\0\0\0\1\0\0\0\0", BBF_ELIMIT), /* a string of 4 GiB */
        MALFORMED("\x77\3\x09\0\0\x72\0\1A\0\0\0\0\0\0\0\0\2\xFF\xFF", BBF_ELIMIT), /* fields */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_server_limits);
        struct bbf_command c;
        size_t used;
        uint8_t *copy = malloc(cases[i].len);
        assert_non_null(reader);
        assert_non_null(copy);
        memcpy(copy, cases[i].bytes, cases[i].len);
        int err = bbf_v1_decode(reader, &c, copy, cases[i].len, &used, NULL);
        if (err != cases[i].result)
            fail_msg("malformed stream %zu: %d, not %d", i, err, cases[i].result);
        bbf_command_free(&c);
        bbf_v1_reader_free(reader);
        free(copy);
    }
}

/* An array of arrays of arrays …: bounded, not a deep stack. */
static void what_nests_too_deeply(void **state)
{
    struct bbf_buf in = BBF_BUF_INIT;
    struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_server_limits);
    struct bbf_command c;
    size_t used;

    (void)state;
    assert_non_null(reader);
    bbf_buf_add(&in, "\x77\3\x09\0\0", 5);
    for (int i = 0; i < 100000; i++)
        bbf_buf_add(&in, "\x75\x72\0\2[[\0\0\0\0\0\0\0\0\2\0\0\x78\x70\0\0\0\1", 23);
    assert_int_equal(bbf_v1_decode(reader, &c, (const uint8_t *)in.data, in.len, &used, NULL),
                     BBF_ELIMIT);
    bbf_v1_reader_free(reader);
    bbf_buf_free(&in);
}

/* A peer that never resets must not fill the memory of the other. */
static void what_a_stream_keeps_is_bounded(void **state)
{
    static const char retransform[] = "\x77\1\x0C\x74\0\1x"; /* a new string each time */
    struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_server_limits);
    struct bbf_command c;
    size_t used;
    int err = BBF_OK, n = 0;

    (void)state;
    assert_non_null(reader);
    for (; err == BBF_OK && n < 2000000; n++) {
        err = bbf_v1_decode(reader, &c, (const uint8_t *)retransform, sizeof retransform - 1, &used,
                            NULL);
        bbf_command_free(&c);
    }
    assert_int_equal(err, BBF_ELIMIT);
    assert_true(n > 10000);
    bbf_v1_reader_free(reader);
}

/* A command without objects takes the fast path past the stream, which still records it. */
static void what_the_short_way_leaves_behind(void **state)
{
    static const char object[] = "\x77\3\x09\0\0\x73\x72\0\x11java.lang.Integer"
                                 "\0\0\0\0\0\0\0\0\2\0\1I\0\5value\x78\x70\0\0\0\7";
    static const char again[] = "\x77\3\x09\0\0\x71\0\x7E\0\1"; /* the same object */
    static const char exit[] = "\x77\5\2\0\0\0\1", reset[] = "\x79\x77\5\2\0\0\0\1";
    static const char in_one_block[] = "\x77\x0C\2\0\0\0\1\x77\5\2\0\0\0\1";
    struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_server_limits);
    struct bbf_command c;
    size_t used;

    (void)state;
    assert_non_null(reader);
    const struct {
        const char *bytes;
        size_t len;
        int result;
    } steps[] = {
        {object, sizeof object - 1, BBF_OK},
        {exit, sizeof exit - 1, BBF_OK},
        {again, sizeof again - 1, BBF_OK},
        {reset, sizeof reset - 1, BBF_OK},
        {again, sizeof again - 1, BBF_EFORMAT}, /* forgotten */
        {in_one_block, 7, BBF_OK},
        {in_one_block + 7, 7, BBF_EFORMAT}, /* type 0x77 */
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        snprintf(where, sizeof where, "step %zu", i);
        CHECK(bbf_v1_decode(reader, &c, (const uint8_t *)steps[i].bytes, steps[i].len, &used,
                            NULL) == steps[i].result);
        CHECK(steps[i].result != BBF_OK || used == steps[i].len);
        bbf_command_free(&c);
    }
    bbf_v1_reader_free(reader);
}

/* Block data that Java would cut elsewhere, and a text that needs each byte of its room. */
static void texts_anywhere_in_the_blocks(void **state)
{
    static const char name[] = "\x77\5\5\0\2\xC3\xA9";
    static const char map[] = "\x77\x0D\x08\0\1n\0\0\0\1\0\3key"
                              "\x77\x22\0\x20"
                              "0123456789abcdef0123456789abcdef";
    struct bbf_v1_reader *reader = bbf_v1_reader_new(&bbf_wire_server_limits);
    struct bbf_command c;

    (void)state;
    assert_non_null(reader);
    snprintf(where, sizeof where, "a text of one character");
    CHECK(read_command(reader, &c, (const uint8_t *)name, sizeof name - 1) == sizeof name - 1);
    CHECK(c.type == BBF_CMD_RENAME && strcmp(c.text[0].s, "\xC3\xA9") == 0);
    check_long_way(&c, (const uint8_t *)name, sizeof name - 1);
    bbf_command_free(&c);
    snprintf(where, sizeof where, "a value in the next block");
    CHECK(read_command(reader, &c, (const uint8_t *)map, sizeof map - 1) == sizeof map - 1);
    CHECK(c.n_entries == 1 && strcmp(c.entries[0].key.s, "key") == 0);
    CHECK(strcmp(c.entries[0].value.text.s, "0123456789abcdef0123456789abcdef") == 0);
    check_long_way(&c, (const uint8_t *)map, sizeof map - 1);
    bbf_command_free(&c);
    bbf_v1_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_of_the_real_classes_decode_to_the_manifest),
        cmocka_unit_test(many_commands_on_one_stream),
        cmocka_unit_test(recorded_sessions),
        cmocka_unit_test(hand_made_streams),
        cmocka_unit_test(what_v1_cannot_say),
        cmocka_unit_test(big_numbers_of_any_length),
        cmocka_unit_test(a_byte_above_127_is_seen_anywhere),
        cmocka_unit_test(malformed_streams),
        cmocka_unit_test(what_nests_too_deeply),
        cmocka_unit_test(what_a_stream_keeps_is_bounded),
        cmocka_unit_test(what_the_short_way_leaves_behind),
        cmocka_unit_test(texts_anywhere_in_the_blocks),
    };
    return cmocka_run_group_tests(tests, read_manifest, free_manifest);
}
