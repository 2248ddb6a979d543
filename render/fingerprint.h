/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/fingerprint.h - a number for a leak that is the same in every run, build and JVM: a hash
 * of the names of its root and of its last step, and of the set of methods that it passed: without
 * their order and turns, so that a loop does not change it. Names are as people wrote them
 * (render/step_words.h); left out is what changes without a change of the program: the prefix of a
 * relocated Netty, numbers of lambdas and of classes without a name, addresses of hidden classes,
 * generated proxies' hashes, lines, descriptors.
 *
 * FNV-1a of 64 bits with MurmurHash3's finalizer: 1,000,000 different leaks have two of one number
 * with a chance of 3 in 100 million (n² / 2^65). It is no secret and no proof: who writes class
 * names can make two leaks equal.
 *
 * Threads: any; pure.
 */
#ifndef BBF_RENDER_FINGERPRINT_H
#define BBF_RENDER_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/buf.h"
#include "render/view.h"

/* One after the other: begin, the steps, pass for each method in between, end. `enclosing` may be
 * NULL, as in bbf_step_words(). */
uint64_t bbf_fingerprint_begin(void);
uint64_t bbf_fingerprint_step(uint64_t hash, const char *class_name, const char *method,
                              const char *enclosing);
/* A method that was passed, in any order; the caller leaves out what it has passed already. */
uint64_t bbf_fingerprint_pass(uint64_t passed, const char *class_name, const char *method,
                              const char *enclosing);
uint64_t bbf_fingerprint_end(uint64_t hash, uint64_t passed);

/*
 * Of a leak that ends at `last`, and of an entry of the divergences whose last step that is. Where
 * the path divides is left out: it is what other buffers did in this run.
 */
uint64_t bbf_fingerprint_leak(const struct bbf_view *view, uint32_t last);

/* 16 hexadecimal digits. */
void bbf_fingerprint_text(struct bbf_buf *out, uint64_t fingerprint);

#endif
