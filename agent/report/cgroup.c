/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/report/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEVELS = 32, TEXT = 64 << 10, FIELDS = 5, FIELD = 512 };
#define NO_LIMIT (UINT64_C(1) << 60) /* version 1 has a number near 2^63 for no limit */

/* ---- find ---- */

/* Is `word` among the words of `list`, which end with a comma or at `end`? */
static bool has_word(const char *list, const char *end, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = list; at < end; at++) {
        const char *stop = memchr(at, ',', (size_t)(end - at));
        if (stop == NULL)
            stop = end;
        if ((size_t)(stop - at) == len && memcmp(at, word, len) == 0)
            return true;
        at = stop;
    }
    return false;
}

static const char *next_line(const char *at)
{
    const char *end = strchr(at, '\n');
    return end != NULL ? end + 1 : at + strlen(at);
}

/* Lines "4:memory:/path" and "0::/path": of version 1 if that has the controller. */
static bool find_path(const char *text, bool *is_v1, char *path, size_t size)
{
    bool found = false;
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        const char *end = next_line(line), *list = memchr(line, ':', (size_t)(end - line));
        const char *own = list != NULL ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
        if (own == NULL)
            continue;
        bool memory = has_word(list + 1, own, "memory");
        if (!memory && (own != list + 1 || line[0] != '0' || found))
            continue;
        *is_v1 = memory;
        found = true;
        snprintf(path, size, "%.*s", (int)strcspn(own + 1, "\n"), own + 1);
        if (memory)
            break;
    }
    return found;
}

static char octal_char(const char *digits)
{
    return (char)((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + (digits[2] - '0'));
}

/* "\040" is a blank in mountinfo. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; to++) {
        bool octal = at[0] == '\\' && strspn(at + 1, "01234567") >= 3;
        *to = octal ? octal_char(at + 1) : *at;
        at += octal ? 4 : 1;
    }
    *to = '\0';
}

/* A line is "36 35 98:0 ROOT MOUNT OPTIONS … - TYPE SOURCE SUPER_OPTIONS". */
static bool is_mount(const char *line, bool is_v1, char root[FIELD], char mount[FIELD])
{
    char type[64], options[FIELD] = "";
    const char *end = next_line(line), *dash = strstr(line, " - ");
    if (dash == NULL || dash >= end || sscanf(line, "%*s %*s %*s %511s %511s", root, mount) != 2 ||
        sscanf(dash, " - %63s %*s %511s", type, options) < 1)
        return false;
    unescape(root);
    unescape(mount);
    return is_v1 ? strcmp(type, "cgroup") == 0 &&
                       has_word(options, options + strlen(options), "memory")
                 : strcmp(type, "cgroup2") == 0;
}

/* A container sees its own cgroup, or one above, as the mount's root; what is not below it is not
 * visible, and the mount's top is the nearest that is. */
static void join(struct bbf_cgroup *to, const char *root, const char *mount, const char *path)
{
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    bool below = strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0');
    const char *rest = below && strstr(path, "/..") == NULL ? path + n : "";
    if (strcmp(rest, "/") == 0)
        rest = "";
    to->mount = strlen(mount);
    snprintf(to->path, sizeof to->path, "%s%s", mount, rest);
}

bool bbf_cgroup_parse(struct bbf_cgroup *to, const char *cgroup, const char *mounts)
{
    char path[PATH_MAX / 2], root[FIELD], mount[FIELD];
    *to = (struct bbf_cgroup){.mount = 0};
    if (!find_path(cgroup, &to->is_v1, path, sizeof path))
        return false;
    for (const char *line = mounts; *line != '\0'; line = next_line(line))
        if (is_mount(line, to->is_v1, root, mount)) {
            join(to, root, mount, path);
            return true;
        }
    return false;
}

/* ---- read ---- */

/* The file's first bytes as a text; false: it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
    size_t have = 0;
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd >= 0 && have < size - 1 && (n = read(fd, text + have, size - 1 - have)) > 0)
        have += (size_t)n;
    if (fd >= 0)
        (void)close(fd);
    text[have] = '\0';
    return have > 0;
}

bool bbf_cgroup_find(struct bbf_cgroup *to)
{
    char *cgroup = malloc(TEXT), *mounts = malloc(TEXT);
    bool found = cgroup != NULL && mounts != NULL && read_text("/proc/self/cgroup", cgroup, TEXT) &&
                 read_text("/proc/self/mountinfo", mounts, TEXT) &&
                 bbf_cgroup_parse(to, cgroup, mounts);
    free(cgroup);
    free(mounts);
    return found;
}

static bool read_number(const char *level, const char *name, uint64_t *value)
{
    char path[PATH_MAX + 40], text[40], *end;
    snprintf(path, sizeof path, "%s/%s", level, name);
    if (!read_text(path, text, sizeof text))
        return false;
    *value = strtoull(text, &end, 10);
    return end != text; /* "max" is no number */
}

/* File pages that the kernel drops before it kills. */
static uint64_t droppable(const char *level, bool is_v1)
{
    static const char v1[] = "total_inactive_file ", v2[] = "inactive_file ";
    const char *name = is_v1 ? v1 : v2;
    char path[PATH_MAX + 40], text[8192];
    snprintf(path, sizeof path, "%s/memory.stat", level);
    if (!read_text(path, text, sizeof text))
        return 0;
    for (const char *line = text; *line != '\0'; line = next_line(line))
        if (strncmp(line, name, strlen(name)) == 0)
            return strtoull(line + strlen(name), NULL, 10);
    return 0;
}

bool bbf_cgroup_reaches(const struct bbf_cgroup_memory *memory, uint64_t ppm)
{
    return memory->limit > 0 && (double)memory->used * 1e6 >= (double)memory->limit * (double)ppm;
}

static bool read_level(const char *level, bool is_v1, uint64_t ppm, struct bbf_cgroup_memory *to)
{
    if (!read_number(level, is_v1 ? "memory.limit_in_bytes" : "memory.max", &to->limit) ||
        to->limit == 0 || to->limit >= NO_LIMIT ||
        !read_number(level, is_v1 ? "memory.usage_in_bytes" : "memory.current", &to->used))
        return false;
    /* Not each time: the kernel sums the statistics over all processors. */
    if (bbf_cgroup_reaches(to, ppm)) {
        uint64_t less = droppable(level, is_v1);
        to->used -= less < to->used ? less : to->used;
    }
    return true;
}

bool bbf_cgroup_read(const struct bbf_cgroup *cgroup, uint64_t ppm, struct bbf_cgroup_memory *to)
{
    char level[PATH_MAX];
    struct bbf_cgroup_memory one;
    bool found = false;
    snprintf(level, sizeof level, "%s", cgroup->path);
    for (int i = 0; i < LEVELS && level[0] != '\0'; i++) {
        if (read_level(level, cgroup->is_v1, ppm, &one) &&
            (!found ||
             (double)one.used / (double)one.limit > (double)to->used / (double)to->limit)) {
            *to = one;
            found = true;
        }
        char *slash = strrchr(level, '/');
        if (slash == NULL || strlen(level) <= cgroup->mount)
            break;
        *slash = '\0';
    }
    return found;
}
