/* SPDX-License-Identifier: Apache-2.0 */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/err.h"
#include "core/folder.h"

enum {
    MODE = 0600,
    NEW = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
    OLD = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
    MOST_NAMES = 16, /* tried for a temporary file, at most */
    MOST_LINKS = 8,  /* at a log's name */
    PIECE = 1 << 18  /* bytes between two looks at the deadline */
};

/* ---- messages ---- */

static int code_of(int error)
{
    if (error == ENOENT || error == ENOTDIR)
        return BBF_ENOTFOUND;
    return error == EACCES || error == EPERM || error == EROFS ? BBF_EPERMISSION : BBF_EIO;
}

/* EPERM is reserved for files that another user put there (file.h). The kernel's own EPERM (an
 * immutable file or folder) becomes EACCES: the user can mend both. */
static int own_fault(int error)
{
    return error == EPERM ? EACCES : error;
}

static int failed(const char *path, int error, char *why, size_t why_size)
{
    snprintf(why, why_size, "%s: %s", path, strerror(error));
    errno = own_fault(error);
    return code_of(error);
}

static const char *kind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "file";
    case S_IFLNK:
        return "symlink";
    case S_IFIFO:
        return "FIFO";
    case S_IFDIR:
        return "folder";
    case S_IFSOCK:
        return "socket";
    default:
        return "device";
    }
}

/* errno EEXIST: it belongs to the user. EPERM: it belongs to another user, or has a second name,
 * which another user may have given it. */
static int refused(const char *path, const struct stat *st, char *why, size_t why_size)
{
    static const char remedy[] = "and is left as it is; remove it, or name another file";
    bool names = !S_ISDIR(st->st_mode) && st->st_nlink > 1;
    bool own = st->st_uid == geteuid() && !names && !S_ISREG(st->st_mode);
    if (names)
        snprintf(why, why_size, "%s: a %s of uid %u with %lu names (hard links) is there %s", path,
                 kind(st->st_mode), (unsigned)st->st_uid, (unsigned long)st->st_nlink, remedy);
    else if (own)
        snprintf(why, why_size, "%s: a %s is there, not a regular file, %s", path,
                 kind(st->st_mode), remedy);
    else
        snprintf(why, why_size, "%s: a %s of uid %u is there, not a file of uid %u, %s", path,
                 kind(st->st_mode), (unsigned)st->st_uid, (unsigned)geteuid(), remedy);
    errno = own ? EEXIST : EPERM;
    return BBF_EPERMISSION;
}

/* ---- names ---- */

/* "/a/b" -> "/a", "/b" -> "/", "b" -> "."; a path of PATH_MAX bytes and more is cut. */
static void folder_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    snprintf(out, PATH_MAX, "%.*s", len > 0 ? (int)len : 1, len > 0 ? path : ".");
}

/* Open the folder of `path` and find the last part of the path. */
static int open_folder(const char *path, int *folder, char name[NAME_MAX + 1], char *why,
                       size_t why_size)
{
    char text[PATH_MAX], reason[PATH_MAX + 200];
    const char *slash = strrchr(path, '/'), *last = slash != NULL ? slash + 1 : path;
    *folder = -1;
    if (strlen(last) > NAME_MAX || strlen(path) >= PATH_MAX)
        return failed(path, ENAMETOOLONG, why, why_size);
    if (last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return failed(path, EISDIR, why, why_size);
    strcpy(name, last);
    folder_of(path, text);
    int err = bbf_folder_open(-1, text, folder, reason, sizeof reason);
    if (err != BBF_OK)
        snprintf(why, why_size, "%s: its folder %s", path, reason);
    return err;
}

/* The descriptor's number, if `path` is /dev/stdout or similar, which open(2) would follow to the
 * descriptor's target. */
static bool is_stream(const char *path, int *number)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0) {
        *number = strcmp(path, "/dev/stdout") == 0 ? STDOUT_FILENO : STDERR_FILENO;
        return true;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *digits = path + strlen(folders[i]);
        if (strncmp(path, folders[i], strlen(folders[i])) != 0)
            continue;
        size_t n = strspn(digits, "0123456789");
        *number = atoi(digits);
        return n > 0 && n < 8 && digits[n] == '\0';
    }
    return false;
}

