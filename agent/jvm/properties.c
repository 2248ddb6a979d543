/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/properties.h"

#include <stdio.h>

void bbf_property(jvmtiEnv *jvmti, const char *name, char *out, size_t size)
{
    char *value = NULL;
    out[0] = '\0';
    if ((*jvmti)->GetSystemProperty(jvmti, name, &value) != 0 || value == NULL)
        return;
    snprintf(out, size, "%s", value);
    (*jvmti)->Deallocate(jvmti, (unsigned char *)value);
}
