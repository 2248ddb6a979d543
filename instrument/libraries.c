/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/libraries.h"

#include <string.h>

#include "instrument/netty.h"

static const char *const jdk[] = {
    "java/", "javax/", "jdk/", "sun/", "com/sun/",
};
static const char *const others[] = {
    "org/graalvm/",
    "net/bytebuddy/",
    "org/mockito/",
    "org/jacoco/",
    "io/opentelemetry/javaagent/",
    "org/openjdk/btrace/",
    "io/btrace/",
    "one/profiler/",
    "org/aspectj/",
    "org/objectweb/asm/",
    "javassist/",
    "kotlin/",
    "scala/",
    "org/codehaus/groovy/",
    "groovy/",
};

static bool begins_with_any(const char *name, size_t len, const char *const *heads, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = strlen(heads[i]);
        if (len >= k && memcmp(name, heads[i], k) == 0)
            return true;
    }
    return false;
}

bool bbf_libraries_jdk_has(const char *name, size_t len)
{
    return begins_with_any(name, len, jdk, sizeof jdk / sizeof *jdk);
}

bool bbf_libraries_has(const char *name, size_t len)
{
    return bbf_libraries_jdk_has(name, len) ||
           begins_with_any(name, len, others, sizeof others / sizeof *others) ||
           bbf_netty_prefix(name, len) != 0;
}
