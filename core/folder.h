/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/folder.h - open the folder of a path without going where another user's symlink leads, and
 * without leaving a root folder that is not ours (a chroot or container seen by /proc/PID/root).
 *
 * A symlink on the way is followed if it belongs to the effective user, to root, or to the owner of
 * the folder that holds it; where everybody may write to that folder, only to the first two, and
 * if it has no second name (hard link). That is more than fs.protected_symlinks asks, and does not
 * need it. For root a link of another user must lead to a folder of that same user.
 *
 * Threads: any, no state. No allocation.
 */
#ifndef BBF_CORE_FOLDER_H
#define BBF_CORE_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * Open `path`, a folder, with O_PATH into *folder, which the caller closes. root: a descriptor that
 * absolute paths and links begin at and ".." does not leave; -1: the process's own root, and a
 * relative path begins at its working folder. `why`: what is wrong, with the path and the remedy.
 * Errors: BBF_ENOTFOUND (something is missing), BBF_EPERMISSION (a link that is not followed, no
 * access), BBF_EIO (else, errno kept). *folder is -1 then. Never waits for another process.
 */
int bbf_folder_open(int root, const char *path, int *folder, char *why, size_t why_size);

/* The same for a reader: `path` below `root` as one without symlinks and "..", such as "/var/tmp"
 * for a /tmp that is a link there; "" for `root` itself. */
int bbf_folder_real(int root, const char *path, char real[PATH_MAX], char *why, size_t why_size);

/* May the effective user rely on this symlink (`link`) in this folder? The rule above, but for what
 * it asks of root. */
bool bbf_folder_trusts_link(const struct stat *folder, const struct stat *link);

#endif
