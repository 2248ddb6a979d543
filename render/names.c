/* SPDX-License-Identifier: Apache-2.0 */
#include "render/names.h"

#include "core/err.h"
#include "render/text.h"

#include <stdlib.h>
#include <string.h>

enum parameters { PARAMETERS_NONE, PARAMETERS_SIMPLE, PARAMETERS_RAW };

/* Scratch for one site while the names are made. */
struct draft {
    const struct bbf_snap_site *site;
    const char *simple; /* within class_name: after the last '.' */
    const char *shown;  /* within class_name: what is shown */
    enum parameters parameters;
    uint32_t index;
    size_t offset; /* into texts */
    size_t len;
    const char *text; /* once texts no longer moves */
};

static const char *simple_of(const char *class_name)
{
    const char *dot = strrchr(class_name, '.');
    return dot != NULL ? dot + 1 : class_name;
}

/* One package more in front of `shown`, at most the whole name. */
static const char *widen(const char *class_name, const char *shown)
{
    if (shown == class_name)
        return shown;
    const char *p = shown - 1; /* the '.' */
    while (p > class_name && p[-1] != '.')
        p--;
    return p;
}

static void write_class_and_method(struct bbf_buf *out, const char *class_name, const char *method,
                                   char separator)
{
    /* "?first-seen Class": the method's place is taken by what bbflow says of it. */
    if (method[0] == '?' || class_name[0] == '\0') {
        bbf_text_safe(out, method, separator);
        if (class_name[0] != '\0') {
            bbf_buf_char(out, ' ');
            bbf_text_safe(out, class_name, separator);
        }
        return;
    }
    bbf_text_safe(out, class_name, separator);
    bbf_buf_char(out, '.');
    bbf_text_safe(out, method, separator);
}

void bbf_site_full_name(struct bbf_buf *out, const struct bbf_snap_site *site)
{
    if (site->method[0] == '?') {
        bbf_buf_str(out, site->method);
        if (site->class_name[0] != '\0')
            bbf_buf_char(out, ' ');
        bbf_buf_str(out, site->class_name);
        return;
    }
    bbf_buf_str(out, site->class_name);
    if (site->class_name[0] != '\0')
        bbf_buf_char(out, '.');
    bbf_buf_str(out, site->method);
}

static const char *primitive_name(char c)
{
    static const char *const names[] = {"Bbyte", "Cchar", "Ddouble", "Ffloat",
                                        "Iint",  "Jlong", "Sshort",  "Zboolean"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i][0] == c)
            return names[i] + 1;
    return NULL;
}

/* One field type of a descriptor (JVMS 4.3.2) at p, or NULL if there is none. */
static const char *write_type(struct bbf_buf *out, const char *p, char separator)
{
    size_t arrays = 0;

    while (*p == '[') {
        arrays++;
        p++;
    }
    if (*p == 'L') {
        const char *semicolon = strchr(p, ';');
        if (semicolon == NULL)
            return NULL;
        char *name = strndup(p + 1, (size_t)(semicolon - p - 1));
        if (name == NULL) {
            out->failed = true;
            return NULL;
        }
        const char *slash = strrchr(name, '/');
        bbf_text_safe(out, slash != NULL ? slash + 1 : name, separator);
        free(name);
        p = semicolon + 1;
    } else {
        const char *name = primitive_name(*p);
        if (name == NULL)
            return NULL;
        bbf_buf_str(out, name);
        p++;
    }
    while (arrays-- > 0)
        bbf_buf_str(out, "[]");
    return p;
}

/* "(Lio/netty/buffer/ByteBuf;I)V" -> "(ByteBuf, int)"; false and nothing written if it is not such
 * a descriptor. */
static bool write_parameters(struct bbf_buf *out, const char *descriptor, char separator)
{
    size_t before = out->len;
    const char *p = descriptor;

    if (*p != '(')
        return false;
    bbf_buf_char(out, *p++);
    while (*p != ')') {
        if (p != descriptor + 1)
            bbf_buf_str(out, ", ");
        p = write_type(out, p, separator);
        if (p == NULL) {
            out->len = before;
            return false;
        }
    }
    bbf_buf_char(out, ')');
    return true;
}

static void write_name(struct bbf_buf *out, struct draft *draft, char separator)
{
    draft->offset = out->len;
    write_class_and_method(out, draft->shown, draft->site->method, separator);
    if (draft->parameters == PARAMETERS_RAW ||
        (draft->parameters == PARAMETERS_SIMPLE &&
         !write_parameters(out, draft->site->descriptor, separator)))
        bbf_text_safe(out, draft->site->descriptor, separator);
    draft->len = out->len - draft->offset;
}

static int by_simple_name(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    int order = strcmp(x->simple, y->simple);
    return order != 0 ? order : strcmp(x->site->class_name, y->site->class_name);
}

static int by_shown_name(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    int order = strcmp(x->shown, y->shown);
    return order != 0 ? order : strcmp(x->site->class_name, y->site->class_name);
}

