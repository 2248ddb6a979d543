/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/jfr_run.h - the commands of `bbflow jfr`, and what they share: the request, opening
 * recordings, writing the result.
 *
 * Threads: one. Each run function returns an exit code and has reported why when it is not 0.
 */
#ifndef BBF_CLIENT_JFR_RUN_H
#define BBF_CLIENT_JFR_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/file.h"
#include "jfr/print.h"
#include "jfr/recording.h"
#include "jfr/source.h"

/* One command line; strings borrowed from argv. */
struct bbf_jfr_request {
    const char **files;
    size_t n_files;
    struct bbf_jfr_print how;
    bool json, same_process;
    const char *output, *match, *format;
    uint64_t max_unpacked, age_ns;
    unsigned max_nodes;
};

/* client/jfr_show.c: to stdout, or to --output */
int bbf_jfr_run_summary(const struct bbf_jfr_request *request);
int bbf_jfr_run_print(const struct bbf_jfr_request *request);
int bbf_jfr_run_metadata(const struct bbf_jfr_request *request);
int bbf_jfr_run_events(const struct bbf_jfr_request *request);

/* client/jfr_netty.c: a report, to stdout or to --output */
int bbf_jfr_run_netty(const struct bbf_jfr_request *request);

/* client/jfr_files.c: recordings, to --output */
int bbf_jfr_run_repair(const struct bbf_jfr_request *request);
int bbf_jfr_run_join(const struct bbf_jfr_request *request);
int bbf_jfr_run_split(const struct bbf_jfr_request *request);
int bbf_jfr_run_unpack(const struct bbf_jfr_request *request);
int bbf_jfr_run_scrub(const struct bbf_jfr_request *request);

/* Open `path`, whatever it is packed by; an empty file is refused. */
int bbf_jfr_open(const struct bbf_jfr_request *request, const char *path,
                 struct bbf_jfr_source *source);

/* Report what was wrong with the recording that was read, and what to do; an exit code. `damage`:
 * of its packing; `err`: what the reader stopped with. */
int bbf_jfr_report_trouble(const char *path, const char *damage,
                           const struct bbf_jfr_recording *recording, int err);

/* A result on its way: a file that appears when it is whole, or stdout. */
struct bbf_jfr_result {
    struct bbf_buf buf; /* what the caller adds to */
    struct bbf_file file;
    const char *path; /* NULL: stdout */
    int rc;
    char why[PATH_MAX + 300];
};

int bbf_jfr_result_begin(struct bbf_jfr_result *result, const char *path);
/* `err`: BBF_OK, or why the result is not whole; a file is not made then. */
int bbf_jfr_result_end(struct bbf_jfr_result *result, int err);

#endif
