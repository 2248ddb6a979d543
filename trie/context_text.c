/* SPDX-License-Identifier: Apache-2.0 */
#include "trie/context_text.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/layout.h"

#define REPLACEMENT 0xFFFDu

static void add_utf8(struct bbf_buf *out, uint32_t code)
{
    if (code == 0) /* it would end a string of C */
        code = REPLACEMENT;
    if (code < 0x80) {
        bbf_buf_char(out, (char)code);
    } else if (code < 0x800) {
        bbf_buf_char(out, (char)(0xC0 | code >> 6));
        bbf_buf_char(out, (char)(0x80 | (code & 0x3F)));
    } else {
        if (code < 0x10000) {
            bbf_buf_char(out, (char)(0xE0 | code >> 12));
        } else {
            bbf_buf_char(out, (char)(0xF0 | code >> 18));
            bbf_buf_char(out, (char)(0x80 | (code >> 12 & 0x3F)));
        }
        bbf_buf_char(out, (char)(0x80 | (code >> 6 & 0x3F)));
        bbf_buf_char(out, (char)(0x80 | (code & 0x3F)));
    }
}

static bool is_surrogate(uint32_t unit, uint32_t first)
{
    return unit >= first && unit < first + 0x400;
}

/* `len` bytes of UTF-16 in the byte order of this machine, as a String has them. */
static void add_utf16(struct bbf_buf *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i + 2 <= len; i += 2) {
        uint16_t unit = 0, low = 0;
        memcpy(&unit, bytes + i, 2);
        if (i + 4 <= len)
            memcpy(&low, bytes + i + 2, 2);
        if (is_surrogate(unit, 0xD800) && is_surrogate(low, 0xDC00)) {
            add_utf8(out, 0x10000 + ((unit & 0x3FFu) << 10 | (low & 0x3FFu)));
            i += 2;
        } else {
            add_utf8(out,
                     is_surrogate(unit, 0xD800) || is_surrogate(unit, 0xDC00) ? REPLACEMENT : unit);
        }
    }
}

static void add_text(struct bbf_buf *out, const char *bytes, size_t len, bool wide, bool cut)
{
    if (wide)
        add_utf16(out, bytes, len);
    else
        for (size_t i = 0; i < len; i++)
            add_utf8(out, (unsigned char)bytes[i]);
    if (cut)
        bbf_buf_str(out, "\xE2\x80\xA6"); /* … */
}

/* The buffer's text as *to, NULL if it is empty; it is empty afterwards. */
static int take(struct bbf_buf *from, char **to)
{
    bool empty = from->len == 0 && !from->failed;

    *to = empty ? NULL : strdup(bbf_buf_cstr(from));
    bool failed = from->failed || (!empty && *to == NULL);
    bbf_buf_free(from);
    return failed ? BBF_ENOMEM : BBF_OK;
}

/* As in Channel.toString(): "0x1a2b3c4d", "/127.0.0.1:51324", "/[::1]:51324". */
static void add_address(struct bbf_buf *out, uint32_t kinds, const char *bytes, size_t len,
                        unsigned port)
{
    char text[INET6_ADDRSTRLEN];

    switch (kinds & BBF_L_CONTEXT_OF_ADDRESS) {
    case BBF_L_CONTEXT_IPV4:
        if (len == 4 && inet_ntop(AF_INET, bytes, text, sizeof text) != NULL)
            bbf_buf_printf(out, "/%s:%u", text, port);
        break;
    case BBF_L_CONTEXT_IPV6:
        if (len == 16 && inet_ntop(AF_INET6, bytes, text, sizeof text) != NULL)
            bbf_buf_printf(out, "/[%s]:%u", text, port);
        break;
    case BBF_L_CONTEXT_LATIN1:
    case BBF_L_CONTEXT_UTF16:
        add_text(out, bytes, len, (kinds & BBF_L_CONTEXT_OF_ADDRESS) == BBF_L_CONTEXT_UTF16, false);
        if (port != 0) /* a name that was not resolved */
            bbf_buf_printf(out, ":%u", port);
        break;
    default:
        break;
    }
}

