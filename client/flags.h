/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/flags.h - the flags of the command line: their table drives the parsing, the help and the
 * words for completion. Only main.c and flags.c include it, so the bits have short names.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_FLAGS_H
#define BBF_CLIENT_FLAGS_H

#include "client/client.h"
#include "core/buf.h"

/* Flags, as bits of the set that a command accepts. */
enum {
    OUTPUT = 1,
    FORMAT = 2,
    GC = 4,
    ALL = 8,
    NODES = 16,
    SOCKET = 32,
    TARGET = 64,
    PARAMS = 128,
    TIMEOUT = 256,
    PROTOCOL = 512,
    TOKEN_FILE = 1024,
    REMOTE_TOKEN = 2048,
    PROBE = 4096,
    AGENT = 8192,
    COMPRESS = 16384,
    MAX_DOCUMENT = 32768,
    ASCII = 65536,
    COLOR = 131072,
    WIDE = 262144,
    ONLY = 524288,
    DEPTH = 1048576,
    BY = 2097152,
    LINES = 4194304,
    REDACT = 8388608,
    CHOICE = 1 << 24,   /* --lost, --memory, --older, --rate, --path: render/choice.h */
    JSON = 1 << 25,     /* of doctor */
    RULES = 1 << 26,    /* a limit or the baseline: client/check_flags.h */
    COMPARES = 1 << 27, /* the same, also of diff */
    PUSH = 1 << 29,     /* what only push takes: client/push_flags.h */
    SEVERAL = 1 << 28,  /* no flag: several targets */
    ROWS = 1 << 30,     /* of top: client/live_flags.h */
    /* of a snapshot */
    SHOWN = OUTPUT | FORMAT | GC | ALL | ONLY | DEPTH | BY | LINES | REDACT | CHOICE,
    LOOK = ASCII | COLOR | WIDE,                                      /* every command */
    BTRACE = PROTOCOL | COMPRESS | TOKEN_FILE | REMOTE_TOKEN | PROBE, /* a group of the help */
    CHECKS = RULES | COMPARES,                                        /* a group of the help */
    JVM = TARGET | SOCKET | TIMEOUT | PROTOCOL | COMPRESS | TOKEN_FILE | REMOTE_TOKEN |
          MAX_DOCUMENT | LOOK
};

/* The arguments that are left. */
struct bbf_args {
    char **at; /* the next argument */
    char **end;
};

/* Append the help of the flags in `takes`, one a line. */
void bbf_flags_print(struct bbf_buf *to, unsigned takes);

/* Append the flags in `takes` for a shell's completion: " --output=FILE -o=FILE --gc". */
void bbf_flags_words(struct bbf_buf *to, unsigned takes);

/* Append what --format and the name of --output may be, as the lines "formats ..." and "extensions
 * ...". */
void bbf_flags_format_words(struct bbf_buf *to);

/* How many words the flag that begins at `arg` has: 1, or 2 with a value of its own. 0: there is no
 * such flag, which is printed. */
int bbf_flag_length(const char *arg);

/* Parse the flag at args->at into the request: "--name", "--name=value", "--name value", "-x
 * value",
 * "-xvalue". `takes`: the flags of the command `verb`. An exit code; if it is not 0, the reason is
 * printed. */
int bbf_flag_parse(const char *verb, unsigned takes, struct bbf_args *args,
                   struct bbf_command_line *request);

#endif
