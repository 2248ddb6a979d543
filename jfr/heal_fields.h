/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/heal_fields.h - the fields of types that jfr/heal.h sets right.
 *
 * Threads: one owner at a time.
 */
#ifndef BBF_JFR_HEAL_FIELDS_H
#define BBF_JFR_HEAL_FIELDS_H

#include "jfr/heal_state.h"

/* Is the type simple, and may it be? */
void bbf_jfr_heal_simple(struct bbf_jfr_healing *healing, struct bbf_jfr_heal_type *type);
/* Lose each type whose fields are not all known. */
void bbf_jfr_heal_unknown(struct bbf_jfr_healing *healing);
/* Set right what is wrong with the fields of a type that stays. */
void bbf_jfr_heal_fields(struct bbf_jfr_healing *healing, struct bbf_jfr_heal_type *type);

#endif
