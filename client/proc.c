/* SPDX-License-Identifier: Apache-2.0 */
#include "client/proc.h"

#include "core/buf.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* /proc/PID/NAME, opened for reading; errno as fopen() leaves it. */
static FILE *open_proc(pid_t pid, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    return fopen(path, "re");
}

size_t bbf_proc_read(pid_t pid, const char *name, char *to, size_t size)
{
    FILE *file = open_proc(pid, name);
    size_t n = file != NULL ? fread(to, 1, size - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    to[n] = '\0';
    return n;
}

enum bbf_proc_kind bbf_proc_kind_of(pid_t pid, uid_t *owner)
{
    char path[64];
    struct stat st;
    bool jvm = false, agent = false;

    snprintf(path, sizeof path, "/proc/%ld", (long)pid);
    if (pid <= 0 || stat(path, &st) != 0)
        return BBF_PROC_NONE;
    if (owner != NULL)
        *owner = st.st_uid;
    FILE *maps = open_proc(pid, "maps");
    if (maps == NULL)
        return errno == EACCES || errno == EPERM ? BBF_PROC_FORBIDDEN : BBF_PROC_NONE;
    char *line = NULL;
    size_t cap = 0;
    errno = 0;
    while (getline(&line, &cap, maps) > 0) {
        jvm = jvm || strstr(line, "/libjvm.so") != NULL;
        agent = agent || strstr(line, "/libbbflow.so") != NULL;
    }
    /* The kernel checks the right to read maps at the first read, not at open. */
    bool forbidden = errno == EACCES || errno == EPERM;
    free(line);
    fclose(maps);
    if (forbidden)
        return BBF_PROC_FORBIDDEN;
    if (!jvm)
        return BBF_PROC_OTHER;
    return agent ? BBF_PROC_AGENT : BBF_PROC_JVM;
}

/* Its state as one letter, '\0' without such a process: the word after the last ')'. */
static char state_of(pid_t pid)
{
    char text[512] = "";
    FILE *file = open_proc(pid, "stat");

    if (file == NULL)
        return '\0';
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' ? name_end[2] : '\0';
}

bool bbf_proc_has_ended(pid_t pid)
{
    char state = state_of(pid);

    return state == '\0' || state == 'Z' || state == 'X';
}

bool bbf_proc_is_stopped(pid_t pid)
{
    char state = state_of(pid);

    return state == 'T' || state == 't';
}

bool bbf_proc_has_thread(pid_t pid, const char *name)
{
    char path[64], comm[32];
    bool found = false;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL)
        return false;
    for (struct dirent *entry; !found && (entry = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "task/%.10s/comm", entry->d_name);
        FILE *file = entry->d_name[0] != '.' ? open_proc(pid, path) : NULL;
        if (file == NULL)
            continue;
        if (fgets(comm, sizeof comm, file) != NULL) {
            comm[strcspn(comm, "\n")] = '\0';
            found = strcmp(comm, name) == 0;
        }
        fclose(file);
    }
    closedir(tasks);
    return found;
}

/* Options of the java launcher whose value is the next argument (java(1), launcher's java.c). */
static bool takes_next_argument(const char *option)
{
    static const char *const names[] = {
        "-cp",
        "-classpath",
        "--class-path",
        "-p",
        "--module-path",
        "--upgrade-module-path",
        "--add-modules",
        "--limit-modules",
        "--add-exports",
        "--add-opens",
        "--add-reads",
        "--patch-module",
        "--enable-native-access",
        "--illegal-native-access",
        "--source",
        "--finalization",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(option, names[i]) == 0)
            return true;
    }
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static const char *next_argument(const char *arg, const char *end)
{
    return arg < end ? arg + strlen(arg) + 1 : end;
}

char *bbf_main_of_cmdline(const char *bytes, size_t len)
{
    /* A copy with a NUL of its own: the kernel cuts where it likes. */
    char *copy = malloc(len + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    const char *end = copy + len, *program = copy, *found = "";

    if (strcmp(base_name(program), "java") != 0) {
        found = base_name(program);
    } else {
        for (const char *arg = next_argument(program, end); arg < end;
             arg = next_argument(arg, end)) {
            const char *value = next_argument(arg, end);
            if (strcmp(arg, "-jar") == 0) {
                found = value < end ? base_name(value) : "";
                break;
            }
            if (strcmp(arg, "-m") == 0 || strcmp(arg, "--module") == 0 ||
                strncmp(arg, "--module=", 9) == 0) {
                /* module/class; the main class of a module alone is only in its jar */
                const char *module = arg[1] == '-' && arg[8] == '=' ? arg + 9 : value;
                found = module < end ? base_name(module) : "";
                break;
            }
            if (takes_next_argument(arg)) {
                arg = value;
                continue;
            }
            if (arg[0] != '-' && arg[0] != '@') { /* @file holds arguments that we do not see */
                found = base_name(arg);
                break;
            }
        }
    }
    char *result = strdup(found);
    free(copy);
    return result;
}

size_t bbf_options_of_cmdline(const char *bytes, size_t len)
{
    const char *end = bytes + len;
    size_t at = strnlen(bytes, len);

    if (at >= len || strcmp(base_name(bytes), "java") != 0 || end[-1] != '\0')
        return len;
    for (const char *arg = bytes + at + 1; arg < end; arg = next_argument(arg, end)) {
        if (strcmp(arg, "-jar") == 0 || strcmp(arg, "-m") == 0 || strcmp(arg, "--module") == 0 ||
            strncmp(arg, "--module=", 9) == 0 || (arg[0] != '-' && arg[0] != '@'))
            return (size_t)(arg - bytes);
        if (takes_next_argument(arg))
            arg = next_argument(arg, end);
    }
    return len;
}

char *bbf_proc_main(pid_t pid)
{
    struct bbf_buf bytes = BBF_BUF_INIT;
    FILE *file = open_proc(pid, "cmdline");

    if (file != NULL) {
        char chunk[4096];
        size_t got;
        while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
            bbf_buf_add(&bytes, chunk, got);
        fclose(file);
    }
    char *result = bytes.len == 0 ? strdup("") : bbf_main_of_cmdline(bytes.data, bytes.len);
    bbf_buf_free(&bytes);
    return result;
}

void bbf_proc_each(void *ctx, void (*found)(void *ctx, pid_t pid))
{
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
        if (isdigit((unsigned char)entry->d_name[0]))
            found(ctx, (pid_t)strtol(entry->d_name, NULL, 10));
    }
    closedir(proc);
}
