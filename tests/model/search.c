#include "tests/model/search.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *model_note = "";
static char violation[300];
static char **options;
static int n_options;

/* How a state was reached, by its number. */
struct origin {
    uint32_t from;
    uint8_t actor, choice;
};

struct search {
    const struct model *model;
    uint64_t *visited; /* open addressing, 0 = empty */
    size_t mask;
    struct origin *origin;
    size_t n, most;
    uint8_t *now, *next; /* states of this depth and of the next */
    uint32_t *now_id, *next_id;
    size_t n_now, n_next, cap_next, cap_now;
};

void model_fail(const char *format, ...)
{
    va_list args;
    if (violation[0] != '\0')
        return;
    va_start(args, format);
    vsnprintf(violation, sizeof violation, format, args);
    va_end(args);
}

static void *must(void *memory)
{
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        exit(3);
    }
    return memory;
}

/* Two rounds of murmur3's finaliser a word, https://github.com/aappleby/smhasher. */
static uint64_t hash(const uint8_t *p, size_t n)
{
    uint64_t h = UINT64_C(0x9E3779B97F4A7C15), v;
    for (; n > 0; p += 8, n -= n < 8 ? n : 8) {
        v = 0;
        memcpy(&v, p, n < 8 ? n : 8);
        h = (h ^ v) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
        h = (h ^ h >> 29) * UINT64_C(0xc4ceb9fe1a85ec53);
        h ^= h >> 31;
    }
    return h != 0 ? h : 1;
}

static bool is_new(struct search *s, const uint8_t *state)
{
    uint64_t h = hash(state, s->model->size);
    for (size_t i = h & s->mask;; i = (i + 1) & s->mask) {
        if (s->visited[i] == h)
            return false;
        if (s->visited[i] == 0) {
            s->visited[i] = h;
            return true;
        }
    }
}

static void enqueue(struct search *s, const uint8_t *state, uint32_t id)
{
    if (s->n_next == s->cap_next) {
        s->cap_next = s->cap_next != 0 ? 2 * s->cap_next : 1024;
        s->next = must(realloc(s->next, s->cap_next * s->model->size));
        s->next_id = must(realloc(s->next_id, s->cap_next * sizeof *s->next_id));
    }
    memcpy(s->next + s->n_next * s->model->size, state, s->model->size);
    s->next_id[s->n_next++] = id;
}

/* Walk again from the start to state `id`, then once more by actor and choice. */
static void print_trace(const struct search *s, uint32_t id, const struct origin *last)
{
    struct origin path[1000];
    size_t n = 0;
    uint8_t *state = must(calloc(1, s->model->size));
    if (last != NULL)
        path[n++] = *last;
    for (; id != 0 && n < sizeof path / sizeof *path; id = s->origin[id].from)
        path[n++] = s->origin[id];
    while (n-- > 0) {
        (void)s->model->move(state, path[n].actor, path[n].choice);
        printf("  %-6s %s\n", s->model->names[path[n].actor], model_note);
    }
    free(state);
}

/* All moves from one state; false when a property broke or there is no room. */
static bool expand(struct search *s, const uint8_t *from, uint32_t id, uint64_t *transitions)
{
    uint8_t state[4096];
    for (unsigned actor = 0; actor < s->model->actors; actor++)
        for (unsigned choice = 0;; choice++) {
            memcpy(state, from, s->model->size);
            int moved = s->model->move(state, actor, choice);
            if (moved == 0)
                break;
            if (moved < 0)
                continue;
            ++*transitions;
            struct origin origin = {id, (uint8_t)actor, (uint8_t)choice};
            if (violation[0] != '\0') {
                print_trace(s, id, &origin);
                return false;
            }
            if (!is_new(s, state))
                continue;
            if (s->n == s->most)
                return false;
            s->origin[s->n] = origin;
            enqueue(s, state, (uint32_t)s->n++);
        }
    return true;
}

static void swap_depth(struct search *s)
{
    uint8_t *states = s->now;
    uint32_t *ids = s->now_id;
    size_t cap = s->cap_now;
    s->now = s->next;
    s->now_id = s->next_id;
    s->n_now = s->n_next;
    s->cap_now = s->cap_next;
    s->next = states;
    s->next_id = ids;
    s->cap_next = cap;
    s->n_next = 0;
}

static bool search_depth(struct search *s, uint64_t *transitions)
{
    for (size_t i = 0; i < s->n_now; i++) {
        const uint8_t *state = s->now + i * s->model->size;
        s->model->check(state);
        if (violation[0] != '\0') {
            print_trace(s, s->now_id[i], NULL);
            return false;
        }
        if (!expand(s, state, s->now_id[i], transitions))
            return false;
    }
    return true;
}

enum verdict model_search(const struct model *model, size_t most_states)
{
    struct search s = {.model = model, .most = most_states, .n = 1};
    size_t table = 1024;
    while (table < most_states * 3 / 2)
        table *= 2;
    s.mask = table - 1;
    s.visited = must(calloc(table, sizeof *s.visited));
    s.origin = must(malloc(most_states * sizeof *s.origin));
    uint8_t *start = must(calloc(1, model->size));
    uint64_t transitions = 0;
    unsigned depth = 0;
    (void)is_new(&s, start);
    enqueue(&s, start, 0);
    bool going = true;
    for (swap_depth(&s); going && s.n_now > 0; depth++) {
        going = search_depth(&s, &transitions);
        swap_depth(&s);
    }
    enum verdict verdict = violation[0] != '\0' ? VERDICT_RED
                           : going              ? VERDICT_GREEN
                                                : VERDICT_BOUND;
    static const char *const words[] = {"complete, no violation", "VIOLATION", "BOUND reached"};
    printf("%s %s: %zu states, %llu moves, depth %u\n", words[verdict], violation, s.n,
           (unsigned long long)transitions, depth);
    free(start);
    free(s.visited);
    free(s.origin);
    free(s.now);
    free(s.next);
    free(s.now_id);
    free(s.next_id);
    return verdict;
}

void model_options(int argc, char **argv)
{
    options = argv + 1;
    n_options = argc - 1;
}

static const char *option_text(const char *key)
{
    size_t len = strlen(key);
    for (int i = 0; i < n_options; i++)
        if (strncmp(options[i], key, len) == 0 && options[i][len] == '=')
            return options[i] + len + 1;
    return NULL;
}

int model_option(const char *key, int otherwise)
{
    const char *text = option_text(key);
    return text != NULL ? atoi(text) : otherwise;
}

int model_exit(enum verdict verdict)
{
    const char *expect = option_text("expect");
    bool red = expect != NULL && strcmp(expect, "red") == 0;
    return verdict == (red ? VERDICT_RED : VERDICT_GREEN) ? 0 : 1;
}
