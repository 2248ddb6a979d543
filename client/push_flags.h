/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/push_flags.h - the flags of `push`: where to, as what, how often, with which headers and
 * labels.
 *
 * Threads: one. A function that returns an exit code has printed the reason if it is not 0.
 */
#ifndef BBF_CLIENT_PUSH_FLAGS_H
#define BBF_CLIENT_PUSH_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/formats.h"

enum bbf_push_as {
    BBF_PUSH_OTLP,  /* OpenTelemetry's profiles over HTTP */
    BBF_PUSH_PPROF, /* Pyroscope's push */
    BBF_PUSH_PROM   /* Prometheus' Pushgateway */
};

enum { BBF_PUSH_MOST = 32 }; /* of headers, and of labels */

/* Strings are borrowed from argv, the names of labels are cut there at their '='. */
struct bbf_push_flags {
    const char *to; /* --to */
    bool is_as;     /* --as was given */
    enum bbf_push_as as;
    uint64_t every_ns;   /* --every; 0: once */
    const char *since;   /* --since: the file of what was pushed last */
    const char *ca_file; /* --cacert */
    const char *headers[BBF_PUSH_MOST];
    size_t n_headers;
    struct bbf_label labels[BBF_PUSH_MOST];
    size_t n_labels;
};

/* Take the value of a flag by its name, "to". */
int bbf_push_flag(struct bbf_push_flags *flags, const char *name, const char *value);

/* What can only be checked once all flags are known: the URL, and the names of the labels. Also
 * selects `as` by the URL where it was not given. */
int bbf_push_check(struct bbf_push_flags *flags);

/* The headers, those of files (@FILE, read anew by each call) among them. Free them. */
struct bbf_push_headers {
    char **lines;
    size_t n;
};
int bbf_push_headers(const struct bbf_push_flags *flags, struct bbf_push_headers *headers);
/* Their memory is cleared. */
void bbf_push_headers_free(struct bbf_push_headers *headers);

#endif
