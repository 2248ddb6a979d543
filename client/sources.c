/* SPDX-License-Identifier: Apache-2.0 */
#include "client/sources.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ROOTS = 2000 };

static void add_root(struct bbf_sources *s, const char *folder, size_t len)
{
    while (len > 1 && folder[len - 1] == '/')
        len--;
    char **roots =
        s->n_roots < MOST_ROOTS ? reallocarray(s->roots, s->n_roots + 1, sizeof *roots) : NULL;
    char *root = roots != NULL ? malloc(len + 2) : NULL;
    if (roots != NULL)
        s->roots = roots;
    if (root == NULL)
        return;
    memcpy(root, folder, len);
    if (len > 0 && folder[len - 1] != '/')
        root[len++] = '/';
    root[len] = '\0';
    s->roots[s->n_roots++] = root;
}

static void add_given(struct bbf_sources *s, const char *folders)
{
    for (;;) {
        size_t len = strcspn(folders, ":");
        if (len > 0)
            add_root(s, folders, len);
        if (folders[len] == '\0')
            return;
        folders += len + 1;
    }
}

/* src/main/java, module/src/test/kotlin, group/module/src/…; then the current folder. */
static void add_usual(struct bbf_sources *s)
{
    static const char *const places[] = {"src", "*/src", "*/*/src"};
    static const char *const languages[] = {"java", "kotlin", "scala", "groovy"};
    enum {
        PLACES = sizeof places / sizeof *places,
        LANGUAGES = sizeof languages / sizeof *languages
    };
    glob_t found = {.gl_pathc = 0};

    for (size_t i = 0; i < (size_t)PLACES * LANGUAGES; i++) {
        char pattern[32]; /* with the slash at its end folders only; musl has no option for that */
        snprintf(pattern, sizeof pattern, "%s/*/%s/", places[i / LANGUAGES],
                 languages[i % LANGUAGES]);
        (void)glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &found);
    }
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_root(s, found.gl_pathv[i], strlen(found.gl_pathv[i]));
    globfree(&found);
    add_root(s, "src/", 3);
    add_root(s, "", 0);
}

static char *prefix_of(const char *variable)
{
    const char *root = getenv(variable);
    char whole[PATH_MAX], here[PATH_MAX], *prefix = NULL;

    if (root == NULL || realpath(root, whole) == NULL || realpath(".", here) == NULL)
        return NULL;
    size_t len = strlen(whole);
    if (strncmp(here, whole, len) != 0 || here[len] != '/' ||
        asprintf(&prefix, "%s/", here + len + 1) < 0)
        return NULL;
    return prefix;
}

void bbf_sources_init(struct bbf_sources *s, const char *folders)
{
    *s = (struct bbf_sources){.n_roots = 0};
    if (folders != NULL)
        add_given(s, folders);
    else
        add_usual(s);
    s->prefix = prefix_of("GITHUB_WORKSPACE");
    if (s->prefix == NULL)
        s->prefix = prefix_of("CI_PROJECT_DIR");
}

void bbf_sources_free(struct bbf_sources *s)
{
    for (size_t i = 0; i < s->n_roots; i++)
        free(s->roots[i]);
    free(s->roots);
    for (size_t i = 0; i < s->room; i++) {
        free(s->known[i].class_name);
        free(s->known[i].file);
    }
    free(s->known);
    free(s->prefix);
    *s = (struct bbf_sources){.n_roots = 0};
}

/* com.app.Outer$Inner in com/app/Outer: every dot becomes a slash, so no name leads upwards; one
 * that would have an empty part is refused. */
static bool relative_path(const char *class_name, char *path, size_t size)
{
    const char *dot = strrchr(class_name, '.');
    const char *simple = dot != NULL ? dot + 1 : class_name;

    if (*simple == '\0')
        return false;
    /* A name may begin with '$'. */
    size_t len = (size_t)(simple - class_name) + 1 + strcspn(simple + 1, "$");
    if (class_name[0] == '.' || len >= size)
        return false;
    memcpy(path, class_name, len);
    path[len] = '\0';
    for (char *p = path; *p != '\0'; p++) {
        if (*p == '/' || *p == '\n' || *p == '\r')
            return false;
        *p = (char)(*p == '.' ? '/' : *p);
    }
    return strstr(path, "//") == NULL;
}

/* The path relative to the repository, if the file is there. */
static char *look(const struct bbf_sources *s, const char *root, const char *path,
                  const char *extension)
{
    char *file = NULL, *result = NULL, here[PATH_MAX];

    if (asprintf(&file, "%s%s.%s", root, path, extension) < 0)
        return NULL;
    if (access(file, F_OK) == 0) {
        const char *relative = file;
        size_t len = getcwd(here, sizeof here) != NULL ? strlen(here) : 0;
        if (file[0] == '/' && len > 0 && strncmp(file, here, len) == 0 && file[len] == '/')
            relative = file + len + 1;
        while (strncmp(relative, "./", 2) == 0)
            relative += 2;
        if (asprintf(&result, "%s%s", relative[0] != '/' && s->prefix != NULL ? s->prefix : "",
                     relative) < 0)
            result = NULL;
    }
    free(file);
    return result;
}

static char *search(const struct bbf_sources *s, const char *class_name)
{
    static const char *const extensions[] = {"java", "kt", "scala", "groovy"};
    char path[PATH_MAX], *found = NULL;

    if (!relative_path(class_name, path, sizeof path))
        return NULL;
    for (size_t r = 0; r < s->n_roots && found == NULL; r++)
        for (size_t e = 0; e < sizeof extensions / sizeof *extensions && found == NULL; e++)
            found = look(s, s->roots[r], path, extensions[e]);
    size_t len = strlen(path);
    if (found != NULL || len < 3 || strcmp(path + len - 2, "Kt") != 0)
        return found;
    path[len - 2] =
        '\0'; /* Kotlin's functions of a file are in a class of the file's name and Kt */
    for (size_t r = 0; r < s->n_roots && found == NULL; r++)
        found = look(s, s->roots[r], path, "kt");
    return found;
}

/* The place of the name in the table, or a free one. The table has one. */
static struct bbf_source *place_of(const struct bbf_sources *s, const char *class_name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *p = class_name; *p != '\0'; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    for (;; hash++) {
        struct bbf_source *one = &s->known[(hash ^ hash >> 32) & (s->room - 1)];
        if (one->class_name == NULL || strcmp(one->class_name, class_name) == 0)
            return one;
    }
}

static bool make_room(struct bbf_sources *s)
{
    struct bbf_sources larger = *s;

    if (2 * (s->n_known + 1) <= s->room)
        return true;
    larger.room = s->room == 0 ? 64 : 2 * s->room;
    larger.known = calloc(larger.room, sizeof *larger.known);
    if (larger.known == NULL)
        return false;
    for (size_t i = 0; i < s->room; i++)
        if (s->known[i].class_name != NULL)
            *place_of(&larger, s->known[i].class_name) = s->known[i];
    free(s->known);
    s->known = larger.known;
    s->room = larger.room;
    return true;
}

const char *bbf_sources_find(void *sources, const char *class_name)
{
    struct bbf_sources *s = sources;

    if (!make_room(s))
        return NULL;
    struct bbf_source *one = place_of(s, class_name);
    if (one->class_name == NULL) {
        one->class_name = strdup(class_name);
        if (one->class_name == NULL)
            return NULL;
        one->file = search(s, class_name);
        s->n_known++;
    }
    return one->file;
}
