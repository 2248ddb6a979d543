/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/main.c - the bbflow command: a table of commands and a table of flags, which drive the
 * parsing of the command line and the help texts.
 */
#include "client/check.h"
#include "client/choice_flags.h"
#include "client/client.h"
#include "client/connect.h"
#include "client/jfr.h"
#include "client/output.h"
#include "client/screen.h"
#include "client/target.h"
#include "client/verbs.h"
#include "client/print.h"
#include "client/watch.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/nearest.h"
#include "core/option.h"
#include "core/units.h"
#include "render/render.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Flags, as bits of the set that a command accepts. */
enum {
    OUTPUT = 1,
    FORMAT = 2,
    GC = 4,
    ALL = 8,
    NODES = 16,
    SOCKET = 32,
    TARGET = 64,
    PARAMS = 128,
    TIMEOUT = 256,
    PROTOCOL = 512,
    TOKEN_FILE = 1024,
    REMOTE_TOKEN = 2048,
    PROBE = 4096,
    AGENT = 8192,
    COMPRESS = 16384,
    MAX_DOCUMENT = 32768,
    ASCII = 65536,
    COLOR = 131072,
    WIDE = 262144,
    ONLY = 524288,
    DEPTH = 1048576,
    BY = 2097152,
    LINES = 4194304,
    REDACT = 8388608,
    CHOICE = 1 << 24,   /* --lost, --memory, --older, --rate, --path: render/choice.h */
    RULES = 1 << 26,    /* a limit or the baseline: client/check_flags.h */
    COMPARES = 1 << 27, /* the same, also of diff */
    SEVERAL = 1 << 28,  /* no flag: several targets */
    /* of a snapshot */
    SHOWN = OUTPUT | FORMAT | GC | ALL | ONLY | DEPTH | BY | LINES | REDACT | CHOICE,
    LOOK = ASCII | COLOR | WIDE,                                      /* every command */
    BTRACE = PROTOCOL | COMPRESS | TOKEN_FILE | REMOTE_TOKEN | PROBE, /* a group of the help */
    CHECKS = RULES | COMPARES,                                        /* a group of the help */
    JVM = TARGET | SOCKET | TIMEOUT | PROTOCOL | COMPRESS | TOKEN_FILE | REMOTE_TOKEN |
          MAX_DOCUMENT | LOOK
};

static int verb_help(const struct bbf_command_line *request);
static int verb_version(const struct bbf_command_line *request);
static int verb_jfr(const struct bbf_command_line *request);

