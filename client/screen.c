/* SPDX-License-Identifier: Apache-2.0 */
#include "client/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct bbf_screen screens[2]; /* stdout, stderr */
static bool known;

/* The variable that decides the character set (setlocale(3)); NULL: none is set. */
static const char *wanted_locale(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0')
            return value;
    }
    return NULL;
}

/* Only the character set: numbers and messages do not depend on the locale. */
void bbf_screen_init(void)
{
    if (setlocale(LC_CTYPE, "") != NULL)
        return;
    /* If the locale is not installed, as in a small container, its character set still counts. */
    const char *wanted = wanted_locale();
    const char *set = wanted != NULL ? strchr(wanted, '.') : NULL;
    if (set != NULL && (strncasecmp(set, ".utf-8", 6) == 0 || strncasecmp(set, ".utf8", 5) == 0))
        (void)setlocale(LC_CTYPE, "C.UTF-8");
}

static size_t columns(int fd)
{
    const char *variable = getenv("COLUMNS");
    struct winsize size;
    size_t n = 0;

    if (variable != NULL && *variable != '\0' && strspn(variable, "0123456789") < 6 &&
        variable[strspn(variable, "0123456789")] == '\0')
        n = (size_t)atoi(variable);
    if (n == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    if (n == 0)
        n = BBF_SCREEN_COLUMNS;
    return n > BBF_SCREEN_LEAST ? n : BBF_SCREEN_LEAST;
}

static bool is_smart(void)
{
    const char *term = getenv("TERM");

    return term != NULL && *term != '\0' && strcmp(term, "dumb") != 0;
}

static bool shows_colours(void)
{
    const char *none = getenv("NO_COLOR");

    return is_smart() && (none == NULL || *none == '\0');
}

static struct bbf_screen screen_of(int fd, const struct bbf_screen_flags *flags)
{
    struct bbf_screen screen = {.terminal = isatty(fd) == 1,
                                .asked_ascii = flags->ascii,
                                .erases = is_smart(),
                                .quiet = flags->quiet};

    screen.look.ascii = flags->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    screen.look.colour = flags->color == BBF_COLOR_ALWAYS ||
                         (flags->color == BBF_COLOR_AUTO && screen.terminal && shows_colours());
    screen.look.width = screen.terminal && !flags->wide ? columns(fd) : 0;
    return screen;
}

void bbf_screen_set(const struct bbf_screen_flags *flags)
{
    screens[0] = screen_of(STDOUT_FILENO, flags);
    screens[1] = screen_of(STDERR_FILENO, flags);
    screens[0].look.foreign = true;
    screens[1].look.colour = false; /* messages are plain */
    known = true;
}

static const struct bbf_screen *screen(int i)
{
    static const struct bbf_screen_flags nothing;

    if (!known)
        bbf_screen_set(&nothing);
    return &screens[i];
}

const struct bbf_screen *bbf_screen_out(void)
{
    return screen(0);
}

const struct bbf_screen *bbf_screen_err(void)
{
    return screen(1);
}
