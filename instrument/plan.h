/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/plan.h - decides which calls are inserted into which method (design.md: insertion):
 * Netty's own hooks, and the steps of included classes. Turns names and descriptors into
 * bbf_cf_plan; knows no JVM.
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

/* The JDK's class that counts direct memory against -XX:MaxDirectMemorySize. It is the only class
 * of the boot loader that bbflow changes, and only with file=, because only that report needs
 * it. */
#define BBF_PLAN_JDK_BITS "java/nio/Bits"

/* Is it the class whose retain and release methods refs=on hooks? */
bool bbf_plan_is_refcount_class(const char *name, size_t len);

/* Is it a class of Netty that context=on hooks? */
bool bbf_plan_is_of_context(const char *name, size_t len);
/* Is it a class of Netty that scopes=on hooks? */
bool bbf_plan_is_of_scopes(const char *name, size_t len);

/* Fill `plan` for a class name (internal). False: by its name, the class needs no hooks. */
bool bbf_plan_class(struct bbf_plan_class *plan, const char *name, size_t len,
                    const struct bbf_rules *rules, const struct bbf_plan_sites *sites);
/* Does the class have hooks, as far as is known now? (`tracks` alone does not count: the class must
 * be read first.) */
bool bbf_plan_has_hooks(const struct bbf_plan_class *plan);
/* Read the class bytes, whatever bbf_plan_class() returned, to find closing methods of track= and
 * calls of super.clone(). False: the class needs no hooks. */
bool bbf_plan_inspect(struct bbf_plan_class *plan, const uint8_t *bytes, size_t len);
/* Is it a class that is never followed or tracked, whatever the options, because our own hooks run
 * in it? */
bool bbf_plan_is_never_followed(const char *name, size_t len);
/* Is it beside a class or package that include= or trackConstructors= names (core/pattern.h)? */
bool bbf_plan_is_near(const char *name, size_t len, const struct bbf_rules *rules);
/* Do include, exclude and trackConstructors select the class (apart from Netty's own hooks)? */
bool bbf_plan_is_followed(const char *name, size_t len, const struct bbf_rules *rules);

/* The configuration for bbf_cf_rewrite(); ctx is a struct bbf_plan_class. */
void bbf_plan_config(struct bbf_cf_config *config, struct bbf_plan_class *plan);

#endif
