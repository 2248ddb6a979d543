/* SPDX-License-Identifier: Apache-2.0 */
#include "core/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/err.h"

enum { MOST_LINKS = 40 }; /* the kernel's limit */

struct walk {
    int at, root; /* root: -1 for the process's own */
    unsigned links;
    bool has_foreign; /* a link of this other user was followed */
    uid_t foreign;
    const char *path; /* the path that the caller asked for */
    char *why;
    size_t why_size;
    char rest[2 * PATH_MAX]; /* the part of the path that is left */
    char real[PATH_MAX];     /* the path of w->at, from the root or the working folder */
};

static int failed(const struct walk *w, int error)
{
    snprintf(w->why, w->why_size, "%s: %s", w->path, strerror(error));
    errno = error;
    if (error == ENOENT || error == ENOTDIR)
        return BBF_ENOTFOUND;
    return error == EACCES || error == EPERM ? BBF_EPERMISSION : BBF_EIO;
}

static int refused(const struct walk *w, const char *name, uid_t uid)
{
    snprintf(w->why, w->why_size,
             "%s: '%s' on the way is a symlink of uid %u and is not followed; name the folder that "
             "it leads to",
             w->path, name, (unsigned)uid);
    errno = ELOOP;
    return BBF_EPERMISSION;
}

bool bbf_folder_trusts_link(const struct stat *folder, const struct stat *link)
{
    bool ours = link->st_uid == geteuid() || link->st_uid == 0;
    /* Where everybody may write, another user may have made a second name of one of our links. */
    if ((folder->st_mode & S_IWOTH) != 0)
        return ours && link->st_nlink == 1;
    return ours || link->st_uid == folder->st_uid;
}

/* Go to the folder at which absolute paths begin. */
static int go_to_root(struct walk *w)
{
    int fd = w->root >= 0 ? fcntl(w->root, F_DUPFD_CLOEXEC, 3)
                          : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return failed(w, errno);
    if (w->at >= 0)
        close(w->at);
    w->at = fd;
    w->real[0] = '\0';
    return BBF_OK;
}

/* Follow `link`, an open symlink (O_PATH) named `name` in w->at: put its target before the rest. */
static int follow(struct walk *w, int link, const char *name)
{
    char to[PATH_MAX];
    struct stat here, st;
    if (fstat(w->at, &here) != 0 || fstat(link, &st) != 0)
        return failed(w, errno);
    if (!S_ISLNK(st.st_mode))
        return failed(w, ENOTDIR);
    if (++w->links > MOST_LINKS)
        return failed(w, ELOOP);
    if (!bbf_folder_trusts_link(&here, &st))
        return refused(w, name, st.st_uid);
    if (st.st_uid != geteuid() && st.st_uid != 0) {
        w->has_foreign = true;
        w->foreign = st.st_uid;
    }
    ssize_t n = readlinkat(link, "", to, sizeof to);
    if (n < 0)
        return failed(w, errno);
    size_t more = strlen(w->rest);
    if (n == 0 || (size_t)n >= sizeof to || (size_t)n + 1 + more >= sizeof w->rest)
        return failed(w, n == 0 ? ENOENT : ENAMETOOLONG);
    memmove(w->rest + n + 1, w->rest, more + 1);
    memcpy(w->rest, to, (size_t)n);
    w->rest[n] = '/';
    return to[0] == '/' ? go_to_root(w) : BBF_OK;
}

static bool is_root(const struct walk *w)
{
    struct stat here, root;
    return w->root >= 0 && fstat(w->at, &here) == 0 && fstat(w->root, &root) == 0 &&
           here.st_dev == root.st_dev && here.st_ino == root.st_ino;
}

/* Go from w->at to its folder `name`. */
static int note_step(struct walk *w, const char *name)
{
    char *end = w->real + strlen(w->real), *slash = strrchr(w->real, '/');
    if (strcmp(name, "..") == 0 && slash != NULL)
        *slash = '\0';
    else if (snprintf(end, sizeof w->real - (size_t)(end - w->real), "/%s", name) >=
             (int)(sizeof w->real - (size_t)(end - w->real)))
        return failed(w, ENAMETOOLONG);
    return BBF_OK;
}

/* Walk one part of the path. */
static int step(struct walk *w, const char *name)
{
    if (strcmp(name, ".") == 0 || (strcmp(name, "..") == 0 && is_root(w)))
        return BBF_OK;
    /* O_DIRECTORY makes an automounter mount it; with this flag a symlink gives ENOTDIR, here and
     * below. */
    int fd = openat(w->at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        close(w->at);
        w->at = fd;
        return note_step(w, name);
    }
    if (errno != ENOTDIR && errno != ELOOP)
        return failed(w, errno);
    fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return failed(w, errno);
    int err = follow(w, fd, name);
    int cause = errno;
    close(fd);
    errno = cause;
    return err;
}

/* Take the next part from the rest of the path. False: there is none. */
static bool take(struct walk *w, char name[NAME_MAX + 1], int *err)
{
    size_t begin = strspn(w->rest, "/"), len = strcspn(w->rest + begin, "/");
    if (len > NAME_MAX)
        *err = failed(w, ENAMETOOLONG);
    if (len == 0 || len > NAME_MAX)
        return false;
    memcpy(name, w->rest + begin, len);
    name[len] = '\0';
    memmove(w->rest, w->rest + begin + len, strlen(w->rest + begin + len) + 1);
    return true;
}

/* A link of another user must not lead root to a folder of a third user. */
static int check_end(const struct walk *w)
{
    struct stat st;
    if (!w->has_foreign || geteuid() != 0)
        return BBF_OK;
    if (fstat(w->at, &st) != 0)
        return failed(w, errno);
    return st.st_uid == w->foreign ? BBF_OK : refused(w, w->path, w->foreign);
}

static int walk(struct walk *w)
{
    char name[NAME_MAX + 1];
    int err = BBF_OK;
    if (strlen(w->path) >= PATH_MAX)
        return failed(w, ENAMETOOLONG);
    strcpy(w->rest, w->path);
    if (w->root >= 0 || w->path[0] == '/') {
        err = go_to_root(w);
    } else {
        w->at = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        err = w->at < 0 ? failed(w, errno) : BBF_OK;
    }
    while (err == BBF_OK && take(w, name, &err))
        err = step(w, name);
    return err == BBF_OK ? check_end(w) : err;
}

static void leave(const struct walk *w)
{
    int cause = errno;
    if (w->at >= 0)
        close(w->at);
    errno = cause;
}

int bbf_folder_open(int root, const char *path, int *folder, char *why, size_t why_size)
{
    struct walk w = {.at = -1, .root = root, .path = path, .why = why, .why_size = why_size};
    int err = walk(&w);
    *folder = err == BBF_OK ? w.at : -1;
    if (err != BBF_OK)
        leave(&w);
    return err;
}

int bbf_folder_real(int root, const char *path, char real[PATH_MAX], char *why, size_t why_size)
{
    struct walk w = {.at = -1, .root = root, .path = path, .why = why, .why_size = why_size};
    int err = walk(&w);
    snprintf(real, PATH_MAX, "%s", err == BBF_OK ? w.real : "");
    leave(&w);
    return err;
}
