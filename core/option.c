#include "core/option.h"

#include "core/err.h"
#include "core/nearest.h"
#include "core/track.h"
#include "core/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum type { PATTERNS, BOOLEAN, COUNT, SIZE, DURATION, SHARE, PORT, TEXT, CHOICE, FLAG, TRACKS };

struct choice {
    const char *word;
    unsigned value;
};

struct option {
    const char *name;
    enum type type;
    bool on_off; /* BOOLEAN: shown as on/off, not true/false */
    bool live;
    unsigned effect;
    size_t offset, width; /* of the field in struct bbf_options */
    uint64_t min, max;
    const char *initial; /* read by the option's own parser; "" = none */
    const struct choice *choices;
    const char *argument;
    const char *help;
};

static const struct choice gc_words[] = {{"off", false}, {"exit", true}, {NULL, 0}};
static const struct choice level_words[] = {{"none", BBF_LOG_NONE},   {"error", BBF_LOG_ERROR},
                                            {"warn", BBF_LOG_WARN},   {"info", BBF_LOG_INFO},
                                            {"debug", BBF_LOG_DEBUG}, {NULL, 0}};
static const struct choice onerror_words[] = {
    {"stop", BBF_ONERROR_STOP}, {"warn", BBF_ONERROR_WARN}, {NULL, 0}};

/* clang-format off */
#define FIELD(f) .offset = offsetof(struct bbf_options, f), \
                 .width = sizeof((struct bbf_options *)0)->f
#define LIVE(e) .live = true, .effect = (e)

