/* SPDX-License-Identifier: Apache-2.0 */
#include "render/names.h"

#include "core/err.h"
#include "render/step_words.h"
#include "render/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum parameters { PARAMETERS_NONE, PARAMETERS_SIMPLE, PARAMETERS_RAW };

/* Scratch for one site while the names are made. */
struct draft {
    const struct bbf_snap_site *site;
    struct bbf_step_words words;
    const char *class_name; /* of `words`, NUL-terminated */
    char *own;              /* class_name's memory where it is not the site's */
    const char *simple;     /* within class_name: after the last '.' */
    const char *shown;      /* within class_name: what is shown */
    enum parameters parameters;
    bool raw; /* another step reads the same: show the name of the class file also */
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

/* Show one more package in front of `shown`, at most the whole name. */
static const char *widen(const char *class_name, const char *shown)
{
    if (shown == class_name)
        return shown;
    const char *p = shown - 1; /* the '.' */
    while (p > class_name && p[-1] != '.')
        p--;
    return p;
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

/* What bbflow says of the step takes the method's place: "?first-seen Class". */
static void write_unknown(struct bbf_buf *out, const struct draft *draft, char separator)
{
    bbf_text_safe(out, draft->site->method, separator);
    if (draft->shown[0] != '\0') {
        bbf_buf_char(out, ' ');
        bbf_text_safe(out, draft->shown, separator);
    }
}

static void write_slice(struct bbf_buf *out, struct bbf_slice text, char separator)
{
    if (text.len > 0)
        bbf_safe_add(out, text.s, text.len, BBF_SAFE_VALUE, separator);
}

static void write_parameters_of(struct bbf_buf *out, const struct draft *draft, char separator)
{
    if (bbf_step_is_made(&draft->words))
        return; /* they are those of the code in it, not of the method */
    if (draft->parameters == PARAMETERS_RAW ||
        (draft->parameters == PARAMETERS_SIMPLE &&
         !write_parameters(out, draft->site->descriptor, separator)))
        bbf_text_safe(out, draft->site->descriptor, separator);
}

static void write_remark(struct bbf_buf *out, const struct draft *draft, char separator)
{
    struct bbf_buf remark = BBF_BUF_INIT, raw = BBF_BUF_INIT;

    if (draft->raw)
        bbf_buf_printf(&raw, "%s.%s%s", simple_of(draft->site->class_name), draft->site->method,
                       draft->words.inner.len > 0 ? draft->site->descriptor : "");
    bbf_step_remark(&remark, &draft->words, draft->site->line,
                    draft->raw ? bbf_buf_cstr(&raw) : NULL);
    bbf_text_safe(out, bbf_buf_cstr(&remark), separator);
    out->failed = out->failed || remark.failed || raw.failed;
    bbf_buf_free(&remark);
    bbf_buf_free(&raw);
}

static void write_name(struct bbf_buf *out, struct draft *draft, const struct bbf_names *names,
                       char separator)
{
    const struct bbf_step_words *words = &draft->words;

    draft->offset = out->len;
    if (draft->site->method[0] == '?' || draft->shown[0] == '\0') {
        write_unknown(out, draft, separator);
    } else {
        bbf_text_safe(out, draft->shown, separator);
        if (words->method.len > 0)
            bbf_buf_char(out, '.');
        write_slice(out, words->method, separator);
        write_slice(out, words->suffix, separator);
        write_parameters_of(out, draft, separator);
        if (bbf_step_is_made(words))
            write_remark(out, draft, separator);
        else if (names->lines && draft->site->line != 0)
            bbf_buf_printf(out, ":%" PRIu32, draft->site->line);
    }
    draft->len = out->len - draft->offset;
}

static int by_simple_name(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    int order = strcmp(x->simple, y->simple);
    return order != 0 ? order : strcmp(x->class_name, y->class_name);
}

static int by_shown_name(const void *a, const void *b)
{
    const struct draft *x = a, *y = b;
    int order = strcmp(x->shown, y->shown);
    return order != 0 ? order : strcmp(x->class_name, y->class_name);
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
    if (x->site->order != y->site->order)
        return x->site->order < y->site->order ? -1 : 1;
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
    if (strcmp(run[0].class_name, run[count - 1].class_name) == 0)
        return;
    for (;;) {
        bool same = false, wider = false;
        for (size_t i = 0; i < count; i++) {
            const char *next = widen(run[i].class_name, run[i].shown);
            wider = wider || next != run[i].shown;
            run[i].shown = next;
        }
        qsort(run, count, sizeof *run, by_shown_name);
        for (size_t i = 1; i < count && !same; i++)
            same = strcmp(run[i].shown, run[i - 1].shown) == 0 &&
                   strcmp(run[i].class_name, run[i - 1].class_name) != 0;
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
        write_name(&names->texts, &drafts[i], names, separator);
    for (size_t i = 0; i < count; i++)
        drafts[i].text = bbf_buf_cstr(&names->texts) + drafts[i].offset;
}

/* Names that read the same: of overloads whose parameters read the same (types of one simple name,
 * or only the result) those get the whole descriptor; lambdas and the like of one line get the name
 * of the class file. True if there were any. */
static bool find_equal_names(struct draft *drafts, size_t count)
{
    bool found = false;
    for (size_t i = 1; i < count; i++) {
        struct draft *x = &drafts[i - 1], *y = &drafts[i];
        if (x->len != y->len || memcmp(x->text, y->text, x->len) != 0)
            continue;
        if (bbf_step_is_made(&x->words) || bbf_step_is_made(&y->words))
            x->raw = y->raw = found = true;
        else if (strcmp(x->site->descriptor, y->site->descriptor) != 0) {
            x->parameters = y->parameters = PARAMETERS_RAW;
            found = true;
        }
    }
    return found;
}

static bool draft_init(struct draft *draft, const struct bbf_snap_site *site, uint32_t index)
{
    *draft = (struct draft){.site = site, .class_name = site->class_name, .index = index};
    bbf_step_words(&draft->words, site->class_name, site->method, site->enclosing);
    if (draft->words.class_name.s != site->class_name ||
        draft->words.class_name.len != strlen(site->class_name)) {
        draft->own = strndup(draft->words.class_name.s, draft->words.class_name.len);
        draft->class_name = draft->own;
    }
    if (draft->class_name == NULL)
        return false;
    draft->simple = draft->shown = simple_of(draft->class_name);
    return true;
}

static void free_drafts(struct draft *drafts, size_t count)
{
    for (size_t i = 0; i < count && drafts != NULL; i++)
        free(drafts[i].own);
    free(drafts);
}

/* Texts, and the drafts in their order. */
static bool name_all(struct bbf_names *names, struct draft *drafts, size_t count, char separator)
{
    qualify_classes(drafts, count);
    qualify_overloads(drafts, count);
    write_names(names, drafts, count, separator);
    if (names->texts.failed)
        return false;
    qsort(drafts, count, sizeof *drafts, by_text);
    if (find_equal_names(drafts, count)) {
        write_names(names, drafts, count, separator);
        if (names->texts.failed)
            return false;
        qsort(drafts, count, sizeof *drafts, by_text);
    }
    return true;
}

int bbf_names_init(struct bbf_names *names, const struct bbf_snapshot *snapshot, char separator,
                   bool lines)
{
    size_t count = snapshot->n_sites;

    *names = (struct bbf_names){.texts = BBF_BUF_INIT, .lines = lines};
    names->names = calloc(count + 1, sizeof *names->names);
    struct draft *drafts = calloc(count + 1, sizeof *drafts);
    bool ok = names->names != NULL && drafts != NULL;
    for (size_t i = 0; i < count && ok; i++)
        ok = draft_init(&drafts[i], &snapshot->sites[i], (uint32_t)i);
    ok = ok && name_all(names, drafts, count, separator);
    for (size_t i = 0; i < count && ok; i++)
        names->names[drafts[i].index] =
            (struct bbf_name){drafts[i].text, (uint32_t)drafts[i].len, (uint32_t)i};
    free_drafts(drafts, count);
    if (ok)
        return 0;
    bbf_names_free(names);
    return BBF_ENOMEM;
}

void bbf_names_free(struct bbf_names *names)
{
    free(names->names);
    bbf_buf_free(&names->texts);
    names->names = NULL;
}

void bbf_site_readable_name(struct bbf_buf *out, const struct bbf_snap_site *site)
{
    struct bbf_step_words words;

    bbf_step_words(&words, site->class_name, site->method, site->enclosing);
    if (!bbf_step_is_made(&words)) {
        bbf_site_full_name(out, site);
        return;
    }
    bbf_buf_add(out, words.class_name.s, words.class_name.len);
    if (words.method.len > 0)
        bbf_buf_char(out, '.');
    bbf_buf_add(out, words.method.s, words.method.len);
    bbf_buf_add(out, words.suffix.s, words.suffix.len);
    bbf_step_remark(out, &words, site->line, NULL);
}
