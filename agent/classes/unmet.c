/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/unmet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/frames.h"
#include "agent/jvm/memory.h"
#include "agent/jvm/names.h"
#include "instrument/netty.h"
#include "agent/state.h"
#include "core/err.h"
#include "core/nearest.h"
#include "core/track.h"
#include "render/text.h"

enum { NAME = 256, TYPES = 128, SHOWN = 3, MAX_SUPER = 64, MAX_DEPTH = 16 };

static void add_dotted(struct bbf_buf *out, const char *name, size_t len)
{
    char text[NAME];
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    for (char *p = text; *p != '\0'; p++)
        *p = *p == '/' ? '.' : *p;
    bbf_text_safe(out, text, '\0');
}

/* ---- include= ---- */

/* A type that classes of include= name in a method's parameters or result, or in a field. */
struct type {
    char name[NAME];
    unsigned times;
    bool holds; /* it, or a class that implements it, has a field for a buffer */
};

struct wrappers {
    const struct bbf_rules *rules;
    size_t classes; /* that match */
    bool objects;   /* one of their methods takes an Object */
    struct type types[TYPES];
    size_t n;
};

static bool is_jdk(const char *name)
{
    static const char *const jdk[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
    for (size_t i = 0; i < sizeof jdk / sizeof *jdk; i++)
        if (strncmp(name, jdk[i], strlen(jdk[i])) == 0)
            return true;
    return false;
}

static void note_type(struct wrappers *w, const char *name, size_t len)
{
    char text[NAME];
    if (len >= NAME)
        return;
    memcpy(text, name, len);
    text[len] = '\0';
    w->objects = w->objects || strcmp(text, "java/lang/Object") == 0;
    if (is_jdk(text) || bbf_plan_is_followed(text, len, w->rules))
        return;
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->types[i].name, text) == 0) {
            w->types[i].times++;
            return;
        }
    if (w->n == TYPES)
        return;
    struct type *type = &w->types[w->n++];
    memcpy(type->name, text, len + 1);
    type->times = 1;
    type->holds = false;
}

/* Every class that a descriptor names. */
static void note_descriptor(struct wrappers *w, const char *descriptor)
{
    for (const char *p = descriptor; (p = strchr(p, 'L')) != NULL;) {
        const char *end = strchr(p, ';');
        if (end == NULL)
            return;
        note_type(w, p + 1, (size_t)(end - p - 1));
        p = end;
    }
}

/* `visit` for the descriptor of each field of the class. */
static void each_field(jclass class, void *ctx, void (*visit)(void *ctx, const char *descriptor))
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jfieldID *fields = NULL;
    jint n = 0;
    if ((*jvmti)->GetClassFields(jvmti, class, &n, &fields) != 0)
        return; /* loaded, not linked */
    for (jint i = 0; i < n; i++) {
        char *descriptor = NULL;
        if ((*jvmti)->GetFieldName(jvmti, class, fields[i], NULL, &descriptor, NULL) != 0)
            continue;
        visit(ctx, descriptor);
        bbf_jvm_free(descriptor);
    }
    bbf_jvm_free(fields);
}

static void visit_field(void *ctx, const char *descriptor)
{
    note_descriptor(ctx, descriptor);
}

static void look_for_types(JNIEnv *env, void *ctx, jclass class, const char *name)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    struct wrappers *w = ctx;
    jmethodID *methods = NULL;
    jint n = 0;
    (void)env;
    if (strlen(name) >= NAME || !bbf_plan_is_followed(name, strlen(name), w->rules))
        return;
    w->classes++;
    each_field(class, w, visit_field);
    if (bbf_frames_of_class(class, &n, &methods) != 0)
        return;
    for (jint i = 0; i < n; i++) {
        char *descriptor = NULL;
        if ((*jvmti)->GetMethodName(jvmti, methods[i], NULL, &descriptor, NULL) != 0)
            continue;
        note_descriptor(w, descriptor);
        bbf_jvm_free(descriptor);
    }
    bbf_jvm_free(methods);
}

static void visit_holder(void *ctx, const char *descriptor)
{
    bool *found = ctx;
    size_t len = strlen(descriptor);
    enum bbf_type type =
        descriptor[0] == 'L' && len > 2 ? bbf_netty_type(descriptor + 1, len - 2) : BBF_TYPE_NONE;
    *found = *found || (type != BBF_TYPE_NONE && type != BBF_TYPE_MESSAGE);
}

static void mark(struct wrappers *w, jclass class)
{
    char *name = bbf_names_of(class);
    for (size_t i = 0; name != NULL && i < w->n; i++)
        w->types[i].holds = w->types[i].holds || strcmp(w->types[i].name, name) == 0;
    bbf_jvm_free(name);
}

