/* SPDX-License-Identifier: Apache-2.0 */
#include "client/netty_paths.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"

enum { FRAMES_MAX = 4096 };

static void clear(struct bbf_jfr_keys *keys)
{
    free(keys->places);
    *keys = (struct bbf_jfr_keys){0};
}

void bbf_netty_paths_next_chunk(struct bbf_netty_paths *p)
{
    clear(&p->of_stack);
    clear(&p->of_method);
    clear(&p->late_stacks);
}

void bbf_netty_paths_free(struct bbf_netty_paths *p)
{
    for (size_t i = 0; i < p->n_sites; i++) {
        free(p->sites[i].class_name);
        free(p->sites[i].method);
        free(p->sites[i].descriptor);
    }
    free(p->sites);
    free(p->nodes);
    free(p->stack);
    clear(&p->by_text);
    clear(&p->children);
    bbf_netty_paths_next_chunk(p);
}

/* Room for one more element; false: no memory. */
static bool grow(void **list, size_t n, size_t *room, size_t element)
{
    if (n < *room)
        return true;
    size_t more = *room > 0 ? 2 * *room : 64;
    void *grown = realloc(*list, more * element);
    if (grown == NULL)
        return false;
    *list = grown;
    *room = more;
    return true;
}

/* ---- sites ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    while (*text++ != '\0');
    return hash;
}

static bool is_in_package(const char *class_name, const char *package)
{
    const char *dot = strrchr(class_name, '.');
    size_t len = dot != NULL ? (size_t)(dot - class_name) : 0, end = strlen(package);

    return len >= end && memcmp(class_name + len - end, package, end) == 0 &&
           (len == end || class_name[len - end - 1] == '.');
}

static bool is_same_site(const struct bbf_netty_site *site, const char *const text[3])
{
    return strcmp(site->class_name, text[0]) == 0 && strcmp(site->method, text[1]) == 0 &&
           strcmp(site->descriptor, text[2]) == 0;
}

/* Copies the three texts; the site + 1, 0: no memory. */
static uint64_t add_site(struct bbf_netty_paths *p, const char *const text[3])
{
    if (!grow((void **)&p->sites, p->n_sites, &p->sites_room, sizeof *p->sites))
        return 0;
    struct bbf_netty_site *site = &p->sites[p->n_sites];
    const char *dot = strrchr(text[0], '.');
    *site = (struct bbf_netty_site){
        .class_name = strdup(text[0]),
        .method = strdup(text[1]),
        .descriptor = strdup(text[2]),
        .is_buffer = is_in_package(text[0], "io.netty.buffer"),
        .is_recorder = strncmp(text[0], "jdk.jfr.", 8) == 0,
    };
    site->sets_address_late = site->is_buffer &&
                              strcmp(dot + 1, "PooledUnsafeDirectByteBuf") == 0 &&
                              strcmp(text[1], "init") == 0;
    p->n_sites++;
    return site->class_name != NULL && site->method != NULL && site->descriptor != NULL ? p->n_sites
                                                                                        : 0;
}

/* The site + 1 of class, method, descriptor; 0: no memory. */
static uint64_t site_of(struct bbf_netty_paths *p, const char *const text[3])
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325), found;

    for (int i = 0; i < 3; i++)
        hash = hash_text(hash, text[i]);
    /* Two texts of one hash: the second has the next hash that is free. */
    while ((found = bbf_jfr_keys_get(&p->by_text, hash)) != 0) {
        if (is_same_site(&p->sites[found - 1], text))
            return found;
        hash++;
    }
    found = add_site(p, text);
    return found != 0 && bbf_jfr_keys_add(&p->by_text, hash, found) ? found : 0;
}

static void add_member(struct bbf_buf *to, const struct bbf_jfr_chunk *chunk,
                       const struct bbf_jfr_value *of, const char *name)
{
    struct bbf_jfr_value value = bbf_jfr_member(chunk, of, name);

    if (value.what == BBF_JFR_IS_TEXT)
        bbf_jfr_add_text(to, &value.text);
}

static uint64_t site_of_method(struct bbf_netty_paths *p, const struct bbf_jfr_chunk *chunk,
                               const struct bbf_jfr_value *method)
{
    struct bbf_buf text[3] = {BBF_BUF_INIT, BBF_BUF_INIT, BBF_BUF_INIT};
    uint64_t site = method->key != 0 ? bbf_jfr_keys_get(&p->of_method, method->key) : 0;

    if (site != 0)
        return site;
    struct bbf_jfr_value type = bbf_jfr_member(chunk, method, "type");
    add_member(&text[0], chunk, &type, "name");
    add_member(&text[1], chunk, method, "name");
    add_member(&text[2], chunk, method, "descriptor");
    for (size_t i = 0; i < text[0].len; i++)
        text[0].data[i] = text[0].data[i] == '/' ? '.' : text[0].data[i];
    if (text[1].len == 0)
        bbf_buf_str(&text[1], "?no-method");
    const char *const texts[3] = {bbf_buf_cstr(&text[0]), bbf_buf_cstr(&text[1]),
                                  bbf_buf_cstr(&text[2])};
    site = text[0].failed || text[1].failed || text[2].failed ? 0 : site_of(p, texts);
    for (int i = 0; i < 3; i++)
        bbf_buf_free(&text[i]);
    if (site != 0 && method->key != 0 && !bbf_jfr_keys_add(&p->of_method, method->key, site))
        return 0;
    return site;
}

