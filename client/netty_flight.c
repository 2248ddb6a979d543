/* SPDX-License-Identifier: Apache-2.0 */
#include "client/netty_flight.h"

#include <stdlib.h>
#include <string.h>

#include "client/netty_report.h"
#include "client/netty_state.h"
#include "core/buf.h"
#include "core/err.h"

/* ---- events ---- */

enum kind {
    ALLOCATE_BUFFER,
    FREE_BUFFER,
    REALLOCATE_BUFFER,
    ALLOCATE_CHUNK,
    FREE_CHUNK,
    RETURN_CHUNK,
    DATA_LOSS,
    JVM,
    KINDS
};

static const char *const type_names[KINDS] = {
    "io.netty.AllocateBuffer",
    "io.netty.FreeBuffer",
    "io.netty.ReallocateBuffer",
    "io.netty.AllocateChunk",
    "io.netty.FreeChunk",
    "io.netty.ReturnChunk",
    "jdk.DataLoss",
    "jdk.JVMInformation",
};

static enum kind kind_of(const struct bbf_jfr_type *type)
{
    size_t kind = 0;

    while (kind < KINDS && strcmp(type->name, type_names[kind]) != 0)
        kind++;
    return (enum kind)kind;
}

enum role {
    SIZE,
    CAPACITY,
    NEW_CAPACITY,
    MAX_FAST,
    MAX_CAPACITY,
    DIRECT,
    ADDRESS,
    NUMBERS,
    THREAD = NUMBERS,
    STACK,
    ALLOCATOR,
    ROLES
};

static const char *const field_names[ROLES] = {
    "size",   "capacity", "newCapacity", "maxFastCapacity", "maxCapacity",
    "direct", "address",  "eventThread", "stackTrace",      "allocatorType"};

enum { FIELDS_MAX = 32 };

struct reader {
    struct bbf_netty_state *state;
    const struct bbf_jfr_chunk *chunk;
    signed char kinds[KINDS + 1]; /* of the chunk: 1 its roles are known */
    unsigned char roles[KINDS][FIELDS_MAX];
    uint64_t class_key; /* of the chunk: the allocator seen last; 0: none */
    bool class_is_pooled;
};

struct event {
    uint64_t number[NUMBERS], thread;
    int64_t start_ns;
    struct bbf_jfr_value stack;
    bool is_pooled; /* of PooledByteBufAllocator */
};

static enum role role_of(const char *field)
{
    size_t role = 0;

    while (role < ROLES && strcmp(field, field_names[role]) != 0)
        role++;
    return (enum role)role;
}

static void learn_roles(struct reader *r, enum kind kind, const struct bbf_jfr_type *type)
{
    for (size_t i = 0; i < type->n_fields && i < FIELDS_MAX; i++)
        r->roles[kind][i] = (unsigned char)role_of(type->fields[i].name);
    r->kinds[kind] = 1;
}

static bool is_pooled_allocator(struct reader *r, const struct bbf_jfr_value *class)
{
    static const char name[] = "PooledByteBufAllocator";
    struct bbf_buf text = BBF_BUF_INIT;

    if (class->key != 0 && class->key == r->class_key)
        return r->class_is_pooled;
    struct bbf_jfr_value value = bbf_jfr_member(r->chunk, class, "name");
    if (value.what == BBF_JFR_IS_TEXT)
        bbf_jfr_add_text(&text, &value.text);
    bool is = text.len >= sizeof name - 1 &&
              memcmp(text.data + text.len - (sizeof name - 1), name, sizeof name - 1) == 0;
    bbf_buf_free(&text);
    r->class_key = class->key;
    r->class_is_pooled = is;
    return is;
}

static void read_event(struct reader *r, enum kind kind, const struct bbf_jfr_event *from,
                       struct event *to)
{
    struct bbf_jfr_cursor c = from->fields;
    int64_t start, end;

