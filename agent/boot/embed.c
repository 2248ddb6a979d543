/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/boot/embed.c - build tool: embed CLASSES.TXT FOLDER BYTES.C CLASSES.H
 *
 * Reads java-shim/boot/classes.txt and the compiled classes in FOLDER. Writes the classes as C
 * arrays (bbf_NAME_class, bbf_NAME_class_len), and the names as a list of XX(NAME) for
 * agent/boot/shim.c, those with "on-demand" in a list of their own. Exit 1 with a message.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int embed_class(FILE *out, const char *folder, const char *name)
{
    char path[4096];
    size_t len = 0;
    snprintf(path, sizeof path, "%s/%s.class", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    fprintf(out, "extern const unsigned char bbf_%s_class[];\n", name);
    fprintf(out, "extern const size_t bbf_%s_class_len;\n", name);
    fprintf(out, "const unsigned char bbf_%s_class[] = {", name);
    for (int c; (c = getc(file)) != EOF; len++)
        fprintf(out, "%s%d,", len % 24 == 0 ? "\n" : "", c);
    fprintf(out, "\n};\nconst size_t bbf_%s_class_len = %zu;\n", name, len);
    fclose(file);
    return 0;
}

/* The rows of one of the two lists. */
static void list_classes(FILE *rows, FILE *out, const char *list, int on_demand)
{
    char line[512], name[100], when[100];
    fprintf(out, "#define %s(XX)", list);
    rewind(rows);
    while (fgets(line, sizeof line, rows) != NULL) {
        int columns = sscanf(line, "%99s %99s", name, when);
        if (columns >= 1 && isupper((unsigned char)name[0]) && (columns == 2) == on_demand)
            fprintf(out, " \\\n    XX(%s)", name);
    }
    fputs("\n", out);
}

int main(int argc, char **argv)
{
    char line[512], name[100];
    int bad = argc != 5;
    FILE *rows = bad ? NULL : fopen(argv[1], "r");
    FILE *bytes = bad ? NULL : fopen(argv[3], "w"), *header = bad ? NULL : fopen(argv[4], "w");
    if (rows == NULL || bytes == NULL || header == NULL) {
        fputs("embed CLASSES.TXT FOLDER BYTES.C CLASSES.H: a file cannot be opened\n", stderr);
        return 1;
    }
    fputs("#include <stddef.h>\n", bytes);
    while (!bad && fgets(line, sizeof line, rows) != NULL)
        if (sscanf(line, "%99s", name) == 1 && isupper((unsigned char)name[0]))
            bad = embed_class(bytes, argv[2], name);
    list_classes(rows, header, "BBF_SHIM_CLASSES", 0);
    list_classes(rows, header, "BBF_SHIM_CLASSES_ON_DEMAND", 1);
    bad |= ferror(bytes) | ferror(header);
    return fclose(bytes) != 0 || fclose(header) != 0 || bad;
}
