/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/option.h - the option table: name, type, range, default, whether it can change at run time,
 * and its help line. The same table feeds -agentpath's parser, `=help`, `bbflow set`, `bbflow
 * status` and the documents. An option is added only once it works.
 *
 * Threads: parse and set by one thread at a time (the caller locks); the agent copies what the hot
 * path needs.
 */
#ifndef BBF_CORE_OPTION_H
#define BBF_CORE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/option_error.h"
#include "core/pattern.h"

enum { BBF_PORT_OFF = 65536 };

enum bbf_onerror { BBF_ONERROR_DEFAULT, BBF_ONERROR_STOP, BBF_ONERROR_WARN };
/* Which of LTTng's session daemons; and the version of their protocol (wire/lttng/codec.h). */
enum bbf_lttng_option { BBF_LTTNG_OFF, BBF_LTTNG_ON, BBF_LTTNG_ONLY_ROOT, BBF_LTTNG_ONLY_USER };
enum bbf_lttng_protocol { BBF_LTTNG_PROTOCOL_AUTO, BBF_LTTNG_PROTOCOL_2_0, BBF_LTTNG_PROTOCOL_0_1 };

enum bbf_jmx_option { BBF_JMX_OFF, BBF_JMX_LAZY, BBF_JMX_ON, BBF_JMX_COMPAT };
enum bbf_handlers_option {
    BBF_HANDLERS_AUTO, /* on if the system property metric.handlers is set */
    BBF_HANDLERS_OFF,
    BBF_HANDLERS_LAZY,
    BBF_HANDLERS_ON
};

/* All current values. The struct owns its strings and pattern lists; NULL = not given. */
struct bbf_options {
    struct bbf_patterns *include; /* NULL: every application class (design.md: names and formats) */
    struct bbf_patterns *exclude;
    struct bbf_patterns *constructors; /* trackConstructors */
    char *track;             /* Class:method+…: the application's own objects (core/track.h) */
    char *carriers;          /* Class:field+… (core/track.h), "on" or "off"; NULL: load */
    bool direct_only;        /* trackDirectOnly; live */
    bool objects_everywhere; /* objects=on: test every Object parameter */
    bool refs;               /* refs=on: each retain and release is a step; live */
    bool context;            /* context=on: what hooks saw of lost lives; live */
    bool scopes;             /* scopes=on: in which test each life was opened; live */
    uint64_t context_keep;   /* of the lives lost on a path, 1..100, default 3; live */
    uint64_t max_contexts;   /* paths that keep some, 1..65536, default 1000; live */
    uint64_t max_nodes;      /* 1..1048576, default 1000000; live */
    uint64_t max_depth;      /* 1..10000, default 100; live */
    uint64_t max_children;   /* 1..1000000, default 1000; live */
    uint64_t max_lives;      /* 64..16777216 open at once, default 1000000; live */
    uint64_t max_elements;   /* elements of a list, 1..1000, default 16; live */
    uint64_t max_carrier_classes; /* retransformed for carriers, 0..1000000, default 2000 */
    uint64_t max_sites;           /* 64..64000, default 64000 */
    uint64_t max_facts;           /* parameters and calls, 0..10000000, default 1000000 */
    uint64_t max_growth;          /* places with a history, 0..65536, default 1000; live */
    uint64_t growth_seconds;      /* of an interval of a history, 1..86400, default 60 */
    uint64_t growth_keep;         /* intervals, 4..1440, default 60 */
    uint64_t root_callers;        /* one allocation in this number, 0..1000000, default 64; live */
    uint64_t sample;              /* 1..1000000: one life in this number is followed; live */
    /* Shares in millionths, 0 = off (default), BBF_SHARE_NONE = 0%; live. Of the process's
     * processor time, and of the time in which lives begin. Never both. */
    uint64_t budget, duty;
    uint64_t window_ms;      /* of a window of the two, 1..10000, default 20; live */
    uint64_t budget_seconds; /* interval of the budget's checks, 1..3600, default 1; live */
    uint64_t age;            /* seconds, 0 = off; default 600; live */
    bool usage;              /* byte-seconds by path, and what was never written; live */
    uint64_t memory;         /* bytes of native memory in total, 4M..64G, default 256M; live */
    char *socket;            /* folder for the socket; default: the three of design.md: serving */
    uint64_t port;           /* of TCP on 127.0.0.1, 0 = any; BBF_PORT_OFF: none (default) */
    char *auth;              /* of TCP clients: on (default), off, or the token's file */
    uint64_t max_clients;    /* 1..1000, default 16 */
    char *metrics;           /* "9404", "HOST:PORT" (core/address.h), NULL: off; live */
    uint64_t metrics_places; /* that have labels, 1..1000, default 100 */
    uint64_t max_waiting;    /* TCP connections without the token, 4..1000, default 64 */
    uint64_t auth_seconds;   /* from a TCP connect to the token, 1..60, default 2 */
    uint64_t queue;          /* messages that the live stream keeps, 1..1000000, default 5000 */
    char *file;              /* report at exit, by extension; %p pid, %t time */
    bool gc_exit;            /* gc=exit: request a GC before the report at exit */
    char *jfr;               /* flight recording of events; %p pid, %t time; live */
    uint64_t jfr_max_size;   /* bytes of both its files, 1M..64G; live */
    uint64_t jfr_max_age;    /* seconds that one of them covers, 0 = any; live */
    uint64_t jfr_summary;    /* seconds between two bbflow.Summary, 1..3600, default 10; live */
    uint64_t jfr_life_age;   /* seconds that a bbflow.Life was open at least, 0 = any; live */
    uint64_t jfr_life_share; /* one bbflow.Life in this number is recorded, 1 = each; live */
    char *blackbox;          /* file that keeps the state for after a kill; %p pid, %t time; live */
    uint64_t box_seconds;    /* between two states in it, 1..3600, default 1; live */
    uint64_t box_size;       /* bytes of that file, 1M..1G, default 16M */
    uint64_t near_limit;     /* millionths of the cgroup's memory limit, 0 = off; live */
    uint64_t exit_timeout;   /* seconds that the exit waits for each of these, 0 = no limit; live */
    char *log;               /* file for bbflow's own messages */
    enum bbf_log_level log_level;           /* default error */
    enum bbf_lttng_option lttng;            /* default off; live */
    enum bbf_lttng_protocol lttng_protocol; /* lttngProtocol, default auto; live */
    enum bbf_jmx_option jmx;                /* MBeans, default off; live */
    enum bbf_handlers_option handlers;      /* MetricHandlers, default auto; live */
    uint64_t push_seconds; /* between their snapshots, 0 = as the property says (default); live */
    enum bbf_onerror onerror; /* stop | warn */
    char *dump;               /* folder: classes before/after rewriting */
    bool help;                /* "help" was given */
    bool version;             /* "version" was given */
};

void bbf_options_init(struct bbf_options *options); /* defaults */
void bbf_options_free(struct bbf_options *options);

/* Which of these options exclude each other, and the remedy, as a static text; NULL: none. */
const char *bbf_options_conflict(const struct bbf_options *options);

/*
 * Parse an agent option string, "key=value,key=value" (design.md: names and formats: lists join
 * with '+'; the Java tracker's ';' between keys and ',' inside a list are also accepted: a part
 * without '=' after a list-valued option belongs to that list). NULL or "" is valid. A key without
 * the value that it needs is an error that mentions jcmd, which cuts at '='. A list given twice
 * grows; of any other option the last value counts. Blanks around names and values do not count.
 * Errors: BBF_EINVAL (error filled: option, column, nearest name, range), BBF_ENOMEM. After an
 * error `options` has only some of the values, and the caller may only free it and read `onerror`,
 * which is then found anywhere in the text: it says how to treat the error (design.md: errors).
 */
int bbf_options_parse(struct bbf_options *options, const char *text,
                      struct bbf_option_error *error);

/* Side effects that a changed option has in the agent. */
enum bbf_option_effect {
    BBF_EFFECT_NONE = 0,
    BBF_EFFECT_CLASSES = 1, /* include/exclude/trackConstructors/objects: retransform */
    BBF_EFFECT_ROOTS = 2,   /* trackDirectOnly, sample */
    BBF_EFFECT_LIMITS = 4,
    BBF_EFFECT_BUDGET = 8,     /* budget, budgetSeconds */
    BBF_EFFECT_LTTNG = 16,     /* lttng, lttngProtocol */
    BBF_EFFECT_RECORDING = 32, /* jfr, maxsize, maxage, blackbox */
    BBF_EFFECT_GATE = 64,      /* duty, windowMillis */
    BBF_EFFECT_METRICS = 128,
    BBF_EFFECT_TRACK = 256 /* entries of track= were appended; with CLASSES */
};

/*
 * Change one option of a running tracker. *effect gets the bits above; *changed says whether the
 * value is a new one. An empty value removes a pattern list or a text. Errors, with no change:
 * BBF_ENOTFOUND (unknown name; error names the nearest), BBF_EREFUSED (only at start), BBF_EINVAL,
 * BBF_ENOMEM.
 */
int bbf_options_set(struct bbf_options *options, const char *name, const char *value,
                    unsigned *effect, bool *changed, struct bbf_option_error *error);

/* Are carriers looked into? */
bool bbf_options_carriers(const struct bbf_options *options);
/* Are classes retransformed that loaded before one of their carriers was known? */
bool bbf_options_carriers_again(const struct bbf_options *options);
/* The fields that carriers= names; NULL: none. Borrowed. */
const char *bbf_options_carrier_list(const struct bbf_options *options);

/* A deep copy, for set-all-or-nothing. BBF_ENOMEM. */
int bbf_options_copy(struct bbf_options *to, const struct bbf_options *from);

/* Bytes of memory that it owns: texts and lists, without the struct. */
size_t bbf_options_bytes(const struct bbf_options *options);

/* The table, for help and status. */
size_t bbf_options_count(void);
const char *bbf_option_name(size_t i);
const char *bbf_option_argument(size_t i); /* "PATTERNS", "N", "on|off", … */
const char *bbf_option_default(size_t i);  /* as text, "" when none */
const char *bbf_option_help(size_t i);     /* one line */
bool bbf_option_is_live(size_t i);         /* `bbflow set` may change it */
/* The current value, in the form that the parser reads. */
void bbf_option_show(const struct bbf_options *options, size_t i, struct bbf_buf *out);
/* A word list for shell completion, one option per line: "option NAME=ARGUMENT", followed by "
 * live" if `bbflow set` may change it. */
void bbf_options_words(struct bbf_buf *out);
/* The whole help text, 80 columns wide: six options to start with, the others by group, then the
 * expert options. */
void bbf_options_help(struct bbf_buf *out);

#endif
