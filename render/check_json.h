/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/check_json.h - bbflow-check/1: the answer of `bbflow check` and `bbflow diff` as JSON. It
 * is no format of the table: there the name is the snapshot's.
 *
 * Threads: one owner. Errors: BBF_ENOMEM, BBF_EFORMAT as bbf_render().
 */
#ifndef BBF_RENDER_CHECK_JSON_H
#define BBF_RENDER_CHECK_JSON_H

#include "render/check.h"

int bbf_check_json(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                   struct bbf_check_rules *rules);

#endif
