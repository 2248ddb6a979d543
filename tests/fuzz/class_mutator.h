/*
 * tests/fuzz/class_mutator.h - changes class files by their structure (class_model.h). Used by
 * libFuzzer (fuzz_classfile_mutate.c) and by mutate_class.c, which makes mutants for a JVM.
 *
 * Two kinds of change: those that mean to keep a class valid for the verifier (unusual but legal
 * encodings, dead code, other constants), and those that mean to break something.
 */
#ifndef BBF_TEST_CLASS_MUTATOR_H
#define BBF_TEST_CLASS_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/*
 * Change the class `in` by `changes` changes, `breaking` percent of them of the second kind, as
 * `seed` says. Returns the length written to `out`, or 0: not a class that our reader reads, or no
 * room. `names` (may be NULL) gets the names of the changes.
 */
size_t class_mutate(const uint8_t *in, size_t len, uint8_t *out, size_t max, uint64_t seed,
                    unsigned changes, unsigned breaking, char *names, size_t names_len);

/* `in` with something of `other`: code, a run of instructions, constants. As class_mutate(). */
size_t class_cross(const uint8_t *in, size_t len, const uint8_t *other, size_t other_len,
                   uint8_t *out, size_t max, uint64_t seed);

#endif
