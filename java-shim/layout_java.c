/* SPDX-License-Identifier: Apache-2.0 */
/* java-shim/layout_java.c - prints core/layout.h as java.lang.BBFlowLayout, at build time. */
#include <inttypes.h>
#include <stdio.h>

#include "core/layout.h"

int main(void)
{
    puts("package java.lang;\n");
    puts("/** Generated from core/layout.h: constants only, inlined by javac, never loaded. */");
    puts("final class BBFlowLayout {");
    puts("    private BBFlowLayout() {\n    }\n");
#define XX(name, value) printf("    static final int %s = %d;\n", #name, (int)(value));
    BBF_LAYOUT(XX)
#undef XX
#define XX(name, number)                                                                           \
    printf("    static final long %s = 0x%" PRIx64 "L; // replaced by the agent\n", #name,         \
           BBF_SHIM_MAGIC + ((uint64_t)(number) << 32));
    BBF_SHIM_ADDRESSES(XX)
#undef XX
    puts("}");
    return 0;
}
