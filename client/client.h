/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/client.h - shared by all files of the bbflow command: the request that main.c reads from
 * the command line, the exit codes (design.md: names and formats), and the way to report a failure.
 *
 * A verb is a function of a request that returns an exit code; results go to stdout, everything
 * else to stderr, each message as "bbflow: THING, PLACE, REMEDY". Threads: one.
 */
#ifndef BBF_CLIENT_H
#define BBF_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bbf_exit {
    BBF_EXIT_OK = 0,
    BBF_EXIT_FAILED = 1,
    BBF_EXIT_USAGE = 2,
    BBF_EXIT_TARGET = 3, /* no or several targets */
    BBF_EXIT_PERMISSION = 4,
    BBF_EXIT_REFUSED = 5 /* the agent refused */
};

enum bbf_color { BBF_COLOR_AUTO, BBF_COLOR_ALWAYS, BBF_COLOR_NEVER };

/* One command line, all strings borrowed from argv; NULL or 0 = not given. */
struct bbf_command_line {
    const char *verb;   /* "tree" */
    const char *target; /* pid, main class or part of it, host:port, snapshot file */
    char **params;      /* name=value, for set and attach; the words of an event */
    size_t n_params;
    const char *output; /* -o */
    const char *format; /* -f */
    const char *socket; /* --socket: the folder of the agent's option socket= */
    const char *agent;  /* --agent: libbbflow.so */
    const char *probe;  /* --probe: a probe of another class */
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
    bool nodes;
};

/* Print "bbflow: " and the message to stderr; return `exit_code`. Only `format` can end a line:
 * each %s is a value, which is made safe (bbf_safe_printf()). */
int bbf_fail(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The exit code for a BBF_E… of a conversation with an agent. */
int bbf_exit_of(int err);

#endif
