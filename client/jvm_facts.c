/* SPDX-License-Identifier: Apache-2.0 */
#include "client/jvm_facts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/folder.h"

enum { TEXT_BYTES = 1 << 18, PATH_BYTES = 512 };

/* ---- Mapped files ---------------------------------------------------------------------------- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);
    return len >= n && strcmp(text + len - n, end) == 0;
}

static void keep(char **slot, const char *path)
{
    if (*slot == NULL)
        *slot = strdup(path);
}

static void take_mapping(struct bbf_jvm_facts *facts, const char *path)
{
    const char *base = base_of(path);

    if (strcmp(base, "libjvm.so") == 0)
        keep(&facts->libjvm, path);
    else if (strcmp(base, "libbbflow.so") == 0)
        keep(&facts->mapped_agent, path);
    else if (strcmp(base, "libc.so.6") == 0 || strncmp(base, "libc-2.", 7) == 0 ||
             strncmp(base, "ld-musl-", 8) == 0 || strncmp(base, "libc.musl-", 10) == 0)
        keep(&facts->libc, path);
    else if (strncmp(base, "libz.so.1", 9) == 0)
        facts->has_libz = true;
    else if (ends_with(base, ".aot"))
        keep(&facts->aot, path);
    else if (ends_with(base, ".jsa") && strncmp(base, "classes", 7) != 0)
        keep(&facts->archive, path);
}

static void read_maps(struct bbf_jvm_facts *facts)
{
    char path[64], *line = NULL;
    size_t cap = 0;

    snprintf(path, sizeof path, "/proc/%ld/maps", (long)facts->pid);
    FILE *maps = fopen(path, "re");
    if (maps == NULL)
        return;
    while (getline(&line, &cap, maps) > 0) {
        char *at = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (at != NULL)
            take_mapping(facts, at);
    }
    free(line);
    fclose(maps);
}

/* "/proc/PID/root" and the path into `to`. */
static const char *inside(const struct bbf_jvm_facts *facts, const char *path, char *to,
                          size_t size)
{
    snprintf(to, size, "/proc/%ld/root%s", (long)facts->pid, path);
    return to;
}

bool bbf_jvm_has_file(const struct bbf_jvm_facts *facts, const char *path)
{
    char file[PATH_MAX];
    struct stat st;
    return stat(inside(facts, path, file, sizeof file), &st) == 0 && S_ISREG(st.st_mode);
}

static void find_libz(struct bbf_jvm_facts *facts)
{
    static const char *const folders[] = {"/lib",
                                          "/usr/lib",
                                          "/lib64",
                                          "/usr/lib64",
                                          "/usr/local/lib",
                                          "/lib/x86_64-linux-gnu",
                                          "/usr/lib/x86_64-linux-gnu",
                                          "/lib/aarch64-linux-gnu",
                                          "/usr/lib/aarch64-linux-gnu"};
    char path[64];

    for (size_t i = 0; !facts->has_libz && i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, sizeof path, "%s/libz.so.1", folders[i]);
        facts->has_libz = bbf_jvm_has_file(facts, path);
    }
}

/* ---- Version --------------------------------------------------------------------------------- */

/* "1.8", "17", "21.0.5" */
static int major_of(const char *version)
{
    int major = atoi(version);
    return major == 1 && strncmp(version, "1.", 2) == 0 ? atoi(version + 2) : major;
}

/* The file `release` of the JDK that libjvm.so is in, two or three folders up. */
static void read_release(struct bbf_jvm_facts *facts)
{
    static const char key[] = "JAVA_VERSION=\"";
    char home[PATH_BYTES], path[PATH_MAX], text[8192];

    if (facts->libjvm == NULL || strlen(facts->libjvm) >= sizeof home)
        return;
    snprintf(home, sizeof home, "%s", facts->libjvm);
    for (int up = 0; up < 5 && facts->java == 0; up++) {
        char *slash = strrchr(home, '/');
        if (slash == NULL || slash == home)
            return;
        *slash = '\0';
        snprintf(path, sizeof path, "/proc/%ld/root%s/release", (long)facts->pid, home);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
        if (fd >= 0)
            close(fd);
        text[n > 0 ? n : 0] = '\0';
        const char *at = strstr(text, key);
        facts->java = at != NULL ? major_of(at + sizeof key - 1) : 0;
    }
}

/* ---- Options --------------------------------------------------------------------------------- */

/* In the order in which the JVM reads them: the last counts. */
static void read_words(struct bbf_jvm_facts *facts, const char *perf_args)
{
    char *bytes = malloc(TEXT_BYTES), *environment = malloc(TEXT_BYTES);

    if (bytes == NULL || environment == NULL) {
        facts->words.failed = true;
        goto end;
    }
    size_t n_environ = bbf_proc_read(facts->pid, "environ", environment, TEXT_BYTES);
    size_t n = bbf_proc_read(facts->pid, "cmdline", bytes, TEXT_BYTES);
    bbf_words_of_environ(&facts->words, environment, n_environ, "JAVA_TOOL_OPTIONS");
    bbf_words_of_environ(&facts->words, environment, n_environ, "JDK_JAVA_OPTIONS");
    bbf_words_of_arguments(&facts->words, bytes, bbf_options_of_cmdline(bytes, n));
    bbf_words_of_environ(&facts->words, environment, n_environ, "_JAVA_OPTIONS");
    if (perf_args != NULL) /* also what @file and the launcher's own file have */
        bbf_words_of_line(&facts->words, perf_args);
end:
    free(bytes);
    free(environment);
}