/* ---- nodes ---- */

/* The child of `parent` at that site; the parent itself where the limit is reached. */
static uint32_t child_of(struct bbf_netty_paths *p, uint32_t parent, uint32_t site)
{
    uint64_t key = (uint64_t)parent << 32 | site, found = bbf_jfr_keys_get(&p->children, key);

    if (found != 0)
        return (uint32_t)(found - 1);
    if (p->n_nodes >= p->max_nodes && parent != BBF_NETTY_NO_NODE) {
        p->folded++;
        return parent;
    }
    if (!grow((void **)&p->nodes, p->n_nodes, &p->nodes_room, sizeof *p->nodes) ||
        !bbf_jfr_keys_add(&p->children, key, p->n_nodes + 1))
        return BBF_NETTY_NO_NODE;
    p->nodes[p->n_nodes] = (struct bbf_netty_node){.parent = parent, .site = site};
    return (uint32_t)p->n_nodes++;
}

/* The first frame of the path: where the program called Netty's buffers. */
static size_t root_of(const struct bbf_netty_paths *p, size_t n)
{
    size_t first = 0;

    while (first + 1 < n && p->sites[p->stack[first]].is_recorder)
        first++;
    while (first + 1 < n && p->sites[p->stack[first]].is_buffer &&
           p->sites[p->stack[first + 1]].is_buffer)
        first++;
    return first;
}

/* Sites of the frames into p->stack, innermost first; false: no memory. */
static bool read_frames(struct bbf_netty_paths *p, const struct bbf_jfr_chunk *chunk,
                        const struct bbf_jfr_value *trace, size_t *n, bool *is_late)
{
    struct bbf_jfr_value list = bbf_jfr_member(chunk, trace, "frames"), frame;

    while (list.what == BBF_JFR_IS_LIST && *n < FRAMES_MAX &&
           bbf_jfr_read_element(chunk, &list, &frame)) {
        struct bbf_jfr_value method = bbf_jfr_member(chunk, &frame, "method");
        uint64_t site = site_of_method(p, chunk, &method);
        if (site == 0 || !grow((void **)&p->stack, *n, &p->stack_room, sizeof *p->stack))
            return false;
        *is_late = *is_late || p->sites[site - 1].sets_address_late;
        p->stack[(*n)++] = (uint32_t)(site - 1);
    }
    return true;
}

static uint32_t read_path(struct bbf_netty_paths *p, const struct bbf_jfr_chunk *chunk,
                          const struct bbf_jfr_value *trace, bool *is_late)
{
    static const char *const unknown[3] = {"", "?no-stack", ""};
    uint32_t node = BBF_NETTY_NO_NODE;
    size_t n = 0;

    if (!read_frames(p, chunk, trace, &n, is_late))
        return node;
    if (n == 0) {
        uint64_t site = site_of(p, unknown);
        return site != 0 ? child_of(p, node, (uint32_t)(site - 1)) : node;
    }
    for (size_t i = root_of(p, n); i < n; i++) {
        uint32_t next = child_of(p, node, p->stack[i]);
        if (next == BBF_NETTY_NO_NODE || next == node)
            return next;
        node = next;
    }
    return node;
}

uint32_t bbf_netty_path(struct bbf_netty_paths *p, const struct bbf_jfr_chunk *chunk,
                        const struct bbf_jfr_value *trace, bool *is_late)
{
    uint64_t key = trace->key, found = key != 0 ? bbf_jfr_keys_get(&p->of_stack, key) : 0;
    struct bbf_jfr_value truncated;

    *is_late = false;
    p->without_stack += trace->what != BBF_JFR_IS_STRUCT;
    if (found != 0) {
        *is_late = bbf_jfr_keys_get(&p->late_stacks, key) != 0;
        return (uint32_t)(found - 1);
    }
    truncated = bbf_jfr_member(chunk, trace, "truncated");
    p->truncated += truncated.what == BBF_JFR_IS_BOOLEAN && truncated.integer != 0;
    uint32_t node = read_path(p, chunk, trace, is_late);
    if (node == BBF_NETTY_NO_NODE || key == 0)
        return node;
    bool good = bbf_jfr_keys_add(&p->of_stack, key, (uint64_t)node + 1) &&
                (!*is_late || bbf_jfr_keys_add(&p->late_stacks, key, 1));
    return good ? node : BBF_NETTY_NO_NODE;
}
