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

/* The value of the entry `name`, and how many bytes it may have; NULL: there is none, or the format
 * is unknown. */
static const unsigned char *perf_value(const unsigned char *bytes, size_t len, const char *name,
                                       size_t *size)
{
    enum { PROLOGUE = 32, ENTRY = 20 };
    size_t name_len = strlen(name) + 1;
    if (len < PROLOGUE || perf_int(bytes, false) != 0xcafec0c0)
        return NULL;
    bool little = bytes[4] == 1;
    uint32_t at = perf_int(bytes + 24, little), entries = perf_int(bytes + 28, little);
    for (uint32_t i = 0; i < entries && at <= len - ENTRY; i++) {
        const unsigned char *entry = bytes + at;
        uint32_t entry_len = perf_int(entry, little), name_at = perf_int(entry + 4, little),
                 data_at = perf_int(entry + 16, little);
        if (entry_len < ENTRY || entry_len > len - at)
            return NULL;
        if (name_at < entry_len && entry_len - name_at >= name_len && data_at < entry_len &&
            memcmp(entry + name_at, name, name_len) == 0) {
            *size = entry_len - data_at;
            return entry + data_at;
        }
        at += entry_len;
    }
    return NULL;
}

int bbf_attach_perf(const unsigned char *bytes, size_t len)
{
    size_t size;
    const unsigned char *value = perf_value(bytes, len, "sun.rt.jvmCapabilities", &size);
    return value == NULL ? -1 : *value == '1' ? 1 : *value == '0' ? 0 : -1;
}

char *bbf_perf_text(const unsigned char *bytes, size_t len, const char *name)
{
    size_t size;
    const unsigned char *value = perf_value(bytes, len, name, &size);
    return value != NULL ? strndup((const char *)value, size) : NULL;
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

unsigned char *bbf_perf_read(int tmp_folder, const struct bbf_attach_status *status, size_t *len)
{
    unsigned char *found = NULL;
    int fd = openat(tmp_folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *tmp = fd >= 0 ? fdopendir(fd) : NULL;
    if (tmp == NULL) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    for (struct dirent *entry; found == NULL && (entry = readdir(tmp)) != NULL;) {
        char path[PATH_BYTES];
        struct stat st;
        if (strncmp(entry->d_name, "hsperfdata_", 11) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%ld", entry->d_name, (long)status->inner);
        int file = openat(dirfd(tmp), path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0)
            continue;
        found = malloc(PERF_BYTES);
        /* A file of the same number that belongs to another user is not this JVM's. */
        ssize_t n = found != NULL && fstat(file, &st) == 0 && st.st_uid == status->uid
                        ? read(file, found, PERF_BYTES)
                        : 0;
        close(file);
        *len = n > 0 ? (size_t)n : 0;
        if (n <= 0) {
            free(found);
            found = NULL;
        }
    }
    closedir(tmp);
    return found;
}

bool bbf_attach_is_on(pid_t pid, int tmp, const struct bbf_attach_status *status)
{
    static char bytes[1 << 18];
    size_t len = 0;
    unsigned char *perf = bbf_perf_read(tmp, status, &len);
    int says = perf != NULL ? bbf_attach_perf(perf, len) : -1;
    free(perf);
    if (says < 0)
        says = bbf_attach_flag(bytes, bbf_proc_read(pid, "cmdline", bytes, sizeof bytes));
    if (says < 0)
        says = bbf_attach_flag(bytes, bbf_proc_read(pid, "environ", bytes, sizeof bytes));
    return says != 0;
}
