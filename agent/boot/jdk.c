/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/boot/jdk.h"

void bbf_jdk_status(struct bbf_buf *out, int jdk)
{
    if (jdk > BBF_JDK_LAST_TESTED)
        bbf_buf_printf(
            out, "not tested         with Java %d: this bbflow is tested with Java %d to %d\n", jdk,
            BBF_JDK_FIRST, BBF_JDK_LAST_TESTED);
}
