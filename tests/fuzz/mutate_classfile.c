/*
 * tests/fuzz/mutate_classfile.c - libFuzzer's mutator for fuzz_classfile: half of the time it
 * changes the class by its structure (class_mutator.h), else bytes. BBF_FUZZ_PLAIN in the
 * environment: bytes only, which is what it is measured against.
 */
#include "tests/fuzz/class_mutator.h"

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2,
                                 size_t size2, uint8_t *out, size_t max_out_size,
                                 unsigned int seed);

static int plain(void)
{
    static int answer = -1;

    if (answer < 0)
        answer = getenv("BBF_FUZZ_PLAIN") != NULL;
    return answer;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    size_t len = 0;

    /* One to four changes, more of them breaking than not: valid classes are in the corpus. */
    if (!plain() && seed % 2 == 0)
        len = class_mutate(data, size, data, max_size, seed, 1 + seed / 2 % 4, 60, NULL, 0);
    return len != 0 ? len : LLVMFuzzerMutate(data, size, max_size);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1, const uint8_t *data2,
                                 size_t size2, uint8_t *out, size_t max_out_size, unsigned int seed)
{
    size_t from, len;

    if (!plain() && seed % 4 != 0)
        return class_cross(data1, size1, data2, size2, out, max_out_size, seed);
    /* The head of one, the tail of the other. */
    from = size1 == 0 ? 0 : seed / 4 % size1;
    from = from < max_out_size ? from : max_out_size;
    memcpy(out, data1, from);
    len = size2 > from ? size2 - from : 0;
    len = len < max_out_size - from ? len : max_out_size - from;
    if (len > 0)
        memcpy(out + from, data2 + size2 - len, len);
    return from + len;
}
