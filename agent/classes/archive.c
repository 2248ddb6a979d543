/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/archive.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/state.h"

/* The first word of HotSpot's static archives: an AOT cache, or one of -Xshare:dump. */
#define ARCHIVE_MAGIC UINT32_C(0xf00baba2)

enum { FIRST_WITH_CACHE = 24 };

static bool is_archive(const char *path)
{
    struct stat s;
    uint32_t magic = 0;
    /* A device that the application has mapped is not opened. What comes to the path after that
     * look is looked at again once it is open, and the open waits for nothing. */
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
              read(fd, &magic, sizeof magic) == sizeof magic && magic == ARCHIVE_MAGIC;
    close(fd);
    return is;
}

char *bbf_archive_find(const char *maps, const char *jdk)
{
    char line[PATH_MAX + 200], last[PATH_MAX] = "";
    size_t len = strlen(jdk);
    FILE *file = fopen(maps, "re");
    char *found = NULL;
    while (file != NULL && found == NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *path = strchr(line, '/');
        if (path == NULL || strcmp(path, last) == 0 || strlen(path) >= sizeof last)
            continue;
        memcpy(last, path, strlen(path) + 1);
        if ((len == 0 || strncmp(path, jdk, len) != 0 || path[len] != '/') && is_archive(path))
            found = strdup(path);
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static char *mapped_archive(jvmtiEnv *jvmti)
{
    char *home = NULL, jdk[PATH_MAX] = "";
    if ((*jvmti)->GetSystemProperty(jvmti, "java.home", &home) == 0 && home != NULL) {
        if (realpath(home, jdk) == NULL) /* as maps has it */
            jdk[0] = '\0';
        (*jvmti)->Deallocate(jvmti, (unsigned char *)home);
    }
    /* Without it the JDK's own archive would be blamed. */
    return jdk[0] != '\0' ? bbf_archive_find("/proc/self/maps", jdk) : NULL;
}

/* It becomes part of a report. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

#define AN_AGENT    "an agent that starts earlier"
#define REMEDY      "; remedy: "
#define AGENT_FIRST "put bbflow's -agentpath first"
#define UNLINKED    "create the cache with -XX:-AOTClassLinking"

const char *bbf_archive_why_before(jvmtiEnv *jvmti, jclass class, bool attached)
{
    jint status = 0;
    char *why = NULL;
    if (attached)
        return "it was loaded before bbflow";
    /* The cache gives the JVM classes that are linked; who loads one by its name initialises it. */
    bool initialised = (*jvmti)->GetClassStatus(jvmti, class, &status) == 0 &&
                       (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0;
    char *archive = mapped_archive(jvmti);
    /* Below 24 it is one of -XX:SharedArchiveFile, whose classes the JVM loads on request: a
     * request was made. */
    if (bbf_agent.jdk < FIRST_WITH_CACHE || (archive == NULL && initialised)) {
        free(archive);
        return "it was loaded before bbflow, by " AN_AGENT REMEDY AGENT_FIRST;
    }
    if (archive == NULL || initialised) {
        free(archive);
        return "it was loaded before bbflow, by " AN_AGENT
               " or by the JVM's AOT cache" REMEDY AGENT_FIRST ", and " UNLINKED;
    }
    if (asprintf(&why, "it was loaded before bbflow, by the JVM's AOT cache %s" REMEDY UNLINKED,
                 archive) < 0)
        why = NULL;
    free(archive);
    if (why == NULL)
        return "it was loaded before bbflow, by the JVM's AOT cache" REMEDY UNLINKED;
    make_printable(why);
    return why;
}
