/* SPDX-License-Identifier: Apache-2.0 */
#include "client/jfr.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/client.h"
#include "client/output.h"
#include "core/err.h"
#include "core/file.h"
#include "core/nearest.h"
#include "core/option.h"
#include "jfr/print.h"
#include "jfr/recording.h"
#include "jfr/source.h"

enum {
    EVENTS = 1,
    CATEGORIES = 2,
    FROM = 4,
    UNTIL = 8,
    DEPTH = 16,
    JSON = 32,
    EXACT = 64,
    OUTPUT = 128,
    MAX_UNPACKED = 256,
    FILTER = EVENTS | CATEGORIES | FROM | UNTIL
};

/* One command line; strings borrowed from argv. */
struct request {
    const struct command *command;
    const char **files;
    size_t n_files;
    struct bbf_jfr_print how;
    bool json;
    const char *output;
    uint64_t max_unpacked;
};

static int run_summary(const struct request *request);
static int run_print(const struct request *request);
static int run_metadata(const struct request *request);

static const struct command {
    const char *name;
    unsigned takes;
    size_t files_min, files_max;
    int (*run)(const struct request *request);
    const char *help;
} commands[] = {
    {"summary", OUTPUT | MAX_UNPACKED, 1, 1, run_summary,
     "show chunks, start, duration and the number of events of each type"},
    {"print", FILTER | DEPTH | JSON | EXACT | OUTPUT | MAX_UNPACKED, 1, 1, run_print,
     "print events as text or JSON, as the JDK's jfr tool does"},
    {"metadata", EVENTS | CATEGORIES | OUTPUT | MAX_UNPACKED, 1, 1, run_metadata,
     "show event types with their labels, units and fields"},
};

static const struct flag {
    const char *name;
    unsigned bit;
    const char *argument, *help;
} flags[] = {
    {"events", EVENTS, "NAMES", "only these event types: names, short names or patterns, by comma"},
    {"categories", CATEGORIES, "NAMES", "only event types of these categories; JVM is an acronym"},
    {"from", FROM, "TIME", "only events that end at TIME (2026-11-23T10:00:00Z) or later"},
    {"until", UNTIL, "TIME", "only events that end before TIME"},
    {"stack-depth", DEPTH, "N", "frames to show of each stack (5)"},
    {"json", JSON, NULL, "print JSON"},
    {"exact", EXACT, NULL, "print numbers and times in full"},
    {"output", OUTPUT, "FILE", "write to FILE"},
    {"max-unpacked", MAX_UNPACKED, "SIZE", "largest size that a packed file may unpack to (64G)"},
};

enum { COMMANDS = sizeof commands / sizeof commands[0], FLAGS = sizeof flags / sizeof flags[0] };

/* ---- help ---- */

void bbf_jfr_help(struct bbf_buf *to)
{
    for (size_t i = 0; i < COMMANDS; i++)
        bbf_buf_printf(to, "  %-10s %s\n", commands[i].name, commands[i].help);
    bbf_buf_char(to, '\n');
    for (size_t i = 0; i < FLAGS; i++) {
        char left[40];
        (void)snprintf(left, sizeof left, "--%s %s", flags[i].name,
                       flags[i].argument != NULL ? flags[i].argument : "");
        bbf_buf_printf(to, "  %-23s %s\n", left, flags[i].help);
    }
    bbf_buf_str(to, "\nFILE may be packed by gzip, zip or lz4; - is standard input.\n"
                    "Exit codes: 0 all was read, 1 the file is damaged or cannot be read, 2 usage.\n");
}

void bbf_jfr_words(struct bbf_buf *to)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        bbf_buf_printf(to, "command jfr %s", commands[i].name);
        for (size_t f = 0; f < FLAGS; f++) {
            if ((commands[i].takes & flags[f].bit) != 0)
                bbf_buf_printf(to, " --%s%s%s", flags[f].name, flags[f].argument != NULL ? "=" : "",
                               flags[f].argument != NULL ? flags[f].argument : "");
        }
        bbf_buf_char(to, '\n');
    }
}

