/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/rewritten_classes.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct changed {
    uint64_t at_load_ns; /* the last one of that name; 0 = none */
    const char *name;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *names; /* tsearch()'s tree */
static unsigned count;
static bool every; /* names are missing in it */
static uint64_t last_load_ns;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct changed *)a)->name, ((const struct changed *)b)->name);
}

static struct changed *find(const char *name)
{
    struct changed key = {0, name}, **found = tfind(&key, &names, by_name);

    return found == NULL ? NULL : *found;
}

static struct changed *insert(const char *name)
{
    size_t size = strlen(name) + 1;
    struct changed *new = count < BBF_REWRITTEN_CLASSES_MOST ? malloc(sizeof *new + size) : NULL;

    if (new != NULL) {
        *new = (struct changed){0, memcpy(new + 1, name, size)};
        if (tsearch(new, &names, by_name) != NULL) {
            count++;
            return new;
        }
        free(new);
    }
    every = true;
    return NULL;
}

void bbf_rewritten_classes_add(const char *name, uint64_t at_load_ns)
{
    pthread_mutex_lock(&lock);
    struct changed *c = find(name);
    if (c == NULL)
        c = insert(name);
    if (c != NULL && at_load_ns > c->at_load_ns)
        c->at_load_ns = at_load_ns;
    if (at_load_ns > last_load_ns)
        last_load_ns = at_load_ns;
    pthread_mutex_unlock(&lock);
}

bool bbf_rewritten_classes_has(const char *name, uint64_t since_ns)
{
    pthread_mutex_lock(&lock);
    const struct changed *c = find(name);
    bool is = (c != NULL && c->at_load_ns >= since_ns) || (every && last_load_ns >= since_ns);
    pthread_mutex_unlock(&lock);
    return is;
}

bool bbf_rewritten_classes_any_since(uint64_t since_ns)
{
    pthread_mutex_lock(&lock);
    bool is = last_load_ns >= since_ns;
    pthread_mutex_unlock(&lock);
    return is;
}
