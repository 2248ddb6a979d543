/* SPDX-License-Identifier: Apache-2.0 */
#include "client/flags.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/check_flags.h"
#include "client/choice_flags.h"
#include "client/fail.h"
#include "client/live_flags.h"
#include "client/push_flags.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/nearest.h"
#include "core/units.h"
#include "render/render.h"

#define ONE_NAME(id, name, extension, flags) #name ", "

static const struct flag {
    const char *name;
    char letter; /* short form, or 0 */
    bbf_flag_set bit;
    const char *argument; /* NULL: it takes no value */
    const char *help;
} flags[] = {
    {"output", 'o', OUTPUT, "FILE", "write to FILE; its extension selects the format"},
    {"format", 'f', FORMAT, "FORMAT", "write " BBF_FORMATS(ONE_NAME) "whatever the extension"},
    {"gc", 0, GC, NULL, "request a garbage collection first, which proves leaks"},
    {"all", 0, ALL, NULL, "show the whole tree"},
    {"lines", 0, LINES, NULL, "show the line number of each step (JSON always has it)"},
    {"redact", 0, REDACT, "FILE", "random words for your names; FILE keeps which is whose"},
    {"only", 0, ONLY, "NAME", "show the paths that pass a package, class or method"},
    {"depth", 0, DEPTH, "STEPS", "show the first STEPS steps of each path"},
    {"lost", 0, CHOICE, NULL, "show proven losses only, of tree, summary, llm and html"},
    {"memory", 0, CHOICE, "KIND", "show losses of direct, heap, composite, unknown (or a+b)"},
    {"older", 0, CHOICE, "TIME", "show losses that were open for TIME or longer (90s, 10m, 2h)"},
    {"rate", 0, CHOICE, "RATE", "show places that lose more, or less: '>1%', '<50%'"},
    {"path", 0, CHOICE, "NAME", "show losses on whose way is a package, class or method"},
    {"by", 0, BY, "WHAT", "list losses by bug or by method (bug)"},
    {"measure", 0, MEASURE, "TIME", "measure for TIME, as 10s, what following costs"},
    {"interval", 0, LIVE, "SECONDS", "read again after SECONDS (2)"},
    {"port", 0, SERVES, "PORT", "serve the page at this port of 127.0.0.1 (any free one)"},
    {"open", 0, SERVES, NULL, "also open the page in the browser"},
    {"sort", 0, ROWS, "ORDER", "worst, lost, new, rate, bytes, speed, oldest, place"},
    {"once", 0, ROWS, NULL, "print the table once, also to a pipe or a file"},
    {"baseline", 0, RULES, "FILE", "an earlier snapshot: only new and worse leaks fail"},
    {"max-leaked", 0, RULES, "N", "fail above N leaked buffers (0)"},
    {"max-leaked-bytes", 0, RULES, "SIZE", "fail above SIZE of leaked memory"},
    {"max-rate", 0, RULES, "RATE", "fail if a leak surely loses above RATE per 1,000"},
    {"max-worse", 0, RULES, "N", "fail above N leaks worse than in the baseline (0)"},
    {"max-aged", 0, RULES, "N", "fail above N buffers that are open for too long"},
    {"max-live", 0, RULES, "N", "fail above N open buffers"},
    {"max-misuse", 0, RULES, "N", "fail above N uses after release"},
    {"min-lives", 0, RULES, "N", "fail below N followed buffers (1)"},
    {"tolerance", 0, COMPARES, "PERCENT", "a rate is the same within PERCENT of it (10)"},
    {"sources", 0, COMPARES, "DIRS", "folders of sources, joined by ':' (src/*/java ...)"},
    {"to", 0, PUSH, "URL", "the receiver, as http://collector:4318"},
    {"as", 0, PUSH, "RECEIVER", "otlp: a collector (default); pprof: Pyroscope; prom: Pushgateway"},
    {"every", 0, PUSH, "TIME", "push again and again, as 60s or 5m (once)"},
    {"header", 0, PUSH, "HEADER", "'Name: value', or @FILE with such lines; several times"},
    {"label", 0, PUSH, "NAME=VALUE", "a label of all that is pushed, as zone=eu-1; several times"},
    {"since", 0, PUSH, "FILE", "losses since the push that wrote FILE, and write it"},
    {"cacert", 0, PUSH, "FILE", "certificates to trust (those of the system)"},
    {"nodes", 0, NODES, NULL, "also remove the tree's nodes, as after a limit"},
    {"json", 0, JSON, NULL, "print the findings as JSON"},
    {"agent", 0, AGENT, "FILE", "libbbflow.so (default: beside bbflow, or in ../lib)"},
    {"socket", 0, SOCKET, "DIR", "search only this folder: the agent's option socket="},
    {"timeout", 0, TIMEOUT, "SECONDS", "how long to wait for each reply (60; handshake 5)"},
    {"protocol", 0, PROTOCOL, "P", "BTrace protocol: 1, 2 or auto (default: 2, then 1)"},
    {"compress", 0, COMPRESS, "BYTES", "compress messages over BYTES, for slow links"},
    {"token-file", 0, TOKEN_FILE, "FILE", "file with the TCP token (default: $BBFLOW_TOKEN_FILE)"},
    {"remote-token", 0, REMOTE_TOKEN, NULL,
     "also send the token to another machine, in clear text"},
    {"probe", 0, PROBE, "UUID", "address another BTrace probe instead of bbflow"},
    {"max-document", 0, MAX_DOCUMENT, "SIZE", "maximum size of an answer (1G; short texts 16M)"},
    {"ascii", 0, ASCII, NULL, "print ASCII only, as without a UTF-8 locale"},
    {"color", 0, COLOR, "WHEN", "auto, always or never (auto: terminals, no NO_COLOR)"},
    {"wide", 0, WIDE, NULL, "do not fit lines to the terminal's width"},
};

