/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/sources.h - the source file of a class, for reports that name a file and a line: searched
 * below the current folder where Maven and Gradle have sources, or below given folders. A class
 * file has only the file's last name, so it is the package that decides.
 *
 * Threads: one owner.
 */
#ifndef BBF_CLIENT_SOURCES_H
#define BBF_CLIENT_SOURCES_H

#include <stddef.h>

struct bbf_sources {
    char **roots; /* with '/' at the end, or "" */
    size_t n_roots;
    char *prefix; /* from the repository to the current folder, with '/' at the end, or "" */
    struct bbf_source {
        char *class_name, *file; /* file NULL: there is none */
    } * known;                   /* by hash */
    size_t n_known, room;
};

/* `folders`: joined by ':'; NULL: the usual ones. Without memory nothing is found. */
void bbf_sources_init(struct bbf_sources *sources, const char *folders);
void bbf_sources_free(struct bbf_sources *sources);

/* The path of the class's file relative to the repository: to $GITHUB_WORKSPACE or
 * $CI_PROJECT_DIR if the current folder is below it, else to the current folder. NULL: not found.
 * `sources` is a struct bbf_sources. The result is valid until bbf_sources_free(). */
const char *bbf_sources_find(void *sources, const char *class_name);

#endif
