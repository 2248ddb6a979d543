/* link: bbf_core */
/* The option table: what is accepted, and the whole text of every refusal (design.md: names and
 * formats, design.md: errors). */
#include "core/err.h"
#include "core/nearest.h"
#include "core/option.h"
#include "core/units.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "name=value,…" of all options that differ from their defaults, in the table's order. */
static const char *differences(const struct bbf_options *options, struct bbf_buf *out)
{
    out->len = 0;
    for (size_t i = 0; i < bbf_options_count(); i++) {
        struct bbf_buf value = BBF_BUF_INIT;
        bbf_option_show(options, i, &value);
        if (strcmp(bbf_buf_cstr(&value), bbf_option_default(i)) != 0)
            bbf_buf_printf(out, "%s%s=%s", out->len > 0 ? "," : "", bbf_option_name(i),
                           bbf_buf_cstr(&value));
        bbf_buf_free(&value);
    }
    if (options->help)
        bbf_buf_str(out, "(help)");
    if (options->version)
        bbf_buf_str(out, "(version)");
    return bbf_buf_cstr(out);
}

static const struct {
    const char *text;
    const char *differences;
} good[] = {
    {NULL, ""},
    {"", ""},
    {"include=com.app", "include=com.app"},
    {"include=com.app.*+org.x.Main", "include=com.app+org.x.Main"},
    {"include=com.a,exclude=com.a.b,trackConstructors=com.a.C",
     "include=com.a,exclude=com.a.b,trackConstructors=com.a.C"},
    /* the Java tracker's forms */
    {"include=com.a.*,com.b;exclude=com.c", "include=com.a+com.b,exclude=com.c"},
    {"include=com.a.*,com.b.*;exclude=com.c;trackConstructors=com.D,com.E;trackDirectOnly=true",
     "include=com.a+com.b,exclude=com.c,trackConstructors=com.D+com.E,trackDirectOnly=true"},
    {" include = com.a.* , com.b ; exclude = com.c ", "include=com.a+com.b,exclude=com.c"},
    {"include=com.a;include=com.b", "include=com.a+com.b"},
    {"include=com.a,com.b,maxNodes=5", "include=com.a+com.b,maxNodes=5"},
    {"include=com.a+com.b,com.c", "include=com.a+com.b+com.c"},
    {"include=com.a,help", "include=com.a(help)"},
    {"include=com.a,version", "include=com.a(version)"},
    /* separators left over */
    {"include=com.a,", "include=com.a"},
    {"include=com.a;;", "include=com.a"},
    {",maxDepth=7,,maxSites=64,", "maxDepth=7,maxSites=64"},
    /* every boolean word */
    {"trackDirectOnly=true", "trackDirectOnly=true"},
    {"trackDirectOnly=on", "trackDirectOnly=true"},
    {"trackDirectOnly=yes", "trackDirectOnly=true"},
    {"trackDirectOnly=1", "trackDirectOnly=true"},
    {"track=com.a.C:close", "track=com.a.C:close"},
    {"track=com.a.C:close + com.a.D$E:end,x.Y:z;maxDepth=7",
     "track=com.a.C:close+com.a.D$E:end+x.Y:z,maxDepth=7"},
    {"track=a.B:c,maxDepth=7,track=a.B:d,", "track=a.B:c+a.B:d,maxDepth=7"},
    {"carriers=off", "carriers=off"},
    {"carriers=load", ""},
    {"carriers=on,carriers=load", ""},
    {"carriers=on", "carriers=on"},
    {"carriers=off,carriers=on", "carriers=on"},
    {"carriers=on,carriers=a.B:d", "carriers=a.B:d"},
    {"carriers=com.a.C:x+com.a.D$E:y,maxDepth=7", "carriers=com.a.C:x+com.a.D$E:y,maxDepth=7"},
    {"carriers=a.B:c,carriers=a.B:d", "carriers=a.B:c+a.B:d"},
    {"carriers=off,carriers=a.B:d", "carriers=a.B:d"},
    {"carriers=a.B:c,carriers=off", "carriers=off"},
    {"carriers=a.B:c,carriers=load", ""},
    {"maxCarrierClasses=0", "maxCarrierClasses=0"},
    {"trackDirectOnly=TRUE", "trackDirectOnly=true"},
    {"trackDirectOnly=True,trackDirectOnly=Off", ""},
    {"trackDirectOnly=true,trackDirectOnly=false", ""},
    {"trackDirectOnly=true,trackDirectOnly=off", ""},
    {"trackDirectOnly=true,trackDirectOnly=no", ""},
    {"trackDirectOnly=true,trackDirectOnly=0", ""},
    {"objects=on", "objects=on"},
    {"objects=true,objects=off", ""},
    {"objects=YES", "objects=on"},
    {"refs=on", "refs=on"},
    {"refs=true", "refs=on"},
    {"refs=on,refs=off", ""},
    /* ranges, both ends */
    {"maxNodes=1,maxDepth=1,maxChildren=1,maxLives=64,maxSites=64,memory=4M,maxClients=1",
     "maxNodes=1,maxDepth=1,maxChildren=1,maxLives=64,maxSites=64,memory=4M,maxClients=1"},
    {"maxNodes=1048576,maxDepth=10000,maxChildren=1000000,maxLives=16777216,memory=64G,"
     "maxClients=1000",
     "maxNodes=1048576,maxDepth=10000,maxChildren=1000000,maxLives=16777216,memory=64G,"
     "maxClients=1000"},
    {"memory=5000000", "memory=5000000"},
    {"age=1s", "age=1s"},
    {"age=365d", "age=365d"},
    {"age=600s", ""}, /* the default */
    {"age=3600s", "age=1h"},
    {"age=3661s", "age=3661s"},
    {"age=off", "age=0"},
    {"exitTimeout=10s", ""}, /* the default */
    {"exitTimeout=120s", "exitTimeout=2m"},
    {"exitTimeout=0", "exitTimeout=0"},
    {"budget=1%", "budget=1%"},
    {"budget=0.5%,budgetSeconds=10", "budget=0.5%,budgetSeconds=10"},
    {"budget=00.0100%", "budget=0.01%"},
    {"budget=12.3456%", "budget=12.3456%"},
    {"budget=100%,budgetSeconds=3600", "budget=100%,budgetSeconds=3600"},
    {"budget=1%,budget=off,budgetSeconds=1", ""},
    {"budget=0%", "budget=0%"},
    {"duty=0.0%", "duty=0%"},
    {"duty=2%,duty=off,budget=1%", "budget=1%"},
    {"sample=4,sample=1,budget=1%", "budget=1%"},
    {"nearLimit=90%", ""},
    {"nearLimit=off", "nearLimit=off"},
    {"nearLimit=99.5%,blackbox=/tmp/x.box,blackboxSeconds=5,blackboxSize=1M",
     "nearLimit=99.5%,blackbox=/tmp/x.box,blackboxSeconds=5,blackboxSize=1M"},
    {"age=1d,age=0", "age=0"},
    {"port=0,auth=off,queue=1", "port=0,auth=off,queue=1"},
    {"port=65535,auth=/run/token,queue=1000000", "port=65535,auth=/run/token,queue=1000000"},
    {"port=2020,port=off,auth=on,queue=5000", ""},
    {"memory=4096k", "memory=4M"},
    {"memory=1g", "memory=1G"},
    {"memory=256M", ""},
    /* texts and words */
    {"file=/tmp/leaks-%p.json,gc=exit,socket=/run/x,log=/tmp/l,dump=/tmp/d",
     "socket=/run/x,file=/tmp/leaks-%p.json,gc=exit,log=/tmp/l,dump=/tmp/d"},
    {"file=a=b.json", "file=a=b.json"},
    {"gc=exit,gc=off", ""},
    {"gc=on", "gc=exit"},
    {"gc=True", "gc=exit"},
    {"gc=yes", "gc=exit"},
    {"gc=exit,gc=no", ""},
    {"gc=exit,gc=false", ""},
    {"loglevel=none", "loglevel=none"},
    {"loglevel=debug", "loglevel=debug"},
    {"onerror=stop", "onerror=stop"},
    {"onerror=warn", "onerror=warn"},
    {"help", "(help)"},
};

