#include "tests/model/search.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *model_note = "";
int model_refused;
static char violation[300];
static char **options;
static int n_options;

enum { MOST_WORDS = 1024 }; /* of 8 bytes, in a state */

/* How a state was reached, by its number. */
struct origin {
    uint32_t from;
    uint8_t actor, choice;
};

/* States waiting to be looked at, one behind the other: number, then the packed state. */
struct queue {
    uint64_t *words;
    size_t n, cap;
};

struct search {
    const struct model *model;
    uint64_t *visited; /* open addressing, 0 = empty */
    size_t mask;
    struct origin *origin;
    size_t n, most;
    struct queue now, next; /* states of this depth and of the next */
};

void model_fail(const char *format, ...)
{
    va_list args;
    if (violation[0] != '\0' || model_refused != 0)
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

/* ---- packed states: which words are not 0, and those words ---- */

static size_t words_of(const struct model *model)
{
    return (model->size + 7) / 8;
}

/* Returns how many words it wrote. */
static size_t pack(const struct model *model, const uint64_t *state, uint64_t *packed)
{
    size_t n = words_of(model), maps = (n + 63) / 64, at = maps;
    memset(packed, 0, maps * sizeof *packed);
    for (size_t i = 0; i < n; i++)
        if (state[i] != 0) {
            packed[i / 64] |= UINT64_C(1) << i % 64;
            packed[at++] = state[i];
        }
    return at;
}

static size_t unpack(const struct model *model, const uint64_t *packed, uint64_t *state)
{
    size_t n = words_of(model), maps = (n + 63) / 64, at = maps;
    memset(state, 0, n * sizeof *state);
    for (size_t m = 0; m < maps; m++)
        for (uint64_t bits = packed[m]; bits != 0; bits &= bits - 1)
            state[m * 64 + (unsigned)__builtin_ctzll(bits)] = packed[at++];
    return at;
}

/* Two rounds of murmur3's finaliser a word, https://github.com/aappleby/smhasher. */
static uint64_t hash(const uint64_t *p, size_t n)
{
    uint64_t h = UINT64_C(0x9E3779B97F4A7C15);
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 32;
        h = (h ^ h >> 29) * UINT64_C(0xc4ceb9fe1a85ec53);
        h ^= h >> 31;
    }
    return h != 0 ? h : 1;
}

static bool is_new(struct search *s, const uint64_t *packed, size_t n)
{
    uint64_t h = hash(packed, n);
    for (size_t i = h & s->mask;; i = (i + 1) & s->mask) {
        if (s->visited[i] == h)
            return false;
        if (s->visited[i] == 0) {
            s->visited[i] = h;
            return true;
        }
    }
}

static void enqueue(struct queue *q, const uint64_t *packed, size_t n, uint64_t id)
{
    if (q->n + n + 1 > q->cap) {
        q->cap = q->cap != 0 ? 2 * q->cap : 4 * MOST_WORDS;
        q->words = must(realloc(q->words, q->cap * sizeof *q->words));
    }
    q->words[q->n] = id;
    memcpy(q->words + q->n + 1, packed, n * sizeof *packed);
    q->n += n + 1;
}

/* ---- the trace ---- */

static void canonical(const struct model *model, void *state, uint8_t *who)
{
    uint8_t order[MODEL_ACTORS], before[MODEL_ACTORS];
    if (model->canonical == NULL)
        return;
    for (uint8_t i = 0; i < MODEL_ACTORS; i++)
        order[i] = i;
    model->canonical(state, order);
    memcpy(before, who, sizeof before);
    for (unsigned i = 0; i < MODEL_ACTORS; i++)
        who[i] = before[order[i]];
}

/* Walk again from the start to state `id`, then once more by actor and choice. */
static void print_trace(const struct search *s, uint32_t id, const struct origin *last)
{
    struct origin path[1000];
    size_t n = 0, steps = 0;
    uint8_t who[MODEL_ACTORS];
    uint64_t *state = must(calloc(words_of(s->model), sizeof *state));
    for (uint8_t i = 0; i < MODEL_ACTORS; i++)
        who[i] = i;
    if (last != NULL)
        path[n++] = *last;
    for (; id != 0 && n < sizeof path / sizeof *path; id = s->origin[id].from)
        path[n++] = s->origin[id];
    while (n-- > 0) {
        (void)s->model->move(state, path[n].actor, path[n].choice);
        printf("  %3zu %-6s %s\n", ++steps, s->model->names[who[path[n].actor]], model_note);
        canonical(s->model, state, who);
    }
    free(state);
}

