/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/formats.h - the formats behind bbf_render(), a file each. Each appends its whole document
 * to `out`; the caller looks at out->failed. `options` is never NULL.
 *
 * Errors: BBF_ENOMEM; BBF_EFORMAT for parents that do not precede their children. Threads: any; the
 * snapshot is only read.
 */
#ifndef BBF_RENDER_FORMATS_H
#define BBF_RENDER_FORMATS_H

#include "core/buf.h"
#include "render/render.h"
#include "snapshot/snapshot.h"

#define XX(id, name, extension, flags)                                                             \
    int bbf_render_##name(struct bbf_buf *out, const struct bbf_snapshot *snapshot,                \
                          const struct bbf_render_options *options);
BBF_FORMATS(XX)
#undef XX

#endif
