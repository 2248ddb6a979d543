/*
 * tests/facts/facts_dump.c - what the pass over parameters and its closure say of class files:
 *   facts_dump dump  INCLUDE FOLDER    a line for each parameter: Class.method(descriptor) argument
 * flags facts_dump throws INCLUDE FOLDER   a line for each call that an exception may leave by
 * facts_dump bench INCLUDE FOLDER [ROUNDS]   what it costs to find the facts, and their bytes
 * tests/facts/check compares the first with what a Java source says of itself,
 * tests/long/owner-facts with a full dataflow over all of Netty.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "classfile/classfile.h"
#include "core/facts.h"
#include "core/option.h"
#include "instrument/plan.h"
#include "trie/fact_closure.h"
#include "trie/facts.h"
#include "trie/model.h"
#include "trie/tracker.h"
#include "trie/switches.h"

static struct file {
    unsigned char *bytes;
    size_t len;
} * files;
static size_t n_files;

static struct name {
    uint64_t key;
    uint32_t owner;
    char *text;
} * names;
static size_t n_names;

static size_t n_blocks, n_bytes, n_facts;

static int load(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    size_t len = strlen(path);
    FILE *file;
    (void)ftw;
    if (type != FTW_F || len < 6 || strcmp(path + len - 6, ".class") != 0 ||
        strstr(path, "META-INF") != NULL || strstr(path, "module-info") != NULL)
        return 0;
    files = realloc(files, (n_files + 1) * sizeof *files);
    files[n_files].bytes = malloc((size_t)status->st_size + 1);
    file = fopen(path, "rb");
    files[n_files].len = fread(files[n_files].bytes, 1, (size_t)status->st_size, file);
    fclose(file);
    n_files++;
    return 0;
}

static struct bbf_tracker *tracker;

static uint32_t number(void *ctx, const struct bbf_plan_site *site)
{
    (void)ctx, (void)site;
    return 1;
}

static void keep(void *ctx, const struct bbf_plan_facts *f)
{
    (void)ctx;
    n_blocks++;
    n_bytes += f->block->len + f->block->names_len;
    n_facts += f->block->n_facts;
    if (tracker != NULL)
        bbf_facts_put(tracker, f->class_name.s, f->class_name.len, f->super_name.s,
                      f->super_name.len, f->block);
}

static void (*plan)(void *, const struct bbf_cf_method *, struct bbf_cf_plan *);

/* The plan, and the method's name. */
static void note_name(void *ctx, const struct bbf_cf_method *m, struct bbf_cf_plan *to)
{
    names = realloc(names, (n_names + 1) * sizeof *names);
    names[n_names] = (struct name){
        bbf_fact_method_key(m->name.s, m->name.len, m->descriptor.s, m->descriptor.len),
        bbf_fact_class_key(m->class_name.s, m->class_name.len), NULL};
    if (asprintf(&names[n_names++].text, "%.*s.%.*s%.*s", (int)m->class_name.len, m->class_name.s,
                 (int)m->name.len, m->name.s, (int)m->descriptor.len, m->descriptor.s) < 0)
        abort();
    plan(ctx, m, to);
}

/* The name of a class file: this_class is after the constants, so the reader finds it. */
static const char *name_of(const struct file *file)
{
    static char text[1000];
    const unsigned char *p = file->bytes;
    unsigned count = (unsigned)(p[8] << 8 | p[9]);
    size_t *at = calloc(count + 1, sizeof *at), pos = 10;
    static const unsigned char sizes[] = {0, 0, 0, 5, 5, 9, 9, 3, 3, 5, 5,
                                          5, 5, 0, 0, 4, 3, 5, 5, 3, 3};
    for (unsigned i = 1; i < count; i++) {
        at[i] = pos;
        if (p[pos] == 5 || p[pos] == 6)
            i++;
        pos += p[at[i] ? at[i] : pos] == 1 ? 3u + (unsigned)(p[pos + 1] << 8 | p[pos + 2])
                                           : sizes[p[pos]];
    }
    size_t c = at[p[pos + 2] << 8 | p[pos + 3]], u = at[p[c + 1] << 8 | p[c + 2]];
    snprintf(text, sizeof text, "%.*s", p[u + 1] << 8 | p[u + 2], (const char *)p + u + 3);
    free(at);
    return text;
}