static const struct option table[] = {
    { "include", PATTERNS, FIELD(include), LIVE(BBF_EFFECT_CLASSES), .initial = "",
      .argument = "PATTERNS",
      .help = "follow buffers through these packages and classes (com.app+org.x.Main); without it "
              "through every class but the JDK's, Netty's and known agents'" },
    { "exclude", PATTERNS, FIELD(exclude), LIVE(BBF_EFFECT_CLASSES), .initial = "",
      .argument = "PATTERNS", .help = "but not through these; beats include and trackConstructors" },
    { "trackConstructors", PATTERNS, FIELD(constructors), LIVE(BBF_EFFECT_CLASSES), .initial = "",
      .argument = "PATTERNS", .help = "follow buffers into the constructors of these classes" },
    { "track", TRACKS, FIELD(track), .initial = "", .argument = "CLASS:METHOD",
      .help = "follow objects of this class (or interface) too, from its constructor to the method "
              "that closes them, as com.app.Connection:close; several join with '+'" },
    { "trackDirectOnly", BOOLEAN, FIELD(direct_only), LIVE(BBF_EFFECT_ROOTS), .initial = "false",
      .argument = "true|false", .help = "track direct buffers only, leave heap buffers alone" },
    { "objects", BOOLEAN, .on_off = true, FIELD(objects_everywhere), LIVE(BBF_EFFECT_CLASSES),
      .initial = "off", .argument = "on|off",
      .help = "look for buffers in every parameter of type Object, not only in the known handler "
              "methods (slower)" },
    { "sample", COUNT, FIELD(sample), LIVE(BBF_EFFECT_ROOTS), .min = 1, .max = 1000000,
      .initial = "1", .argument = "N",
      .help = "follow one buffer in N, drawn at its allocation; the numbers of a report are then "
              "estimates" },
    { "budget", SHARE, FIELD(budget), LIVE(BBF_EFFECT_BUDGET), .min = 100, .max = 1000000,
      .initial = "off", .argument = "SHARE|off",
      .help = "how much of the process's processor time bbflow may take, as 1% or 0.5%; while it "
              "takes more, fewer buffers are followed (as by sample=, at least its N)" },
    { "budgetSeconds", COUNT, FIELD(budget_seconds), LIVE(BBF_EFFECT_BUDGET), .min = 1,
      .max = 3600, .initial = "1", .argument = "N",
      .help = "how often bbflow measures what it takes itself, and looks at its budget" },
    { "refs", BOOLEAN, .on_off = true, FIELD(refs), LIVE(BBF_EFFECT_CLASSES), .initial = "off",
      .argument = "on|off",
      .help = "make each retain and release a step that is named after the method that calls it, so "
              "that a leak says which retain has no release (slow)" },
    { "maxNodes", COUNT, FIELD(max_nodes), LIVE(BBF_EFFECT_LIMITS), .min = 1, .max = 1048576,
      .initial = "1000000", .argument = "N", .help = "nodes of the flow tree" },
    { "maxDepth", COUNT, FIELD(max_depth), LIVE(BBF_EFFECT_LIMITS), .min = 1, .max = 10000,
      .initial = "100", .argument = "N", .help = "steps of one path" },
    { "maxChildren", COUNT, FIELD(max_children), LIVE(BBF_EFFECT_LIMITS), .min = 1, .max = 1000000,
      .initial = "1000", .argument = "N", .help = "children of one node" },
    { "maxLives", COUNT, FIELD(max_lives), LIVE(BBF_EFFECT_LIMITS), .min = 64, .max = 16777216,
      .initial = "1000000", .argument = "N", .help = "buffers open at once" },
    { "maxElements", COUNT, FIELD(max_elements), LIVE(BBF_EFFECT_LIMITS), .min = 1, .max = 1000,
      .initial = "16", .argument = "N",
      .help = "elements of an array or list that are looked at for buffers at one step" },
    { "maxSites", COUNT, FIELD(max_sites), .min = 64, .max = 65535, .initial = "65535",
      .argument = "N", .help = "instrumented methods" },
    { "memory", SIZE, FIELD(memory), LIVE(BBF_EFFECT_LIMITS), .min = UINT64_C(4) << 20,
      .max = UINT64_C(64) << 30, .initial = "256M", .argument = "SIZE",
      .help = "native memory that bbflow may use in all" },
    { "age", DURATION, FIELD(age), LIVE(BBF_EFFECT_LIMITS), .min = 1, .max = 365 * 86400,
      .initial = "10m", .argument = "TIME",
      .help = "how long a buffer may be open until it counts as aged (90s, 10m, 2h); less where "
              "its root never needs so long; 0: none is ever aged" },
    { "socket", TEXT, FIELD(socket), .initial = "", .argument = "DIR",
      .help = "folder for the socket that the bbflow command talks to (else $XDG_RUNTIME_DIR, "
              "/tmp or /dev/shm)" },
    { "port", PORT, FIELD(port), .min = 0, .max = 65535, .initial = "off", .argument = "N|off",
      .help = "serve TCP on 127.0.0.1, too, and say where in the property btrace.port, for stock "
              "BTrace clients; 0: any free port" },
    { "auth", TEXT, FIELD(auth), .initial = "on", .argument = "on|off|FILE",
      .help = "ask clients over TCP for the token in FILE (on: in the file that the JVM's property "
              "btrace.auth.tokenFile names, else in a new one, which it names then); off: every user of this host may connect, which stock 2.2.6 "
              "clients need" },
    { "maxClients", COUNT, FIELD(max_clients), .min = 1, .max = 1000, .initial = "16",
      .argument = "N", .help = "clients connected at once" },
    { "queue", COUNT, FIELD(queue), .min = 1, .max = 1000000, .initial = "5000", .argument = "N",
      .help = "messages kept for clients of the live stream that do not keep up" },
    { "file", TEXT, FIELD(file), .initial = "", .argument = "FILE",
      .help = "write a report at exit, and at once as FILE-oom when direct memory runs out, its format "
              "by the extension (.json .txt .llm .summary); %p is the process id, %t the time" },
    { "gc", CHOICE, FIELD(gc_exit), .choices = gc_words, .initial = "off", .argument = "off|exit",
      .help = "exit: ask for a garbage collection before the report at exit, so that it misses no "
              "leak" },
    { "log", TEXT, FIELD(log), .initial = "", .argument = "FILE",
      .help = "write bbflow's own messages there, not to stderr" },
    { "loglevel", CHOICE, FIELD(log_level), .choices = level_words, .initial = "error",
      .argument = "none|error|warn|info|debug", .help = "which of bbflow's own messages" },
    { "onerror", CHOICE, FIELD(onerror), .choices = onerror_words, .initial = "",
      .argument = "stop|warn",
      .help = "what a bad option does: stop the JVM, or warn and stay off; without it stop, but "
              "warn when the options came by JAVA_TOOL_OPTIONS or JDK_JAVA_OPTIONS" },
    { "dump", TEXT, FIELD(dump), .initial = "", .argument = "DIR",
      .help = "write each instrumented class there, as it was and as it became" },
    { "help", FLAG, FIELD(help), .initial = "", .argument = "",
      .help = "print this and end" },
};
/* clang-format on */