static void each_good_string_gives_its_values(void **state)
{
    struct bbf_buf text = BBF_BUF_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct bbf_options options;
        struct bbf_option_error error;
        bbf_options_init(&options);
        if (bbf_options_parse(&options, good[i].text, &error) != BBF_OK)
            fail_msg("'%s': %s", good[i].text, error.at.text);
        assert_string_equal(differences(&options, &text), good[i].differences);
        bbf_options_free(&options);
    }
    bbf_buf_free(&text);
}

#define NO_BOOLEAN(word)                                                                           \
    "'" word "' is not a boolean; write on or off (true, false, yes, no, 1 and 0 are accepted)"

#define JCMD(name, argument)                                                                       \
    "option '" name "' needs a value: " name "=" argument                                          \
    " (jcmd cuts an option string at its first '='; with jcmd write \"'" name "=" argument         \
    "'\", both pairs of quotes)"

static const struct {
    const char *text;
    const char *option;
    size_t column;
    const char *message;
} bad[] = {
    /* names */
    {"maxNode=5", "maxNode", 1, "unknown option 'maxNode'; did you mean 'maxNodes'?"},
    {"include=com.a,MAXNODES=5", "MAXNODES", 15,
     "unknown option 'MAXNODES'; did you mean 'maxNodes'?"},
    {"exclud=com.a", "exclud", 1, "unknown option 'exclud'; did you mean 'exclude'?"},
    {"inculde=com.a", "inculde", 1, "unknown option 'inculde'; did you mean 'include'?"},
    {"maxDepth=5;zzz=1", "zzz", 12,
     "unknown option 'zzz'; 'bbflow help options' lists all of them"},
    {"jvm=on", "jvm", 1, "unknown option 'jvm'; 'bbflow help options' lists all of them"},
    {"exitTimeout=10", "exitTimeout", 13,
     "option 'exitTimeout': '10' is no time; it takes 90s, 10m, 2h, 1d, or 0 for off"},
    {"age=10", "age", 5, "option 'age': '10' is no time; it takes 90s, 10m, 2h, 1d, or 0 for off"},
    {"age=500ms", "age", 5,
     "option 'age': 500ms is out of range; it takes 1s to 365d, or 0 for off"},
    {"age=366d", "age", 5, "option 'age': 366d is out of range; it takes 1s to 365d, or 0 for off"},
    {"maxDepth=5,com.app", "com.app", 12,
     "unknown option 'com.app'; if it is a pattern, join it to its list with '+'"},
    {"include=com.a;com.bcd", "com.bcd", 15,
     "unknown option 'com.bcd'; if it is a pattern, join it to its list with '+'"},
    {"=5", "", 1, "'=' without an option's name before it"},
    {"help=yes", "help", 1, "option 'help' takes no value"},
    {"version=1", "version", 1, "option 'version' takes no value"},
/* budget= */
#define NO_SHARE " is no share; it takes 0.01% to 100%, as 1% or 0.5%, or off"
#define NO_RANGE " is out of range; it takes 0.01% to 100%, or off"
    {"budget=1", "budget", 8, "option 'budget': '1'" NO_SHARE},
    {"maxDepth=5, budget= 1 %", "budget", 21, "option 'budget': '1 %'" NO_SHARE},
    {"budget=.5%", "budget", 8, "option 'budget': '.5%'" NO_SHARE},
    {"budget=1.%", "budget", 8, "option 'budget': '1.%'" NO_SHARE},
    {"budget=1.00001%", "budget", 8, "option 'budget': '1.00001%'" NO_SHARE},
    {"budget=1%%", "budget", 8, "option 'budget': '1%%'" NO_SHARE},
    {"budget=-1%", "budget", 8, "option 'budget': '-1%'" NO_SHARE},
    {"budget=on", "budget", 8, "option 'budget': 'on'" NO_SHARE},
    {"nearLimit=0%", "nearLimit", 11, "option 'nearLimit': 0%" NO_RANGE},
    {"budget=0.00009%", "budget", 8, "option 'budget': '0.00009%'" NO_SHARE},
    {"budget=0.0001%", "budget", 8, "option 'budget': 0.0001%" NO_RANGE},
    {"budget=1%,duty=2%", "duty", 11,
     "option 'budget': not together with duty=, the share of the time, "
     "which budget= chooses; leave one of them out (budget=off or duty=off)"},
    {"include=com.app, duty = 2%,budget=1%,sample=1,maxDepth=5", "budget", 28,
     "option 'budget': not together with duty=, the share of the time, "
     "which budget= chooses; leave one of them out (budget=off or duty=off)"},
    {"sample=2,budget=1%", "budget", 10,
     "option 'budget': not together with sample=, because it chooses buffers "
     "by windows of time; leave one of them out (budget=off or sample=1)"},
    {"duty=0%,sample=2", "sample", 9,
     "option 'duty': not together with sample=, because it chooses buffers by "
     "windows of time; leave one of them out (duty=off or sample=1)"},
    {"nearLimit=101%", "nearLimit", 11, "option 'nearLimit': 101%" NO_RANGE},
    {"budget=0.0099%", "budget", 8, "option 'budget': 0.0099%" NO_RANGE},
    {"budget=100.0001%", "budget", 8, "option 'budget': 100.0001%" NO_RANGE},
    {"budget=101%", "budget", 8, "option 'budget': 101%" NO_RANGE},
    {"budget=99999999999999999999999.5%", "budget", 8,
     "option 'budget': 99999999999999999999999.5%" NO_RANGE},
    {"budget", "budget", 1, JCMD("budget", "SHARE|off")},
    {"budgetSeconds=0", "budgetSeconds", 15,
     "option 'budgetSeconds': 0 is out of range; it takes 1 to 3600"},
    /* track= */
    {"track=com.a.C", "track", 7,
     "option 'track': 'com.a.C' names no closing method; write Class:method, as "
     "com.app.Connection:close"},
    {"track=com.a.C:", "track", 7,
     "option 'track': 'com.a.C:' names no closing method; write Class:method, as "
     "com.app.Connection:close"},
    {"track=a.B:c+a..B:c", "track", 14,
     "option 'track': pattern 'a..B' has an empty name between two dots; write one dot"},
    {"track=a.*:c", "track", 7, "option 'track': 'a.*:c' is no class; name each, joined with '+'"},
    {"track=:c", "track", 7,
     "option 'track': empty pattern; name a package or a class, as 'com.app' or 'com.app.Main'"},
    {"track=a.B:c()", "track", 12,
     "option 'track': 'a.B:c()' names no closing method; write the name alone, as close"},
    {"track=a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B:c+a.B"
     ":c+a.B:c+a.B:d",
     "track", 103, "option 'track': 'a.B:d' is one too many; there may be 16"},
    /* carriers= */
    {"carriers=com.a.C", "carriers", 10,
     "option 'carriers': 'com.a.C' names no field; write Class:field, as com.app.Frame:payload"},
    {"carriers=off+a.B:c", "carriers", 10,
     "option 'carriers': 'off' names no field; write Class:field, as com.app.Frame:payload"},
    {"carriers=a.B:c()", "carriers", 15,
     "option 'carriers': 'a.B:c()' names no field; write the name alone, as payload"},
    /* values that are not there */
    {"include", "include", 1, JCMD("include", "PATTERNS")},
    {"include=", "include", 1, JCMD("include", "PATTERNS")},
    {"include= ,maxDepth=5", "include", 1, JCMD("include", "PATTERNS")},
    {"maxDepth=5,file", "file", 12, JCMD("file", "FILE")},
    {"include=com.a,maxDepth", "maxDepth", 15, JCMD("maxDepth", "N")},
    {"trackDirectOnly", "trackDirectOnly", 1, JCMD("trackDirectOnly", "on|off")},
    {"gc=", "gc", 1, JCMD("gc", "off|exit")},
    /* booleans */
    {"trackDirectOnly=maybe", "trackDirectOnly", 17,
     "option 'trackDirectOnly': " NO_BOOLEAN("maybe")},
    {"objects= TRU", "objects", 10, "option 'objects': " NO_BOOLEAN("TRU")},
    {"refs=2", "refs", 6, "option 'refs': " NO_BOOLEAN("2")},
    /* words */
    {"loglevel=verbose", "loglevel", 10,
     "option 'loglevel': 'verbose' is not one of none, error, warn, info, debug"},
    {"gc=always", "gc", 4, "option 'gc': 'always' is not one of off, exit"},
    {"onerror=die", "onerror", 9, "option 'onerror': 'die' is not one of stop, warn"},
    /* numbers */
    {"maxNodes=many", "maxNodes", 10,
     "option 'maxNodes': 'many' is no number; it takes 1 to 1048576"},
    {"maxNodes=-5", "maxNodes", 10, "option 'maxNodes': '-5' is no number; it takes 1 to 1048576"},
    {"maxNodes=5x", "maxNodes", 10, "option 'maxNodes': '5x' is no number; it takes 1 to 1048576"},
    {"maxNodes=0", "maxNodes", 10, "option 'maxNodes': 0 is out of range; it takes 1 to 1048576"},
    {"maxNodes=1048577", "maxNodes", 10,
     "option 'maxNodes': 1048577 is out of range; it takes 1 to 1048576"},
    {"sample=0", "sample", 8, "option 'sample': 0 is out of range; it takes 1 to 1000000"},
    {"maxDepth=10001", "maxDepth", 10,
     "option 'maxDepth': 10001 is out of range; it takes 1 to 10000"},
    {"maxChildren=0", "maxChildren", 13,
     "option 'maxChildren': 0 is out of range; it takes 1 to 1000000"},
    {"maxLives=63", "maxLives", 10,
     "option 'maxLives': 63 is out of range; it takes 64 to 16777216"},
    {"maxSites=65536", "maxSites", 10,
     "option 'maxSites': 65536 is out of range; it takes 64 to 64000"},
    {"port=65536", "port", 6, "option 'port': 65536 is out of range; it takes 0 to 65535"},
    {"port=any", "port", 6, "option 'port': 'any' is no number; it takes 0 to 65535"},
    {"queue=0", "queue", 7, "option 'queue': 0 is out of range; it takes 1 to 1000000"},
    {"maxClients=1001", "maxClients", 12,
     "option 'maxClients': 1001 is out of range; it takes 1 to 1000"},
    {"maxNodes=99999999999999999999999", "maxNodes", 10,
     "option 'maxNodes': 99999999999999999999999 is out of range; it takes 1 to 1048576"},
    {"memory=lots", "memory", 8,
     "option 'memory': 'lots' is no size; it takes 4M to 64G, as 256M or 1G"},
    {"memory=256MB", "memory", 8,
     "option 'memory': '256MB' is no size; it takes 4M to 64G, as 256M or 1G"},
    {"memory=1024", "memory", 8, "option 'memory': 1024 is out of range; it takes 4M to 64G"},
    {"memory=65G", "memory", 8, "option 'memory': 65G is out of range; it takes 4M to 64G"},
    {"memory=99999999999999T", "memory", 8,
     "option 'memory': 99999999999999T is out of range; it takes 4M to 64G"},
    /* patterns: the column is that within the whole string */
    {"include=com.a,exclude=com..b", "exclude", 26,
     "option 'exclude': pattern 'com..b' has an empty name between two dots; write one dot"},
    {"include=com.a,com.b*", "include", 20,
     "option 'include': pattern 'com.b*': '*' is allowed only at the end, after a dot; write "
     "'com.b', "
     "which is that package (or class) and everything below it"},
    {"include=com.a,,com.b", "include", 15,
     "option 'include': empty pattern; name a package or a class, as 'com.app' or "
     "'com.app.Main'"},
    {"maxDepth=5,include= com/a", "include", 24,
     "option 'include': pattern 'com/a' holds '/'; packages are written with dots, as "
     "'com.app'"},
    {"include=*", "include", 9,
     "option 'include': pattern '*' would match every class; name a package, as 'com.app', or "
     "leave the option out: then every application class matches"},
};

