/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/folder.h - opens the folder of a path without following another user's symlinks, and without
 * leaving a given root folder (a chroot or container seen through /proc/PID/root).
 *
 * A symlink on the way is followed if it belongs to the effective user, to root, or to the owner of
 * the folder that contains it. In a folder that everybody may write to, it must belong to one of
 * the first two and must have no second name (hard link). This is stricter than
 * fs.protected_symlinks, and does not depend on it. When the effective user is root, a link of
 * another user must lead to a folder of that user.
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
 * Open `path`, a folder, with O_PATH into *folder, which the caller closes. root: a descriptor at
 * which absolute paths and links begin and which ".." does not leave; -1: the process's own root,
 * and a relative path begins at its working folder. `why`: the fault, with the path and the remedy.
 * Errors: BBF_ENOTFOUND (something is missing), BBF_EPERMISSION (a link that is not followed, no
 * access), BBF_EIO (any other; errno is kept). *folder is -1 then. Never waits for another process.
 */
int bbf_folder_open(int root, const char *path, int *folder, char *why, size_t why_size);

/* The same for a reader: `path` below `root`, resolved to a path without symlinks and "..", such as
 * "/var/tmp" if /tmp is a link to it; "" for `root` itself. */
int bbf_folder_real(int root, const char *path, char real[PATH_MAX], char *why, size_t why_size);

/* May the effective user trust this symlink (`link`) in this folder? By the rule above, except its
 * last sentence, about root. */
bool bbf_folder_trusts_link(const struct stat *folder, const struct stat *link);

#endif
