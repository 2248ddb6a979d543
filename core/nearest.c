/* SPDX-License-Identifier: Apache-2.0 */
#include "core/nearest.h"

#include <ctype.h>
#include <string.h>

enum { WORD_MAX = 64 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static int letter(const char *word, size_t i)
{
    return tolower((unsigned char)word[i]);
}

size_t bbf_edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    /* rows[i % 3][j]: edits from a[0..i) to b[0..j); a swap looks two rows back. */
    size_t rows[3][WORD_MAX + 1];

    if (a_len > WORD_MAX)
        a_len = WORD_MAX;
    if (b_len > WORD_MAX)
        b_len = WORD_MAX;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t cost = letter(a, i - 1) == letter(b, j - 1) ? 0 : 1;
            now[j] = min3(above[j] + 1, now[j - 1] + 1, above[j - 1] + cost);
            if (i > 1 && j > 1 && letter(a, i - 1) == letter(b, j - 2) &&
                letter(a, i - 2) == letter(b, j - 1) && rows[(i - 2) % 3][j - 2] + 1 < now[j])
                now[j] = rows[(i - 2) % 3][j - 2] + 1;
        }
    }
    return rows[a_len % 3][b_len];
}

const char *bbf_nearest(const char *text, size_t len, size_t count, const char *(*word)(size_t i))
{
    const char *best = NULL;
    size_t best_edits = len / 3 < 2 ? 2 : len / 3;

    if (len > WORD_MAX)
        return NULL;
    if (len <= 3)
        best_edits = 1; /* short words are near to every word */
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(word(i));
        if ((n > len ? n - len : len - n) > best_edits)
            continue; /* each surplus letter is an edit */
        size_t edits = bbf_edit_distance(text, len, word(i), n);
        if (edits < best_edits || (edits == best_edits && best == NULL)) {
            best = word(i);
            best_edits = edits;
        }
    }
    return best;
}