enum { FLAGS = sizeof flags / sizeof flags[0] };

/* ---- Help ------------------------------------------------------------------------------------ */

void bbf_flags_print(struct bbf_buf *to, bbf_flag_set takes)
{
    for (size_t i = 0; i < FLAGS; i++) {
        char left[40];
        if ((takes & flags[i].bit) == 0)
            continue;
        if (flags[i].letter != 0)
            snprintf(left, sizeof left, "-%c, --%s %s", flags[i].letter, flags[i].name,
                     flags[i].argument);
        else
            snprintf(left, sizeof left, "    --%s %s", flags[i].name,
                     flags[i].argument != NULL ? flags[i].argument : "");
        bbf_buf_printf(to, "  %-23s %s\n", left, flags[i].help);
    }
}

void bbf_flags_words(struct bbf_buf *to, bbf_flag_set takes)
{
    for (size_t f = 0; f < FLAGS; f++) {
        if ((takes & flags[f].bit) == 0)
            continue;
        bbf_buf_printf(to, " --%s%s%s", flags[f].name, flags[f].argument != NULL ? "=" : "",
                       flags[f].argument != NULL ? flags[f].argument : "");
        if (flags[f].letter != 0)
            bbf_buf_printf(to, " -%c=%s", flags[f].letter, flags[f].argument);
    }
}

void bbf_flags_format_words(struct bbf_buf *to)
{
    bbf_buf_str(to, "formats " BBF_FORMATS(ONE_NAME) "\nextensions ");
    bbf_format_extensions(to);
    bbf_buf_char(to, '\n');
}

static const char *flag_name(size_t i)
{
    return flags[i].name;
}

/* ---- Parsing --------------------------------------------------------------------------------- */

static const struct flag *find_flag(const char *name, size_t len)
{
    for (size_t i = 0; i < FLAGS; i++) {
        if (strlen(flags[i].name) == len && memcmp(flags[i].name, name, len) == 0)
            return &flags[i];
    }
    return NULL;
}

/* Find the flag of an argument, and the value attached to it: "--name", "--name=value", "-x",
 * "-xvalue". NULL: no flag has this name. */
