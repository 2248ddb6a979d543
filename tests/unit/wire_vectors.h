/*
 * tests/unit/wire_vectors.h - golden frames and what their manifest.json says of them, for the
 * tests of the codecs. The test defines VECTORS, the folder, before it includes this.
 */
#ifndef BBF_TESTS_WIRE_VECTORS_H
#define BBF_TESTS_WIRE_VECTORS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "tests/unit/wire_check.h"
#include "wire/btrace/command.h"

static struct json_object *manifest;

static inline int read_manifest(void **state)
{
    (void)state;
    manifest = json_object_from_file(VECTORS "manifest.json");
    return manifest == NULL ? -1 : 0;
}

static inline int free_manifest(void **state)
{
    (void)state;
    json_object_put(manifest);
    return 0;
}

/* An exact copy on the heap, so that a sanitizer sees a read one byte past the frame. */
static inline uint8_t *read_file(const char *name, size_t *len)
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

static inline struct json_object *get(struct json_object *from, const char *key)
{
    struct json_object *value = NULL;
    if (!json_object_object_get_ex(from, key, &value))
        fail_msg("%s: no \"%s\" in the manifest", where, key);
    return value;
}

/* SHA-256, FIPS 180-4: the manifest names long strings by it. */
static inline uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static inline void sha256_block(uint32_t h[8], const uint8_t *p)
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

static inline void sha256(const void *data, size_t len, char hex[65])
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
static inline void check_text(const struct bbf_wire_str *text, struct json_object *expected)
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

static inline void check_code(const struct bbf_command *c, struct json_object *expected)
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

#endif
