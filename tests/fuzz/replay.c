/*
 * tests/fuzz/replay.c - runs a fuzz target over every file of the folders given, as an ordinary
 * test: what a fuzzer once found stays fixed in every build.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return -1;
    uint8_t *data = NULL;
    size_t len = 0, cap = 0, got;
    do {
        if (len == cap && (data = realloc(data, cap = cap * 2 + 4096)) == NULL)
            abort();
        got = fread(data + len, 1, cap - len, file);
        len += got;
    } while (got > 0);
    fclose(file);
    /* An exact copy, so that a sanitizer sees a read one byte past the input. */
    uint8_t *exact = malloc(len > 0 ? len : 1);
    if (exact == NULL)
        abort();
    for (size_t i = 0; i < len; i++)
        exact[i] = data[i];
    LLVMFuzzerTestOneInput(exact, len);
    free(exact);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (dir == NULL) {
            fprintf(stderr, "replay: no corpus folder %s\n", argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
            char path[4096];
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (replay_file(path) == 0)
                files++;
        }
        closedir(dir);
    }
    printf("%d inputs replayed\n", files);
    return files > 0 ? 0 : 1;
}