/* ---- the command line ---- */

static const char *command_name(size_t i)
{
    return commands[i].name;
}

static const char *flag_name(size_t i)
{
    return flags[i].name;
}

static int find_command(const char *word, const struct command **to)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, word) == 0) {
            *to = &commands[i];
            return BBF_EXIT_OK;
        }
    }
    const char *near = bbf_nearest(word, strlen(word), COMMANDS, command_name);
    if (near != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "there is no command 'jfr %s'; did you mean '%s'?", word,
                        near);
    return bbf_fail(BBF_EXIT_USAGE, "there is no command 'jfr %s'; 'bbflow help jfr' lists them",
                    word);
}

/* "2026-11-23T10:00:00Z", also without the time or the Z (UTC then as well), or seconds. */
static int parse_time(const char *name, const char *value, int64_t *ns)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d", "%s"};

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct tm tm = {0};
        const char *end = strptime(value, forms[i], &tm);
        if (end == NULL || (strcmp(end, "") != 0 && strcmp(end, "Z") != 0))
            continue;
        *ns = (int64_t)timegm(&tm) * 1000000000;
        return BBF_EXIT_OK;
    }
    return bbf_fail(BBF_EXIT_USAGE, "--%s takes a time in UTC, as 2026-11-23T10:00:00Z, not '%s'",
                    name, value);
}

static int parse_depth(const char *value, unsigned *depth)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);

    if (*value == '\0' || *end != '\0' || errno != 0 || n < 0 || n > INT_MAX)
        return bbf_fail(BBF_EXIT_USAGE, "--stack-depth takes a number from 0 on, not '%s'", value);
    *depth = (unsigned)n;
    return BBF_EXIT_OK;
}

static int parse_size(const char *value, uint64_t *bytes)
{
    if (bbf_parse_size(value, bytes) != BBF_OK || *bytes == 0)
        return bbf_fail(BBF_EXIT_USAGE, "--max-unpacked takes a size, as 512M or 4G, not '%s'",
                        value);
    return BBF_EXIT_OK;
}

static int apply(struct request *request, const struct flag *flag, const char *value)
{
    switch (flag->bit) {
    case EVENTS:
        request->how.filter.events = value;
        break;
    case CATEGORIES:
        request->how.filter.categories = value;
        break;
    case FROM:
        return parse_time(flag->name, value, &request->how.filter.from_ns);
    case UNTIL:
        return parse_time(flag->name, value, &request->how.filter.until_ns);
    case DEPTH:
        return parse_depth(value, &request->how.stack_depth);
    case JSON:
        request->json = true;
        break;
    case EXACT:
        request->how.exact = true;
        break;
    case OUTPUT:
        request->output = value;
        break;
    default:
        return parse_size(value, &request->max_unpacked);
    }
    return BBF_EXIT_OK;
}

static const struct flag *find_flag(const char *word, size_t len)
{
    if (len == 1 && *word == 'o')
        word = "output", len = 6;
    for (size_t i = 0; i < FLAGS; i++) {
        if (strlen(flags[i].name) == len && memcmp(flags[i].name, word, len) == 0)
            return &flags[i];
    }
    return NULL;
}

/* "--name", "--name=value", "--name value", "-o FILE"; *i is at the last word that was used. */
static int read_flag(struct request *request, int n, char **words, int *i)
{
    const char *word = words[*i] + (words[*i][1] == '-' ? 2 : 1), *equals = strchr(word, '=');
    size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const struct flag *flag = find_flag(word, len);
    const char *near = bbf_nearest(word, len, FLAGS, flag_name);

    if (flag == NULL && near != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "there is no flag '%s'; did you mean '--%s'?", words[*i],
                        near);
    if (flag == NULL || (request->command->takes & flag->bit) == 0)
        return bbf_fail(BBF_EXIT_USAGE, "'jfr %s' has no flag '%s'; 'bbflow help jfr' lists them",
                        request->command->name, words[*i]);
    if (flag->argument == NULL)
        return equals == NULL ? apply(request, flag, NULL)
                              : bbf_fail(BBF_EXIT_USAGE, "--%s takes no value", flag->name);
    const char *value = equals != NULL ? equals + 1 : *i + 1 < n ? words[++*i] : NULL;
    if (value == NULL || *value == '\0')
        return bbf_fail(BBF_EXIT_USAGE, "--%s needs %s", flag->name, flag->argument);
    return apply(request, flag, value);
}