static void each_bad_string_names_option_column_and_remedy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct bbf_options options;
        struct bbf_option_error error;
        bbf_options_init(&options);
        int rc = bbf_options_parse(&options, bad[i].text, &error);
        if (rc != BBF_EINVAL)
            fail_msg("'%s' gives %d", bad[i].text, rc);
        assert_string_equal(error.at.text, bad[i].message);
        assert_string_equal(error.option, bad[i].option);
        if (error.at.column != bad[i].column)
            fail_msg("'%s': column %zu, expected %zu", bad[i].text, error.at.column, bad[i].column);
        bbf_options_free(&options);
    }
}

static void onerror_is_read_although_the_string_is_bad(void **state)
{
    static const struct {
        const char *text;
        enum bbf_onerror onerror;
    } cases[] = {
        {"zzz=1", BBF_ONERROR_DEFAULT},
        {"zzz=1,onerror=warn", BBF_ONERROR_WARN},
        {"onerror=warn,zzz=1", BBF_ONERROR_WARN},
        {"include=com..b;onerror=stop", BBF_ONERROR_STOP},
        {"zzz=1, onerror=warn , yyy=2", BBF_ONERROR_WARN},
        {"zzz=1,onerror=perhaps", BBF_ONERROR_DEFAULT},
        {"zzz=1,onerror", BBF_ONERROR_DEFAULT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bbf_options options;
        struct bbf_option_error error;
        bbf_options_init(&options);
        assert_int_equal(bbf_options_parse(&options, cases[i].text, &error), BBF_EINVAL);
        assert_int_equal(options.onerror, cases[i].onerror);
        bbf_options_free(&options);
    }
}

static void set_changes_what_is_live_and_says_what_it_asks_for(void **state)
{
    static const struct {
        const char *name, *value;
        int rc;
        unsigned effect;
        bool changed;
        const char *shown_or_message;
    } steps[] = {
        {"include", "com.a.*,com.b", BBF_OK, BBF_EFFECT_CLASSES, true, "com.a+com.b"},
        {"include", "com.a+com.b", BBF_OK, BBF_EFFECT_CLASSES, false, "com.a+com.b"},
        {"include", "com.c", BBF_OK, BBF_EFFECT_CLASSES, true, "com.c"}, /* replaces */
        {"include", "com..c", BBF_EINVAL, 0, false,
         "option 'include': pattern 'com..c' has an empty name between two dots; write one dot"},
        {"include", "com.c", BBF_OK, BBF_EFFECT_CLASSES, false, "com.c"}, /* nothing was lost */
        {"include", "", BBF_OK, BBF_EFFECT_CLASSES, true, ""},
        {"exclude", " ", BBF_OK, BBF_EFFECT_CLASSES, false, ""},
        {"trackConstructors", "a.B", BBF_OK, BBF_EFFECT_CLASSES, true, "a.B"},
        {"objects", "yes", BBF_OK, BBF_EFFECT_CLASSES, true, "on"},
        {"refs", "on", BBF_OK, BBF_EFFECT_CLASSES, true, "on"},
        {"trackDirectOnly", "on", BBF_OK, BBF_EFFECT_ROOTS, true, "true"},
        {"trackDirectOnly", "true", BBF_OK, BBF_EFFECT_ROOTS, false, "true"},
        {"trackDirectOnly", "", BBF_EINVAL, 0, false, "option 'trackDirectOnly': " NO_BOOLEAN("")},
        {"maxNodes", "17", BBF_OK, BBF_EFFECT_LIMITS, true, "17"},
        {"maxDepth", "17", BBF_OK, BBF_EFFECT_LIMITS, true, "17"},
        {"maxChildren", "17", BBF_OK, BBF_EFFECT_LIMITS, true, "17"},
        {"maxLives", "100", BBF_OK, BBF_EFFECT_LIMITS, true, "100"},
        {"maxElements", "100", BBF_OK, BBF_EFFECT_LIMITS, true, "100"},
        {"sample", "100", BBF_OK, BBF_EFFECT_ROOTS, true, "100"},
        {"budget", "0.25%", BBF_OK, BBF_EFFECT_BUDGET | BBF_EFFECT_GATE, true, "0.25%"},
        {"budget", "0.250%", BBF_OK, BBF_EFFECT_BUDGET | BBF_EFFECT_GATE, false, "0.25%"},
        {"budget", "2", BBF_EINVAL, 0, false, "option 'budget': '2'" NO_SHARE},
        {"budget", "off", BBF_OK, BBF_EFFECT_BUDGET | BBF_EFFECT_GATE, true, "off"},
        {"budgetSeconds", "5", BBF_OK, BBF_EFFECT_BUDGET, true, "5"},
        {"age", "2m", BBF_OK, BBF_EFFECT_LIMITS, true, "2m"},
        {"exitTimeout", "30s", BBF_OK, BBF_EFFECT_NONE, true, "30s"},
        {"jfr", "/tmp/x.jfr", BBF_OK, BBF_EFFECT_RECORDING, true, "/tmp/x.jfr"},
        {"jfr", "/tmp/x.jfr", BBF_OK, BBF_EFFECT_RECORDING, false, "/tmp/x.jfr"},
        {"jfr", "", BBF_OK, BBF_EFFECT_RECORDING, true, ""}, /* ends it */
        {"jfr", " ", BBF_OK, BBF_EFFECT_RECORDING, false, ""},
        {"maxsize", "2M", BBF_OK, BBF_EFFECT_RECORDING, true, "2M"},
        {"maxage", "1h", BBF_OK, BBF_EFFECT_RECORDING, true, "1h"},
        {"summarySeconds", "1", BBF_OK, BBF_EFFECT_NONE, true, "1"},
        {"memory", "1G", BBF_OK, BBF_EFFECT_LIMITS, true, "1G"},
        {"memory", "1T", BBF_EINVAL, 0, false,
         "option 'memory': 1T is out of range; it takes 4M to 64G"},
        {"maxSites", "100", BBF_EREFUSED, 0, false,
         "option 'maxSites' can only be given when the JVM starts"},
        {"socket", "/tmp", BBF_EREFUSED, 0, false,
         "option 'socket' can only be given when the JVM starts"},
        {"help", "", BBF_EREFUSED, 0, false, "option 'help' can only be given when the JVM starts"},
        {"maxnode", "5", BBF_ENOTFOUND, 0, false,
         "unknown option 'maxnode'; did you mean 'maxNodes'?"},
        {"", "5", BBF_ENOTFOUND, 0, false,
         "unknown option ''; 'bbflow help options' lists all of them"},
    };
    struct bbf_options options;
    (void)state;

    bbf_options_init(&options);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct bbf_option_error error;
        struct bbf_buf shown = BBF_BUF_INIT;
        unsigned effect = 0;
        bool changed = false;
        int rc =
            bbf_options_set(&options, steps[i].name, steps[i].value, &effect, &changed, &error);
        assert_int_equal(rc, steps[i].rc);
        assert_int_equal(effect, steps[i].effect);
        assert_int_equal(changed, steps[i].changed);
        if (rc == BBF_OK) {
            for (size_t k = 0; k < bbf_options_count(); k++) {
                if (strcmp(bbf_option_name(k), steps[i].name) == 0)
                    bbf_option_show(&options, k, &shown);
            }
            assert_string_equal(bbf_buf_cstr(&shown), steps[i].shown_or_message);
        } else {
            assert_string_equal(error.at.text, steps[i].shown_or_message);
            assert_string_equal(error.option, steps[i].name);
        }
        bbf_buf_free(&shown);
    }
    bbf_options_free(&options);
}

