/* agent/embed.c - build tool: prints the class files named as C arrays: embed NAME FILE … */
#include <stdio.h>

int main(int argc, char **argv)
{
    puts("#include <stddef.h>");
    for (int i = 1; i + 1 < argc; i += 2) {
        FILE *file = fopen(argv[i + 1], "rb");
        if (file == NULL) {
            perror(argv[i + 1]);
            return 1;
        }
        size_t len = 0;
        printf("extern const unsigned char %s[];\nextern const size_t %s_len;\n", argv[i], argv[i]);
        printf("const unsigned char %s[] = {", argv[i]);
        for (int c; (c = getc(file)) != EOF; len++)
            printf("%s%d,", len % 24 == 0 ? "\n" : "", c);
        printf("\n};\nconst size_t %s_len = %zu;\n", argv[i], len);
        fclose(file);
    }
    return 0;
}
