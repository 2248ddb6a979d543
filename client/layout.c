/* SPDX-License-Identifier: Apache-2.0 */
#include "client/layout.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "core/safe.h"

enum {
    LEVEL = 4,        /* columns of one level of the tree */
    LEVELS_LEAST = 3, /* shown even on a narrow screen */
    NAME_LEAST = 16,  /* a name is not cut below this, */
    NAME_GOOD = 24,   /* and not below this for a marker that can go to the next row */
    ROOM_LEAST = 32,  /* columns of a further row: a marker has that many */
    HANG = 4          /* further rows of a line are so much further right */
};

/* Colours of a terminal: SGR, ECMA-48 8.3.117. */
enum style { PLAIN, BOLD, DIM, RED, YELLOW };

static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[1;31m", "\033[33m"};

/* ---- Characters ------------------------------------------------------------------------------ */

static size_t columns_of(uint32_t code)
{
    if (code < 0x7F)
        return 1;
    if (code == 0xFE0F)
        return 1; /* the sign before it becomes an emoji of two columns */
    int n = wcwidth((wchar_t)code);
    return n >= 0 ? (size_t)n : 2; /* unknown here: the terminal may treat it as wide */
}

size_t bbf_columns(const char *text, size_t len)
{
    size_t columns = 0;

    for (const char *p = text, *end = text + len; p < end;) {
        uint32_t code;
        p += bbf_utf8_next(p, end, &code);
        columns += columns_of(code);
    }
    return columns;
}

/* Length in bytes of the longest prefix with at most `most` columns. */
static size_t fitting(const char *text, size_t len, size_t most)
{
    const char *p = text, *end = text + len;

    for (size_t columns = 0; p < end;) {
        uint32_t code;
        size_t n = bbf_utf8_next(p, end, &code);
        columns += columns_of(code);
        if (columns > most)
            break;
        p += n;
    }
    return (size_t)(p - text);
}

/* Our own signs, and their ASCII forms. */
static const struct {
    const char *sign, *ascii;
} signs[] = {
    {"│", "|"},
    {"├── ", "|-- "},
    {"└── ", "`-- "},
    {"🚨 LEAK", "CRITICAL LEAK"},
    {"⚠️ LEAK", "MODERATE LEAK"},
    {"⏳ AGED", "AGED"},
    {"→", "->"},
    {"…", "..."},
};

/* Append it safe, on one line. In ASCII our own signs become words, all others \uXXXX. */
static void add_safe(struct bbf_buf *out, const char *text, size_t len, bool ascii)
{
    const char *end = text + len, *plain = text;

    for (const char *p = text; ascii && p < end; p++) {
        if ((unsigned char)*p < 0x80)
            continue;
        for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
            size_t n = strlen(signs[i].sign);
            if ((size_t)(end - p) < n || memcmp(p, signs[i].sign, n) != 0)
                continue;
            bbf_safe_add(out, plain, (size_t)(p - plain), BBF_SAFE_ASCII, '\0');
            bbf_buf_str(out, signs[i].ascii);
            plain = p + n;
            p = plain - 1;
            break;
        }
    }
    bbf_safe_add(out, plain, (size_t)(end - plain), ascii ? BBF_SAFE_ASCII : BBF_SAFE_VALUE, '\0');
}

/* ---- Rows ------------------------------------------------------------------------------------ */

struct row {
    struct bbf_buf *out;
    const struct bbf_look *look;
    size_t column;
    size_t pending;   /* spaces to write before the next word of this row */
    const char *hang; /* the beginning of further rows; safe */
    size_t hang_len, hang_columns;
    size_t start;          /* the column that a row's own text begins at */
    struct bbf_buf *spare; /* of one piece */
};

static void set_style(struct row *row, enum style style)
{
    if (row->look->colour && style != PLAIN)
        bbf_buf_str(row->out, codes[style]);
}

static void end_style(struct row *row, enum style style)
{
    if (row->look->colour && style != PLAIN)
        bbf_buf_str(row->out, "\033[0m");
}

static void next_row(struct row *row, enum style style)
{
    row->pending = 0;
    end_style(row, style);
    bbf_buf_char(row->out, '\n');
    bbf_buf_add(row->out, row->hang, row->hang_len);
    row->column = row->start = row->hang_columns;
    set_style(row, style);
}

/* Append a safe word and the spaces after it; it moves to the next row if it does not fit. Spaces
 * at a row's end are left out, so that no row begins with them. */
static void put_word(struct row *row, const char *word, size_t len, enum style style)
{
    size_t width = row->look->width, ink = len;

    while (ink > 0 && word[ink - 1] == ' ')
        ink--;
    size_t columns = bbf_columns(word, ink), spaces = len - ink;
    if (ink > 0 && row->column + row->pending + columns > width && row->column > row->start &&
        row->hang_columns + columns <= width)
        next_row(row, style);
    for (; ink > 0 && row->pending > 0 && row->column < width; row->pending--, row->column++)
        bbf_buf_char(row->out, ' ');
    while (ink > 0 && row->column + columns > width) { /* longer than a row */
        size_t n = row->column < width ? fitting(word, ink, width - row->column) : 0;
        if (n == 0 && row->column <= row->hang_columns)
            break;
        bbf_buf_add(row->out, word, n);
        next_row(row, style);
        columns -= bbf_columns(word, n); /* counting the rest again would take quadratic time */
        word += n;
        ink -= n;
    }
    bbf_buf_add(row->out, word, ink);
    row->column += columns;
    row->pending = ink > 0 ? spaces : row->pending + spaces;
}

/* Append text that is already safe; `whole`: its words stay in one row. */
static void put_made(struct row *row, const char *text, size_t len, enum style style, bool whole)
{
    const char *end = text + len;
    size_t width = row->look->width;
    size_t room = width > row->hang_columns ? width - row->hang_columns : 0;
    size_t rest = whole && width != 0 ? bbf_columns(text, len) : 0; /* counted once */

    if (len == 0)
        return;
    set_style(row, style);
    if (width == 0)
        bbf_buf_add(row->out, text, len);
    for (const char *p = text; width != 0 && text < end; text = p) {
        while (p < end && *p != ' ')
            p++;
        if (whole && p > text && rest <= room)
            p = end;
        while (p < end && *p == ' ')
            p++;
        put_word(row, text, (size_t)(p - text), style);
        rest -= whole ? bbf_columns(text, (size_t)(p - text)) : 0;
    }
    end_style(row, style);
}

/* If rows are laid out, tabs advance to the next stop. */
static void put(struct row *row, const char *text, size_t len, enum style style, bool whole)
{
    const char *end = text + len;
    size_t at = row->column + row->pending, from = 0; /* the column of spare's byte `from` */

    row->spare->len = 0;
    while (text < end) {
        const char *tab = memchr(text, '\t', (size_t)(end - text));
        add_safe(row->spare, text, (size_t)((tab != NULL ? tab : end) - text), row->look->ascii);
        if (tab == NULL)
            break;
        if (row->spare->len > from)
            at += bbf_columns(row->spare->data + from, row->spare->len - from);
        if (row->look->width == 0)
            bbf_buf_char(row->spare, '\t');
        else
            do
                bbf_buf_char(row->spare, ' ');
            while (++at % 8 != 0);
        from = row->spare->len;
        text = tab + 1;
    }
    put_made(row, row->spare->data, row->spare->len, style, whole);
}

static bool begins(const char *text, const char *end, const char *with)
{
    size_t n = strlen(with);
    return (size_t)(end - text) >= n && memcmp(text, with, n) == 0;
}

static const char root_word[] = "ROOT: ";

/* ---- Lines of a tree ------------------------------------------------------------------------- */

struct tree_line {
    const char *bars; /* levels of indentation, and the branch */
    const char *name;
    const char *tail; /* " [ref=1, count=43] 🚨 LEAK …" */
    size_t hidden;    /* hidden levels: "(+12) " */
    size_t levels;    /* shown levels; 0: a root */
};

/* Read the levels at `p`. Returns the start of the name; NULL: not a line of a tree. */
static const char *read_levels(const char *p, const char *end, size_t *levels)
{
    *levels = 1;
    for (; begins(p, end, "│   ") || begins(p, end, "    "); ++*levels)
        p += begins(p, end, "    ") ? strlen("    ") : strlen("│   ");
    if (!begins(p, end, "├── ") && !begins(p, end, "└── "))
        return NULL;
    return p + strlen("├── ");
}

/* "│   └── Name [ref=1, count=3] …", "(+12) …", "ROOT: Name [count=3] …". */
static bool is_tree_line(const char *line, const char *end, struct tree_line *tree)
{
    *tree = (struct tree_line){.bars = line};
    if (begins(line, end, root_word)) {
        tree->name = line + strlen(root_word);
    } else {
        if (begins(line, end, "(+")) {
            for (line += 2; line < end && *line >= '0' && *line <= '9'; line++)
                if (tree->hidden < SIZE_MAX / 20)
                    tree->hidden = 10 * tree->hidden + (size_t)(*line - '0');
            if (!begins(line, end, ") "))
                return false;
            tree->bars = line + 2;
        }
        tree->name = read_levels(tree->bars, end, &tree->levels);
    }
    for (const char *p = tree->name; p != NULL && p < end; p++)
        if (*p == ' ' && (begins(p, end, " [ref=") || begins(p, end, " [count="))) {
            tree->tail = p;
            return true;
        }
    return false;
}

/* Leave most of the width to names: hide the first levels, as the tree itself does at great
 * depth. */
static void hide_levels(struct tree_line *tree, size_t width)
{
    size_t most = width * 3 / 8 / LEVEL;

    if (most < LEVELS_LEAST)
        most = LEVELS_LEAST;
    for (; width != 0 && tree->levels > most; tree->levels--, tree->hidden++)
        tree->bars += *tree->bars == ' ' ? strlen("    ") : strlen("│   ");
}

/* The beginning of the rows below a tree's line: its bars, without the branch. */
static void add_bars(struct bbf_buf *hang, const char *prefix, const char *end, bool ascii)
{
    while (prefix < end) {
        uint32_t code;
        bool bar = begins(prefix, end, "│") || begins(prefix, end, "├");
        bbf_buf_str(hang, !bar ? " " : ascii ? "|" : "│");
        if (begins(prefix, end, "├── ") || begins(prefix, end, "└── ")) {
            bbf_buf_str(hang, "   ");
            prefix += strlen("├── ");
        } else {
            prefix += bbf_utf8_next(prefix, end, &code);
        }
    }
}

/* Append `name`, already safe, in at most `most` columns: its start, a mark, and more of its
 * end. */
static bool shorten(struct bbf_buf *name, size_t most, bool ascii)
{
    const char *mark = ascii ? "..." : "…";
    size_t columns = bbf_columns(name->data, name->len), marked = ascii ? 3 : 1;

    if (columns <= most || most < NAME_LEAST)
        return false;
    size_t front = fitting(name->data, name->len, (most - marked) / 3);
    size_t room = most - marked - bbf_columns(name->data, front);
    size_t skip = fitting(name->data + front, name->len - front,
                          bbf_columns(name->data + front, name->len - front) - room);
    while (bbf_columns(name->data + front + skip, name->len - front - skip) > room)
        skip++;
    /* Do not cut within a character or before its combining marks. */
    const char *back = name->data + front + skip, *end = name->data + name->len;
    while (back < end && ((unsigned char)*back & 0xC0) == 0x80)
        back++;
    struct bbf_buf cut = BBF_BUF_INIT;
    bbf_buf_add(&cut, name->data, front);
    bbf_buf_str(&cut, mark);
    bbf_buf_add(&cut, back, (size_t)(end - back));
    bbf_buf_free(name);
    *name = cut;
    return true;
}

static bool begins_marker(const char *p, const char *end)
{
    return begins(p, end, " 🚨 LEAK ") || begins(p, end, " ⚠️ LEAK ") ||
           begins(p, end, " ⏳ AGED ");
}

/* The end of the next part of a tail: " [ref=1, count=43]", " 🚨 LEAK 41 (10.3 KiB direct)", or
 * anything up to the next marker. *whole: it must stay in one row. */
static const char *tail_span(const char *p, const char *end, enum style *style, bool *whole)
{
    char last = begins(p, end, " [") ? ']' : begins_marker(p, end) ? ')' : '\0';

    *style = last == ']' ? DIM : last == '\0' ? PLAIN : begins(p, end, " ⏳") ? YELLOW : RED;
    *whole = last != '\0';
    for (p++; p < end; p++) {
        if (last != '\0' && *p == last)
            return p + 1;
        if (last == '\0' && begins_marker(p, end))
            break;
    }
    return p;
}

/* The columns for the name, which has `columns`: it is shortened a little to keep the marker in its
 * row, and more only to keep the counts. */
static size_t name_room(struct row *row, const struct tree_line *tree, const char *end,
                        size_t columns)
{
    size_t room = row->look->width > row->column ? row->look->width - row->column : 0;
    size_t used = 0, most = 0;
    const char *p = tree->tail;

    row->spare->len = 0;
    for (int i = 0; i < 2 && p < end; i++) {
        enum style style;
        bool whole;
        const char *next = tail_span(p, end, &style, &whole);
        add_safe(row->spare, p, (size_t)(next - p), row->look->ascii);
        used = bbf_columns(row->spare->data, row->spare->len);
        size_t left = room > used ? room - used : 0;
        if (whole && (i == 0 || left >= NAME_GOOD))
            most = left;
        p = next;
    }
    if (columns <= room && columns > most && most < NAME_LEAST)
        return columns;
    return most > NAME_LEAST ? most : NAME_LEAST;
}

/* Append the text before the name, and set the beginning of further rows. */
static void put_bars(struct row *row, const struct tree_line *tree, struct bbf_buf *hang)
{
    const struct bbf_look *look = row->look;

    if (tree->levels == 0)
        bbf_buf_str(row->spare, root_word);
    else if (tree->hidden > 0)
        bbf_buf_printf(row->spare, "(+%zu) ", tree->hidden);
    size_t front = row->spare->len;
    if (tree->levels > 0)
        add_safe(row->spare, tree->bars, (size_t)(tree->name - tree->bars), look->ascii);
    set_style(row, tree->levels == 0 ? BOLD : PLAIN);
    bbf_buf_add(row->out, row->spare->data, row->spare->len);
    end_style(row, tree->levels == 0 ? BOLD : PLAIN);
    row->column = row->start = bbf_columns(row->spare->data, row->spare->len);

    for (size_t i = 0; tree->levels > 0 && i < front; i++)
        bbf_buf_char(hang, ' ');
    if (tree->levels > 0)
        add_bars(hang, tree->bars, tree->name, look->ascii);
    bbf_buf_str(hang, "    ");
    if (look->width != 0 && bbf_columns(hang->data, hang->len) + ROOM_LEAST > look->width) {
        hang->len = 0;
        bbf_buf_str(hang, "    ");
    }
    row->hang = hang->data;
    row->hang_len = hang->len;
    row->hang_columns = bbf_columns(hang->data, hang->len);
}

static bool put_tree_line(struct row *row, struct tree_line *tree, const char *end)
{
    struct bbf_buf name = BBF_BUF_INIT, hang = BBF_BUF_INIT;
    const struct bbf_look *look = row->look;
    bool cut = false;

    hide_levels(tree, look->width);
    put_bars(row, tree, &hang);
    bbf_safe_add(&name, tree->name, (size_t)(tree->tail - tree->name),
                 look->ascii ? BBF_SAFE_ASCII : BBF_SAFE_VALUE, '\0');
    if (look->width != 0)
        cut = shorten(&name, name_room(row, tree, end, bbf_columns(name.data, name.len)),
                      look->ascii);
    put_made(row, name.data, name.len, tree->levels == 0 ? BOLD : PLAIN, false);
    for (const char *p = tree->tail, *next; p < end; p = next) {
        enum style style;
        bool whole;
        next = tail_span(p, end, &style, &whole);
        put(row, p, (size_t)(next - p), style, whole);
    }
    row->out->failed = row->out->failed || name.failed || hang.failed;
    bbf_buf_free(&name);
    bbf_buf_free(&hang);
    return cut;
}

/* ---- Other lines ----------------------------------------------------------------------------- */

static const struct {
    const char *start;
    enum style style;
    bool whole; /* the whole line, not only these words */
} marks[] = {
    {"=== ", BOLD, true},
    {"Where lives are lost:", BOLD, true},
    {"CRITICAL LEAK", RED, false},
    {"MODERATE LEAK", RED, false},
    {"LEAK proven", RED, false},
    {"LEAK", RED, false},
    {"STILL OPEN", YELLOW, false},
    {"place loses buffers", BOLD, true},
    {"places lose buffers", BOLD, true},
    {"AGED", YELLOW, false},
    {"USED AFTER RELEASE", RED, false},
    {"note:", YELLOW, false},
    {"ERROR", RED, false},
};

static void put_line(struct row *row, const char *line, const char *end)
{
    char spaces[64];
    size_t indent = 0, most = row->look->width / 2;

    memset(spaces, ' ', sizeof spaces);
    while (line + indent < end && line[indent] == ' ')
        indent++;
    row->hang_columns = (indent < most ? indent : most) + HANG;
    if (row->hang_columns > sizeof spaces)
        row->hang_columns = sizeof spaces;
    row->hang = spaces;
    row->hang_len = row->hang_columns;
    row->start = row->column;
    /* In the live stream, after a time. */
    const char *from = line;
    while (from < end && strchr("0123456789:-+.TZ ", *from) != NULL)
        from++;
    for (size_t i = 0; row->look->colour && i < sizeof marks / sizeof marks[0]; i++) {
        if (!begins(from, end, marks[i].start))
            continue;
        const char *to = marks[i].whole ? end : from + strlen(marks[i].start);
        put(row, line, (size_t)(from - line), PLAIN, false);
        put(row, from, (size_t)(to - from), marks[i].style, false);
        line = to;
        break;
    }
    put(row, line, (size_t)(end - line), PLAIN, false);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Is it plain ASCII that fits? Nearly every line of a long text is. */
static bool is_plain(const char *line, const char *end, const struct bbf_look *look)
{
    if (look->colour || (look->width != 0 && (size_t)(end - line) > look->width))
        return false;
    for (; line < end; line++)
        if (*line < ' ' || *line > '~')
            return false;
    return true;
}

/* An agent's text must not look like bbflow's own messages (client.h). */
static bool is_forged(const char *line, const char *end, const struct bbf_look *look)
{
    return look->foreign && begins(line, end, "bbflow:");
}

bool bbf_layout(struct bbf_buf *out, const char *text, size_t len, const struct bbf_look *look)
{
    static const char says[] = "the agent says: ";
    struct bbf_buf spare = BBF_BUF_INIT;
    const char *end = text + len;
    bool cut = false;

    for (const char *line = text; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline != NULL ? newline : end;
        struct row row = {.out = out, .look = look, .spare = &spare};
        struct tree_line tree;
        spare.len = 0;
        if (is_forged(line, stop, look)) {
            put_made(&row, says, sizeof says - 1, PLAIN, false);
            put_line(&row, line, stop);
        } else if (is_plain(line, stop, look)) {
            bbf_buf_add(out, line, (size_t)(stop - line));
        } else if (look->width == 0 && !look->colour && !look->ascii) { /* a pipe */
            bbf_safe_add(out, line, (size_t)(stop - line), BBF_SAFE_LINES, '\0');
        } else if (is_tree_line(line, stop, &tree)) {
            cut |= put_tree_line(&row, &tree, stop);
        } else {
            put_line(&row, line, stop);
        }
        if (newline != NULL)
            bbf_buf_char(out, '\n');
        line = stop + (newline != NULL);
    }
    out->failed = out->failed || spare.failed;
    bbf_buf_free(&spare);
    return cut;
}
