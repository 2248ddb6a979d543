/* SPDX-License-Identifier: Apache-2.0 */
#include "client/http.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/symbols.h"
#include "core/err.h"

enum { QUOTED = 160, SECRET_LEAST = 4, SECRET_MAX = 4096, AFTER_MAX = 86400 };

/* ---- The library ----------------------------------------------------------------------------- */

int bbf_http_open(struct bbf_curl *curl, const char *const *names, char *why, size_t why_size)
{
    static const char *const usual[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};
    const struct bbf_symbol functions[] = {
        {"curl_global_init", &curl->global_init},      {"curl_easy_init", &curl->easy_init},
        {"curl_easy_setopt", &curl->easy_setopt},      {"curl_easy_perform", &curl->easy_perform},
        {"curl_easy_getinfo", &curl->easy_getinfo},    {"curl_easy_cleanup", &curl->easy_cleanup},
        {"curl_easy_strerror", &curl->easy_strerror},  {"curl_slist_append", &curl->slist_append},
        {"curl_slist_free_all", &curl->slist_free_all}};

    if (bbf_symbols_open(&curl->library, names != NULL ? names : usual, functions,
                         sizeof functions / sizeof *functions) &&
        curl->global_init(BBF_CURL_GLOBAL_DEFAULT) == BBF_CURLE_OK)
        return BBF_OK;
#ifdef BBF_STATIC
    snprintf(
        why, why_size,
        "this bbflow is a static file, which cannot load libcurl; bbflow-dynamic, beside it in "
        "the archive, and the bbflow of the Debian package can");
#else
    snprintf(why, why_size,
             "%s; install it: apt-get install libcurl4 (Ubuntu 24.04: "
             "libcurl4t64), dnf install libcurl, apk add libcurl",
             curl->library != NULL ? "libcurl cannot be used" : "libcurl.so.4 was not found");
#endif
    return BBF_ENOTFOUND;
}

/* ---- What comes back ------------------------------------------------------------------------- */

static size_t take_body(char *data, size_t size, size_t n, void *ctx)
{
    struct bbf_http_answer *answer = ctx;
    const size_t room = BBF_HTTP_ANSWER - answer->body.len;

    bbf_buf_add(&answer->body, data, n < room ? n : room);
    return size * n; /* the rest is read, and dropped */
}

/* A header line: Retry-After in seconds. A date there is not read: then the usual wait counts. */
static size_t take_header(char *data, size_t size, size_t n, void *ctx)
{
    struct bbf_http_answer *answer = ctx;
    static const char name[] = "retry-after:";
    const size_t len = sizeof name - 1;
    unsigned seconds = 0;

    if (n > len && strncasecmp(data, name, len) == 0) {
        size_t i = len;
        while (i < n && data[i] == ' ')
            i++;
        for (; i < n && data[i] >= '0' && data[i] <= '9' && seconds < AFTER_MAX; i++)
            seconds = seconds * 10 + (unsigned)(data[i] - '0');
        answer->after_seconds = seconds < AFTER_MAX ? seconds : AFTER_MAX;
    }
    return size * n;
}

static int look(void *ctx, int64_t down_all, int64_t down, int64_t up_all, int64_t up)
{
    const struct bbf_http_request *request = ctx;

    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    return request->is_over != NULL && *request->is_over != 0;
}

/* ---- Words ----------------------------------------------------------------------------------- */

void bbf_http_place(const char *url, char *to, size_t size)
{
    const char *host = strstr(url, "://");
    const size_t scheme = host != NULL ? (size_t)(host - url) + 3 : 0;
    const size_t until = scheme + strcspn(url + scheme, "?#");
    const size_t slash = scheme + strcspn(url + scheme, "/?#");
    size_t from = scheme;

    for (size_t i = scheme; i < slash; i++)
        if (url[i] == '@')
            from = i + 1;
    snprintf(to, size, "%.*s%.*s", (int)scheme, url, (int)(until - from), url + from);
}

