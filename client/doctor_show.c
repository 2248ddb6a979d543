/* SPDX-License-Identifier: Apache-2.0 */
#include "client/doctor_show.h"

#include "core/safe.h"
#include "render/json_text.h"

/* ---- Text ------------------------------------------------------------------------------------ */

static void add_finding(struct bbf_buf *out, const struct bbf_finding *finding)
{
    static const char *const marks[] = {"STOPS ", "LIMITS", "note  "};

    bbf_safe_printf(out, BBF_SAFE_VALUE, "%s %s", marks[finding->severity], finding->what);
    if (finding->where[0] != '\0')
        bbf_safe_printf(out, BBF_SAFE_VALUE, " (%s)", finding->where);
    bbf_buf_char(out, '\n');
    if (finding->remedy[0] != '\0')
        bbf_safe_printf(out, BBF_SAFE_VALUE, "         -> %s\n", finding->remedy);
}

static void add_agent(struct bbf_buf *out, const struct bbf_jvm_facts *facts)
{
    if (facts->agent.answered && facts->agent.has_lives)
        bbf_safe_printf(out, BBF_SAFE_VALUE, ", bbflow %s, %llu buffers followed",
                        facts->agent.version, (unsigned long long)facts->agent.lives);
    else if (facts->agent.answered)
        bbf_safe_printf(out, BBF_SAFE_VALUE, ", bbflow %s", facts->agent.version);
}

void bbf_doctor_text(struct bbf_buf *out, const struct bbf_jvm_facts *facts,
                     const struct bbf_findings *findings, const char *library)
{
    const char *main = facts->main_class != NULL ? facts->main_class : "";

    bbf_safe_printf(out, BBF_SAFE_VALUE, "JVM %ld (%s)", (long)facts->pid,
                    main[0] != '\0' ? main : "?");
    if (facts->java != 0)
        bbf_buf_printf(out, ", Java %d", facts->java);
    add_agent(out, facts);
    bbf_buf_char(out, '\n');
    if (!bbf_findings_matter(findings))
        bbf_buf_str(out, "  nothing keeps bbflow from seeing buffers here\n");
    for (size_t i = 0; i < findings->count; i++) {
        bbf_buf_str(out, "  ");
        add_finding(out, &findings->items[i]);
    }
    if (findings->next == NULL)
        return;
    bbf_buf_str(out, "  for its next start:\n");
    if (findings->copy)
        bbf_safe_printf(out, BBF_SAFE_VALUE,
                        "    (put a copy of %s there first, where the JVM's files are)\n", library);
    bbf_safe_printf(out, BBF_SAFE_VALUE, "    %s\n", findings->next);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_text(struct bbf_buf *out, const char *name, const char *text)
{
    bbf_buf_printf(out, ",\"%s\":", name);
    if (text != NULL)
        bbf_json_text(out, text);
    else
        bbf_buf_str(out, "null");
}

void bbf_doctor_json(struct bbf_buf *out, const struct bbf_jvm_facts *facts,
                     const struct bbf_findings *findings, const char *library)
{
    bbf_buf_printf(out, "{\"pid\":%ld", (long)facts->pid);
    add_text(out, "main", facts->main_class != NULL ? facts->main_class : "");
    if (facts->java != 0)
        bbf_buf_printf(out, ",\"java\":%d", facts->java);
    else
        bbf_buf_str(out, ",\"java\":null");
    add_text(out, "agent", facts->agent.answered ? facts->agent.version : NULL);
    bbf_buf_printf(out, ",\"found\":%s,\"findings\":[",
                   bbf_findings_matter(findings) ? "true" : "false");
    for (size_t i = 0; i < findings->count; i++) {
        const struct bbf_finding *finding = &findings->items[i];
        bbf_buf_printf(out, "%s{\"severity\":\"%s\",\"id\":\"%s\"", i > 0 ? ",\n" : "\n",
                       bbf_severity_name(finding->severity), finding->id);
        add_text(out, "text", finding->what);
        add_text(out, "where", finding->where);
        add_text(out, "remedy", finding->remedy);
        bbf_buf_char(out, '}');
    }
    bbf_buf_char(out, ']');
    add_text(out, "next", findings->next);
    add_text(out, "copy", findings->next != NULL && findings->copy ? library : NULL);
    bbf_buf_char(out, '}');
}
