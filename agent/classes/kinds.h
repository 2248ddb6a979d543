/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/classes/kinds.h - answers the shim's question about each class (java.lang.BBFlowKind),
 * asked once per class: is it a ByteBuf, an owner whose release is hooked, a view, a holder; its
 * memory; the number that names its release.
 *
 * Threads: any application thread, off the hot path. No exception is left pending; an answer of 0
 * means "neither".
 */
#ifndef BBF_AGENT_CLASSES_KINDS_H
#define BBF_AGENT_CLASSES_KINDS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* KIND_ bits of core/layout.h; depths and the field's number in the high half. */
uint64_t bbf_kind_classify(JNIEnv *env, jclass type);
/* The field's name by its number, NULL for none. Constant. */
const char *bbf_kind_field_name(uint32_t number);
/* Does the class itself declare a field of its objects with this name whose descriptor begins so?
 */
bool bbf_kind_has_field(jclass type, const char *name, const char *descriptor);
/* Site of the root "?first-seen Class" of a class number, 0 at the limit. */
uint32_t bbf_kind_first_site(uint32_t number);

#endif
