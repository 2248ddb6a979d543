/* SPDX-License-Identifier: Apache-2.0 */
#include "client/attach_facts.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/proc.h"

enum { PERF_BYTES = 1 << 20, PATH_BYTES = 512 };

/* ---- /proc/PID/status ------------------------------------------------------------------------ */

bool bbf_attach_number(const char *text, const char *name, int n, int base,
                       unsigned long long *value)
{
    size_t len = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, len) != 0)
            continue;
        const char *at = line + len;
        bool found = false;
        for (int i = 0; n < 0 || i <= n; i++) {
            char *end;
            at += strspn(at, " \t");
            if (*at == '\n' || *at == '\0')
                break;
            *value = strtoull(at, &end, base);
            found = end != at && (n < 0 || i == n);
            if (end == at)
                return false;
            at = end;
        }
        return found;
    }
    return false;
}

bool bbf_attach_read_status(const char *text, struct bbf_attach_status *status)
{
    unsigned long long pid, uid, gid, caught;
    if (!bbf_attach_number(text, "NSpid:", -1, 10, &pid) &&
        !bbf_attach_number(text, "Pid:", 0, 10, &pid))
        return false;
    if (!bbf_attach_number(text, "Uid:", 1, 10, &uid) ||
        !bbf_attach_number(text, "Gid:", 1, 10, &gid) ||
        !bbf_attach_number(text, "SigCgt:", 0, 16, &caught))
        return false;
    *status = (struct bbf_attach_status){.inner = (pid_t)pid,
                                         .uid = (uid_t)uid,
                                         .gid = (gid_t)gid,
                                         .catches_quit = (caught >> (SIGQUIT - 1) & 1) != 0};
    return true;
}

/* ---- Performance data ------------------------------------------------------------------------ */

static uint32_t perf_int(const unsigned char *at, bool little)
{
    return little ? (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                        (uint32_t)at[3] << 24
                  : (uint32_t)at[3] | (uint32_t)at[2] << 8 | (uint32_t)at[1] << 16 |
                        (uint32_t)at[0] << 24;
}

int bbf_attach_perf(const unsigned char *bytes, size_t len)
{
    static const char name[] = "sun.rt.jvmCapabilities";
    enum { PROLOGUE = 32, ENTRY = 20 };
    if (len < PROLOGUE || perf_int(bytes, false) != 0xcafec0c0)
        return -1;
    bool little = bytes[4] == 1;
    uint32_t at = perf_int(bytes + 24, little), entries = perf_int(bytes + 28, little);
    for (uint32_t i = 0; i < entries && at <= len - ENTRY; i++) {
        const unsigned char *entry = bytes + at;
        uint32_t size = perf_int(entry, little), name_at = perf_int(entry + 4, little),
                 data_at = perf_int(entry + 16, little);
        if (size < ENTRY || size > len - at)
            return -1;
        if (name_at < size && size - name_at >= sizeof name && data_at < size &&
            memcmp(entry + name_at, name, sizeof name) == 0)
            return entry[data_at] == '1' ? 1 : entry[data_at] == '0' ? 0 : -1;
        at += size;
    }
    return -1;
}

int bbf_attach_flag(const char *bytes, size_t len)
{
    static const char word[] = "DisableAttachMechanism";
    int last = -1;
    const char *end = bytes + len;
    for (const char *at = bytes;
         (at = memmem(at, (size_t)(end - at), word, sizeof word - 1)) != NULL; at++)
        if (at > bytes && (at[-1] == '+' || at[-1] == '-'))
            last = at[-1] == '-';
    return last;
}

/* /tmp/hsperfdata_USER/N of whichever user. */
static int perf_says(int tmp_folder, const struct bbf_attach_status *status)
{
    int says = -1;
    int fd = openat(tmp_folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *tmp = fd >= 0 ? fdopendir(fd) : NULL;
    if (tmp == NULL) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (struct dirent *entry; says < 0 && (entry = readdir(tmp)) != NULL;) {
        char path[PATH_BYTES];
        struct stat st;
        if (strncmp(entry->d_name, "hsperfdata_", 11) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%ld", entry->d_name, (long)status->inner);
        int file = openat(dirfd(tmp), path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0)
            continue;
        unsigned char *bytes = malloc(PERF_BYTES);
        /* A file of the same number that belongs to another user is not this JVM's. */
        if (bytes != NULL && fstat(file, &st) == 0 && st.st_uid == status->uid) {
            ssize_t n = read(file, bytes, PERF_BYTES);
            says = n > 0 ? bbf_attach_perf(bytes, (size_t)n) : -1;
        }
        free(bytes);
        close(file);
    }
    closedir(tmp);
    return says;
}

bool bbf_attach_is_on(pid_t pid, int tmp, const struct bbf_attach_status *status)
{
    static char bytes[1 << 18];
    int says = perf_says(tmp, status);
    if (says < 0)
        says = bbf_attach_flag(bytes, bbf_proc_read(pid, "cmdline", bytes, sizeof bytes));
    if (says < 0)
        says = bbf_attach_flag(bytes, bbf_proc_read(pid, "environ", bytes, sizeof bytes));
    return says != 0;
}
