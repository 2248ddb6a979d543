/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/client/discover.c - finds the sockets of running agents (bbf_conn_discover of
 * wire/client/conn.h).
 *
 * A folder counts only if it belongs to the uid in its name, is not a symlink and is closed to
 * others, because in a folder like /tmp any user can make one that looks like ours.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/err.h"
#include "core/folder.h"
#include "wire/client/conn.h"
#include "wire/sockdir.h"

enum { FOLDERS_MAX = 4096 }; /* that we remember, so as not to visit one twice */

struct search {
    void *ctx;
    void (*found)(void *ctx, pid_t pid, uid_t uid, const char *path);
    struct {
        uint64_t a, b;
    } seen[FOLDERS_MAX]; /* folders (device, inode); containers (mount namespace, root's inode) */
    size_t n_seen;
};

/* "<number><suffix>" and nothing else. */
static bool parse_number(const char *text, const char *suffix, unsigned long *number)
{
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return false;
    *number = strtoul(text, &end, 10);
    return strcmp(end, suffix) == 0 && *number <= UINT32_MAX;
}

static bool first_visit(struct search *search, uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < search->n_seen; i++) {
        if (search->seen[i].a == a && search->seen[i].b == b)
            return false;
    }
    if (search->n_seen < FOLDERS_MAX) {
        search->seen[search->n_seen].a = a;
        search->seen[search->n_seen++].b = b;
    }
    return true;
}

static void visit_socket(struct search *search, const char *path, unsigned long pid, uid_t uid)
{
    struct stat st;
    struct ucred peer;

    if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return;
    int err = bbf_socket_probe(path, &peer);
    if (err == BBF_OK) {
        /* The name has the pid in the JVM's namespace; the kernel returns it in ours. */
        search->found(search->ctx, peer.pid > 0 ? peer.pid : (pid_t)pid, uid, path);
    } else if (err == BBF_ECLOSED && st.st_uid == geteuid()) {
        unlink(path);
    }
}

static void visit_folder(struct search *search, const char *dir, uid_t uid)
{
    char why[BBF_SOCKDIR_PATH + 128], path[BBF_SOCKDIR_PATH + 300];
    unsigned long pid;
    struct stat st;

    if (bbf_sockdir_check(dir, uid, why, sizeof why) != BBF_OK || stat(dir, &st) != 0)
        return;
    /* The same folder has several paths: $XDG_RUNTIME_DIR=/tmp, /proc/PID/root of a process with
     * our root. */
    if (!first_visit(search, st.st_dev, st.st_ino))
        return;
    DIR *folder = opendir(dir);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (!parse_number(entry->d_name, ".sock", &pid))
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        visit_socket(search, path, pid, uid);
    }
    closedir(folder);
}

/*
 * Visit every BASE/bbflow-UID that we may read. `inside` a container the uids may be mapped, so
 * that the number in the name differs from the owner's number out here: there we trust the owner.
 */
static void visit_all_users(struct search *search, const char *base, bool inside)
{
    char dir[BBF_SOCKDIR_PATH];
    unsigned long uid;
    struct stat st;
    DIR *folder = opendir(base);

    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strncmp(entry->d_name, "bbflow-", 7) != 0 || !parse_number(entry->d_name + 7, "", &uid))
            continue;
        int n = snprintf(dir, sizeof dir, "%s/%s", base, entry->d_name);
        if (n < 0 || (size_t)n >= sizeof dir || lstat(dir, &st) != 0)
            continue;
        visit_folder(search, dir, inside ? st.st_uid : (uid_t)uid);
    }
    closedir(folder);
}

/* Resolve ROOT/PATH without symlinks: an absolute link inside would lead out of ROOT, to our own
 * folder of that name. False: it does not exist. */
