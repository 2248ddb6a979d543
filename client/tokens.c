/* SPDX-License-Identifier: Apache-2.0 */
#include "client/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/err.h"
#include "core/file.h"
#include "core/safe.h"

enum { BUCKETS = 1 << 14, NONE = -1 };

struct entry {
    char *name;
    size_t len;
    char token[BBF_TOKEN + 1];
    int next_name, next_token; /* in their buckets */
};

struct bbf_tokens {
    struct entry *entries;
    size_t n, room;
    int by_name[BUCKETS], by_token[BUCKETS];
};

static size_t bucket_of(const char *text, size_t len)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001B3);
    return (size_t)(hash >> 32) % BUCKETS;
}

static const struct entry *find_name(const struct bbf_tokens *t, const char *name, size_t len)
{
    for (int i = t->by_name[bucket_of(name, len)]; i != NONE; i = t->entries[i].next_name)
        if (t->entries[i].len == len && memcmp(t->entries[i].name, name, len) == 0)
            return &t->entries[i];
    return NULL;
}

static const struct entry *find_token(const struct bbf_tokens *t, const char *token)
{
    for (int i = t->by_token[bucket_of(token, BBF_TOKEN)]; i != NONE; i = t->entries[i].next_token)
        if (memcmp(t->entries[i].token, token, BBF_TOKEN) == 0)
            return &t->entries[i];
    return NULL;
}

static const struct entry *add(struct bbf_tokens *t, const char *token, const char *name,
                               size_t len)
{
    if (t->n == t->room) {
        size_t room = t->room == 0 ? 256 : 2 * t->room;
        struct entry *more = reallocarray(t->entries, room, sizeof *more);
        if (more == NULL)
            return NULL;
        t->entries = more;
        t->room = room;
    }
    struct entry *e = &t->entries[t->n];
    *e = (struct entry){.name = malloc(len + 1), .len = len};
    if (e->name == NULL)
        return NULL;
    memcpy(e->name, name, len);
    e->name[len] = '\0';
    memcpy(e->token, token, BBF_TOKEN);
    int *names = &t->by_name[bucket_of(name, len)],
        *tokens = &t->by_token[bucket_of(token, BBF_TOKEN)];
    e->next_name = *names;
    e->next_token = *tokens;
    *names = *tokens = (int)t->n++;
    return e;
}

static bool is_token(const char *text)
{
    if (text[0] != 'n' && text[0] != 'N')
        return false;
    for (int i = 1; i < BBF_TOKEN; i++)
        if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '2' && text[i] <= '7')))
            return false;
    return true;
}

static bool make_token(char *token, bool small)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char random[BBF_TOKEN];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return false;
    for (int i = 1; i < BBF_TOKEN; i++)
        token[i] = digits[random[i] % 32];
    token[0] = small ? 'n' : 'N'; /* as in the name: render/step_words.h looks at it */
    return true;
}

const char *bbf_tokens_find(const struct bbf_tokens *t, const char *name, size_t len)
{
    const struct entry *e = find_name(t, name, len);
    return e != NULL ? e->token : NULL;
}

const char *bbf_tokens_of(struct bbf_tokens *t, const char *name, size_t len)
{
    char token[BBF_TOKEN];
    const struct entry *e = find_name(t, name, len);
    while (e == NULL) {
        if (!make_token(token, len > 0 && name[0] >= 'a' && name[0] <= 'z'))
            return NULL;
        if (find_token(t, token) == NULL && (e = add(t, token, name, len)) == NULL)
            return NULL;
    }
    return e->token;
}

/* ---- the file ---- */

/* A line without its end; the escapes are undone in place. */
static bool read_line(struct bbf_tokens *t, char *line, size_t len)
{
    size_t to = 0;
    if (len < BBF_TOKEN + 1 || !is_token(line) || line[BBF_TOKEN] != ' ')
        return false;
    char *name = line + BBF_TOKEN + 1;
    for (size_t i = 0; i < len - BBF_TOKEN - 1; i++) {
        if (name[i] == '\\' && i + 1 < len - BBF_TOKEN - 1)
            name[to++] = name[++i] == 'n' ? '\n' : name[i];
        else
            name[to++] = name[i];
    }
    return find_token(t, line) == NULL && find_name(t, name, to) == NULL &&
           add(t, line, name, to) != NULL;
}

