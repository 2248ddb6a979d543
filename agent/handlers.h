/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/handlers.h - option handlers=: the application's MetricHandlers get what was lost, once an
 * interval (docs/java-api.md, docs/adr/0064).
 *
 * The Java half (java-shim/handlers) is in this library, and is defined in a class loader of its
 * own when it is needed. It finds the application's copies of the API by the class loaders that
 * bbf_handlers_find() names. Handlers, constructors and class loaders of the application run in
 * Java threads of their own.
 *
 * Threads: the agent thread.
 */
#ifndef BBF_AGENT_HANDLERS_H
#define BBF_AGENT_HANDLERS_H

#include <jni.h>

#include "core/option.h"

/* Start, wait or stop, as `options` have it now; NULL: stop. Each failure is logged once. */
void bbf_handlers_poll(JNIEnv *env, const struct bbf_options *options);
/* How long may poll() be left alone? Milliseconds. */
unsigned bbf_handlers_wait_ms(void);
/* Stop; waits a second at most, not until handlers return. */
void bbf_handlers_stop(JNIEnv *env);

#endif
