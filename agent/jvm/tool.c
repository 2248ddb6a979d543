/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/jvm/tool.h"

#include <string.h>

#include "agent/jvm/properties.h"
#include "agent/state.h"

bool bbf_jvm_is_jdk_tool(void)
{
    char command[32]; /* its beginning */
    bbf_property(bbf_agent.code, "sun.java.command", command, sizeof command);
    return strncmp(command, "jdk.", 4) == 0 || strncmp(command, "sun.tools.", 10) == 0 ||
           strncmp(command, "com.sun.tools.", 14) == 0;
}