static int read_all(struct bbf_tokens *t, FILE *file, const char *path, char *why, size_t why_size)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    int err = BBF_OK;
    for (ssize_t len; err == BBF_OK && (len = getline(&line, &room, file)) > 0;) {
        number++;
        if (line[len - 1] == '\n')
            len--;
        if (!read_line(t, line, (size_t)len)) {
            snprintf(why, why_size, "%s: line %zu is no token and name", path, number);
            err = BBF_EFORMAT;
        }
    }
    free(line);
    return err;
}

int bbf_tokens_open(struct bbf_tokens **tokens, const char *path, bool may_be_new, char *why,
                    size_t why_size)
{
    struct bbf_tokens *t = calloc(1, sizeof *t);
    *tokens = t;
    if (t == NULL)
        return BBF_ENOMEM;
    memset(t->by_name, 0xFF, sizeof t->by_name); /* NONE */
    memset(t->by_token, 0xFF, sizeof t->by_token);
    FILE *file = fopen(path, "re");
    if (file == NULL && errno == ENOENT && may_be_new)
        return BBF_OK;
    if (file == NULL) {
        snprintf(why, why_size, "cannot read %s: %s", path, strerror(errno));
        return errno == ENOENT ? BBF_ENOTFOUND : BBF_EPERMISSION;
    }
    int err = read_all(t, file, path, why, why_size);
    fclose(file);
    return err;
}

int bbf_tokens_save(struct bbf_tokens *t, const char *path, char *why, size_t why_size)
{
    struct bbf_buf text = BBF_BUF_INIT;
    for (size_t i = 0; i < t->n; i++) {
        bbf_buf_printf(&text, "%s ", t->entries[i].token);
        for (size_t c = 0; c < t->entries[i].len; c++) {
            char byte = t->entries[i].name[c];
            if (byte == '\\' || byte == '\n')
                bbf_buf_char(&text, '\\');
            bbf_buf_char(&text, byte == '\n' ? 'n' : byte);
        }
        bbf_buf_char(&text, '\n');
    }
    int err = text.failed ? BBF_ENOMEM
                          : bbf_file_save(path, bbf_buf_cstr(&text), text.len, why, why_size);
    bbf_buf_free(&text);
    return err;
}

void bbf_tokens_free(struct bbf_tokens *t)
{
    for (size_t i = 0; t != NULL && i < t->n; i++)
        free(t->entries[i].name);
    if (t != NULL)
        free(t->entries);
    free(t);
}

/* ---- back ---- */

static void add_json(struct bbf_buf *out, const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '"' || name[i] == '\\')
            bbf_buf_printf(out, "\\%c", name[i]);
        else if ((unsigned char)name[i] < ' ')
            bbf_buf_printf(out, "\\u%04x", (unsigned)(unsigned char)name[i]);
        else
            bbf_buf_char(out, name[i]);
    }
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void bbf_tokens_restore(const struct bbf_tokens *t, struct bbf_buf *out, const char *text,
                        size_t len, bool json)
{
    size_t done = 0;
    for (size_t i = 0; i + BBF_TOKEN <= len;) {
        /* A descriptor has L before the name of a class. */
        const bool whole = (i == 0 || !is_word(text[i - 1]) || text[i - 1] == 'L') &&
                           (i + BBF_TOKEN == len || !is_word(text[i + BBF_TOKEN]));
        const struct entry *e = whole && is_token(text + i) ? find_token(t, text + i) : NULL;
        if (e == NULL) {
            i++;
            continue;
        }
        bbf_buf_add(out, text + done, i - done);
        if (json)
            add_json(out, e->name, e->len);
        else
            bbf_safe_add(out, e->name, e->len, BBF_SAFE_VALUE, '\0');
        done = i += BBF_TOKEN;
    }
    bbf_buf_add(out, text + done, len - done);
}
