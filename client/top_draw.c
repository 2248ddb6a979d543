/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/top_draw.c - the screen of `bbflow top`. Every text passes put(): safe, in the locale's
 * characters, cut at the right edge. What does not fit below is left out, the table last.
 */
#define NCURSES_NOMACROS
#include "client/top_view.h"

#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/layout.h"
#include "client/row.h"

enum { PLAIN, BAD, WARNING, DETAILS = 3, LINES_FOR_MEMORY = 10, LINES_FOR_DETAILS = 14 };

static size_t screen_lines(void)
{
    int n = getmaxy(stdscr);

    return n > 0 ? (size_t)n : 0;
}

static size_t screen_width(void)
{
    int n = getmaxx(stdscr);

    return n > 0 ? (size_t)n : 0;
}

/* Without colours (NO_COLOR, --color=never) weight and inversion still say the same. */
static attr_t paint(int pair, attr_t otherwise)
{
    return bbf_screen_out()->look.colour && has_colors() ? (attr_t)COLOR_PAIR(pair) | A_BOLD
                                                         : otherwise;
}

/* A line of the screen; `len` bytes of `text` have no line end. */
static void put(size_t y, const char *text, size_t len, attr_t how)
{
    const bool ascii = bbf_screen_out()->look.ascii;
    const char *cut = ascii ? ">" : "…";
    struct bbf_buf safe = BBF_BUF_INIT;
    const size_t width = screen_width();

    if (y >= screen_lines() || width == 0)
        return;
    bbf_row_safe(&safe, text, len, ascii);
    size_t fits = safe.failed ? 0 : bbf_fitting(bbf_buf_cstr(&safe), safe.len, width);
    if (fits < safe.len) {
        fits = bbf_fitting(safe.data, safe.len, width - 1);
        safe.len = fits;
        bbf_buf_str(&safe, cut);
    }
    (void)attr_set(how & ~(attr_t)A_COLOR, (short)PAIR_NUMBER((int)(how & A_COLOR)), NULL);
    (void)mvaddnstr((int)y, 0, bbf_buf_cstr(&safe), (int)safe.len);
    if ((how & A_REVERSE) != 0 && bbf_columns(safe.data, safe.len) < width)
        (void)mvchgat((int)y, 0, -1, how & ~(attr_t)A_COLOR,
                      (short)PAIR_NUMBER((int)(how & A_COLOR)), NULL); /* to the right edge */
    (void)attr_set(A_NORMAL, 0, NULL);
    bbf_buf_free(&safe);
}

static void put_buf(size_t y, struct bbf_buf *text, attr_t how)
{
    put(y, bbf_buf_cstr(text), text->len, how);
    bbf_buf_free(text);
}

/* ---- above and below the table ---- */

/* The lines above; returns how many. */
static size_t draw_head(const struct bbf_top_view *view)
{
    const struct bbf_top *top = &view->top;
    struct bbf_buf line = BBF_BUF_INIT;
    size_t y = 0;

    bbf_buf_printf(&line, "%s  %s%s", top->clock, top->title, view->paused ? "  (paused)" : "");
    put_buf(y++, &line, A_BOLD);
    if (screen_lines() < 4)
        return y;
    put(y, top->totals, strlen(top->totals), A_NORMAL);
    y++;
    if (top->memory[0] != '\0' && screen_lines() >= LINES_FOR_MEMORY) {
        put(y, top->memory, strlen(top->memory), A_NORMAL);
        y++;
    }
    if (top->n_notes > 0) {
        bbf_buf_printf(&line, "%.*s", (int)strcspn(top->notes, "\n"), top->notes);
        if (top->n_notes > 1) {
            struct bbf_buf first = line;
            line = (struct bbf_buf)BBF_BUF_INIT;
            bbf_buf_printf(&line, "%zu notes (? shows them): %s", top->n_notes,
                           bbf_buf_cstr(&first));
            bbf_buf_free(&first);
        }
        put_buf(y++, &line, paint(WARNING, A_NORMAL));
    }
    return y;
}

static void draw_status(const struct bbf_top_view *view)
{
    struct bbf_buf line = BBF_BUF_INIT;
    const size_t y = screen_lines() - 1;

    if (view->trouble != NULL) {
        bbf_buf_str(&line, view->trouble);
        put_buf(y, &line, paint(BAD, A_REVERSE));
        return;
    }
    bbf_buf_printf(&line, "q quit  ? help  by %s%s", bbf_top_order_name(view->order),
                   view->inverted ? ", least first" : "");
    if (view->gc)
        bbf_buf_str(&line, "  garbage collection requested");
    put_buf(y, &line, A_DIM);
}

