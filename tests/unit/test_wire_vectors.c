/* link: bbf_wire bbf_core json-c */
/*
 * The golden frames of the real BTrace 3.0 classes (tests/golden/wire/btrace-v2): each is decoded,
 * compared field by field with manifest.json, and encoded again to the same bytes. The malformed
 * ones end as the real decoder ends them, or earlier.
 */
#include "core/err.h"
#include "wire/btrace/command.h"

#define VECTORS BBF_SOURCE_DIR "/tests/golden/wire/btrace-v2/"

#include "tests/unit/wire_vectors.h"

static uint64_t bits(struct json_object *expected)
{
    return strtoull(json_object_get_string(get(expected, "bits")), NULL, 16);
}

static int64_t number(struct json_object *expected)
{
    return strtoll(json_object_get_string(get(expected, "v")), NULL, 10);
}

static void check_value(const struct bbf_value *value, struct json_object *expected)
{
    const char *t = json_object_get_string(get(expected, "t"));

    switch (value->kind) {
    case BBF_VALUE_NULL:
        CHECK(strcmp(t, "null") == 0);
        break;
    case BBF_VALUE_STRING:
        CHECK(strcmp(t, "string") == 0);
        check_text(&value->text, get(expected, "v"));
        break;
    case BBF_VALUE_INT:
        CHECK(strcmp(t, "int") == 0);
        CHECK(value->u.i == number(expected));
        break;
    case BBF_VALUE_LONG:
        CHECK(strcmp(t, "long") == 0);
        CHECK(value->u.l == number(expected));
        break;
    case BBF_VALUE_FLOAT:
        CHECK(strcmp(t, "float") == 0);
        CHECK(value->u.float_bits == bits(expected));
        break;
    case BBF_VALUE_DOUBLE:
        CHECK(strcmp(t, "double") == 0);
        CHECK(value->u.double_bits == bits(expected));
        break;
    case BBF_VALUE_BOOLEAN:
        CHECK(strcmp(t, "boolean") == 0);
        CHECK(value->u.b == json_object_get_boolean(get(expected, "v")));
        break;
    case BBF_VALUE_BIGINT:
        CHECK(strcmp(t, "bigint") == 0);
        check_text(&value->text, get(expected, "v"));
        break;
    case BBF_VALUE_BIGDEC:
        CHECK(strcmp(t, "bigdec") == 0);
        check_text(&value->text, get(expected, "v"));
        break;
    }
}

/* Pairs [key, value]; the value is a plain string where the command has no tags. */
static void check_pairs(const struct bbf_command *c, struct json_object *expected, bool tagged)
{
    CHECK(c->n_entries == json_object_array_length(expected));
    for (size_t i = 0; i < c->n_entries; i++) {
        struct json_object *pair = json_object_array_get_idx(expected, i);
        struct json_object *value = json_object_array_get_idx(pair, 1);
        const struct bbf_value *got = &c->entries[i].value;
        check_text(&c->entries[i].key, json_object_array_get_idx(pair, 0));
        if (tagged) {
            check_value(got, value);
        } else {
            CHECK(got->kind == (value == NULL ? BBF_VALUE_NULL : BBF_VALUE_STRING));
            check_text(&got->text, value);
        }
    }
}

/* SET_PARAMS is an object in the manifest: sorted there, in the sender's order here. */
static void check_params(const struct bbf_command *c, struct json_object *expected)
{
    CHECK((int)c->n_entries == json_object_object_length(expected));
    for (size_t i = 0; i < c->n_entries; i++)
        check_value(&c->entries[i].value, get(expected, c->entries[i].key.s));
}

static void check_list(const struct bbf_command *c, struct json_object *expected)
{
    CHECK(c->n_list == json_object_array_length(expected));
    for (size_t i = 0; i < c->n_list; i++)
        check_text(&c->list[i], json_object_array_get_idx(expected, i));
}

/* A big grid lists its first 20 rows; byte-equal encoding covers the others. */
static void check_grid(const struct bbf_command *c, struct json_object *expected)
{
    struct json_object *rows;

    check_text(&c->text[0], get(expected, "name"));
    check_list(c, get(expected, "columns"));
    CHECK(c->n_rows == (size_t)json_object_get_int64(get(expected, "rowCount")));
    if (!json_object_object_get_ex(expected, "rows", &rows))
        rows = get(expected, "first20rows");
    CHECK(json_object_array_length(rows) <= c->n_rows);
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        struct json_object *row = json_object_array_get_idx(rows, i);
        CHECK(c->rows[i].n_cells == json_object_array_length(row));
        for (size_t j = 0; j < c->rows[i].n_cells; j++)
            check_value(&c->rows[i].cells[j], json_object_array_get_idx(row, j));
    }
}

static void check_message(const struct bbf_command *c, struct json_object *expected)
{
    CHECK(c->timestamp_ms == strtoll(json_object_get_string(get(expected, "timestamp")), NULL, 10));
    CHECK(c->flag == json_object_get_boolean(get(expected, "urgent")));
    check_text(&c->text[0], get(expected, "message"));
}

