/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/flags.h - the flags of the command line: their table drives the parsing, the help and the
 * words for completion. Only main.c and flags.c include it, so the bits have short names.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_FLAGS_H
#define BBF_CLIENT_FLAGS_H

#include <stdint.h>

#include "client/client.h"
#include "core/buf.h"

/* Flags, as bits of the set that a command accepts. */
typedef uint64_t bbf_flag_set;
#define BBF_FLAG(bit) ((bbf_flag_set)1 << (bit))
#define OUTPUT        BBF_FLAG(0)
#define FORMAT        BBF_FLAG(1)
#define GC            BBF_FLAG(2)
#define ALL           BBF_FLAG(3)
#define NODES         BBF_FLAG(4)
#define SOCKET        BBF_FLAG(5)
#define TARGET        BBF_FLAG(6)
#define PARAMS        BBF_FLAG(7)
#define TIMEOUT       BBF_FLAG(8)
#define PROTOCOL      BBF_FLAG(9)
#define TOKEN_FILE    BBF_FLAG(10)
#define REMOTE_TOKEN  BBF_FLAG(11)
#define PROBE         BBF_FLAG(12)
#define AGENT         BBF_FLAG(13)
#define COMPRESS      BBF_FLAG(14)
#define MAX_DOCUMENT  BBF_FLAG(15)
#define ASCII         BBF_FLAG(16)
#define COLOR         BBF_FLAG(17)
#define WIDE          BBF_FLAG(18)
#define ONLY          BBF_FLAG(19)
#define DEPTH         BBF_FLAG(20)
#define BY            BBF_FLAG(21)
#define LINES         BBF_FLAG(22)
#define REDACT        BBF_FLAG(23)
#define CHOICE        BBF_FLAG(24) /* --lost, --memory, --older, --rate, --path: render/choice.h */
#define JSON          BBF_FLAG(25) /* of doctor */
#define RULES         BBF_FLAG(26) /* a limit or the baseline: client/check_flags.h */
#define COMPARES      BBF_FLAG(27) /* the same, also of diff */
#define SEVERAL       BBF_FLAG(28) /* no flag: several targets */
#define PUSH          BBF_FLAG(29) /* what only push takes: client/push_flags.h */
#define ROWS          BBF_FLAG(30) /* of top: client/live_flags.h */
#define LIVE          BBF_FLAG(31) /* of top and ui */
#define SERVES        BBF_FLAG(32) /* of ui */
#define MEASURE       BBF_FLAG(36) /* of status: client/measure.h */
/* of a snapshot */
#define SHOWN (OUTPUT | FORMAT | GC | ALL | ONLY | DEPTH | BY | LINES | REDACT | CHOICE)
#define LOOK  (ASCII | COLOR | WIDE) /* every command */
/* groups of the help */
#define BTRACE (PROTOCOL | COMPRESS | TOKEN_FILE | REMOTE_TOKEN | PROBE)
#define CHECKS (RULES | COMPARES)
#define JVM                                                                                        \
    (TARGET | SOCKET | TIMEOUT | PROTOCOL | COMPRESS | TOKEN_FILE | REMOTE_TOKEN | MAX_DOCUMENT |  \
     LOOK)

/* The arguments that are left. */
struct bbf_args {
    char **at; /* the next argument */
    char **end;
};

/* Append the help of the flags in `takes`, one a line. */
void bbf_flags_print(struct bbf_buf *to, bbf_flag_set takes);

/* Append the flags in `takes` for a shell's completion: " --output=FILE -o=FILE --gc". */
void bbf_flags_words(struct bbf_buf *to, bbf_flag_set takes);

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
int bbf_flag_parse(const char *verb, bbf_flag_set takes, struct bbf_args *args,
                   struct bbf_command_line *request);

#endif