/* The numbers and the way of the selected place. */
static void draw_details(const struct bbf_top_view *view, size_t y)
{
    const struct bbf_top_place *place = &view->top.places[view->selected];
    struct bbf_buf line = BBF_BUF_INIT;

    put(y, place->numbers, strlen(place->numbers), paint(PLAIN, A_NORMAL));
    bbf_buf_printf(&line, "way: %s", place->way);
    put_buf(y + 1, &line, A_NORMAL);
    bbf_buf_printf(&line, "look at: %s", place->look);
    put_buf(y + 2, &line, A_NORMAL);
}

/* ---- the table ---- */

static void draw_places(struct bbf_top_view *view, size_t y, size_t end)
{
    const size_t rows = end > y ? end - y : 0, width = screen_width();

    if (view->selected < view->first)
        view->first = view->selected;
    if (rows > 0 && view->selected >= view->first + rows)
        view->first = view->selected - rows + 1;
    if (view->first > 0 && view->first + rows > view->top.n)
        view->first = view->top.n > rows ? view->top.n - rows : 0;
    for (size_t i = view->first; i < view->top.n && y < end; i++, y++) {
        struct bbf_buf line = BBF_BUF_INIT;
        const bool leak = view->top.places[i].proven;
        bbf_top_row(&line, &view->top, i, width);
        put_buf(y, &line,
                paint(leak ? BAD : WARNING, leak ? A_BOLD : A_NORMAL) |
                    (i == view->selected ? A_REVERSE : 0));
    }
}

static void draw_table(struct bbf_top_view *view)
{
    size_t y = draw_head(view), lines = screen_lines();
    struct bbf_buf line = BBF_BUF_INIT;
    const bool details = lines >= LINES_FOR_DETAILS && view->top.n > 0;
    const size_t end = lines - 1 - (details ? DETAILS + 1 : 0);

    if (y + 1 < end && view->top.n > 0) {
        bbf_top_columns(&line, screen_width());
        put_buf(y++, &line, A_UNDERLINE);
    }
    draw_places(view, y, end);
    if (details)
        draw_details(view, end + 1);
}

/* ---- help ---- */

static void add_help(struct bbf_buf *out, const struct bbf_top_view *view)
{
    bbf_buf_str(out, "Keys\n");
#define XX(id, key, word) bbf_buf_printf(out, "  %c  sort by " #word "\n", key);
    BBF_TOP_ORDERS(XX)
#undef XX
    bbf_buf_str(out, "  i  turn the order round\n"
                     "  up, down, page up, page down, home, end  select a place\n"
                     "  space  pause      enter  read now      ?  help\n"
                     "  g  request a garbage collection, which proves leaks\n"
                     "  q  quit\n\n"
                     "LOST: buffers that leaked, proven, or are open for too long (OPEN). NEW: of "
                     "these, since the table before. RATE: of those that came to the place. SPEED: "
                     "bytes found lost a minute or hour. OLDEST: how long the oldest was open when "
                     "it was found.\n\n");
    bbf_buf_str(out, view->top.notes);
}

static void draw_help(struct bbf_top_view *view)
{
    struct bbf_buf text = BBF_BUF_INIT, laid = BBF_BUF_INIT;
    const size_t room = screen_lines() - 1;
    struct bbf_look look = bbf_screen_out()->look;
    size_t n = 0, y = 0;

    look.width = screen_width() >= BBF_SCREEN_LEAST ? screen_width() : BBF_SCREEN_LEAST;
    look.colour = look.foreign = false;
    add_help(&text, view);
    (void)bbf_layout(&laid, bbf_buf_cstr(&text), text.len, &look);
    const char *all = bbf_buf_cstr(&laid);
    for (const char *p = all; *p != '\0'; p++)
        n += *p == '\n';
    if (view->help_first + room > n)
        view->help_first = n > room ? n - room : 0;
    for (size_t i = 0; *all != '\0' && y < room; i++) {
        size_t len = strcspn(all, "\n");
        if (i >= view->help_first)
            put(y++, all, len, A_NORMAL);
        all += len + (all[len] == '\n');
    }
    static const char end[] = "any key goes back, up and down scroll";
    put(room, end, sizeof end - 1, A_DIM);
    bbf_buf_free(&text);
    bbf_buf_free(&laid);
}

void bbf_top_draw(struct bbf_top_view *view)
{
    (void)erase();
    if (screen_lines() > 0 && view->help)
        draw_help(view);
    else if (screen_lines() > 0) {
        draw_table(view);
        draw_status(view);
    }
    (void)refresh(); /* sends the difference to what the terminal shows */
}
