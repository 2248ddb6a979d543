/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/libc/any_libc.h - a text in each libbbflow.so of a release: it needs glibc 2.17 or newer, or
 * musl. `bbflow doctor` looks for it, because the names of the libraries that the file needs are
 * glibc's.
 */
#ifndef BBF_CORE_ANY_LIBC_H
#define BBF_CORE_ANY_LIBC_H

#define BBF_ANY_LIBC "bbflow: glibc 2.17 or musl"

#endif
