/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/curl_api.h - the part of libcurl that `push` uses, opened at run time: bbflow needs
 * neither its headers nor the library unless something is pushed. The numbers are libcurl's binary
 * interface (https://curl.se/libcurl/abi.html), which has not changed them since 2006; where
 * curl/curl.h is installed, tests/unit/test_client_http.c compares each.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_CURL_API_H
#define BBF_CLIENT_CURL_API_H

#include <stddef.h>

/* Options take a long from 0, a pointer from 10000, a function from 20000, a curl_off_t from 30000.
 */
enum {
    BBF_CURLOPT_WRITEDATA = 10001,
    BBF_CURLOPT_URL = 10002,
    BBF_CURLOPT_ERRORBUFFER = 10010,
    BBF_CURLOPT_WRITEFUNCTION = 20011,
    BBF_CURLOPT_POSTFIELDS = 10015,
    BBF_CURLOPT_USERAGENT = 10018,
    BBF_CURLOPT_HTTPHEADER = 10023,
    BBF_CURLOPT_HEADERDATA = 10029,
    BBF_CURLOPT_CUSTOMREQUEST = 10036,
    BBF_CURLOPT_NOPROGRESS = 43,
    BBF_CURLOPT_XFERINFODATA = 10057,
    BBF_CURLOPT_CAINFO = 10065,
    BBF_CURLOPT_HEADERFUNCTION = 20079,
    BBF_CURLOPT_NOSIGNAL = 99,
    BBF_CURLOPT_POSTFIELDSIZE_LARGE = 30120,
    BBF_CURLOPT_TIMEOUT_MS = 155,
    BBF_CURLOPT_CONNECTTIMEOUT_MS = 156,
    BBF_CURLOPT_PROTOCOLS = 181,
    BBF_CURLOPT_XFERINFOFUNCTION = 20219
};
enum { BBF_CURLINFO_RESPONSE_CODE = 0x200002, BBF_CURL_ERROR_SIZE = 256 };
enum { BBF_CURLPROTO_HTTP = 1, BBF_CURLPROTO_HTTPS = 2 };
enum { BBF_CURL_GLOBAL_DEFAULT = 3 };

/* CURLcode: what a later attempt may get over, and what a message has words for. */
enum {
    BBF_CURLE_OK = 0,
    BBF_CURLE_RESOLVE_PROXY = 5,
    BBF_CURLE_RESOLVE_HOST = 6,
    BBF_CURLE_CONNECT = 7,
    BBF_CURLE_HTTP2 = 16,
    BBF_CURLE_PARTIAL = 18,
    BBF_CURLE_TIMEDOUT = 28,
    BBF_CURLE_ABORTED = 42,
    BBF_CURLE_GOT_NOTHING = 52,
    BBF_CURLE_SEND = 55,
    BBF_CURLE_RECV = 56,
    BBF_CURLE_PEER_VERIFY = 60,
    BBF_CURLE_CACERT_FILE = 77,
    BBF_CURLE_HTTP2_STREAM = 92
};

struct bbf_curl_list; /* struct curl_slist */

struct bbf_curl {
    void *library;
    int (*global_init)(long flags);
    void *(*easy_init)(void);
    int (*easy_setopt)(void *easy, int option, ...);
    int (*easy_perform)(void *easy);
    int (*easy_getinfo)(void *easy, int info, ...);
    void (*easy_cleanup)(void *easy);
    const char *(*easy_strerror)(int code);
    struct bbf_curl_list *(*slist_append)(struct bbf_curl_list *list, const char *text);
    void (*slist_free_all)(struct bbf_curl_list *list);
};

#endif
