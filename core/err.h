/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/err.h - the list of all error codes. Functions that can fail return 0 or one of these; errno
 * is not part of a folder's interface unless a function says so. The text for a person is made
 * once, by the agent's entry or the client, from the code and its own knowledge.
 *
 * Threads: any. Pure.
 */
#ifndef BBF_CORE_ERR_H
#define BBF_CORE_ERR_H

#define BBF_ERR_MAP(XX)                                                                            \
    XX(NOMEM, -1, "out of memory")                                                                 \
    XX(INVAL, -2, "invalid argument")                                                              \
    XX(RANGE, -3, "out of range")                                                                  \
    XX(IO, -4, "input/output error")                                                               \
    XX(LIMIT, -5, "limit reached")                                                                 \
    XX(FORMAT, -6, "malformed data")                                                               \
    XX(VERSION, -7, "unsupported version")                                                         \
    XX(REFUSED, -8, "refused")                                                                     \
    XX(TIMEOUT, -9, "timed out")                                                                   \
    XX(CLOSED, -10, "connection closed")                                                           \
    XX(NOTFOUND, -11, "not found")                                                                 \
    XX(PERMISSION, -12, "permission denied")                                                       \
    XX(MORE, -13, "more data needed")

enum bbf_err {
    BBF_OK = 0,
#define XX(name, value, text) BBF_E##name = (value),
    BBF_ERR_MAP(XX)
#undef XX
};

/* A constant sentence fragment for `err`; "unknown error" for a code that is not in the list. */
const char *bbf_strerror(int err);

#endif
