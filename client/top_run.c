/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/top_run.c - the loop of `bbflow top`: keys, the terminal's size, signals, new tables. All
 * signals that end it come by a descriptor, so that the terminal is always restored first.
 */
#define NCURSES_NOMACROS
#include "client/top_view.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <unistd.h>

#include "core/clock.h"

enum { KEYS, SIGNALS, ANSWER, MESSAGE, FDS, PAGE = 10, ESCAPE_MS = 50 };

struct run {
    struct bbf_top_view *view;
    SCREEN *screen;
    int signals;
    sigset_t before;
    int64_t next_ms; /* when to read again */
    bool now;        /* the user wants a new table */
    bool ends;
};

/* ---- the terminal ---- */

/* Does the terminal have what a table needs: a cursor that can be placed? Prints why not. */
static int check_term(void)
{
    const char *term = getenv("TERM");
    int known = 0;

    if (term != NULL && *term != '\0' && setupterm(NULL, STDOUT_FILENO, &known) == OK) {
        char name[] = "cup";
        const char *cup = tigetstr(name);
        const bool can = cup != NULL && cup != (const char *)-1;
        (void)del_curterm(cur_term); /* newterm() has one of its own */
        if (can)
            return BBF_EXIT_OK;
    }
    return bbf_fail(BBF_EXIT_FAILED,
                    "a terminal of type '%s' (TERM) is not known or cannot place its cursor; set "
                    "TERM, as TERM=xterm, or take --once, which prints the table",
                    term != NULL ? term : "");
}

static bool hold_signals(struct run *run)
{
    static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        sigaddset(&set, held[i]);
    (void)sigprocmask(SIG_BLOCK, &set, &run->before);
    run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return run->signals >= 0;
}

static int open_screen(struct run *run)
{
    int exit_code = check_term();

    if (exit_code != BBF_EXIT_OK)
        return exit_code;
    if (!hold_signals(run))
        return bbf_fail(BBF_EXIT_FAILED, "no descriptor for signals");
    use_env(FALSE); /* a size that changes, not that of $LINES */
    run->screen = newterm(NULL, stdout, stdin);
    if (run->screen == NULL)
        return bbf_fail(BBF_EXIT_FAILED, "the terminal cannot be used; --once prints the table");
    (void)cbreak();
    (void)noecho();
    (void)nodelay(stdscr, TRUE);
    (void)keypad(stdscr, TRUE);
    (void)curs_set(0);
    set_escdelay(ESCAPE_MS);
    if (has_colors()) {
        (void)start_color();
        (void)use_default_colors();
        (void)init_pair(1, COLOR_RED, -1);
        (void)init_pair(2, COLOR_YELLOW, -1);
    }
    return BBF_EXIT_OK;
}

static void close_screen(struct run *run)
{
    struct signalfd_siginfo taken;

    if (run->screen != NULL) {
        (void)endwin();
        delscreen(run->screen);
    }
    while (run->signals >= 0 && read(run->signals, &taken, sizeof taken) > 0)
        continue;
    if (run->signals >= 0)
        close(run->signals);
    (void)sigprocmask(SIG_SETMASK, &run->before, NULL);
}

static void fit(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0 &&
        is_term_resized(size.ws_row, size.ws_col))
        (void)resizeterm(size.ws_row, size.ws_col);
}

/* ---- keys ---- */

static void move_selection(struct bbf_top_view *view, long by)
{
    size_t *at = view->help ? &view->help_first : &view->selected;
    const size_t last = view->help ? SIZE_MAX / 2 : view->top.n > 0 ? view->top.n - 1 : 0;

    if (by < 0)
        *at = *at > (size_t)-by ? *at - (size_t)-by : 0;
    else
        *at = *at + (size_t)by < last ? *at + (size_t)by : last;
}

static bool move_by_key(struct bbf_top_view *view, int key)
{
    static const struct {
        int key;
        long by;
    } moves[] = {{KEY_UP, -1},      {KEY_DOWN, 1},          {KEY_PPAGE, -PAGE},
                 {KEY_NPAGE, PAGE}, {KEY_HOME, -INT32_MAX}, {KEY_END, INT32_MAX}};

    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        if (moves[i].key == key) {
            move_selection(view, moves[i].by);
            return true;
        }
    return false;
}