static const struct flag *flag_of(const char *arg, const char **value)
{
    *value = NULL;
    if (arg[1] == '-') {
        const char *equals = strchr(arg, '=');
        *value = equals != NULL ? equals + 1 : NULL;
        return find_flag(arg + 2, equals != NULL ? (size_t)(equals - arg - 2) : strlen(arg + 2));
    }
    for (size_t i = 0; i < FLAGS; i++) {
        if (flags[i].letter == arg[1]) {
            *value = arg[2] != '\0' ? arg + 2 : NULL;
            return &flags[i];
        }
    }
    return NULL;
}

static int unknown_flag(const char *verb, const char *arg)
{
    const char *word = arg + strspn(arg, "-");
    const char *near = bbf_nearest(word, strcspn(word, "="), FLAGS, flag_name);

    if (near != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "there is no flag '%s'; did you mean '--%s'?", arg, near);
    return bbf_fail(BBF_EXIT_USAGE, "there is no flag '%s'; 'bbflow help%s%s' lists them", arg,
                    verb != NULL ? " " : "", verb != NULL ? verb : "");
}

static int parse_timeout(const char *value, unsigned *timeout_ms)
{
    enum { SECONDS_MAX = 86400 };
    char *end;
    double seconds = strtod(value, &end);

    if (*end != '\0' || !(seconds >= 0.001) || seconds > SECONDS_MAX)
        return bbf_fail(BBF_EXIT_USAGE, "--timeout takes seconds, 0.001 to %d, not '%s'",
                        SECONDS_MAX, value);
    *timeout_ms = (unsigned)(seconds * 1000);
    return BBF_EXIT_OK;
}

static int parse_protocol(const char *value, unsigned *protocol)
{
    if (strcmp(value, "auto") != 0 && strcmp(value, "1") != 0 && strcmp(value, "2") != 0)
        return bbf_fail(BBF_EXIT_USAGE, "--protocol takes auto, 1 or 2, not '%s'", value);
    *protocol = value[0] == 'a' ? 0 : (unsigned)(value[0] - '0');
    return BBF_EXIT_OK;
}

static int parse_compress(const char *value, unsigned *bytes)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);

    if (*value == '\0' || *end != '\0' || errno != 0 || n < 1 || n > INT_MAX)
        return bbf_fail(BBF_EXIT_USAGE, "--compress takes bytes, 1 to %d, not '%s'", INT_MAX,
                        value);
    *bytes = (unsigned)n;
    return BBF_EXIT_OK;
}

static int parse_color(const char *value, enum bbf_color *color)
{
    static const char *const words[] = {"auto", "always", "never"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(value, words[i]) == 0) {
            *color = (enum bbf_color)i;
            return BBF_EXIT_OK;
        }
    return bbf_fail(BBF_EXIT_USAGE, "--color takes auto, always or never, not '%s'", value);
}

static int parse_measure(const char *value, uint64_t *ns)
{
    enum { SECONDS_MAX = 3600 };

    if (bbf_parse_duration(value, ns) != BBF_OK || *ns < BBF_CLOCK_SECOND ||
        *ns > SECONDS_MAX * BBF_CLOCK_SECOND)
        return bbf_fail(BBF_EXIT_USAGE, "--measure takes a time, 1s to 1h, as 10s, not '%s'",
                        value);
    return BBF_EXIT_OK;
}

static int parse_depth(const char *value, unsigned *depth)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);

    if (*end != '\0' || errno != 0 || n < 1 || n > INT_MAX)
        return bbf_fail(BBF_EXIT_USAGE, "--depth takes steps, 1 to %d, not '%s'", INT_MAX, value);
    *depth = (unsigned)n;
    return BBF_EXIT_OK;
}

static int parse_by(const char *value, bool *by_method)
{
    *by_method = strcmp(value, "method") == 0;
    if (!*by_method && strcmp(value, "bug") != 0)
        return bbf_fail(BBF_EXIT_USAGE, "--by takes bug or method, not '%s'", value);
    return BBF_EXIT_OK;
}