static int open_stream(const char *path, int number, int *fd, char *why, size_t why_size)
{
    *fd = fcntl(number, F_DUPFD_CLOEXEC, 3);
    return *fd < 0 ? failed(path, errno, why, why_size) : BBF_OK;
}

/* Is it /dev/null, /dev/zero or /dev/full? Writing to them never blocks. */
static bool is_sink(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && major(st->st_rdev) == 1 &&
           (minor(st->st_rdev) == 3 || minor(st->st_rdev) == 5 || minor(st->st_rdev) == 7);
}

/* Without random bytes O_EXCL still keeps others out; they could only make it fail. */
static void temporary_name(char *out, size_t size)
{
    static const char prefix[] = ".bbflow-";
    uint64_t bits[2];
    ssize_t n;
    do
        n = getrandom(bits, sizeof bits, GRND_NONBLOCK);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof bits) {
        bits[0] = bbf_monotonic_ns();
        bits[1] = (uint64_t)getpid() << 32 ^ (uintptr_t)out;
    }
    snprintf(out, size, "%s%016llx%016llx", prefix, (unsigned long long)bits[0],
             (unsigned long long)bits[1]);
}

/* ---- the file ---- */

/* 0 or errno. */
static int make_temporary(struct bbf_file *file)
{
    for (int i = 0; i < MOST_NAMES; i++) {
        temporary_name(file->temporary, sizeof file->temporary);
        file->fd = openat(file->folder, file->temporary, NEW, MODE);
        if (file->fd >= 0 || errno != EEXIST)
            break;
    }
    if (file->fd < 0)
        return errno;
    if (fstat(file->fd, &file->made) != 0)
        return errno;
    /* Needed with a umask of 0777. Errors are ignored, because the file system may not support
     * modes. */
    if ((file->made.st_mode & MODE) != MODE)
        (void)fchmod(file->fd, MODE);
    return 0;
}

/* Is the target missing, or a regular file of our own? Own files have the owner of a file that we
 * create: on a file system that squashes users this is not the effective user. */
static int check_target(const struct bbf_file *file, char *why, size_t why_size)
{
    struct stat st;
    if (fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? BBF_OK : failed(file->path, errno, why, why_size);
    if (S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == file->made.st_uid))
        return BBF_OK;
    return refused(file->path, &st, why, why_size);
}

/* path: the file to write in the folder, or NULL. */
static int closed_folder(const char *path, const char *folder, int cause, char *why,
                         size_t why_size)
{
    snprintf(why, why_size, "%s%s folder %s cannot be written to: %s", path != NULL ? path : "",
             path != NULL ? ": its" : "the", folder, strerror(cause));
    errno = own_fault(cause);
    return code_of(cause);
}

/* No file can be created in the folder (`cause`), but the target may exist. */
static int open_in_place(struct bbf_file *file, int cause, char *why, size_t why_size)
{
    struct stat st;
    bool there = fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    file->in_place = true;
    file->keeps = there && is_sink(&st);
    if (there && !file->keeps &&
        (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink > 1))
        return refused(file->path, &st, why, why_size);
    if (there)
        file->fd = openat(file->folder, file->name, OLD);
    if (there && file->fd < 0)
        return failed(file->path, errno, why, why_size);
    if (!there) {
        char folder[PATH_MAX];
        folder_of(file->path, folder);
        return closed_folder(file->path, folder, cause, why, why_size);
    }
    /* It may have been replaced since it was checked. */
    if (fstat(file->fd, &file->made) != 0)
        return failed(file->path, errno, why, why_size);
    return file->made.st_dev == st.st_dev && file->made.st_ino == st.st_ino &&
                   file->made.st_nlink == 1
               ? BBF_OK
               : refused(file->path, &file->made, why, why_size);
}

