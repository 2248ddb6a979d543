/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/lttng/codec.h"

#include <stdbool.h>
#include <string.h>

#include "core/err.h"

enum {
    DOMAIN_JUL = 3,
    MAJOR = 2,
    MINOR = 0,
    HEADER_2_0 = 16,
    ENABLE_FILTER_SIZE = 8 + BBF_LTTNG_NAME_SIZE,
    ENABLE_FILTER = ENABLE_FILTER_SIZE + 4,
    COMMANDS_0_1 = BBF_LTTNG_DISABLE,
    COMMANDS_2_0 = BBF_LTTNG_CONTEXT_DISABLE
};

static uint32_t get4(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint64_t get8(const uint8_t *at)
{
    return (uint64_t)get4(at) << 32 | get4(at + 4);
}

static void put4(struct bbf_buf *out, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    bbf_buf_add(out, bytes, sizeof bytes);
}

/* ---- what the daemon sends ---- */

struct reader {
    const uint8_t *at;
    size_t left;
    const char *why; /* the first thing that is wrong */
};

static int refuse(struct reader *in, const char *why)
{
    in->why = why;
    return BBF_EFORMAT;
}

/* A name in a field of `size` bytes, the first ones of what is left. */
static int read_name(struct reader *in, size_t size, struct bbf_lttng_command *out)
{
    const uint8_t *end = memchr(in->at, '\0', size);

    if (end == in->at || size == 0)
        return refuse(in, "the logger's name is empty");
    if (end == NULL)
        return refuse(in, "the logger's name does not end within its field");
    if (end - in->at >= BBF_LTTNG_NAME_SIZE)
        return refuse(in, "the logger's name has more than 255 bytes");
    out->name = (const char *)in->at;
    return BBF_OK;
}

/* The filter's length is what is left of the payload, and its NUL is the last byte. */
static int read_filter(struct reader *in, struct bbf_lttng_command *out)
{
    size_t size = get4(in->at + ENABLE_FILTER_SIZE);
    const char *filter = (const char *)in->at + ENABLE_FILTER;

    if (size != in->left - ENABLE_FILTER)
        return refuse(in, "ENABLE: the filter's length is not that of the payload's rest");
    if (size > BBF_LTTNG_FILTER_MAX)
        return refuse(in, "ENABLE: the filter has more than 65,536 bytes");
    if (size > 0 && (const char *)memchr(filter, '\0', size) != filter + size - 1)
        return refuse(in, "ENABLE: the filter does not end with its only NUL");
    out->filter = size > 0 ? filter : NULL;
    return BBF_OK;
}

static int read_enable(struct reader *in, struct bbf_lttng_command *out)
{
    if (in->left < ENABLE_FILTER)
        return refuse(in, "ENABLE: the payload is shorter than 268 bytes");
    uint32_t type = get4(in->at + 4);
    if (type > BBF_LTTNG_LEVEL_SINGLE)
        return refuse(in, "ENABLE: the type of the log level is none of 0, 1 and 2");
    out->level = (int32_t)get4(in->at);
    out->type = (enum bbf_lttng_level_type)type;
    int err = read_filter(in, out);
    in->at += 8;
    return err == BBF_OK ? read_name(in, BBF_LTTNG_NAME_SIZE, out) : err;
}

static int read_disable(struct reader *in, struct bbf_lttng_command *out)
{
    if (in->left != BBF_LTTNG_NAME_SIZE)
        return refuse(in, "DISABLE: the payload is not 256 bytes long");
    return read_name(in, in->left, out);
}

static int read_text(struct reader *in, const char **text)
{
    if (in->left < 4)
        return refuse(in, "application context: the payload ends before a text's length");
    size_t size = get4(in->at);
    in->at += 4;
    in->left -= 4;
    if (size > in->left)
        return refuse(in, "application context: a text is longer than the payload's rest");
    if (size < 2 || memchr(in->at, '\0', size) != in->at + size - 1)
        return refuse(in, "application context: a text is empty or does not end with its only NUL");
    *text = (const char *)in->at;
    in->at += size;
    in->left -= size;
    return BBF_OK;
}

static int read_context(struct reader *in, struct bbf_lttng_command *out)
{
    int err = read_text(in, &out->provider);

    if (err == BBF_OK)
        err = read_text(in, &out->context);
    if (err == BBF_OK && in->left > 0)
        err = refuse(in, "application context: the payload has bytes after its two texts");
    return err;
}

static int read_nothing(struct reader *in)
{
    return in->left == 0 ? BBF_OK : refuse(in, "LIST or REG_DONE: the command has a payload");
}

/* In 0.1 the payload's size is the size of the name's field, and there is no more. */
static int read_payload(enum bbf_lttng_version version, struct reader *in,
                        struct bbf_lttng_command *out)
{
    bool old = version == BBF_LTTNG_0_1;

    if (out->number > (old ? COMMANDS_0_1 : COMMANDS_2_0))
        return BBF_OK;
    switch (out->number) {
    case BBF_LTTNG_LIST:
    case BBF_LTTNG_REGISTERED:
        return read_nothing(in);
    case BBF_LTTNG_ENABLE:
        if (!old)
            return read_enable(in, out);
        out->level = INT32_MIN;
        return read_name(in, in->left, out);
    case BBF_LTTNG_DISABLE:
        return old ? read_name(in, in->left, out) : read_disable(in, out);
    case BBF_LTTNG_CONTEXT_ENABLE:
    case BBF_LTTNG_CONTEXT_DISABLE:
        return read_context(in, out);
    default:
        return BBF_OK; /* 0 */
    }
}

/*
 * In the first 16 bytes of a command, 2.0 has its number at 8 and zeros at 12; 0.1 has zeros at 8
 * and its number at 12. A daemon that writes 0.1 in little-endian order has the number's low byte
 * first. No command can be taken for one of another version.
 */
static const char *other_version(enum bbf_lttng_version version, const uint8_t *in)
{
    uint32_t high = get4(in + 8), low = get4(in + 12);

    if (low == 0 && (high == 1u << 24 || high == 2u << 24 || high == 3u << 24))
        return "the daemon speaks version 0.1 in little-endian order, which bbflow does not";
    if (version == BBF_LTTNG_2_0 && high == 0 && low > 0 && low <= COMMANDS_0_1)
        return "the daemon speaks version 0.1";
    if (version == BBF_LTTNG_0_1 && low == 0 && high > 0 && high <= COMMANDS_2_0)
        return "the daemon speaks version 2.0";
    return NULL;
}

int bbf_lttng_decode(enum bbf_lttng_version version, struct bbf_lttng_command *out,
                     const uint8_t *in, size_t len, size_t *used, const char **why)
{
    size_t header = version == BBF_LTTNG_0_1 ? BBF_LTTNG_HEADER_MAX : HEADER_2_0;

    *out = (struct bbf_lttng_command){0};
    *why = NULL;
    *used = len < HEADER_2_0 ? HEADER_2_0 : header;
    if (len < HEADER_2_0)
        return BBF_EMORE;
    *why = other_version(version, in);
    if (*why != NULL)
        return BBF_EVERSION;
    uint64_t size = get8(in);
    if (size > BBF_LTTNG_PAYLOAD_MAX) {
        *why = "the payload is longer than 71,680 bytes";
        return BBF_ELIMIT;
    }
    *used = header + (size_t)size;
    if (len < *used)
        return BBF_EMORE;
    out->number = version == BBF_LTTNG_0_1 ? get8(in + 8) : get4(in + 8);
    struct reader payload = {in + header, (size_t)size, NULL};
    int err = read_payload(version, &payload, out);
    *why = payload.why;
    return err;
}

/* ---- what the application sends ---- */

void bbf_lttng_add_registration(struct bbf_buf *out, uint32_t pid)
{
    put4(out, DOMAIN_JUL);
    put4(out, pid);
    put4(out, MAJOR);
    put4(out, MINOR);
}

void bbf_lttng_add_code(struct bbf_buf *out, enum bbf_lttng_code code)
{
    put4(out, (uint32_t)code);
}

/* The bytes of the names, each with its NUL; 0: one is empty or too long. */
static size_t names_size(const char *const *names, size_t n)
{
    size_t size = 0;

    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(names[i]);
        if (len == 0 || len >= BBF_LTTNG_NAME_SIZE)
            return 0;
        size += len + 1;
    }
    return size;
}

int bbf_lttng_add_list(enum bbf_lttng_version version, struct bbf_buf *out,
                       const char *const *names, size_t n)
{
    size_t size = names_size(names, n);

    if (n > 0 && size == 0)
        return BBF_EINVAL;
    put4(out, version == BBF_LTTNG_0_1 ? 0 : BBF_LTTNG_SUCCESS); /* 0.1: the high half of n */
    if (version == BBF_LTTNG_2_0)
        put4(out, (uint32_t)size);
    put4(out, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        bbf_buf_add(out, names[i], strlen(names[i]) + 1);
    if (version == BBF_LTTNG_0_1)
        bbf_lttng_add_code(out, BBF_LTTNG_SUCCESS);
    return BBF_OK;
}
