/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/otlp.c - OpenTelemetry's ProfilesData, v1development, with the field numbers of
 * opentelemetry-proto 1.10
 * (https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/profiles).
 * A profile has one type there, so there is one for each of render/samples.h; all share a
 * dictionary, whose tables begin with an empty row. A receiver takes the document as the body of a
 * request: ExportProfilesServiceRequest has the same fields.
 */
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "render/fingerprint.h"
#include "render/formats.h"
#include "render/proto.h"
#include "render/samples.h"
#include "render/strings.h"
#include "render/text.h"
#include "render/view.h"

/* Fields of the messages. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPE_PROFILES };
enum { RESOURCE_ATTRIBUTES = 1, KEY_VALUE_KEY = 1, KEY_VALUE_VALUE, ANY_STRING = 1, ANY_INT = 3 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES, SCOPE_NAME = 1, SCOPE_VERSION };
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLES, PROFILE_TIME, PROFILE_DURATION };
enum { PROFILE_PERIOD_TYPE = 5 };
enum { PROFILE_PERIOD = 6, PROFILE_ID };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_VALUES = 4 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { DICTIONARY_MAPPINGS = 1, DICTIONARY_LOCATIONS, DICTIONARY_FUNCTIONS, DICTIONARY_LINKS };
enum { DICTIONARY_STRINGS = 5, DICTIONARY_ATTRIBUTES, DICTIONARY_STACKS };
enum { LOCATION_LINES = 3, LOCATION_ATTRIBUTES, LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME, FUNCTION_START };
enum { STACK_LOCATIONS = 1, ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };

enum { PROFILE_ID_BYTES = 16 };

struct document {
    struct bbf_view *view;
    const struct bbf_render_options *options;
    struct bbf_buf profiles[BBF_SAMPLE_COUNT]; /* the samples of each */
    struct bbf_buf dictionary;                 /* its stacks and attributes; then the rest */
    struct bbf_buf part, inner, value;
    struct bbf_strings strings;
    struct bbf_strings attributes; /* "key\0value": the number is the row */
    uint32_t *stacks;              /* by node: its row, 0: none yet */
    uint32_t n_stacks;
};

static uint32_t string(struct document *d, const char *text)
{
    return bbf_strings_add(&d->strings, text, strlen(text));
}

/* ---- samples ---- */

static uint32_t stack_of(struct document *d, uint32_t node)
{
    if (d->stacks[node] != 0)
        return d->stacks[node];
    const struct bbf_view_path path = bbf_view_path(d->view, node);
    for (size_t i = path.n; i-- > 0;) /* the last step first */
        bbf_proto_varint(&d->value, (uint64_t)d->view->snapshot->nodes[path.nodes[i]].site + 1);
    bbf_proto_message(&d->inner, STACK_LOCATIONS, &d->value);
    bbf_proto_message(&d->dictionary, DICTIONARY_STACKS, &d->inner);
    return d->stacks[node] = d->n_stacks++;
}

/* The row of an attribute whose value is a text. */
static uint32_t attribute(struct document *d, const char *key, const char *text, size_t len)
{
    struct bbf_buf both = BBF_BUF_INIT;
    size_t before = d->attributes.n;

    bbf_buf_add(&both, key, strlen(key) + 1);
    bbf_buf_add(&both, text, len);
    uint32_t row = bbf_strings_add(&d->attributes, both.data, both.len);
    d->inner.failed = d->inner.failed || both.failed;
    bbf_buf_free(&both);
    if (d->attributes.n == before)
        return row;
    bbf_proto_number(&d->inner, ATTRIBUTE_KEY, string(d, key));
    bbf_proto_bytes(&d->value, ANY_STRING, text, len);
    bbf_proto_message(&d->inner, ATTRIBUTE_VALUE, &d->value);
    bbf_proto_message(&d->dictionary, DICTIONARY_ATTRIBUTES, &d->inner);
    return row;
}

/* Rows of attributes to d->value. */
static void add_attributes(struct document *d, const uint32_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bbf_proto_varint(&d->value, rows[i]);
    bbf_proto_message(&d->part, SAMPLE_ATTRIBUTES, &d->value);
}