static int check_files(const struct request *request)
{
    const struct command *command = request->command;

    if (request->n_files < command->files_min)
        return bbf_fail(BBF_EXIT_USAGE, "'jfr %s' needs a recording: bbflow jfr %s FILE",
                        command->name, command->name);
    if (request->n_files > command->files_max)
        return bbf_fail(BBF_EXIT_USAGE, "'jfr %s' takes one recording; '%s' is one too many",
                        command->name, request->files[command->files_max]);
    return BBF_EXIT_OK;
}

static int read_words(struct request *request, int n, char **words)
{
    bool flags_end = false;

    for (int i = 1; i < n; i++) {
        if (!flags_end && strcmp(words[i], "--") == 0) {
            flags_end = true;
        } else if (!flags_end && words[i][0] == '-' && words[i][1] != '\0') {
            int rc = read_flag(request, n, words, &i);
            if (rc != BBF_EXIT_OK)
                return rc;
        } else {
            request->files[request->n_files++] = words[i];
        }
    }
    return check_files(request);
}

/* ---- reading ---- */

/* A mapped file that another process shortens: nothing can be read on. Only write(2) and _exit(2)
 * are allowed here. */
static void on_bus_error(int signal)
{
    static const char text[] = "bbflow: the recording was shortened while it was read; "
                               "copy it first, or read it when its writer has ended\n";

    (void)signal;
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(n < 0 ? BBF_EXIT_FAILED : BBF_EXIT_FAILED);
}

static int open_source(const struct request *request, const char *path,
                       struct bbf_jfr_source *source)
{
    char why[256] = "";
    struct sigaction action = {.sa_handler = on_bus_error};

    int err = bbf_jfr_source_open(source, path, request->max_unpacked, why, sizeof why);
    if (err != BBF_OK)
        return bbf_fail(err == BBF_EPERMISSION ? BBF_EXIT_PERMISSION : BBF_EXIT_FAILED,
                        "cannot read %s: %s", path, why[0] != '\0' ? why : bbf_strerror(err));
    (void)sigaction(SIGBUS, &action, NULL);
    if (source->len == 0) {
        bbf_jfr_source_close(source);
        return bbf_fail(BBF_EXIT_FAILED, "%s is empty; a recording has 68 bytes at least", path);
    }
    return BBF_EXIT_OK;
}

/* ---- writing ---- */

/* Where the text goes: a file that appears when it is whole, or stdout. */
struct writer {
    struct bbf_buf buf;
    struct bbf_file file;
    const char *path;
    int rc;
    char why[PATH_MAX + 300];
};

static int on_flush(void *ctx, const char *data, size_t len)
{
    struct writer *w = ctx;
    const struct bbf_buf piece = {.data = (char *)(uintptr_t)data, .len = len};

    if (w->rc != BBF_EXIT_OK)
        return -1;
    if (w->path == NULL)
        w->rc = bbf_output_exact(NULL, &piece);
    else if (bbf_file_write(&w->file, data, len) != BBF_OK)
        w->rc = BBF_EXIT_FAILED;
    return w->rc == BBF_EXIT_OK ? 0 : -1;
}

static int begin_writing(struct writer *w, const char *path)
{
    memset(w, 0, sizeof *w);
    w->path = path;
    w->buf = (struct bbf_buf){.flush = on_flush, .ctx = w};
    int err = path != NULL ? bbf_file_begin(&w->file, path, w->why, sizeof w->why) : BBF_OK;
    return err == BBF_OK ? BBF_EXIT_OK
                         : bbf_fail(BBF_EXIT_FAILED, "cannot write %s", w->why);
}