enum { OPTIONS = sizeof table / sizeof table[0], SHOWN = 60 };

static const char boolean_words[] = "true, false, on, off, yes, no, 1, 0";

/* ---- Errors ---------------------------------------------------------------------------------- */

static int complain(struct bbf_option_error *error, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int complain(struct bbf_option_error *error, size_t column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error->at.column = column;
    vsnprintf(error->at.text, sizeof error->at.text, format, args);
    va_end(args);
    return BBF_EINVAL;
}

static int shown(size_t len)
{
    return (int)(len < SHOWN ? len : SHOWN);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static void *field(struct bbf_options *options, const struct option *option)
{
    return (char *)options + option->offset;
}

static const void *const_field(const struct bbf_options *options, const struct option *option)
{
    return (const char *)options + option->offset;
}

/* Booleans, enums and counts by their width: one path for the whole table. */
static void store_number(struct bbf_options *options, const struct option *option, uint64_t value)
{
    bool flag = value != 0;
    unsigned word = (unsigned)value;

    _Static_assert(sizeof(enum bbf_log_level) == sizeof word, "enums are stored as unsigned");
    _Static_assert(sizeof(enum bbf_onerror) == sizeof word, "enums are stored as unsigned");
    if (option->width == sizeof flag)
        memcpy(field(options, option), &flag, sizeof flag);
    else if (option->width == sizeof word)
        memcpy(field(options, option), &word, sizeof word);
    else
        memcpy(field(options, option), &value, sizeof value);
}

static uint64_t load_number(const struct bbf_options *options, const struct option *option)
{
    bool flag;
    unsigned word;
    uint64_t value;

    if (option->width == sizeof flag) {
        memcpy(&flag, const_field(options, option), sizeof flag);
        return flag;
    }
    if (option->width == sizeof word) {
        memcpy(&word, const_field(options, option), sizeof word);
        return word;
    }
    memcpy(&value, const_field(options, option), sizeof value);
    return value;
}

static struct bbf_patterns *load_patterns(const struct bbf_options *options,
                                          const struct option *option)
{
    struct bbf_patterns *list;
    memcpy(&list, const_field(options, option), sizeof list);
    return list;
}

static void store_patterns(struct bbf_options *options, const struct option *option,
                           struct bbf_patterns *list)
{
    bbf_patterns_free(load_patterns(options, option));
    memcpy(field(options, option), &list, sizeof list);
}

static char *load_text(const struct bbf_options *options, const struct option *option)
{
    char *text;
    memcpy(&text, const_field(options, option), sizeof text);
    return text;
}

static void store_text(struct bbf_options *options, const struct option *option, char *text)
{
    free(load_text(options, option));
    memcpy(field(options, option), &text, sizeof text);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static int parse_boolean(const struct option *option, const char *value, uint64_t *number,
                         struct bbf_option_error *error, size_t column)
{
    static const char *const words[] = {"false", "true", "off", "on", "no", "yes", "0", "1"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(value, words[i]) == 0) { /* TRUE, as the Java tracker takes it */
            *number = i % 2;
            return BBF_OK;
        }
    }
    return complain(error, column, "option '%s': '%.*s' is none of %s", option->name,
                    shown(strlen(value)), value, boolean_words);
}

static int parse_choice(const struct option *option, const char *value, uint64_t *number,
                        struct bbf_option_error *error, size_t column)
{
    char words[80] = "";

    for (const struct choice *c = option->choices; c->word != NULL; c++) {
        if (strcmp(value, c->word) == 0) {
            *number = c->value;
            return BBF_OK;
        }
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", used > 0 ? ", " : "", c->word);
    }
    return complain(error, column, "option '%s': '%.*s' is none of %s", option->name,
                    shown(strlen(value)), value, words);
}

static int parse_number(const struct option *option, const char *value, uint64_t *number,
                        struct bbf_option_error *error, size_t column)
{
    char least[32], most[32];
    int rc;

    if (option->type == SIZE) {
        rc = bbf_parse_size(value, number);
        bbf_size_text(option->min, least, sizeof least);
        bbf_size_text(option->max, most, sizeof most);
    } else {
        const char *rest = value;
        rc = bbf_parse_digits(&rest, number);
        if (*rest != '\0')
            rc = BBF_EINVAL;
        snprintf(least, sizeof least, "%" PRIu64, option->min);
        snprintf(most, sizeof most, "%" PRIu64, option->max);
    }
    if (rc == BBF_EINVAL)
        return complain(error, column, "option '%s': '%.*s' is no %s; it takes %s to %s%s",
                        option->name, shown(strlen(value)), value,
                        option->type == SIZE ? "size" : "number", least, most,
                        option->type == SIZE ? ", as 256M or 1G" : "");
    if (rc == BBF_ERANGE || *number < option->min || *number > option->max)
        return complain(error, column, "option '%s': %.*s is out of range; it takes %s to %s",
                        option->name, shown(strlen(value)), value, least, most);
    return BBF_OK;
}

/* "0.5%" in millionths, at most four digits behind the point; off is none. */
static int parse_share(const struct option *option, const char *value, uint64_t *number,
                       struct bbf_option_error *error, size_t column)
{
    const char *rest = value;
    uint64_t percent = 0;
    unsigned unit = 10000;

    *number = 0;
    if (strcmp(value, "off") == 0)
        return BBF_OK;
    int rc = bbf_parse_digits(&rest, &percent);
    uint64_t millionths = rc == BBF_OK && percent <= 100 ? percent * unit : UINT64_MAX;
    if (rc == BBF_OK && *rest == '.') {
        const char *digit = ++rest;
        for (; *rest >= '0' && *rest <= '9' && unit > 1; rest++) {
            unit /= 10;
            millionths += percent <= 100 ? (uint64_t)(*rest - '0') * unit : 0;
        }
        rc = rest > digit ? BBF_OK : BBF_EINVAL;
    }
    if (rc == BBF_EINVAL || (rc == BBF_OK && strcmp(rest, "%") != 0))
        return complain(error, column,
                        "option '%s': '%.*s' is no share; it takes 0.01%% to 100%%, as 1%% or "
                        "0.5%%, or off",
                        option->name, shown(strlen(value)), value);
    if (rc != BBF_OK || millionths < option->min || millionths > option->max)
        return complain(error, column,
                        "option '%s': %.*s is out of range; it takes 0.01%% to 100%%, or off",
                        option->name, shown(strlen(value)), value);
    *number = millionths;
    return BBF_OK;
}

static void show_share(uint64_t millionths, struct bbf_buf *out)
{
    char text[32];

    if (millionths == 0) {
        bbf_buf_str(out, "off");
        return;
    }
    int len = snprintf(text, sizeof text, "%" PRIu64 ".%04" PRIu64, millionths / 10000,
                       millionths % 10000);
    while (text[len - 1] == '0')
        len--;
    bbf_buf_printf(out, "%.*s%%", text[len - 1] == '.' ? len - 1 : len, text);
}

/* In seconds; 0 or off is none. */
static int parse_time(const struct option *option, const char *value, uint64_t *number,
                      struct bbf_option_error *error, size_t column)
{
    uint64_t ns = 0;
    int rc = BBF_OK;

    *number = 0;
    if (strcmp(value, "0") == 0 || strcmp(value, "off") == 0)
        return BBF_OK;
    rc = bbf_parse_duration(value, &ns);
    *number = ns / 1000000000;
    if (rc == BBF_EINVAL)
        return complain(error, column,
                        "option '%s': '%.*s' is no time; it takes 90s, 10m, 2h, 1d, or 0 for off",
                        option->name, shown(strlen(value)), value);
    if (rc != BBF_OK || *number < option->min || *number > option->max)
        return complain(error, column,
                        "option '%s': %.*s is out of range; it takes 1s to 365d, or 0 for off",
                        option->name, shown(strlen(value)), value);
    return BBF_OK;
}

/* In the largest unit that it is a multiple of. */
static void show_time(uint64_t seconds, struct bbf_buf *out)
{
    static const struct {
        unsigned seconds;
        char unit;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};

    for (size_t i = 0; i < sizeof units / sizeof units[0] && seconds != 0; i++)
        if (seconds % units[i].seconds == 0) {
            bbf_buf_printf(out, "%" PRIu64 "%c", seconds / units[i].seconds, units[i].unit);
            return;
        }
    bbf_buf_char(out, '0');
}

static int parse_list(const struct option *option, const char *value, struct bbf_patterns **list,
                      struct bbf_option_error *error, size_t column)
{
    struct bbf_parse_error at;
    char *plus = strdup(value);
    if (plus == NULL)
        return BBF_ENOMEM;
    for (char *c = plus; *c != '\0'; c++) {
        if (*c == ',')
            *c = '+';
    }
    int rc = bbf_patterns_parse(list, plus, strlen(plus), &at);
    free(plus);
    if (rc == BBF_EINVAL)
        complain(error, column + at.column - 1, "option '%s': %.200s", option->name, at.text);
    return rc;
}

/*
 * Give the option its value; `grow`: a list keeps what it holds. Nothing changes on an error.
 * `column` is where the value stands.
 */
static int assign(struct bbf_options *options, const struct option *option, const char *value,
                  bool grow, struct bbf_option_error *error, size_t column)
{
    uint64_t number = 0;
    int rc = BBF_OK;

    switch (option->type) {
    case PATTERNS: {
        struct bbf_patterns *list = NULL, *all = NULL;
        rc = parse_list(option, value, &list, error, column);
        if (rc == BBF_OK)
            rc = bbf_patterns_join(&all, grow ? load_patterns(options, option) : NULL, list);
        bbf_patterns_free(list);
        if (rc == BBF_OK)
            store_patterns(options, option, all);
        return rc;
    }
    case TEXT: {
        char *text = strdup(value);
        if (text == NULL)
            return BBF_ENOMEM;
        store_text(options, option, text);
        return BBF_OK;
    }
    case TRACKS: {
        struct bbf_parse_error at;
        char *list;
        rc = bbf_track_parse(&list, grow ? load_text(options, option) : NULL, value, &at);
        if (rc == BBF_OK)
            store_text(options, option, list);
        return rc == BBF_EINVAL ? complain(error, column + at.column - 1, "option '%s': %.200s",
                                           option->name, at.text)
                                : rc;
    }
    case BOOLEAN:
        rc = parse_boolean(option, value, &number, error, column);
        break;
    case CHOICE:
        rc = parse_choice(option, value, &number, error, column);
        break;
    case PORT:
        if (strcmp(value, "off") == 0) {
            number = BBF_PORT_OFF;
            break;
        }
        rc = parse_number(option, value, &number, error, column);
        break;
    case DURATION:
        rc = parse_time(option, value, &number, error, column);
        break;
    case SHARE:
        rc = parse_share(option, value, &number, error, column);
        break;
    case COUNT:
    case SIZE:
        rc = parse_number(option, value, &number, error, column);
        break;
    case FLAG:
        number = 1;
        break;
    }
    if (rc == BBF_OK)
        store_number(options, option, number);
    return rc;
}

/* ---- The option string ----------------------------------------------------------------------- */

static const struct option *find(const char *name, size_t len)
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
        return complain(error, column, "unknown option '%.*s'; did you mean '%s'?", shown(len),
                        name, near);
    if (memchr(name, '.', len) != NULL)
        return complain(error, column,
                        "unknown option '%.*s'; if it is a pattern, join it to its list with '+'",
                        shown(len), name);
    return complain(error, column, "unknown option '%.*s'; option 'help' lists all of them",
                    shown(len), name);
}

/* A stretch of the option string, without the blanks around it. */
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
 * Where the value of a list ends that starts at `from`: after every following part that is no
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

static bool is_list(const struct option *option)
{
    return option->type == PATTERNS || option->type == TRACKS;
}

static int parse_value(struct bbf_options *options, const struct option *option, struct span value,
                       struct bbf_option_error *error, size_t column)
{
    char *text = strndup(value.at, value.len);
    if (text == NULL)
        return BBF_ENOMEM;
    /* "include=com.a," - a comma left over at the end of a list is no empty pattern. */
    if (is_list(option)) {
        while (value.len > 1 && strchr(", \t", text[value.len - 1]) != NULL)
            text[--value.len] = '\0';
    }
    int rc = assign(options, option, text, true, error, column);
    free(text);
    return rc;
}

/* One "name=value" (or "help") at *cursor, which moves behind it. */
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
    snprintf(error->option, sizeof error->option, "%.*s", shown(name.len), name.at);
    if (name.len == 0)
        return complain(error, column, "'=' without an option's name before it");
    const struct option *option = find(name.at, name.len);
    if (option == NULL)
        return unknown_name(name.at, name.len, error, column);
    if (option->type == FLAG) {
        if (equals != NULL)
            return complain(error, column, "option '%s' takes no value", option->name);
        return assign(options, option, "", false, error, column);
    }
    if (equals != NULL && is_list(option))
        *cursor = end = list_end(equals + 1);
    struct span value = equals != NULL ? trim(equals + 1, end) : (struct span){end, 0};
    if (value.len == 0)
        return complain(error, column,
                        "option '%s' needs a value: %s=%s (jcmd cuts an option string at its first "
                        "'='; with jcmd write \"'%s=%s'\", both pairs of quotes)",
                        option->name, option->name, option->argument, option->name,
                        option->argument);
    return parse_value(options, option, value, error, (size_t)(value.at - start) + 1);
}

