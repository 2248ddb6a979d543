/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/sinks/disk.h - a file that a thread of its own writes, so that a disk that does not answer
 * holds up that thread only (ADR 42). The owner hands over batches; the thread writes one after the
 * other, and what is on disk is always what the last whole batch left there.
 *
 *   owner: append, patch … commit   →   queue, BBF_DISK_QUEUE bytes at most   →   thread: write(2)
 *
 * After a failure the file is cut back to the last whole batch, the open chunk is marked finished,
 * and what is queued is thrown away until the owner resumes.
 *
 * Threads: one owner; the thread is private. Errors: BBF_ENOMEM; those of the file are reported by
 * bbf_disk_failed().
 */
#ifndef BBF_AGENT_SINKS_DISK_H
#define BBF_AGENT_SINKS_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BBF_DISK_QUEUE = 8 << 20 }; /* bytes that wait for the disk */

struct bbf_disk;

/*
 * Make `path` anew, by the rules of core/file.h; what is there before gets the name `previous`, in
 * the same folder. BBF_ENOTFOUND, BBF_EPERMISSION, BBF_EIO with `why`; BBF_ENOMEM.
 */
int bbf_disk_open(struct bbf_disk **disk, const char *path, const char *previous, char *why,
                  size_t why_size);

/* Parts of the batch that is being made; `at` counts from the file's first byte. Copied. */
int bbf_disk_append(struct bbf_disk *disk, const char *data, size_t len);
int bbf_disk_patch(struct bbf_disk *disk, uint64_t at, const char *data, size_t len);
/* From here on the batch is for a new file: the old one gets the name `previous`. */
int bbf_disk_next_file(struct bbf_disk *disk);
/* Hand the batch over. `chunk`: where the open chunk of the file begins. */
void bbf_disk_commit(struct bbf_disk *disk, uint64_t chunk);

/* Is there room in the queue? */
bool bbf_disk_has_room(struct bbf_disk *disk);
/* Did writing fail? Then *kept is what the file has; `why` for a person. */
bool bbf_disk_failed(struct bbf_disk *disk, uint64_t *kept, char *why, size_t why_size);
/* After a failure: write again, behind what was kept. *kept as above: 0 if there is a new file,
 * because the old one was removed. The batch that was being made is dropped. */
void bbf_disk_resume(struct bbf_disk *disk, uint64_t *kept);
/* Wait until everything is written, `timeout_ms` at most (then the thread ends by itself when the
 * disk answers), and give all back. False: not all was written. */
bool bbf_disk_close(struct bbf_disk *disk, unsigned timeout_ms);

#endif