static void check_int(int32_t got, struct json_object *expected, const char *key)
{
    CHECK(got == json_object_get_int64(get(expected, key)));
}

static void check_decoded(const struct bbf_command *c, struct json_object *e)
{
    switch (c->type) {
    case BBF_CMD_ERROR:
        check_text(&c->text[0], get(e, "exceptionClass"));
        check_text(&c->text[1], get(e, "message"));
        check_text(&c->text[2], get(e, "stackTrace"));
        break;
    case BBF_CMD_EVENT:
    case BBF_CMD_RENAME:
    case BBF_CMD_DISCONNECT:
    case BBF_CMD_RECONNECT:
        check_text(&c->text[0], get(e, "value"));
        break;
    case BBF_CMD_EXIT:
        check_int(c->number[0], e, "exitCode");
        break;
    case BBF_CMD_INSTRUMENT:
        check_code(c, get(e, "code"));
        check_pairs(c, get(e, "args"), false);
        break;
    case BBF_CMD_MESSAGE:
        check_message(c, e);
        break;
    case BBF_CMD_STATUS:
        check_int(c->number[0], e, "flag");
        CHECK(c->flag == json_object_get_boolean(get(e, "success")));
        break;
    case BBF_CMD_NUMBER_MAP:
    case BBF_CMD_STRING_MAP:
        check_text(&c->text[0], get(e, "name"));
        check_pairs(c, get(e, "entries"), c->type == BBF_CMD_NUMBER_MAP);
        break;
    case BBF_CMD_NUMBER:
        check_text(&c->text[0], get(e, "name"));
        check_value(&c->value, get(e, "value"));
        break;
    case BBF_CMD_GRID_DATA:
        check_grid(c, e);
        break;
    case BBF_CMD_RETRANSFORMATION_START:
        check_int(c->number[0], e, "numClasses");
        break;
    case BBF_CMD_RETRANSFORM_CLASS:
        check_text(&c->text[0], get(e, "className"));
        check_int(c->number[0], e, "index");
        check_int(c->number[1], e, "total");
        break;
    case BBF_CMD_SET_PARAMS:
        check_params(c, get(e, "params"));
        break;
    case BBF_CMD_LIST_PROBES:
    case BBF_CMD_LIST_FAILED_EXTENSIONS:
        check_list(c, get(e, "list"));
        break;
    case BBF_CMD_TYPES:
        fail_msg("%s: no type", where);
        break;
    }
}

/* Encoded again: the same bytes, or, deflated by another zlib, the same text. */
static void check_encoded(const struct bbf_command *c, const uint8_t *frame, size_t len)
{
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_command again;
    size_t used;

    CHECK(bbf_command_encode(&out, c, c->deflated ? 0 : SIZE_MAX) == BBF_OK);
    if (!c->deflated) {
        CHECK(out.len == len);
        CHECK(memcmp(out.data, frame, len) == 0);
    } else {
        CHECK(bbf_command_decode(&again, (uint8_t *)out.data, out.len, &used,
                                 &bbf_wire_client_limits, NULL) == BBF_OK);
        CHECK(used == out.len && again.deflated);
        CHECK(again.text[0].len == c->text[0].len);
        CHECK(memcmp(again.text[0].s, c->text[0].s, c->text[0].len) == 0);
        bbf_command_free(&again);
    }
    bbf_buf_free(&out);
}

static void check_vector(struct json_object *vector)
{
    struct bbf_command c;
    struct bbf_buf out = BBF_BUF_INIT;
    const char *why;
    size_t len, used;

    snprintf(where, sizeof where, "%s", json_object_get_string(get(vector, "name")));
    uint8_t *frame = read_file(json_object_get_string(get(vector, "file")), &len);
    int err = bbf_command_decode(&c, frame, len, &used, &bbf_wire_client_limits, &why);
    if (err != BBF_OK)
        fail_msg("%s: %d %s", where, err, why);
    CHECK(used == len);
    CHECK((int)c.type == json_object_get_int(get(vector, "type")));
    CHECK(strcmp(bbf_command_name(c.type), json_object_get_string(get(vector, "command"))) == 0);
    CHECK(c.deflated == json_object_get_boolean(get(vector, "deflate")));
    check_decoded(&c, get(vector, "decoded"));
    check_encoded(&c, frame, len);
    /* With a peer's threshold the encoder itself decides what is deflated. */
    CHECK(bbf_command_encode(&out, &c, BBF_DEFLATE_OVER) == BBF_OK);
    if (c.type == BBF_CMD_MESSAGE)
        CHECK((out.data[11] == 1) == c.deflated);
    CHECK(bbf_command_skip(frame, len, &used, &bbf_wire_client_limits, NULL) == BBF_OK);
    CHECK(used == len);
    bbf_buf_free(&out);
    bbf_command_free(&c);
    free(frame);
}

static void golden_frames_decode_to_the_manifest_and_encode_to_the_same_bytes(void **state)
{
    struct json_object *vectors = get(manifest, "vectors");

    (void)state;
    assert_int_equal(json_object_array_length(vectors), 85);
    for (size_t i = 0; i < 85; i++)
        check_vector(json_object_array_get_idx(vectors, i));
}

