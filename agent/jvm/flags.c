/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bbf_jvm_verification_is_off(void)
{
    char line[65536];
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t n = file != NULL ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    const char *by_environment[] = {getenv("JAVA_TOOL_OPTIONS"), getenv("JDK_JAVA_OPTIONS"),
                                    getenv("_JAVA_OPTIONS")};
    static const char *const flags[] = {"-Xverify:none", "-noverify",
                                        "-XX:-BytecodeVerificationRemote"};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        if (memmem(line, n, flags[f], strlen(flags[f])) != NULL)
            return true;
        for (size_t e = 0; e < sizeof by_environment / sizeof *by_environment; e++)
            if (by_environment[e] != NULL && strstr(by_environment[e], flags[f]) != NULL)
                return true;
    }
    return false;
}
