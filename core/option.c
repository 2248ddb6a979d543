/* SPDX-License-Identifier: Apache-2.0 */
#include "core/option.h"

#include "core/err.h"
#include "core/nearest.h"
#include "core/option_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bbf_choice gc_words[] = {{"off", false}, {"exit", true}, {NULL, 0}};
static const struct bbf_choice level_words[] = {{"none", BBF_LOG_NONE},   {"error", BBF_LOG_ERROR},
                                                {"warn", BBF_LOG_WARN},   {"info", BBF_LOG_INFO},
                                                {"debug", BBF_LOG_DEBUG}, {NULL, 0}};
static const struct bbf_choice onerror_words[] = {
    {"stop", BBF_ONERROR_STOP}, {"warn", BBF_ONERROR_WARN}, {NULL, 0}};

/* A choice is kept as an unsigned, whatever its field's type is called. */
_Static_assert(sizeof(enum bbf_log_level) == sizeof(unsigned), "TYPE_CHOICE");
_Static_assert(sizeof(enum bbf_onerror) == sizeof(unsigned), "TYPE_CHOICE");

static const struct bbf_choice lttng_words[] = {{"off", BBF_LTTNG_OFF},
                                                {"on", BBF_LTTNG_ON},
                                                {"user", BBF_LTTNG_ONLY_USER},
                                                {"root", BBF_LTTNG_ONLY_ROOT},
                                                {NULL, 0}};
static const struct bbf_choice lttng_protocol_words[] = {{"auto", BBF_LTTNG_PROTOCOL_AUTO},
                                                         {"2.0", BBF_LTTNG_PROTOCOL_2_0},
                                                         {"0.1", BBF_LTTNG_PROTOCOL_0_1},
                                                         {NULL, 0}};

static const struct bbf_choice jmx_words[] = {{"off", BBF_JMX_OFF},
                                              {"lazy", BBF_JMX_LAZY},
                                              {"on", BBF_JMX_ON},
                                              {"compat", BBF_JMX_COMPAT},
                                              {NULL, 0}};

static const struct bbf_choice handlers_words[] = {{"auto", BBF_HANDLERS_AUTO},
                                                   {"off", BBF_HANDLERS_OFF},
                                                   {"lazy", BBF_HANDLERS_LAZY},
                                                   {"on", BBF_HANDLERS_ON},
                                                   {NULL, 0}};

/* clang-format off */
#define FIELD(f) .offset = offsetof(struct bbf_options, f), \
                 .width = sizeof((struct bbf_options *)0)->f
#define LIVE(e) .live = true, .effect = (e)