static void close_all(struct bbf_file *file)
{
    int cause = errno;
    if (file->fd >= 0)
        close(file->fd);
    if (file->folder >= 0)
        close(file->folder);
    file->fd = file->folder = -1;
    errno = cause;
}

static void remove_temporary(const struct bbf_file *file)
{
    int cause = errno;
    if (!file->in_place && file->temporary[0] != '\0')
        (void)unlinkat(file->folder, file->temporary, 0);
    errno = cause;
}

static int begin_in_folder(struct bbf_file *file, char *why, size_t why_size)
{
    struct stat st;
    if (fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_sink(&st))
        return open_in_place(file, EACCES, why, why_size);
    int cause = make_temporary(file);
    if (cause == EACCES || cause == EPERM || cause == EROFS)
        return open_in_place(file, cause, why, why_size);
    if (cause != 0)
        return failed(file->path, cause, why, why_size);
    return check_target(file, why, why_size);
}

int bbf_file_begin(struct bbf_file *file, const char *path, char *why, size_t why_size)
{
    uint64_t deadline_ns = file->deadline_ns;
    int number;
    memset(file, 0, sizeof *file);
    file->path = path;
    file->fd = file->folder = -1;
    file->deadline_ns = deadline_ns;
    if (is_stream(path, &number)) {
        file->in_place = file->keeps = true;
        return open_stream(path, number, &file->fd, why, why_size);
    }
    int err = open_folder(path, &file->folder, file->name, why, why_size);
    if (err == BBF_OK)
        err = begin_in_folder(file, why, why_size);
    if (err != BBF_OK) {
        if (file->fd >= 0)
            remove_temporary(file);
        close_all(file);
    }
    return err;
}

ssize_t bbf_file_write_some(int fd, const char *data, size_t len)
{
    sigset_t limit, before, pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigemptyset(&pending);
    bool blocked = pthread_sigmask(SIG_BLOCK, &limit, &before) == 0;
    (void)sigpending(&pending);
    ssize_t n = write(fd, data, len);
    int cause = errno;
    /* Leave a signal that was pending before. */
    if (blocked && n < 0 && cause == EFBIG && sigismember(&pending, SIGXFSZ) == 0)
        (void)sigtimedwait(&limit, NULL, &(struct timespec){0});
    if (blocked)
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = cause;
    return n;
}

static bool is_late(struct bbf_file *file)
{
    if (file->deadline_ns != 0 && file->error == 0 && bbf_monotonic_ns() >= file->deadline_ns)
        file->error = ETIMEDOUT;
    return file->error == ETIMEDOUT;
}

