/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/http/answer.h"

#include <stdio.h>

static const struct row {
    int status;
    const char *reason, *line;
} rows[] = {
    {200, "OK", ""},
    {400, "Bad Request", "This is no HTTP request.\n"},
    {404, "Not Found", "bbflow serves /metrics.\n"},
    {405, "Method Not Allowed", "bbflow serves GET and HEAD of /metrics.\n"},
    {421, "Misdirected Request",
     "bbflow listens on the loopback: use its address or localhost, no other name.\n"},
    {431, "Request Header Fields Too Large", "The request is too long.\n"},
    {503, "Service Unavailable", "bbflow's agent thread has not made the document; try again.\n"},
    {505, "HTTP Version Not Supported", "bbflow serves HTTP/1.1.\n"},
};

static const struct row *row_of(int status)
{
    size_t i = 0;

    while (i + 1 < sizeof rows / sizeof *rows && rows[i].status != status)
        i++;
    return &rows[i];
}

const char *bbf_http_status_line(int status)
{
    return row_of(status)->line;
}

/* strftime()'s names are those of the JVM's locale. */
static void date(char out[40], time_t now)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm tm = {.tm_mday = 1, .tm_year = 70, .tm_wday = 4};

    (void)gmtime_r(&now, &tm);
    snprintf(out, 40, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * (size_t)tm.tm_wday,
             tm.tm_mday % 100, months + 3 * (size_t)tm.tm_mon, (tm.tm_year + 1900) % 10000,
             tm.tm_hour, tm.tm_min, tm.tm_sec);
}

size_t bbf_http_head(char out[BBF_HTTP_HEAD_BYTES], int status, enum bbf_http_media media,
                     size_t len, bool keeps, time_t now)
{
    char when[40];

    date(when, now);
    int n = snprintf(out, BBF_HTTP_HEAD_BYTES,
                     "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                     "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s%s"
                     "Connection: %s\r\n\r\n",
                     status, row_of(status)->reason, when,
                     status == 200 ? bbf_http_media_type(media) : "text/plain; charset=utf-8", len,
                     status == 200 ? "Vary: Accept\r\n" : "",
                     status == 405 ? "Allow: GET, HEAD\r\n" : "", keeps ? "keep-alive" : "close");
    return n > 0 && n < BBF_HTTP_HEAD_BYTES ? (size_t)n : 0;
}
