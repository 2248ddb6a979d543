/* SPDX-License-Identifier: Apache-2.0 */
#include "client/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "client/row.h"
#include "client/screen.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/safe.h"

enum {
    FIRST_MS = 1000,
    RENEW_MS = 250,
    TEXT_BYTES = 1024,
    TEXT_LEAST = 12,   /* columns; a shorter text says nothing */
    TAIL = 96,         /* bytes of ": 34 of 120 MiB, 12 s", at most */
    TAIL_COLUMNS = 24, /* what is kept for it; longer ones go without the amount */
    HIDDEN = -1
};

/*
 * The handler interrupts the only thread at any point. So a text is written to the line that is not
 * `shown`, and then published by one store; the fence keeps the compiler from moving it.
 */
static struct {
    char text[TEXT_BYTES];
    size_t len, columns;
} lines[2];
static volatile sig_atomic_t shown = HIDDEN;
static volatile sig_atomic_t is_drawn;
static _Atomic uint64_t done, total; /* lock-free, as each 64-bit word here */
static volatile sig_atomic_t unit;
static uint64_t began_ns;
static uint64_t part, parts;
static bool is_allowed;

static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDINGS = sizeof endings / sizeof *endings };

/* ---- In the handler: only what signal-safety(7) allows --------------------------------------- */

static void put(char *to, size_t *len, const char *text)
{
    while (*text != '\0' && *len < TAIL)
        to[(*len)++] = *text++;
}

static void put_number(char *to, size_t *len, uint64_t n)
{
    char digits[21];
    size_t at = sizeof digits - 1;

    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    put(to, len, digits + at);
}

static void put_amount(char *to, size_t *len)
{
    const uint64_t n = atomic_load_explicit(&done, memory_order_relaxed),
                   all = atomic_load_explicit(&total, memory_order_relaxed);
    const bool bytes = unit == BBF_PROGRESS_BYTES, small = n < 1 << 20 && all < 1 << 20;
    const unsigned shift = !bytes ? 0 : small ? 10 : 20;

    if (n == 0)
        return;
    put_number(to, len, n >> shift);
    if (all > 0) {
        put(to, len, " of ");
        put_number(to, len, (all > n ? all : n) >> shift);
    }
    put(to, len, !bytes ? "" : small ? " KiB" : " MiB");
    put(to, len, ", ");
}

/* Returns its length, which is also its columns. */
static size_t put_tail(char to[TAIL], bool after_text, bool with_amount)
{
    size_t len = 0;

    if (after_text)
        put(to, &len, ": ");
    if (with_amount)
        put_amount(to, &len);
    put_number(to, &len, (bbf_monotonic_ns() - began_ns) / BBF_CLOCK_SECOND);
    put(to, &len, " s");
    return len;
}

static size_t columns_now(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : BBF_SCREEN_COLUMNS;
}

/* In the background the line would be drawn over another program's; a terminal that was stopped by
 * Ctrl-S would stop us also. */
static bool may_draw(void)
{
    struct pollfd terminal = {.fd = STDERR_FILENO, .events = POLLOUT};

    return tcgetpgrp(STDERR_FILENO) == getpgrp() && poll(&terminal, 1, 0) == 1 &&
           (terminal.revents & POLLOUT) != 0;
}

static void write_out(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, text, len);
        if (n <= 0)
            return;
        text += n;
        len -= (size_t)n;
    }
}

static void draw(int line)
{
    char out[TEXT_BYTES + TAIL + 8], tail[TAIL];
    size_t len = 0, text_len = lines[line].len, width = columns_now();
    /* The terminal may be narrower by now, and a line that wraps cannot be erased. */
    size_t tail_len = put_tail(tail, text_len > 0, true);

    if (lines[line].columns + tail_len >= width)
        tail_len = put_tail(tail, text_len > 0, false);
    if (lines[line].columns + tail_len >= width) {
        text_len = 0;
        tail_len = put_tail(tail, false, false);
    }
    out[len++] = '\r';
    memcpy(out + len, lines[line].text, text_len);
    len += text_len;
    if (tail_len < width) {
        memcpy(out + len, tail, tail_len);
        len += tail_len;
    }
    memcpy(out + len, "\033[K", 3);
    is_drawn = 1;
    write_out(out, len + 3);
}

static void on_timer(int signal)
{
    const int cause = errno, line = shown;

    (void)signal;
    if (line != HIDDEN && may_draw())
        draw(line);
    errno = cause;
}

