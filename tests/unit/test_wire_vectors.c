/* link: bbf_wire bbf_core json-c */
/*
 * The golden frames of the real BTrace 3.0 classes (tests/golden/wire/btrace-v2): each is decoded,
 * compared field by field with manifest.json, and encoded again to the same bytes. The malformed
 * ones end as the real decoder ends them, or earlier.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "core/err.h"
#include "wire/command.h"

#define VECTORS BBF_SOURCE_DIR "/tests/golden/wire/btrace-v2/"

static struct json_object *manifest;
static char where[128]; /* the vector under test, for messages */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s: %s", where, #condition);                                                 \
    } while (0)

static int read_manifest(void **state)
{
    (void)state;
    manifest = json_object_from_file(VECTORS "manifest.json");
    return manifest == NULL ? -1 : 0;
}

static int free_manifest(void **state)
{
    (void)state;
    json_object_put(manifest);
    return 0;
}

/* An exact copy on the heap, so that a sanitizer sees a read one byte past the frame. */
static uint8_t *read_file(const char *name, size_t *len)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", VECTORS, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *len = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*len > 0 ? *len : 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *len, file), *len);
    fclose(file);
    return data;
}

static struct json_object *get(struct json_object *from, const char *key)
{
    struct json_object *value = NULL;
    if (!json_object_object_get_ex(from, key, &value))
        fail_msg("%s: no \"%s\" in the manifest", where, key);
    return value;
}

/* SHA-256, FIPS 180-4: the manifest names long strings by it. */
static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void sha256_block(uint32_t h[8], const uint8_t *p)
{
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
    uint32_t w[64], v[8];

    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
               (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
               w[i - 7] + (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t t = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                     ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
        uint32_t u = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
                     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t;
        v[0] = t + u;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

static void sha256(const void *data, size_t len, char hex[65])
{
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *p = data;
    uint8_t tail[128] = {0};
    size_t rest = len % 64;

    for (size_t i = 0; i + 64 <= len; i += 64)
        sha256_block(h, p + i);
    if (rest > 0)
        memcpy(tail, p + (len - rest), rest);
    tail[rest] = 0x80;
    size_t blocks = rest < 56 ? 1 : 2;
    for (int i = 0; i < 8; i++)
        tail[64 * blocks - 1 - (size_t)i] = (uint8_t)((uint64_t)len * 8 >> (8 * i));
    for (size_t i = 0; i < blocks; i++)
        sha256_block(h, tail + 64 * i);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 8 * i, 9, "%08x", h[i]);
}

/* A string field: null, the text itself, or {"$string": {utf8_len, sha256, head}}. */
static void check_text(const struct bbf_wire_str *text, struct json_object *expected)
{
    struct json_object *big;
    char hex[65];

    if (expected == NULL) {
        CHECK(text->s == NULL);
        return;
    }
    CHECK(text->s != NULL);
    CHECK(text->s[text->len] == '\0');
    if (json_object_is_type(expected, json_type_object)) {
        big = get(expected, "$string");
        const char *head = json_object_get_string(get(big, "head"));
        CHECK(text->len == (size_t)json_object_get_int64(get(big, "utf8_len")));
        CHECK(strncmp(text->s, head, strlen(head)) == 0);
        sha256(text->s, text->len, hex);
        CHECK(strcmp(hex, json_object_get_string(get(big, "sha256"))) == 0);
        return;
    }
    CHECK(text->len == (size_t)json_object_get_string_len(expected));
    CHECK(memcmp(text->s, json_object_get_string(expected), text->len) == 0);
}

static void check_code(const struct bbf_command *c, struct json_object *expected)
{
    char hex[65];

    if (expected == NULL) {
        CHECK(c->code == NULL);
        return;
    }
    struct json_object *bytes = get(expected, "$bytes");
    CHECK(c->code != NULL);
    CHECK(c->code_len == (size_t)json_object_get_int64(get(bytes, "len")));
    sha256(c->code, c->code_len, hex);
    CHECK(strcmp(hex, json_object_get_string(get(bytes, "sha256"))) == 0);
}

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