static int text_of_channel(const uint64_t words[], struct bbf_snap_context *to)
{
    const uint64_t channel = words[BBF_L_CONTEXT_CHANNEL / 8],
                   sizes = words[BBF_L_CONTEXT_SIZES / 8];
    const uint32_t kinds = BBF_LOW(channel), what = kinds & BBF_L_CONTEXT_OF_CHANNEL;
    size_t len = BBF_LOW(sizes) >> 16;
    struct bbf_buf text = BBF_BUF_INIT;

    if (what == BBF_L_CONTEXT_ID)
        bbf_buf_printf(&text, "0x%08" PRIx32, BBF_GENERATION(channel));
    else if (what == BBF_L_CONTEXT_EMBEDDED)
        bbf_buf_str(&text, "embedded");
    else if (what == BBF_L_CONTEXT_NO_ID)
        bbf_buf_char(&text, '?');
    int err = take(&text, &to->channel);
    if (err != BBF_OK)
        return err;
    len = len < BBF_L_CONTEXT_ADDRESS_BYTES ? len : BBF_L_CONTEXT_ADDRESS_BYTES;
    add_address(&text, kinds, (const char *)&words[BBF_L_CONTEXT_ADDRESS / 8], len,
                BBF_GENERATION(sizes));
    return take(&text, &to->address);
}

static int text_of_hint(const uint64_t words[], const char *class_name, struct bbf_snap_context *to)
{
    const uint32_t kinds = BBF_LOW(words[BBF_L_CONTEXT_CHANNEL / 8]);
    size_t len = BBF_LOW(words[BBF_L_CONTEXT_SIZES / 8]) & 0xffff;
    struct bbf_buf text = BBF_BUF_INIT;

    len = len < BBF_L_CONTEXT_HINT_BYTES ? len : BBF_L_CONTEXT_HINT_BYTES;
    to->hint_is = (enum bbf_hint)((kinds & BBF_L_CONTEXT_OF_HINT) / BBF_L_CONTEXT_TEXT);
    if (to->hint_is > BBF_HINT_CLASS)
        to->hint_is = BBF_HINT_NONE;
    if (to->hint_is == BBF_HINT_CLASS)
        bbf_buf_str(&text, class_name != NULL ? class_name : "?");
    else if (to->hint_is != BBF_HINT_NONE)
        add_text(&text, (const char *)&words[BBF_L_CONTEXT_HINT / 8], len,
                 (kinds & BBF_L_CONTEXT_WIDE) != 0, (kinds & BBF_L_CONTEXT_CUT) != 0);
    int err = take(&text, &to->hint);
    if (err == BBF_OK && to->hint == NULL && to->hint_is != BBF_HINT_NONE)
        return (to->hint = strdup("")) != NULL ? BBF_OK : BBF_ENOMEM; /* touch("") */
    return err;
}

static int text_of_exception(const uint64_t words[], const struct bbf_context_names *names,
                             struct bbf_snap_context *to)
{
    const struct bbf_site *site = names->caught_in;
    struct bbf_buf text = BBF_BUF_INIT;

    if ((BBF_LOW(words[BBF_L_CONTEXT_CHANNEL / 8]) & BBF_L_CONTEXT_CAUGHT) == 0)
        return BBF_OK;
    bbf_buf_str(&text, names->thrown != NULL ? names->thrown : "?");
    int err = take(&text, &to->thrown);
    if (err == BBF_OK && site != NULL) {
        bbf_buf_printf(&text, "%s.%s", site->class_name, site->method);
        err = take(&text, &to->caught_in);
    }
    return err;
}

int bbf_context_text(const uint64_t words[], const struct bbf_context_names *names,
                     struct bbf_snap_context *to)
{
    int err = text_of_channel(words, to);

    if (err == BBF_OK)
        err = text_of_hint(words, names->hint, to);
    return err == BBF_OK ? text_of_exception(words, names, to) : err;
}
