/*
 * tests/fuzz/class_mutants.c - class_mutants SEED COUNT BREAKING FILE...: COUNT mutants of the
 * class FILEs in turn, by the fuzzer's mutator, to stdout: u4 length of the names, names of the
 * changes, u4 length, class (big-endian). BREAKING: percent of the changes that mean to break.
 * What cannot be mutated comes as it is.
 */
#include "classfile/bytes.h"
#include "tests/fuzz/class_mutator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 1 << 20 };

static uint8_t in[MAX], out[2 * MAX];

static size_t load(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t len;

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    len = fread(in, 1, sizeof in, file);
    fclose(file);
    return len;
}

static void put(const void *bytes, size_t len)
{
    uint8_t head[4];

    cf__put4(head, (uint32_t)len);
    fwrite(head, 1, sizeof head, stdout);
    fwrite(bytes, 1, len, stdout);
}

int main(int argc, char **argv)
{
    uint64_t seed;
    unsigned count, breaking;

    if (argc < 5) {
        fprintf(stderr, "usage: class_mutants SEED COUNT BREAKING FILE...\n");
        return 2;
    }
    seed = strtoull(argv[1], NULL, 10) * 1000003;
    count = (unsigned)strtoul(argv[2], NULL, 10);
    breaking = (unsigned)strtoul(argv[3], NULL, 10);
    for (unsigned i = 0; i < count; i++) {
        const char *path = argv[4 + i % (unsigned)(argc - 4)];
        const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
        char names[400], text[600];
        size_t len = load(path);
        size_t out_len = class_mutate(in, len, out, sizeof out, seed + i, 1 + i % 3, breaking,
                                      names, sizeof names);

        snprintf(text, sizeof text, "%s:%s", base, out_len != 0 ? names : "as it is");
        put(text, strlen(text));
        put(out_len != 0 ? out : in, out_len != 0 ? out_len : len);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
