/* SPDX-License-Identifier: Apache-2.0 */
#include "client/jfr.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/client.h"
#include "client/fail.h"
#include "client/jfr_run.h"
#include "client/progress.h"
#include "core/err.h"
#include "core/nearest.h"
#include "core/units.h"

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
    MATCH = 512,
    SAME = 1024,
    MAX_VALUES = 2048,
    FORMAT = 4096,
    AGE = 8192,
    MAX_NODES = 16384,
    QUIET = 32768,
    FILTER = EVENTS | CATEGORIES | FROM | UNTIL
};

enum { MANY = 1 << 16 };

static const struct bbf_jfr_command {
    const char *name;
    unsigned takes;
    size_t files_min, files_max;
    int (*run)(const struct bbf_jfr_request *request);
    const char *help;
} commands[] = {
    {"summary", OUTPUT | MAX_UNPACKED, 1, 1, bbf_jfr_run_summary,
     "show chunks, start, duration and the number of events of each type"},
    {"print", FILTER | DEPTH | JSON | EXACT | OUTPUT | MAX_UNPACKED | MAX_VALUES, 1, 1,
     bbf_jfr_run_print, "print events as text or JSON, as the JDK's jfr tool does"},
    {"events", FILTER | JSON | OUTPUT | MAX_UNPACKED | MAX_VALUES, 1, 1, bbf_jfr_run_events,
     "print one line for each event, for grep; with --json an object for each line"},
    {"netty", FROM | UNTIL | FORMAT | AGE | MAX_NODES | OUTPUT | MAX_UNPACKED, 1, 1,
     bbf_jfr_run_netty, "pair Netty's buffer events: what is live, leaked, and what pins chunks"},
    {"metadata", EVENTS | CATEGORIES | OUTPUT | MAX_UNPACKED, 1, 1, bbf_jfr_run_metadata,
     "show event types with their labels, units and fields"},
    {"repair", OUTPUT | MAX_UNPACKED, 1, 1, bbf_jfr_run_repair,
     "write what is whole of a damaged recording, and list what is lost"},
    {"join", OUTPUT | SAME | MAX_UNPACKED, 2, MANY, bbf_jfr_run_join,
     "write several recordings as one, by the time of their chunks"},
    {"split", OUTPUT | MAX_UNPACKED, 1, 1, bbf_jfr_run_split,
     "write each chunk as a recording of its own: FILE-1.jfr, FILE-2.jfr ..."},
    {"unpack", OUTPUT | MAX_UNPACKED, 1, 1, bbf_jfr_run_unpack,
     "write a recording that was packed by gzip, zip or lz4"},
    {"scrub", OUTPUT | MATCH | MAX_UNPACKED, 1, 1, bbf_jfr_run_scrub,
     "write a copy whose texts that match are unreadable"},
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
    {"format", FORMAT, "FORMAT", "of the report: tree, llm, summary, json, folded"},
    {"age", AGE, "DURATION", "what was open so long at the end is aged: 60s, 10m"},
    {"max-nodes", MAX_NODES, "N", "nodes of the paths to keep (100000)"},
    {"match", MATCH, "REGEX", "what to make unreadable: an extended regular expression"},
    {"same-process", SAME, NULL, "the files are pieces of one JVM's recording: copy all of them"},
    {"max-values", MAX_VALUES, "N",
     "values to show of one event, with all that it names (1048576)"},
    {"max-unpacked", MAX_UNPACKED, "SIZE", "largest size that a packed file may unpack to (64G)"},
    {"quiet", QUIET, NULL, "print no notes and no progress; errors and results remain"},
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
    bbf_buf_str(
        to,
        "\nFILE may be packed by gzip, zip or lz4; - is standard input.\n"
        "Exit codes: 0 all was read, 1 something is damaged, lost or cannot be read, 2 usage.\n");
}

