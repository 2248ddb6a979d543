/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/tags.h - the tag byte of each kind of value. The peer uses one encoder, but the codes
 * differ by command (docs/btrace-wire.md 3.1). Both directions of the codec read the table.
 *
 * Constant data.
 */
#ifndef BBF_WIRE_BTRACE_TAGS_H
#define BBF_WIRE_BTRACE_TAGS_H

#include "wire/btrace/command.h"

enum { BBF_WIRE_VERSION = 3, BBF_WIRE_TAGS = 7 };

enum bbf_tag_use {
    BBF_TAGS_NUMBER,  /* NUMBER, NUMBER_MAP */
    BBF_TAGS_SETTING, /* SET_PARAMS */
    BBF_TAGS_CELL     /* GRID_DATA */
};

/* [use][tag] = kind. */
extern const enum bbf_value_kind bbf_wire_tags[3][BBF_WIRE_TAGS];

#endif