static const struct bbf_option_row table[] = {
    { "include", TYPE_PATTERNS, .group = GROUP_FOLLOW, .start = true, FIELD(include), LIVE(BBF_EFFECT_CLASSES), .initial = "",
      .argument = "PATTERNS",
      .help = "follow buffers through these packages and classes (com.app+org.x.Main); without it "
              "through all classes except the JDK's, Netty's and those of known agents" },
    { "exclude", TYPE_PATTERNS, .start = true, FIELD(exclude), LIVE(BBF_EFFECT_CLASSES), .initial = "",
      .argument = "PATTERNS",
      .help = "but not through these; overrides include and trackConstructors" },
    { "trackConstructors", TYPE_PATTERNS, FIELD(constructors), LIVE(BBF_EFFECT_CLASSES),
      .initial = "", .argument = "PATTERNS",
      .help = "follow buffers into the constructors of these classes" },
    { "track", TYPE_TRACKS, FIELD(track), .initial = "", .argument = "CLASS:METHOD",
      .help = "also follow objects of this class or interface, from the end of the constructor to "
              "the method that closes them, as com.app.Connection:close; join several with '+'" },
    { "carriers", TYPE_CARRIERS, FIELD(carriers), .initial = "load", .argument = "off|load|on|CLASS:FIELD",
      .help = "look for buffers in objects that have one in a field, as Spring's DataBuffer or a class "
              "of yours. load: in classes that load after it is known that these hold one, as of known "
              "frameworks from the start; on: rewrite classes that loaded earlier again; CLASS:FIELD: "
              "as on, also in this field, as com.app.Frame:payload (join several with '+')" },
    { "trackDirectOnly", TYPE_BOOLEAN, .true_false = true, FIELD(direct_only),
      LIVE(BBF_EFFECT_ROOTS),
      .initial = "false", .argument = "on|off",
      .help = "follow direct buffers only, not heap buffers" },
    { "objects", TYPE_BOOLEAN, FIELD(objects_everywhere), LIVE(BBF_EFFECT_CLASSES),
      .initial = "off", .argument = "on|off",
      .help = "look for buffers in every parameter of type Object, not only in those of known "
              "handler methods (slower)" },
    { "sample", TYPE_COUNT, .group = GROUP_SHARE, .start = true, FIELD(sample), LIVE(BBF_EFFECT_ROOTS), .min = 1, .max = 1000000,
      .initial = "1", .argument = "N",
      .help = "follow one buffer in N, chosen at random when it is allocated; the numbers of a "
              "report are then estimates. It hardly lowers the cost: budget= does. Not with budget= "
              "or duty=" },
    { "budget", TYPE_SHARE, .start = true, FIELD(budget), LIVE(BBF_EFFECT_BUDGET | BBF_EFFECT_GATE), .none = true, .min = 100,
      .max = 1000000, .initial = "off", .argument = "SHARE|off",
      .help = "keep bbflow's measured share of the process's CPU time at this, as 1% or 0.5%: only "
              "buffers that are allocated in short windows of time at random moments are followed, "
              "and bbflow measures what that costs and chooses how often. At most half of the time "
              "is watched; 0% follows nothing, 100% everything. Only in a JVM where bbflow was loaded "
              "with budget= or duty=; not with duty= or sample=" },
    { "duty", TYPE_SHARE, FIELD(duty), LIVE(BBF_EFFECT_GATE), .none = true, .min = 100, .max = 1000000,
      .initial = "off", .argument = "SHARE|off",
      .help = "the same windows, but so that they are together this share of the time, as 2%, whatever "
              "it costs: outside them the hooks cost next to nothing. The path of a buffer that "
              "outlives its window ends with '(later steps were not watched)', its release is still "
              "seen. 100% follows everything and lets you set budget= and duty= later. Only in a JVM "
              "where bbflow was loaded with budget= or duty=; not with budget= or sample=" },
    { "windowMillis", TYPE_COUNT, .expert = true, FIELD(window_ms), LIVE(BBF_EFFECT_GATE), .min = 1,
      .max = 10000, .initial = "20", .argument = "N",
      .help = "milliseconds that a window of budget= or duty= is open" },
    { "budgetSeconds", TYPE_COUNT, .expert = true, FIELD(budget_seconds), LIVE(BBF_EFFECT_BUDGET), .min = 1,
      .max = 3600, .initial = "1", .argument = "N",
      .help = "seconds between the intervals for which a report has bbflow's own cost" },
    { "refs", TYPE_BOOLEAN, .group = GROUP_FOLLOW, FIELD(refs), LIVE(BBF_EFFECT_CLASSES), .initial = "off",
      .argument = "on|off",
      .help = "record each retain and release as a step named after its caller, so that a leak "
              "names the retain without a release (slow)" },
    { "context", TYPE_BOOLEAN, FIELD(context), LIVE(BBF_EFFECT_CLASSES), .initial = "off",
      .argument = "on|off",
      .help = "note the channel, its remote address, the hint of touch() and the exception that was "
              "caught next, of each buffer, and report them of the last that were lost on a path "
              "(slower, and 192 B of memory= for each open buffer)" },
    { "scopes", TYPE_BOOLEAN, .expert = true, FIELD(scopes), LIVE(BBF_EFFECT_CLASSES), .initial = "off",
      .argument = "on|off",
      .help = "note in which test each buffer was opened; bbflow-junit.jar turns it on and says when "
              "tests begin (docs/junit.md)" },
    { "contextKeep", TYPE_COUNT, .expert = true, FIELD(context_keep), LIVE(BBF_EFFECT_LIMITS), .min = 1,
      .max = 100, .initial = "3", .argument = "N",
      .help = "with context=on: of how many of the last buffers that were lost on a path it is reported" },
    { "maxContexts", TYPE_COUNT, .expert = true, FIELD(max_contexts), LIVE(BBF_EFFECT_LIMITS), .min = 1,
      .max = 65536, .initial = "1000", .argument = "N",
      .help = "with context=on: maximum number of paths of which it is reported" },
    { "maxNodes", TYPE_COUNT, .group = GROUP_LIMITS, FIELD(max_nodes), LIVE(BBF_EFFECT_LIMITS), .min = 1, .max = 1048576,
      .initial = "1000000", .argument = "N",
      .help = "maximum number of nodes in the tree" },
    { "maxDepth", TYPE_COUNT, FIELD(max_depth), LIVE(BBF_EFFECT_LIMITS), .min = 1, .max = 10000,
      .initial = "100", .argument = "N",
      .help = "maximum number of steps in a path" },
    { "maxChildren", TYPE_COUNT, .expert = true, FIELD(max_children), LIVE(BBF_EFFECT_LIMITS), .min = 1,
      .max = 1000000,
      .initial = "1000", .argument = "N",
      .help = "maximum number of children of a node" },
    { "maxLives", TYPE_COUNT, FIELD(max_lives), LIVE(BBF_EFFECT_LIMITS), .min = 64, .max = 16777216,
      .initial = "1000000", .argument = "N",
      .help = "maximum number of open buffers" },
    { "maxElements", TYPE_COUNT, .expert = true, FIELD(max_elements), LIVE(BBF_EFFECT_LIMITS), .min = 1,
      .max = 1000,
      .initial = "16", .argument = "N",
      .help = "elements of an array or list that a step examines for buffers" },
    { "maxCarrierClasses", TYPE_COUNT, .expert = true, FIELD(max_carrier_classes),
      LIVE(BBF_EFFECT_NONE), .min = 0, .max = 1000000, .initial = "2000", .argument = "N",
      .help = "loaded classes that are rewritten again at most because a type that they name turned "
              "out to carry buffers" },
    { "maxSites", TYPE_COUNT, .expert = true, FIELD(max_sites), .min = 64, .max = 64000, .initial = "64000",
      .argument = "N",
      .help = "maximum number of methods that are followed, not counting Netty's" },
    { "maxFacts", TYPE_COUNT, .expert = true, FIELD(max_facts), .min = 0, .max = 10000000,
      .initial = "1000000", .argument = "N",
      .help = "maximum number of parameters and calls of followed methods that are known, so that a "
              "report names the method that owned a lost buffer; 0: none" },
    { "maxGrowth", TYPE_COUNT, .expert = true, FIELD(max_growth), LIVE(BBF_EFFECT_LIMITS), .min = 0,
      .max = 65536, .initial = "1000", .argument = "N",
      .help = "maximum number of places that lose buffers, and of places that hold them, of which a "
              "report knows since when and how fast; 0: none" },
    { "growthSeconds", TYPE_COUNT, .expert = true, FIELD(growth_seconds), .min = 1, .max = 86400,
      .initial = "60", .argument = "N",
      .help = "length of the intervals in which lost and held buffers are counted for that, in "
              "seconds" },
    { "growthKeep", TYPE_COUNT, .expert = true, FIELD(growth_keep), .min = 4, .max = 1440,
      .initial = "60", .argument = "N",
      .help = "how many of these intervals are kept of each place" },
    { "rootCallers", TYPE_COUNT, .expert = true, FIELD(root_callers), LIVE(BBF_EFFECT_NONE), .min = 0,
      .max = 1000000, .initial = "64", .argument = "N",
      .help = "where buffers leak that reached no followed method, name the method that one "
              "allocation in N is for, by its stack; 0: do not" },
    { "usage", TYPE_BOOLEAN, .expert = true, FIELD(usage), LIVE(BBF_EFFECT_LIMITS), .initial = "on",
      .argument = "on|off",
      .help = "sum up how many bytes each path takes and for how long, and how many of them were not "
              "written ('bbflow why')" },
    { "memory", TYPE_SIZE, .start = true, FIELD(memory), LIVE(BBF_EFFECT_LIMITS), .min = UINT64_C(4) << 20,
      .max = UINT64_C(64) << 30, .initial = "256M", .argument = "SIZE",
      .help = "maximum native memory that bbflow may use" },
    { "age", TYPE_DURATION, .start = true, FIELD(age), LIVE(BBF_EFFECT_LIMITS), .min = 1, .max = 365 * 86400,
      .initial = "10m", .argument = "TIME",
      .help = "report a live buffer as AGED after this time (90s, 10m, 2h), or earlier if it is "
              "open far longer than its root normally needs; 0 disables this" },
    { "socket", TYPE_TEXT, .group = GROUP_SERVING, FIELD(socket), .initial = "", .argument = "DIR",
      .help = "folder of the socket that the bbflow command connects to; without it "
              "$XDG_RUNTIME_DIR, /tmp or /dev/shm" },
    { "port", TYPE_PORT, FIELD(port), .min = 0, .max = BBF_PORT_OFF - 1,
      .off = BBF_PORT_OFF, .initial = "off", .argument = "N|off",
      .help = "also serve TCP on 127.0.0.1, for stock BTrace clients; 0: any free port; the "
              "system property btrace.port has the number" },
    { "metrics", TYPE_ADDRESS, FIELD(metrics), LIVE(BBF_EFFECT_METRICS), .initial = "off",
      .argument = "PORT|HOST:PORT|off",
      .help = "serve http://127.0.0.1:PORT/metrics for Prometheus, as OpenMetrics or its older text "
              "(docs/monitoring.md); HOST: another IP address to listen on, as 0.0.0.0; 0: any free port, "
              "which 'bbflow status' shows" },
    { "metricsPlaces", TYPE_COUNT, .expert = true, FIELD(metrics_places), .min = 1, .max = 1000, .initial = "100",
      .argument = "N",
      .help = "places that lose buffers and have a series of their own in metrics=, the first that are "
              "found; the series with id=\"others\" has the sum of the others" },
    { "auth", TYPE_TEXT, FIELD(auth), .initial = "on", .argument = "on|off|FILE",
      .help = "TCP authentication. on: require the token in the file that -Dbtrace.auth.tokenFile "
              "names; if that is unset, create a file and set the property. FILE: use that token "
              "file. off: any local user may connect (needed for BTrace 2.2.6 clients)" },
    { "maxClients", TYPE_COUNT, FIELD(max_clients), .min = 1, .max = 1000, .initial = "16",
      .argument = "N",
      .help = "maximum number of connected clients" },
    { "maxWaiting", TYPE_COUNT, .expert = true, FIELD(max_waiting), .min = 4, .max = 1000, .initial = "64",
      .argument = "N",
      .help = "maximum number of TCP connections that have not sent the token; users other than "
              "the JVM's get a quarter of them each, and at the limit the oldest is closed" },
    { "authSeconds", TYPE_COUNT, .expert = true, FIELD(auth_seconds), .min = 1, .max = 60, .initial = "2",
      .argument = "N",
      .help = "seconds that a TCP client has to send the token" },
    { "queue", TYPE_COUNT, .expert = true, FIELD(queue), .min = 1, .max = 1000000, .initial = "5000",
      .argument = "N",
      .help = "messages of the live stream that are kept for slow clients" },
    { "file", TYPE_TEXT, .group = GROUP_OUTPUT, .start = true, FIELD(file), .initial = "", .argument = "FILE",
      .help = "write a report at exit, and at once to FILE-oom when direct memory runs out (at "
              "most one a minute); the extension selects the format, as for 'bbflow dump -o'; %p is "
              "the process id, %t the time" },
    { "nearLimit", TYPE_SHARE, FIELD(near_limit), LIVE(BBF_EFFECT_NONE), .min = 100, .max = 1000000,
      .initial = "90%", .argument = "SHARE|off",
      .help = "when the memory of the container (cgroup) reaches this share of its limit, at which the "
              "kernel kills: write file= at once to FILE-limit, and blackbox=" },
    { "gc", TYPE_CHOICE, FIELD(gc_exit), .choices = gc_words, .initial = "off",
      .argument = "off|exit",
      .help = "request a garbage collection before the report at exit, so that the report "
              "contains every leak" },
    { "jfr", TYPE_TEXT, FIELD(jfr), LIVE(BBF_EFFECT_RECORDING), .initial = "", .argument = "FILE.jfr",
      .help = "write what happens to buffers to this flight recording, each second, for jfr, JDK "
              "Mission Control and other tools (docs/jfr.md); what is there before is renamed to "
              "FILE.1.jfr; %p is the process id, %t the time" },
    { "maxsize", TYPE_SIZE, FIELD(jfr_max_size), LIVE(BBF_EFFECT_RECORDING), .min = UINT64_C(1) << 20,
      .max = UINT64_C(64) << 30, .initial = "256M", .argument = "SIZE",
      .help = "maximum size of the recording of jfr=: FILE.jfr and FILE.1.jfr, the part before it, "
              "have half of it each" },
    { "maxage", TYPE_DURATION, FIELD(jfr_max_age), LIVE(BBF_EFFECT_RECORDING), .min = 1, .max = 365 * 86400,
      .initial = "0", .argument = "TIME",
      .help = "begin a new FILE.jfr after this time (30m, 1d), so that FILE.jfr and FILE.1.jfr "
              "have the last TIME at least and twice that at most; 0: by maxsize= only" },
    { "summarySeconds", TYPE_COUNT, .expert = true, FIELD(jfr_summary), LIVE(BBF_EFFECT_NONE), .min = 1,
      .max = 3600, .initial = "10", .argument = "N",
      .help = "seconds between two summaries: bbflow.Summary in the recording of jfr=, bbflow.stats and "
              "bbflow.flow in a trace of LTTng" },
    { "lifeThreshold", TYPE_DURATION, .expert = true, FIELD(jfr_life_age), LIVE(BBF_EFFECT_NONE), .min = 1,
      .max = 365 * 86400, .initial = "0", .argument = "TIME",
      .help = "record a bbflow.Life in jfr= only for buffers that were open at least this long "
              "(10s, 5m), and then also for those that were released; 0: for all that the garbage "
              "collector ended, and for none that was released" },
    { "lifeSample", TYPE_COUNT, .expert = true, FIELD(jfr_life_share), LIVE(BBF_EFFECT_NONE), .min = 1,
      .max = 1000000, .initial = "1", .argument = "N",
      .help = "record one bbflow.Life in N in jfr=, chosen at random; bbflow.Summary counts the "
              "buffers of the others" },
    { "blackbox", TYPE_TEXT, FIELD(blackbox), LIVE(BBF_EFFECT_RECORDING), .initial = "", .argument = "FILE",
      .help = "keep the newest state in this file, each second, so that 'bbflow tree FILE' still answers "
              "after the JVM was killed (kill -9, the kernel's OOM killer); what is there before is "
              "renamed, x.box to x.1.box; %p is the process id, %t the time" },
    { "blackboxSeconds", TYPE_COUNT, .expert = true, FIELD(box_seconds), LIVE(BBF_EFFECT_NONE), .min = 1,
      .max = 3600, .initial = "1", .argument = "N",
      .help = "seconds between two states in the file of blackbox=; longer where a state takes more "
              "than a hundredth of that time to make" },
    { "blackboxSize", TYPE_SIZE, .expert = true, FIELD(box_size), .min = UINT64_C(1) << 20,
      .max = UINT64_C(1) << 30, .initial = "16M", .argument = "SIZE",
      .help = "maximum size of the file of blackbox=: two states have half of it each; nodes without "
              "room there are counted in the rows of their callers, the least used first" },
    { "exitTimeout", TYPE_DURATION, .expert = true, FIELD(exit_timeout), LIVE(BBF_EFFECT_NONE), .min = 1,
      .max = 365 * 86400, .initial = "10s", .argument = "TIME",
      .help = "how long the JVM's exit waits at most for the report of file=, and for the "
              "collection of gc=exit (30s, 2m); after that no report is written, and a message "
              "says so; 0: no limit" },
    { "lttng", TYPE_CHOICE, FIELD(lttng), LIVE(BBF_EFFECT_LTTNG), .choices = lttng_words,
      .initial = "off", .argument = "on|user|root|off",
      .help = "register with LTTng's session daemons, the user's, root's, or both (on): sessions can "
              "then record what bbflow reports as lttng_jul:event" },
    { "lttngProtocol", TYPE_CHOICE, .expert = true, FIELD(lttng_protocol), LIVE(BBF_EFFECT_LTTNG),
      .choices = lttng_protocol_words, .initial = "auto", .argument = "auto|2.0|0.1",
      .help = "version of the daemons' protocol; auto: 2.0, but 0.1 where the daemon speaks that" },
    { "jmx", TYPE_CHOICE, FIELD(jmx), LIVE(BBF_EFFECT_NONE), .choices = jmx_words,
      .initial = "off", .argument = "lazy|on|compat|off",
      .help = "register the MBean io.bbflow:type=Tracker: with lazy once the application has made the "
              "platform MBean server, with on at once (making the server takes 0.2 s of processor time); "
              "compat: as on, also under the Java tracker's name (docs/jmx.md)" },
    { "handlers", TYPE_CHOICE, FIELD(handlers), LIVE(BBF_EFFECT_NONE), .choices = handlers_words,
      .initial = "auto", .argument = "auto|on|lazy|off",
      .help = "give what was lost to the application's MetricHandlers, once an interval: on: those found "
              "in class loaders that have Netty, and registered ones; lazy: nothing before the application "
              "itself uses the API; auto: on if the system property metric.handlers or object.tracker.handlers is set (docs/java-api.md)" },
    { "pushInterval", TYPE_DURATION, .expert = true, FIELD(push_seconds), LIVE(BBF_EFFECT_NONE), .min = 1,
      .max = 86400, .initial = "0", .argument = "TIME",
      .help = "interval of handlers=; 0: the system property bytebuf.metrics.pushInterval in seconds, "
              "without it 60s" },
    { "log", TYPE_TEXT, FIELD(log), .initial = "", .argument = "FILE",
      .help = "append bbflow's own messages to this file, not to stderr; /dev/stdout is the JVM's "
              "own" },
    { "loglevel", TYPE_CHOICE, FIELD(log_level), .choices = level_words, .initial = "error",
      .argument = "none|error|warn|info|debug",
      .help = "the least severe of bbflow's own messages to print" },
    { "onerror", TYPE_CHOICE, FIELD(onerror), .choices = onerror_words, .initial = "",
      .argument = "stop|warn",
      .help = "what a bad option does: stop the JVM, or warn and disable bbflow; without it stop, "
              "but warn if the options come from JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS or BBFLOW_OPTIONS. What "
              "another user put at file=, jfr=, blackbox=, log= or dump= is only warned of, except with stop" },
    { "dump", TYPE_TEXT, FIELD(dump), .initial = "", .argument = "DIR",
      .help = "write each rewritten class to this existing folder, before and after" },
    { "help", TYPE_FLAG, .group = GROUP_INSTEAD, FIELD(help), .initial = "", .argument = "",
      .help = "print the options and exit" },
    { "version", TYPE_FLAG, FIELD(version), .initial = "", .argument = "",
      .help = "print the version and exit" },
};
/* clang-format on */