static void a_copy_is_deep(void **state)
{
    struct bbf_options a, b;
    struct bbf_option_error error;
    struct bbf_buf text = BBF_BUF_INIT;
    (void)state;

    bbf_options_init(&a);
    const char *all = "include=com.a+com.b,trackDirectOnly=true,maxNodes=9,memory=8M,file=x.json,"
                      "gc=exit,loglevel=info,onerror=warn";
    assert_int_equal(bbf_options_parse(&a, all, &error), BBF_OK);
    assert_int_equal(bbf_options_copy(&b, &a), BBF_OK);
    assert_ptr_not_equal(a.include, b.include);
    assert_ptr_not_equal(a.file, b.file);
    bbf_options_free(&a);
    assert_string_equal(differences(&b, &text), all);
    bbf_options_free(&b);
    assert_null(b.include);
    bbf_buf_free(&text);
}

static void defaults_are_those_of_the_header(void **state)
{
    struct bbf_options o;
    (void)state;

    bbf_options_init(&o);
    assert_null(o.include);
    assert_false(o.direct_only);
    assert_false(o.objects_everywhere);
    assert_false(o.refs);
    assert_int_equal(o.max_nodes, 1000000);
    assert_int_equal(o.max_depth, 100);
    assert_int_equal(o.max_children, 1000);
    assert_int_equal(o.max_lives, 1000000);
    assert_int_equal(o.max_sites, 64000);
    assert_int_equal(o.memory, UINT64_C(256) << 20);
    assert_int_equal(o.max_clients, 16);
    assert_int_equal(o.budget, 0);
    assert_int_equal(o.budget_seconds, 1);
    assert_int_equal(o.port, BBF_PORT_OFF);
    assert_string_equal(o.auth, "on");
    assert_int_equal(o.queue, 5000);
    assert_null(o.file);
    assert_false(o.gc_exit);
    assert_int_equal(o.log_level, BBF_LOG_ERROR);
    assert_int_equal(o.onerror, BBF_ONERROR_DEFAULT);
    assert_false(o.help);
    bbf_options_free(&o);
}