static int parse_max_document(const char *value, uint64_t *bytes)
{
    if (bbf_parse_size(value, bytes) != BBF_OK || *bytes == 0)
        return bbf_fail(BBF_EXIT_USAGE,
                        "--max-document takes a size, as 512M or 4G (K, M, G, T), not '%s'", value);
    return BBF_EXIT_OK;
}

static int apply_flag(struct bbf_command_line *request, const struct flag *flag, const char *value)
{
    switch (flag->bit) {
    case OUTPUT:
        request->output = value;
        break;
    case FORMAT:
        request->format = value;
        break;
    case SOCKET:
        request->socket = value;
        break;
    case AGENT:
        request->agent = value;
        break;
    case GC:
        request->gc = true;
        break;
    case ALL:
        request->all = true;
        break;
    case REDACT:
        request->redact = value;
        break;
    case LINES:
        request->lines = true;
        break;
    case NODES:
        request->nodes = true;
        break;
    case TIMEOUT:
        return parse_timeout(value, &request->timeout_ms);
    case PROTOCOL:
        return parse_protocol(value, &request->protocol);
    case COMPRESS:
        return parse_compress(value, &request->compress);
    case TOKEN_FILE:
        request->token_file = value;
        break;
    case REMOTE_TOKEN:
        request->remote_token = true;
        break;
    case PROBE:
        request->probe = value;
        break;
    case MAX_DOCUMENT:
        return parse_max_document(value, &request->max_document);
    case ONLY:
        request->only = value;
        break;
    case CHOICE:
        return bbf_choice_flag(&request->choice, flag->name, value);
    case DEPTH:
        return parse_depth(value, &request->depth);
    case BY:
        return parse_by(value, &request->by_method);
    case COLOR:
        return parse_color(value, &request->color);
    case RULES:
    case COMPARES:
        return bbf_check_flag(&request->check, flag->name, value);
    case MEASURE:
        return parse_measure(value, &request->measure_ns);
    case ROWS:
    case LIVE:
    case SERVES:
        return bbf_live_flag(&request->live, flag->name, value);
    case PUSH:
        return bbf_push_flag(&request->push, flag->name, value);
    case JSON:
        request->json = true;
        break;
    case ASCII:
        request->ascii = true;
        break;
    case WIDE:
        request->wide = true;
        break;
    default:
        break;
    }
    return BBF_EXIT_OK;
}

int bbf_flag_length(const char *arg)
{
    const char *value;
    const struct flag *flag = flag_of(arg, &value);

    if (flag == NULL) {
        (void)unknown_flag(NULL, arg);
        return 0;
    }
    return flag->argument != NULL && value == NULL ? 2 : 1;
}

int bbf_flag_parse(const char *verb, bbf_flag_set takes, struct bbf_args *args,
                   struct bbf_command_line *request)
{
    const char *arg = *args->at++;
    const char *value;
    const struct flag *flag = flag_of(arg, &value);

    if (flag == NULL)
        return unknown_flag(verb, arg);
    if ((takes & flag->bit) == 0 && flag->bit == REDACT && (takes & JVM) == JVM)
        return bbf_fail(BBF_EXIT_USAGE,
                        "'%s' does not take --redact, because it shows the agent's text as it is; "
                        "'bbflow summary' and 'dump' redact, as: bbflow dump -o leaks.summary "
                        "--redact names.key",
                        verb);
    if ((takes & flag->bit) == 0)
        return bbf_fail(BBF_EXIT_USAGE, "'%s' does not take --%s; 'bbflow help %s' lists its flags",
                        verb, flag->name, verb);
    if (flag->argument == NULL && value != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "--%s takes no value", flag->name);
    if (flag->argument != NULL && value == NULL && args->at < args->end)
        value = *args->at++;
    if (flag->argument != NULL && (value == NULL || *value == '\0'))
        return bbf_fail(BBF_EXIT_USAGE, "--%s needs a value: --%s %s", flag->name, flag->name,
                        flag->argument);
    return apply_flag(request, flag, value);
}
