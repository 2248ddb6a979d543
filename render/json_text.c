/* SPDX-License-Identifier: Apache-2.0 */
#include "render/json_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "core/safe.h"

/* Escapes are rare, so whole runs of other bytes are copied. */
void bbf_json_text_part(struct bbf_buf *out, const char *text, size_t len)
{
    const char *end = text + len;
    const char *plain = text;

    for (const char *p = text; p < end;) {
        uint32_t code;
        size_t n = bbf_utf8_next(p, end, &code);
        bool invalid = code == BBF_UTF8_BAD && n == 1;
        if (invalid || code < 0x20 || code == '"' || code == '\\' || code == 0x7F) {
            bbf_buf_add(out, plain, (size_t)(p - plain));
            if (invalid)
                bbf_buf_str(out, "\xEF\xBF\xBD");
            else if (code == '"' || code == '\\')
                bbf_buf_printf(out, "\\%c", (char)code);
            else if (code == '\n')
                bbf_buf_str(out, "\\n");
            else if (code == '\t')
                bbf_buf_str(out, "\\t");
            else
                bbf_buf_printf(out, "\\u%04" PRIx32, code);
            plain = p + n;
        }
        p += n;
    }
    bbf_buf_add(out, plain, (size_t)(end - plain));
}

void bbf_json_text_of(struct bbf_buf *out, const char *text, size_t len)
{
    bbf_buf_char(out, '"');
    bbf_json_text_part(out, text, len);
    bbf_buf_char(out, '"');
}

void bbf_json_text(struct bbf_buf *out, const char *text)
{
    bbf_json_text_of(out, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}