static int end_writing(struct writer *w, int err)
{
    bool good = bbf_buf_flush(&w->buf);

    bbf_buf_free(&w->buf);
    if (w->path != NULL) {
        int end = bbf_file_end(&w->file, good ? BBF_OK : BBF_EIO, w->why, sizeof w->why);
        if (end != BBF_OK)
            return bbf_fail(BBF_EXIT_FAILED, "cannot write %s", w->why);
    }
    if (w->rc != BBF_EXIT_OK)
        return w->rc;
    return good || err != BBF_OK ? BBF_EXIT_OK
                                 : bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
}

/* What was wrong with the recording, and what to do. */
static int report_trouble(const char *path, const struct bbf_jfr_recording *r, int err)
{
    if (err == BBF_ENOMEM)
        return bbf_fail(BBF_EXIT_FAILED, "%s: %s", path, bbf_strerror(err));
    if (r->trouble.what == NULL)
        return BBF_EXIT_OK;
    char more[64] = "";
    if (r->trouble.count > 1)
        (void)snprintf(more, sizeof more, " (and %" PRIu64 " more)", r->trouble.count - 1);
    return bbf_fail(BBF_EXIT_FAILED,
                    "%s, at byte %" PRIu64 ": %s%s; 'bbflow jfr repair' makes a whole file of it",
                    path, r->trouble.offset, r->trouble.what, more);
}

/* Open, have `print` write, close; the first file of the request. */
static int with_recording(const struct request *request, bool constants,
                          int (*print)(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                                       const struct request *request))
{
    struct bbf_jfr_source source;
    struct bbf_jfr_recording recording;
    struct writer *w = malloc(sizeof *w);
    int rc = w != NULL ? open_source(request, request->files[0], &source)
                       : bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));

    if (rc != BBF_EXIT_OK) {
        free(w);
        return rc;
    }
    rc = begin_writing(w, request->output);
    if (rc == BBF_EXIT_OK) {
        bbf_jfr_recording_init(&recording, source.bytes, source.len, constants);
        int err = print(&w->buf, &recording, request);
        bbf_jfr_recording_close(&recording);
        rc = end_writing(w, err);
        int trouble = rc == BBF_EXIT_OK ? report_trouble(request->files[0], &recording, err) : rc;
        rc = trouble;
    }
    bbf_jfr_source_close(&source);
    free(w);
    return rc;
}

static int summary(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                   const struct request *request)
{
    (void)request;
    return bbf_jfr_print_summary(out, recording);
}

static int run_summary(const struct request *request)
{
    return with_recording(request, false, summary);
}

static int print(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                 const struct request *request)
{
    return request->json ? bbf_jfr_print_json(out, recording, &request->how)
                         : bbf_jfr_print_text(out, recording, &request->how);
}

static int run_print(const struct request *request)
{
    return with_recording(request, true, print);
}

static int metadata(struct bbf_buf *out, struct bbf_jfr_recording *recording,
                    const struct request *request)
{
    return bbf_jfr_print_metadata(out, recording, &request->how.filter);
}

static int run_metadata(const struct request *request)
{
    return with_recording(request, false, metadata);
}

int bbf_jfr_command(int n, char **words)
{
    struct request request = {.how.stack_depth = BBF_JFR_STACK_DEPTH,
                              .max_unpacked = BBF_JFR_UNPACKED_MAX};

    if (n == 0)
        return bbf_fail(BBF_EXIT_USAGE, "'jfr' needs a command; 'bbflow help jfr' lists them");
    int rc = find_command(words[0], &request.command);
    if (rc != BBF_EXIT_OK)
        return rc;
    request.files = calloc((size_t)n, sizeof *request.files);
    if (request.files == NULL)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    rc = read_words(&request, n, words);
    if (rc == BBF_EXIT_OK)
        rc = request.command->run(&request);
    free(request.files);
    return rc;
}
