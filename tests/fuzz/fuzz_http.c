/* link: bbf_wire bbf_core */
/*
 * Any bytes as HTTP requests, one after the other: what is read is in the buffer, a request cut
 * anywhere asks for more or is refused as the whole is, and a longer buffer changes nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "wire/http/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void is_inside(const char *part, size_t len, const char *data, size_t used)
{
    require(len == 0 || (part >= data && len <= used && part + len <= data + used));
}

/* In a block of its own, so that ASan sees a read beyond it. */
static int parse(struct bbf_http_request *request, const char *data, size_t len, size_t *used)
{
    char *copy = malloc(len + (len == 0));
    require(copy != NULL);
    memcpy(copy, data, len);
    int err = bbf_http_parse(request, copy, len, used);
    if (err == BBF_OK) {
        is_inside(request->path, request->path_len, copy, *used);
        is_inside(request->host, request->host_len, copy, *used);
        (void)bbf_http_host_is_local(request->host, request->host_len);
    }
    request->path = request->host = NULL;
    free(copy);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *data = (const char *)bytes;
    size_t at = 0;

    if (size > 2 * BBF_HTTP_REQUEST_BYTES)
        size = 2 * BBF_HTTP_REQUEST_BYTES;
    for (int err = BBF_OK; err == BBF_OK && at < size;) {
        struct bbf_http_request whole, cut;
        size_t used = 0, cut_used = 0;
        err = parse(&whole, data + at, size - at, &used);
        require(err == BBF_OK || err == BBF_EMORE || err == BBF_EFORMAT);
        require((err == BBF_EFORMAT) ==
                (whole.status == 400 || whole.status == 431 || whole.status == 505));
        require(err != BBF_EMORE || size - at < BBF_HTTP_REQUEST_BYTES);
        if (err != BBF_OK)
            break;
        require(used > 0 && used <= size - at && used <= BBF_HTTP_REQUEST_BYTES);
        require(parse(&cut, data + at, used, &cut_used) == BBF_OK && cut_used == used);
        require(cut.media == whole.media && cut.keeps == whole.keeps &&
                cut.path_len == whole.path_len && cut.is_get == whole.is_get);
        for (size_t n = used < 40 ? 0 : used - 40; n < used; n++)
            require(parse(&cut, data + at, n, &cut_used) == BBF_EMORE);
        at += used;
    }
    return 0;
}