enum { OPTIONS = sizeof table / sizeof table[0] };

/* ---- The option string ----------------------------------------------------------------------- */

static const struct bbf_option_row *find(const char *name, size_t len)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
            return &table[i];
    }
    return NULL;
}

static int unknown_name(const char *name, size_t len, struct bbf_option_error *error, size_t column)
{
    const char *near = bbf_nearest(name, len, OPTIONS, bbf_option_name);

    if (near != NULL)
        return bbf_option_complain(error, column, "unknown option '%.*s'; did you mean '%s'?",
                                   bbf_option_shown(len), name, near);
    if (memchr(name, '.', len) != NULL)
        return bbf_option_complain(
            error, column,
            "unknown option '%.*s'; if it is a pattern, join it to its list with '+'",
            bbf_option_shown(len), name);
    return bbf_option_complain(error, column,
                               "unknown option '%.*s'; 'bbflow help options' lists all of them",
                               bbf_option_shown(len), name);
}

/* A part of the option string, without the blanks around it. */
struct span {
    const char *at;
    size_t len;
};

static struct span trim(const char *from, const char *to)
{
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
        to--;
    return (struct span){from, (size_t)(to - from)};
}

static const char *part_end(const char *from)
{
    return from + strcspn(from, ",;");
}

/*
 * The end of a list's value that starts at `from`: it includes each following part that is not an
 * option itself (the Java tracker's form, "include=a.*,b.*;exclude=c").
 */