static void hide(char *text, const char *secret, size_t len)
{
    if (len < SECRET_LEAST)
        return;
    for (char *at = text; (at = memmem(at, strlen(at), secret, len)) != NULL; at += len)
        memset(at, '*', len);
}

/* An answer may quote what was sent: the values of headers, and the word after their first one. */
static void hide_secrets(char *text, const struct bbf_http_request *request)
{
    for (size_t i = 0; i < request->n_headers; i++) {
        const char *value = strchr(request->headers[i], ':');
        if (value == NULL)
            continue;
        value += 1 + strspn(value + 1, " ");
        const char *second = strchr(value, ' ');
        hide(text, value, strlen(value));
        if (second != NULL)
            hide(text, second + 1, strlen(second + 1));
    }
}

/* The first line of the answer, as far as it is text. */
static void quote(const struct bbf_buf *body, char *to, size_t size)
{
    size_t n = 0;

    while (n < body->len && n + 1 < size && n < QUOTED && (unsigned char)body->data[n] >= ' ')
        n++;
    memcpy(to, body->len > 0 ? body->data : "", n);
    to[n] = '\0';
}

static bool is_later_status(int status)
{
    return status == 408 || status == 429 || (status >= 502 && status <= 504);
}

static const char *remedy(int status)
{
    switch (status) {
    case 401:
    case 403:
        return "; give the credentials by --header @FILE";
    case 404:
    case 405:
        return "; is this the URL of a receiver of that kind (--as)?";
    case 413:
        return "; the receiver's limit for a body is too small for this snapshot";
    case 415:
        return "; the receiver takes another format (--as)";
    default:
        return status >= 300 && status < 400 ? "; redirects are not followed: give the last URL"
                                             : "";
    }
}

static void say_status(const struct bbf_http_request *request, struct bbf_http_answer *answer)
{
    char text[QUOTED + 1];

    quote(&answer->body, text, sizeof text);
    hide_secrets(text, request);
    snprintf(answer->why, sizeof answer->why, "HTTP status %d%s%s%s", answer->status,
             text[0] != '\0' ? ": " : "", text, remedy(answer->status));
}

static bool is_later_code(int code)
{
    static const int codes[] = {BBF_CURLE_RESOLVE_PROXY, BBF_CURLE_RESOLVE_HOST, BBF_CURLE_CONNECT,
                                BBF_CURLE_HTTP2,         BBF_CURLE_PARTIAL,      BBF_CURLE_TIMEDOUT,
                                BBF_CURLE_GOT_NOTHING,   BBF_CURLE_SEND,         BBF_CURLE_RECV,
                                BBF_CURLE_HTTP2_STREAM};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code == codes[i])
            return true;
    return false;
}

static void say_code(const struct bbf_curl *curl, const struct bbf_http_request *request, int code,
                     const char *detail, struct bbf_http_answer *answer)
{
    const char *more = code == BBF_CURLE_PEER_VERIFY || code == BBF_CURLE_CACERT_FILE
                           ? "; --cacert FILE names the certificates to trust"
                           : "";

    snprintf(answer->why, sizeof answer->why, "%.250s%s",
             detail[0] != '\0' ? detail : curl->easy_strerror(code), more);
    hide_secrets(answer->why, request);
}

/* ---- The exchange ---------------------------------------------------------------------------- */

static struct bbf_curl_list *header_list(const struct bbf_curl *curl,
                                         const struct bbf_http_request *request)
{
    /* Without it libcurl waits a second for "100 Continue" before a large body. */
    struct bbf_curl_list *list = curl->slist_append(NULL, "Expect:");

    for (size_t i = 0; i < request->n_headers && list != NULL; i++) {
        struct bbf_curl_list *longer = curl->slist_append(list, request->headers[i]);
        if (longer == NULL)
            curl->slist_free_all(list);
        list = longer;
    }
    return list;
}