static void read_perf(struct bbf_jvm_facts *facts, int tmp)
{
    size_t len = 0;
    unsigned char *perf = tmp >= 0 ? bbf_perf_read(tmp, &facts->status, &len) : NULL;
    char *args = NULL, *version = NULL;

    facts->has_perf = perf != NULL;
    if (perf != NULL) {
        version = bbf_perf_text(perf, len, "java.property.java.vm.specification.version");
        facts->vm = bbf_perf_text(perf, len, "java.property.java.vm.name");
        args = bbf_perf_text(perf, len, "java.rt.vmArgs");
        facts->java = version != NULL ? major_of(version) : 0;
    }
    if (facts->java == 0)
        read_release(facts);
    read_words(facts, args);
    free(perf);
    free(args);
    free(version);
}

/* ---- Where it runs --------------------------------------------------------------------------- */

static bool has_other(pid_t pid, const char *name)
{
    char its[64], own[64];
    struct stat one, two;

    snprintf(its, sizeof its, "/proc/%ld/%s", (long)pid, name);
    snprintf(own, sizeof own, "/proc/self/%s", name);
    return stat(its, &one) == 0 && stat(own, &two) == 0 &&
           (one.st_dev != two.st_dev || one.st_ino != two.st_ino);
}

/* By mode: its groups but the first and access lists are not known, so a group's right counts. */
static bool may_write(const struct bbf_jvm_facts *facts, const struct stat *st)
{
    return facts->status.uid == 0 || (st->st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
           (st->st_uid == facts->status.uid && (st->st_mode & S_IWUSR) != 0);
}

static bool is_writable(const struct bbf_jvm_facts *facts, const char *path, struct statvfs *fs)
{
    struct stat st;
    return stat(path, &st) == 0 && statvfs(path, fs) == 0 && (fs->f_flag & ST_RDONLY) == 0 &&
           may_write(facts, &st);
}

static void read_folders(struct bbf_jvm_facts *facts, int tmp)
{
    char path[128], name[64];
    struct statvfs fs;
    struct stat st;

    if (tmp >= 0) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", tmp);
        snprintf(name, sizeof name, ".java_pid%ld", (long)facts->status.inner);
        facts->tmp.writable = is_writable(facts, path, &fs);
        facts->tmp.seen = statvfs(path, &fs) == 0;
        facts->tmp.read_only = facts->tmp.seen && (fs.f_flag & ST_RDONLY) != 0;
        facts->tmp.noexec = facts->tmp.seen && (fs.f_flag & ST_NOEXEC) != 0;
        facts->listens = fstatat(tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode);
    }
    snprintf(path, sizeof path, "/proc/%ld/cwd/.", (long)facts->pid);
    facts->cwd_writable = is_writable(facts, path, &fs);
    snprintf(path, sizeof path, "/proc/%ld/root/.", (long)facts->pid);
    facts->root_read_only = statvfs(path, &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0;
    facts->other_files = has_other(facts->pid, "ns/mnt") || has_other(facts->pid, "root/.");
    facts->other_pids = has_other(facts->pid, "ns/pid");
    facts->other_users = has_other(facts->pid, "ns/user");
}

/* Its /tmp, opened; -1: it cannot be entered. */
static int open_tmp(const struct bbf_jvm_facts *facts)
{
    char path[64], why[PATH_BYTES];
    int tmp = -1;

    snprintf(path, sizeof path, "/proc/%ld/root", (long)facts->pid);
    int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return -1;
    (void)bbf_folder_open(root, "/tmp", &tmp, why, sizeof why);
    close(root);
    return tmp;
}

/* ---- All of it ------------------------------------------------------------------------------- */

void bbf_jvm_facts_read(struct bbf_jvm_facts *facts, pid_t pid, const char *socket_dir,
                        unsigned timeout_ms)
{
    char text[8192], path[PATH_MAX];

    *facts = (struct bbf_jvm_facts){.pid = pid, .attach = true};
    facts->kind = bbf_proc_kind_of(pid, &facts->owner);
    facts->main_class = bbf_proc_main(pid);
    if (facts->kind != BBF_PROC_JVM && facts->kind != BBF_PROC_AGENT)
        return;
    read_maps(facts);
    facts->stopped = bbf_proc_is_stopped(pid);
    facts->has_status = bbf_proc_read(pid, "status", text, sizeof text) > 0 &&
                        bbf_attach_read_status(text, &facts->status);
    int tmp = facts->has_status ? open_tmp(facts) : -1;
    facts->reads_perf = tmp >= 0;
    read_perf(facts, tmp);
    read_folders(facts, tmp);
    if (tmp >= 0) {
        facts->attach = bbf_attach_is_on(pid, tmp, &facts->status);
        close(tmp);
    }
    find_libz(facts);
    if (facts->libc != NULL)
        facts->elf = bbf_elf_read(inside(facts, facts->libc, path, sizeof path));
    if (facts->libc != NULL && strstr(facts->libc, "musl") != NULL)
        facts->elf.libc = BBF_LIBC_MUSL;
    if (facts->kind == BBF_PROC_AGENT && !facts->stopped)
        bbf_agent_ask(&facts->agent, pid, socket_dir, timeout_ms);
    if (!facts->agent.answered)
        bbf_jars_read(&facts->jars, pid);
}

void bbf_jvm_facts_free(struct bbf_jvm_facts *facts)
{
    free(facts->main_class);
    free(facts->libjvm);
    free(facts->libc);
    free(facts->mapped_agent);
    free(facts->aot);
    free(facts->archive);
    free(facts->vm);
    bbf_words_free(&facts->words);
    bbf_agent_answer_free(&facts->agent);
}

void bbf_library_facts_read(struct bbf_library_facts *facts, const char *path)
{
    struct statvfs fs;

    *facts = (struct bbf_library_facts){.path = path};
    facts->elf = bbf_elf_read(path);
    facts->there = facts->elf.machine != 0;
    facts->noexec = statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOEXEC) != 0;
}