static const char *list_end(const char *from)
{
    const char *end = part_end(from);

    while (*end == ',') {
        const char *next = part_end(end + 1);
        struct span part = trim(end + 1, next);
        if (memchr(part.at, '=', part.len) != NULL || find(part.at, part.len) != NULL)
            break;
        end = next;
    }
    return end;
}

static bool is_list(const struct bbf_option_row *option)
{
    return option->type == TYPE_PATTERNS || option->type == TYPE_TRACKS ||
           option->type == TYPE_CARRIERS;
}

static int parse_value(struct bbf_options *options, const struct bbf_option_row *option,
                       struct span value, struct bbf_option_error *error, size_t column)
{
    char *text = strndup(value.at, value.len);
    if (text == NULL)
        return BBF_ENOMEM;
    /* "include=com.a,": a comma at the end of a list does not begin an empty pattern. */
    if (is_list(option)) {
        while (value.len > 1 && strchr(", \t", text[value.len - 1]) != NULL)
            text[--value.len] = '\0';
    }
    int rc = bbf_option_assign(options, option, text, true, error, column);
    free(text);
    return rc;
}

/* Parse one "name=value" (or "help") at *cursor and move *cursor past it. */
static int parse_part(struct bbf_options *options, const char *start, const char **cursor,
                      struct bbf_option_error *error)
{
    const char *from = *cursor;
    const char *end = part_end(from);
    const char *equals = memchr(from, '=', (size_t)(end - from));
    struct span name = trim(from, equals != NULL ? equals : end);
    size_t column = (size_t)(name.at - start) + 1;