void bbf_progress_hide(void)
{
    static const char erase[] = "\r\033[K";

    shown = HIDDEN; /* first, so that the timer does not draw behind the erasure */
    if (is_drawn != 0)
        write_out(erase, sizeof erase - 1);
    is_drawn = 0;
}

/* SA_RESETHAND: the second time, which comes as soon as this returns, the signal ends us. */
static void on_ending(int signal)
{
    bbf_progress_hide();
    (void)raise(signal);
}

/* ---- The stages ------------------------------------------------------------------------------ */

static void start_timer(unsigned first_ms, unsigned then_ms)
{
    const struct itimerval timer = {
        .it_value = {.tv_sec = first_ms / 1000, .tv_usec = first_ms % 1000 * 1000},
        .it_interval = {.tv_sec = then_ms / 1000, .tv_usec = then_ms % 1000 * 1000}};

    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

void bbf_progress_allow(void)
{
    const struct bbf_screen *screen = bbf_screen_err();
    const struct sigaction on_alarm = {.sa_handler = on_timer, .sa_flags = SA_RESTART},
                           on_end = {.sa_handler = on_ending, .sa_flags = (int)SA_RESETHAND};
    struct sigaction old;

    if (!screen->terminal || !screen->erases || screen->quiet || is_allowed)
        return;
    is_allowed = true;
    began_ns = bbf_monotonic_ns();
    for (size_t i = 0; i < ENDINGS; i++)
        if (sigaction(endings[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(endings[i], &on_end, NULL);
    (void)sigaction(SIGALRM, &on_alarm, NULL);
    start_timer(FIRST_MS, RENEW_MS);
}

/* The text, safe and cut to what fits beside the tail; its length in bytes. */
static size_t fit(const struct bbf_buf *text, char to[TEXT_BYTES], size_t *columns)
{
    const bool ascii = bbf_screen_err()->look.ascii;
    const char *mark = ascii ? "..." : "…";
    const size_t width = columns_now(), mark_columns = ascii ? 3 : 1;
    size_t most = width > TAIL_COLUMNS + TEXT_LEAST ? width - TAIL_COLUMNS : 0, len = text->len;

    *columns = bbf_columns(text->data, len);
    if (*columns > most || len >= TEXT_BYTES) {
        len = most > mark_columns ? bbf_fitting(text->data, len, most - mark_columns) : 0;
        while (len > 0 && (len >= TEXT_BYTES - 4 || (text->data[len] & 0xC0) == 0x80))
            len--;
        memcpy(to, text->data, len);
        *columns = bbf_columns(to, len);
        if (len == 0)
            return 0;
        memcpy(to + len, mark, strlen(mark));
        *columns += mark_columns;
        return len + strlen(mark);
    }
    memcpy(to, text->data, len);
    return len;
}

void bbf_progress_part(uint64_t i, uint64_t n)
{
    part = i;
    parts = n;
}

void bbf_progress_stage(const char *format, ...)
{
    struct bbf_buf text = BBF_BUF_INIT;
    const int line = shown == 0 ? 1 : 0;
    va_list args;

    if (!is_allowed)
        return;
    if (parts > 1)
        bbf_buf_printf(&text, "%" PRIu64 " of %" PRIu64 ": ", part, parts);
    va_start(args, format);
    bbf_safe_vprintf(&text, bbf_screen_err()->look.ascii ? BBF_SAFE_ASCII : BBF_SAFE_VALUE, format,
                     args);
    va_end(args);
    if (!text.failed && text.len > 0) {
        shown = HIDDEN; /* not with the amount of the stage before */
        lines[line].len = fit(&text, lines[line].text, &lines[line].columns);
        atomic_store_explicit(&done, 0, memory_order_relaxed);
        atomic_store_explicit(&total, 0, memory_order_relaxed);
        unit = BBF_PROGRESS_BYTES;
        atomic_signal_fence(memory_order_release);
        shown = line;
    }
    bbf_buf_free(&text);
}

void bbf_progress_of(uint64_t all, enum bbf_progress_unit of)
{
    unit = (sig_atomic_t)of;
    atomic_store_explicit(&total, all, memory_order_relaxed);
}

void bbf_progress_add(uint64_t more)
{
    atomic_fetch_add_explicit(&done, more, memory_order_relaxed);
}

void bbf_progress_end(void)
{
    bbf_progress_hide();
    if (!is_allowed)
        return;
    is_allowed = false;
    start_timer(0, 0);
}
