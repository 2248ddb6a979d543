/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/json_row.h - a row of `nodes` exactly as json_write.c writes it, read without json-c: of a
 * million rows that saves four seconds in five. Anything else, be it valid, is left to json-c; so
 * nothing is ever refused here, and what is taken means the same there (test_render_json compares).
 *
 * Threads: any; pure.
 */
#ifndef BBF_RENDER_JSON_ROW_H
#define BBF_RENDER_JSON_ROW_H

#include "snapshot/snapshot.h"

/* Bytes of the row at `text`, or 0: not in that form, *node is then undefined. node->site is the
 * id of the site. */
size_t bbf_json_node_row(const char *text, size_t len, struct bbf_snap_node *node);

#endif