/* Every value that is shown can be given back: what `status` prints is what the parser reads. */
static void what_is_shown_can_be_read_again(void **state)
{
    struct bbf_options a, b;
    struct bbf_option_error error;
    struct bbf_buf first = BBF_BUF_INIT, second = BBF_BUF_INIT;
    (void)state;

    bbf_options_init(&a);
    bbf_options_init(&b);
    assert_int_equal(
        bbf_options_parse(&a,
                          "include=a.b;exclude=c.D$E,trackConstructors=f,objects=1,refs=1,"
                          "trackDirectOnly=1,budget=0.5%,budgetSeconds=2,maxNodes=7,"
                          "maxDepth=8,maxChildren=9,"
                          "maxLives=64,maxElements=5,maxSites=65,memory=4097k,age=90s,socket=/s,"
                          "maxClients=2,file=f.txt,gc=exit,log=l,loglevel=warn,"
                          "onerror=stop,dump=d",
                          &error),
        BBF_OK);
    assert_int_equal(bbf_options_parse(&b, differences(&a, &first), &error), BBF_OK);
    assert_string_equal(differences(&b, &second), bbf_buf_cstr(&first));
    assert_non_null(strstr(bbf_buf_cstr(&first), "memory=4097K"));
    bbf_options_free(&a);
    bbf_options_free(&b);
    bbf_buf_free(&first);
    bbf_buf_free(&second);
}