static void prepare(const struct bbf_curl *curl, void *easy, const struct bbf_http_request *request,
                    struct bbf_http_answer *answer)
{
    curl->easy_setopt(easy, BBF_CURLOPT_URL, request->url);
    curl->easy_setopt(easy, BBF_CURLOPT_PROTOCOLS,
                      (long)(BBF_CURLPROTO_HTTP | BBF_CURLPROTO_HTTPS));
    curl->easy_setopt(easy, BBF_CURLOPT_USERAGENT, "bbflow/" BBF_VERSION);
    curl->easy_setopt(easy, BBF_CURLOPT_POSTFIELDSIZE_LARGE, (int64_t)request->len);
    curl->easy_setopt(easy, BBF_CURLOPT_POSTFIELDS, request->body != NULL ? request->body : "");
    curl->easy_setopt(easy, BBF_CURLOPT_CUSTOMREQUEST, request->method);
    curl->easy_setopt(easy, BBF_CURLOPT_NOSIGNAL, 1L); /* no SIGALRM while names are resolved */
    curl->easy_setopt(easy, BBF_CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
    curl->easy_setopt(easy, BBF_CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_ms);
    curl->easy_setopt(easy, BBF_CURLOPT_WRITEFUNCTION, take_body);
    curl->easy_setopt(easy, BBF_CURLOPT_WRITEDATA, (void *)answer);
    curl->easy_setopt(easy, BBF_CURLOPT_HEADERFUNCTION, take_header);
    curl->easy_setopt(easy, BBF_CURLOPT_HEADERDATA, (void *)answer);
    curl->easy_setopt(easy, BBF_CURLOPT_XFERINFOFUNCTION, look);
    curl->easy_setopt(easy, BBF_CURLOPT_XFERINFODATA, (void *)(uintptr_t)request);
    curl->easy_setopt(easy, BBF_CURLOPT_NOPROGRESS, 0L);
    if (request->ca_file != NULL)
        curl->easy_setopt(easy, BBF_CURLOPT_CAINFO, request->ca_file);
}

static void judge(const struct bbf_curl *curl, const struct bbf_http_request *request, int code,
                  const char *detail, struct bbf_http_answer *answer)
{
    if (code == BBF_CURLE_OK && answer->status >= 200 && answer->status < 300) {
        answer->end = BBF_HTTP_DONE;
    } else if (code == BBF_CURLE_OK) {
        answer->end = is_later_status(answer->status) ? BBF_HTTP_LATER : BBF_HTTP_REFUSED;
        say_status(request, answer);
    } else if (code == BBF_CURLE_ABORTED) {
        answer->end = BBF_HTTP_OVER;
        snprintf(answer->why, sizeof answer->why, "ended by a signal");
    } else {
        answer->end = is_later_code(code) ? BBF_HTTP_LATER : BBF_HTTP_REFUSED;
        answer->status = 0;
        say_code(curl, request, code, detail, answer);
    }
}

void bbf_http_send(const struct bbf_curl *curl, const struct bbf_http_request *request,
                   struct bbf_http_answer *answer)
{
    char detail[BBF_CURL_ERROR_SIZE] = "";
    long status = 0;

    *answer = (struct bbf_http_answer){.end = BBF_HTTP_REFUSED, .body = BBF_BUF_INIT};
    void *easy = curl->easy_init();
    struct bbf_curl_list *headers = header_list(curl, request);
    if (easy == NULL || headers == NULL) {
        snprintf(answer->why, sizeof answer->why, "%s", bbf_strerror(BBF_ENOMEM));
    } else {
        prepare(curl, easy, request, answer);
        curl->easy_setopt(easy, BBF_CURLOPT_HTTPHEADER, headers);
        curl->easy_setopt(easy, BBF_CURLOPT_ERRORBUFFER, detail);
        const int code = curl->easy_perform(easy);
        curl->easy_getinfo(easy, BBF_CURLINFO_RESPONSE_CODE, &status);
        answer->status = (int)status;
        judge(curl, request, code, detail, answer);
    }
    if (headers != NULL)
        curl->slist_free_all(headers);
    if (easy != NULL)
        curl->easy_cleanup(easy);
}