/* A class with a field for a buffer: it, its super classes and their interfaces hold one. */
static void look_for_holders(JNIEnv *env, void *ctx, jclass class, const char *name)
{
    struct wrappers *w = ctx;
    bool holds = false;
    if (strlen(name) >= NAME || is_jdk(name) || bbf_netty_prefix(name, strlen(name)))
        return;
    each_field(class, &holds, visit_holder);
    for (int depth = 0; holds && class != NULL && depth < MAX_SUPER; depth++) {
        jclass *interfaces = NULL;
        jint n = 0;
        mark(w, class);
        if ((*bbf_agent.code)->GetImplementedInterfaces(bbf_agent.code, class, &n, &interfaces) ==
            0) {
            for (jint i = 0; i < n; i++)
                mark(w, interfaces[i]);
            bbf_jvm_free(interfaces);
        }
        class = (*env)->GetSuperclass(env, class);
    }
}

/* Types that are known to hold a buffer first, then the types named most often. */
static int compare_types(const void *a, const void *b)
{
    const struct type *x = a, *y = b;
    if (x->holds != y->holds)
        return x->holds ? -1 : 1;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void say_wrappers(const struct wrappers *w, struct bbf_buf *note)
{
    const char *slash = w->n > 0 ? strrchr(w->types[0].name, '/') : NULL;

    bbf_buf_printf(note,
                   "include= matches %zu loaded %s, but none of %s methods takes or returns a "
                   "ByteBuf or what bbflow knows to hold one",
                   w->classes, w->classes == 1 ? "class" : "classes",
                   w->classes == 1 ? "its" : "their");
    if (w->n > 0)
        bbf_buf_str(note, w->types[0].holds
                              ? "; a buffer may come to it inside of "
                              : "; a buffer may come to it inside of one of its types, as ");
    for (size_t i = 0; i < w->n && i < SHOWN && w->types[i].holds == w->types[0].holds; i++) {
        bbf_buf_str(note, i > 0 ? ", " : "");
        add_dotted(note, w->types[i].name, strlen(w->types[i].name));
    }
    if (w->n > 0 && w->types[0].holds && !bbf_options_carriers_again(&w->rules->options))
        bbf_buf_str(note, "; carriers=on at the start follows buffers into it");
    if (slash != NULL) {
        bbf_buf_str(note, "; add the package that puts it there and takes it out, as include=");
        add_dotted(note, w->types[0].name, (size_t)(slash - w->types[0].name));
    }
    bbf_buf_str(note, w->objects ? "; some take an Object: objects=on looks for buffers there"
                                 : "; where buffers come as an Object, objects=on looks for them");
}

bool bbf_unmet_include(JNIEnv *env, const struct bbf_rules *rules, struct bbf_buf *note)
{
    struct wrappers *w = calloc(1, sizeof *w);
    if (w == NULL || rules->options.include == NULL) {
        free(w);
        return false;
    }
    w->rules = rules;
    bbf_names_each_class(env, w, look_for_types);
    bool any = w->classes > 0;
    if (any) {
        bbf_names_each_class(env, w, look_for_holders);
        qsort(w->types, w->n, sizeof *w->types, compare_types);
        note->len = 0;
        say_wrappers(w, note);
    }
    free(w);
    return any;
}

/* ---- track= ---- */

/* One entry of the list, and the loaded classes and methods beside it. */
struct entry {
    char class_name[NAME], method[NAME]; /* dotted; the closing one */
    bool loaded, closes;
    char near_class[NAME], near_method[NAME];
    size_t class_edits, method_edits;
};

struct entries {
    struct entry at[BBF_MAX_TRACKS];
    size_t n;
    bool nearest; /* the second pass: only what is near to those that are not loaded */
};

static void read_entries(struct entries *e, const char *list)
{
    for (const char *p = list; *p != '\0' && e->n < BBF_MAX_TRACKS;) {
        size_t len = strcspn(p, "+"), name = strcspn(p, ":");
        struct entry *entry = &e->at[e->n++];
        if (name < len) {
            snprintf(entry->class_name, NAME, "%.*s", (int)name, p);
            snprintf(entry->method, NAME, "%.*s", (int)(len - name - 1), p + name + 1);
        }
        entry->class_edits = entry->method_edits = SIZE_MAX;
        p += len + (p[len] == '+');
    }
}

static void keep_nearer(char near[NAME], size_t *edits, const char *name, const char *wanted)
{
    size_t len = strlen(name), want = strlen(wanted), most = want / 3 + 1;
    if ((len > want ? len - want : want - len) > most)
        return; /* each surplus letter is an edit */
    size_t d = bbf_edit_distance(name, len, wanted, want);
    if (d < *edits && d <= most) {
        *edits = d;
        snprintf(near, NAME, "%s", name);
    }
}

static void look_at_methods(struct entry *entry, jclass class)
{
    jvmtiEnv *jvmti = bbf_agent.code;
    jmethodID *methods = NULL;
    jint n = 0;
    if (bbf_frames_of_class(class, &n, &methods) != 0) {
        entry->closes = true; /* loaded, not linked: perhaps */
        return;
    }
    for (jint i = 0; i < n; i++) {
        char *name = NULL;
        if ((*jvmti)->GetMethodName(jvmti, methods[i], &name, NULL, NULL) != 0)
            continue;
        entry->closes = entry->closes || strcmp(name, entry->method) == 0;
        keep_nearer(entry->near_method, &entry->method_edits, name, entry->method);
        bbf_jvm_free(name);
    }
    bbf_jvm_free(methods);
}

/* A default method may be the one that closes. */
static void look_at_interfaces(struct entry *entry, jclass class, int depth)
{
    jclass *interfaces = NULL;
    jint n = 0;
    if (depth > MAX_DEPTH ||
        (*bbf_agent.code)->GetImplementedInterfaces(bbf_agent.code, class, &n, &interfaces) != 0)
        return;
    for (jint i = 0; i < n && !entry->closes; i++) {
        look_at_methods(entry, interfaces[i]);
        look_at_interfaces(entry, interfaces[i], depth + 1);
    }
    bbf_jvm_free(interfaces);
}

static void look_for_entries(JNIEnv *env, void *ctx, jclass class, const char *internal)
{
    struct entries *entries = ctx;
    char name[NAME];
    if (strlen(internal) >= NAME || is_jdk(internal))
        return;
    memcpy(name, internal, strlen(internal) + 1);
    for (char *p = name; *p != '\0'; p++)
        *p = *p == '/' ? '.' : *p;
    for (size_t i = 0; i < entries->n; i++) {
        struct entry *entry = &entries->at[i];
        if (entries->nearest && !entry->loaded)
            keep_nearer(entry->near_class, &entry->class_edits, name, entry->class_name);
        if (entries->nearest || strcmp(name, entry->class_name) != 0)
            continue;
        entry->loaded = true;
        for (jclass at = class; at != NULL && !entry->closes; at = (*env)->GetSuperclass(env, at)) {
            look_at_methods(entry, at);
            look_at_interfaces(entry, at, 0);
        }
    }
}

static void say_entry(const struct entry *entry, struct bbf_buf *note)
{
    bbf_buf_str(note, "track=");
    bbf_text_safe(note, entry->class_name, '\0');
    bbf_buf_char(note, ':');
    bbf_text_safe(note, entry->method, '\0');
    if (!entry->loaded) {
        bbf_buf_str(note, " matches no loaded class so far: no object is followed for it");
    } else {
        bbf_buf_str(note, ": ");
        bbf_text_safe(note, entry->class_name, '\0');
        bbf_buf_str(note, " has no method ");
        bbf_text_safe(note, entry->method, '\0');
        bbf_buf_str(note, ", so its objects are not followed");
    }
    const char *near = entry->loaded ? entry->near_method : entry->near_class;
    if (near[0] != '\0') {
        bbf_buf_str(note, entry->loaded ? "; nearest: " : "; nearest loaded class: ");
        bbf_text_safe(note, near, '\0');
    }
}

int bbf_unmet_tracks(JNIEnv *env, const struct bbf_rules *rules, struct bbf_snapshot *s)
{
    static char *met; /* the list whose entries all have their class and method */
    struct entries *entries;
    bool loaded = true, all = true;
    int err = BBF_OK;
    if (rules->options.track == NULL || (met != NULL && strcmp(met, rules->options.track) == 0))
        return BBF_OK;
    entries = calloc(1, sizeof *entries);
    if (entries == NULL)
        return BBF_ENOMEM;
    read_entries(entries, rules->options.track);
    bbf_names_each_class(env, entries, look_for_entries);
    for (size_t i = 0; i < entries->n; i++) {
        loaded = loaded && entries->at[i].loaded;
        all = all && entries->at[i].loaded && entries->at[i].closes;
    }
    entries->nearest = true;
    if (!loaded)
        bbf_names_each_class(env, entries, look_for_entries);
    if (all) {
        free(met);
        met = strdup(rules->options.track);
    }
    for (size_t i = 0; i < entries->n && err == BBF_OK; i++) {
        struct bbf_buf note = BBF_BUF_INIT;
        if (entries->at[i].loaded && entries->at[i].closes)
            continue;
        say_entry(&entries->at[i], &note);
        err = bbf_snapshot_add_text(&s->notes, &s->n_notes, bbf_buf_cstr(&note));
        bbf_buf_free(&note);
    }
    free(entries);
    return err;
}
