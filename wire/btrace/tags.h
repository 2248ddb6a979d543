/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire/btrace/tags.h - which tag byte stands for which kind of value: the same encoder of the peer,
 * but the codes differ by user (docs/btrace-wire.md 3.1). Read by both directions of the codec.
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
