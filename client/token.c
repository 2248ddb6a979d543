/* SPDX-License-Identifier: Apache-2.0 */
#include "client/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/client.h"

/* Why the open file is not a secret; NULL: it is. */
static const char *fault(int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode))
        return "it is no regular file";
    if ((st.st_mode & 077) != 0)
        return "others may read it, so it is no secret; chmod 600, and let the JVM make a new one";
    return NULL;
}

int bbf_token_file_read(const char *path, uint8_t token[BBF_TOKEN_FILE_MAX], size_t *len)
{
    uint8_t text[BBF_TOKEN_FILE_MAX + 3]; /* CR LF, and one byte to detect a longer file */
    ssize_t n = 1;

    *len = 0;
    /* So that open(2) does not wait for the writer of a FIFO. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return bbf_fail(errno == EACCES ? BBF_EXIT_PERMISSION : BBF_EXIT_FAILED,
                        "cannot read the token file %s: %s", path, strerror(errno));
    const char *wrong = fault(fd);
    while (wrong == NULL && n > 0 && *len < sizeof text) {
        n = read(fd, text + *len, sizeof text - *len);
        if (n < 0)
            wrong = strerror(errno);
        else
            *len += (size_t)n;
    }
    close(fd);
    if (wrong == NULL && *len > 0 && text[*len - 1] == '\n')
        *len -= *len > 1 && text[*len - 2] == '\r' ? 2 : 1;
    if (wrong == NULL && (*len < 1 || *len > BBF_TOKEN_FILE_MAX))
        wrong = "it holds no token of 1 to 4096 bytes";
    if (wrong == NULL && (memchr(text, '\n', *len) != NULL || memchr(text, '\r', *len) != NULL))
        wrong = "it holds more than one line";
    if (wrong == NULL)
        memcpy(token, text, *len);
    explicit_bzero(text, sizeof text);
    return wrong == NULL ? BBF_EXIT_OK
                         : bbf_fail(BBF_EXIT_PERMISSION, "the token file %s: %s", path, wrong);
}