static void add_flags(struct bbf_buf *to, unsigned takes)
{
    for (size_t i = 0; i < FLAGS; i++) {
        if (((takes | QUIET) & flags[i].bit) != 0)
            bbf_buf_printf(to, " --%s%s%s", flags[i].name, flags[i].argument != NULL ? "=" : "",
                           flags[i].argument != NULL ? flags[i].argument : "");
    }
    bbf_buf_str(to, " --help\n");
}

void bbf_jfr_words(struct bbf_buf *to)
{
    bbf_buf_str(to, "command jfr");
    add_flags(to, ~0u);
    for (size_t i = 0; i < COMMANDS; i++) {
        bbf_buf_printf(to, "jfr %s", commands[i].name);
        add_flags(to, commands[i].takes);
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

/* NULL: there is none of that name, which is reported. */
static const struct bbf_jfr_command *find_command(const char *word)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, word) == 0)
            return &commands[i];
    }
    const char *near = bbf_nearest(word, strlen(word), COMMANDS, command_name);
    if (near != NULL)
        (void)bbf_fail(BBF_EXIT_USAGE, "there is no command 'jfr %s'; did you mean '%s'?", word,
                       near);
    else
        (void)bbf_fail(BBF_EXIT_USAGE, "there is no command 'jfr %s'; 'bbflow help jfr' lists them",
                       word);
    return NULL;
}

/* ".5" in nanoseconds, up to nine digits; *at is behind it. */
static int64_t parse_fraction(const char **at)
{
    int64_t ns = 0, unit = 100000000;

    if ((*at)[0] != '.' || (*at)[1] < '0' || (*at)[1] > '9')
        return 0;
    for (++*at; **at >= '0' && **at <= '9' && unit > 0; ++*at, unit /= 10)
        ns += (**at - '0') * unit;
    return ns;
}

/* "2026-11-23T10:00:00.5Z", also without the fraction, the time or the Z (UTC then as well), or
 * seconds. */
static int parse_time(const char *name, const char *value, int64_t *ns)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d", "%s"};

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct tm tm = {0};
        const char *end = strptime(value, forms[i], &tm);
        int64_t part = end != NULL ? parse_fraction(&end) : 0;
        if (end == NULL || (strcmp(end, "") != 0 && strcmp(end, "Z") != 0))
            continue;
        *ns = (int64_t)timegm(&tm) * 1000000000 + part;
        return BBF_EXIT_OK;
    }
    return bbf_fail(BBF_EXIT_USAGE, "--%s takes a time in UTC, as 2026-11-23T10:00:00Z, not '%s'",
                    name, value);
}

static int parse_number(const char *name, const char *value, long least, unsigned *number)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);

    if (*value == '\0' || *end != '\0' || errno != 0 || n < least || n > INT_MAX)
        return bbf_fail(BBF_EXIT_USAGE, "--%s takes a number from %ld to %d, not '%s'", name, least,
                        INT_MAX, value);
    *number = (unsigned)n;
    return BBF_EXIT_OK;
}

static int parse_size(const char *value, uint64_t *bytes)
{
    if (bbf_parse_size(value, bytes) != BBF_OK || *bytes == 0)
        return bbf_fail(BBF_EXIT_USAGE, "--max-unpacked takes a size, as 512M or 4G, not '%s'",
                        value);
    return BBF_EXIT_OK;
}

static int parse_age(const char *value, uint64_t *ns)
{
    if (bbf_parse_duration(value, ns) != BBF_OK || *ns == 0)
        return bbf_fail(BBF_EXIT_USAGE, "--age takes a duration, as 60s or 10m, not '%s'", value);
    return BBF_EXIT_OK;
}

