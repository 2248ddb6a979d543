/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/jars.h - the Nettys in the jars that a process has open. Jars are only read, a limited
 * part of each, and only from regular files.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_JARS_H
#define BBF_CLIENT_JARS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { BBF_JARS_NETTYS = 16 }; /* that are remembered */

struct bbf_netty_jar {
    int major;         /* 3, 4, 5 */
    char package[128]; /* "io.netty", or where it was moved to: "com.shop.shaded.io.netty" */
    char version[32];  /* "4.1.100.Final"; "" = unknown */
    char jar[256];     /* the path that the process has open */
};

struct bbf_jars {
    struct bbf_netty_jar nettys[BBF_JARS_NETTYS]; /* each package and version once */
    size_t count;
    size_t more;    /* Nettys for which there was no place */
    size_t read;    /* jars */
    size_t skipped; /* jars that could not be opened or read to their end */
};

/* Look into the jars that the process has open. */
void bbf_jars_read(struct bbf_jars *jars, pid_t pid);

/* The same for one jar. `path` is opened, `shown` is its name in the result. */
void bbf_jars_read_one(struct bbf_jars *jars, const char *path, const char *shown);

/* Is this entry of a jar Netty's buffer class, or a jar with it inside? Then *netty has the major
 * version, the package, and the version if the name has it. */
bool bbf_jars_entry(const char *name, struct bbf_netty_jar *netty);

#endif
