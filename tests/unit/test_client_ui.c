/* link: bbf_client bbf_render bbf_core */
/*
 * client/ui_server: libmicrohttpd's absence is an error with its remedy; numbers equal the
 * library's where its header is installed. What it answers: tests/cli/ui.py.
 */
#include "client/ui_server.h"
#include "core/err.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#if __has_include(<microhttpd.h>)
#include <sys/types.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <microhttpd.h>
#define EQUAL(own, name) _Static_assert((int)BBF_MHD_##own == (int)MHD_##name, #name)
EQUAL(NO, NO);
EQUAL(YES, YES);
EQUAL(USE_EPOLL, USE_EPOLL);
EQUAL(OPTION_END, OPTION_END);
EQUAL(OPTION_CONNECTION_MEMORY_LIMIT, OPTION_CONNECTION_MEMORY_LIMIT);
EQUAL(OPTION_CONNECTION_LIMIT, OPTION_CONNECTION_LIMIT);
EQUAL(OPTION_CONNECTION_TIMEOUT, OPTION_CONNECTION_TIMEOUT);
EQUAL(OPTION_LISTEN_SOCKET, OPTION_LISTEN_SOCKET);
EQUAL(OPTION_NOTIFY_CONNECTION, OPTION_NOTIFY_CONNECTION);
EQUAL(DAEMON_INFO_EPOLL_FD, DAEMON_INFO_EPOLL_FD);
EQUAL(CONNECTION_INFO_FD, CONNECTION_INFO_CONNECTION_FD);
EQUAL(CONNECTION_INFO_CONTEXT, CONNECTION_INFO_SOCKET_CONTEXT);
EQUAL(STARTED, CONNECTION_NOTIFY_STARTED);
EQUAL(CLOSED, CONNECTION_NOTIFY_CLOSED);
EQUAL(HEADER, HEADER_KIND);
EQUAL(ARGUMENT, GET_ARGUMENT_KIND);
EQUAL(MUST_FREE, RESPMEM_MUST_FREE);
EQUAL(MUST_COPY, RESPMEM_MUST_COPY);
_Static_assert(sizeof(enum MHD_Result) == sizeof(int), "a result is an int");
_Static_assert(sizeof(MHD_socket) == sizeof(int), "a socket is a descriptor");
#endif

/* Neither a file that is not there nor a library that is another one is used. */
static void test_absent(void **state)
{
    static const char *const none[] = {"libbbf-not-there.so.12", NULL};
    static const char *const other[] = {"libz.so.1", NULL};
    struct bbf_mhd api;
    char why[400] = "";

    (void)state;
    assert_int_equal(bbf_mhd_open(&api, none, why, sizeof why), BBF_ENOTFOUND);
    assert_non_null(strstr(why, "libmicrohttpd.so.12 was not found; install it: apt-get install "
                                "libmicrohttpd12"));
    assert_non_null(strstr(why, "bbflow tree PID -o leaks.html"));
    assert_int_equal(bbf_mhd_open(&api, other, why, sizeof why), BBF_ENOTFOUND);
    assert_non_null(strstr(why, "libmicrohttpd cannot be used; install it"));
}

static void test_address(void **state)
{
    struct bbf_ui_server server = {.port = 65535, .token = "T", .key = "K"};
    char text[BBF_UI_ADDRESS];

    (void)state;
    memset(server.token, 't', sizeof server.token - 1);
    bbf_ui_server_address(&server, false, text);
    assert_int_equal(strlen(text), strlen("http://127.0.0.1:65535/?token=") + 43);
    bbf_ui_server_address(&server, true, text);
    assert_string_equal(text, "http://127.0.0.1:65535/?key=K");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent),
                                       cmocka_unit_test(test_address)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
