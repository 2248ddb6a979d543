/*
 * client/main.c - the bbflow command: one table of commands and one of flags, which read the
 * command line and make the help texts.
 */
#include "client/client.h"
#include "client/output.h"
#include "client/verbs.h"
#include "core/buf.h"
#include "core/nearest.h"
#include "core/option.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Flags, as bits of what a command takes. */
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
    JVM = TARGET | SOCKET | TIMEOUT | PROTOCOL | COMPRESS | TOKEN_FILE | REMOTE_TOKEN
};

static int verb_help(const struct bbf_request *request);

static const struct verb {
    const char *name;
    unsigned takes;
    int (*run)(const struct bbf_request *request);
    const char *help;
    const char *more; /* for `bbflow help NAME` */
} verbs[] = {
    {"list", JVM, bbf_verb_list, "the JVMs that have the agent: pid, main class, socket",
     "With a TARGET (also a stock BTrace agent's host:port) its probes: UUID [class].\n"},
    {"attach", TARGET | PARAMS | AGENT | SOCKET, bbf_verb_attach,
     "give a running JVM the agent: PID or main class, name=value ...",
     "The options are those of -agentpath, as: bbflow attach 4711 include=com.app\n"
     "Needs no JDK; the JVM's own user or root may, from outside its container too.\n"},
    {"stop", JVM, bbf_verb_stop, "undo everything: every class as it would be without bbflow",
     "Take 'bbflow dump' before: what was seen is gone, also from file=. 'bbflow attach' follows\n"
     "again, from zero.\n"},
    {"tree", JVM | OUTPUT | FORMAT | GC | ALL, bbf_verb_read,
     "where buffers went and which path lost them, as a tree",
     "Shows 100 leaf lines, those that leak first; --all shows every line.\n"},
    {"summary", JVM | OUTPUT | FORMAT | GC | ALL, bbf_verb_read,
     "the totals and the worst leaks, in a few lines", ""},
    {"llm", JVM | OUTPUT | FORMAT | GC | ALL, bbf_verb_read,
     "the same facts as key=value lines, for programs", ""},
    {"dump", JVM | OUTPUT | FORMAT | GC | ALL, bbf_verb_read,
     "the whole snapshot as JSON, to be read again later",
     "Every reading command takes the file in the place of a JVM: bbflow tree leaks.json\n"},
    {"status", JVM | GC, bbf_verb_status,
     "what the agent does: settings, limits, what it could not see", ""},
    {"set", JVM | PARAMS, bbf_verb_set, "change options of the running agent: name=value ...",
     "Those marked * in 'bbflow help options'. An empty value removes a list: include=\n"},
    {"reset", JVM | GC | NODES, bbf_verb_reset,
     "count from zero again; buffers still open stay open", ""},
    {"watch", JVM | PROBE, bbf_verb_watch, "leaks as they are found, until Ctrl-C",
     "Leaving ends the stream only, the tracker goes on. --probe follows any probe of a stock\n"
     "BTrace agent.\n"},
    {"event", JVM | PARAMS | PROBE, bbf_verb_event,
     "ask the agent by an event's name: event TARGET NAME",
     "'bbflow event TARGET help' lists the names; every kind of answer is shown.\n"},
    {"help", 0, verb_help, "this, or 'bbflow help COMMAND', or 'bbflow help options'", ""},
};

static const struct flag {
    const char *name;
    char letter; /* short form, or 0 */
    unsigned bit;
    const char *argument; /* NULL: takes none */
    const char *help;
} flags[] = {
    {"output", 'o', OUTPUT, "FILE", "write there; the extension picks the format"},
    {"format", 'f', FORMAT, "FORMAT", "tree, llm, summary or json, whatever the extension"},
    {"gc", 0, GC, NULL, "ask the JVM for a garbage collection first: it proves leaks"},
    {"all", 0, ALL, NULL, "show the whole tree"},
    {"nodes", 0, NODES, NULL, "forget the tree's nodes too (after a limit was reached)"},
    {"agent", 0, AGENT, "FILE", "libbbflow.so; else the one beside bbflow, or in ../lib"},
    {"socket", 0, SOCKET, "DIR", "look only there: the folder of the agent's option socket="},
    {"timeout", 0, TIMEOUT, "SECONDS", "for each wait, 60; BTR2's answer 5 at most"},
    {"protocol", 0, PROTOCOL, "P", "auto, 1 or 2; auto: BTrace v2, else v1 on a new connection"},
    {"compress", 0, COMPRESS, "BYTES", "have longer messages deflated: through a slow tunnel"},
    {"token-file", 0, TOKEN_FILE, "FILE", "for host:port; else of $BBFLOW_TOKEN_FILE"},
    {"remote-token", 0, REMOTE_TOKEN, NULL, "send the token to another machine too, in clear"},
    {"probe", 0, PROBE, "UUID", "of another probe than bbflow's"},
};

enum { VERBS = sizeof verbs / sizeof verbs[0], FLAGS = sizeof flags / sizeof flags[0] };

/* ---- Help ------------------------------------------------------------------------------------ */

static void print_flags(FILE *to, unsigned takes)
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
        fprintf(to, "  %-22s %s\n", left, flags[i].help);
    }
}