static void add_sample(void *ctx, const struct bbf_sample *sample)
{
    struct document *d = ctx;
    const char *verdict = bbf_sample_verdict(sample);
    uint32_t stack = stack_of(d, sample->node), rows[3];
    size_t n = 0;

    rows[n++] = attribute(d, "bbflow.verdict", verdict, strlen(verdict));
    if (sample->leak != NULL) {
        const char *memory = bbf_memory_name(sample->leak->memory);
        struct bbf_buf id = BBF_BUF_INIT;
        bbf_fingerprint_text(&id, bbf_fingerprint_leak(d->view, sample->node));
        rows[n++] = attribute(d, "bbflow.memory", memory, strlen(memory));
        rows[n++] = attribute(d, "bbflow.id", id.data, id.len);
        d->part.failed = d->part.failed || id.failed;
        bbf_buf_free(&id);
    }
    for (int i = 0; i < BBF_SAMPLE_COUNT; i++) {
        if (sample->values[i] == 0)
            continue;
        bbf_proto_number(&d->part, SAMPLE_STACK, stack);
        add_attributes(d, rows, n);
        bbf_proto_varint(&d->value, (uint64_t)bbf_sample_signed(sample->values[i]));
        bbf_proto_message(&d->part, SAMPLE_VALUES, &d->value);
        bbf_proto_message(&d->profiles[i], PROFILE_SAMPLES, &d->part);
    }
}

/* ---- the dictionary ---- */

/* Row `site` + 1 of the functions and of the locations. */
static void add_site(struct document *d, uint32_t site, uint32_t frame)
{
    const struct bbf_snap_site *s = &d->view->snapshot->sites[site];
    const struct bbf_name *name = &d->view->names.names[site];
    struct bbf_buf text = BBF_BUF_INIT;

    bbf_text_safe(&text, s->class_name, '\0');
    uint32_t class_name = bbf_strings_add(&d->strings, text.data, text.len);
    bbf_buf_str(&text, s->class_name[0] != '\0' ? "." : "");
    bbf_text_safe(&text, s->method, '\0');
    bbf_text_safe(&text, s->descriptor, '\0');
    bbf_proto_number(&d->part, FUNCTION_NAME, bbf_strings_add(&d->strings, name->text, name->len));
    bbf_proto_number(&d->part, FUNCTION_SYSTEM_NAME,
                     bbf_strings_add(&d->strings, text.data, text.len));
    bbf_proto_number(&d->part, FUNCTION_FILENAME, class_name);
    bbf_proto_number(&d->part, FUNCTION_START, s->line);
    bbf_proto_message(&d->dictionary, DICTIONARY_FUNCTIONS, &d->part);
    bbf_proto_number(&d->inner, LINE_FUNCTION, (uint64_t)site + 1);
    bbf_proto_number(&d->inner, LINE_LINE, s->line);
    bbf_proto_message(&d->part, LOCATION_LINES, &d->inner);
    bbf_proto_varint(&d->value, frame);
    bbf_proto_message(&d->part, LOCATION_ATTRIBUTES, &d->value);
    bbf_proto_message(&d->dictionary, DICTIONARY_LOCATIONS, &d->part);
    d->part.failed = d->part.failed || text.failed;
    bbf_buf_free(&text);
}

static void begin_tables(struct document *d)
{
    for (unsigned table = DICTIONARY_MAPPINGS; table <= DICTIONARY_STACKS; table++)
        if (table != DICTIONARY_STRINGS) /* its empty row is written with the others */
            bbf_proto_bytes(&d->dictionary, table, NULL, 0);
    d->n_stacks = 1;
    bbf_strings_init(&d->strings);
    bbf_strings_init(&d->attributes);
}

static void end_tables(struct document *d)
{
    uint32_t frame = attribute(d, "profile.frame.type", "jvm", 3);

    for (uint32_t i = 0; i < d->view->snapshot->n_sites; i++)
        add_site(d, i, frame);
}

static void add_strings(struct document *d)
{
    for (size_t i = 0; i < d->strings.n; i++) {
        size_t len;
        const char *text = bbf_strings_at(&d->strings, i, &len);
        bbf_proto_bytes(&d->dictionary, DICTIONARY_STRINGS, text, len);
    }
}

/* ---- the whole ---- */

static void add_type(struct document *d, struct bbf_buf *to, unsigned field, const char *type,
                     const char *unit)
{
    bbf_proto_number(&d->inner, TYPE_TYPE, string(d, type));
    bbf_proto_number(&d->inner, TYPE_UNIT, string(d, unit));
    bbf_proto_message(to, field, &d->inner);
}

/* The same for the same snapshot, another for each of its profiles. */
static void add_id(struct document *d, int type)
{
    const struct bbf_snapshot *s = d->view->snapshot;
    uint64_t words[PROFILE_ID_BYTES / sizeof(uint64_t)] = {
        (uint64_t)s->captured_at_ms << 2 | (uint64_t)type,
        (uint64_t)s->jvm.pid ^ s->totals.lives_ << 24};

    bbf_proto_bytes(&d->profiles[type], PROFILE_ID, words, sizeof words);
}