    *cursor = end;
    if (name.len == 0 && equals == NULL)
        return BBF_OK; /* nothing between two separators: harmless */
    snprintf(error->option, sizeof error->option, "%.*s", bbf_option_shown(name.len), name.at);
    if (name.len == 0)
        return bbf_option_complain(error, column, "'=' without an option's name before it");
    const struct bbf_option_row *option = find(name.at, name.len);
    if (option == NULL)
        return unknown_name(name.at, name.len, error, column);
    if (option->type == TYPE_FLAG) {
        if (equals != NULL)
            return bbf_option_complain(error, column, "option '%s' takes no value", option->name);
        return bbf_option_assign(options, option, "", false, error, column);
    }
    if (equals != NULL && is_list(option))
        *cursor = end = list_end(equals + 1);
    struct span value = equals != NULL ? trim(equals + 1, end) : (struct span){end, 0};
    if (value.len == 0)
        return bbf_option_complain(
            error, column,
            "option '%s' needs a value: %s=%s (jcmd cuts an option string at its first "
            "'='; with jcmd write \"'%s=%s'\", both pairs of quotes)",
            option->name, option->name, option->argument, option->name, option->argument);
    return parse_value(options, option, value, error, (size_t)(value.at - start) + 1);
}

/* design.md: errors: `onerror` decides what an error means, so it is read although the text has an
 * error. */
