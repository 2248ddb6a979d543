/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/path.h - a path in one line, where there is no view of a snapshot: "Root.step → A.b →
 * C.d". The caller climbs from the losing step to the root and adds each step on the way. Of a long
 * path the end is kept, because that is where the fix belongs.
 *
 *     struct bbf_path path = BBF_PATH_INIT;
 *     for (; node != NONE && bbf_path_climb(&path, class_of(node), method_of(node));)
 *         node = parent_of(node);
 *     bbf_path_text(out, &path, BBF_CLASS_SIMPLE, 640);
 *
 * Threads: one owner. The strings belong to the caller and are read by bbf_path_text() only.
 * Errors: those of the buffer (sticky).
 */
#ifndef BBF_RENDER_PATH_H
#define BBF_RENDER_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"

enum { BBF_PATH_STEPS = 64 };

/* com.app.Handler as "com.app.Handler" or as "Handler". */
enum bbf_class_style { BBF_CLASS_FULL, BBF_CLASS_SIMPLE };

struct bbf_path_step {
    const char *class_name; /* "" for ?raced and the like; NULL: the step is not known, "?" */
    const char *method;
    const char *enclosing; /* as bbf_snap_site has it; NULL: not known */
    uint32_t line;         /* 0: not known */
};

struct bbf_path {
    struct bbf_path_step steps[BBF_PATH_STEPS]; /* the last step of the path first */
    size_t n;
    bool cut; /* there are more steps towards the root */
};

#define BBF_PATH_INIT                                                                              \
    {                                                                                              \
        .n = 0, .cut = false                                                                       \
    }

/* Add the next step towards the root. false: there is no room for it, and the path is cut. */
bool bbf_path_climb(struct bbf_path *path, const char *class_name, const char *method);
/* The same with what is known of where the method was written. */
bool bbf_path_climb_step(struct bbf_path *path, const struct bbf_path_step *step);

/* One step's name, escaped (core/safe.h), as people wrote it (render/step_words.h): "Handler.read",
 * "Handler.read (lambda)", "?raced", "?first-seen Handler". */
void bbf_path_step(struct bbf_buf *out, const struct bbf_path_step *step,
                   enum bbf_class_style style);

/*
 * Root to last step, without a line end; "… → " before what is left of a cut path. The steps and
 * their arrows take at most max_bytes (0: no limit), a last step that is longer alone its end.
 */
void bbf_path_text(struct bbf_buf *out, const struct bbf_path *path, enum bbf_class_style style,
                   size_t max_bytes);

#endif
