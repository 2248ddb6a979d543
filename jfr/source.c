/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/source.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <minizip/unzip.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/err.h"

enum { PIECE = 1 << 18, GZIP_OR_ZLIB = 15 + 32 };

/* An unpacking: from one descriptor to the other. */
struct unpacking {
    int from, to;
    uint64_t written, max;
    char *why;
    size_t why_size;
    unsigned char in[PIECE], out[PIECE];
};

static int fail(struct unpacking *u, int err, const char *what, const char *reason)
{
    (void)snprintf(u->why, u->why_size, "%s: %s", what, reason);
    return err;
}

static ssize_t read_some(int fd, void *to, size_t len)
{
    ssize_t n;

    do
        n = read(fd, to, len);
    while (n < 0 && errno == EINTR);
    return n;
}

static int put(struct unpacking *u, const void *data, size_t len)
{
    const char *at = data;

    if (len > u->max - u->written) {
        (void)snprintf(
            u->why, u->why_size,
            "unpacked it is larger than %llu bytes; unpack it with the packing's own tool",
            (unsigned long long)u->max);
        return BBF_ELIMIT;
    }
    u->written += len;
    while (len > 0) {
        ssize_t n = write(u->to, at, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(u, BBF_EIO, "the folder for temporary files ($TMPDIR or /tmp)",
                        strerror(errno));
        at += n;
        len -= (size_t)n;
    }
    return BBF_OK;
}

/* ---- the packings ---- */

static int copy_plain(struct unpacking *u)
{
    for (;;) {
        ssize_t n = read_some(u->from, u->in, sizeof(u->in));
        if (n < 0)
            return fail(u, BBF_EIO, "reading", strerror(errno));
        int err = n > 0 ? put(u, u->in, (size_t)n) : BBF_OK;
        if (n == 0 || err != BBF_OK)
            return err;
    }
}

/* All that zlib makes of the bytes in z; *ended: a member is complete. */
static int inflate_piece(struct unpacking *u, z_stream *z, bool *ended)
{
    int status = Z_OK;

    while (status == Z_OK && (z->avail_in > 0 || z->avail_out == 0)) {
        z->next_out = u->out;
        z->avail_out = sizeof(u->out);
        status = inflate(z, Z_NO_FLUSH);
        int err = put(u, u->out, sizeof(u->out) - z->avail_out);
        if (err != BBF_OK)
            return err;
        if (status == Z_STREAM_END) { /* another member may follow */
            *ended = true;
            if (z->avail_in == 0)
                return BBF_OK;
            *ended = false;
            status = inflateReset(z);
        }
    }
    return status == Z_OK || status == Z_BUF_ERROR
               ? BBF_OK
               : fail(u, BBF_EFORMAT, "the gzip data is damaged", z->msg != NULL ? z->msg : "?");
}

static int unpack_gzip(struct unpacking *u)
{
    z_stream z = {0};
    bool ended = false;
    int err = BBF_OK;

    if (inflateInit2(&z, GZIP_OR_ZLIB) != Z_OK)
        return fail(u, BBF_ENOMEM, "zlib", bbf_strerror(BBF_ENOMEM));
    while (err == BBF_OK) {
        ssize_t n = read_some(u->from, u->in, sizeof(u->in));
        if (n <= 0) {
            if (n < 0)
                err = fail(u, BBF_EIO, "reading", strerror(errno));
            else if (!ended)
                err = fail(u, BBF_EFORMAT, "the gzip data", "is cut");
            break;
        }
        ended = false;
        z.next_in = u->in;
        z.avail_in = (uInt)n;
        err = inflate_piece(u, &z, &ended);
    }
    (void)inflateEnd(&z);
    return err;
}

static int lz4_piece(struct unpacking *u, LZ4F_dctx *lz4, size_t n, size_t *wanted)
{
    const unsigned char *at = u->in, *end = u->in + n;

    while (at < end) {
        size_t out = sizeof(u->out), in = (size_t)(end - at);
        *wanted = LZ4F_decompress(lz4, u->out, &out, at, &in, NULL);
        if (LZ4F_isError(*wanted))
            return fail(u, BBF_EFORMAT, "the LZ4 data is damaged", LZ4F_getErrorName(*wanted));
        int err = put(u, u->out, out);
        if (err != BBF_OK)
            return err;
        at += in;
    }
    return BBF_OK;
}

static int unpack_lz4(struct unpacking *u)
{
    LZ4F_dctx *lz4;
    size_t wanted = 1;
    int err = BBF_OK;

    if (LZ4F_isError(LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION)))
        return fail(u, BBF_ENOMEM, "liblz4", bbf_strerror(BBF_ENOMEM));
    while (err == BBF_OK) {
        ssize_t n = read_some(u->from, u->in, sizeof(u->in));
        if (n <= 0) {
            if (n < 0)
                err = fail(u, BBF_EIO, "reading", strerror(errno));
            else if (wanted != 0)
                err = fail(u, BBF_EFORMAT, "the LZ4 data", "is cut");
            break;
        }
        err = lz4_piece(u, lz4, (size_t)n, &wanted);
    }
    (void)LZ4F_freeDecompressionContext(lz4);
    return err;
}