    *to = (struct event){.stack.what = BBF_JFR_IS_NULL};
    bbf_jfr_event_times(from, &start, &end);
    to->start_ns = bbf_jfr_time_ns(r->chunk, start);
    if (r->kinds[kind] == 0)
        learn_roles(r, kind, from->type);
    for (size_t i = 0; i < from->type->n_fields && i < FIELDS_MAX; i++) {
        struct bbf_jfr_value value;
        enum role role = (enum role)r->roles[kind][i];
        if (role == ROLES ? !bbf_jfr_skip_field(&c, &from->type->fields[i])
                          : !bbf_jfr_read_value(r->chunk, &c, &from->type->fields[i], &value))
            return;
        if (role < NUMBERS)
            to->number[role] = (uint64_t)value.integer;
        else if (role == THREAD)
            to->thread = value.key;
        else if (role == STACK)
            to->stack = value;
        else if (role == ALLOCATOR)
            to->is_pooled = is_pooled_allocator(r, &value);
    }
}

/* ---- without an address ---- */

static bool grow(void **list, size_t n, size_t *room, size_t element)
{
    if (n < *room)
        return true;
    size_t more = *room > 0 ? 2 * *room : 64;
    void *grown = reallocarray(*list, more, element);
    if (grown == NULL)
        return false;
    *list = grown;
    *room = more;
    return true;
}

/* NULL: no memory. */
static struct bbf_netty_class *class_of(struct bbf_netty_unpaired *u, const struct event *e)
{
    uint64_t key = (uint64_t)(uint32_t)e->number[MAX_FAST] << 33 |
                   (uint64_t)(uint32_t)e->number[MAX_CAPACITY] << 2 |
                   (uint64_t)(e->number[DIRECT] != 0) << 1 | (uint64_t)e->is_pooled;
    uint64_t found = bbf_jfr_keys_get(&u->class_of, key);

    if (found != 0)
        return &u->classes[found - 1];
    if (!grow((void **)&u->classes, u->n_classes, &u->classes_room, sizeof *u->classes) ||
        !bbf_jfr_keys_add(&u->class_of, key, u->n_classes + 1))
        return NULL;
    u->classes[u->n_classes] = (struct bbf_netty_class){.is_direct = e->number[DIRECT] != 0};
    return &u->classes[u->n_classes++];
}

/* Is the event before what is reported? */
static bool is_before(const struct bbf_netty_state *s, const struct event *e)
{
    return s->from_ns != 0 && e->start_ns < s->from_ns;
}

static int open_unpaired(struct bbf_netty_state *s, const struct event *e, uint32_t node)
{
    struct bbf_netty_unpaired *u = &s->unpaired;
    struct bbf_netty_class *class = class_of(u, e);

    if (class == NULL)
        return BBF_ENOMEM;
    uint32_t index = (uint32_t)(class - u->classes);
    uint64_t key = (uint64_t)index << 32 | node, found = bbf_jfr_keys_get(&u->share_of, key);
    if (found == 0) {
        if (!grow((void **)&u->shares, u->n_shares, &u->shares_room, sizeof *u->shares) ||
            !bbf_jfr_keys_add(&u->share_of, key, u->n_shares + 1))
            return BBF_ENOMEM;
        u->shares[u->n_shares++] = (struct bbf_netty_share){.class = index, .node = node};
        found = u->n_shares;
    }
    class->opened++;
    u->shares[found - 1].opened++;
    u->shares[found - 1].bytes += e->number[SIZE];
    return BBF_OK;
}

/* Can no AllocateBuffer be found by the address that its end has? */
static bool is_unpaired(const struct bbf_netty_state *s, const struct event *e)
{
    return e->number[DIRECT] == 0 || e->number[ADDRESS] == 0 ||
           (e->is_pooled && s->has_late_addresses);
}

static int end_unpaired(struct bbf_netty_state *s, const struct event *e)
{
    struct bbf_netty_class *class = class_of(&s->unpaired, e);

    if (class == NULL)
        return BBF_ENOMEM;
    if (!is_before(s, e))
        class->ended++;
    else if (class->before > 0)
        class->before--;
    return BBF_OK;
}

