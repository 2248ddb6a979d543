/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/ui.c - the loop of `bbflow ui`: browsers, signals, and the child process that reads
 * (client/reload.h) and makes the page's data, so that browsers are answered meanwhile. The JVM is
 * read once an interval however many browsers ask, and not at all while none does.
 */
#include "client/ui.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/output.h"
#include "client/print.h"
#include "client/reload.h"
#include "client/target.h"
#include "client/ui_server.h"
#include "core/clock.h"
#include "core/err.h"
#include "render/html.h"
#include "render/json_text.h"

extern char **environ;

enum { BROWSERS, SIGNALS, ANSWER, MESSAGE, FDS };
enum { LOOKED_MS = 4000 }; /* a page that is looked at asks every 2 s */

enum state { CURRENT, TROUBLE, ENDED };

struct ui {
    const struct bbf_command_line *request;
    struct bbf_ui_server server;
    struct bbf_reload reload;
    struct stat file; /* as it was when it was read last */
    enum state state;
    struct bbf_buf trouble; /* why the data is not of now */
    int64_t read_ms;        /* when the data was read: wall clock */
    int64_t began_ms;       /* when the reading began: wall clock */
    int64_t next_ms;        /* when to read again */
    int64_t looked_ms;      /* when a browser asked */
    int signals;
    sigset_t before;
    pid_t opener; /* 0: none */
    bool is_file;
    bool ends;
};

static int64_t interval_of(const struct ui *ui)
{
    const unsigned asked = ui->request->live.interval_ms;

    return asked != 0 ? asked : BBF_LIVE_INTERVAL_MS;
}

static int64_t wall_ms(void)
{
    return (int64_t)(bbf_clock_ns(CLOCK_REALTIME) / 1000000);
}

/* ---- What a browser asks for ----------------------------------------------------------------- */

