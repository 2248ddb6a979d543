/* SPDX-License-Identifier: Apache-2.0 */
#include "client/words.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 20000 }; /* a hostile process has any number of arguments */

void bbf_words_add(struct bbf_words *words, const char *text, size_t len)
{
    if (len == 0 || words->count >= WORDS_MAX)
        return;
    char **items = realloc(words->items, (words->count + 1) * sizeof *items);
    char *copy = strndup(text, len);

    if (items != NULL)
        words->items = items;
    if (items == NULL || copy == NULL) {
        free(copy);
        words->failed = true;
        return;
    }
    words->items[words->count++] = copy;
}

void bbf_words_of_arguments(struct bbf_words *words, const char *bytes, size_t len)
{
    for (size_t at = 0, n; at < len; at += n + 1) {
        n = strnlen(bytes + at, len - at);
        bbf_words_add(words, bytes + at, n);
    }
}

/* Words at blanks; a blank within ' ' or " " does not count, as the launcher has it. */
static void add_quoted(struct bbf_words *words, const char *text, size_t len)
{
    char *word = malloc(len + 1), quote = '\0';
    size_t n = 0;

    if (word == NULL) {
        words->failed = true;
        return;
    }
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (quote != '\0' ? c == quote : c == '"' || c == '\'') {
            quote = quote != '\0' ? '\0' : c;
        } else if (quote == '\0' && strchr(" \t\n", c) != NULL) {
            bbf_words_add(words, word, n);
            n = 0;
        } else {
            word[n++] = c;
        }
    }
    bbf_words_add(words, word, n);
    free(word);
}

void bbf_words_of_environ(struct bbf_words *words, const char *bytes, size_t len,
                          const char *wanted)
{
    size_t name = strlen(wanted);

    for (size_t at = 0, n; at < len; at += n + 1) {
        n = strnlen(bytes + at, len - at);
        if (n > name && memcmp(bytes + at, wanted, name) == 0 && bytes[at + name] == '=')
            add_quoted(words, bytes + at + name + 1, n - name - 1);
    }
}

void bbf_words_of_line(struct bbf_words *words, const char *line)
{
    while (*line != '\0') {
        const char *end = strstr(line, " -");
        size_t len = end != NULL ? (size_t)(end - line) : strlen(line);
        char *word = strndup(line, len);

        if (word == NULL) {
            words->failed = true;
            return;
        }
        if (!bbf_words_has(words, word))
            bbf_words_add(words, word, len);
        free(word);
        line += len + (end != NULL);
    }
}

void bbf_words_free(struct bbf_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
    *words = (struct bbf_words){NULL, 0, false};
}

const char *bbf_words_last(const struct bbf_words *words, const char *start)
{
    size_t len = strlen(start);

    for (size_t i = words->count; i-- > 0;)
        if (strncmp(words->items[i], start, len) == 0)
            return words->items[i] + len;
    return NULL;
}

int bbf_words_switch(const struct bbf_words *words, const char *name)
{
    for (size_t i = words->count; i-- > 0;) {
        const char *word = words->items[i];
        if (strncmp(word, "-XX:", 4) == 0 && (word[4] == '+' || word[4] == '-') &&
            strcmp(word + 5, name) == 0)
            return word[4] == '+';
    }
    return -1;
}

bool bbf_words_has(const struct bbf_words *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->items[i], word) == 0)
            return true;
    return false;
}

bool bbf_words_start_bbflow(const char *word)
{
    return (strncmp(word, "-agentpath:", 11) == 0 && strstr(word, "libbbflow.so") != NULL) ||
           (strncmp(word, "-javaagent:", 11) == 0 && strstr(word, "bbflow-javaagent") != NULL);
}
