/* SPDX-License-Identifier: Apache-2.0 */
#include "client/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

/* `file` as a path without links, or as it is if it does not exist. */
static void whole_path(const char *file, char *path, size_t size)
{
    char *whole = realpath(file, NULL);
    snprintf(path, size, "%s", whole != NULL ? whole : file);
    free(whole);
}

void bbf_library_find(const char *wanted, char *path, size_t size)
{
    static const char *const folders[] = {".", BBF_LIB_FROM_BIN, "../lib", "../lib/bbflow"};
    enum { FOLDERS = sizeof folders / sizeof folders[0] };
    char own[400], file[PATH_BYTES];

    if (wanted != NULL) {
        whole_path(wanted, path, size);
        return;
    }
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash != NULL)
        *slash = '\0';
    for (size_t i = 0; i < FOLDERS; i++) {
        snprintf(file, sizeof file, "%s/%s/libbbflow.so", own, folders[i]);
        if (access(file, F_OK) == 0)
            break;
    }
    whole_path(file, path, size);
}
