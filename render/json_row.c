/* SPDX-License-Identifier: Apache-2.0 */
#include "render/json_row.h"

#include "render/json_names.h"

#include <string.h>

struct cursor {
    const char *at, *end;
    bool failed;
};

static bool take(struct cursor *c, const char *text, size_t len)
{
    if (c->failed || (size_t)(c->end - c->at) < len || memcmp(c->at, text, len) != 0)
        return false;
    c->at += len;
    return true;
}

static void need(struct cursor *c, const char *text, size_t len)
{
    if (!take(c, text, len))
        c->failed = true;
}

#define NEED(c, text) need(c, text, sizeof(text) - 1)

/* RFC 8259: no sign, no leading zero. */
static uint64_t number(struct cursor *c, uint64_t limit)
{
    const char *start = c->at;
    uint64_t n = 0;

    while (c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        uint64_t digit = (uint64_t)(*c->at++ - '0');
        if (n > (UINT64_MAX - digit) / 10) {
            c->failed = true;
            return 0;
        }
        n = n * 10 + digit;
    }
    if (c->at == start || (*start == '0' && c->at != start + 1) || n > limit)
        c->failed = true;
    return n;
}

static uint8_t bucket(struct cursor *c)
{
    for (uint8_t i = 0; i < sizeof bbf_json_refs / sizeof bbf_json_refs[0]; i++)
        if (take(c, bbf_json_refs[i], strlen(bbf_json_refs[i])))
            return i;
    c->failed = true;
    return 0;
}

size_t bbf_json_node_row(const char *text, size_t len, struct bbf_snap_node *node)
{
    struct cursor c = {text, text + len, false};

    NEED(&c, "{\"id\":");
    node->id = (uint32_t)number(&c, UINT32_MAX);
    NEED(&c, ",\"parent\":");
    node->parent = take(&c, "-1", 2) ? -1 : (int64_t)number(&c, UINT32_MAX);
    NEED(&c, ",\"site\":");
    node->site = (uint32_t)number(&c, UINT32_MAX);
    NEED(&c, ",\"ref\":\"");
    node->ref = bucket(&c);
    NEED(&c, "\"");
    node->loop = take(&c, ",\"loop\":true", sizeof ",\"loop\":true" - 1);
#define XX(name)                                                                                   \
    NEED(&c, ",\"" #name "\":");                                                                   \
    node->name##_ = number(&c, UINT64_MAX);
    BBF_NODE_COLUMNS(XX)
#undef XX
    NEED(&c, "}");
    return c.failed ? 0 : (size_t)(c.at - text);
}