/* ---- the search ---- */

/* All moves from one state; false when a property broke or there is no room. */
static bool expand(struct search *s, const uint64_t *from, uint32_t id, uint64_t *transitions)
{
    uint64_t state[MOST_WORDS], packed[MOST_WORDS + MOST_WORDS / 64 + 1];
    uint8_t who[MODEL_ACTORS] = {0};
    for (unsigned actor = 0; actor < s->model->actors; actor++)
        for (unsigned choice = 0;; choice++) {
            memcpy(state, from, words_of(s->model) * sizeof *state);
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
            canonical(s->model, state, who);
            size_t n = pack(s->model, state, packed);
            if (!is_new(s, packed, n))
                continue;
            if (s->n == s->most)
                return false;
            s->origin[s->n] = origin;
            enqueue(&s->next, packed, n, s->n++);
        }
    return true;
}

static bool search_depth(struct search *s, uint64_t *transitions)
{
    uint64_t state[MOST_WORDS];
    for (size_t at = 0; at < s->now.n;) {
        uint32_t id = (uint32_t)s->now.words[at++];
        at += unpack(s->model, s->now.words + at, state);
        s->model->check(state);
        if (violation[0] != '\0') {
            print_trace(s, id, NULL);
            return false;
        }
        if (!expand(s, state, id, transitions))
            return false;
    }
    return true;
}

static void start(struct search *s)
{
    uint64_t zero[MOST_WORDS] = {0}, packed[MOST_WORDS + MOST_WORDS / 64 + 1];
    size_t n = pack(s->model, zero, packed);
    (void)is_new(s, packed, n);
    enqueue(&s->now, packed, n, 0);
    s->n = 1;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

enum verdict model_search(const struct model *model, size_t most_states)
{
    struct search s = {.model = model, .most = most_states};
    struct timespec begun;
    size_t table = 1024;
    if (words_of(model) > MOST_WORDS || model->actors > MODEL_ACTORS) {
        fputs("a state of more than 8 KiB, or too many actors\n", stderr);
        exit(3);
    }
    while (table < most_states * 3 / 2)
        table *= 2;
    s.mask = table - 1;
    s.visited = must(calloc(table, sizeof *s.visited));
    s.origin = must(malloc(most_states * sizeof *s.origin));
    clock_gettime(CLOCK_MONOTONIC, &begun);
    uint64_t transitions = 0;
    unsigned depth = 0;
    bool going = true;
    for (start(&s); going && s.now.n > 0; depth++) {
        going = search_depth(&s, &transitions);
        struct queue spare = s.now;
        s.now = s.next;
        s.next = spare;
        s.next.n = 0;
    }
    enum verdict verdict = violation[0] != '\0' ? VERDICT_RED
                           : going              ? VERDICT_GREEN
                                                : VERDICT_BOUND;
    static const char *const words[] = {"complete, no violation", "VIOLATION", "BOUND reached"};
    printf("%s %s: %zu states, %llu moves, depth %u, %.1f s\n", words[verdict], violation, s.n,
           (unsigned long long)transitions, depth, seconds_since(&begun));
    free(s.visited);
    free(s.origin);
    free(s.now.words);
    free(s.next.words);
    return verdict;
}

/* ---- options ---- */

void model_options(int argc, char **argv)
{
    options = argv + 1;
    n_options = argc - 1;
}

const char *model_option_text(const char *key)
{
    size_t len = strlen(key);
    for (int i = 0; i < n_options; i++)
        if (strncmp(options[i], key, len) == 0 && options[i][len] == '=')
            return options[i] + len + 1;
    return NULL;
}

int model_option(const char *key, int otherwise)
{
    const char *text = model_option_text(key);
    return text != NULL ? atoi(text) : otherwise;
}

int model_exit(enum verdict verdict)
{
    const char *expect = model_option_text("expect");
    bool red = expect != NULL && strcmp(expect, "red") == 0;
    return verdict == (red ? VERDICT_RED : VERDICT_GREEN) ? 0 : 1;
}
