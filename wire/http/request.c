/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/http/request.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "core/err.h"

struct text {
    const char *at;
    size_t len;
};

/* What the header has said so far. */
struct reader {
    struct bbf_http_request *request;
    bool is_1_0, closes, keeps;
    const char *accept_from; /* the first value of Accept; more of them are rare, and not joined */
    size_t accept_len;
};

static int refuse(struct bbf_http_request *request, int status)
{
    request->status = status;
    return BBF_EFORMAT;
}

static bool is_token(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool all_tokens(struct text text)
{
    size_t n = 0;

    while (n < text.len && is_token(text.at[n]))
        n++;
    return n == text.len && n > 0;
}

static bool is(struct text text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.at, word, text.len) == 0;
}

static struct text trim(struct text text)
{
    while (text.len > 0 && (*text.at == ' ' || *text.at == '\t'))
        text.at++, text.len--;
    while (text.len > 0 && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* The part up to `end`; `rest` is what follows it. Without `end` it is all. */
static struct text split(struct text *rest, char end)
{
    const char *at = rest->len > 0 ? memchr(rest->at, end, rest->len) : NULL;
    size_t len = at != NULL ? (size_t)(at - rest->at) : rest->len;
    struct text part = {rest->at, len};
    size_t step = at != NULL ? len + 1 : len;

    *rest = (struct text){rest->at + step, rest->len - step};
    return part;
}

/* ---- the first line ---- */

/* "HTTP/1.1", "HTTP/1.0"; later minor versions are read as 1.1. */
static int read_version(struct reader *r, struct text text)
{
    if (text.len != 8 || memcmp(text.at, "HTTP/", 5) != 0 || text.at[6] != '.' ||
        text.at[5] < '0' || text.at[5] > '9' || text.at[7] < '0' || text.at[7] > '9')
        return refuse(r->request, 400);
    if (text.at[5] != '1')
        return refuse(r->request, 505);
    r->is_1_0 = text.at[7] == '0';
    return BBF_OK;
}

/* "/metrics?x", or as a proxy asks, "http://host/metrics". */
static int read_target(struct bbf_http_request *request, struct text target)
{
    for (size_t i = 0; i < target.len; i++)
        if (target.at[i] <= ' ' || target.at[i] >= 0x7F)
            return refuse(request, 400);
    if (target.len > 7 && strncasecmp(target.at, "http://", 7) == 0) {
        struct text rest = {target.at + 7, target.len - 7};
        struct text host = split(&rest, '/');
        target = (struct text){host.at + host.len, target.len - 7 - host.len};
    }
    struct text path = split(&target, '?');
    request->path = path.at;
    request->path_len = path.len;
    return BBF_OK;
}

static int read_first(struct reader *r, struct text line)
{
    struct text method = split(&line, ' '), target = split(&line, ' ');

    if (!all_tokens(method) || target.len == 0)
        return refuse(r->request, 400);
    int err = read_version(r, line);
    if (err != BBF_OK)
        return err;
    r->request->is_get = method.len == 3 && memcmp(method.at, "GET", 3) == 0;
    r->request->is_head = method.len == 4 && memcmp(method.at, "HEAD", 4) == 0;
    return read_target(r->request, target);
}

/* ---- fields ---- */

static void read_connection(struct reader *r, struct text value)
{
    while (value.len > 0) {
        struct text word = trim(split(&value, ','));
        r->closes = r->closes || is(word, "close");
        r->keeps = r->keeps || is(word, "keep-alive");
    }
}

static int read_field(struct reader *r, struct text line)
{
    const char *colon = memchr(line.at, ':', line.len);
    struct text name = {line.at, colon != NULL ? (size_t)(colon - line.at) : 0};

    if (!all_tokens(name))
        return refuse(r->request, 400);
    struct text value = trim((struct text){colon + 1, line.len - name.len - 1});
    for (size_t i = 0; i < value.len; i++)
        if (((unsigned char)value.at[i] < ' ' && value.at[i] != '\t') || value.at[i] == 0x7F)
            return refuse(r->request, 400);
    if (is(name, "host")) {
        if (r->request->host != NULL)
            return refuse(r->request, 400);
        r->request->host = value.at;
        r->request->host_len = value.len;
    } else if (is(name, "connection")) {
        read_connection(r, value);
    } else if (is(name, "transfer-encoding")) {
        r->request->has_body = true;
    } else if (is(name, "content-length")) {
        r->request->has_body = r->request->has_body || !is(value, "0");
    } else if (is(name, "accept") && r->accept_from == NULL) {
        r->accept_from = value.at;
        r->accept_len = value.len;
    }
    return BBF_OK;
}

static int finish(struct reader *r)
{
    struct bbf_http_request *request = r->request;

    if (request->host == NULL && !r->is_1_0)
        return refuse(request, 400);
    request->keeps = !r->closes && !request->has_body && (!r->is_1_0 || r->keeps);
    request->media = bbf_http_accept(r->accept_from, r->accept_len);
    return BBF_OK;
}

/* ---- the whole ---- */

/* The next line, without its end; false: it has none yet. */
static bool next_line(struct text *rest, struct text *line)
{
    if (rest->len == 0 || memchr(rest->at, '\n', rest->len) == NULL)
        return false;
    *line = split(rest, '\n');
    if (line->len > 0 && line->at[line->len - 1] == '\r')
        line->len--;
    return true;
}

int bbf_http_parse(struct bbf_http_request *request, const char *data, size_t len, size_t *used)
{
    struct reader r = {.request = request};
    struct text rest = {data, len < BBF_HTTP_REQUEST_BYTES ? len : BBF_HTTP_REQUEST_BYTES}, line;
    bool is_first = true;

    *request = (struct bbf_http_request){.status = 0};
    while (next_line(&rest, &line)) {
        int err = BBF_OK;
        if (line.len == 0 && !is_first) {
            *used = (size_t)(rest.at - data);
            return finish(&r);
        }
        if (is_first && line.len > 0)
            err = read_first(&r, line);
        else if (line.len > 0) /* before the first line an empty one may be (RFC 9112, 2.2) */
            err = read_field(&r, line);
        if (err != BBF_OK)
            return err;
        is_first = is_first && line.len == 0;
    }
    return len >= BBF_HTTP_REQUEST_BYTES ? refuse(request, 431) : BBF_EMORE;
}

bool bbf_http_host_is_local(const char *host, size_t len)
{
    char name[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (len == 0)
        return false;
    bool is_bracketed = host[0] == '[';
    const char *end = memchr(host, is_bracketed ? ']' : ':', len);
    struct text text = {host + is_bracketed,
                        (end != NULL ? (size_t)(end - host) : len) - is_bracketed};

    if (is(text, "localhost"))
        return true;
    if (text.len >= sizeof name)
        return false;
    memcpy(name, text.at, text.len);
    name[text.len] = '\0';
    return inet_pton(is_bracketed ? AF_INET6 : AF_INET, name, &address) == 1;
}
