/* link: bbf_client bbf_core */
/*
 * client/http: the library's absence is an error with its remedy; numbers equal libcurl's where its
 * header is installed; places in messages have no credentials.
 */
#include "client/http.h"
#include "core/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#if __has_include(<curl/curl.h>)
#include <curl/curl.h>
#define EQUAL(name) _Static_assert((int)BBF_##name == (int)name, #name)
EQUAL(CURLOPT_WRITEDATA);
EQUAL(CURLOPT_URL);
EQUAL(CURLOPT_ERRORBUFFER);
EQUAL(CURLOPT_WRITEFUNCTION);
EQUAL(CURLOPT_POSTFIELDS);
EQUAL(CURLOPT_USERAGENT);
EQUAL(CURLOPT_HTTPHEADER);
EQUAL(CURLOPT_HEADERDATA);
EQUAL(CURLOPT_CUSTOMREQUEST);
EQUAL(CURLOPT_NOPROGRESS);
EQUAL(CURLOPT_XFERINFODATA);
EQUAL(CURLOPT_CAINFO);
EQUAL(CURLOPT_HEADERFUNCTION);
EQUAL(CURLOPT_NOSIGNAL);
EQUAL(CURLOPT_POSTFIELDSIZE_LARGE);
EQUAL(CURLOPT_TIMEOUT_MS);
EQUAL(CURLOPT_CONNECTTIMEOUT_MS);
EQUAL(CURLOPT_XFERINFOFUNCTION);
EQUAL(CURLINFO_RESPONSE_CODE);
EQUAL(CURLPROTO_HTTP);
EQUAL(CURLPROTO_HTTPS);
_Static_assert(BBF_CURLOPT_PROTOCOLS == 181, "deprecated in the header, not in the library");
_Static_assert(BBF_CURL_ERROR_SIZE == CURL_ERROR_SIZE, "CURL_ERROR_SIZE");
_Static_assert(BBF_CURL_GLOBAL_DEFAULT == CURL_GLOBAL_DEFAULT, "CURL_GLOBAL_DEFAULT");
_Static_assert(sizeof(curl_off_t) == sizeof(int64_t), "curl_off_t");
_Static_assert((int)BBF_CURLE_RESOLVE_PROXY == (int)CURLE_COULDNT_RESOLVE_PROXY, "");
_Static_assert((int)BBF_CURLE_RESOLVE_HOST == (int)CURLE_COULDNT_RESOLVE_HOST, "");
_Static_assert((int)BBF_CURLE_CONNECT == (int)CURLE_COULDNT_CONNECT, "");
_Static_assert((int)BBF_CURLE_HTTP2 == (int)CURLE_HTTP2, "");
_Static_assert((int)BBF_CURLE_PARTIAL == (int)CURLE_PARTIAL_FILE, "");
_Static_assert((int)BBF_CURLE_TIMEDOUT == (int)CURLE_OPERATION_TIMEDOUT, "");
_Static_assert((int)BBF_CURLE_ABORTED == (int)CURLE_ABORTED_BY_CALLBACK, "");
_Static_assert((int)BBF_CURLE_GOT_NOTHING == (int)CURLE_GOT_NOTHING, "");
_Static_assert((int)BBF_CURLE_SEND == (int)CURLE_SEND_ERROR, "");
_Static_assert((int)BBF_CURLE_RECV == (int)CURLE_RECV_ERROR, "");
_Static_assert((int)BBF_CURLE_PEER_VERIFY == (int)CURLE_PEER_FAILED_VERIFICATION, "");
_Static_assert((int)BBF_CURLE_CACERT_FILE == (int)CURLE_SSL_CACERT_BADFILE, "");
_Static_assert((int)BBF_CURLE_HTTP2_STREAM == (int)CURLE_HTTP2_STREAM, "");
#endif

/* Neither a file that is not there nor a library that is another one is used. */
static void test_absent(void **state)
{
    static const char *const none[] = {"libbbf-not-there.so.4", NULL};
    static const char *const other[] = {"libz.so.1", NULL};
    struct bbf_curl curl;
    char why[400] = "";

    (void)state;
    assert_int_equal(bbf_http_open(&curl, none, why, sizeof why), BBF_ENOTFOUND);
    assert_non_null(
        strstr(why, "libcurl.so.4 was not found; install it: apt-get install libcurl4"));
    assert_int_equal(bbf_http_open(&curl, other, why, sizeof why), BBF_ENOTFOUND);
    assert_non_null(strstr(why, "libcurl cannot be used; install it"));
}

static void test_place(void **state)
{
    static const char *const rows[][2] = {
        {"http://h:1/p?token=x#f", "http://h:1/p"},
        {"https://user:pw@h/p", "https://h/p"},
        {"https://a@b@h", "https://h"},
        {"http://h/p@q", "http://h/p@q"},
        {"http://h?u@v", "http://h"},
        {"http://u:p@[::1]:4318/x", "http://[::1]:4318/x"},
    };
    char text[100];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bbf_http_place(rows[i][0], text, sizeof text);
        assert_string_equal(text, rows[i][1]);
    }
    bbf_http_place(rows[0][0], text, 9); /* cut, and ended */
    assert_string_equal(text, "http://h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent), cmocka_unit_test(test_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