/* Opened before what is reported: known, so that its end is not another one's. */
static int open_before(struct bbf_netty_state *s, const struct event *e)
{
    struct bbf_netty_class *class;

    s->outside++;
    if (!is_unpaired(s, e)) {
        const struct bbf_netty_life life = {e->number[ADDRESS], e->number[SIZE], e->start_ns,
                                            BBF_NETTY_BEFORE};
        return bbf_netty_life_put(&s->buffers, life) ? BBF_OK : BBF_ENOMEM;
    }
    class = class_of(&s->unpaired, e);
    if (class == NULL)
        return BBF_ENOMEM;
    class->before++;
    return BBF_OK;
}

/* ---- growing ---- */

static struct bbf_netty_growth *growth_of(struct bbf_netty_state *s, uint64_t thread)
{
    for (size_t i = 0; i < BBF_NETTY_GROWING; i++) {
        if (s->growing[i].address != 0 && s->growing[i].thread == thread)
            return &s->growing[i];
    }
    return NULL;
}

/* A thread that goes on to something else did not get the memory: its buffer stays. */
static void end_growth(struct bbf_netty_state *s, const struct event *e)
{
    struct bbf_netty_growth *growth = growth_of(s, e->thread);

    if (growth != NULL)
        growth->address = 0;
}

static int on_grow(struct bbf_netty_state *s, const struct event *e)
{
    end_growth(s, e);
    if (is_unpaired(s, e)) {
        s->grown_unpaired++;
        return end_unpaired(s, e);
    }
    s->growing[s->next_growth++ % BBF_NETTY_GROWING] = (struct bbf_netty_growth){
        .thread = e->thread,
        .address = e->number[ADDRESS],
        .capacity = e->number[NEW_CAPACITY],
        .is_known = bbf_netty_life_at(&s->buffers, e->number[ADDRESS]) != NULL,
    };
    return BBF_OK;
}

/* ---- opening and ending ---- */

/* The address is open: its buffer went without a FreeBuffer. */
static void lose(struct bbf_netty_state *s, const struct bbf_netty_life *life, int64_t now_ns)
{
    if (life->node == BBF_NETTY_BEFORE)
        return;
    struct bbf_netty_node *node = &s->paths.nodes[life->node];
    uint64_t age = now_ns > life->start_ns ? (uint64_t)(now_ns - life->start_ns) : 0;

    node->again++;
    node->again_bytes += life->bytes;
    node->again_ages_ns += age;
    if (age > node->again_oldest_ns)
        node->again_oldest_ns = age;
}

/* The memory that is open at the life's address, if any, went without a FreeBuffer. */
static int put_buffer(struct bbf_netty_state *s, struct bbf_netty_life life, int64_t now_ns)
{
    const struct bbf_netty_life *there = bbf_netty_life_at(&s->buffers, life.address);

    if (there != NULL)
        lose(s, there, now_ns);
    return bbf_netty_life_put(&s->buffers, life) ? BBF_OK : BBF_ENOMEM;
}

/* The buffer that this thread is moving. False: it moves none, or one from before the recording. */
static bool take_growing(struct bbf_netty_state *s, const struct event *e,
                         struct bbf_netty_life *life)
{
    struct bbf_netty_growth *growth = growth_of(s, e->thread);
    struct bbf_netty_life *there = NULL;

    if (growth != NULL && growth->capacity == e->number[SIZE]) {
        there = growth->is_known ? bbf_netty_life_at(&s->buffers, growth->address) : NULL;
        s->grown_early += !growth->is_known;
    }
    end_growth(s, e);
    if (there == NULL)
        return false;
    *life = *there;
    bbf_netty_life_remove(&s->buffers, there);
    life->address = e->number[ADDRESS];
    life->bytes = e->number[SIZE];
    return true;
}

