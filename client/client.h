/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/client.h - what the files of the bbflow command share: the request that main.c reads from
 * the command line, and how each verb reports a failure (client/fail.h).
 *
 * A verb is a function of a request that returns an exit code; results go to stdout, everything
 * else to stderr, each message as "bbflow: THING, PLACE, REMEDY". Threads: one.
 */
#ifndef BBF_CLIENT_H
#define BBF_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/check_flags.h"
#include "client/fail.h"
#include "client/live_flags.h"
#include "client/push_flags.h"
#include "client/screen.h"
#include "render/choice.h"

/* One command line, all strings borrowed from argv; NULL or 0 = not given. */
struct bbf_command_line {
    const char *verb;   /* "tree" */
    const char *target; /* pid, main class or part of it, host:port, snapshot file */
    char **params;      /* name=value, for set and attach; the words of an event; all targets of a
                           command that takes several, of which `target` is the first */
    size_t n_params;
    const char *output;       /* -o */
    const char *format;       /* -f */
    const char *socket;       /* --socket: the folder of the agent's option socket= */
    const char *agent;        /* --agent: libbbflow.so */
    const char *redact;       /* --redact: the file of names and their tokens */
    const char *only;         /* --only: a part of a step's name */
    struct bbf_choice choice; /* --lost, --memory, --older, --rate, --path */
    unsigned depth;           /* --depth: steps of a path; 0 = all */
    bool by_method;           /* --by method */
    struct bbf_check_flags check;
    struct bbf_live_flags live;
    struct bbf_push_flags push;
    const char *probe; /* --probe: a probe of another class */
    const char *token_file;
    unsigned timeout_ms;   /* --timeout */
    unsigned compress;     /* --compress: bytes, 0 = no */
    unsigned protocol;     /* --protocol: 1, 2, 0 = auto */
    uint64_t max_document; /* --max-document: bytes, 0 = the default of the verb */
    enum bbf_color color;
    bool ascii;
    bool wide;
    bool remote_token;
    bool gc;
    bool all;
    bool lines;
    bool nodes;
    bool json;           /* --json */
    uint64_t measure_ns; /* --measure; 0: not given */
};

#endif