static void the_help_names_every_option_in_eighty_columns(void **state)
{
    struct bbf_buf help = BBF_BUF_INIT;
    (void)state;

    bbf_options_help(&help);
    const char *text = bbf_buf_cstr(&help);
    for (size_t i = 0; i < bbf_options_count(); i++) {
        char line[100];
        snprintf(line, sizeof line, "\n%c %s%s%s", bbf_option_is_live(i) ? '*' : ' ',
                 bbf_option_name(i), bbf_option_argument(i)[0] != '\0' ? "=" : "",
                 bbf_option_argument(i));
        if (strstr(text, line) == NULL)
            fail_msg("no line for %s in\n%s", bbf_option_name(i), text);
        assert_true(strlen(bbf_option_help(i)) > 10);
    }
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") <= 80);
        assert_true(line[strcspn(line, "\n")] == '\n');
    }
    bbf_buf_free(&help);
}

/* A stop of the JVM is not to be had by what another user leaves in a folder. */
static void the_help_says_what_other_users_can_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < bbf_options_count(); i++)
        if (strcmp(bbf_option_name(i), "onerror") == 0) {
            assert_non_null(
                strstr(bbf_option_help(i), "user put at file=, jfr=, blackbox=, log= or dump="));
            assert_non_null(strstr(bbf_option_help(i), "only warned of, except with stop"));
            return;
        }
    fail();
}

