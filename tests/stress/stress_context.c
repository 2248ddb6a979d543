/* link: bbf_trie bbf_core */
/*
 * The contexts of lives without a JVM: threads note what they see of lives, some of which are over
 * by then, while the agent's half reads a life's context and its record begins the next life. The
 * property: what is read of a life is one thread's note of that life, whole.
 *
 * BBF_STRESS_SECONDS: how long it takes, 1 by default.
 */
#include "tests/stress/context_twin.h"
#include "tests/unit/trie_sample.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { WRITERS = 3, LIVES = 4, ENOUGH = 1000, FIRST = BBF_L_FIRST_RECORD };

struct app {
    struct bbf_tracker *t;
    _Atomic uint32_t generation[LIVES]; /* in force */
    _Atomic bool stop;
    uint64_t seen, ended;
};

/* What a note has in each of its words: whose it is, and which one. */
static uint64_t mark_of(uint32_t generation, uint32_t nonce)
{
    return BBF_WORD(generation, nonce | 1);
}

/* All words, or that of the channel alone, as a second hook does. */
static void note(struct bbf_tracker *t, uint64_t f, uint32_t nonce)
{
    uint64_t mark = mark_of(BBF_GENERATION(f), nonce);
    struct bbf_context *at = context_at(t, f);
    assert_non_null(at);
    if (!context_lock(t, at, f))
        return;
    context_put(at, TWIN_CHANNEL, mark);
    for (int i = TWIN_SIZES; (nonce & 6) != 0 && i < BBF_CONTEXT_WORDS; i++)
        context_put(at, i, mark);
    context_unlock(at);
}

static void *write_notes(void *arg)
{
    struct app *app = arg;
    uint32_t random = (uint32_t)(uintptr_t)&random | 1;
    while (!atomic_load_explicit(&app->stop, memory_order_relaxed)) {
        random = random * 1664525 + 1013904223;
        uint32_t life = random >> 16 & (LIVES - 1), g = atomic_load(&app->generation[life]);
        for (uint32_t late = random >> 24 & 63; late != 0; late--)
            atomic_signal_fence(memory_order_seq_cst); /* the life may end meanwhile */
        note(app->t, BBF_WORD(g, FIRST + life), random >> 8);
    }
    return NULL;
}

/* One note of generation g; where only its channel was noted, nothing else of g is there. */
static void check(const uint64_t *words, uint32_t g)
{
    assert_int_equal(BBF_GENERATION(words[TWIN_CHANNEL]), g);
    assert_true(words[TWIN_SIZES] == 0 || BBF_GENERATION(words[TWIN_SIZES]) == g);
    assert_true(words[TWIN_THROWN] == words[TWIN_SIZES]);
    for (int i = TWIN_THROWN + 1; words[TWIN_SIZES] != 0 && i < BBF_CONTEXT_WORDS; i++)
        assert_true(words[i] == words[TWIN_SIZES]);
}

/* A life ends once it was read, or after some looks, as most do. */
static void read_and_end(struct app *app, uint32_t life, bool end)
{
    uint64_t words[BBF_CONTEXT_WORDS];
    uint32_t g = atomic_load(&app->generation[life]);
    bool read = bbf_context_read(app->t, BBF_WORD(g, FIRST + life), words);
    if (read) {
        check(words, g);
        app->seen++;
    }
    if (!end && (!read || (app->seen & 1) != 0))
        return;
    atomic_store(&app->generation[life], g + 1);
    app->ended++;
    if (bbf_context_read(app->t, BBF_WORD(g + 1, FIRST + life), words))
        check(words, g + 1); /* a writer was that fast */
}

static void what_is_read_of_a_life_is_one_note_of_it(void **state)
{
    const char *seconds = getenv("BBF_STRESS_SECONDS");
    const time_t end = time(NULL) + (seconds != NULL ? atoi(seconds) : 1) + 1;
    struct app app = {.t = sample_default()};
    pthread_t threads[WRITERS];
    (void)state;
    assert_true(bbf_context_switch(app.t, true));
    for (int i = 0; i < LIVES; i++)
        atomic_store(&app.generation[i], UINT32_MAX - 1000); /* it wraps */
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_notes, &app), 0);
    for (uint32_t i = 0; (i & 1023) != 0 || time(NULL) < end || app.seen < ENOUGH; i++)
        read_and_end(&app, i & (LIVES - 1), (i & 255) > 250);
    atomic_store(&app.stop, true);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    struct bbf_context_counts counts;
    bbf_context_counts(app.t, &counts);
    print_message("%llu contexts read, %llu lives ended, %llu notes dropped\n",
                  (unsigned long long)app.seen, (unsigned long long)app.ended,
                  (unsigned long long)counts.dropped);
    assert_true(app.ended >= ENOUGH / 2);
    sample_free(app.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_of_a_life_is_one_note_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
