/* SPDX-License-Identifier: Apache-2.0 */
#include "client/jars.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <minizip/unzip.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    JARS_MAX = 4096,      /* of a process */
    ENTRIES_MAX = 100000, /* of a jar */
    NAME_BYTES = 512,
    PROPERTIES_BYTES = 16384
};

/* ---- Names ----------------------------------------------------------------------------------- */

/* The version in "netty-buffer-4.1.100.Final.jar" behind any folders. */
static bool version_of_jar(const char *name, struct bbf_netty_jar *netty)
{
    static const char *const starts[] = {"netty-buffer-", "netty-all-", "netty5-buffer-", "netty-"};
    const char *slash = strrchr(name, '/'), *file = slash != NULL ? slash + 1 : name;
    size_t len = strlen(file);

    if (len < 5 || strcmp(file + len - 4, ".jar") != 0)
        return false;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        size_t start = strlen(starts[i]);
        if (strncmp(file, starts[i], start) != 0 || !isdigit((unsigned char)file[start]))
            continue;
        netty->major = file[start] - '0';
        snprintf(netty->version, sizeof netty->version, "%.*s", (int)(len - 4 - start),
                 file + start);
        return true;
    }
    return false;
}

/* "BOOT-INF/classes/com/shop/io/netty" as a package: without the folders of fat jars. */
static void take_package(struct bbf_netty_jar *netty, const char *path, size_t len)
{
    static const char *const folders[] = {"BOOT-INF/classes/", "WEB-INF/classes/"};

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t n = strlen(folders[i]);
        if (len > n && strncmp(path, folders[i], n) == 0) {
            path += n;
            len -= n;
        }
    }
    snprintf(netty->package, sizeof netty->package, "%.*s", (int)len, path);
    for (char *c = netty->package; *c != '\0'; c++)
        if (*c == '/')
            *c = '.';
}

bool bbf_jars_entry(const char *name, struct bbf_netty_jar *netty)
{
    static const struct {
        const char *class;
        size_t suffix; /* bytes of `class` that are no package */
        int major;
    } classes[] = {
        {"netty/buffer/ByteBuf.class", 21, 4},
        {"jboss/netty/buffer/ChannelBuffer.class", 27, 3},
        {"netty5/buffer/Buffer.class", 20, 5},
        {"netty5/buffer/api/Buffer.class", 24, 5},
    };
    size_t len = strlen(name);

    *netty = (struct bbf_netty_jar){.major = 0};
    if (strncmp(name, "META-INF/", 9) == 0) /* the same classes for newer JDKs */
        return false;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        size_t n = strlen(classes[i].class);
        const char *at = name + len - n;
        if (len < n || strcmp(at, classes[i].class) != 0 || (at > name && at[-1] != '/'))
            continue;
        netty->major = classes[i].major;
        take_package(netty, name, len - classes[i].suffix);
        return true;
    }
    if (!version_of_jar(name, netty))
        return false;
    snprintf(netty->package, sizeof netty->package, "%s",
             netty->major == 5   ? "io.netty5"
             : netty->major == 3 ? "org.jboss.netty"
                                 : "io.netty");
    return true;
}

/* ---- One jar --------------------------------------------------------------------------------- */

/* The line "netty-buffer.version=4.1.100.Final" of META-INF/io.netty.versions.properties. */
static void read_version(unzFile zip, char *version, size_t size)
{
    static const char key[] = "netty-buffer.version=";
    char text[PROPERTIES_BYTES];
    int n = 0;

    if (unzOpenCurrentFile(zip) != UNZ_OK)
        return;
    n = unzReadCurrentFile(zip, text, sizeof text - 1);
    (void)unzCloseCurrentFile(zip);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strstr(text, key);
    if (at != NULL) {
        at += sizeof key - 1;
        snprintf(version, size, "%.*s", (int)strcspn(at, "\r\n"), at);
    }
}

static void add_netty(struct bbf_jars *jars, const struct bbf_netty_jar *netty)
{
    for (size_t i = 0; i < jars->count; i++)
        if (strcmp(jars->nettys[i].package, netty->package) == 0 &&
            strcmp(jars->nettys[i].version, netty->version) == 0)
            return;
    if (jars->count < BBF_JARS_NETTYS)
        jars->nettys[jars->count++] = *netty;
    else
        jars->more++;
}

/* All entries; false: it is damaged or has too many. */
static bool read_entries(struct bbf_jars *jars, unzFile zip, const char *shown)
{
    struct bbf_netty_jar found[BBF_JARS_NETTYS], outer;
    char version[sizeof outer.version] = "";
    size_t n_found = 0;
    int rc = unzGoToFirstFile(zip), entries = 0;

    for (; rc == UNZ_OK && entries < ENTRIES_MAX; rc = unzGoToNextFile(zip), entries++) {
        char name[NAME_BYTES];
        if (unzGetCurrentFileInfo64(zip, NULL, name, sizeof name, NULL, 0, NULL, 0) != UNZ_OK)
            return false;
        name[sizeof name - 1] = '\0';
        if (strcmp(name, "META-INF/io.netty.versions.properties") == 0)
            read_version(zip, version, sizeof version);
        else if (n_found < BBF_JARS_NETTYS && bbf_jars_entry(name, &found[n_found]))
            n_found++;
    }
    bool named = version_of_jar(shown, &outer);
    for (size_t i = 0; i < n_found; i++) {
        snprintf(found[i].jar, sizeof found[i].jar, "%s", shown);
        /* An entry of this jar itself has the version of the jar. */
        if (found[i].version[0] == '\0')
            snprintf(found[i].version, sizeof found[i].version, "%s",
                     version[0] != '\0' ? version
                     : named            ? outer.version
                                        : "");
        add_netty(jars, &found[i]);
    }
    return rc == UNZ_END_OF_LIST_OF_FILE;
}

void bbf_jars_read_one(struct bbf_jars *jars, const char *path, const char *shown)
{
    struct stat st;
    char own[64];
    /* O_PATH has no effect on a device or a FIFO of another user. */
    int fd = open(path, O_PATH | O_CLOEXEC);
    unzFile zip = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
        zip = unzOpen64(own);
    }
    jars->read += zip != NULL;
    jars->skipped += zip == NULL || !read_entries(jars, zip, shown);
    if (zip != NULL)
        (void)unzClose(zip);
    if (fd >= 0)
        close(fd);
}

/* ---- A process ------------------------------------------------------------------------------- */

void bbf_jars_read(struct bbf_jars *jars, pid_t pid)
{
    char path[64], file[NAME_BYTES];
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return;
    for (struct dirent *entry; jars->read < JARS_MAX && (entry = readdir(dir)) != NULL;) {
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, file, sizeof file - 1);
        file[n > 0 ? n : 0] = '\0';
        if (n < 5 || (strcmp(file + n - 4, ".jar") != 0 && strcmp(file + n - 4, ".war") != 0))
            continue;
        snprintf(path, sizeof path, "/proc/%ld/fd/%.16s", (long)pid, entry->d_name);
        bbf_jars_read_one(jars, path, file);
    }
    closedir(dir);
}
