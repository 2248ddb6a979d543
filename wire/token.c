/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/err.h"
#include "core/file.h"

enum { SECRET = 32 };

static int failed(const char *path, char *why, size_t why_size)
{
    int err = errno == EACCES || errno == EPERM || errno == ELOOP ? BBF_EPERMISSION : BBF_EIO;

    snprintf(why, why_size, "token file %s: %s", path,
             errno == ELOOP ? "is a symlink" : strerror(errno));
    return err;
}

static int refused(const char *path, const char *what, char *why, size_t why_size)
{
    snprintf(why, why_size, "token file %s: %s", path, what);
    return BBF_EPERMISSION;
}

/* Fill all bytes, or return false. getrandom(2) gives up to 256 bytes at once; it may be
 * interrupted. */
static bool random_bytes(uint8_t *out, size_t n)
{
    ssize_t got;

    do
        got = getrandom(out, n, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)n;
}

/* RFC 4648 5, without padding: 43 characters of 32 bytes. */
static size_t base64url(uint8_t *out, const uint8_t *in, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    unsigned have = 0;
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        bits = bits << 8 | in[i];
        for (have += 8; have >= 6; have -= 6)
            out[len++] = (uint8_t)digits[bits >> (have - 6) & 63];
    }
    if (have > 0)
        out[len++] = (uint8_t)digits[bits << (6 - have) & 63];
    return len;
}

bool bbf_token_new(char text[BBF_TOKEN_TEXT])
{
    uint8_t secret[SECRET];

    if (!random_bytes(secret, sizeof secret))
        return false;
    text[base64url((uint8_t *)text, secret, sizeof secret)] = '\0';
    explicit_bzero(secret, sizeof secret);
    return true;
}

/* The rules for a token's file (docs/btrace-wire.md 2.1). Returns the violated rule; NULL: none. */
static const char *fault(const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return "is no regular file";
    if (st->st_uid != geteuid())
        return "belongs to another user";
    if ((st->st_mode & 077) != 0)
        return "is open to others; chmod 600";
    if ((st->st_mode & 0400) == 0)
        return "is not readable for its owner";
    return NULL;
}

static int read_token(struct bbf_token *token, int fd, char *why, size_t why_size)
{
    uint8_t text[BBF_TOKEN_MAX + 2];
    struct stat st;
    size_t len = 0;
    ssize_t n = 1;

    if (fstat(fd, &st) != 0)
        return failed(token->path, why, why_size);
    const char *wrong = fault(&st);
    while (wrong == NULL && len < sizeof text && n > 0) {
        n = read(fd, text + len, sizeof text - len);
        if (n < 0)
            return failed(token->path, why, why_size);
        len += (size_t)n;
    }
    if (wrong == NULL && len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    if (wrong == NULL && (len < 1 || len > BBF_TOKEN_MAX))
        wrong = "holds no token of 1 to 4096 bytes";
    if (wrong == NULL && (memchr(text, '\n', len) != NULL || memchr(text, '\r', len) != NULL))
        wrong = "holds more than one line";
    if (wrong == NULL) {
        memcpy(token->bytes, text, len);
        token->len = len;
        token->dev = st.st_dev;
        token->ino = st.st_ino;
    }
    explicit_bzero(text, sizeof text);
    return wrong == NULL ? BBF_OK : refused(token->path, wrong, why, why_size);
}

/* The file is new and empty. */
static int write_token(struct bbf_token *token, int fd, char *why, size_t why_size)
{
    char secret[BBF_TOKEN_TEXT];
    struct stat st;

    token->made = true;
    if (fstat(fd, &st) != 0)
        return failed(token->path, why, why_size);
    token->dev = st.st_dev;
    token->ino = st.st_ino;
    if (fchmod(fd, 0600) != 0 || !bbf_token_new(secret))
        return failed(token->path, why, why_size);
    token->len = strlen(secret);
    memcpy(token->bytes, secret, token->len);
    explicit_bzero(secret, sizeof secret);
    if (write(fd, token->bytes, token->len) != (ssize_t)token->len)
        return failed(token->path, why, why_size);
    return BBF_OK;
}

static int create(struct bbf_token *token, char *why, size_t why_size)
{
    char reason[PATH_MAX + 300];
    int fd, err = bbf_file_make(token->path, &fd, reason, sizeof reason);

    if (err != BBF_OK) {
        snprintf(why, why_size, "token file %s", reason);
        return err == BBF_EPERMISSION ? err : BBF_EIO;
    }
    err = write_token(token, fd, why, why_size);
    close(fd);
    if (err != BBF_OK) {
        bbf_token_remove(token);
        bbf_token_wipe(token);
    }
    return err;
}

int bbf_token_open(struct bbf_token *token, const char *path, char *why, size_t why_size)
{
    memset(token, 0, sizeof *token);
    if (strlen(path) >= sizeof token->path) {
        errno = ENAMETOOLONG;
        return failed(path, why, why_size);
    }
    strcpy(token->path, path);
    /* So that open(2) does not wait for the writer of a FIFO that another user put there. */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return create(token, why, why_size);
    if (fd < 0)
        return failed(path, why, why_size);
    int err = read_token(token, fd, why, why_size);
    close(fd);
    return err;
}

int bbf_token_make(struct bbf_token *token, const char *dir, char *why, size_t why_size)
{
    uint8_t name[12], text[17];

    memset(token, 0, sizeof *token);
    if (!random_bytes(name, sizeof name))
        return failed(dir, why, why_size);
    text[base64url(text, name, sizeof name)] = '\0';
    if (snprintf(token->path, sizeof token->path, "%s/btrace-%s.token", dir, (char *)text) >=
        (int)sizeof token->path) {
        errno = ENAMETOOLONG;
        return failed(dir, why, why_size);
    }
    return create(token, why, why_size);
}

void bbf_token_remove(const struct bbf_token *token)
{
    struct stat st;

    if (token->made && lstat(token->path, &st) == 0 && st.st_dev == token->dev &&
        st.st_ino == token->ino)
        (void)unlink(token->path);
}

void bbf_token_wipe(struct bbf_token *token)
{
    explicit_bzero(token->bytes, sizeof token->bytes);
    token->len = 0;
}

bool bbf_token_equal(const uint8_t *token, size_t token_len, const uint8_t *given, size_t len)
{
    volatile size_t wrong =
        token_len ^ len; /* volatile: the compiler must not stop once it is not 0 */

    for (size_t i = 0; i < len; i++)
        wrong |= (size_t)(token[token_len > 0 ? i % token_len : 0] ^ given[i]);
    return wrong == 0 && len > 0;
}
