/* SPDX-License-Identifier: Apache-2.0 */
#include "client/attach_mapped.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t bbf_attach_sum(int fd)
{
    unsigned char bytes[1 << 16];
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    (void)lseek(fd, 0, SEEK_SET);
    return hash;
}

/* A line of /proc/PID/maps: is it about a libbbflow.so? *path points into it. */
static bool read_line(char *line, unsigned long long *inode, const char **path)
{
    static const char name[] = "/libbbflow.so";
    char *at = strchr(line, '/');
    line[strcspn(line, "\n")] = '\0';
    if (at == NULL || sscanf(line, "%*s %*s %*s %*s %llu", inode) != 1)
        return false;
    size_t len = strlen(at);
    *path = at;
    return len >= sizeof name - 1 && strcmp(at + len - (sizeof name - 1), name) == 0;
}

/* The path below the process's root. The kernel shows it from the root of that process's mounts,
 * which a chroot is not. NULL: it is not below. */
static const char *below_root(const char *path, const char *root)
{
    size_t len = strlen(root);
    if (len <= 1)
        return path;
    return strncmp(path, root, len) == 0 && path[len] == '/' ? path + len : NULL;
}

static bool is_same(int root, const char *path, unsigned long long inode, uint64_t sum)
{
    struct stat st;
    int fd = openat(root, path + 1, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool same = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == inode &&
                bbf_attach_sum(fd) == sum;
    close(fd);
    return same;
}

bool bbf_attach_mapped(pid_t pid, int root, int from, char *path, size_t size)
{
    char name[64], top[PATH_MAX], *line = NULL;
    size_t cap = 0;
    bool found = false;
    snprintf(name, sizeof name, "/proc/%ld/root", (long)pid);
    ssize_t n = readlink(name, top, sizeof top - 1);
    top[n > 0 ? n : 0] = '\0';
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
    FILE *maps = fopen(name, "re");
    if (maps == NULL)
        return false;
    uint64_t sum = bbf_attach_sum(from);
    while (!found && getline(&line, &cap, maps) > 0) {
        unsigned long long inode;
        const char *at;
        if (!read_line(line, &inode, &at) || (at = below_root(at, top)) == NULL ||
            strlen(at) >= size)
            continue;
        found = is_same(root, at, inode, sum);
        if (found)
            strcpy(path, at);
    }
    free(line);
    fclose(maps);
    return found;
}