static void find_onerror(struct bbf_options *options, const char *text)
{
    static const char key[] = "onerror=";
    struct bbf_option_error ignored;

    for (const char *part = text; *part != '\0';) {
        const char *end = part_end(part);
        struct span at = trim(part, end);
        if (at.len > sizeof key - 1 && memcmp(at.at, key, sizeof key - 1) == 0)
            (void)parse_part(options, text, &part, &ignored);
        part = *end == '\0' ? end : end + 1;
    }
}

/* Two options that exclude each other. */
struct conflict {
    const char *one, *other, *why;
};

static const struct conflict *find_conflict(const struct bbf_options *options)
{
    static const struct conflict budget_duty = {
        "budget", "duty",
        "option 'budget': not together with duty=, the share of the time, which budget= "
        "chooses; leave one of them out (budget=off or duty=off)"};
    static const struct conflict budget_sample = {
        "budget", "sample",
        "option 'budget': not together with sample=, because it chooses buffers by windows "
        "of time; leave one of them out (budget=off or sample=1)"};
    static const struct conflict duty_sample = {
        "duty", "sample",
        "option 'duty': not together with sample=, because it chooses buffers by windows "
        "of time; leave one of them out (duty=off or sample=1)"};

    if (options->budget != 0 && options->duty != 0)
        return &budget_duty;
    if (options->sample > 1 && options->budget != 0)
        return &budget_sample;
    return options->sample > 1 && options->duty != 0 ? &duty_sample : NULL;
}

const char *bbf_options_conflict(const struct bbf_options *options)
{
    const struct conflict *conflict = find_conflict(options);
    return conflict != NULL ? conflict->why : NULL;
}