/* D11: `onerror` decides what an error means, so it is read although the text is in error. */
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
    return BBF_OK;
}

/* ---- Values in force ------------------------------------------------------------------------- */

void bbf_options_init(struct bbf_options *options)
{
    struct bbf_option_error never;

    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].initial[0] != '\0')
            (void)assign(options, &table[i], table[i].initial, false, &never, 1);
    }
}

void bbf_options_free(struct bbf_options *options)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (table[i].type == PATTERNS)
            store_patterns(options, &table[i], NULL);
        else if (table[i].type == TEXT || table[i].type == TRACKS)
            store_text(options, &table[i], NULL);
    }
}

int bbf_options_copy(struct bbf_options *to, const struct bbf_options *from)
{
    int rc = BBF_OK;

    *to = *from;
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &table[i];
        if (option->type == PATTERNS) {
            struct bbf_patterns *list = NULL;
            if (rc == BBF_OK)
                rc = bbf_patterns_join(&list, load_patterns(from, option), NULL);
            memcpy(field(to, option), &list, sizeof list);
        } else if (option->type == TEXT || option->type == TRACKS) {
            const char *old = load_text(from, option);
            char *text = old == NULL || rc != BBF_OK ? NULL : strdup(old);
            if (old != NULL && text == NULL)
                rc = BBF_ENOMEM;
            memcpy(field(to, option), &text, sizeof text);
        }
    }
    if (rc != BBF_OK)
        bbf_options_free(to);
    return rc;
}