static int by_method(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    int order = strcmp(x->site->class_name, y->site->class_name);
    if (order == 0)
        order = strcmp(x->site->method, y->site->method);
    if (order == 0)
        order = strcmp(x->site->descriptor, y->site->descriptor);
    return order;
}

static int by_text(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    size_t len = x->len < y->len ? x->len : y->len;
    int order = len > 0 ? memcmp(x->text, y->text, len) : 0;
    if (order == 0)
        order = (x->len > y->len) - (x->len < y->len);
    if (order == 0)
        order = by_method(a, b);
    if (order == 0)
        order = (x->site->id > y->site->id) - (x->site->id < y->site->id);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* A run of drafts with one simple name: widen all until each class has its own. */
static void qualify_run(struct draft *run, size_t count)
{
    if (strcmp(run[0].site->class_name, run[count - 1].site->class_name) == 0)
        return;
    for (;;) {
        bool same = false, wider = false;
        for (size_t i = 0; i < count; i++) {
            const char *next = widen(run[i].site->class_name, run[i].shown);
            wider = wider || next != run[i].shown;
            run[i].shown = next;
        }
        qsort(run, count, sizeof *run, by_shown_name);
        for (size_t i = 1; i < count && !same; i++)
            same = strcmp(run[i].shown, run[i - 1].shown) == 0 &&
                   strcmp(run[i].site->class_name, run[i - 1].site->class_name) != 0;
        if (!same || !wider)
            return;
    }
}

static void qualify_classes(struct draft *drafts, size_t count)
{
    qsort(drafts, count, sizeof *drafts, by_simple_name);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && strcmp(drafts[i].simple, drafts[end].simple) == 0; end++)
            ;
        qualify_run(&drafts[i], end - i);
    }
}

/* Neighbours that differ by nothing but the descriptor are shown with it. */
static void qualify_overloads(struct draft *drafts, size_t count)
{
    qsort(drafts, count, sizeof *drafts, by_method);
    for (size_t i = 1; i < count; i++) {
        const struct bbf_snap_site *x = drafts[i - 1].site, *y = drafts[i].site;
        if (strcmp(x->class_name, y->class_name) == 0 && strcmp(x->method, y->method) == 0 &&
            strcmp(x->descriptor, y->descriptor) != 0)
            drafts[i - 1].parameters = drafts[i].parameters = PARAMETERS_SIMPLE;
    }
}

static void write_names(struct bbf_names *names, struct draft *drafts, size_t count, char separator)
{
    names->texts.len = 0;
    for (size_t i = 0; i < count; i++)
        write_name(&names->texts, &drafts[i], separator);
    for (size_t i = 0; i < count; i++)
        drafts[i].text = bbf_buf_cstr(&names->texts) + drafts[i].offset;
}

/* Parameters that read the same though the descriptors differ (types of one simple name, or only
 * the result): those get the whole descriptor. True if there were any. */
static bool find_equal_overloads(struct draft *drafts, size_t count)
{
    bool found = false;
    for (size_t i = 1; i < count; i++) {
        struct draft *x = &drafts[i - 1], *y = &drafts[i];
        if (x->len == y->len && memcmp(x->text, y->text, x->len) == 0 &&
            strcmp(x->site->descriptor, y->site->descriptor) != 0) {
            x->parameters = y->parameters = PARAMETERS_RAW;
            found = true;
        }
    }
    return found;
}

int bbf_names_init(struct bbf_names *names, const struct bbf_snapshot *snapshot, char separator)
{
    size_t count = snapshot->n_sites;

    *names = (struct bbf_names){NULL, BBF_BUF_INIT};
    names->names = calloc(count + 1, sizeof *names->names);
    struct draft *drafts = calloc(count + 1, sizeof *drafts);
    if (names->names == NULL || drafts == NULL)
        goto no_memory;
    for (size_t i = 0; i < count; i++) {
        const struct bbf_snap_site *site = &snapshot->sites[i];
        const char *simple = simple_of(site->class_name);
        drafts[i] =
            (struct draft){.site = site, .simple = simple, .shown = simple, .index = (uint32_t)i};
    }
    qualify_classes(drafts, count);
    qualify_overloads(drafts, count);
    write_names(names, drafts, count, separator);
    if (names->texts.failed)
        goto no_memory;
    qsort(drafts, count, sizeof *drafts, by_text);
    if (find_equal_overloads(drafts, count)) {
        write_names(names, drafts, count, separator);
        if (names->texts.failed)
            goto no_memory;
        qsort(drafts, count, sizeof *drafts, by_text);
    }
    for (size_t i = 0; i < count; i++)
        names->names[drafts[i].index] =
            (struct bbf_name){drafts[i].text, (uint32_t)drafts[i].len, (uint32_t)i};
    free(drafts);
    return 0;

no_memory:
    free(drafts);
    bbf_names_free(names);
    return BBF_ENOMEM;
}

void bbf_names_free(struct bbf_names *names)
{
    free(names->names);
    bbf_buf_free(&names->texts);
    names->names = NULL;
}
