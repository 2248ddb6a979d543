/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/carrier_classes.h - carriers among the JVM's classes (instrument/carriers.h,
 * docs/adr/0043): each class file is looked at as it loads. What that cannot know, the super types
 * of a carrier and classes that were there before, the agent thread looks up among the loaded
 * classes, and it retransforms the followed classes that name a type that was learned too late for
 * them: at most maxCarrierClasses= of them.
 *
 * Threads: met and field any; the rest the agent thread, or the JVM's start.
 */
#ifndef BBF_AGENT_CLASSES_CARRIER_CLASSES_H
#define BBF_AGENT_CLASSES_CARRIER_CLASSES_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "instrument/plan.h"

enum { BBF_CARRIER_FIELD = 256 };

/* Before the rules of an attach are made: the table of names, bbf_agent.carriers; it
 * stays NULL without memory, and without carriers=. */
void bbf_carrier_classes_begin(const struct bbf_options *options);
/* Before the loaded classes are retransformed by those rules: learn what is among them. */
void bbf_carrier_classes_look(JNIEnv *env, const struct bbf_rules *rules);

/* A class of another loader than the boot loader is being loaded. */
void bbf_carrier_classes_met(const struct bbf_rules *rules, const char *name, const uint8_t *bytes,
                             size_t len);

/* The name of the n-th field of the class itself that a carrier of it is looked into by. False: no
 * more, or carriers= is off. No exception is left pending. */
bool bbf_carrier_classes_field(jclass type, unsigned n, char out[BBF_CARRIER_FIELD]);

/* A duty, and for how long it may be left alone. */
void bbf_carrier_classes_poll(JNIEnv *env);
unsigned bbf_carrier_classes_wait_ms(void);

/* For the notes of a report: what was beyond a limit. */
void bbf_carrier_classes_note(struct bbf_buf *note);

#endif