int bbf_options_set(struct bbf_options *options, const char *name, const char *value,
                    unsigned *effect, bool *changed, struct bbf_option_error *error)
{
    memset(error, 0, sizeof *error);
    snprintf(error->option, sizeof error->option, "%.*s", shown(strlen(name)), name);
    const struct option *option = find(name, strlen(name));
    if (option == NULL) {
        (void)unknown_name(name, strlen(name), error, 1);
        return BBF_ENOTFOUND;
    }
    if (!option->live) {
        (void)complain(error, 1, "option '%s' can only be given when the JVM starts", option->name);
        return BBF_EREFUSED;
    }
    struct bbf_buf before = BBF_BUF_INIT, after = BBF_BUF_INIT;
    bbf_option_show(options, (size_t)(option - table), &before);
    int rc = before.failed ? BBF_ENOMEM : BBF_OK;
    if (rc == BBF_OK && option->type == PATTERNS && value[strspn(value, " \t")] == '\0')
        store_patterns(options, option, NULL);
    else if (rc == BBF_OK)
        rc = assign(options, option, value, false, error, strlen(name) + 2);
    if (rc == BBF_OK) {
        bbf_option_show(options, (size_t)(option - table), &after);
        /* Without memory for the comparison: assume a change, which is always safe. */
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

static const char *choice_word(const struct option *option, uint64_t value)
{
    for (const struct choice *c = option->choices; c->word != NULL; c++) {
        if (c->value == value)
            return c->word;
    }
    return ""; /* onerror was not given */
}

void bbf_option_show(const struct bbf_options *options, size_t i, struct bbf_buf *out)
{
    const struct option *option = &table[i];
    char text[32];

    switch (option->type) {
    case PATTERNS: {
        const struct bbf_patterns *list = load_patterns(options, option);
        for (size_t k = 0; k < bbf_patterns_count(list); k++)
            bbf_buf_printf(out, "%s%s", k > 0 ? "+" : "", bbf_patterns_get(list, k));
        break;
    }
    case TRACKS:
    case TEXT: {
        const char *value = load_text(options, option);
        bbf_buf_str(out, value != NULL ? value : "");
        break;
    }
    case BOOLEAN: {
        bool value = load_number(options, option) != 0;
        bbf_buf_str(out, option->on_off ? (value ? "on" : "off") : (value ? "true" : "false"));
        break;
    }
    case CHOICE:
        bbf_buf_str(out, choice_word(option, load_number(options, option)));
        break;
    case PORT:
        if (load_number(options, option) == BBF_PORT_OFF) {
            bbf_buf_str(out, "off");
            break;
        }
        bbf_buf_printf(out, "%" PRIu64, load_number(options, option));
        break;
    case COUNT:
        bbf_buf_printf(out, "%" PRIu64, load_number(options, option));
        break;
    case SIZE:
        bbf_buf_str(out, bbf_size_text(load_number(options, option), text, sizeof text));
        break;
    case DURATION:
        show_time(load_number(options, option), out);
        break;
    case SHARE:
        show_share(load_number(options, option), out);
        break;
    case FLAG:
        break;
    }
}

/* Words of `text` from column `indent` on, lines of at most 80 bytes; starts at column `at`. */
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

void bbf_options_help(struct bbf_buf *out)
{
    enum { INDENT = 30 };

    bbf_buf_str(out,
                "Options, as -agentpath:/path/to/libbbflow.so=name=value,name=value\n"
                "A pattern com.app means that package and everything below it, or that class;\n"
                "patterns join with '+'. Those marked * can be changed in a running JVM:\n"
                "bbflow set TARGET name=value.\n\n");
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &table[i];
        struct bbf_buf line = BBF_BUF_INIT;
        char left[64];
        int len = snprintf(left, sizeof left, "%c %s%s%s", option->live ? '*' : ' ', option->name,
                           option->type == FLAG ? "" : "=", option->argument);
        bbf_buf_str(&line, option->help);
        if (option->initial[0] != '\0')
            bbf_buf_printf(&line, " (default %s)", option->initial);
        if (len >= INDENT)
            bbf_buf_printf(out, "%s\n%*s", left, INDENT, "");
        else
            bbf_buf_printf(out, "%-*s", INDENT, left);
        add_wrapped(out, bbf_buf_cstr(&line), INDENT, INDENT);
        bbf_buf_free(&line);
    }
}
