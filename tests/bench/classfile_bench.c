/*
 * tests/bench/classfile_bench.c - CPU time of the class-file rewriter over all files of a folder
 * (class files, unpacked): best of ROUNDS (7), one thread, everything in memory.
 * tests/bench/classes runs it beside ASM and ByteBuddy.
 *
 *   gcc -std=c11 -D_GNU_SOURCE -O2 -I. tests/bench/classfile_bench.c classfile/[a-z]*.c \
 *       -o /tmp/classfile_bench && /tmp/classfile_bench FOLDER [MODE [ROUNDS]]
 */
#include "classfile/bytes.h"
#include "classfile/classfile.h"
#include "classfile/reader.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_FILES = 100000 };

static struct {
    uint8_t *bytes;
    size_t len;
} files[MAX_FILES];
static size_t n_files, n_bytes;

static const struct bbf_cf_target targets[] = {
    {"java/lang/BBFlowShim", "step", "(Ljava/lang/Object;I)V"},
    {"java/lang/BBFlowShim", "exit", "(Ljava/lang/Object;I)V"},
};

struct mode {
    const char *name;
    const char *only; /* this in a parameter or return type; NULL: every reference */
    bool exits, after_calls, cheap_question;
};

static bool contains(const char *s, size_t len, const char *part)
{
    return part == NULL || memmem(s, len, part, strlen(part)) != NULL;
}

static struct bbf_cf_call call_of(uint16_t target, uint8_t push, uint32_t slot)
{
    struct bbf_cf_call call = {.target = target, .n_args = 2};

    call.args[0].push = push;
    call.args[0].value = slot;
    call.args[1].push = BBF_CF_INT;
    call.args[1].value = 12345;
    return call;
}

static void plan(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_plan *plan)
{
    const struct mode *mode = ctx;
    bool is_static = (method->access & CF__ACC_STATIC) != 0;
    struct cf__param param;

    plan->after_call = mode->after_calls;
    if (!contains(method->descriptor.s, method->descriptor.len, mode->only))
        return;
    for (uint16_t slot = is_static ? 0 : 1; slot < 255; slot++) {
        if (!cf__param_find(method->descriptor, is_static, slot, &param) || slot >= param.slots)
            break;
        if (param.kind == 'A')
            plan->entry[plan->n_entry++] = call_of(0, BBF_CF_ALOAD, slot);
    }
    if (mode->exits && cf__returns_reference(method->descriptor))
        plan->areturn[plan->n_areturn++] = call_of(1, BBF_CF_DUP, 0);
    if (mode->exits && cf__str_is(method->name, "<init>"))
        plan->vreturn[plan->n_return++] = call_of(1, BBF_CF_ALOAD, 0);
}

static bool after_call(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_str owner,
                       struct bbf_cf_str name, struct bbf_cf_str descriptor, uint8_t opcode,
                       struct bbf_cf_call *call)
{
    const struct mode *mode = ctx;

    (void)method;
    (void)owner;
    (void)name;
    (void)opcode;
    *call = call_of(1, BBF_CF_DUP, 0);
    return cf__returns_reference(descriptor) && contains(descriptor.s, descriptor.len, mode->only);
}

static bool interesting(void *ctx, const char *utf8, size_t len)
{
    const struct mode *mode = ctx;

    return !mode->cheap_question || contains(utf8, len, mode->only);
}

static void load(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char path[4096];
        FILE *file;
        long len;

        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || n_files == MAX_FILES)
            continue;
        if (entry->d_type == DT_DIR) {
            load(path);
            continue;
        }
        if ((file = fopen(path, "rb")) == NULL)
            continue;
        fseek(file, 0, SEEK_END);
        len = ftell(file);
        rewind(file);
        files[n_files].bytes = malloc((size_t)len + 1);
        files[n_files].len = fread(files[n_files].bytes, 1, (size_t)len, file);
        n_bytes += files[n_files++].len;
        fclose(file);
    }
    if (dir != NULL)
        closedir(dir);
}

static double cpu_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void measure(struct mode *mode, int rounds)
{
    struct bbf_cf_config config = {.targets = targets,
                                   .n_targets = 2,
                                   .ctx = mode,
                                   .interesting = interesting,
                                   .plan = plan,
                                   .after_call = after_call};
    size_t changed = 0;
    double best = 0;

    for (int round = 0; round < rounds; round++) {
        double start = cpu_us(), us;

        changed = 0;
        for (size_t i = 0; i < n_files; i++) {
            struct bbf_cf_stats stats;
            uint8_t *out;
            size_t len;

            bbf_cf_rewrite(files[i].bytes, files[i].len, &config, &out, &len, &stats);
            changed += out != NULL;
            free(out);
        }
        us = cpu_us() - start;
        if (round == 0 || us < best)
            best = us;
    }
    printf("%-34s %6.2f us/class %7.0f MB/s  %zu of %zu changed\n", mode->name,
           best / (double)n_files, (double)n_bytes / best, changed, n_files);
}

int main(int argc, char **argv)
{
    struct mode modes[] = {
        {"every reference, exits, after calls", NULL, true, true, false},
        {"every reference, exits", NULL, true, false, false},
        {"every reference, entry only", NULL, false, false, false},
        {"ByteBuf, exits, after calls", "netty/buffer/ByteBuf;", true, true, true},
        {"nothing matches", "no/such/Type;", true, true, true},
    };

    if (argc < 2)
        return 2;
    load(argv[1]);
    if (n_files == 0)
        return 1;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (argc < 3 || atoi(argv[2]) == (int)i)
            measure(&modes[i], argc < 4 ? 7 : atoi(argv[3]));
    return 0;
}
