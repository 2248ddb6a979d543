/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/track.h - the list of track=: kinds of the application's own objects, each given by its
 * class (or interface) and the method that closes it:
 * "com.app.Connection:close+com.app.Lease:giveBack".
 *
 * The list of carriers= has the same form: a class and its field that leads to a buffer.
 *
 * A list is stored as such a text, without blanks. Threads: parse by one, look-ups by any; a parsed
 * list never changes.
 */
#ifndef BBF_CORE_TRACK_H
#define BBF_CORE_TRACK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/pattern.h"

enum { BBF_MAX_TRACKS = 16 };

/* Parse `text` ('+' or ',' between the entries) and append it to the entries of `before` (NULL:
 * none). The caller owns *out and frees it with free(). Errors: BBF_EINVAL (err filled),
 * BBF_ENOMEM. */
int bbf_track_parse(char **out, const char *before, const char *text, struct bbf_parse_error *err);

/* The same for the list of carriers=, "com.app.Frame:payload": after the colon is the name of a
 * field. */
int bbf_carriers_parse(char **out, const char *before, const char *text,
                       struct bbf_parse_error *err);

/* Bit i of the results below is entry i of the list; a NULL list gives 0. */
/* Entries whose class has this internal name (com/app/Connection). */
unsigned bbf_track_classes(const char *list, const char *name, size_t len);
/* Entries whose closing method has this name. */
unsigned bbf_track_methods(const char *list, const char *name, size_t len);
/* Does this descriptor or other constant of a class contain the internal name of an entry's
 * class? */
bool bbf_track_mentioned(const char *list, const char *utf8, size_t len);
/* Entry i's method, borrowed, *len characters; NULL if there is no such entry. */
const char *bbf_track_method(const char *list, unsigned i, size_t *len);

#endif