/* Six options first, then each group under its title, expert options last; every option once. */
static void the_help_shows_six_options_first_then_groups_then_experts(void **state)
{
    static const char *const parts[] = {"\nStart with these:\n",
                                        "include=",
                                        "exclude=",
                                        "sample=",
                                        "memory=",
                                        "age=",
                                        "file=",
                                        "\nWhat to follow:\n",
                                        "refs=",
                                        "\nHow much:\n",
                                        "budget=",
                                        "\nLimits:\n",
                                        "maxNodes=",
                                        "\nOutput:\n",
                                        "log=",
                                        "\nServing:\n",
                                        "port=",
                                        "\nInformation:\n",
                                        "version",
                                        "\nExpert options:\n",
                                        "budgetSeconds=",
                                        "maxChildren=",
                                        "maxElements=",
                                        "maxSites=",
                                        "maxWaiting=",
                                        "authSeconds=",
                                        "queue=",
                                        "exitTimeout="};
    struct bbf_buf help = BBF_BUF_INIT;
    (void)state;

    bbf_options_help(&help);
    const char *at = strstr(bbf_buf_cstr(&help), "\n\n");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *next = at == NULL ? NULL : strstr(at, parts[i]);
        if (next == NULL)
            fail_msg("no '%s' after '%s' in\n%s", parts[i], i > 0 ? parts[i - 1] : "",
                     bbf_buf_cstr(&help));
        at = next;
    }
    for (size_t i = 0; i < bbf_options_count(); i++) {
        char start[64];
        snprintf(start, sizeof start, "\n%c %s%s", bbf_option_is_live(i) ? '*' : ' ',
                 bbf_option_name(i), bbf_option_argument(i)[0] != '\0' ? "=" : "");
        const char *first = strstr(bbf_buf_cstr(&help), start);
        assert_non_null(first);
        assert_null(strstr(first + 1, start));
    }
    bbf_buf_free(&help);
}

