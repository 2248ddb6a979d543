/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/scope.h - what bbflow-junit.jar asks of scopes (trie/scopes.h), through
 * java.lang.BBFlowScope.
 *
 * Threads: those that run tests; start() and report() wait for the agent thread, 30 s at most until
 * it begins.
 */
#ifndef BBF_AGENT_SCOPE_H
#define BBF_AGENT_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"

/* Turn scopes=on, if it is off. `why` stays empty, or says to a person why scopes are not noted. */
void bbf_scope_start(struct bbf_buf *why);

/*
 * What a scope lost while `during` ran alone (UINT32_MAX: ever): a line with the number of lives,
 * then the places as `bbflow leaks` has them. `gc`: after a garbage collection. Empty: it cannot be
 * said now.
 */
void bbf_scope_report(struct bbf_buf *text, uint32_t number, uint32_t during, bool gc);

/* What scopes did not see, for a person; empty: nothing. */
void bbf_scope_note(struct bbf_buf *text);

#endif
