/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/heal_notes.h - the annotations and settings of types that jfr/heal.h sets right.
 *
 * Threads: one owner at a time.
 */
#ifndef BBF_JFR_HEAL_NOTES_H
#define BBF_JFR_HEAL_NOTES_H

#include "jfr/heal_state.h"

/* Leave out what is wrong of the type's annotations and settings, and of its fields' annotations.
 */
void bbf_jfr_heal_notes(struct bbf_jfr_healing *healing, const struct bbf_jfr_heal_type *type);

#endif