static void sort_by(struct bbf_top_view *view, enum bbf_top_order order, bool inverted)
{
    view->order = order;
    view->inverted = inverted;
    bbf_top_sort(&view->top, order, inverted);
    view->selected = view->first = 0;
}

static void take_key(struct run *run, int key)
{
    struct bbf_top_view *view = run->view;
    const enum bbf_top_order order = bbf_top_order_of_key(key);

    if (key == 'q' || key == 'Q')
        run->ends = true;
    else if (move_by_key(view, key) || key == KEY_RESIZE)
        return;
    else if (view->help)
        view->help = false;
    else if (key == '?' || key == 'h') {
        view->help = true;
        view->help_first = 0;
    } else if (order != BBF_TOP_N_ORDERS)
        sort_by(view, order, false);
    else if (key == 'i')
        sort_by(view, view->order, !view->inverted);
    else if (key == ' ')
        view->paused = !view->paused;
    else if (key == 'g' || key == '\n' || key == '\r' || key == KEY_ENTER) {
        view->gc = view->gc || key == 'g';
        run->now = true;
    } else if (key == '\f')
        (void)clearok(curscr, TRUE);
}

/* ---- the loop ---- */

static void take_signals(struct run *run)
{
    struct signalfd_siginfo taken;

    while (read(run->signals, &taken, sizeof taken) == sizeof taken)
        run->ends = run->ends || taken.ssi_signo != SIGWINCH;
}

/* A terminal that is gone cannot be drawn on, and no key can come from it. */
static void take_keys(struct run *run, short events)
{
    int key;

    if ((events & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        run->ends = true;
    while (!run->ends && (events & POLLIN) != 0 && (key = getch()) != ERR)
        take_key(run, key);
}

static int64_t interval_of(const struct bbf_top_view *view)
{
    const unsigned asked = view->request->live.interval_ms;

    return asked != 0 ? asked : BBF_LIVE_INTERVAL_MS;
}

/* Read when it is time; take over what has been read. */
static void renew(struct run *run)
{
    struct bbf_top_view *view = run->view;
    struct bbf_reload *reload = &view->reload;
    const int64_t interval = interval_of(view);

    if (reload->pid != 0 && !bbf_reload_more(reload)) {
        (void)bbf_top_view_take(view);
        run->next_ms = bbf_reload_next(reload, interval);
    }
    bool wanted = run->now || (!view->paused && bbf_monotonic_ms() >= run->next_ms);
    if (reload->pid != 0 || !wanted)
        return;
    run->now = false;
    if (bbf_reload_start(reload, view->request, "json", view->gc))
        run->next_ms = INT64_MAX;
    else
        run->next_ms = bbf_monotonic_ms() + interval;
    view->gc = false;
}

static int wait_ms(const struct run *run)
{
    const int64_t now = bbf_monotonic_ms();

    if (run->view->reload.pid != 0 || run->view->paused)
        return -1;
    return run->next_ms <= now ? 0 : (int)(run->next_ms - now);
}

int bbf_top_run(struct bbf_top_view *view)
{
    struct run run = {.view = view, .signals = -1};
    int exit_code = open_screen(&run);

    run.next_ms = bbf_reload_next(&view->reload, interval_of(view));
    while (exit_code == BBF_EXIT_OK && !run.ends) {
        fit();
        renew(&run);
        bbf_top_draw(view);
        const bool reads = view->reload.pid != 0;
        struct pollfd from[FDS] = {
            [KEYS] = {.fd = STDIN_FILENO, .events = POLLIN},
            [SIGNALS] = {.fd = run.signals, .events = POLLIN},
            [ANSWER] = {.fd = reads ? view->reload.out : -1, .events = POLLIN},
            [MESSAGE] = {.fd = reads ? view->reload.err : -1, .events = POLLIN}};
        if (poll(from, FDS, wait_ms(&run)) < 0 && errno != EINTR)
            break;
        take_signals(&run);
        take_keys(&run, from[KEYS].revents);
    }
    if (exit_code == BBF_EXIT_OK || run.signals >= 0)
        close_screen(&run);
    return exit_code;
}
