/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/formats.h - the table of formats: the only list of them. `-f`, `-o`, `file=`, EVENT, the
 * messages and the shell's completion read it. Each format's function is in a file of its own,
 * render/NAME.c or the file that its name begins, and writes the whole document to a buffer.
 *
 * Threads: any; the snapshot is only read, the view is the call's own. Errors: BBF_ENOMEM; a buffer
 * that failed is the caller's to look at.
 */
#ifndef BBF_RENDER_FORMATS_H
#define BBF_RENDER_FORMATS_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bbf_choice;
struct bbf_view;
struct bbf_check_rules;
struct bbf_metrics;

enum {
    BBF_FORMAT_EXACT = 1,   /* for programs: never laid out for a terminal */
    BBF_FORMAT_STREAMS = 2, /* flushes its sink piece by piece: need not fit into memory */
    BBF_FORMAT_BINARY = 4,  /* no text: never for a terminal, and no EVENT, whose answer is text */
    BBF_FORMAT_CHOOSES = 8, /* shows the losses of options->choice only; the others have all */
    BBF_FORMAT_CLIENT = 16, /* no EVENT: the one of its name has a text for stock clients */
    BBF_FORMAT_TOOL = BBF_FORMAT_EXACT | BBF_FORMAT_STREAMS | 32 /* for a program of one kind */
};

/* One row for each format: id, name (also its extension; the function is bbf_render_NAME()),
 * another extension, which may have two parts, flags. */
#define BBF_FORMATS(XX)                                                                            \
    XX(LEAKS, leaks, NULL, BBF_FORMAT_CLIENT)                                                      \
    XX(TREE, tree, "txt", BBF_FORMAT_CHOOSES)                                                      \
    XX(LLM, llm, NULL, BBF_FORMAT_EXACT | BBF_FORMAT_CHOOSES)                                      \
    XX(SUMMARY, summary, NULL, BBF_FORMAT_CHOOSES)                                                 \
    XX(WHY, why, NULL, 0)                                                                          \
    XX(JSON, json, NULL, BBF_FORMAT_EXACT | BBF_FORMAT_STREAMS)                                    \
    XX(HTML, html, "htm", BBF_FORMAT_EXACT | BBF_FORMAT_STREAMS | BBF_FORMAT_CHOOSES)              \
    XX(FOLDED, folded, "collapsed", BBF_FORMAT_EXACT)                                              \
    XX(JFR, jfr, NULL, BBF_FORMAT_EXACT | BBF_FORMAT_STREAMS | BBF_FORMAT_BINARY)                  \
    XX(CHECK, check, NULL, 0)                                                                      \
    XX(JUNIT, junit, "xml", BBF_FORMAT_EXACT)                                                      \
    XX(SARIF, sarif, NULL, BBF_FORMAT_EXACT)                                                       \
    XX(GITHUB, github, NULL, BBF_FORMAT_EXACT)                                                     \
    XX(MARKDOWN, markdown, "md", BBF_FORMAT_EXACT)                                                 \
    XX(PPROF, pprof, "pb.gz", BBF_FORMAT_TOOL | BBF_FORMAT_BINARY)                                 \
    XX(OTLP, otlp, NULL, BBF_FORMAT_TOOL | BBF_FORMAT_BINARY)                                      \
    XX(SPEEDSCOPE, speedscope, "speedscope.json", BBF_FORMAT_TOOL)                                 \
    XX(TRACE, trace, "trace.json", BBF_FORMAT_TOOL)                                                \
    XX(MERMAID, mermaid, "mmd", BBF_FORMAT_TOOL)                                                   \
    XX(DOT, dot, "gv", BBF_FORMAT_TOOL)                                                            \
    XX(PROM, prom, NULL, BBF_FORMAT_TOOL)                                                          \
    XX(OPENMETRICS, openmetrics, NULL, BBF_FORMAT_TOOL)                                            \
    XX(CSV, csv, NULL, BBF_FORMAT_TOOL)                                                            \
    XX(FLOW, flow, NULL, BBF_FORMAT_TOOL)

enum bbf_format {
#define XX(id, name, extension, flags) BBF_FORMAT_##id,
    BBF_FORMATS(XX)
#undef XX
};

#define BBF_FORMAT_COMMA_NAME(id, name, extension, flags) ", " #name
/* "tree, llm, …": for messages. */
#define BBF_FORMAT_NAMES (&BBF_FORMATS(BBF_FORMAT_COMMA_NAME)[2])

/* A label that a document has beside its own: pprof: none; otlp: attributes of the resource. */
struct bbf_label {
    const char *name, *value;
};

struct bbf_render_options {
    size_t max_lines; /* tree: lines shown, more only if leaks need more; leaks: not all places;
                         0 = all */
    bool places;      /* leaks: the places alone, with their ids */
    bool by_method;   /* losses are listed by the method where they ended, from whatever origin */
    bool lines;       /* names in texts have their line numbers */
    struct bbf_check_rules *check; /* check, junit, sarif, github, markdown (render/check.h); NULL:
                                      its defaults */
    const struct bbf_choice *choice; /* losses that are shown (render/choice.h); NULL: all */
    struct bbf_metrics *metrics;     /* prom, openmetrics: of earlier documents (render/metrics.h),
                                        which the call changes; NULL: this is the only one */
    int64_t since_ms; /* pprof, otlp: the losses are those since then (snapshot/since.h),
                         milliseconds since 1970; 0: all */
    const struct bbf_label *labels; /* otlp; one replaces the document's own of its name */
    size_t n_labels;
};

/* `options` is never NULL. */
#define XX(id, name, extension, flags)                                                             \
    int bbf_render_##name(struct bbf_buf *out, struct bbf_view *view,                              \
                          const struct bbf_render_options *options);
BBF_FORMATS(XX)
#undef XX

#endif