static const struct verb {
    const char *name;
    unsigned takes;
    int (*run)(const struct bbf_command_line *request);
    const char *help;
    const char *more; /* for `bbflow help NAME` */
} verbs[] = {
    {"list", JVM, bbf_verb_list, "list the JVMs that have the agent: pid, main class, socket",
     "With a TARGET (also a stock BTrace agent's host:port), its probes: UUID [class].\n"},
    {"attach", TARGET | PARAMS | AGENT | SOCKET | LOOK, bbf_verb_attach,
     "load the agent into a running JVM, with options name=value ...",
     "The options are those of -agentpath, as: bbflow attach 4711 include=com.app\n"
     "Only the JVM's user and root can attach, also from outside its container. No JDK is "
     "needed.\n"},
    {"stop", JVM, bbf_verb_stop, "detach: restore all classes and remove the socket",
     "Counts are discarded and file= is not written: run 'bbflow dump' first to keep them.\n"
     "'bbflow attach' loads the agent again; counts then start at zero.\n"},
    {"leaks", JVM | SHOWN, bbf_verb_read, "show the places that lose buffers, worst first",
     "One entry a bug: how many, the way they took, what became of the others, where to look.\n"
     "Exit code 10: a leak is proven. Ask with --gc to prove the leaks of now. --all also shows\n"
     "the ids of the leaks, all places, and where the released buffers came from.\n"},
    {"tree", JVM | SHOWN, bbf_verb_read, "show where buffers went and which path lost them",
     "Shows at most 100 lines, leaks first, and folds loops. Where buffers are lost it leaves out\n"
     "roots and rare branches that lost none. --all shows every line.\n"},
    {"summary", JVM | SHOWN, bbf_verb_read, "show the totals and the worst leaks", ""},
    {"why", JVM | SHOWN, bbf_verb_read, "show why direct memory grows: a verdict and its shares",
     "Lost, still held, in the pools, not Netty's, unexplained: the shares add up.\n"
     "Exit code 10: a leak is proven. Ask with --gc to prove the leaks of now.\n"},
    {"llm", JVM | SHOWN, bbf_verb_read, "show the same facts as key=value lines, for programs", ""},
    {"dump", JVM | SHOWN, bbf_verb_read, "print the whole snapshot as JSON, to read it later",
     "leaks, tree, summary, why, llm and dump also read such a file: bbflow leaks leaks.json; and\n"
     "the file of the agent's option blackbox=, after the JVM was killed: bbflow leaks shop.box\n"},
    {"check", JVM | SEVERAL | OUTPUT | FORMAT | GC | CHECKS, bbf_verb_check,
     "fail if buffers leak, or more than before: for CI",
     "Exit code 10: a rule is broken. Without a flag the rules are --max-leaked 0, --max-worse 0,\n"
     "--min-lives 1; 'off' is no rule. With --baseline only leaks that are new count for\n"
     "--max-leaked, and a leak is worse if its rate is, whatever the load. Several snapshots are\n"
     "merged first. -f junit, sarif, github, markdown, json:\n"
     "  bbflow check out.json --baseline main.json -f junit -o report.xml\n"},
    {"diff", JVM | SEVERAL | OUTPUT | FORMAT | GC | COMPARES, bbf_verb_diff,
     "compare the leaks of two snapshots: new, worse, better, gone",
     "By the ids of leaks: bbflow diff before.json after.json; -f markdown, json.\n"},
    {"merge", JVM | SEVERAL | OUTPUT | FORMAT | GC, bbf_verb_merge,
     "make one snapshot of many JVMs, with exact sums",
     "bbflow merge a.json b.json -o all.json, then: bbflow leaks all.json\n"},
    {"unredact", TARGET | OUTPUT | REDACT | LOOK, bbf_verb_unredact,
     "put the names back into a text that --redact made, or that quotes it",
     "bbflow tree PID -o leaks.tree --redact names.key, then: bbflow unredact answer.txt --redact "
     "names.key\n"},
    {"status", JVM | GC, bbf_verb_status,
     "show the agent's settings, limits, costs, and what it could not see", ""},
    {"set", JVM | PARAMS, bbf_verb_set, "change options of the running agent: name=value ...",
     "The options marked * in 'bbflow help options'. An empty value removes a list: include=\n"},
    {"reset", JVM | GC | NODES, bbf_verb_reset, "set all counts to zero; open buffers stay open",
     ""},
    {"watch", JVM | PROBE, bbf_verb_watch,
     "print leaks as they are found, with totals, until Ctrl-C",
     "Each line has the time, what is new at one place, the totals so far, thread and path.\n"
     "The agent keeps running when the command ends. --probe follows any probe of a stock BTrace\n"
     "agent.\n"},
    {"event", JVM | PARAMS | PROBE, bbf_verb_event,
     "send the agent an event and show its answer: event TARGET NAME",
     "'bbflow event TARGET help' lists the names.\n"},
    {"jfr", 0, verb_jfr, "read and check flight recordings of any JVM: jfr COMMAND FILE", ""},
    {"help", LOOK, verb_help, "show this text; also 'bbflow help COMMAND', 'bbflow help options'",
     "'bbflow help words' prints all commands, flags and options for a shell's completion.\n"},
    {"version", LOOK, verb_version, "show the version of this command, as --version does", ""},
};

#define ONE_NAME(id, name, extension, flags) #name ", "

