/* SPDX-License-Identifier: Apache-2.0 */
#include "client/elf_facts.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/libc/any_libc.h"

enum { FILE_MAX = 64 << 20 };

/* Dynamic names are whole strings of the file: no section header is needed, which strip removes. */
static const unsigned char *find(const unsigned char *at, const unsigned char *end,
                                 const char *text)
{
    return at < end ? memmem(at, (size_t)(end - at), text, strlen(text)) : NULL;
}

static unsigned newest_glibc(const unsigned char *bytes, size_t len)
{
    static const char start[] = "GLIBC_2.";
    const unsigned char *end = bytes + len;
    unsigned newest = 0;

    for (const unsigned char *at = bytes; (at = find(at, end, start)) != NULL;) {
        unsigned minor = 0, digits = 0;
        at += sizeof start - 1;
        for (; at < end && *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
            minor = minor * 10 + (unsigned)(*at - '0');
        if (digits > 0 && minor > newest)
            newest = minor;
    }
    return newest;
}

struct bbf_elf bbf_elf_facts(const unsigned char *bytes, size_t len)
{
    struct bbf_elf facts = {.machine = 0};
    enum { MACHINE = 18 }; /* e_machine, in both classes */

    if (len < MACHINE + 2 || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return facts;
    bool little = bytes[EI_DATA] == ELFDATA2LSB;
    facts.machine = (unsigned)bytes[MACHINE + !little] | (unsigned)bytes[MACHINE + little] << 8;
    facts.glibc_minor = newest_glibc(bytes, len);
    facts.names_libz = find(bytes, bytes + len, "libz.so.1") != NULL;
    if (find(bytes, bytes + len, BBF_ANY_LIBC) != NULL)
        facts.libc = BBF_LIBC_UNKNOWN;
    else if (find(bytes, bytes + len, "libc.musl-") != NULL)
        facts.libc = BBF_LIBC_MUSL;
    else if (find(bytes, bytes + len, "libc.so.6") != NULL || facts.glibc_minor != 0)
        facts.libc = BBF_LIBC_GLIBC;
    return facts;
}

struct bbf_elf bbf_elf_read(const char *path)
{
    struct bbf_elf facts = {.machine = 0};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return facts;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= FILE_MAX) {
        /* Not mapped: another process may truncate it. */
        unsigned char *bytes = malloc((size_t)st.st_size);
        ssize_t n = bytes != NULL ? read(fd, bytes, (size_t)st.st_size) : 0;
        if (n > 0)
            facts = bbf_elf_facts(bytes, (size_t)n);
        free(bytes);
    }
    close(fd);
    return facts;
}

const char *bbf_elf_machine(unsigned machine, char *to, size_t size)
{
    if (machine == EM_X86_64)
        snprintf(to, size, "x86-64");
    else if (machine == EM_AARCH64)
        snprintf(to, size, "aarch64");
    else
        snprintf(to, size, "machine %u", machine);
    return to;
}
