/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/source.h - the bytes of a recording: a file, or what a gzip, ZIP (first entry) or LZ4 frame
 * file has inside, recognised by their first bytes and not by name.
 *
 * A plain file is mapped. Anything else (compressed, a pipe) is unpacked into a file without a name
 * in $TMPDIR or /tmp, which is mapped: memory stays constant. A mapped file that another process
 * shortens raises SIGBUS at the next read behind its end: the program decides what to do then.
 *
 * Threads: one at a time per source.
 */
#ifndef BBF_JFR_SOURCE_H
#define BBF_JFR_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#define BBF_JFR_UNPACKED_MAX (UINT64_C(64) << 30)

struct bbf_jfr_source {
    const unsigned char *bytes; /* len of them, mapped; NULL: an empty file */
    size_t len;
    const char
        *damage; /* constant: the packing is cut or damaged, and this is what was before it */
    const char *packing; /* "gzip", "zip", "lz4"; NULL: none */
};

/*
 * Open `path` ("-": standard input). `unpacked_max` bytes at most are unpacked. BBF_ENOTFOUND,
 * BBF_EPERMISSION, BBF_EIO, BBF_EFORMAT (what the packing's library says), BBF_ELIMIT; `why` is
 * then "what: reason; remedy" without the path.
 */
int bbf_jfr_source_open(struct bbf_jfr_source *source, const char *path, uint64_t unpacked_max,
                        char *why, size_t why_size);
void bbf_jfr_source_close(struct bbf_jfr_source *source);

#endif
