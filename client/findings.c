/* SPDX-License-Identifier: Apache-2.0 */
#include "client/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *bbf_severity_name(enum bbf_severity severity)
{
    static const char *const names[] = {"stops", "limits", "note"};
    return names[severity];
}

void bbf_findings_add(struct bbf_findings *findings, enum bbf_severity severity, const char *id,
                      const char *what, const char *where, const char *remedy)
{
    struct bbf_finding *items = realloc(findings->items, (findings->count + 1) * sizeof *items);
    struct bbf_finding one = {.severity = severity,
                              .id = id,
                              .what = strdup(what),
                              .where = strdup(where),
                              .remedy = strdup(remedy)};

    if (items != NULL)
        findings->items = items;
    if (items == NULL || one.what == NULL || one.where == NULL || one.remedy == NULL) {
        free(one.what);
        free(one.where);
        free(one.remedy);
        findings->failed = true;
        return;
    }
    findings->items[findings->count++] = one;
}

const char *bbf_findings_text(const char *format, ...)
{
    enum { TEXTS = 4, TEXT_BYTES = 2048 }; /* what, where, remedy, and one within them */
    static char texts[TEXTS][TEXT_BYTES];
    static unsigned turn;
    char *text = texts[turn++ % TEXTS];
    va_list args;

    va_start(args, format);
    vsnprintf(text, TEXT_BYTES, format, args);
    va_end(args);
    return text;
}

bool bbf_findings_matter(const struct bbf_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].severity != BBF_KNOW)
            return true;
    return findings->failed;
}

void bbf_findings_free(struct bbf_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->items[i].what);
        free(findings->items[i].where);
        free(findings->items[i].remedy);
    }
    free(findings->items);
    free(findings->next);
    *findings = (struct bbf_findings){.items = NULL};
}