static void rewrite_all(const struct bbf_rules *rules, bool facts, bool named, double *us)
{
    const struct bbf_plan_sites sites = {.number = number, .keep_facts = facts ? keep : NULL};
    struct timespec a, b;
    double sum = 0;

    n_blocks = n_bytes = n_facts = 0;
    for (size_t i = 0; i < n_files; i++) {
        struct bbf_plan_class c;
        struct bbf_cf_config config;
        struct bbf_cf_stats stats;
        uint8_t *out;
        size_t len;
        const char *name = name_of(&files[i]);

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        (void)bbf_plan_class(&c, name, strlen(name), rules, &sites);
        if (bbf_plan_inspect(&c, files[i].bytes, files[i].len)) {
            bbf_plan_config(&config, &c);
            plan = config.plan;
            if (named)
                config.plan = note_name;
            (void)bbf_cf_rewrite(files[i].bytes, files[i].len, &config, &out, &len, &stats);
            free(out);
        }
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        sum += (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3;
    }
    if (*us == 0 || sum < *us)
        *us = sum;
}

static void bench(const struct bbf_rules *rules, int rounds)
{
    double without = 0, with = 0;

    for (int i = 0; i < rounds; i++) { /* by turns: the machine is shared */
        rewrite_all(rules, false, false, &without);
        rewrite_all(rules, true, false, &with);
    }
    printf("%zu classes: %.2f us/class without facts, %.2f with: %+.2f us, x %.3f\n", n_files,
           without / (double)n_files, with / (double)n_files, (with - without) / (double)n_files,
           with / without);
    printf("%zu classes have %zu facts, %zu bytes of records, %zu as kept\n", n_blocks, n_facts,
           n_bytes, n_bytes + n_blocks * (sizeof(struct bbf_fact_class) + 16));
}

static const char *text_of(unsigned flags)
{
    static const char *const words[] = {"keeps",   "returns", "releases",
                                        "retains", "gives",   "unknown"};
    static char text[100];

    text[0] = '\0';
    for (unsigned i = 0; i < 6; i++)
        if (flags >> i & 1)
            strcat(strcat(text, text[0] != '\0' ? " " : ""), words[i]);
    return text[0] != '\0' ? text : "-";
}

static int by_key(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->owner > y->owner) - (x->owner < y->owner);
}

static void dump(const struct bbf_rules *rules, bool throws)
{
    const struct bbf_limits limits = {.max_nodes = 1000,
                                      .max_depth = 10,
                                      .max_children = 10,
                                      .max_lives = 100,
                                      .max_elements = 1,
                                      .max_sites = 100,
                                      .max_facts = 10000000,
                                      .memory = 1 << 30};
    struct bbf_closed_method **all;
    struct bbf_closure c;
    double us = 0;

    if (bbf_tracker_create(&tracker, &limits) != 0)
        exit(2);
    rewrite_all(rules, true, true, &us);
    qsort(names, n_names, sizeof *names, by_key);
    if (!bbf_closure_init(&c, tracker))
        exit(2);
    all = calloc(c.n_methods + 1, sizeof *all);
    for (size_t i = 0; i < c.n_methods; i++)
        all[i] = &c.methods[i];
    bbf_closure_close(&c, all, c.n_methods);
    for (size_t i = 0; i < c.n_methods; i++) {
        const struct bbf_closed_method *m = &c.methods[i];
        const struct name like = {m->record->key, m->owner, NULL};
        const struct name *name = bsearch(&like, names, n_names, sizeof *names, by_key);

        for (unsigned p = 0; name != NULL && p < m->record->n_params; p++)
            if (!throws)
                printf("%s\t%u\t%s\t%s\n", name->text, bbf_fact_arguments(m->record)[p],
                       bbf_fact_flags(m->record)[p] & BBF_FACT_WEAK ? "weak" : "strong",
                       text_of(c.flags[m->flags + p]));
        struct bbf_closed_throw found[BBF_CLOSURE_THROWS];
        uint32_t more;
        size_t n = bbf_closure_throws(&c, m, found, &more);
        for (size_t k = 0; throws && name != NULL && k < n; k++)
            printf("%s\t%u\t%s.%s\t%u\n", name->text, found[k].line, found[k].class_name,
                   found[k].method, more);
    }
    free(all);
    bbf_closure_free(&c);
}

int main(int argc, char **argv)
{
    struct bbf_rules rules;
    struct bbf_option_error error;
    char text[1000];

    if (argc < 4 || nftw(argv[3], load, 20, FTW_PHYS) != 0 || n_files == 0)
        return 2;
    memset(&rules, 0, sizeof rules);
    bbf_options_init(&rules.options);
    snprintf(text, sizeof text, "include=%s", argv[2]);
    if (bbf_options_parse(&rules.options, text, &error) != 0)
        return 2;
    if (strcmp(argv[1], "bench") == 0)
        bench(&rules, argc > 4 ? atoi(argv[4]) : 7);
    else
        dump(&rules, strcmp(argv[1], "throws") == 0);
    return 0;
}