static const struct flag {
    const char *name;
    char letter; /* short form, or 0 */
    unsigned bit;
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
    {"nodes", 0, NODES, NULL, "also remove the tree's nodes, as after a limit"},
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

enum { VERBS = sizeof verbs / sizeof verbs[0], FLAGS = sizeof flags / sizeof flags[0] };

/* ---- Help ------------------------------------------------------------------------------------ */

static void print_flags(struct bbf_buf *to, unsigned takes)
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

static void print_usage(struct bbf_buf *to)
{
    bbf_buf_str(to, "bbflow follows every Netty ByteBuf of a JVM and names the path that leaks.\n\n"
                    "  bbflow COMMAND [TARGET] [FLAG ...]\n\n");
    for (size_t i = 0; i < VERBS; i++)
        bbf_buf_printf(to, "  %-10s %s\n", verbs[i].name, verbs[i].help);
    bbf_buf_str(
        to, "\nTARGET is a pid, a main class or a part of its name, host:port, a snapshot file\n"
            "(.json) or the file of blackbox=. Omit it when exactly one JVM has the agent.\n\n");
    print_flags(to, ~(unsigned)(BTRACE | CHECKS));
    bbf_buf_str(to, "      --help, --version\n\nFor check, and the last two for diff:\n");
    print_flags(to, CHECKS);
    bbf_buf_str(to, "\nOver TCP (host:port), and for stock BTrace agents:\n");
    print_flags(to, BTRACE);
    bbf_buf_str(to,
                "\nLoad the agent at the start of the JVM, or later; both follow all of com.app:\n"
                "  java -agentpath:/path/to/libbbflow.so=include=com.app ...\n"
                "  bbflow attach PID include=com.app\n\n"
                "Exit codes: 0 ok, 1 failed, 2 usage, 3 no or several targets, 4 permission,\n"
                "5 refused by the agent, 10 leaks, why: a leak is proven, check: a rule is\n"
                "broken.\n");
}

static void print_verb(struct bbf_buf *to, const struct verb *verb)
{
    bbf_buf_printf(to, "bbflow %s%s%s%s\n  %s\n%s", verb->name,
                   verb->takes & SEVERAL  ? " [TARGET ...]"
                   : verb->takes & TARGET ? " [TARGET]"
                                          : "",
                   verb->run == bbf_verb_event   ? " NAME ..."
                   : verb->run == verb_jfr       ? " COMMAND FILE [FLAG ...]"
                   : (verb->takes & PARAMS) != 0 ? " name=value ..."
                                                 : "",
                   verb->takes & ~(unsigned)(TARGET | PARAMS | SEVERAL) ? " [FLAG ...]" : "",
                   verb->help, verb->more);
    print_flags(to, verb->takes);
    if (verb->run == verb_jfr)
        bbf_jfr_help(to);
}

static const char *verb_name(size_t i)
{
    return verbs[i].name;
}

static const char *flag_name(size_t i)
{
    return flags[i].name;
}

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    }
    return NULL;
}

/* Does the word look like the target of a `tree` whose command was left out? That is a pid, a file,
 * host:port, a class (no command has an upper-case letter or a dot), or a part of a running JVM's
 * main class. */
static bool is_target(const char *name)
{
    struct bbf_agents agents;
    bool found = isdigit((unsigned char)name[0]) || bbf_target_is_file(name) ||
                 bbf_is_remote(name, NULL, 0, NULL);

    for (const char *at = name; *at != '\0'; at++)
        found = found || isupper((unsigned char)*at) || *at == '.';
    if (found)
        return true;
    bbf_agents_find(&agents, NULL);
    for (size_t i = 0; i < agents.count; i++)
        found = found || strstr(agents.items[i].main, name) != NULL;
    bbf_agents_free(&agents);
    return found;
}

static int unknown_verb(const char *name)
{
    const char *near = bbf_nearest(name, strlen(name), VERBS, verb_name);

    if (near != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "there is no command '%s'; did you mean '%s'?", name, near);
    return bbf_fail(BBF_EXIT_USAGE, "there is no command '%s'; 'bbflow help' lists them", name);
}

/* Print the words for client/bbflow.bash: "command NAME [target] [several] [params] --flag=ARGUMENT
 * -f ..." and the options' lines. */
static void add_words(struct bbf_buf *out)
{
    for (size_t i = 0; i < VERBS; i++) {
        if (verbs[i].run == verb_jfr) {
            bbf_jfr_words(out);
            continue;
        }
        bbf_buf_printf(
            out, "command %s%s%s%s", verbs[i].name, verbs[i].takes & TARGET ? " target" : "",
            verbs[i].takes & SEVERAL ? " several" : "", verbs[i].takes & PARAMS ? " params" : "");
        for (size_t f = 0; f < FLAGS; f++) {
            if ((verbs[i].takes & flags[f].bit) == 0)
                continue;
            bbf_buf_printf(out, " --%s%s%s", flags[f].name, flags[f].argument != NULL ? "=" : "",
                           flags[f].argument != NULL ? flags[f].argument : "");
            if (flags[f].letter != 0)
                bbf_buf_printf(out, " -%c=%s", flags[f].letter, flags[f].argument);
        }
        bbf_buf_str(out, " --help\n");
    }
    bbf_buf_str(out, "formats " BBF_FORMATS(ONE_NAME) "\nextensions ");
    bbf_format_extensions(out);
    bbf_buf_char(out, '\n');
    bbf_options_words(out);
}

