/* SPDX-License-Identifier: Apache-2.0 */
#include "client/top.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/output.h"
#include "client/top_view.h"
#include "core/err.h"

/* ---- a new table ---- */

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
    int exit_code = bbf_reload_end(&view->reload, &snapshot);

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

/* ---- the command ---- */

/* The first one, before there is a screen: Ctrl-C ends the command while it waits. */
static int take_first(struct bbf_top_view *view)
{
    bool more = bbf_reload_start(&view->reload, view->request, view->request->gc);

    if (!more)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_buf_cstr(&view->reload.message));
    while (bbf_reload_more(&view->reload)) {
        struct pollfd from[] = {{.fd = view->reload.out, .events = POLLIN},
                                {.fd = view->reload.err, .events = POLLIN}};
        (void)poll(from, 2, -1);
    }
    int exit_code = bbf_top_view_take(view);
    return exit_code == BBF_EXIT_OK ? BBF_EXIT_OK : bbf_fail(exit_code, "%s", view->trouble);
}

static int print_once(const struct bbf_top_view *view)
{
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_top_text(&text, &view->top);
    int exit_code = text.failed ? bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM))
                                : bbf_output_write(NULL, &text);
    bbf_buf_free(&text);
    return exit_code;
}

/* Can it stay on the screen? If not, the reason is printed. */
static int check_terminal(void)
{
#ifndef BBF_WITH_NCURSES
    return bbf_fail(BBF_EXIT_FAILED,
                    "this bbflow was built without ncursesw, which draws on a terminal; install "
                    "libncurses-dev and build again, or take --once, which prints the table");
#else
    if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1)
        return BBF_EXIT_OK;
    return bbf_fail(BBF_EXIT_USAGE, "top stays on a terminal, and this is none; --once prints the "
                                    "table, 'bbflow watch' prints losses as they are found");
#endif
}

int bbf_verb_top(const struct bbf_command_line *request)
{
    struct bbf_command_line pinned = *request;
    struct bbf_top_view view = {.request = &pinned, .order = request->live.order};
    char pid[BBF_PID_TEXT];

    int exit_code = request->live.once ? BBF_EXIT_OK : check_terminal();
    if (exit_code == BBF_EXIT_OK)
        exit_code = take_first(&view);
    bbf_reload_pin(&pinned, view.top.pid, pid);
    if (exit_code == BBF_EXIT_OK && request->live.once)
        exit_code = print_once(&view);
#ifdef BBF_WITH_NCURSES
    else if (exit_code == BBF_EXIT_OK)
        exit_code = bbf_top_run(&view);
#endif
    bbf_reload_free(&view.reload);
    bbf_top_free(&view.top);
    free(view.trouble);
    return exit_code;
}
