/* SPDX-License-Identifier: Apache-2.0 */
#include "client/next_start.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { PARTS_MAX = 3, PATH_BYTES = 512, OPTIONS_BYTES = 1024 };

static const char usual_path[] = "/opt/bbflow/libbbflow.so";

/* Packages of launchers: their main class says nothing about the application's. */
static bool is_framework(const char *name)
{
    static const char *const starts[] = {"org.springframework.",
                                         "org.apache.",
                                         "org.eclipse.",
                                         "org.jboss.",
                                         "org.wildfly.",
                                         "org.gradle.",
                                         "org.codehaus.",
                                         "io.quarkus.",
                                         "io.netty.",
                                         "io.micronaut.",
                                         "io.vertx.",
                                         "java.",
                                         "javax.",
                                         "jdk.",
                                         "sun.",
                                         "com.sun.",
                                         "kotlin.",
                                         "scala."};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* The first parts of a package's name, up to `end`; false: it is no plain name. */
static bool take_package(const char *name, const char *end, char *package, size_t size)
{
    int parts = 1;

    for (const char *p = name; p < end; p++) {
        if (*p == '.' && parts++ == PARTS_MAX)
            end = p;
        else if (!isalnum((unsigned char)*p) && *p != '_' && *p != '.')
            return false;
    }
    if (end <= name || (size_t)(end - name) >= size)
        return false;
    memcpy(package, name, (size_t)(end - name));
    package[end - name] = '\0';
    return true;
}

/* Is the class in this package, or below it? */
static bool is_below(const char *class, const char *package)
{
    size_t len = strlen(package);
    return class != NULL && strncmp(class, package, len) == 0 && class[len] == '.';
}

/* What the agent suggests: the package that has the main class, else the first. */
static bool suggested(const struct bbf_jvm_facts *facts, const char *list, char *package,
                      size_t size)
{
    char one[256];

    package[0] = '\0';
    for (const char *at = list; *at != '\0' && *at != ';'; at += strspn(at, ", ")) {
        size_t len = strcspn(at, ", ;");
        if (len == 0)
            break;
        if (take_package(at, at + len, one, sizeof one) &&
            (package[0] == '\0' || is_below(facts->main_class, one)))
            snprintf(package, size, "%s", one);
        at += len;
        if (is_below(facts->main_class, package))
            break;
    }
    return package[0] != '\0';
}

bool bbf_guess_package(const struct bbf_jvm_facts *facts, char *package, size_t size)
{
    static const char nearest[] = "nearest loaded packages: ";
    const struct bbf_words *notes = &facts->agent.notes;

    for (size_t i = 0; i < notes->count; i++) {
        const char *at = strstr(notes->items[i], nearest);
        if (at != NULL && suggested(facts, at + sizeof nearest - 1, package, size))
            return true;
    }
    const char *dot = facts->main_class != NULL ? strrchr(facts->main_class, '.') : NULL;
    return dot != NULL && !is_framework(facts->main_class) &&
           take_package(facts->main_class, dot, package, size);
}

/* What follows the path in "-agentpath:/x/libbbflow.so=a=b"; NULL: no such option. */
static const char *given_options(const struct bbf_jvm_facts *facts, char *path, size_t size)
{
    static const char start[] = "-agentpath:";

    for (size_t i = facts->words.count; i-- > 0;) {
        const char *word = facts->words.items[i];
        if (strncmp(word, start, sizeof start - 1) != 0 || strstr(word, "libbbflow.so") == NULL)
            continue;
        word += sizeof start - 1;
        size_t len = strcspn(word, "=");
        if (len >= size)
            return NULL;
        memcpy(path, word, len);
        path[len] = '\0';
        return word[len] == '=' ? word + len + 1 : word + len;
    }
    return NULL;
}

/* Append the options but include=, each after `separator`. */
static void keep_options(char *to, size_t size, const char *options, const char *separator)
{
    for (size_t n; options != NULL && *options != '\0'; options += n + (options[n] == ',')) {
        n = strcspn(options, ",");
        size_t len = strlen(to);
        if (strncmp(options, "include=", 8) == 0 || n == 0)
            continue;
        snprintf(to + len, size - len, "%s%.*s", separator, (int)n, options);
        separator = ",";
    }
}

/* Characters that a shell leaves alone. */
static bool is_plain(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "-_./=:,+%@")] == '\0';
}

bool bbf_next_start(const struct bbf_jvm_facts *facts, const struct bbf_library_facts *library,
                    char *option, size_t size, bool *copy)
{
    char path[PATH_BYTES] = "", options[OPTIONS_BYTES] = "", package[256];
    const char *given = given_options(facts, path, sizeof path);

    *copy = false;
    if (given == NULL) {
        bool here =
            library->there && (!facts->other_files || bbf_jvm_has_file(facts, library->path));
        snprintf(path, sizeof path, "%s", here ? library->path : usual_path);
        *copy = !here && !bbf_jvm_has_file(facts, usual_path);
    }
    /* '=' begins the options, and white space ends a word of JAVA_TOOL_OPTIONS. */
    if (path[strcspn(path, "= \t\n'\"")] != '\0')
        return false;
    if (bbf_guess_package(facts, package, sizeof package))
        snprintf(options, sizeof options, "=include=%s", package);
    else if (given != NULL && strstr(given, "include=") != NULL) {
        const char *include = strstr(given, "include=");
        snprintf(options, sizeof options, "=%.*s", (int)strcspn(include, ","), include);
    }
    keep_options(options, sizeof options, given, options[0] != '\0' ? "," : "=");
    const char *quote = is_plain(path) && is_plain(options) ? "" : "'";
    if (strchr(options, '\'') != NULL)
        return false;
    int n = snprintf(option, size, "%s-agentpath:%s%s%s", quote, path, options, quote);
    return n > 0 && (size_t)n < size;
}