static void add_state(void *ctx, struct bbf_buf *to)
{
    static const char *const names[] = {"current", "trouble", "ended"};
    struct ui *ui = ctx;

    ui->looked_ms = bbf_monotonic_ms();
    bbf_buf_printf(to,
                   "{\"sequence\":%u,\"state\":\"%s\",\"read\":%" PRId64 ",\"interval\":%" PRId64
                   ",\"reading\":%s,\"message\":",
                   ui->server.sequence, names[ui->state], ui->read_ms, interval_of(ui),
                   ui->reload.pid != 0 ? "true" : "false");
    bbf_json_text(to, ui->state == TROUBLE ? bbf_buf_cstr(&ui->trouble) : "");
    bbf_buf_str(to, "}\n");
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The rest of the snapshot behind the moment at which it was made. */
static const char *behind_time(const char *text, size_t len)
{
    static const char name[] = "\"captured_at\":\"";
    const char *at = memmem(text, len, name, sizeof name - 1);

    at = at != NULL ? memchr(at + sizeof name - 1, '"', (size_t)(text + len - at) - sizeof name + 1)
                    : NULL;
    return at != NULL ? at : text;
}

/* Is it what browsers have, but for the moment? Then they need not fetch and show it again. */
static bool is_shown(const struct bbf_ui_server *server, const struct bbf_buf *data)
{
    if (server->sequence == 0 || server->data_len != data->len)
        return false;
    const char *mark = memchr(data->data, BBF_HTML_MARK, data->len);
    const size_t report = mark != NULL ? (size_t)(mark - data->data) : 0;
    const char *old = server->data_text + report, *new = data->data + report;
    const size_t len = data->len - report;
    const char *old_rest = behind_time(old, len), *new_rest = behind_time(new, len);

    return memcmp(server->data_text, data->data, report) == 0 &&
           old_rest - old ==
               new_rest - new &&memcmp(old_rest, new_rest, len - (size_t)(new_rest - new)) == 0;
}

static void note_state(struct ui *ui, enum state state)
{
    ui->state = state;
    ui->trouble.len = 0;
    bbf_buf_str(&ui->trouble, bbf_buf_cstr(&ui->reload.message));
}

/* Take over what the child process has made; an exit code, with the reason in `trouble`. */
static int take(struct ui *ui)
{
    struct bbf_reload *reload = &ui->reload;
    int exit_code = bbf_reload_end(reload);

    ui->next_ms = bbf_reload_next(reload, interval_of(ui));
    if (exit_code == BBF_EXIT_OK && !bbf_html_data(&reload->document)) {
        bbf_buf_str(&reload->message, "what was read is not complete");
        exit_code = BBF_EXIT_FAILED;
    }
    if (exit_code == BBF_EXIT_OK && !is_shown(&ui->server, &reload->document) &&
        !bbf_ui_server_set(&ui->server, &reload->document)) {
        bbf_buf_str(&reload->message, bbf_strerror(BBF_ENOMEM));
        exit_code = BBF_EXIT_FAILED;
    }
    if (exit_code == BBF_EXIT_OK)
        ui->read_ms = ui->began_ms;
    note_state(ui, exit_code == BBF_EXIT_OK               ? CURRENT
                   : bbf_reload_jvm_ended(ui->request, 0) ? ENDED
                                                          : TROUBLE);
    return exit_code;
}

/* A file that has not changed is not read again. */
static bool has_news(struct ui *ui)
{
    struct stat now;

    if (!ui->is_file || stat(ui->request->target, &now) != 0)
        return true;
    const struct stat *was = &ui->file;
    bool same = ui->state == CURRENT && now.st_ino == was->st_ino && now.st_dev == was->st_dev &&
                now.st_size == was->st_size && now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == was->st_mtim.tv_nsec;
    ui->file = now;
    return !same;
}

static bool start_reading(struct ui *ui, bool gc)
{
    ui->began_ms = wall_ms();
    return bbf_reload_start(&ui->reload, ui->request, "html", gc);
}

/* Read when it is time and a browser looks; take over what has been read. */
static void renew(struct ui *ui)
{
    struct bbf_reload *reload = &ui->reload;
    const int64_t now = bbf_monotonic_ms();

    if (reload->pid != 0 && !bbf_reload_more(reload))
        (void)take(ui);
    const bool looks = ui->looked_ms != 0 && now - ui->looked_ms < LOOKED_MS;
    if (reload->pid != 0 || !looks || now < ui->next_ms || ui->state == ENDED)
        return;
    ui->next_ms = now + interval_of(ui);
    if (!has_news(ui)) {
        ui->read_ms = wall_ms();
    } else if (!start_reading(ui, false)) {
        note_state(ui, TROUBLE);
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

static bool hold_signals(struct ui *ui)
{
    static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++)
        sigaddset(&set, held[i]);
    (void)sigprocmask(SIG_BLOCK, &set, &ui->before);
    (void)signal(SIGPIPE, SIG_IGN); /* a browser goes when it likes */
    ui->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return ui->signals >= 0;
}

static void release_signals(struct ui *ui)
{
    struct signalfd_siginfo taken;

    while (read(ui->signals, &taken, sizeof taken) > 0)
        continue;
    close(ui->signals);
    (void)sigprocmask(SIG_SETMASK, &ui->before, NULL);
}

static int smaller_wait(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int wait_ms(const struct ui *ui)
{
    const int64_t now = bbf_monotonic_ms();
    const bool looks = ui->looked_ms != 0 && now - ui->looked_ms < LOOKED_MS;
    int wait = bbf_ui_server_wait(&ui->server);

    if (ui->reload.pid == 0 && looks && ui->state != ENDED)
        wait = smaller_wait(wait, ui->next_ms <= now ? 0 : (int)(ui->next_ms - now));
    return wait;
}

/* Wait for something, and serve browsers. */
static void serve(struct ui *ui)
{
    const bool reads = ui->reload.pid != 0;
    struct signalfd_siginfo taken;
    struct pollfd from[FDS] = {[BROWSERS] = {.fd = ui->server.fd, .events = POLLIN},
                               [SIGNALS] = {.fd = ui->signals, .events = POLLIN},
                               [ANSWER] = {.fd = reads ? ui->reload.out : -1, .events = POLLIN},
                               [MESSAGE] = {.fd = reads ? ui->reload.err : -1, .events = POLLIN}};

    if (poll(from, FDS, wait_ms(ui)) < 0 && errno != EINTR)
        ui->ends = true;
    while (read(ui->signals, &taken, sizeof taken) == sizeof taken)
        ui->ends = ui->ends || taken.ssi_signo != SIGCHLD;
    bbf_ui_server_run(&ui->server);
}

/* The first data, before the address is printed: what is wrong is an error of the command. */
static int take_first(struct ui *ui)
{
    (void)has_news(ui);
    if (!start_reading(ui, ui->request->gc))
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_buf_cstr(&ui->reload.message));
    while (bbf_reload_more(&ui->reload) && !ui->ends)
        serve(ui);
    if (ui->ends)
        return BBF_EXIT_OK;
    int exit_code = take(ui);
    return exit_code == BBF_EXIT_OK ? exit_code
                                    : bbf_fail(exit_code, "%s", bbf_buf_cstr(&ui->trouble));
}

/* ---- The browser ----------------------------------------------------------------------------- */

static void fail_opening(void)
{
    bbf_note("bbflow: no browser could be opened by xdg-open (Debian: apt-get install xdg-utils); "
             "open the address yourself");
}

/* Its command line can be read by all users: it has a key for one use, not the token. */
static void open_browser(struct ui *ui)
{
    char address[BBF_UI_ADDRESS], name[] = "xdg-open";
    char *words[] = {name, address, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;

    bbf_ui_server_address(&ui->server, true, address);
    if (posix_spawn_file_actions_init(&files) != 0)
        return;
    if (posix_spawnattr_init(&attributes) == 0) {
        (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        (void)posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        (void)posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        /* Ctrl-C ends this command, not the browser; and it gets the signals that are held here. */
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
        (void)posix_spawnattr_setsigmask(&attributes, &ui->before);
        if (posix_spawnp(&ui->opener, name, &files, &attributes, words, environ) != 0) {
            ui->opener = 0;
            fail_opening();
        }
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&files);
}

static void look_for_opener(struct ui *ui)
{
    int status = 0;

    if (ui->opener <= 0 || waitpid(ui->opener, &status, WNOHANG) != ui->opener)
        return;
    ui->opener = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_opening();
}

/* ---- The command ----------------------------------------------------------------------------- */

/* Without a target it is the one JVM that has the agent, also later, when there are others. */
static int pin(struct bbf_command_line *request, char pid[BBF_PID_TEXT])
{
    struct bbf_agents agents;
    int exit_code = BBF_EXIT_OK;

    if (request->target != NULL)
        return exit_code;
    bbf_agents_find(&agents, request->socket);
    const struct bbf_target *agent = bbf_target_choose(&agents, request, &exit_code);
    if (agent != NULL) {
        snprintf(pid, BBF_PID_TEXT, "%ld", (long)agent->pid);
        request->target = pid;
    }
    bbf_agents_free(&agents);
    return exit_code;
}

static int print_address(const struct ui *ui)
{
    char address[BBF_UI_ADDRESS], seconds[32];

    snprintf(seconds, sizeof seconds, "%g", (double)interval_of(ui) / 1000);
    bbf_ui_server_address(&ui->server, false, address);
    bbf_print("%s", address);
    int exit_code = bbf_output_flush();
    bbf_note("The page renews itself every %s s while it is looked at. Ctrl-C ends.", seconds);
    return exit_code;
}

static int run(struct ui *ui)
{
    int exit_code = take_first(ui);

    if (exit_code == BBF_EXIT_OK && !ui->ends)
        exit_code = print_address(ui);
    if (exit_code == BBF_EXIT_OK && !ui->ends && ui->request->live.opens)
        open_browser(ui);
    while (exit_code == BBF_EXIT_OK && !ui->ends) {
        renew(ui);
        look_for_opener(ui);
        serve(ui);
    }
    return exit_code;
}

int bbf_verb_ui(const struct bbf_command_line *request)
{
    struct bbf_command_line pinned = *request;
    struct ui ui = {.request = &pinned, .signals = -1};
    char pid[BBF_PID_TEXT];

    int exit_code = bbf_ui_server_open(&ui.server, request->live.port, add_state, &ui);
    if (exit_code == BBF_EXIT_OK)
        exit_code = pin(&pinned, pid);
    ui.is_file = pinned.target != NULL && bbf_target_is_file(pinned.target);
    if (exit_code == BBF_EXIT_OK) {
        exit_code =
            hold_signals(&ui) ? run(&ui) : bbf_fail(BBF_EXIT_FAILED, "no descriptor for signals");
        release_signals(&ui);
    }
    bbf_reload_free(&ui.reload);
    bbf_buf_free(&ui.trouble);
    bbf_ui_server_close(&ui.server);
    return exit_code;
}
