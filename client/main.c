/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client/main.c - the bbflow command: a table of commands, which with the table of flags (flags.h)
 * drives the parsing of the command line and the help texts.
 */
#include "client/check.h"
#include "client/client.h"
#include "client/connect.h"
#include "client/doctor.h"
#include "client/flags.h"
#include "client/jfr.h"
#include "client/output.h"
#include "client/push.h"
#include "client/screen.h"
#include "client/target.h"
#include "client/top.h"
#include "client/ui.h"
#include "client/verbs.h"
#include "client/print.h"
#include "client/watch.h"
#include "core/buf.h"
#include "core/nearest.h"
#include "core/option.h"
#include "render/render.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int verb_help(const struct bbf_command_line *request);
static int verb_version(const struct bbf_command_line *request);
static int verb_jfr(const struct bbf_command_line *request);

static const struct verb {
    const char *name;
    bbf_flag_set takes;
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
    {"push", JVM | GC | PUSH, bbf_verb_push,
     "send profiles or metrics to a collector, Pyroscope or a Pushgateway",
     "  bbflow push PID --to http://collector:4318 --every 60s --label zone=eu-1\n"
     "  bbflow push PID --to http://pyroscope:4040 --as pprof --header @token.txt\n"
     "  bbflow push PID --to http://gateway:9091 --as prom\n"
     "A profile has the open buffers of now, and the losses since the push before: the first one\n"
     "with --every has none, a single one all. With --since FILE that holds from one command to\n"
     "the next. Failures are tried again, at most 5 times a push. Needs libcurl.\n"},
    {"unredact", TARGET | OUTPUT | REDACT | LOOK, bbf_verb_unredact,
     "put the names back into a text that --redact made, or that quotes it",
     "bbflow tree PID -o leaks.tree --redact names.key, then: bbflow unredact answer.txt --redact "
     "names.key\n"},
    {"status", JVM | GC | MEASURE, bbf_verb_status,
     "show the agent's settings, limits, costs, and what it could not see",
     "--measure 10s prints what following costs, of a JVM whose agent was loaded with duty= or\n"
     "budget=. With duty=100%, about half of the buffers of that time are not followed.\n"},
    {"doctor", TARGET | OUTPUT | SOCKET | TIMEOUT | AGENT | JSON | LOOK, bbf_verb_doctor,
     "find out why nothing is seen in a JVM, and what helps; it changes nothing",
     "TARGET is a pid, a main class, or 'all' (default): each JVM that can be seen. Each finding\n"
     "has its remedy; at the end is the option for the JVM's next start. It reads /proc, the "
     "JVM's\n"
     "files and the agent's status: no attach, no signal, no file. Exit code 10: something keeps\n"
     "bbflow from seeing all. The findings: docs/doctor.md\n"},
    {"set", JVM | PARAMS, bbf_verb_set, "change options of the running agent: name=value ...",
     "The options marked * in 'bbflow help options'. An empty value removes a list: include=\n"},
    {"reset", JVM | GC | NODES, bbf_verb_reset, "set all counts to zero; open buffers stay open",
     ""},
    {"watch", JVM | PROBE, bbf_verb_watch,
     "print leaks as they are found, with totals, until Ctrl-C",
     "Each line has the time, what is new at one place, the totals so far, thread and path.\n"
     "The agent keeps running when the command ends. --probe follows any probe of a stock BTrace\n"
     "agent.\n"},
    {"top", JVM | GC | LIVE | ROWS, bbf_verb_top,
     "show the places that lose buffers on the terminal, until q",
     "A table that is read again every 2 seconds; keys sort it, '?' shows them and the notes.\n"
     "Also of a snapshot file or a black box. Without a terminal: bbflow top PID --once\n"},
    {"ui", JVM | GC | ONLY | DEPTH | LINES | CHOICE | LIVE | SERVES, bbf_verb_ui,
     "serve the page of -o FILE.html on this machine, live, until Ctrl-C",
     "Prints the page's address, which only this user knows; --open also opens it in a browser.\n"
     "The JVM is read every 2 seconds while a browser shows the page, and not otherwise. Also of\n"
     "a snapshot file or a black box: the page renews itself when the file changes. From another\n"
     "machine: bbflow ui PID --port 9090 there, ssh -L 9090:127.0.0.1:9090 HOST here.\n"
     "Needs libmicrohttpd.\n"},
    {"event", JVM | PARAMS | PROBE, bbf_verb_event,
     "send the agent an event and show its answer: event TARGET NAME",
     "'bbflow event TARGET help' lists the names.\n"},
    {"jfr", 0, verb_jfr, "read and check flight recordings of any JVM: jfr COMMAND FILE", ""},
    {"help", LOOK, verb_help, "show this text; also 'bbflow help COMMAND', 'bbflow help options'",
     "'bbflow help words' prints all commands, flags and options for a shell's completion.\n"},
    {"version", LOOK, verb_version, "show the version of this command, as --version does", ""},
};

