/*
 * tests/unit/agent/agent_world.h - an agent in a fake JVM: a tracker of its own, the rules of an
 * option text, and the Netty classes that most tests need.
 */
#ifndef BBF_TESTS_UNIT_AGENT_AGENT_WORLD_H
#define BBF_TESTS_UNIT_AGENT_AGENT_WORLD_H

#include <string.h>

#include "agent/rules.h"
#include "agent/state.h"
#include "core/err.h"
#include "tests/unit/agent/fake_jvm.h"
#include "tests/unit/trie_sample.h"

/* A tracker of 140 GB address space takes long under a sanitizer: one serves all runs with faults.
 */
static struct bbf_tracker *world_tracker;
static bool world_keeps_tracker;

/* A JVM and a tracker; the agent's own state as at its start. */
static inline void world_begin(void)
{
    fake_begin();
    memset(&bbf_agent, 0, sizeof bbf_agent);
    pthread_mutex_init(&bbf_agent.lock, NULL);
    pthread_mutex_init(&bbf_agent.seen_lock, NULL);
    bbf_agent.code = bbf_agent.field = fake_jvmti();
    bbf_agent.vm = fake_vm();
    bbf_agent.jdk = 25;
    bbf_agent.tracker = world_tracker != NULL ? world_tracker : sample_default();
    world_tracker = world_keeps_tracker ? bbf_agent.tracker : NULL;
}

/* The rules in force from now on: those of an option text, "include=com.app". */
static inline const struct bbf_rules *world_rules(const char *text)
{
    struct bbf_options options;
    struct bbf_option_error error;
    bbf_options_init(&options);
    assert_int_equal(bbf_options_parse(&options, text, &error), BBF_OK);
    const struct bbf_rules *rules = bbf_rules_new(&options);
    assert_non_null(rules);
    bbf_options_free(&options);
    bbf_rules_retire(atomic_exchange(&bbf_agent.rules, rules));
    return rules;
}

static inline void world_free(void)
{
    bbf_rules_retire(atomic_exchange(&bbf_agent.rules, NULL));
    if (!world_keeps_tracker)
        sample_free(bbf_agent.tracker);
    bbf_agent.tracker = NULL;
}

/* fake_each_fault(); what `work` leaves in the tracker, the next run finds there. */
static inline unsigned world_each_fault(void (*prepare)(void), void (*work)(void),
                                        void (*done)(void))
{
    world_keeps_tracker = true;
    unsigned n = fake_each_fault(prepare, work, done);
    sample_free(world_tracker);
    world_tracker = NULL;
    world_keeps_tracker = false;
    return n;
}

static inline int world_setup(void **state)
{
    (void)state;
    world_begin();
    return 0;
}

static inline int world_teardown(void **state)
{
    world_free();
    return fake_teardown(state);
}

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

/* A class of the application's loader. */
static inline struct fake_class *world_class(const char *name, struct fake_class *super)
{
    struct fake_class *loaders = fake_find_class("com/app/Loader"), *class;
    static struct fake_object *loader;
    if (loaders == NULL)
        loader = fake_object(fake_class("com/app/Loader", NULL));
    class = fake_class(name, super);
    fake_loaded_by(class, loader);
    return class;
}

#endif