static void sizes_and_durations(void **state)
{
    static const struct {
        const char *text;
        int rc;
        uint64_t value;
    } sizes[] = {
        {"0", BBF_OK, 0},
        {"4096", BBF_OK, 4096},
        {"4k", BBF_OK, 4096},
        {"256M", BBF_OK, UINT64_C(256) << 20},
        {"1g", BBF_OK, 1u << 30},
        {"15T", BBF_OK, UINT64_C(15) << 40},
        {"", BBF_EINVAL, 0},
        {"M", BBF_EINVAL, 0},
        {"1.5G", BBF_EINVAL, 0},
        {"-1", BBF_EINVAL, 0},
        {"1Mx", BBF_EINVAL, 0},
        {" 1", BBF_EINVAL, 0},
        {"18446744073709551615", BBF_OK, UINT64_MAX},
        {"18446744073709551616", BBF_ERANGE, 0},
        {"17179869184G", BBF_ERANGE, 0},
        {"99999999999999999999999x", BBF_EINVAL, 0},
    };
    static const struct {
        const char *text;
        int rc;
        uint64_t value;
    } durations[] = {
        {"10ms", BBF_OK, 10000000},
        {"5s", BBF_OK, UINT64_C(5000000000)},
        {"10m", BBF_OK, UINT64_C(600000000000)},
        {"2h", BBF_OK, UINT64_C(7200000000000)},
        {"1d", BBF_OK, UINT64_C(86400000000000)},
        {"7ns", BBF_OK, 7},
        {"7us", BBF_OK, 7000},
        {"10", BBF_EINVAL, 0},
        {"s", BBF_EINVAL, 0},
        {"5 s", BBF_EINVAL, 0},
        {"5S", BBF_EINVAL, 0},
        {"99999999999d", BBF_ERANGE, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t value = 0;
        int rc = bbf_parse_size(sizes[i].text, &value);
        if (rc != sizes[i].rc || (rc == BBF_OK && value != sizes[i].value))
            fail_msg("size '%s': %d, %" PRIu64, sizes[i].text, rc, value);
    }
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        uint64_t value = 0;
        int rc = bbf_parse_duration(durations[i].text, &value);
        if (rc != durations[i].rc || (rc == BBF_OK && value != durations[i].value))
            fail_msg("duration '%s': %d, %" PRIu64, durations[i].text, rc, value);
    }
}

static void the_edit_distance_counts_edits(void **state)
{
    static const struct {
        const char *a, *b;
        size_t edits;
    } cases[] = {
        {"", "", 0},         {"abc", "", 3},          {"abc", "abc", 0},        {"ABC", "abc", 0},
        {"abc", "abd", 1},   {"abc", "ab", 1},        {"abc", "xabc", 1},       {"tree", "teer", 2},
        {"tree", "tere", 1}, {"status", "stauts", 1}, {"kitten", "sitting", 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n =
            bbf_edit_distance(cases[i].a, strlen(cases[i].a), cases[i].b, strlen(cases[i].b));
        if (n != cases[i].edits)
            fail_msg("%s to %s: %zu, expected %zu", cases[i].a, cases[i].b, n, cases[i].edits);
    }
    char longer[500];
    memset(longer, 'x', sizeof longer);
    assert_null(bbf_nearest(longer, sizeof longer, bbf_options_count(), bbf_option_name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_good_string_gives_its_values),
        cmocka_unit_test(each_bad_string_names_option_column_and_remedy),
        cmocka_unit_test(onerror_is_read_although_the_string_is_bad),
        cmocka_unit_test(set_changes_what_is_live_and_says_what_it_asks_for),
        cmocka_unit_test(a_copy_is_deep),
        cmocka_unit_test(defaults_are_those_of_the_header),
        cmocka_unit_test(what_is_shown_can_be_read_again),
        cmocka_unit_test(the_help_names_every_option_in_eighty_columns),
        cmocka_unit_test(the_help_shows_six_options_first_then_groups_then_experts),
        cmocka_unit_test(the_help_says_what_other_users_can_do),
        cmocka_unit_test(sizes_and_durations),
        cmocka_unit_test(the_edit_distance_counts_edits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
