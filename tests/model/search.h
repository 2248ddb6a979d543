/*
 * tests/model/search.h - exhaustive search: every state that some order of steps reaches, breadth
 * first, so that the first violation found is a shortest one, with its trace.
 *
 * A state is plain bytes (zeroed, compared as bytes). Visited states are kept as 64-bit hashes: in
 * ten million states the chance that any is missed is below one in a hundred thousand, in two
 * hundred million below one in nine hundred.
 */
#ifndef BBF_TESTS_MODEL_SEARCH_H
#define BBF_TESTS_MODEL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MODEL_ACTORS = 8 };

struct model {
    size_t size;     /* of a state, <= 8 KiB */
    unsigned actors; /* who can move */
    /* Let `actor` make its move number `choice`: 1 done, -1 not possible now, 0 neither this choice
     * nor a higher one exists. */
    int (*move)(void *state, unsigned actor, unsigned choice);
    /* Called for every state: checks what must hold there, knows itself when that is. */
    void (*check)(const void *state);
    /* Of states that differ only in which of several equal actors is which, keep one: reorders the
     * actors of `state`, order[i] = who is now the i-th. May be NULL. */
    void (*canonical)(void *state, uint8_t *order);
    const char *const *names; /* of the actors */
};

/* What the last move did, for traces; the model sets it. */
extern const char *model_note;

/* While not 0 the current move is not possible, and model_fail() does not count for it. */
extern int model_refused;

/* The model says that a property is broken. Only the first one counts. */
void model_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum verdict { VERDICT_GREEN, VERDICT_RED, VERDICT_BOUND };

/* Search from the zero state, prints a line and, if a property is broken, the trace. */
enum verdict model_search(const struct model *model, size_t most_states);

/* ---- options, KEY=VALUE ---- */

void model_options(int argc, char **argv);
int model_option(const char *key, int otherwise);
const char *model_option_text(const char *key); /* NULL if not given */
/* The program's exit code: does the verdict agree with expect=green|red (green)? */
int model_exit(enum verdict verdict);

#endif