/* Names the later of the two options; column 1 if `text` has neither (an earlier text did). */
static int complain_of(const struct conflict *conflict, const char *text,
                       struct bbf_option_error *error)
{
    size_t column = 1;

    for (const char *part = text; *part != '\0';) {
        const char *end = part_end(part), *equals = memchr(part, '=', (size_t)(end - part));
        struct span name = trim(part, equals != NULL ? equals : end);
        const struct bbf_option_row *option = find(name.at, name.len);
        if (option != NULL && (strcmp(option->name, conflict->one) == 0 ||
                               strcmp(option->name, conflict->other) == 0)) {
            column = (size_t)(name.at - text) + 1;
            snprintf(error->option, sizeof error->option, "%s", option->name);
        }
        part = *end == '\0' ? end : end + 1;
    }
    return bbf_option_complain(error, column, "%s", conflict->why);
}

int bbf_options_parse(struct bbf_options *options, const char *text, struct bbf_option_error *error)
{
    memset(error, 0, sizeof *error);
    if (text == NULL)
        return BBF_OK;
    for (const char *cursor = text; *cursor != '\0';) {
        int rc = parse_part(options, text, &cursor, error);
        if (rc != BBF_OK) {
            find_onerror(options, text);
            return rc;
        }
        if (*cursor != '\0')
            cursor++;
    }
    const struct conflict *conflict = find_conflict(options);
    return conflict == NULL ? BBF_OK : complain_of(conflict, text, error);
}

/* ---- Current values ------------------------------------------------------------------------- */

void bbf_options_init(struct bbf_options *options)
{
    struct bbf_option_error never;

    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].initial[0] != '\0')
            (void)bbf_option_assign(options, &table[i], table[i].initial, false, &never, 1);
    }
}

void bbf_options_free(struct bbf_options *options)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].type == TYPE_PATTERNS)
            bbf_option_store_patterns(options, &table[i], NULL);
        else if (bbf_option_is_text(&table[i]))
            bbf_option_store_text(options, &table[i], NULL);
    }
}

bool bbf_options_carriers(const struct bbf_options *options)
{
    return options->carriers == NULL || strcmp(options->carriers, "off") != 0;
}

bool bbf_options_carriers_again(const struct bbf_options *options)
{
    return options->carriers != NULL && strcmp(options->carriers, "off") != 0;
}

const char *bbf_options_carrier_list(const struct bbf_options *options)
{
    return bbf_options_carriers_again(options) && strcmp(options->carriers, "on") != 0
               ? options->carriers
               : NULL;
}

int bbf_options_copy(struct bbf_options *to, const struct bbf_options *from)
{
    int rc = BBF_OK;

    *to = *from;
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct bbf_option_row *option = &table[i];
        if (option->type == TYPE_PATTERNS) {
            struct bbf_patterns *list = NULL;
            if (rc == BBF_OK)
                rc = bbf_patterns_join(&list, bbf_option_patterns(from, option), NULL);
            memcpy(bbf_option_field(to, option), &list, sizeof list);
        } else if (bbf_option_is_text(option)) {
            const char *old = bbf_option_text(from, option);
            char *text = old == NULL || rc != BBF_OK ? NULL : strdup(old);
            if (old != NULL && text == NULL)
                rc = BBF_ENOMEM;
            memcpy(bbf_option_field(to, option), &text, sizeof text);
        }
    }
    if (rc != BBF_OK)
        bbf_options_free(to);
    return rc;
}

size_t bbf_options_bytes(const struct bbf_options *options)
{
    size_t bytes = 0;

    for (size_t i = 0; i < OPTIONS; i++) {
        const struct bbf_option_row *option = &table[i];
        if (option->type == TYPE_PATTERNS) {
            bytes += bbf_patterns_bytes(bbf_option_patterns(options, option));
        } else if (bbf_option_is_text(option)) {
            const char *text = bbf_option_text(options, option);
            bytes += text != NULL ? strlen(text) + 1 : 0;
        }
    }
    return bytes;
}

int bbf_options_set(struct bbf_options *options, const char *name, const char *value,
                    unsigned *effect, bool *changed, struct bbf_option_error *error)
{
    memset(error, 0, sizeof *error);
    snprintf(error->option, sizeof error->option, "%.*s", bbf_option_shown(strlen(name)), name);
    const struct bbf_option_row *option = find(name, strlen(name));
    if (option == NULL) {
        (void)unknown_name(name, strlen(name), error, 1);
        return BBF_ENOTFOUND;
    }
    if (!option->live) {
        (void)bbf_option_complain(error, 1, "option '%s' can only be given when the JVM starts",
                                  option->name);
        return BBF_EREFUSED;
    }
    struct bbf_buf before = BBF_BUF_INIT, after = BBF_BUF_INIT;
    bbf_option_show(options, (size_t)(option - table), &before);
    int rc = before.failed ? BBF_ENOMEM : BBF_OK;
    if (rc == BBF_OK && option->type == TYPE_PATTERNS && value[strspn(value, " \t")] == '\0')
        bbf_option_store_patterns(options, option, NULL);
    else if (rc == BBF_OK && option->type == TYPE_TEXT && value[strspn(value, " \t")] == '\0')
        bbf_option_store_text(options, option, NULL);
    else if (rc == BBF_OK)
        rc = bbf_option_assign(options, option, value, false, error, strlen(name) + 2);
    if (rc == BBF_OK) {
        bbf_option_show(options, (size_t)(option - table), &after);
        /* No memory for the comparison: assume a change, which is always safe. */
        *changed = after.failed || strcmp(bbf_buf_cstr(&before), bbf_buf_cstr(&after)) != 0;
        *effect = option->effect;
    }
    bbf_buf_free(&before);
    bbf_buf_free(&after);
    return rc;
}

