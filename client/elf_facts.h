/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/elf_facts.h - for which machine and C library a shared library was built.
 *
 * Threads: any, no state. Source: elf(5).
 */
#ifndef BBF_CLIENT_ELF_FACTS_H
#define BBF_CLIENT_ELF_FACTS_H

#include <stdbool.h>
#include <stddef.h>

/* Unknown: also of a libbbflow.so that runs with both. */
enum bbf_libc { BBF_LIBC_UNKNOWN, BBF_LIBC_GLIBC, BBF_LIBC_MUSL };

struct bbf_elf {
    unsigned machine; /* e_machine; 0: no ELF file */
    enum bbf_libc libc;
    unsigned
        glibc_minor; /* the newest 2.N that it names: libc.so.6 has it, others need it; 0: none */
    bool names_libz;
};

/* Of the file's bytes. */
struct bbf_elf bbf_elf_facts(const unsigned char *bytes, size_t len);

/* Of the regular file at `path`, of at most 64 MiB; all 0 if it cannot be read. */
struct bbf_elf bbf_elf_read(const char *path);

/* "x86-64", "aarch64", "machine 8" into `to`; returns `to`. */
const char *bbf_elf_machine(unsigned machine, char *to, size_t size);

#endif
