/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/sockdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/err.h"

const char *bbf_sockdir_base(unsigned i)
{
    const char *runtime;

    switch (i) {
    case 0:
        runtime = getenv("XDG_RUNTIME_DIR");
        return runtime != NULL && runtime[0] == '/' ? runtime : "";
    case 1:
        return "/tmp";
    case 2:
        return "/dev/shm";
    default:
        return NULL;
    }
}

static int failed(const char *path, int error, char *why, size_t why_size)
{
    snprintf(why, why_size, "%s: %s", path, strerror(error));
    if (error == ENOENT)
        return BBF_ENOTFOUND;
    return error == EACCES || error == EPERM || error == EROFS ? BBF_EPERMISSION : BBF_EIO;
}

/* Opens without following a symlink and checks the opened file, because the name may lead elsewhere
 * later. */
static int open_checked(const char *path, uid_t uid, int *fd, char *why, size_t why_size)
{
    struct stat st;

    *fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0 && (errno == ELOOP || errno == ENOTDIR)) {
        snprintf(why, why_size,
                 "%s: not a folder but a symlink or a file (remove it, or name another folder by "
                 "socket=)",
                 path);
        return BBF_EPERMISSION;
    }
    if (*fd < 0)
        return failed(path, errno, why, why_size);
    if (fstat(*fd, &st) != 0)
        return failed(path, errno, why, why_size);
    if (st.st_uid != uid) {
        snprintf(why, why_size,
                 "%s: belongs to uid %u, not to %u (remove it, or name another folder by socket=)",
                 path, (unsigned)st.st_uid, (unsigned)uid);
        return BBF_EPERMISSION;
    }
    if ((st.st_mode & 0777) != 0700) {
        snprintf(why, why_size, "%s: mode is %04o, must be 0700 (chmod 700 or remove it)", path,
                 (unsigned)(st.st_mode & 0777));
        return BBF_EPERMISSION;
    }
    return BBF_OK;
}

int bbf_sockdir_check(const char *path, uid_t uid, char *why, size_t why_size)
{
    int fd;
    int err = open_checked(path, uid, &fd, why, why_size);

    if (fd >= 0)
        close(fd);
    return err;
}

int bbf_sockdir_make(const char *base, pid_t pid, char path[BBF_SOCKET_PATH], char *why,
                     size_t why_size)
{
    char dir[BBF_SOCKDIR_PATH];
    uid_t uid = geteuid();
    int n = snprintf(dir, sizeof dir, "%s/bbflow-%u", base, (unsigned)uid);
    int m = n < 0 || (size_t)n >= sizeof dir
                ? n
                : snprintf(path, BBF_SOCKET_PATH, "%s/%ld.sock", dir, (long)pid);

    if (n < 0 || m < 0 || (size_t)n >= sizeof dir || m >= (int)BBF_SOCKET_PATH) {
        snprintf(why, why_size, "%s: path of the socket would exceed %d bytes", base,
                 (int)BBF_SOCKET_PATH - 1);
        return BBF_ERANGE;
    }
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) {
        int err = failed(dir, errno, why, why_size);
        return err == BBF_ENOTFOUND ? BBF_EIO : err;
    }
    return bbf_sockdir_check(dir, uid, why, why_size);
}

int bbf_socket_probe(const char *path, struct ucred *peer)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t len = sizeof *peer;
    int result = BBF_OK;

    if (strlen(path) >= sizeof address.sun_path)
        return BBF_ERANGE;
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return BBF_EIO;
    memset(peer, 0, sizeof *peer);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &len) != 0)
            memset(peer, 0, sizeof *peer);
    } else if (errno == ECONNREFUSED) {
        result = BBF_ECLOSED;
    } else if (errno != EAGAIN) { /* EAGAIN: a process listens, but its queue is full */
        result = errno == ENOENT ? BBF_ENOTFOUND : errno == EACCES ? BBF_EPERMISSION : BBF_EIO;
    }
    close(fd);
    return result;
}
