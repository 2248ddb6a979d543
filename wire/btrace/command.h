/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/command.h - the BTrace v2 commands as values, and their codec: bytes <-> struct, all
 * 18 types, both directions. Knows no socket. Source: docs/btrace-wire.md 3 (frame = 0x03, type,
 * self-delimiting payload, big-endian).
 *
 * Threads: any, no shared state. Ownership: a decoded command owns everything it points to, in one
 * block, which bbf_command_free() frees. A command that a caller fills in for encoding borrows what
 * it points to (`block` NULL), so literals are fine; bbf_command_free() then only empties it.
 * Strings are length + bytes and may be null, as on the wire. Decoded strings are valid UTF-8, with
 * U+FFFD in place of invalid bytes, as in Java; they may contain NUL bytes.
 */
#ifndef BBF_WIRE_BTRACE_COMMAND_H
#define BBF_WIRE_BTRACE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

enum bbf_command_type {
    BBF_CMD_ERROR = 0,
    BBF_CMD_EVENT = 1,
    BBF_CMD_EXIT = 2,
    BBF_CMD_INSTRUMENT = 3,
    BBF_CMD_MESSAGE = 4,
    BBF_CMD_RENAME = 5,
    BBF_CMD_STATUS = 6,
    BBF_CMD_NUMBER_MAP = 7,
    BBF_CMD_STRING_MAP = 8,
    BBF_CMD_NUMBER = 9,
    BBF_CMD_GRID_DATA = 10,
    BBF_CMD_RETRANSFORMATION_START = 11,
    BBF_CMD_RETRANSFORM_CLASS = 12,
    BBF_CMD_SET_PARAMS = 13,
    BBF_CMD_LIST_PROBES = 14,
    BBF_CMD_DISCONNECT = 15,
    BBF_CMD_RECONNECT = 16,
    BBF_CMD_LIST_FAILED_EXTENSIONS = 17,
    BBF_CMD_TYPES
};

struct bbf_wire_str {
    char *s;    /* owned by the command; NUL-terminated for convenience; NULL = null */
    size_t len; /* bytes, without that NUL */
};

/* A number or a scalar; the wire tag of each kind differs by user (3.1). */
enum bbf_value_kind {
    BBF_VALUE_NULL,
    BBF_VALUE_STRING,
    BBF_VALUE_INT,
    BBF_VALUE_LONG,
    BBF_VALUE_FLOAT, /* bits kept exactly, including NaN payloads */
    BBF_VALUE_DOUBLE,
    BBF_VALUE_BOOLEAN,
    BBF_VALUE_BIGINT, /* decimal text */
    BBF_VALUE_BIGDEC  /* text as BigDecimal prints it */
};
struct bbf_value {
    enum bbf_value_kind kind;
    union {
        int32_t i;
        int64_t l;
        uint32_t float_bits;
        uint64_t double_bits;
        bool b;
    } u;
    struct bbf_wire_str text; /* STRING, BIGINT, BIGDEC */
};
struct bbf_entry {
    struct bbf_wire_str key;
    struct bbf_value value;
};
struct bbf_row {
    struct bbf_value *cells;
    size_t n_cells;
};

struct bbf_command {
    enum bbf_command_type type;
    /* ERROR: text[0..2] = class, message, stack. EVENT, RENAME, DISCONNECT, RECONNECT: text[0].
     * MESSAGE: text[0]. NUMBER(_MAP), STRING_MAP, GRID_DATA: text[0] = name.
     * RETRANSFORM_CLASS: text[0] = class. */
    struct bbf_wire_str text[3];
    /* EXIT: code. STATUS: flag. RETRANSFORMATION_START: n. RETRANSFORM_CLASS: index, total. */
    int32_t number[2];
    bool flag;            /* STATUS success; MESSAGE urgent */
    bool deflated;        /* MESSAGE: as received; ignored when encoding */
    int64_t timestamp_ms; /* MESSAGE */
    uint8_t *code;        /* INSTRUMENT; NULL = null */
    size_t code_len;
    struct bbf_entry *entries; /* maps, SET_PARAMS, INSTRUMENT arguments */
    size_t n_entries;
    struct bbf_value value;    /* NUMBER */
    struct bbf_wire_str *list; /* LIST_PROBES, LIST_FAILED_EXTENSIONS, GRID column names */
    size_t n_list;
    struct bbf_row *rows; /* GRID */
    size_t n_rows;
    void *block; /* decoder's memory of all that is pointed to above; NULL in a caller's command */
};

/* Limits of a decoder; exceeding one gives BBF_ELIMIT. */
struct bbf_wire_limits {
    size_t frame;   /* bytes of one whole frame */
    size_t string;  /* bytes of one string (code and inflated messages: frame) */
    size_t entries; /* of a list, map, row; rows of a grid; cells of a whole grid */
    size_t objects; /* v1: objects that a stream keeps between two resets; their texts: frame */
};
/* docs/btrace-wire.md 3.4: 32 MiB, 64 KiB, 10,000. */
extern const struct bbf_wire_limits bbf_wire_server_limits;
extern const struct bbf_wire_limits bbf_wire_client_limits; /* for the answers of an agent */

/*
 * Decode the frame at the start of `in`. BBF_OK: *used bytes belong to it and *out is filled.
 * BBF_EMORE: the frame is not complete yet (*out empty; *used = the length below which another try
 * cannot succeed). BBF_EFORMAT, BBF_EVERSION, BBF_ELIMIT, BBF_ENOMEM: close the connection; `why`
 * (may be NULL) is the reason, for a log. Nothing is allocated before the frame is complete.
 */
int bbf_command_decode(struct bbf_command *out, const uint8_t *in, size_t len, size_t *used,
                       const struct bbf_wire_limits *limits, const char **why);

/* The same checks without making a command (and without inflating), for frames that are skipped:
 * *used as above. */
int bbf_command_skip(const uint8_t *in, size_t len, size_t *used,
                     const struct bbf_wire_limits *limits, const char **why);

/*
 * Append the frame. MESSAGE is deflated iff its UTF-8 length exceeds `deflate_over`
 * (BBF_DEFLATE_OVER for peers, SIZE_MAX never). A null MESSAGE goes out as "".
 * Errors: BBF_ENOMEM; BBF_EINVAL (a value for whose kind the command has no tag, a string over
 * BBF_WIRE_STRING_MAX, more than INT32_MAX entries). On an error nothing is appended.
 */
#define BBF_WIRE_STRING_MAX ((size_t)100 << 20) /* Java peers' limit (docs/btrace-wire.md 3.1) */
enum { BBF_DEFLATE_OVER = 1024 };
int bbf_command_encode(struct bbf_buf *out, const struct bbf_command *command, size_t deflate_over);

/* A key of SET_PARAMS, int or long: MESSAGEs of this connection over this number of bytes are
 * deflated; 0 or never set: no MESSAGE is. */
#define BBF_COMPRESS "connection.compress"

void bbf_command_free(struct bbf_command *command); /* leaves it empty */
const char *bbf_command_name(enum bbf_command_type type);

#endif
