/* SPDX-License-Identifier: Apache-2.0 */
#include "client/redact.h"

#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "core/facts.h"
#include "render/names.h"

struct work {
    struct bbf_tokens *tokens;
    struct bbf_buf out; /* one text */
    bool failed;
};

static bool begins(const char *text, size_t len, const char *with)
{
    size_t n = strlen(with);
    return len >= n && memcmp(text, with, n) == 0;
}

static bool in_list(const char *text, size_t len, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i]) == len && memcmp(list[i], text, len) == 0)
            return true;
    return false;
}
#define IN(text, len, list) in_list(text, len, list, sizeof(list) / sizeof *(list))

/* Dotted or with slashes: how much at the end is a name of Netty's ("io.netty.buffer.ByteBuf" of
 * "com.corp.io.netty.buffer.ByteBuf"), all of it for the JDK; 0: neither. */
static size_t known_tail(const char *name, size_t len)
{
    static const char *const jdk[] = {"java.", "javax.", "jdk.", "sun.", "com.sun.",
                                      "java/", "javax/", "jdk/", "sun/", "com/sun/"};
    static const char *const packages[] = {"buffer", "channel",   "handler",
                                           "util",   "bootstrap", "resolver"};
    for (size_t i = 0; i < sizeof jdk / sizeof *jdk; i++)
        if (begins(name, len, jdk[i]))
            return len;
    for (size_t at = 0; at + 9 < len; at++) {
        bool first = at == 0 || name[at - 1] == '.' || name[at - 1] == '/';
        if (!first || (!begins(name + at, len - at, "io.netty.") &&
                       !begins(name + at, len - at, "io/netty/")))
            continue;
        for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
            if (begins(name + at + 9, len - at - 9, packages[i]))
                return len - at;
    }
    return len >= 8 && (memcmp(name + len - 8, "io.netty", 8) == 0) ? 8 : 0;
}

static void keep(struct work *w, const char *text, size_t len)
{
    bbf_buf_add(&w->out, text, len);
}

static bool is_number(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (s[i] < '0' || s[i] > '9')
            return false;
    return true;
}

/* A part of a name, without separators. */
static void part(struct work *w, const char *s, size_t len)
{
    static const char *const made[] = {"lambda", "anonfun", "adapted", "anon",         "static",
                                       "new",    "null",    "Lambda",  "invokeSuspend"};
    if (len == 0 || is_number(s, len) || IN(s, len, made)) {
        keep(w, s, len);
        return;
    }
    const char *token = bbf_tokens_of(w->tokens, s, len);
    if (token == NULL)
        w->failed = true;
    else
        keep(w, token, BBF_TOKEN);
}

/* All parts of a name that is the application's. */
static void parts(struct work *w, const char *s, size_t len)
{
    size_t from = 0;
    for (size_t i = 0; i <= len; i++)
        if (i == len || strchr("./$-<>;:[]()+,* =?", s[i]) != NULL) {
            part(w, s + from, i - from);
            if (i < len)
                keep(w, s + i, 1);
            from = i + 1;
        }
}

/* A class, or class and method. */
static void name_of(struct work *w, const char *s, size_t len)
{
    size_t tail = known_tail(s, len);
    parts(w, s, len - tail);
    keep(w, s + len - tail, tail);
}

/* A method of a class that is not known: without what bbflow appends. */
static void method_of(struct work *w, const char *s)
{
    static const char *const whole[] = {"<init>", "<clinit>", "<init>_return", "<clinit>_return"};
    static const char *const suffixes[] = {"_return", "_retain", "_release"};
    size_t len = strlen(s), end = len;
    if (s[0] == '?' || IN(s, len, whole)) {
        keep(w, s, len);
        return;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);
        if (end == len && len > n && memcmp(s + len - n, suffixes[i], n) == 0)
            end = len - n;
    }
    parts(w, s, end);
    keep(w, s + end, len - end);
}

/* "(Lcom/app/A;I)V" */
static void descriptor_of(struct work *w, const char *s)
{
    while (*s != '\0') {
        const char *semicolon = *s == 'L' ? strchr(s, ';') : NULL;
        keep(w, s, 1);
        if (semicolon != NULL) {
            name_of(w, s + 1, (size_t)(semicolon - s - 1));
            s = semicolon;
        } else {
            s++;
        }
    }
}

/* A word of a sentence. */
static void word(struct work *w, const char *s, size_t len)
{
    static const char *const ours[] = {"ByteBuf", "bbflow", "JVM", "Netty", "GC"};
    bool odd = false;
    if (known_tail(s, len) == len || IN(s, len, ours)) {
        keep(w, s, len);
        return;
    }
    for (size_t i = 0; i + 1 < len && !odd; i++)
        odd = strchr("./$_", s[i]) != NULL || (i > 0 && s[i] >= 'A' && s[i] <= 'Z');
    if ((odd && (s[0] < '0' || s[0] > '9')) || bbf_tokens_find(w->tokens, s, len) != NULL)
        name_of(w, s, len);
    else
        keep(w, s, len);
}

static void sentence(struct work *w, const char *s)
{
    static const char between[] = " ,;:'\"()=+*\t\n";
    while (*s != '\0') {
        size_t len = strcspn(s, between);
        size_t dots = 0; /* a full stop is not part of the word */
        while (dots < len && s[len - 1 - dots] == '.')
            dots++;
        word(w, s, len - dots);
        s += len - dots;
        len = strspn(s, between) > 0 ? strspn(s, between) : dots;
        keep(w, s, len);
        s += len;
    }
}

/* ---- a snapshot ---- */

static char *taken(struct work *w, char *old)
{
    char *text = strdup(bbf_buf_cstr(&w->out));
    w->failed = w->failed || w->out.failed || text == NULL;
    w->out.len = 0;
    free(old);
    return text;
}

