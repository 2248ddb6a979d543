/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/choice_flags.h - the flags that choose which losses are shown (render/choice.h).
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_CHOICE_FLAGS_H
#define BBF_CLIENT_CHOICE_FLAGS_H

#include "render/choice.h"

/* Apply --NAME VALUE; `value` is borrowed. An exit code; if it is not 0, the reason was printed. */
int bbf_choice_flag(struct bbf_choice *choice, const char *name, const char *value);

#endif
