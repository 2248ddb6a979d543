/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/nettys.h"

#include <string.h>

#include "agent/state.h"
#include "instrument/netty.h"
#include "trie/map.h"
#include "trie/windows.h"

bool bbf_nettys_is_bytebuf(const char *name, size_t *prefix)
{
    *prefix = bbf_netty_buffer_prefix(name, strlen(name));
    return *prefix > 0 && strcmp(name + *prefix, "buffer/ByteBuf") == 0;
}

/* "io.netty" against the first `len` characters of "io/netty/buffer/ByteBuf". */
static bool same_prefix(const char *dotted, const char *name, size_t len)
{
    if (strlen(dotted) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (dotted[i] != (name[i] == '/' ? '.' : name[i]))
            return false;
    return true;
}

/* The caller holds seen_lock. */
static bool is_remembered(const char *name, size_t len, bool has_field)
{
    bool known = false;
    for (size_t i = 0; i < bbf_agent.n_seen; i++) {
        const struct bbf_netty_seen *s = &bbf_agent.seen[i];
        known = known || (same_prefix(s->prefix, name, len) && s->has_field == has_field);
    }
    return known;
}

/* Is a ByteBuf without the field known for this Netty? Then its reason is also known. */
bool bbf_nettys_is_known_without(const char *name, size_t prefix)
{
    size_t len = prefix > 0 ? prefix - 1 : 0;
    pthread_mutex_lock(&bbf_agent.seen_lock);
    bool known = is_remembered(name, len < BBF_MAX_PREFIX ? len : BBF_MAX_PREFIX - 1, false);
    pthread_mutex_unlock(&bbf_agent.seen_lock);
    return known;
}

void bbf_nettys_remember(const char *name, size_t prefix, bool has_field, const char *why)
{
    size_t len = prefix > 0 ? prefix - 1 : 0;
    if (len >= BBF_MAX_PREFIX)
        len = BBF_MAX_PREFIX - 1;
    pthread_mutex_lock(&bbf_agent.seen_lock);
    if (!is_remembered(name, len, has_field) && bbf_agent.n_seen < BBF_MAX_NETTYS) {
        struct bbf_netty_seen *s = &bbf_agent.seen[bbf_agent.n_seen++];
        memcpy(s->prefix, name, len);
        s->prefix[len] = '\0';
        for (char *p = s->prefix; *p != '\0'; p++)
            *p = *p == '/' ? '.' : *p;
        s->has_field = has_field;
        s->why = why;
    }
    pthread_mutex_unlock(&bbf_agent.seen_lock);
    atomic_store(&bbf_agent.netty_loaded, true);
}

/* Did every ByteBuf of this prefix get the field as it was loaded? */
bool bbf_nettys_always_with_field(const char *name, size_t prefix)
{
    size_t len = prefix > 0 ? prefix - 1 : 0;
    bool with = false, without = false;
    pthread_mutex_lock(&bbf_agent.seen_lock);
    for (size_t i = 0; i < bbf_agent.n_seen; i++) {
        const struct bbf_netty_seen *s = &bbf_agent.seen[i];
        bool same = same_prefix(s->prefix, name, len);
        with = with || (same && s->has_field);
        without = without || (same && !s->has_field);
    }
    pthread_mutex_unlock(&bbf_agent.seen_lock);
    return with && !without;
}

bool bbf_nettys_have_field(void)
{
    bool has = false;
    pthread_mutex_lock(&bbf_agent.seen_lock);
    for (size_t i = 0; i < bbf_agent.n_seen; i++)
        has = has || bbf_agent.seen[i].has_field;
    pthread_mutex_unlock(&bbf_agent.seen_lock);
    return has;
}

/* From here on a step may meet a ByteBuf without the field, so the shim tests classes (design.md:
 * hot path). */
void bbf_nettys_set_fieldless(void)
{
    (void)bbf_map_open(bbf_agent.tracker);
    bbf_tracker_expect_fieldless(bbf_agent.tracker);
}

/* With windows the gate has the tracker's bit, and their thread asks before it opens it. */
static _Atomic bool idle;

void bbf_nettys_set_idle(void)
{
    atomic_store(&idle, true);
    if (!bbf_windows_are_used(bbf_agent.tracker))
        bbf_tracker_set_idle(bbf_agent.tracker, true);
}

bool bbf_nettys_are_idle(void)
{
    return atomic_load(&idle);
}

/* `unseen`: the hooks were there, and what was opened meanwhile has no life, so where Netty is
 * there already a first sight may be of a released buffer. */
void bbf_nettys_wake(bool unseen)
{
    atomic_store(&idle, false);
    if (!bbf_windows_are_used(bbf_agent.tracker))
        bbf_tracker_set_idle(bbf_agent.tracker, false);
    /* In this order: a buffer from before has set netty_loaded. */
    if (unseen && atomic_load(&bbf_agent.netty_loaded))
        bbf_tracker_expect_unseen(bbf_agent.tracker);
}

/* Before the first class that is beside include= can run. */
void bbf_nettys_wake_for(const char *name, const struct bbf_rules *rules, bool unseen)
{
    if (bbf_nettys_are_idle() && bbf_plan_is_near(name, strlen(name), rules))
        bbf_nettys_wake(unseen);
}
