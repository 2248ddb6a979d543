/* SPDX-License-Identifier: Apache-2.0 */
#include "client/push_flags.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/fail.h"
#include "core/clock.h"
#include "core/err.h"
#include "core/units.h"

enum { SECONDS_MAX = 7 * 86400, LINE_MAX_BYTES = 8192 };

/* ---- One flag -------------------------------------------------------------------------------- */

static int take_as(struct bbf_push_flags *flags, const char *value)
{
    static const char *const words[] = {
        [BBF_PUSH_OTLP] = "otlp", [BBF_PUSH_PPROF] = "pprof", [BBF_PUSH_PROM] = "prom"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0) {
            flags->as = (enum bbf_push_as)i;
            flags->is_as = true;
            return BBF_EXIT_OK;
        }
    return bbf_fail(BBF_EXIT_USAGE,
                    "--as takes otlp (an OpenTelemetry collector), pprof (Pyroscope) or prom (a "
                    "Pushgateway), not '%s'",
                    value);
}

static int take_every(struct bbf_push_flags *flags, const char *value)
{
    if (bbf_parse_duration(value, &flags->every_ns) != BBF_OK ||
        flags->every_ns < BBF_CLOCK_SECOND || flags->every_ns > SECONDS_MAX * BBF_CLOCK_SECOND)
        return bbf_fail(BBF_EXIT_USAGE,
                        "--every takes a time, 1s to 7 days, as 60s or 5m, not '%s'", value);
    return BBF_EXIT_OK;
}

/* The value is a secret: no message has it. */
static bool is_header(const char *line)
{
    const size_t name = strcspn(line, ":");

    if (name == 0 || line[name] != ':')
        return false;
    for (size_t i = 0; i < name; i++)
        if (!isalnum((unsigned char)line[i]) && strchr("!#$%&'*+-.^_`|~", line[i]) == NULL)
            return false;
    for (const char *at = line + name + 1; *at != '\0'; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f)
            return false;
    return line[name + 1 + strspn(line + name + 1, " \t")] != '\0';
}

static int take_header(struct bbf_push_flags *flags, const char *value)
{
    if (flags->n_headers == BBF_PUSH_MOST)
        return bbf_fail(BBF_EXIT_USAGE, "more than %d --header", (int)BBF_PUSH_MOST);
    if (value[0] != '@' && !is_header(value))
        return bbf_fail(BBF_EXIT_USAGE,
                        "--header takes 'Name: value', or @FILE with one such line "
                        "each; this one has another form (not shown, because it may "
                        "be secret)");
    if (value[0] == '@' && value[1] == '\0')
        return bbf_fail(BBF_EXIT_USAGE, "--header @ needs a file: --header @FILE");
    flags->headers[flags->n_headers++] = value;
    return BBF_EXIT_OK;
}