static int apply(struct bbf_jfr_request *request, const struct flag *flag, const char *value)
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
        return parse_number(flag->name, value, 0, &request->how.stack_depth);
    case MAX_VALUES:
        return parse_number(flag->name, value, 1, &request->how.values_max);
    case JSON:
        request->json = true;
        break;
    case EXACT:
        request->how.exact = true;
        break;
    case OUTPUT:
        request->output = value;
        break;
    case MATCH:
        request->match = value;
        break;
    case FORMAT:
        request->format = value;
        break;
    case AGE:
        return parse_age(value, &request->age_ns);
    case QUIET:
        break; /* main() saw it: client/screen.h */
    case MAX_NODES:
        return parse_number(flag->name, value, 1, &request->max_nodes);
    case SAME:
        request->same_process = true;
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
    if (len == 1 && *word == 'f')
        word = "format", len = 6;
    for (size_t i = 0; i < FLAGS; i++) {
        if (strlen(flags[i].name) == len && memcmp(flags[i].name, word, len) == 0)
            return &flags[i];
    }
    return NULL;
}

/* "--name", "--name=value", "--name value", "-o FILE", "-f FORMAT"; *i is at the last word that was
 * used. */
static int read_flag(struct bbf_jfr_request *request, const struct bbf_jfr_command *command, int n,
                     char **words, int *i)
{
    const char *word = words[*i] + (words[*i][1] == '-' ? 2 : 1), *equals = strchr(word, '=');
    size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);
    const struct flag *flag = find_flag(word, len);
    const char *near = bbf_nearest(word, len, FLAGS, flag_name);

    if (flag == NULL && near != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "there is no flag '%s'; did you mean '--%s'?", words[*i],
                        near);
    if (flag == NULL || ((command->takes | QUIET) & flag->bit) == 0)
        return bbf_fail(BBF_EXIT_USAGE, "'jfr %s' has no flag '%s'; 'bbflow help jfr' lists them",
                        command->name, words[*i]);
    if (flag->argument == NULL)
        return equals == NULL ? apply(request, flag, NULL)
                              : bbf_fail(BBF_EXIT_USAGE, "--%s takes no value", flag->name);
    const char *value = equals != NULL ? equals + 1 : *i + 1 < n ? words[++*i] : NULL;
    if (value == NULL || *value == '\0')
        return bbf_fail(BBF_EXIT_USAGE, "--%s needs %s", flag->name, flag->argument);
    return apply(request, flag, value);
}

static int check_files(const struct bbf_jfr_request *request, const struct bbf_jfr_command *command)
{
    if (request->n_files < command->files_min)
        return bbf_fail(BBF_EXIT_USAGE, "'jfr %s' needs %s; 'bbflow help jfr' shows how",
                        command->name,
                        command->files_min > 1 ? "two recordings or more" : "a recording");
    if (request->n_files > command->files_max)
        return bbf_fail(BBF_EXIT_USAGE, "'jfr %s' takes one recording; '%s' is one too many",
                        command->name, request->files[command->files_max]);
    return BBF_EXIT_OK;
}

static int read_words(struct bbf_jfr_request *request, const struct bbf_jfr_command *command, int n,
                      char **words)
{
    bool flags_end = false;

    for (int i = 1; i < n; i++) {
        if (!flags_end && strcmp(words[i], "--") == 0) {
            flags_end = true;
        } else if (!flags_end && words[i][0] == '-' && words[i][1] != '\0') {
            int rc = read_flag(request, command, n, words, &i);
            if (rc != BBF_EXIT_OK)
                return rc;
        } else {
            request->files[request->n_files++] = words[i];
        }
    }
    return check_files(request, command);
}

int bbf_jfr_command(int n, char **words)
{
    struct bbf_jfr_request request = {.how.stack_depth = BBF_JFR_STACK_DEPTH,
                                      .max_unpacked = BBF_JFR_UNPACKED_MAX};

    if (n == 0)
        return bbf_fail(BBF_EXIT_USAGE, "'jfr' needs a command; 'bbflow help jfr' lists them");
    const struct bbf_jfr_command *command = find_command(words[0]);
    if (command == NULL)
        return BBF_EXIT_USAGE;
    request.files = calloc((size_t)n, sizeof *request.files);
    if (request.files == NULL)
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    int rc = read_words(&request, command, n, words);
    if (rc == BBF_EXIT_OK) {
        bbf_progress_allow();
        rc = command->run(&request);
        bbf_progress_end();
    }
    free(request.files);
    return rc;
}