/* ---- The table, for readers ------------------------------------------------------------------ */

size_t bbf_options_count(void)
{
    return OPTIONS;
}

const char *bbf_option_name(size_t i)
{
    return table[i].name;
}

const char *bbf_option_argument(size_t i)
{
    return table[i].argument;
}

const char *bbf_option_default(size_t i)
{
    return table[i].initial;
}

const char *bbf_option_help(size_t i)
{
    return table[i].help;
}

bool bbf_option_is_live(size_t i)
{
    return table[i].live;
}

void bbf_option_show(const struct bbf_options *options, size_t i, struct bbf_buf *out)
{
    bbf_option_show_value(options, &table[i], out);
}

/* Append the words of `text`, wrapped between column `indent` and column 80; the first line starts
 * at column `at`. */
static void add_wrapped(struct bbf_buf *out, const char *text, size_t at, size_t indent)
{
    bool first = true;

    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (at + (first ? 0 : 1) + word > 80) {
            bbf_buf_printf(out, "\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        if (!first) {
            bbf_buf_char(out, ' ');
            at++;
        }
        bbf_buf_add(out, text, word);
        at += word;
        first = false;
        text += word;
        text += strspn(text, " ");
    }
    bbf_buf_char(out, '\n');
}

/* "include=PATTERNS", "help". */
static void add_form(struct bbf_buf *out, const struct bbf_option_row *option)
{
    bbf_buf_printf(out, "%s%s%s", option->name, option->type == TYPE_FLAG ? "" : "=",
                   option->argument);
}

static void add_help_of(struct bbf_buf *out, const struct bbf_option_row *option)
{
    enum { INDENT = 30 };
    struct bbf_buf left = BBF_BUF_INIT, right = BBF_BUF_INIT;

    bbf_buf_str(&left, option->live ? "* " : "  ");
    add_form(&left, option);
    bbf_buf_str(&right, option->help);
    if (option->initial[0] != '\0')
        bbf_buf_printf(&right, " (default %s)", option->initial);
    if (left.len >= INDENT)
        bbf_buf_printf(out, "%s\n%*s", bbf_buf_cstr(&left), INDENT, "");
    else
        bbf_buf_printf(out, "%-*s", INDENT, bbf_buf_cstr(&left));
    add_wrapped(out, bbf_buf_cstr(&right), INDENT, INDENT);
    bbf_buf_free(&left);
    bbf_buf_free(&right);
}

/* Append a title and the rows of one group. The rows to start with (GROUP_AS_ABOVE) and the expert
 * rows appear in no other group. */
static void add_group(struct bbf_buf *out, enum bbf_option_group wanted, const char *title)
{
    enum bbf_option_group group = GROUP_AS_ABOVE;

    bbf_buf_printf(out, "\n%s:\n", title);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].group != GROUP_AS_ABOVE)
            group = table[i].group;
        if (wanted == (table[i].start ? GROUP_AS_ABOVE : table[i].expert ? GROUP_EXPERT : group))
            add_help_of(out, &table[i]);
    }
}

void bbf_options_words(struct bbf_buf *out)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        bbf_buf_str(out, "option ");
        add_form(out, &table[i]);
        bbf_buf_str(out, table[i].live ? " live\n" : "\n");
    }
}

void bbf_options_help(struct bbf_buf *out)
{
    static const char *const titles[GROUPS] = {[GROUP_AS_ABOVE] = "Start with these",
                                               [GROUP_FOLLOW] = "What to follow",
                                               [GROUP_SHARE] = "How much",
                                               [GROUP_LIMITS] = "Limits",
                                               [GROUP_OUTPUT] = "Output",
                                               [GROUP_SERVING] = "Serving",
                                               [GROUP_INSTEAD] = "Information",
                                               [GROUP_EXPERT] = "Expert options"};

    bbf_buf_str(out,
                "Options, as -agentpath:/path/to/libbbflow.so=name=value,name=value\n"
                "A pattern com.app means that package and everything below it, or that class;\n"
                "patterns join with '+'. Those marked * can be changed in a running JVM:\n"
                "bbflow set TARGET name=value.\n");
    for (int group = 0; group < GROUPS; group++)
        add_group(out, (enum bbf_option_group)group, titles[group]);
}