static int take_label(struct bbf_push_flags *flags, const char *value)
{
    const char *equals = strchr(value, '=');

    if (flags->n_labels == BBF_PUSH_MOST)
        return bbf_fail(BBF_EXIT_USAGE, "more than %d --label", (int)BBF_PUSH_MOST);
    if (equals == NULL || equals == value || equals[1] == '\0')
        return bbf_fail(BBF_EXIT_USAGE, "--label takes name=value, as zone=eu-1, not '%s'", value);
    for (const char *at = value; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return bbf_fail(BBF_EXIT_USAGE, "--label '%s' has a control character", value);
    ((char *)(uintptr_t)value)[equals - value] = '\0'; /* argv may be written to */
    flags->labels[flags->n_labels++] = (struct bbf_label){value, equals + 1};
    return BBF_EXIT_OK;
}

int bbf_push_flag(struct bbf_push_flags *flags, const char *name, const char *value)
{
    if (strcmp(name, "as") == 0)
        return take_as(flags, value);
    if (strcmp(name, "every") == 0)
        return take_every(flags, value);
    if (strcmp(name, "header") == 0)
        return take_header(flags, value);
    if (strcmp(name, "label") == 0)
        return take_label(flags, value);
    if (strcmp(name, "since") == 0)
        flags->since = value;
    else if (strcmp(name, "cacert") == 0)
        flags->ca_file = value;
    else
        flags->to = value;
    return BBF_EXIT_OK;
}

/* ---- All flags ------------------------------------------------------------------------------- */

/* Receivers accept these names: OpenTelemetry any, Pyroscope also dots, Prometheus neither. */
static bool is_label_name(const char *name, enum bbf_push_as as)
{
    if (as == BBF_PUSH_OTLP)
        return true;
    if (isdigit((unsigned char)name[0]) || strncmp(name, "__", 2) == 0)
        return false;
    for (; *name != '\0'; name++)
        if (!isalnum((unsigned char)*name) && *name != '_' &&
            (*name != '.' || as != BBF_PUSH_PPROF))
            return false;
    return true;
}

/* A label of the group would replace the label of that name of each series. */
static bool is_own_label(const char *name)
{
    static const char *const own[] = {"counter", "end",  "id",    "labelled", "limit", "netty",
                                      "of",      "part", "place", "version",  "what"};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return false;
}

static int check_labels(const struct bbf_push_flags *flags)
{
    for (size_t i = 0; i < flags->n_labels; i++) {
        const char *name = flags->labels[i].name;
        if (!is_label_name(name, flags->as))
            return bbf_fail(BBF_EXIT_USAGE,
                            "the receiver takes no label of the name '%s'; use letters, digits and "
                            "'_', not a digit first, nor '__'",
                            name);
        if (flags->as == BBF_PUSH_PROM && is_own_label(name))
            return bbf_fail(BBF_EXIT_USAGE,
                            "bbflow's metrics have a label '%s' themselves; choose another name",
                            name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(flags->labels[k].name, name) == 0)
                return bbf_fail(BBF_EXIT_USAGE, "--label %s is given twice", name);
    }
    return BBF_EXIT_OK;
}

/* By what a URL of that kind has in its path; else OpenTelemetry, where everything else can be
 * reached from. */
static enum bbf_push_as guess(const char *url)
{
    if (strstr(url, "/push.v1.PusherService/") != NULL)
        return BBF_PUSH_PPROF;
    return strstr(url, "/metrics/job/") != NULL ? BBF_PUSH_PROM : BBF_PUSH_OTLP;
}

int bbf_push_check(struct bbf_push_flags *flags)
{
    if (flags->to == NULL)
        return bbf_fail(BBF_EXIT_USAGE, "push needs a receiver, as: bbflow push PID --to "
                                        "http://collector:4318");
    const char *host = strncasecmp(flags->to, "http://", 7) == 0    ? flags->to + 7
                       : strncasecmp(flags->to, "https://", 8) == 0 ? flags->to + 8
                                                                    : "";
    if (host[0] == '\0' || host[0] == '/')
        return bbf_fail(BBF_EXIT_USAGE, "--to takes a URL that begins with http:// or https:// and "
                                        "has a host, as http://collector:4318");
    for (const char *at = flags->to; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f)
            return bbf_fail(BBF_EXIT_USAGE, "the URL of --to has a blank or a control character");
    if (!flags->is_as)
        flags->as = guess(flags->to);
    return check_labels(flags);
}

/* ---- Headers --------------------------------------------------------------------------------- */

static int add_line(struct bbf_push_headers *headers, const char *line)
{
    char **lines = reallocarray(headers->lines, headers->n + 1, sizeof *lines);
    char *copy = strdup(line);

    if (lines != NULL)
        headers->lines = lines;
    if (lines == NULL || copy == NULL) {
        free(copy);
        return bbf_fail(BBF_EXIT_FAILED, "%s", bbf_strerror(BBF_ENOMEM));
    }
    headers->lines[headers->n++] = copy;
    return BBF_EXIT_OK;
}

/* Empty lines, and those that begin with '#', say nothing. */
static int add_file(struct bbf_push_headers *headers, const char *path)
{
    char line[LINE_MAX_BYTES];
    int exit_code = BBF_EXIT_OK;
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return bbf_fail(errno == EACCES ? BBF_EXIT_PERMISSION : BBF_EXIT_FAILED,
                        "cannot read the headers in %s: %s", path, strerror(errno));
    for (unsigned row = 1; exit_code == BBF_EXIT_OK && fgets(line, sizeof line, file) != NULL;
         row++) {
        const size_t end = strcspn(line, "\r\n");
        const bool whole = line[end] != '\0' || feof(file) != 0;
        line[end] = '\0';
        if (whole && (line[0] == '\0' || line[0] == '#'))
            continue;
        exit_code = whole && is_header(line)
                        ? add_line(headers, line)
                        : bbf_fail(BBF_EXIT_FAILED,
                                   "%s, line %u: no header 'Name: value' of at most %d bytes", path,
                                   row, (int)LINE_MAX_BYTES - 2);
    }
    if (exit_code == BBF_EXIT_OK && ferror(file))
        exit_code = bbf_fail(BBF_EXIT_FAILED, "cannot read the headers in %s", path);
    explicit_bzero(line, sizeof line);
    fclose(file);
    return exit_code;
}

int bbf_push_headers(const struct bbf_push_flags *flags, struct bbf_push_headers *headers)
{
    int exit_code = BBF_EXIT_OK;

    *headers = (struct bbf_push_headers){.lines = NULL};
    for (size_t i = 0; i < flags->n_headers && exit_code == BBF_EXIT_OK; i++)
        exit_code = flags->headers[i][0] == '@' ? add_file(headers, flags->headers[i] + 1)
                                                : add_line(headers, flags->headers[i]);
    return exit_code;
}

void bbf_push_headers_free(struct bbf_push_headers *headers)
{
    for (size_t i = 0; i < headers->n; i++) {
        explicit_bzero(headers->lines[i], strlen(headers->lines[i]));
        free(headers->lines[i]);
    }
    free(headers->lines);
    *headers = (struct bbf_push_headers){.lines = NULL};
}
