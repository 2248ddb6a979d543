/* SPDX-License-Identifier: Apache-2.0 */
#include "client/top.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/output.h"
#include "client/top_view.h"
#include "core/err.h"

/* ---- the command ---- */

/* The first one, before there is a screen: Ctrl-C ends the command while it waits. */
static int take_first(struct bbf_top_view *view)
{
    bool more = bbf_reload_start(&view->reload, view->request, "json", view->request->gc);

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
    return bbf_fail(BBF_EXIT_USAGE,
                    "top stays on a terminal, and this is not one; --once prints the "
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