int bbf_file_write(struct bbf_file *file, const char *data, size_t len)
{
    if (file->in_place && !file->keeps) { /* only now, because a check must not empty it */
        if (ftruncate(file->fd, 0) != 0)
            file->error = errno;
        file->keeps = true;
    }
    while (len > 0 && file->error == 0) {
        if (is_late(file))
            break;
        ssize_t n = bbf_file_write_some(file->fd, data, len < PIECE ? len : PIECE);
        if (n < 0 && errno == EAGAIN) /* a non-blocking stream: wait until it has room, at most 100
                                         ms at a time */
            (void)poll(&(struct pollfd){.fd = file->fd, .events = POLLOUT}, 1, 100);
        else if (n < 0 && errno != EINTR)
            file->error = errno;
        data += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return file->error == 0 ? BBF_OK : file->error == ETIMEDOUT ? BBF_ETIMEOUT : BBF_EIO;
}

/* Does the target's name now lead to the file that we wrote, or to one that another process of the
 * same user wrote at the same time? The folder may belong to another user, who can replace the
 * file. */
static int rename_onto(const struct bbf_file *file, char *why, size_t why_size)
{
    struct stat st;
    int err = check_target(file, why, why_size);
    if (err != BBF_OK)
        return err;
    if (renameat(file->folder, file->temporary, file->folder, file->name) != 0)
        return failed(file->path, errno, why, why_size);
    if (fstatat(file->folder, file->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_dev == file->made.st_dev && st.st_ino == file->made.st_ino)
        return BBF_OK;
    if (check_target(file, why, why_size) == BBF_OK)
        return BBF_OK;
    snprintf(why, why_size,
             "%s: another user replaced it while it was written; name a file in a folder that "
             "others cannot write to",
             file->path);
    errno = EPERM;
    return BBF_EPERMISSION;
}

int bbf_file_end(struct bbf_file *file, int err, char *why, size_t why_size)
{
    if (err == BBF_OK)
        err = bbf_file_write(file, "", 0); /* for an empty report in place */
    if (file->fd >= 0 && close(file->fd) != 0 && file->error == 0) {
        file->error = errno;
        err = err == BBF_OK ? BBF_EIO : err;
    }
    file->fd = -1;
    if (err == BBF_OK &&
        is_late(file)) /* the caller no longer waits for it and has reported this */
        err = BBF_ETIMEOUT;
    if (file->error != 0)
        snprintf(why, why_size, "%s: %s%s", file->path,
                 file->error == ETIMEDOUT ? "its time was over before all was written"
                                          : strerror(file->error),
                 file->in_place && S_ISREG(file->made.st_mode) ? "; it is incomplete now" : "");
    else if (err == BBF_OK && !file->in_place)
        err = rename_onto(file, why, why_size);
    if (err != BBF_OK)
        remove_temporary(file);
    close_all(file);
    if (file->error != 0)
        errno = file->error;
    return err;
}

int bbf_file_save(const char *path, const char *data, size_t len, char *why, size_t why_size)
{
    struct bbf_file file = {.deadline_ns = 0};
    int err = bbf_file_begin(&file, path, why, why_size);
    if (err != BBF_OK)
        return err;
    return bbf_file_end(&file, bbf_file_write(&file, data, len), why, why_size);
}

int bbf_file_check(const char *path, char *why, size_t why_size)
{
    struct bbf_file file = {.deadline_ns = 0};
    int err = bbf_file_begin(&file, path, why, why_size);
    if (err == BBF_OK)
        (void)bbf_file_end(&file, BBF_ECLOSED, NULL, 0);
    return err;
}

int bbf_file_check_folder(const char *path, char *why, size_t why_size)
{
    struct bbf_file file = {.fd = -1};
    char reason[PATH_MAX + 200];
    int err = bbf_folder_open(-1, path, &file.folder, reason, sizeof reason);
    if (err != BBF_OK) {
        snprintf(why, why_size, "the folder %s", reason);
        return err;
    }
    int cause = make_temporary(&file);
    if (file.fd >= 0)
        remove_temporary(&file);
    close_all(&file);
    return cause == 0 ? BBF_OK : closed_folder(NULL, path, cause, why, why_size);
}

/* ---- a log ---- */

/* On a file system that squashes users: does a file that we create there belong to `uid`? */
static bool gives_files_to(int folder, uid_t uid)
{
    struct bbf_file probe = {.fd = -1, .folder = folder};
    bool same = make_temporary(&probe) == 0 && probe.made.st_uid == uid;
    if (probe.fd >= 0) {
        remove_temporary(&probe);
        close(probe.fd);
    }
    return same;
}

static bool takes_lines(int folder, const struct stat *st)
{
    if (is_sink(st))
        return true;
    if (!S_ISREG(st->st_mode) || st->st_nlink != 1)
        return false;
    return st->st_uid == geteuid() || (st->st_uid == 0 && (st->st_mode & S_IWOTH) == 0) ||
           gives_files_to(folder, st->st_uid);
}

/* The log's name is a symlink: where it leads, in `to`; false: it is not followed. */
static bool read_link(int folder, const char *name, const char *path, char to[PATH_MAX])
{
    char text[PATH_MAX];
    struct stat here, link;
    if (fstat(folder, &here) != 0 || (here.st_mode & S_IWOTH) != 0 ||
        fstatat(folder, name, &link, AT_SYMLINK_NOFOLLOW) != 0 ||
        !bbf_folder_trusts_link(&here, &link))
        return false;
    ssize_t n = readlinkat(folder, name, text, sizeof text - 1);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *slash = strrchr(path, '/');
    int len = text[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - path);
    return snprintf(to, PATH_MAX, "%.*s%s", len, path, text) < PATH_MAX;
}

static int append_in(int folder, const char *name, const char *path, int *fd, char *why,
                     size_t why_size)
{
    struct stat st;
    bool there = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && !takes_lines(folder, &st))
        return refused(path, &st, why, why_size);
    *fd = openat(folder, name, OLD | O_APPEND | (there ? 0 : O_CREAT), MODE);
    if (*fd < 0)
        return failed(path, errno, why, why_size);
    if (fstat(*fd, &st) == 0 && takes_lines(folder, &st)) {
        if (!there && (st.st_mode & MODE) != MODE) /* a umask of 0777 */
            (void)fchmod(*fd, MODE);
        return BBF_OK;
    }
    close(*fd); /* another process created it meanwhile */
    *fd = -1;
    return refused(path, &st, why, why_size);
}

int bbf_file_append(const char *path, int *fd, char *why, size_t why_size)
{
    char name[NAME_MAX + 1], at[PATH_MAX], to[PATH_MAX];
    int folder, number, err = BBF_OK;
    *fd = -1;
    if (strlen(path) >= sizeof at)
        return failed(path, ENAMETOOLONG, why, why_size);
    strcpy(at, path);
    for (int links = 0; links <= MOST_LINKS; links++) {
        if (is_stream(at, &number))
            return open_stream(at, number, fd, why, why_size);
        err = open_folder(at, &folder, name, why, why_size);
        if (err != BBF_OK)
            return err;
        bool again = read_link(folder, name, at, to);
        if (!again)
            err = append_in(folder, name, at, fd, why, why_size);
        int cause = errno;
        close(folder);
        errno = cause;
        if (!again)
            return err;
        strcpy(at, to);
    }
    return failed(path, ELOOP, why, why_size);
}

int bbf_file_make(const char *path, int *fd, char *why, size_t why_size)
{
    char name[NAME_MAX + 1];
    int folder;
    *fd = -1;
    int err = open_folder(path, &folder, name, why, why_size);
    if (err != BBF_OK)
        return err;
    *fd = openat(folder, name, NEW, MODE);
    int cause = errno;
    close(folder);
    return *fd < 0 ? failed(path, cause, why, why_size) : BBF_OK;
}

/* Look at the file that has the name in the folder: BBF_ENOTFOUND, or BBF_OK where it is a file
 * that may be renamed or replaced. */
static int look_aside(int folder, const char *name, const char *path, char *why, size_t why_size)
{
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? BBF_ENOTFOUND : failed(path, errno, why, why_size);
    bool own = st.st_uid == geteuid() || gives_files_to(folder, st.st_uid);
    if (S_ISREG(st.st_mode) && st.st_nlink == 1 && own)
        return BBF_OK;
    return refused(path, &st, why, why_size);
}

static int rename_aside(int folder, const char *name, const char *path, const char *to, char *why,
                        size_t why_size)
{
    const char *slash = strrchr(to, '/'), *aside = slash != NULL ? slash + 1 : to;
    int err = look_aside(folder, aside, to, why, why_size);
    if (err != BBF_OK && err != BBF_ENOTFOUND)
        return err;
    if (renameat(folder, name, folder, aside) != 0)
        return failed(path, errno, why, why_size);
    return BBF_OK;
}

int bbf_file_set_aside(const char *path, const char *to, char *why, size_t why_size)
{
    char name[NAME_MAX + 1];
    int folder, err = open_folder(path, &folder, name, why, why_size);
    if (err != BBF_OK)
        return err;
    err = look_aside(folder, name, path, why, why_size);
    if (err == BBF_OK)
        err = rename_aside(folder, name, path, to, why, why_size);
    int cause = errno;
    close(folder);
    errno = cause;
    return err == BBF_ENOTFOUND ? BBF_OK : err;
}