/* Report that the first word is not a command. */
static int not_a_verb(const char *word)
{
    if (find_verb(word) == NULL && is_target(word))
        return bbf_fail(BBF_EXIT_USAGE, "the command comes first, as: bbflow tree %s", word);
    return unknown_verb(word);
}

static int show_help(const struct verb *verb)
{
    struct bbf_buf text = BBF_BUF_INIT;

    if (verb != NULL)
        print_verb(&text, verb);
    else
        print_usage(&text);
    int rc = bbf_output_write(NULL, &text);
    bbf_buf_free(&text);
    return rc;
}

static int verb_help(const struct bbf_command_line *request)
{
    bool words = request->target != NULL && strcmp(request->target, "words") == 0;

    if (request->target == NULL)
        return show_help(NULL);
    if (words || strcmp(request->target, "options") == 0) {
        struct bbf_buf text = BBF_BUF_INIT;
        if (words)
            add_words(&text);
        else
            bbf_options_help(&text);
        int rc = bbf_output_write(NULL, &text);
        bbf_buf_free(&text);
        return rc;
    }
    const struct verb *verb = find_verb(request->target);
    return verb != NULL ? show_help(verb) : unknown_verb(request->target);
}

/* Its words are its own: main() hands them to bbf_jfr_command(). */
static int verb_jfr(const struct bbf_command_line *request)
{
    (void)request;
    return bbf_jfr_command(0, NULL);
}

static int verb_version(const struct bbf_command_line *request)
{
    (void)request;
    bbf_print("bbflow %s", BBF_VERSION);
    return bbf_output_flush();
}

/* ---- The command line ------------------------------------------------------------------------ */

struct args {
    char **at; /* the next argument */
    char **end;
};

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

