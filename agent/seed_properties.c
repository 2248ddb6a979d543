/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/seed_properties.h"

#include <stdio.h>
#include <string.h>

#include "agent/jvm/properties.h"
#include "core/err.h"
#include "core/log.h"

enum { VALUE = 64, MAX_PUSH_SECONDS = 86400 };

#define PREFIX_TRACKER "bytebuf.tracker."
#define PREFIX_METRICS "bytebuf.metrics."
#define PUSH_INTERVAL  PREFIX_METRICS "pushInterval"

static const struct {
    const char *property, *option; /* no option: read by the Java half of handlers= */
} known[] = {{PREFIX_TRACKER "maxNodes", "maxNodes"},
             {PREFIX_TRACKER "maxDepth", "maxDepth"},
             {PUSH_INTERVAL, NULL}};
enum { KNOWN = sizeof known / sizeof *known };

static void take(jvmtiEnv *jvmti, const char *property, const char *option,
                 struct bbf_options *options)
{
    char value[VALUE], text[2 * VALUE];
    struct bbf_option_error error;
    bbf_property(jvmti, property, value, sizeof value);
    /* A comma would begin another option. */
    if (value[0] == '\0' || strspn(value, "0123456789") != strlen(value)) {
        bbf_log(BBF_LOG_ERROR, "-D%s=%s is no number; it is ignored", property, value);
        return;
    }
    snprintf(text, sizeof text, "%s=%s", option, value);
    if (bbf_options_parse(options, text, &error) == BBF_EINVAL)
        bbf_log(BBF_LOG_ERROR, "-D%s: %s; it is ignored", property, error.at.text);
}

static void check_interval(jvmtiEnv *jvmti)
{
    char value[VALUE];
    unsigned seconds = 0;
    int end = 0;
    bbf_property(jvmti, PUSH_INTERVAL, value, sizeof value);
    if (sscanf(value, " %6u %n", &seconds, &end) != 1 || value[end] != '\0' || seconds < 1 ||
        seconds > MAX_PUSH_SECONDS)
        bbf_log(BBF_LOG_ERROR, "-D%s=%s is no number of seconds from 1 to %d; it is 60",
                PUSH_INTERVAL, value, MAX_PUSH_SECONDS);
}

static void look_at(jvmtiEnv *jvmti, const char *property, struct bbf_options *options)
{
    if (strncmp(property, PREFIX_TRACKER, strlen(PREFIX_TRACKER)) != 0 &&
        strncmp(property, PREFIX_METRICS, strlen(PREFIX_METRICS)) != 0)
        return;
    for (int i = 0; i < KNOWN; i++) {
        if (strcmp(property, known[i].property) != 0)
            continue;
        if (known[i].option != NULL)
            take(jvmti, property, known[i].option, options);
        else
            check_interval(jvmti);
        return;
    }
    bbf_log(BBF_LOG_ERROR, "bbflow has no property %s; it has %s, %s and %s", property,
            known[0].property, known[1].property, known[2].property);
}

void bbf_seed_properties(jvmtiEnv *jvmti, struct bbf_options *options)
{
    jint n = 0;
    char **names = NULL;
    if ((*jvmti)->GetSystemProperties(jvmti, &n, &names) != 0)
        return;
    for (jint i = 0; i < n; i++) {
        look_at(jvmti, names[i], options);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)names[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)names);
}
