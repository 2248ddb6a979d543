/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/suggestions.h"

#include <stdio.h>
#include <string.h>

#include "agent/jvm/names.h"
#include "core/nearest.h"

enum { KEEP = 3, MAX_PACKAGE = 200 };

struct candidate {
    char name[MAX_PACKAGE]; /* dotted */
    size_t distance;
};

static bool is_jdk(const char *name)
{
    static const char *const jdk[] = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
    for (size_t i = 0; i < sizeof jdk / sizeof *jdk; i++)
        if (strncmp(name, jdk[i], strlen(jdk[i])) == 0)
            return true;
    return false;
}

/* Edit distance to the nearest pattern; a common beginning counts more than letters. */
static size_t distance_of(const char *name, const struct bbf_patterns *include)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < bbf_patterns_count(include); i++) {
        const char *pattern = bbf_patterns_get(include, i);
        size_t common = 0;
        while (name[common] != '\0' && name[common] == pattern[common])
            common++;
        size_t d = 4 * bbf_edit_distance(name, strlen(name), pattern, strlen(pattern));
        d -= common < d ? common : d;
        best = d < best ? d : best;
    }
    return best;
}

static void offer(struct candidate *best, const char *name, size_t distance)
{
    for (int i = 0; i < KEEP; i++)
        if (strcmp(best[i].name, name) == 0)
            return;
    for (int i = 0; i < KEEP; i++)
        if (best[i].name[0] == '\0' || distance < best[i].distance ||
            (distance == best[i].distance && strcmp(name, best[i].name) < 0)) {
            memmove(&best[i + 1], &best[i], (size_t)(KEEP - 1 - i) * sizeof *best);
            snprintf(best[i].name, MAX_PACKAGE, "%s", name);
            best[i].distance = distance;
            return;
        }
}

/* The package of a class, dotted; false for the default package and the JDK's. */
static bool package_of(const char *class_name, char *out)
{
    const char *slash = strrchr(class_name, '/');
    if (slash == NULL || slash - class_name > MAX_PACKAGE - 2)
        return false;
    size_t len = (size_t)(slash - class_name);
    for (size_t i = 0; i < len; i++)
        out[i] = class_name[i] == '/' ? '.' : class_name[i];
    out[len] = '\0';
    strcat(out, "."); /* so that "java." matches the package java.x */
    bool jdk = is_jdk(out);
    out[len] = '\0';
    return !jdk;
}

struct nearest {
    const struct bbf_patterns *include;
    struct candidate best[KEEP];
};

static void visit_package(JNIEnv *env, void *ctx, jclass class, const char *class_name)
{
    struct nearest *nearest = ctx;
    char name[MAX_PACKAGE];
    (void)env;
    (void)class;
    if (package_of(class_name, name))
        offer(nearest->best, name,
              nearest->include != NULL ? distance_of(name, nearest->include) : 0);
}

void bbf_suggest_packages(JNIEnv *env, const struct bbf_patterns *include, struct bbf_buf *out)
{
    struct nearest nearest = {.include = include};
    bbf_names_each_class(env, &nearest, visit_package);
    for (int i = 0; i < KEEP && nearest.best[i].name[0] != '\0'; i++)
        bbf_buf_printf(out, "%s%s", i == 0 ? "; nearest loaded packages: " : ", ",
                       nearest.best[i].name);
}