static int unpack_entry(struct unpacking *u, unzFile zip)
{
    if (unzGoToFirstFile(zip) != UNZ_OK || unzOpenCurrentFile(zip) != UNZ_OK)
        return fail(u, BBF_EFORMAT, "the ZIP file", "has no entry that can be read");
    for (;;) {
        int n = unzReadCurrentFile(zip, u->out, sizeof(u->out));
        if (n < 0)
            return fail(u, BBF_EFORMAT, "the ZIP file", "its first entry is damaged");
        int err = n > 0 ? put(u, u->out, (size_t)n) : BBF_OK;
        if (err != BBF_OK)
            return err;
        if (n == 0)
            break;
    }
    return unzCloseCurrentFile(zip) == UNZ_CRCERROR
               ? fail(u, BBF_EFORMAT, "the ZIP file", "its first entry has a wrong checksum")
               : BBF_OK;
}

static int unpack_zip(struct unpacking *u)
{
    char path[32];

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", u->from);
    unzFile zip = unzOpen64(path);
    if (zip == NULL)
        return fail(u, BBF_EFORMAT, "the ZIP file", "its table of contents is missing or damaged");
    int err = unpack_entry(u, zip);
    (void)unzClose(zip);
    return err;
}

static const struct packing {
    const char *name;
    unsigned char magic[4];
    size_t magic_len;
    int (*unpack)(struct unpacking *u);
} packings[] = {{"gzip", {0x1F, 0x8B}, 2, unpack_gzip},
                {"zip", {'P', 'K', 3, 4}, 4, unpack_zip},
                {"lz4", {0x04, 0x22, 0x4D, 0x18}, 4, unpack_lz4}};

/* ---- files ---- */

static int temporary_file(void)
{
    const char *folder = getenv("TMPDIR");

    if (folder == NULL || *folder == '\0')
        folder = "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd >= 0 ? fd : memfd_create("bbflow-jfr", MFD_CLOEXEC);
}

/* What `unpack` makes of *fd, as a new *fd. */
static int replace(struct bbf_jfr_source *source, int *fd, int (*unpack)(struct unpacking *u),
                   uint64_t max, char *why, size_t why_size)
{
    struct unpacking *u = malloc(sizeof(*u));

    if (u == NULL)
        return BBF_ENOMEM;
    u->from = *fd;
    u->to = temporary_file();
    u->written = 0;
    u->max = max;
    u->why = why;
    u->why_size = why_size;
    int err = u->to >= 0 ? unpack(u) : fail(u, BBF_EIO, "a temporary file", strerror(errno));
    if (err == BBF_EFORMAT && u->written > 0) { /* what is before the damage can be read */
        source->damage = "the packing is cut or damaged";
        err = BBF_OK;
    }
    if (err == BBF_OK) {
        (void)close(*fd);
        *fd = u->to;
    } else if (u->to >= 0) {
        (void)close(u->to);
    }
    free(u);
    return err;
}

static const struct packing *packing_of(int fd)
{
    unsigned char magic[4];
    ssize_t n = pread(fd, magic, sizeof(magic), 0);

    for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]); i++) {
        if (n >= (ssize_t)packings[i].magic_len &&
            memcmp(magic, packings[i].magic, packings[i].magic_len) == 0)
            return &packings[i];
    }
    return NULL;
}

static int map(struct bbf_jfr_source *source, int fd, char *why, size_t why_size)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size > SIZE_MAX) {
        (void)snprintf(why, why_size, "its size cannot be read");
        return BBF_EIO;
    }
    source->len = (size_t)st.st_size;
    if (source->len == 0)
        return BBF_OK;
    void *at = mmap(NULL, source->len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) {
        (void)snprintf(why, why_size, "mapping it: %s", strerror(errno));
        return BBF_EIO;
    }
    (void)madvise(at, source->len, MADV_SEQUENTIAL);
    source->bytes = at;
    return BBF_OK;
}

static int open_path(const char *path, char *why, size_t why_size)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                    : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        (void)snprintf(why, why_size, "%s", strerror(errno));
    return fd;
}

static int open_fd(struct bbf_jfr_source *source, int *fd, uint64_t max, char *why, size_t why_size)
{
    struct stat st;
    int err = BBF_OK;

    if (fstat(*fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        (void)snprintf(why, why_size, "is a folder; name a recording file");
        return BBF_EINVAL;
    }
    if (!S_ISREG(st.st_mode))
        err = replace(source, fd, copy_plain, max, why, why_size);
    const struct packing *packing = err == BBF_OK ? packing_of(*fd) : NULL;
    if (packing != NULL) {
        (void)lseek(*fd, 0, SEEK_SET);
        source->packing = packing->name;
        err = replace(source, fd, packing->unpack, max, why, why_size);
    }
    return err == BBF_OK ? map(source, *fd, why, why_size) : err;
}

int bbf_jfr_source_open(struct bbf_jfr_source *source, const char *path, uint64_t max, char *why,
                        size_t why_size)
{
    memset(source, 0, sizeof(*source));
    int fd = open_path(path, why, why_size);
    if (fd < 0)
        return errno == ENOENT ? BBF_ENOTFOUND : errno == EACCES ? BBF_EPERMISSION : BBF_EIO;
    int err = open_fd(source, &fd, max, why, why_size);
    (void)close(fd);
    return err;
}

void bbf_jfr_source_close(struct bbf_jfr_source *source)
{
    if (source->bytes != NULL)
        (void)munmap((void *)(uintptr_t)source->bytes, source->len);
    source->bytes = NULL;
}