static int on_allocate(struct reader *r, const struct event *e)
{
    struct bbf_netty_state *s = r->state;
    struct bbf_netty_life life;
    bool is_late;

    if (take_growing(s, e, &life) && !is_unpaired(s, e))
        return put_buffer(s, life, e->start_ns);
    /* Its path is needed only to know whether the addresses are late. */
    if (is_before(s, e) && (!e->is_pooled || e->number[DIRECT] == 0 || s->has_late_addresses))
        return open_before(s, e);
    uint32_t node = bbf_netty_path(&s->paths, r->chunk, &e->stack, &is_late);
    if (node == BBF_NETTY_NO_NODE)
        return BBF_ENOMEM;
    if (e->is_pooled && e->number[DIRECT] != 0 && (is_late || e->number[ADDRESS] == 0))
        s->has_late_addresses = true;
    if (is_before(s, e))
        return open_before(s, e);
    if (is_unpaired(s, e)) {
        s->heap += e->number[DIRECT] == 0;
        s->late += e->number[DIRECT] != 0;
        return open_unpaired(s, e, node);
    }
    life = (struct bbf_netty_life){e->number[ADDRESS], e->number[SIZE], e->start_ns, node};
    return put_buffer(s, life, e->start_ns);
}

static int on_free(struct bbf_netty_state *s, const struct event *e)
{
    struct bbf_netty_life *life;

    s->outside += is_before(s, e);
    end_growth(s, e);
    if (is_unpaired(s, e))
        return end_unpaired(s, e);
    life = bbf_netty_life_at(&s->buffers, e->number[ADDRESS]);
    if (life == NULL) {
        s->early += !is_before(s, e);
        return BBF_OK;
    }
    if (life->node != BBF_NETTY_BEFORE)
        s->paths.nodes[life->node].released++;
    bbf_netty_life_remove(&s->buffers, life);
    return BBF_OK;
}

static int on_chunk(struct reader *r, const struct event *e, enum kind kind)
{
    bool is_new = kind == ALLOCATE_CHUNK;
    struct bbf_netty_lives *chunks = &r->state->chunks;
    struct bbf_netty_life *life, chunk = {e->number[ADDRESS], e->number[CAPACITY], e->start_ns, 0};

    if (e->number[DIRECT] == 0)
        return BBF_OK;
    if (e->number[ADDRESS] == 0) {
        r->state->chunks_unplaced += is_new;
        return BBF_OK;
    }
    if (is_new)
        return bbf_netty_life_put(chunks, chunk) ? BBF_OK : BBF_ENOMEM;
    life = bbf_netty_life_at(chunks, chunk.address);
    if (life != NULL && kind == RETURN_CHUNK) {
        life->node = 1;
        life->start_ns = e->start_ns;
    } else if (life != NULL) {
        bbf_netty_life_remove(chunks, life);
    }
    return BBF_OK;
}

/* ---- the JVM ---- */

/* The text of the event's field, the caller's; NULL: it has none. */
static char *text_of(const struct reader *r, const struct bbf_jfr_event *event, const char *field)
{
    struct bbf_jfr_value of = bbf_jfr_event_value(event),
                         value = bbf_jfr_member(r->chunk, &of, field);
    struct bbf_buf text = BBF_BUF_INIT;

    if (value.what == BBF_JFR_IS_TEXT)
        bbf_jfr_add_text(&text, &value.text);
    char *copy = text.len > 0 ? strdup(bbf_buf_cstr(&text)) : NULL;
    bbf_buf_free(&text);
    return copy;
}

static void on_jvm(struct reader *r, const struct bbf_jfr_event *event)
{
    struct bbf_netty_state *s = r->state;
    struct bbf_jfr_value of = bbf_jfr_event_value(event);

    if (s->main != NULL || s->version != NULL)
        return;
    s->pid = bbf_jfr_member(r->chunk, &of, "pid").integer;
    s->version = text_of(r, event, "jvmVersion");
    s->main = text_of(r, event, "javaArguments");
    if (s->main != NULL)
        s->main[strcspn(s->main, " ")] = '\0';
}