static int unknown_flag(const struct verb *verb, const char *arg)
{
    const char *word = arg + strspn(arg, "-");
    const char *near = bbf_nearest(word, strcspn(word, "="), FLAGS, flag_name);

    if (near != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "there is no flag '%s'; did you mean '--%s'?", arg, near);
    return bbf_fail(BBF_EXIT_USAGE, "there is no flag '%s'; 'bbflow help%s%s' lists them", arg,
                    verb != NULL ? " " : "", verb != NULL ? verb->name : "");
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

/* "--name", "--name=value", "--name value", "-x value", "-xvalue". */
static int parse_flag(const struct verb *verb, struct args *args, struct bbf_command_line *request)
{
    const char *arg = *args->at++;
    const char *value;
    const struct flag *flag = flag_of(arg, &value);

    if (flag == NULL)
        return unknown_flag(verb, arg);
    if ((verb->takes & flag->bit) == 0 && flag->bit == REDACT && (verb->takes & JVM) == JVM)
        return bbf_fail(BBF_EXIT_USAGE,
                        "'%s' does not take --redact, because it shows the agent's text as it is; "
                        "'bbflow summary' and 'dump' redact, as: bbflow dump -o leaks.summary "
                        "--redact names.key",
                        verb->name);
    if ((verb->takes & flag->bit) == 0)
        return bbf_fail(BBF_EXIT_USAGE, "'%s' does not take --%s; 'bbflow help %s' lists its flags",
                        verb->name, flag->name, verb->name);
    if (flag->argument == NULL && value != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "--%s takes no value", flag->name);
    if (flag->argument != NULL && value == NULL && args->at < args->end)
        value = *args->at++;
    if (flag->argument != NULL && (value == NULL || *value == '\0'))
        return bbf_fail(BBF_EXIT_USAGE, "--%s needs a value: --%s %s", flag->name, flag->name,
                        flag->argument);
    return apply_flag(request, flag, value);
}

/* Parse the words of `verb`: flags anywhere, one target, for `set` its name=value after it. */
static int parse_args(const struct verb *verb, struct args *args, struct bbf_command_line *request,
                      bool *help)
{
    char **params = args->at; /* words that are parameters are moved to the front */
    bool only_words = false;

    request->params = params;
    while (args->at < args->end) {
        char *arg = *args->at;
        if (!only_words && (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)) {
            *help = true;
            return BBF_EXIT_OK;
        }
        if (!only_words && arg[0] == '-' && arg[1] != '\0') {
            if (strcmp(arg, "--") == 0) {
                only_words = true;
                args->at++;
                continue;
            }
            int rc = parse_flag(verb, args, request);
            if (rc != BBF_EXIT_OK)
                return rc;
            continue;
        }
        args->at++;
        bool is_param =
            (verb->takes & PARAMS) != 0 && (request->target != NULL || strchr(arg, '=') != NULL);
        bool is_several = (verb->takes & SEVERAL) != 0;
        if (is_param || (is_several && *arg != '\0'))
            request->params[request->n_params++] = arg;
        if (is_several && *arg != '\0')
            request->target = request->params[0];
        else if (is_param)
            continue;
        else if (request->target != NULL)
            return bbf_fail(BBF_EXIT_USAGE, "'%s' takes one target; '%s' is a second one",
                            verb->name, arg);
        else if ((verb->takes & TARGET) == 0 && verb->run != verb_help)
            return bbf_fail(BBF_EXIT_USAGE, "'%s' takes no target; leave '%s' out", verb->name,
                            arg);
        else if (*arg == '\0')
            return bbf_fail(BBF_EXIT_USAGE, "the target is empty; name a pid, a main class or a "
                                            "snapshot file, or leave it out");
        else
            request->target = arg;
    }
    return BBF_EXIT_OK;
}

/* "bbflow --gc tree 4711": move the first word that is neither a flag nor a flag's value to the
 * front. False: there is none, or a flag is unknown, which is printed. */
static bool bring_forward(int argc, char **argv)
{
    const char *value;
    int at = 1;

    while (at < argc && argv[at][0] == '-' && argv[at][1] != '\0') {
        const struct flag *flag = flag_of(argv[at], &value);
        if (flag == NULL) {
            (void)unknown_flag(NULL, argv[at]);
            return false;
        }
        at += flag->argument != NULL && value == NULL ? 2 : 1;
    }
    if (at >= argc) {
        (void)bbf_fail(BBF_EXIT_USAGE,
                       "a command is missing, as: bbflow tree %s; 'bbflow help' "
                       "lists them",
                       argv[1]);
        return false;
    }
    char *word = argv[at];
    memmove(&argv[2], &argv[1], (size_t)(at - 1) * sizeof *argv);
    argv[1] = word;
    return true;
}

/* Set the look of all output before anything is printed, because a message may be about the words
 * themselves. */
static void take_look(char *const *arg, char *const *end)
{
    struct bbf_screen_flags look = {.color = BBF_COLOR_AUTO};

    for (; arg < end && strcmp(*arg, "--") != 0; arg++) {
        look.ascii = look.ascii || strcmp(*arg, "--ascii") == 0;
        look.wide = look.wide || strcmp(*arg, "--wide") == 0;
    }
    bbf_screen_set(&look);
}

int main(int argc, char **argv)
{
    struct bbf_command_line request = {0};
    bool help = false;

    (void)signal(SIGXFSZ,
                 SIG_IGN); /* a full quota is an error to report, not the end of the process */
    bbf_screen_init();
    take_look(argv, argv + argc);
    if (argc < 2) {
        struct bbf_buf text = BBF_BUF_INIT;
        print_usage(&text);
        bbf_note_lines(&text);
        bbf_buf_free(&text);
        return BBF_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0)
        return verb_version(&request);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return verb_help(&request);
    if (argv[1][0] == '-' && !bring_forward(argc, argv))
        return BBF_EXIT_USAGE;
    const struct verb *verb = find_verb(argv[1]);
    if (verb == NULL)
        return not_a_verb(argv[1]);
    if (verb->run == verb_jfr && (argc < 3 || strcmp(argv[2], "--help") != 0))
        return bbf_jfr_command(argc - 2, argv + 2);
    struct args args = {argv + 2, argv + argc};
    request.verb = verb->name;
    int rc = parse_args(verb, &args, &request, &help);
    if (rc != BBF_EXIT_OK)
        return rc;
    bbf_screen_set(&(struct bbf_screen_flags){request.color, request.ascii, request.wide});
    return help ? show_help(verb) : verb->run(&request);
}