static void end_profile(struct document *d, int type)
{
    const struct bbf_snapshot *s = d->view->snapshot;
    struct bbf_buf *to = &d->profiles[type];

    add_type(d, to, PROFILE_SAMPLE_TYPE, bbf_sample_names[type].name, bbf_sample_names[type].unit);
    const uint64_t duration = bbf_sample_duration_ns(s, d->options->since_ms);
    if (s->captured_at_ms > 0 && s->captured_at_ms < INT64_MAX / 1000000) /* when it began */
        bbf_proto_fixed64(to, PROFILE_TIME, (uint64_t)s->captured_at_ms * 1000000 - duration);
    bbf_proto_number(to, PROFILE_DURATION, duration);
    add_type(d, to, PROFILE_PERIOD_TYPE, "buffers", "count");
    bbf_proto_number(to, PROFILE_PERIOD, (uint64_t)bbf_sample_signed(bbf_sample_period(s)));
    add_id(d, type);
}

static void add_resource_attribute(struct document *d, const char *key, const char *text,
                                   int64_t number)
{
    if (text != NULL)
        bbf_proto_bytes(&d->value, ANY_STRING, text, strlen(text));
    else
        bbf_proto_number(&d->value, ANY_INT, (uint64_t)number);
    bbf_proto_bytes(&d->inner, KEY_VALUE_KEY, key, strlen(key));
    bbf_proto_message(&d->inner, KEY_VALUE_VALUE, &d->value);
    bbf_proto_message(&d->part, RESOURCE_ATTRIBUTES, &d->inner);
}

static bool has_label(const struct document *d, const char *name)
{
    for (size_t i = 0; i < d->options->n_labels; i++)
        if (strcmp(d->options->labels[i].name, name) == 0)
            return true;
    return false;
}

/* The ResourceProfiles message to `to`. */
static void add_resource(struct document *d, struct bbf_buf *to)
{
    const struct bbf_snapshot *s = d->view->snapshot;
    struct bbf_buf name = BBF_BUF_INIT, scope = BBF_BUF_INIT;

    bbf_text_safe(&name, s->jvm.main[0] != '\0' ? s->jvm.main : "unknown_service:java", '\0');
    if (!has_label(d, "service.name"))
        add_resource_attribute(d, "service.name", bbf_buf_cstr(&name), 0);
    if (!has_label(d, "process.pid"))
        add_resource_attribute(d, "process.pid", NULL, s->jvm.pid);
    for (size_t i = 0; i < d->options->n_labels; i++)
        add_resource_attribute(d, d->options->labels[i].name, d->options->labels[i].value, 0);
    bbf_proto_message(to, RESOURCE_PROFILES_RESOURCE, &d->part);
    bbf_proto_bytes(&d->inner, SCOPE_NAME, "bbflow", strlen("bbflow"));
    bbf_proto_bytes(&d->inner, SCOPE_VERSION, BBF_VERSION, strlen(BBF_VERSION));
    bbf_proto_message(&scope, SCOPE_PROFILES_SCOPE, &d->inner);
    for (int i = 0; i < BBF_SAMPLE_COUNT; i++) {
        end_profile(d, i);
        bbf_proto_message(&scope, SCOPE_PROFILES_PROFILES, &d->profiles[i]);
    }
    bbf_proto_message(to, RESOURCE_PROFILES_SCOPE_PROFILES, &scope);
    d->part.failed = d->part.failed || name.failed;
    bbf_buf_free(&scope);
    bbf_buf_free(&name);
}

static int add_document(struct bbf_buf *out, struct document *d)
{
    struct bbf_buf resource = BBF_BUF_INIT;

    begin_tables(d);
    int err = bbf_samples_each(d->view, add_sample, d);
    end_tables(d);
    add_resource(d, &resource);
    add_strings(d);
    bbf_proto_message(out, DATA_RESOURCE_PROFILES, &resource);
    bbf_proto_message(out, DATA_DICTIONARY, &d->dictionary);
    bbf_buf_free(&resource);
    bool failed = d->part.failed || d->inner.failed || d->value.failed || d->strings.failed ||
                  d->attributes.failed;
    return err == BBF_OK && failed ? BBF_ENOMEM : err;
}

int bbf_render_otlp(struct bbf_buf *out, struct bbf_view *view,
                    const struct bbf_render_options *options)
{
    struct document *d = calloc(1, sizeof *d);
    int err = d != NULL ? bbf_view_add_names(view, '\0') : BBF_ENOMEM;

    if (d == NULL)
        return err;
    d->view = view;
    d->options = options;
    d->stacks = calloc(view->snapshot->n_nodes + 1, sizeof *d->stacks);
    if (err == BBF_OK)
        err = d->stacks != NULL ? add_document(out, d) : BBF_ENOMEM;
    for (int i = 0; i < BBF_SAMPLE_COUNT; i++)
        bbf_buf_free(&d->profiles[i]);
    bbf_strings_free(&d->attributes);
    bbf_strings_free(&d->strings);
    bbf_buf_free(&d->value);
    bbf_buf_free(&d->inner);
    bbf_buf_free(&d->part);
    bbf_buf_free(&d->dictionary);
    free(d->stacks);
    free(d);
    return err;
}
