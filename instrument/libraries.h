/* SPDX-License-Identifier: Apache-2.0 */
/*
 * instrument/libraries.h - the classes that are no application's by their names: those of the JDK,
 * of Netty, of languages' libraries and of known agents (design.md: names and formats).
 *
 * Threads: any; a constant table.
 */
#ifndef BBF_INSTRUMENT_LIBRARIES_H
#define BBF_INSTRUMENT_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

/* Is the class of that internal name one of them? */
bool bbf_libraries_has(const char *name, size_t len);
/* Is it the JDK's? */
bool bbf_libraries_jdk_has(const char *name, size_t len);

#endif
