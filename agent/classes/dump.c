/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/classes/dump.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "agent/state.h"
#include "core/err.h"
#include "core/file.h"
#include "core/log.h"

enum { WHY_MAX = 600 };

static _Atomic uint64_t failures;
static char first[WHY_MAX]; /* by the thread that counted the first one; then has_first */
static _Atomic bool has_first;

static void failed(const char *why)
{
    if (atomic_fetch_add(&failures, 1) != 0)
        return;
    snprintf(first, sizeof first, "%s", why);
    atomic_store(&has_first, true);
    bbf_log(BBF_LOG_ERROR, "dump: %s (reported once; reports count the others)", why);
}

void bbf_dump(const char *name, const char *what, const unsigned char *bytes, size_t len)
{
    char path[PATH_MAX], why[WHY_MAX];
    const struct bbf_rules *rules = atomic_load(&bbf_agent.rules);
    if (rules == NULL || rules->options.dump == NULL)
        return;
    int n = snprintf(path, sizeof path, "%s/%s.%s.class", rules->options.dump, name, what);
    if (n < 0 || (size_t)n >= sizeof path) {
        failed("a class has too long a name");
        return;
    }
    for (char *p = path + strlen(rules->options.dump) + 1; *p != '\0'; p++)
        if (*p == '/')
            *p = '.';
    if (bbf_file_save(path, (const char *)bytes, len, why, sizeof why) != BBF_OK)
        failed(why);
}

int bbf_dump_check(const char *folder, char *why, size_t why_size)
{
    return bbf_file_check_folder(folder, why, why_size);
}

void bbf_dump_note(struct bbf_buf *out)
{
    uint64_t n = atomic_load(&failures);
    if (n == 0)
        return;
    bbf_buf_printf(out, "dump: %llu class %s could not be written", (unsigned long long)n,
                   n == 1 ? "file" : "files");
    if (atomic_load(&has_first))
        bbf_buf_printf(out, "; the first: %s", first);
}
