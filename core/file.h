/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/file.h - opens every file that bbflow writes: reports, class files of dump=, the log, the
 * token file, the client's -o FILE. Two exceptions: client/attach.c makes the library's copy and
 * .attach_pidPID in folders of the JVM (with its own O_EXCL and O_NOFOLLOW). The file may be in a
 * folder that others can write to; files and links that they put there do no harm:
 *
 *   - a file is written under a random name (getrandom), made by O_EXCL, 0600 whatever the umask,
 * and renamed onto its target when it is complete;
 *   - an existing target that is not a regular file of the effective user is refused; the error
 * names the target, its kind, its owner and the remedy. Nothing that could block (a FIFO, a device)
 * is opened;
 *   - symlinks on the way are followed by the rule of core/folder.h; a symlink at the target is
 * not.
 *
 * No fsync: a report that a power failure destroys costs less than an exit that waits for a disk.
 *
 * Threads: any; one thread at a time per struct. No allocation. Errors are BBF_E… with `why` (PATH:
 * reason; remedy). BBF_EPERMISSION with errno EPERM or ELOOP: another user put something there;
 * with EEXIST: the target belongs to the effective user, but is not a regular file.
 */
#ifndef BBF_CORE_FILE_H
#define BBF_CORE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A file that is being written, from begin to end. The caller sets only deadline_ns. */
struct bbf_file {
    const char *path;     /* borrowed until bbf_file_end() */
    int fd, folder;       /* folder: O_PATH */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; after it nothing is written; 0 = no deadline */
    int error;            /* errno of the first failure */
    bool in_place;        /* no temporary file: see bbf_file_begin() */
    bool keeps;           /* in place, without truncation: a stream, a device */
    struct stat made;     /* fstat of fd when it was opened */
    char name[NAME_MAX + 1], temporary[48];
};

/*
 * Begin to write `path`. If no file can be created in the folder, but the target is an existing
 * file of the effective user with one name, that file is written in place (the first write discards
 * its content). The client's /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N are the
 * descriptor itself; /dev/null, zero and full are written to. Errors: BBF_ENOTFOUND (no such
 * folder), BBF_EPERMISSION (refused, or no access), BBF_EIO; then nothing is open, and the caller
 * must not call bbf_file_end().
 */
int bbf_file_begin(struct bbf_file *file, const char *path, char *why, size_t why_size);
/* Write all `len` bytes. Errors: BBF_EIO (file->error says why), BBF_ETIMEOUT (deadline_ns). A
 * process's limit on file sizes gives EFBIG and no SIGXFSZ. */
int bbf_file_write(struct bbf_file *file, const char *data, size_t len);
/*
 * err = BBF_OK: check the target again and rename the file onto it. Otherwise, or if that fails,
 * remove the temporary file; the target is unchanged. Returns err, or the error of this function;
 * `why` is filled if the file is the cause (bbf_file_write() returned `err`, or this function
 * failed).
 */
int bbf_file_end(struct bbf_file *file, int err, char *why, size_t why_size);
/* Begin, write and end in one call. */
int bbf_file_save(const char *path, const char *data, size_t len, char *why, size_t why_size);
/* Could `path` be written now? Makes and removes the temporary file; does not touch the target. */
int bbf_file_check(const char *path, char *why, size_t why_size);
/* Could a file be made in this folder now? */
int bbf_file_check_folder(const char *path, char *why, size_t why_size);

/*
 * Open `path` to append to it (a log); a new file gets mode 0600. The caller closes *fd. Accepted
 * are a regular file with one name that belongs to the effective user, or to root unless everybody
 * may write to it; /dev/null; and /dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N, of which
 * *fd is a duplicate. A symlink at the target is followed if core/folder.h trusts it and its folder
 * is not writable by everybody. Errors as for bbf_file_begin().
 */
int bbf_file_append(const char *path, int *fd, char *why, size_t why_size);
/* Create `path` for writing, mode 0600, by O_EXCL under its own name. BBF_EIO with errno EEXIST: it
 * exists already. */
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
