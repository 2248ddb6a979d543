/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/words.h - the options that a JVM was started with, as a list of texts, and what the last
 * one of a name says.
 *
 * Threads: one owner. A list owns its texts.
 */
#ifndef BBF_CLIENT_WORDS_H
#define BBF_CLIENT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct bbf_words {
    char **items;
    size_t count;
    bool failed; /* out of memory: some are missing */
};

/* Append a copy of `len` bytes. An empty text is left out. */
void bbf_words_add(struct bbf_words *words, const char *text, size_t len);

/* Append the texts that each end with a NUL, as in /proc/PID/cmdline; the last NUL may be cut. */
void bbf_words_of_arguments(struct bbf_words *words, const char *bytes, size_t len);

/* Append the words of JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS and _JAVA_OPTIONS in /proc/PID/environ
 * for which `wanted` names the variable. Quotes of the launcher are removed. */
void bbf_words_of_environ(struct bbf_words *words, const char *bytes, size_t len,
                          const char *wanted);

/* Append those options of a text as "-Xmx1g -Dx=a b", that are not in the list yet. A blank before
 * '-' separates two. */
void bbf_words_of_line(struct bbf_words *words, const char *line);

void bbf_words_free(struct bbf_words *words);

/* What follows `start` in the last word that begins with it; NULL: there is no such word. */
const char *bbf_words_last(const struct bbf_words *words, const char *start);

/* The last of -XX:+NAME (1) and -XX:-NAME (0); -1: neither is there. */
int bbf_words_switch(const struct bbf_words *words, const char *name);

/* Is the word itself there? */
bool bbf_words_has(const struct bbf_words *words, const char *word);

/* Does this JVM option load bbflow, by -agentpath or as bbflow-javaagent.jar? */
bool bbf_words_start_bbflow(const char *word);

#endif
