/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/box_file.h - the file of blackbox= (core/blackbox.h) and the thread that writes it,
 * so that a disk that does not answer holds up that thread only. The file is written by write(2)
 * and never mapped: a full disk is an error code and a file that was cut is written again, where a
 * mapping would raise SIGBUS (ADR 50).
 *
 * Invariant: a document goes to the slot that does not have the newest whole one, also after a
 * failure. So whenever the process is killed, what was written whole before is there.
 *
 * Threads: one owner; the thread is private. The owner never waits for the disk but in open and
 * close.
 */
#ifndef BBF_AGENT_REPORT_BOX_FILE_H
#define BBF_AGENT_REPORT_BOX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/blackbox.h"
#include "core/buf.h"

struct bbf_box_file;

/*
 * Make `path` anew by the rules of core/file.h; what is there before gets the name `previous`, in
 * the same folder. BBF_ENOTFOUND, BBF_EPERMISSION, BBF_EIO with `why`; BBF_ENOMEM.
 */
int bbf_box_file_open(struct bbf_box_file **file, const char *path, const char *previous,
                      const struct bbf_box_head *head, char *why, size_t why_size);

/* Is a document still being written? Then none can be handed over. */
bool bbf_box_file_is_busy(struct bbf_box_file *file);
/* Hand a document over, which is empty afterwards. It was captured at `captured_ms`, and is larger
 * than a slot's room at no time. The file must not be busy. */
void bbf_box_file_write(struct bbf_box_file *file, struct bbf_buf *document, int64_t captured_ms);
/* The cgroup's memory now, for the next beat. */
void bbf_box_file_memory(struct bbf_box_file *file, uint64_t used, uint64_t limit);
/* From now on write a beat each `interval_ms`. */
void bbf_box_file_pace(struct bbf_box_file *file, uint64_t interval_ms);
/* Did the last write fail? `why` for a person. It is tried again with each beat; a file that was
 * removed is made anew each ten seconds, unless the name is taken. */
bool bbf_box_file_failed(struct bbf_box_file *file, char *why, size_t why_size);
/* Write what waits and a last beat with `state`; wait `timeout_ms` at most (then the thread ends by
 * itself when the disk answers), and give all back. False: not all was written. */
bool bbf_box_file_close(struct bbf_box_file *file, enum bbf_box_state state, unsigned timeout_ms);

#endif
