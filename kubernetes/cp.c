/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubernetes/cp.c - cp FILE... TARGET: the only program that an init container of our image needs;
 * the OpenTelemetry operator calls it by this name. TARGET is a folder, or with one FILE also a
 * file. A file appears whole, by a rename, because a JVM that runs may have an older one mapped. No
 * option. Exit 1: the message names the file and the cause.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(const char *path)
{
    fprintf(stderr, "cp: %s: %s\n", path, strerror(errno));
    return 1;
}

/* False: errno; *at is the file that it is about. */
static int copy_bytes(int in, int out, const char **at, const char *from, const char *to)
{
    static char bytes[1 << 16];
    ssize_t n;
    *at = from;
    while ((n = read(in, bytes, sizeof bytes)) > 0) {
        for (ssize_t done = 0, m; done < n; done += m) {
            *at = to;
            if ((m = write(out, bytes + done, (size_t)(n - done))) < 0)
                return 0;
        }
        *at = from;
    }
    return n == 0;
}

static int copy(const char *from, const char *to)
{
    char part[PATH_MAX];
    struct stat st;
    const char *at = to;
    if ((size_t)snprintf(part, sizeof part, "%s.part", to) >= sizeof part) {
        errno = ENAMETOOLONG;
        return failed(to);
    }
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0 || fstat(in, &st) != 0)
        return failed(from);
    (void)unlink(part);
    int out = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int good =
        out >= 0 && copy_bytes(in, out, &at, from, to) && fchmod(out, st.st_mode & 0777) == 0;
    if (out >= 0 && close(out) != 0)
        good = 0;
    if (good && rename(part, to) == 0)
        return close(in);
    int cause = errno;
    (void)unlink(part);
    errno = cause;
    return failed(at);
}

int main(int argc, char **argv)
{
    struct stat st;
    const char *target = argc > 2 ? argv[argc - 1] : NULL;
    int folder = target != NULL && stat(target, &st) == 0 && S_ISDIR(st.st_mode);
    int result = 0;
    if (target == NULL || (argc > 3 && !folder)) {
        fputs("usage: cp FILE... TARGET\n", stderr);
        return 1;
    }
    for (int i = 1; i < argc - 1; i++) {
        char to[PATH_MAX];
        const char *slash = strrchr(argv[i], '/');
        int n = snprintf(to, sizeof to, folder ? "%s/%s" : "%s", target,
                         slash != NULL ? slash + 1 : argv[i]);
        if (n < 0 || (size_t)n >= sizeof to) {
            errno = ENAMETOOLONG;
            return failed(target);
        }
        result |= copy(argv[i], to);
    }
    return result;
}