static void on_loss(struct reader *r, const struct bbf_jfr_event *event)
{
    struct bbf_jfr_value of = bbf_jfr_event_value(event),
                         amount = bbf_jfr_member(r->chunk, &of, "amount");

    r->state->lost_bytes += amount.integer > 0 ? (uint64_t)amount.integer : 1;
}

/* ---- reading ---- */

static int on_event(struct reader *r, const struct bbf_jfr_event *from)
{
    enum kind kind = kind_of(from->type);
    struct event event;

    if (kind == JVM || kind == DATA_LOSS) {
        kind == JVM ? on_jvm(r, from) : on_loss(r, from);
        return BBF_OK;
    }
    if (kind == KINDS)
        return BBF_OK;
    read_event(r, kind, from, &event);
    r->state->allocations += kind == ALLOCATE_BUFFER;
    r->state->frees += kind == FREE_BUFFER;
    if (r->state->until_ns != 0 && event.start_ns >= r->state->until_ns) {
        r->state->outside++;
        return BBF_OK;
    }
    if (event.start_ns > r->state->end_ns)
        r->state->end_ns = event.start_ns;
    switch (kind) {
    case ALLOCATE_BUFFER:
        return on_allocate(r, &event);
    case FREE_BUFFER:
        return on_free(r->state, &event);
    case REALLOCATE_BUFFER:
        return on_grow(r->state, &event);
    default:
        return on_chunk(r, &event, kind);
    }
}

static int read_chunk(struct reader *r, struct bbf_jfr_recording *recording)
{
    static const struct bbf_jfr_filter filter = {
        .events = "io.netty.*Buffer,io.netty.*Chunk,jdk.DataLoss,jdk.JVMInformation"};
    const struct bbf_jfr_chunk *chunk = &recording->chunk;
    int64_t end_ns = (int64_t)(chunk->header.start_ns + chunk->header.duration_ns);
    size_t n;
    struct bbf_jfr_place_in_time *places = bbf_jfr_sorted_events(recording, &filter, &n);
    int err = places == NULL && n > 0 ? BBF_ENOMEM : BBF_OK;

    *r = (struct reader){.state = r->state, .chunk = chunk};
    bbf_netty_paths_next_chunk(&r->state->paths);
    for (size_t i = 0; places != NULL && err == BBF_OK && i < n; i++) {
        struct bbf_jfr_event event;
        uint64_t at = places[i].offset;
        if (bbf_jfr_next_event(chunk, &at, &event))
            err = on_event(r, &event);
    }
    if (r->state->until_ns != 0 && end_ns > r->state->until_ns)
        end_ns = r->state->until_ns;
    if (end_ns > r->state->end_ns)
        r->state->end_ns = end_ns;
    free(places);
    return err;
}

static void free_state(struct bbf_netty_state *s)
{
    bbf_netty_paths_free(&s->paths);
    free(s->buffers.places);
    free(s->chunks.places);
    free(s->unpaired.class_of.places);
    free(s->unpaired.share_of.places);
    free(s->unpaired.classes);
    free(s->unpaired.shares);
    free(s->main);
    free(s->version);
    free(s);
}

int bbf_netty_flight(struct bbf_jfr_recording *recording, const struct bbf_netty_config *config,
                     struct bbf_snapshot **out)
{
    struct bbf_netty_state *s = calloc(1, sizeof *s);
    struct reader reader = {.state = s};
    int err = s != NULL ? BBF_OK : BBF_ENOMEM;

    *out = NULL;
    if (s != NULL) {
        s->from_ns = config->from_ns;
        s->until_ns = config->until_ns;
    }
    if (s != NULL)
        s->paths.max_nodes = config->max_nodes > 0 ? config->max_nodes : BBF_NETTY_NODES;
    while (err == BBF_OK && (err = bbf_jfr_next_chunk(recording)) == BBF_OK)
        err = read_chunk(&reader, recording);
    if (err != BBF_ENOMEM)
        err = s->allocations + s->frees > 0 ? bbf_netty_report(s, config->age_ns, out)
                                            : BBF_ENOTFOUND;
    if (s != NULL)
        free_state(s);
    return err;
}
