/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/file.h - opens every file that bbflow writes: reports, class files of dump=, the log, the
 * token file, the client's -o FILE; but for two that client/attach.c makes in folders of the JVM
 * (its own O_EXCL and O_NOFOLLOW): the library's copy and .attach_pidPID. The file may be in a
 * folder that others can write to, and what they put there does no harm:
 *
 *   - a file is written under a name that nobody can guess (getrandom), made by O_EXCL, 0600
 *     whatever the umask, and renamed onto its target when it is whole;
 *   - a target that is there and is no regular file of the effective user is refused by name: what
 *     it is, whose, and the remedy. Nothing is opened that could wait (a FIFO, a device);
 *   - symlinks on the way are followed by the rule of core/folder.h, one at the target is not.
 *
 * No fsync: a report that a power failure takes is not worth an exit that waits for a disk.
 *
 * Threads: any; one thread at a time per struct. No allocation. Errors are BBF_E… with `why` (PATH:
 * reason; remedy). BBF_EPERMISSION with errno EPERM or ELOOP: another user put something there;
 * EEXIST: what is there is the effective user's own, but no regular file.
 */
#ifndef BBF_CORE_FILE_H
#define BBF_CORE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A file that is being written, from begin to end. The caller sets nothing but deadline_ns. */
struct bbf_file {
    const char *path;     /* the caller's, which stays until the end */
    int fd, folder;       /* folder: O_PATH */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC: nothing more is written after it; 0 = none */
    int error;            /* errno of the first failure */
    bool in_place;        /* no temporary file: see bbf_file_begin() */
    bool keeps;           /* in place, and what is there is not cut off: a stream, a device */
    struct stat made;     /* of fd as it was opened */
    char name[NAME_MAX + 1], temporary[48];
};

/*
 * Begin to write `path`. Where the folder takes no new file, but a file of ours with one name is
 * there, that one is written in place (today's content is lost by the first write). The client's
 * /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N are the descriptor itself; /dev/null, zero
 * and full are written to. BBF_ENOTFOUND (no such folder), BBF_EPERMISSION (refused, or no access),
 * BBF_EIO; then nothing is open and bbf_file_end() must not be called.
 */
int bbf_file_begin(struct bbf_file *file, const char *path, char *why, size_t why_size);
/* Write all of it. BBF_EIO (file->error says why), BBF_ETIMEOUT (deadline_ns). A process's limit on
 * file sizes gives EFBIG and no SIGXFSZ. */
int bbf_file_write(struct bbf_file *file, const char *data, size_t len);
/*
 * err = BBF_OK: rename onto the target, which is looked at again. Otherwise, or if that fails, the
 * temporary file is removed and the target is as before. Returns err or what failed; `why` is
 * filled where the file is the cause (bbf_file_write() returned `err`, or this failed).
 */
int bbf_file_end(struct bbf_file *file, int err, char *why, size_t why_size);
/* All three at once. */
int bbf_file_save(const char *path, const char *data, size_t len, char *why, size_t why_size);
/* Could `path` be written now? Makes and removes the temporary file; the target is not touched. */
int bbf_file_check(const char *path, char *why, size_t why_size);
/* Could a file be made in this folder now? */
int bbf_file_check_folder(const char *path, char *why, size_t why_size);

/*
 * Open `path` to append to it (a log), made 0600 if it is not there; *fd is the caller's. Taken are
 * a regular file with one name that belongs to the effective user, or to root if not everybody may
 * write to it; /dev/null; and /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N, which are a
 * duplicate of that descriptor. A symlink at the target is followed if core/folder.h trusts it and
 * not everybody may write to its folder. Errors as bbf_file_begin().
 */
int bbf_file_append(const char *path, int *fd, char *why, size_t why_size);
/* Make `path`, which must not be there, 0600, for writing: O_EXCL at its own name. BBF_EIO with
 * errno EEXIST: it is there. */
int bbf_file_make(const char *path, int *fd, char *why, size_t why_size);

/*
 * Give what is at `path` the name of `to`, which is in the same folder, so that `path` can be made
 * anew. Nothing at `path`: nothing happens. Taken and replaced are regular files of the effective
 * user with one name only; anything else is refused as in bbf_file_begin().
 */
int bbf_file_set_aside(const char *path, const char *to, char *why, size_t why_size);

/* write(2) that raises no SIGXFSZ. */
ssize_t bbf_file_write_some(int fd, const char *data, size_t len);

#endif
