/* SPDX-License-Identifier: Apache-2.0 */
#include "client/top_view.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"

/* "JVM 4711 has ended; this is its last state", or the reader's own reason. */
static void set_trouble(struct bbf_top_view *view, const char *why)
{
    struct bbf_buf text = BBF_BUF_INIT;

    if (view->top.title != NULL && bbf_reload_jvm_ended(view->request, view->top.pid))
        bbf_buf_printf(&text, "The JVM has ended. This is its last state, of %s.", view->top.clock);
    else
        bbf_buf_str(&text, why);
    free(view->trouble);
    view->trouble = strdup(bbf_buf_cstr(&text));
    bbf_buf_free(&text);
}

/* The selection stays at its place, wherever that is sorted to. */
static void replace(struct bbf_top_view *view, struct bbf_top *top)
{
    const uint64_t id = view->selected < view->top.n ? view->top.places[view->selected].id : 0;

    bbf_top_sort(top, view->order, view->inverted);
    for (size_t i = 0; view->selected != 0 && i < top->n; i++)
        if (top->places[i].id == id) {
            view->selected = i;
            break;
        }
    if (view->selected >= top->n)
        view->selected = top->n > 0 ? top->n - 1 : 0;
    bbf_top_free(&view->top);
    view->top = *top;
}

int bbf_top_view_take(struct bbf_top_view *view)
{
    struct bbf_snapshot *snapshot = NULL;
    struct bbf_top top;
    int exit_code = bbf_reload_end_snapshot(&view->reload, &snapshot);

    if (exit_code != BBF_EXIT_OK) {
        set_trouble(view, bbf_buf_cstr(&view->reload.message));
        return exit_code;
    }
    int rc = bbf_top_make(&top, snapshot, view->top.title != NULL ? &view->top : NULL);
    bbf_snapshot_free(snapshot);
    if (rc != BBF_OK) {
        set_trouble(view, bbf_strerror(rc));
        return BBF_EXIT_FAILED;
    }
    free(view->trouble);
    view->trouble = NULL;
    replace(view, &top);
    return BBF_EXIT_OK;
}