/* Each cut of each frame wants more, says how much at least, and never more than there is. */
static void every_cut_frame_asks_for_more(void **state)
{
    struct json_object *vectors = get(manifest, "vectors");
    struct bbf_command c;

    (void)state;
    for (size_t i = 0; i < json_object_array_length(vectors); i++) {
        struct json_object *vector = json_object_array_get_idx(vectors, i);
        size_t len, used;
        uint8_t *frame = read_file(json_object_get_string(get(vector, "file")), &len);
        snprintf(where, sizeof where, "%s", json_object_get_string(get(vector, "name")));
        for (size_t cut = 0; cut < len; cut += cut < 300 ? 1 : 997) {
            uint8_t *part = malloc(cut > 0 ? cut : 1);
            assert_non_null(part);
            memcpy(part, frame, cut);
            CHECK(bbf_command_decode(&c, part, cut, &used, &bbf_wire_client_limits, NULL) ==
                  BBF_EMORE);
            CHECK(used > cut && used <= len);
            CHECK(c.block == NULL);
            free(part);
        }
        free(frame);
    }
}

static void check_malformed(struct json_object *vector)
{
    struct bbf_command c;
    size_t len, used;

    snprintf(where, sizeof where, "%s", json_object_get_string(get(vector, "name")));
    uint8_t *frame = read_file(json_object_get_string(get(vector, "file")), &len);
    bool accepted = strcmp(json_object_get_string(get(vector, "outcome")), "accepted") == 0;
    int err = bbf_command_decode(&c, frame, len, &used, &bbf_wire_server_limits, NULL);
    if (accepted) {
        CHECK(err == BBF_OK);
        CHECK(used == len - (size_t)json_object_get_int(get(vector, "unread")));
        check_decoded(&c, get(vector, "decoded"));
        bbf_command_free(&c);
    } else {
        /* A frame that the real decoder finds cut short waits for the rest, or is refused. */
        const char *error = json_object_get_string(get(vector, "error"));
        struct json_object *cause = NULL;
        json_object_object_get_ex(vector, "cause", &cause);
        bool cut = strstr(error, "EOFException") != NULL ||
                   (cause != NULL && strstr(json_object_get_string(cause), "EOFException") != NULL);
        bool version = strstr(error, "ProtocolVersionMismatch") != NULL;
        CHECK(err != BBF_OK);
        CHECK(cut || err != BBF_EMORE);
        CHECK(version == (err == BBF_EVERSION));
        CHECK(c.block == NULL && c.entries == NULL && c.text[0].s == NULL);
    }
    free(frame);
}

static void malformed_frames_end_as_in_the_real_decoder(void **state)
{
    struct json_object *vectors = get(manifest, "malformed");

    (void)state;
    assert_int_equal(json_object_array_length(vectors), 37);
    for (size_t i = 0; i < 37; i++)
        check_malformed(json_object_array_get_idx(vectors, i));
}

/* The recorded streams, after BTR2: frames back to back with nothing left over. */
static void whole_streams_decode_frame_by_frame(void **state)
{
    static const struct {
        const char *file;
        enum bbf_command_type types[6];
        size_t n;
    } streams[] = {
        {"conv/list_c2s.bin", {BBF_CMD_LIST_PROBES}, 1},
        {"conv/list_s2c.bin", {BBF_CMD_LIST_PROBES}, 1},
        {"conv/submit_c2s.bin", {BBF_CMD_SET_PARAMS, BBF_CMD_INSTRUMENT, BBF_CMD_EXIT}, 3},
        {"conv/submit_s2c.bin",
         {BBF_CMD_RENAME, BBF_CMD_STATUS, BBF_CMD_STATUS, BBF_CMD_MESSAGE, BBF_CMD_EXIT},
         5},
        {"conv/reconnect_event_c2s.bin", {BBF_CMD_RECONNECT, BBF_CMD_EVENT, BBF_CMD_DISCONNECT}, 3},
        {"conv/reconnect_event_s2c.bin", {BBF_CMD_STATUS, BBF_CMD_MESSAGE, BBF_CMD_DISCONNECT}, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        size_t len, pos = 4, used, n = 0;
        uint8_t *data = read_file(streams[i].file, &len);
        snprintf(where, sizeof where, "%s", streams[i].file);
        CHECK(memcmp(data, "BTR2", 4) == 0);
        while (pos < len) {
            struct bbf_command c;
            CHECK(bbf_command_decode(&c, data + pos, len - pos, &used, &bbf_wire_server_limits,
                                     NULL) == BBF_OK);
            CHECK(n < streams[i].n && c.type == streams[i].types[n]);
            n++;
            pos += used;
            bbf_command_free(&c);
        }
        CHECK(n == streams[i].n);
        free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_frames_decode_to_the_manifest_and_encode_to_the_same_bytes),
        cmocka_unit_test(every_cut_frame_asks_for_more),
        cmocka_unit_test(malformed_frames_end_as_in_the_real_decoder),
        cmocka_unit_test(whole_streams_decode_frame_by_frame),
    };
    return cmocka_run_group_tests(tests, read_manifest, free_manifest);
}
