/* SPDX-License-Identifier: Apache-2.0 */
#include "client/layout.h"

#include <stdlib.h>
#include <string.h>

#include "client/row.h"
#include "core/safe.h"

enum {
    LEVEL = 4,        /* columns of one level of the tree */
    LEVELS_LEAST = 3, /* shown even on a narrow screen */
    NAME_LEAST = 16,  /* a name is not cut below this, */
    NAME_GOOD = 24,   /* and not below this for a marker that can go to the next row */
    ROOM_LEAST = 32,  /* columns of a further row: a marker has that many */
    HANG = 4          /* further rows of a line are so much further right */
};

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
    size_t front = bbf_fitting(name->data, name->len, (most - marked) / 3);
    size_t room = most - marked - bbf_columns(name->data, front);
    size_t skip = bbf_fitting(name->data + front, name->len - front,
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
static const char *tail_span(const char *p, const char *end, enum bbf_style *style, bool *whole)
{
    char last = begins(p, end, " [") ? ']' : begins_marker(p, end) ? ')' : '\0';

    *style = last == ']'            ? BBF_DIM
             : last == '\0'         ? BBF_PLAIN
             : begins(p, end, " ⏳") ? BBF_YELLOW
                                    : BBF_RED;
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
static size_t name_room(struct bbf_screen_row *row, const struct tree_line *tree, const char *end,
                        size_t columns)
{
    size_t room = row->look->width > row->column ? row->look->width - row->column : 0;
    size_t used = 0, most = 0;
    const char *p = tree->tail;

    row->spare->len = 0;
    for (int i = 0; i < 2 && p < end; i++) {
        enum bbf_style style;
        bool whole;
        const char *next = tail_span(p, end, &style, &whole);
        bbf_row_safe(row->spare, p, (size_t)(next - p), row->look->ascii);
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
static void put_bars(struct bbf_screen_row *row, const struct tree_line *tree, struct bbf_buf *hang)
{
    const struct bbf_look *look = row->look;

    if (tree->levels == 0)
        bbf_buf_str(row->spare, root_word);
    else if (tree->hidden > 0)
        bbf_buf_printf(row->spare, "(+%zu) ", tree->hidden);
    size_t front = row->spare->len;
    if (tree->levels > 0)
        bbf_row_safe(row->spare, tree->bars, (size_t)(tree->name - tree->bars), look->ascii);
    bbf_row_style(row, tree->levels == 0 ? BBF_BOLD : BBF_PLAIN);
    bbf_buf_add(row->out, row->spare->data, row->spare->len);
    bbf_row_style_end(row, tree->levels == 0 ? BBF_BOLD : BBF_PLAIN);
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

static bool put_tree_line(struct bbf_screen_row *row, struct tree_line *tree, const char *end)
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
    bbf_row_add_safe(row, name.data, name.len, tree->levels == 0 ? BBF_BOLD : BBF_PLAIN, false);
    for (const char *p = tree->tail, *next; p < end; p = next) {
        enum bbf_style style;
        bool whole;
        next = tail_span(p, end, &style, &whole);
        bbf_row_add(row, p, (size_t)(next - p), style, whole);
    }
    row->out->failed = row->out->failed || name.failed || hang.failed;
    bbf_buf_free(&name);
    bbf_buf_free(&hang);
    return cut;
}

/* ---- Other lines ----------------------------------------------------------------------------- */

static const struct {
    const char *start;
    enum bbf_style style;
    bool whole; /* the whole line, not only these words */
} marks[] = {
    {"=== ", BBF_BOLD, true},
    {"Where lives are lost:", BBF_BOLD, true},
    {"CRITICAL LEAK", BBF_RED, false},
    {"MODERATE LEAK", BBF_RED, false},
    {"LEAK proven", BBF_RED, false},
    {"LEAK", BBF_RED, false},
    {"STILL OPEN", BBF_YELLOW, false},
    {"place loses buffers", BBF_BOLD, true},
    {"places lose buffers", BBF_BOLD, true},
    {"AGED", BBF_YELLOW, false},
    {"USED AFTER RELEASE", BBF_RED, false},
    {"note:", BBF_YELLOW, false},
    {"ERROR", BBF_RED, false},
};

static void put_line(struct bbf_screen_row *row, const char *line, const char *end)
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
        bbf_row_add(row, line, (size_t)(from - line), BBF_PLAIN, false);
        bbf_row_add(row, from, (size_t)(to - from), marks[i].style, false);
        line = to;
        break;
    }
    bbf_row_add(row, line, (size_t)(end - line), BBF_PLAIN, false);
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
        struct bbf_screen_row row = {.out = out, .look = look, .spare = &spare};
        struct tree_line tree;
        spare.len = 0;
        if (is_forged(line, stop, look)) {
            bbf_row_add_safe(&row, says, sizeof says - 1, BBF_PLAIN, false);
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
