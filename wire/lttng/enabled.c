/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/lttng/enabled.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"

struct bbf_lttng_name {
    char text[BBF_LTTNG_NAME_SIZE];
    uint64_t count;
    struct bbf_lttng_levels levels;
};

enum { ROOM_FIRST = 8 };

void bbf_lttng_enabled_free(struct bbf_lttng_enabled *enabled)
{
    free(enabled->names);
    *enabled = BBF_LTTNG_ENABLED_INIT;
}

void bbf_lttng_enabled_clear(struct bbf_lttng_enabled *enabled)
{
    enabled->n = 0;
}

static struct bbf_lttng_levels levels_of(const struct bbf_lttng_command *command)
{
    if (command->type == BBF_LTTNG_LEVEL_ALL)
        return (struct bbf_lttng_levels){INT32_MIN, INT32_MAX};
    return (struct bbf_lttng_levels){
        command->level, command->type == BBF_LTTNG_LEVEL_RANGE ? INT32_MAX : command->level};
}

static struct bbf_lttng_levels join(struct bbf_lttng_levels a, struct bbf_lttng_levels b)
{
    return (struct bbf_lttng_levels){a.least < b.least ? a.least : b.least,
                                     a.most > b.most ? a.most : b.most};
}

static struct bbf_lttng_name *find(const struct bbf_lttng_enabled *enabled, const char *name)
{
    for (size_t i = 0; i < enabled->n; i++)
        if (strcmp(enabled->names[i].text, name) == 0)
            return &enabled->names[i];
    return NULL;
}

static int make_room(struct bbf_lttng_enabled *enabled)
{
    if (enabled->n < enabled->room)
        return BBF_OK;
    if (enabled->n == BBF_LTTNG_NAMES_MAX)
        return BBF_ELIMIT;
    size_t room = enabled->room == 0 ? ROOM_FIRST : 2 * enabled->room;
    struct bbf_lttng_name *names = reallocarray(enabled->names, room, sizeof *names);
    if (names == NULL)
        return BBF_ENOMEM;
    enabled->names = names;
    enabled->room = room;
    return BBF_OK;
}

int bbf_lttng_enabled_add(struct bbf_lttng_enabled *enabled,
                          const struct bbf_lttng_command *command)
{
    struct bbf_lttng_name *name = find(enabled, command->name);

    if (name == NULL) {
        int err = make_room(enabled);
        if (err != BBF_OK)
            return err;
        name = &enabled->names[enabled->n++];
        *name = (struct bbf_lttng_name){.levels = BBF_LTTNG_NO_LEVELS};
        memcpy(name->text, command->name, strlen(command->name) + 1);
    }
    name->count++;
    name->levels = join(name->levels, levels_of(command));
    return BBF_OK;
}

int bbf_lttng_enabled_remove(struct bbf_lttng_enabled *enabled, const char *text)
{
    struct bbf_lttng_name *name = find(enabled, text);

    if (name == NULL)
        return BBF_ENOTFOUND;
    if (--name->count == 0)
        *name = enabled->names[--enabled->n];
    return BBF_OK;
}

struct bbf_lttng_levels bbf_lttng_enabled_levels(const struct bbf_lttng_enabled *enabled,
                                                 const char *logger)
{
    struct bbf_lttng_levels levels = BBF_LTTNG_NO_LEVELS;

    for (size_t i = 0; i < enabled->n; i++)
        if (bbf_lttng_matches(enabled->names[i].text, logger))
            levels = join(levels, enabled->names[i].levels);
    return levels;
}

/* After a mismatch only the last '*' takes one character more: at most pattern * logger steps. */
bool bbf_lttng_matches(const char *pattern, const char *logger)
{
    const char *star = NULL, *taken = NULL; /* what is after the last '*', and where it began */

    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            taken = logger;
            continue;
        }
        if (*logger == '\0')
            return *pattern == '\0';
        const char *literal = pattern;
        if (*literal == '\\' && (literal[1] == '*' || literal[1] == '\\'))
            literal++;
        if (*literal == *logger) {
            pattern = literal + 1;
            logger++;
        } else if (star != NULL) {
            pattern = star;
            logger = ++taken;
        } else {
            return false;
        }
    }
}