static void redact_name(struct work *w, char **name)
{
    if (*name == NULL)
        return;
    name_of(w, *name, strlen(*name));
    *name = taken(w, *name);
}

/* The method of a class that is known stays; the class decides, so it goes last. */
static void redact_throw(struct work *w, struct bbf_snap_throw *one)
{
    size_t len = strlen(one->class_name);

    if ((len == 0 || known_tail(one->class_name, len) == 0) &&
        strcmp(one->method, BBF_FACT_THROW) != 0) {
        method_of(w, one->method);
        one->method = taken(w, one->method);
    }
    redact_name(w, &one->class_name);
}

static void redact_site(struct work *w, struct bbf_snap_site *site)
{
    size_t len = strlen(site->class_name);
    bool known = len > 0 && known_tail(site->class_name, len) > 0;
    if (known)
        keep(w, site->method, strlen(site->method));
    else
        method_of(w, site->method);
    site->method = taken(w, site->method);
    redact_name(w, &site->class_name);
    descriptor_of(w, site->descriptor);
    site->descriptor = taken(w, site->descriptor);
    redact_name(w, &site->enclosing);
    for (uint32_t i = 0; i < site->n_throws && !w->failed; i++)
        redact_throw(w, &site->throws[i]);
}

static void redact_whole(struct work *w, char **text)
{
    if (strcmp(*text, "main") != 0 && **text != '\0') {
        const char *token = bbf_tokens_of(w->tokens, *text, strlen(*text));
        w->failed = w->failed || token == NULL;
        keep(w, token != NULL ? token : "", token != NULL ? BBF_TOKEN : 0);
        *text = taken(w, *text);
    }
}

/* What Netty or bbflow calls so for each channel, or without knowing, says nothing of anyone. */
static void redact_private(struct work *w, char **text)
{
    static const char *const ours[] = {"embedded", "?", ""};
    if (*text != NULL && !IN(*text, strlen(*text), ours))
        redact_whole(w, text);
}

static void redact_context(struct work *w, struct bbf_snap_context *context)
{
    redact_private(w, &context->channel);
    redact_private(w, &context->address);
    if (context->hint_is == BBF_HINT_CLASS)
        redact_name(w, &context->hint);
    else
        redact_private(w, &context->hint);
    redact_name(w, &context->thrown);
    redact_name(w, &context->caught_in);
}

static void redact_sentences(struct work *w, char **texts, size_t n)
{
    for (size_t i = 0; i < n && !w->failed; i++) {
        sentence(w, texts[i]);
        texts[i] = taken(w, texts[i]);
    }
}

/* "read_return", "?first-seen a.B", "a.B.read": full names, as rows of uses after release have. */
static void redact_names(struct work *w, char **names, size_t n)
{
    for (size_t i = 0; i < n && !w->failed; i++) {
        char *space = names[i][0] == '?' ? strchr(names[i], ' ') : NULL;
        if (names[i][0] == '?' && space == NULL)
            continue;
        const char *name = space != NULL ? space + 1 : names[i];
        keep(w, names[i], (size_t)(name - names[i]));
        name_of(w, name, strlen(name));
        names[i] = taken(w, names[i]);
    }
}

static void redact_setting(struct work *w, struct bbf_snap_pair *pair)
{
    static const char *const words[] = {"on",   "off",   "true", "false", "yes",   "no",
                                        "exit", "debug", "info", "warn",  "error", "auto"};
    size_t len = strlen(pair->value);
    if (len == 0 || (pair->value[0] >= '0' && pair->value[0] <= '9') || IN(pair->value, len, words))
        return;
    name_of(w, pair->value, len);
    pair->value = taken(w, pair->value);
}

/* The order of the names before they go, so that the report keeps it. */
static int set_order(struct bbf_snapshot *s)
{
    struct bbf_names names;
    int err = bbf_names_init(&names, s, '\0', false);
    if (err != BBF_OK)
        return err;
    for (size_t i = 0; i < s->n_sites; i++)
        s->sites[i].order = names.names[i].rank + 1;
    bbf_names_free(&names);
    return BBF_OK;
}

int bbf_redact(struct bbf_snapshot *s, struct bbf_tokens *tokens)
{
    struct work w = {.tokens = tokens, .out = BBF_BUF_INIT};
    if (set_order(s) != BBF_OK)
        return BBF_ENOMEM;
    for (size_t i = 0; i < s->n_sites && !w.failed; i++)
        redact_site(&w, &s->sites[i]);
    for (size_t i = 0; i < s->n_threads && !w.failed; i++)
        redact_whole(&w, &s->threads[i].name);
    if (!w.failed)
        redact_name(&w, &s->jvm.main);
    for (size_t i = 0; i < s->n_settings && !w.failed; i++)
        redact_setting(&w, &s->settings[i]);
    for (size_t i = 0; i < s->n_contexts && !w.failed; i++)
        redact_context(&w, &s->contexts[i]);
    for (size_t i = 0; i < s->n_misuses && !w.failed; i++) {
        redact_names(&w, s->misuses[i].path, s->misuses[i].n_path);
        redact_names(&w, s->misuses[i].used_by, s->misuses[i].n_used_by);
    }
    redact_sentences(&w, s->jvm.netty, s->jvm.n_netty);
    redact_sentences(&w, s->jvm.map_mode, s->jvm.n_map_mode);
    redact_sentences(&w, s->notes, s->n_notes);
    redact_sentences(&w, s->reconciled.causes, s->reconciled.n_causes);
    bbf_buf_free(&w.out);
    return w.failed ? BBF_ENOMEM : BBF_OK;
}
