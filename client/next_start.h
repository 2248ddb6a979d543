/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/next_start.h - the option with which a JVM is to be started the next time, complete.
 *
 * Threads: one.
 */
#ifndef BBF_CLIENT_NEXT_START_H
#define BBF_CLIENT_NEXT_START_H

#include <stdbool.h>
#include <stddef.h>

#include "client/jvm_facts.h"

/* The application's package, by its main class or by what the agent suggests: "com.shop". False:
 * unknown, because the main class is a framework's launcher or has no package. */
bool bbf_guess_package(const struct bbf_jvm_facts *facts, char *package, size_t size);

/*
 * "-agentpath:/opt/bbflow/libbbflow.so=include=com.shop" into `option`, within ' ' if a shell needs
 * it. Options that the JVM was given before are kept, except an include= that is replaced. False:
 * the path has a character that the JVM's option cannot hold. *copy: the path is not there for the
 * JVM, so the library must be put there.
 */
bool bbf_next_start(const struct bbf_jvm_facts *facts, const struct bbf_library_facts *library,
                    char *option, size_t size, bool *copy);

#endif
