/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/plan.h - what is inserted into which method (design.md: insertion): Netty's own hooks,
 * and the steps of included classes. Turns names and descriptors into bbf_cf_plan; knows no JVM.
 *
 * Threads: any; rules never change once published.
 */
#ifndef BBF_INSTRUMENT_PLAN_H
#define BBF_INSTRUMENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classfile/classfile.h"
#include "instrument/class_plan.h"

/* The JDK's class that counts direct memory against -XX:MaxDirectMemorySize. Of the boot loader's
 * classes the only one that is changed, and only with file=, which the report needs. */
#define BBF_PLAN_JDK_BITS "java/nio/Bits"

/* Is it the class whose retain and release refs=on hooks? */
bool bbf_plan_is_refcount_class(const char *name, size_t len);

/* Fill `plan` for a class name (internal); false: nothing is to be done with the class, as far as
 * its name says. */
bool bbf_plan_class(struct bbf_plan_class *plan, const char *name, size_t len,
                    const struct bbf_rules *rules, const struct bbf_plan_sites *sites);
/* Has the class hooks, as far as is known? (tracks alone is a question, no hook.) */
bool bbf_plan_has_hooks(const struct bbf_plan_class *plan);
/* Look into the class, whatever bbf_plan_class() said: for closing methods with track=, and for
 * super.clone(). False: nothing is to be done with the class after all. */
bool bbf_plan_inspect(struct bbf_plan_class *plan, const uint8_t *bytes, size_t len);
/* Never followed and never tracked, whatever the options say: what our own hooks run in. */
bool bbf_plan_is_never_followed(const char *name, size_t len);
/* Is it beside what include= or trackConstructors= names (core/pattern.h)? */
bool bbf_plan_is_near(const char *name, size_t len, const struct bbf_rules *rules);
/* Is the class followed by include/exclude or trackConstructors (Netty's own hooks aside)? */
bool bbf_plan_is_followed(const char *name, size_t len, const struct bbf_rules *rules);

/* The configuration for bbf_cf_rewrite(); ctx is a struct bbf_plan_class. */
void bbf_plan_config(struct bbf_cf_config *config, struct bbf_plan_class *plan);

#endif
