/* SPDX-License-Identifier: Apache-2.0 */
#include "render/fingerprint.h"

#include <inttypes.h>
#include <string.h>

#include "core/safe.h"
#include "render/step_words.h"

/* http://www.isthe.com/chongo/tech/comp/fnv */
static uint64_t add_byte(uint64_t hash, char byte)
{
    return (hash ^ (uint8_t)byte) * UINT64_C(0x100000001B3);
}

/* How long the character at `text` is, and its bytes as a document has them: what is no UTF-8 is
 * U+FFFD there, and the id has to stay the same. */
static size_t character(const char *text, const char *end, struct bbf_slice *as)
{
    uint32_t code;

    *as = (struct bbf_slice){text, 1};
    if ((uint8_t)*text < 0x80)
        return 1;
    size_t len = bbf_utf8_next(text, end, &code);
    *as = code == BBF_UTF8_BAD ? (struct bbf_slice){"\xEF\xBF\xBD", 3}
                               : (struct bbf_slice){text, len};
    return len;
}

static uint64_t add_bytes(uint64_t hash, const char *bytes, size_t len)
{
    struct bbf_slice as;

    if (len == 0) /* then there may be no bytes: a name without that part */
        return hash;
    for (const char *at = bytes, *end = bytes + len; at < end;) {
        at += character(at, end, &as);
        for (size_t i = 0; i < as.len; i++)
            hash = add_byte(hash, as.s[i]);
    }
    return hash;
}

static uint64_t add_text(uint64_t hash, struct bbf_slice text)
{
    return add_bytes(add_bytes(hash, text.s, text.len), "", 1);
}

uint64_t bbf_fingerprint_begin(void)
{
    return UINT64_C(0xCBF29CE484222325);
}

static uint64_t mix(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    hash = (hash ^ hash >> 33) * UINT64_C(0xC4CEB9FE1A85EC53);
    return hash ^ hash >> 33;
}

uint64_t bbf_fingerprint_end(uint64_t hash, uint64_t passed)
{
    return mix(hash +
               mix(passed)); /* mix(0) is 0: without steps in between, it is the hash's own */
}

/* A relocated Netty: what is before "netty.buffer." and the like is the build's. */
static struct bbf_slice without_relocation(struct bbf_slice name)
{
    static const char *const packages[] = {"buffer.",    "channel.",  "handler.",  "util.",
                                           "bootstrap.", "resolver.", "testsuite."};
    const char *end = name.s + name.len;
    for (const char *at = name.s; at < end;) {
        const char *netty = memmem(at, (size_t)(end - at), "netty.", 6);
        if (netty == NULL)
            return name;
        at = netty + 6;
        bool whole = netty == name.s || netty[-1] == '.';
        for (size_t i = 0; i < sizeof packages / sizeof *packages && whole; i++) {
            size_t len = strlen(packages[i]);
            if ((size_t)(end - at) > len && memcmp(at, packages[i], len) == 0)
                return (struct bbf_slice){netty, (size_t)(end - netty)};
        }
    }
    return name;
}

/* What generators of classes append, with a number or a hash behind it. */
static size_t generated_at(struct bbf_slice name)
{
    static const char *const marks[] = {"$$EnhancerBy",  "$$SpringCGLIB", "$$FastClassBy",
                                        "$$Lambda",      "$ByteBuddy$",   "$MockitoMock$",
                                        "_$$_javassist", "/0x",           "+0x"};
    size_t least = name.len;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = memmem(name.s, name.len, marks[i], strlen(marks[i]));
        if (at != NULL && (size_t)(at - name.s) < least)
            least = (size_t)(at - name.s);
    }
    return least;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The class without relocation and without "$12": numbers of classes change with the code. */
static uint64_t add_class(uint64_t hash, struct bbf_slice name)
{
    name = without_relocation(name);
    name.len = generated_at(name);
    for (size_t i = 0; i < name.len;) {
        struct bbf_slice as;
        size_t end = i + character(name.s + i, name.s + name.len, &as);
        while (end < name.len && name.s[i] == '$' && is_digit(name.s[end]))
            end++;
        bool number = end > i + 1 && (end == name.len || name.s[end] == '$' || name.s[end] == '.');
        hash = add_bytes(hash, name.s + i, number ? 1 : end - i);
        i = end;
    }
    return add_bytes(hash, "", 1);
}

uint64_t bbf_fingerprint_step(uint64_t hash, const char *class_name, const char *method,
                              const char *enclosing)
{
    struct bbf_step_words w;

    bbf_step_words(&w, class_name, method, enclosing);
    hash = add_class(hash, w.class_name);
    hash = add_text(hash, w.method);
    hash = add_text(hash, w.suffix);
    hash = add_text(hash, w.inner);
    return add_text(hash, (struct bbf_slice){w.what, w.what != NULL ? strlen(w.what) : 0});
}

/* A sum does not depend on the order. */
uint64_t bbf_fingerprint_pass(uint64_t passed, const char *class_name, const char *method,
                              const char *enclosing)
{
    return passed +
           mix(bbf_fingerprint_step(bbf_fingerprint_begin(), class_name, method, enclosing));
}

static uint64_t add_node(uint64_t hash, const struct bbf_view *view, uint32_t node)
{
    const struct bbf_snapshot *s = view->snapshot;
    const struct bbf_snap_site *site = &s->sites[s->nodes[node].site];
    return bbf_fingerprint_step(hash, site->class_name, site->method, site->enclosing);
}

/* Is the step a method that a buffer passes? Not the refs=on steps: they say what it did there. */
static bool is_passed(const struct bbf_snap_site *site)
{
    return site->kind == BBF_SITE_ENTER || site->kind == BBF_SITE_RETURN;
}

static const struct bbf_snap_site *site_of(const struct bbf_view *view, uint32_t node)
{
    return &view->snapshot->sites[view->snapshot->nodes[node].site];
}

/* Does the path come to this step's site again below it, up to `last`? */
static bool comes_again(const struct bbf_view *view, uint32_t node, uint32_t last)
{
    const struct bbf_snap_node *nodes = view->snapshot->nodes;

    for (; last != node; last = view->parents[last])
        if (nodes[last].site == nodes[node].site)
            return true;
    return false;
}

uint64_t bbf_fingerprint_leak(const struct bbf_view *view, uint32_t last)
{
    uint32_t root = last, derive = BBF_NO_NODE;
    uint64_t passed = 0, hash;

    if (bbf_view_is_gap(view, last)) /* ids leave it out */
        last = root = view->parents[last];
    for (uint32_t node = last; node != BBF_NO_PARENT; root = node, node = view->parents[node]) {
        const struct bbf_snap_site *site = site_of(view, node);

        if (site->kind == BBF_SITE_DERIVE && derive == BBF_NO_NODE)
            derive = node;
        if (node != last && is_passed(site) && !comes_again(view, node, last))
            passed = bbf_fingerprint_pass(passed, site->class_name, site->method, site->enclosing);
    }
    hash = add_node(bbf_fingerprint_begin(), view, root);
    if (derive != BBF_NO_NODE && derive != root)
        hash = add_node(hash, view, derive);
    if (last != root && last != derive)
        hash = add_node(hash, view, last);
    return bbf_fingerprint_end(hash, passed);
}

void bbf_fingerprint_text(struct bbf_buf *out, uint64_t fingerprint)
{
    bbf_buf_printf(out, "%016" PRIx64, fingerprint);
}