static void print_usage(FILE *to)
{
    fputs("bbflow follows every Netty ByteBuf of a JVM and names the path that leaks.\n\n"
          "  bbflow COMMAND [TARGET] [FLAG ...]\n\n",
          to);
    for (size_t i = 0; i < VERBS; i++)
        fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].help);
    fputs("\nTARGET is a pid, a main class or a part of it, host:port, or a snapshot file (.json). "
          "It\n"
          "can be left out when one JVM has the agent.\n\n",
          to);
    print_flags(to, ~0u);
    fputs(
        "      --help, --version\n\n"
        "A JVM gets the agent when it starts, or later; every class of com.app is then followed:\n"
        "  java -agentpath:/path/to/libbbflow.so=include=com.app ...\n"
        "  bbflow attach PID include=com.app\n\n"
        "Exit codes: 0 ok, 1 failed, 2 usage, 3 no or several targets, 4 permission,\n"
        "5 refused by the agent.\n",
        to);
}

static void print_verb(FILE *to, const struct verb *verb)
{
    fprintf(to, "bbflow %s%s%s%s\n  %s\n%s", verb->name, verb->takes & TARGET ? " [TARGET]" : "",
            verb->run == bbf_verb_event   ? " NAME ..."
            : (verb->takes & PARAMS) != 0 ? " name=value ..."
                                          : "",
            verb->takes & ~(unsigned)(TARGET | PARAMS) ? " [FLAG ...]" : "", verb->help,
            verb->more);
    print_flags(to, verb->takes);
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

static int unknown_verb(const char *name)
{
    const char *near = bbf_nearest(name, strlen(name), VERBS, verb_name);

    if (isdigit((unsigned char)name[0]))
        return bbf_fail(BBF_EXIT_USAGE, "the command comes first, as: bbflow tree %s", name);
    if (near != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "there is no command '%s'; did you mean '%s'?", name, near);
    return bbf_fail(BBF_EXIT_USAGE, "there is no command '%s'; 'bbflow help' lists them", name);
}

static int verb_help(const struct bbf_request *request)
{
    if (request->target == NULL) {
        print_usage(stdout);
    } else if (strcmp(request->target, "options") == 0) {
        struct bbf_buf text = BBF_BUF_INIT;
        bbf_options_help(&text);
        int rc = bbf_output_write(NULL, &text);
        bbf_buf_free(&text);
        return rc;
    } else {
        const struct verb *verb = find_verb(request->target);
        if (verb == NULL)
            return unknown_verb(request->target);
        print_verb(stdout, verb);
    }
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

static int unknown_flag(const struct verb *verb, const char *arg)
{
    const char *word = arg + strspn(arg, "-");
    const char *near = bbf_nearest(word, strcspn(word, "="), FLAGS, flag_name);

    if (near != NULL)
        return bbf_fail(BBF_EXIT_USAGE, "there is no flag '%s'; did you mean '--%s'?", arg, near);
    return bbf_fail(BBF_EXIT_USAGE, "there is no flag '%s'; 'bbflow help %s' lists them", arg,
                    verb->name);
}

static int parse_timeout(const char *value, unsigned *timeout_ms)
{
    enum { MOST = 86400 };
    char *end;
    double seconds = strtod(value, &end);

    if (*end != '\0' || !(seconds >= 0.001) || seconds > MOST)
        return bbf_fail(BBF_EXIT_USAGE, "--timeout takes seconds, 0.001 to %d, not '%s'", MOST,
                        value);
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

static int apply_flag(struct bbf_request *request, const struct flag *flag, const char *value)
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
    default:
        break;
    }
    return BBF_EXIT_OK;
}

/* "--name", "--name=value", "--name value", "-x value", "-xvalue". */
static int parse_flag(const struct verb *verb, struct args *args, struct bbf_request *request)
{
    const char *arg = *args->at++;
    const char *value = NULL;
    const struct flag *flag = NULL;

    if (arg[1] == '-') {
        const char *equals = strchr(arg, '=');
        flag = find_flag(arg + 2, equals != NULL ? (size_t)(equals - arg - 2) : strlen(arg + 2));
        value = equals != NULL ? equals + 1 : NULL;
    } else {
        for (size_t i = 0; i < FLAGS; i++) {
            if (flags[i].letter == arg[1])
                flag = &flags[i];
        }
        value = arg[2] != '\0' ? arg + 2 : NULL;
    }
    if (flag == NULL)
        return unknown_flag(verb, arg);
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

/* The words of `verb`: flags anywhere, one target, for `set` its name=value after it. */
static int parse_args(const struct verb *verb, struct args *args, struct bbf_request *request,
                      bool *help)
{
    char **params = args->at; /* the words that are parameters are moved to the front */
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
        if (is_param)
            request->params[request->n_params++] = arg;
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

int main(int argc, char **argv)
{
    struct bbf_request request = {0};
    bool help = false;

    if (argc < 2) {
        print_usage(stderr);
        return BBF_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("bbflow " BBF_VERSION);
        return bbf_output_flush();
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return verb_help(&request);
    const struct verb *verb = find_verb(argv[1]);
    if (verb == NULL)
        return unknown_verb(argv[1]);
    struct args args = {argv + 2, argv + argc};
    request.verb = verb->name;
    int rc = parse_args(verb, &args, &request, &help);
    if (rc != BBF_EXIT_OK)
        return rc;
    if (help) {
        print_verb(stdout, verb);
        return bbf_output_flush();
    }
    return verb->run(&request);
}
