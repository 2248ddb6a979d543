/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/mhd_api.h - the part of libmicrohttpd that `ui` uses, opened at run time: bbflow needs
 * neither its headers nor the library for anything else. The numbers are the binary interface of
 * libmicrohttpd.so.12 (https://www.gnu.org/software/libmicrohttpd/); where microhttpd.h is
 * installed, tests/unit/test_client_ui.c compares each.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_MHD_API_H
#define BBF_CLIENT_MHD_API_H

#include <stddef.h>
#include <stdint.h>

enum { BBF_MHD_NO = 0, BBF_MHD_YES = 1 };
enum { BBF_MHD_USE_EPOLL = 512 };
enum {
    BBF_MHD_OPTION_END = 0,
    BBF_MHD_OPTION_CONNECTION_MEMORY_LIMIT = 1, /* size_t */
    BBF_MHD_OPTION_CONNECTION_LIMIT = 2,        /* unsigned */
    BBF_MHD_OPTION_CONNECTION_TIMEOUT = 3,      /* unsigned, seconds */
    BBF_MHD_OPTION_LISTEN_SOCKET = 12,          /* int */
    BBF_MHD_OPTION_NOTIFY_CONNECTION = 27       /* a bbf_mhd_notify, void * */
};
enum { BBF_MHD_DAEMON_INFO_EPOLL_FD = 3 };
enum { BBF_MHD_CONNECTION_INFO_FD = 6, BBF_MHD_CONNECTION_INFO_CONTEXT = 7 };
enum { BBF_MHD_STARTED = 0, BBF_MHD_CLOSED = 1 };
enum { BBF_MHD_HEADER = 1, BBF_MHD_ARGUMENT = 8 };
enum { BBF_MHD_MUST_FREE = 1, BBF_MHD_MUST_COPY = 2 };

struct bbf_mhd_daemon;     /* struct MHD_Daemon */
struct bbf_mhd_connection; /* struct MHD_Connection */
struct bbf_mhd_response;   /* struct MHD_Response */

union bbf_mhd_info { /* union MHD_DaemonInfo, union MHD_ConnectionInfo */
    int fd;
    void *context;
};

typedef int bbf_mhd_handler(void *ctx, struct bbf_mhd_connection *connection, const char *url,
                            const char *method, const char *version, const char *upload,
                            size_t *upload_len, void **request);
typedef void bbf_mhd_notify(void *ctx, struct bbf_mhd_connection *connection, void **context,
                            int what);

struct bbf_mhd {
    void *library;
    struct bbf_mhd_daemon *(*start)(unsigned flags, uint16_t port, void *policy, void *policy_ctx,
                                    bbf_mhd_handler *handler, void *handler_ctx, ...);
    void (*stop)(struct bbf_mhd_daemon *daemon);
    int (*run)(struct bbf_mhd_daemon *daemon);
    int (*timeout)(struct bbf_mhd_daemon *daemon, unsigned long long *ms);
    const union bbf_mhd_info *(*daemon_info)(struct bbf_mhd_daemon *daemon, int what, ...);
    const union bbf_mhd_info *(*connection_info)(struct bbf_mhd_connection *connection, int what,
                                                 ...);
    const char *(*value)(struct bbf_mhd_connection *connection, int kind, const char *name);
    struct bbf_mhd_response *(*response)(size_t len, void *data, int mode);
    int (*header)(struct bbf_mhd_response *response, const char *name, const char *value);
    int (*queue)(struct bbf_mhd_connection *connection, unsigned status,
                 struct bbf_mhd_response *response);
    void (*release)(struct bbf_mhd_response *response);
};

#endif
