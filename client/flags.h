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

/* Flags, as bits of the set that a command accepts: uint64_t, which no enum can have. */
#define FLAG_BIT(n)  (UINT64_C(1) << (n))
#define OUTPUT       FLAG_BIT(0)
#define FORMAT       FLAG_BIT(1)
#define GC           FLAG_BIT(2)
#define ALL          FLAG_BIT(3)
#define NODES        FLAG_BIT(4)
#define SOCKET       FLAG_BIT(5)
#define TARGET       FLAG_BIT(6)
#define PARAMS       FLAG_BIT(7)
#define TIMEOUT      FLAG_BIT(8)
#define PROTOCOL     FLAG_BIT(9)
#define TOKEN_FILE   FLAG_BIT(10)
#define REMOTE_TOKEN FLAG_BIT(11)
#define PROBE        FLAG_BIT(12)
#define AGENT        FLAG_BIT(13)
#define COMPRESS     FLAG_BIT(14)
#define MAX_DOCUMENT FLAG_BIT(15)
#define ASCII        FLAG_BIT(16)
#define COLOR        FLAG_BIT(17)
#define WIDE         FLAG_BIT(18)
#define ONLY         FLAG_BIT(19)
#define DEPTH        FLAG_BIT(20)
#define BY           FLAG_BIT(21)
#define LINES        FLAG_BIT(22)
#define REDACT       FLAG_BIT(23)
#define CHOICE       FLAG_BIT(24) /* --lost, --memory, --older, --rate, --path: render/choice.h */
#define JSON         FLAG_BIT(25) /* of doctor */
#define RULES        FLAG_BIT(26) /* a limit or the baseline: client/check_flags.h */
#define COMPARES     FLAG_BIT(27) /* the same, also of diff */
#define SEVERAL      FLAG_BIT(28) /* no flag: several targets */
#define PUSH         FLAG_BIT(29) /* what only push takes: client/push_flags.h */
#define ROWS         FLAG_BIT(30) /* of top: client/live_flags.h */
#define QUIET        FLAG_BIT(32)
#define PROGRESS     FLAG_BIT(33) /* no flag: shows how far it is: client/progress.h */
/* of a snapshot */
#define SHOWN  (OUTPUT | FORMAT | GC | ALL | ONLY | DEPTH | BY | LINES | REDACT | CHOICE)
#define LOOK   (ASCII | COLOR | WIDE | QUIET)                            /* every command */
#define BTRACE (PROTOCOL | COMPRESS | TOKEN_FILE | REMOTE_TOKEN | PROBE) /* a group of the help */
#define CHECKS (RULES | COMPARES)                                        /* a group of the help */
#define JVM                                                                                        \
    (TARGET | SOCKET | TIMEOUT | PROTOCOL | COMPRESS | TOKEN_FILE | REMOTE_TOKEN | MAX_DOCUMENT |  \
     LOOK)

/* The arguments that are left. */
struct bbf_args {
    char **at; /* the next argument */
    char **end;
};

/* Append the help of the flags in `takes`, one a line. */
void bbf_flags_print(struct bbf_buf *to, uint64_t takes);

/* Append the flags in `takes` for a shell's completion: " --agent=FILE --by=bug|method --gc". */
void bbf_flags_words(struct bbf_buf *to, uint64_t takes);

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
int bbf_flag_parse(const char *verb, uint64_t takes, struct bbf_args *args,
                   struct bbf_command_line *request);

#endif