enum { VERBS = sizeof verbs / sizeof verbs[0] };

/* ---- Help ------------------------------------------------------------------------------------ */

static void print_usage(struct bbf_buf *to)
{
    bbf_buf_str(to, "bbflow follows every Netty ByteBuf of a JVM and names the path that leaks.\n\n"
                    "  bbflow COMMAND [TARGET] [FLAG ...]\n\n");
    for (size_t i = 0; i < VERBS; i++)
        bbf_buf_printf(to, "  %-10s %s\n", verbs[i].name, verbs[i].help);
    bbf_buf_str(
        to, "\nTARGET is a pid, a main class or a part of its name, host:port, a snapshot file\n"
            "(.json) or the file of blackbox=. Omit it when exactly one JVM has the agent.\n\n");
    bbf_flags_print(to, ~(BTRACE | CHECKS | PUSH));
    bbf_buf_str(to, "      --help, --version\n\nFor check, and the last two for diff:\n");
    bbf_flags_print(to, CHECKS);
    bbf_buf_str(to, "\nFor push:\n");
    bbf_flags_print(to, PUSH);
    bbf_buf_str(to, "\nOver TCP (host:port), and for stock BTrace agents:\n");
    bbf_flags_print(to, BTRACE);
    bbf_buf_str(to,
                "\nLoad the agent at the start of the JVM, or later; both follow all of com.app:\n"
                "  java -agentpath:/path/to/libbbflow.so=include=com.app ...\n"
                "  bbflow attach PID include=com.app\n\n"
                "Exit codes: 0 ok, 1 failed, 2 usage, 3 no or several targets, 4 permission,\n"
                "5 refused by the agent, 10 leaks, why: a leak is proven, check: a rule is\n"
                "broken, doctor: something keeps bbflow from seeing all.\n");
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
                   verb->takes & ~(TARGET | PARAMS | SEVERAL) ? " [FLAG ...]" : "", verb->help,
                   verb->more);
    bbf_flags_print(to, verb->takes);
    if (verb->run == verb_jfr)
        bbf_jfr_help(to);
}

static const char *verb_name(size_t i)
{
    return verbs[i].name;
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
        bbf_flags_words(out, verbs[i].takes);
        bbf_buf_str(out, " --help\n");
    }
    bbf_flags_format_words(out);
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

/* Parse the words of `verb`: flags anywhere, one target, for `set` its name=value after it. */
static int parse_args(const struct verb *verb, struct bbf_args *args,
                      struct bbf_command_line *request, bool *help)
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
            int rc = bbf_flag_parse(verb->name, verb->takes, args, request);
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
    int at = 1;

    while (at < argc && argv[at][0] == '-' && argv[at][1] != '\0') {
        int words = bbf_flag_length(argv[at]);
        if (words == 0)
            return false;
        at += words;
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
    struct bbf_args args = {argv + 2, argv + argc};
    request.verb = verb->name;
    int rc = parse_args(verb, &args, &request, &help);
    if (rc != BBF_EXIT_OK)
        return rc;
    bbf_screen_set(&(struct bbf_screen_flags){request.color, request.ascii, request.wide});
    return help ? show_help(verb) : verb->run(&request);
}
