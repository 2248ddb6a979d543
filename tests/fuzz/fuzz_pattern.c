/* link: bbf_core */
/*
 * Patterns, then a NUL or the end, then a class name: each accepted pattern matches the class of
 * its own name and nothing that merely starts with its letters.
 */
#include "core/err.h"
#include "core/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_itself(const struct bbf_patterns *list, const char *dotted)
{
    size_t len = strlen(dotted);
    char *name = malloc(len + 3);
    if (name == NULL)
        return;
    memcpy(name, dotted, len + 1);
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '.')
            name[i] = '/';
    }
    if (bbf_patterns_match(list, name, len) < len)
        abort();
    memcpy(name + len, "/X", 2);
    if (bbf_patterns_match(list, name, len + 2) < len)
        abort();
    /* Not through this pattern; another of the list may still match a shorter or longer name. */
    name[len] = 'X';
    if (bbf_patterns_match(list, name, len + 1) == len)
        abort();
    free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *nul = size > 0 ? memchr(text, '\0', size) : NULL;
    size_t len = nul != NULL ? (size_t)(nul - text) : size;
    struct bbf_patterns *list;
    struct bbf_parse_error err = {0, ""};

    int rc = bbf_patterns_parse(&list, text, len, &err);
    if (rc == BBF_OK) {
        for (size_t i = 0; i < bbf_patterns_count(list); i++)
            check_itself(list, bbf_patterns_get(list, i));
        if (nul != NULL)
            (void)bbf_patterns_match(list, nul + 1, size - len - 1);
        bbf_patterns_free(list);
    } else if (rc != BBF_EINVAL || err.column == 0 || err.column > len + 1 || err.text[0] == '\0') {
        abort();
    }
    return 0;
}