static bool below(char out[BBF_SOCKDIR_PATH], const char *root, const char *path)
{
    char real[PATH_MAX], why[PATH_MAX + 200];
    int fd = open(root[0] != '\0' ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    int err = bbf_folder_real(fd, path, real, why, sizeof why);
    close(fd);
    if (err != BBF_OK)
        return false;
    int n = snprintf(out, BBF_SOCKDIR_PATH, "%s%s", root, real);
    return n > 0 && n < BBF_SOCKDIR_PATH;
}

/* All users' runtime folders and the two common ones, below "" or "/proc/PID/root". */
static void visit_root(struct search *search, const char *root)
{
    char base[BBF_SOCKDIR_PATH];
    unsigned long uid;
    bool inside = root[0] != '\0';

    if (below(base, root, "/tmp"))
        visit_all_users(search, base, inside);
    if (below(base, root, "/dev/shm"))
        visit_all_users(search, base, inside);
    DIR *users = below(base, root, "/run/user") ? opendir(base) : NULL;
    if (users == NULL)
        return;
    size_t len = strlen(base);
    for (struct dirent *entry; (entry = readdir(users)) != NULL;) {
        if (!parse_number(entry->d_name, "", &uid))
            continue;
        snprintf(base + len, sizeof base - len, "/%lu", uid);
        visit_all_users(search, base, inside);
    }
    closedir(users);
}

/* The file system that a process sees: its mount namespace (a container, a service with its own
 * /tmp) and its root in it (a chroot). */
static bool file_system(const char *proc, uint64_t *namespace, uint64_t *root)
{
    char path[96];
    struct stat mnt, dir;

    snprintf(path, sizeof path, "%s/ns/mnt", proc);
    if (stat(path, &mnt) != 0)
        return false;
    snprintf(path, sizeof path, "%s/root", proc);
    if (stat(path, &dir) != 0)
        return false;
    *namespace = mnt.st_ino;
    *root = dir.st_ino;
    return true;
}

/* Visit the file systems other than ours, each once: for root of all processes, for a user those of
 * its own (a debug container beside the application's). */
static void visit_containers(struct search *search)
{
    char path[64];
    uint64_t namespace, root;
    unsigned long pid;
    DIR *proc = opendir("/proc");

    if (proc == NULL)
        return;
    if (file_system("/proc/self", &namespace, &root))
        (void)first_visit(search, namespace, root);
    for (struct dirent *entry; (entry = readdir(proc)) != NULL;) {
        if (!parse_number(entry->d_name, "", &pid))
            continue;
        snprintf(path, sizeof path, "/proc/%lu", pid);
        if (!file_system(path, &namespace, &root) || !first_visit(search, namespace, root))
            continue;
        snprintf(path, sizeof path, "/proc/%lu/root", pid);
        visit_root(search, path);
    }
    closedir(proc);
}

void bbf_conn_discover(void *ctx, void (*found)(void *ctx, pid_t pid, uid_t uid, const char *path))
{
    struct search *search = calloc(1, sizeof *search);
    char dir[BBF_SOCKDIR_PATH];
    uid_t uid = geteuid();
    const char *base;

    if (search == NULL)
        return;
    search->ctx = ctx;
    search->found = found;
    for (unsigned i = 0; (base = bbf_sockdir_base(i)) != NULL; i++) {
        int n = snprintf(dir, sizeof dir, "%s/bbflow-%u", base, (unsigned)uid);
        if (base[0] != '\0' && n > 0 && (size_t)n < sizeof dir)
            visit_folder(search, dir, uid);
        if (base[0] != '\0' && uid == 0)
            visit_all_users(search, base, false);
    }
    /* A login shell sets $XDG_RUNTIME_DIR; su and cron do not. Look in the user's runtime folder in
     * either case. */
    snprintf(dir, sizeof dir, "/run/user/%u/bbflow-%u", (unsigned)uid, (unsigned)uid);
    visit_folder(search, dir, uid);
    if (uid == 0)
        visit_root(search, "");
    visit_containers(search);
    free(search);
}
