/* link: bbf_core */
/*
 * Option strings: whatever is accepted must be shown in a form that gives the same values again;
 * whatever is refused must say where, within the string.
 */
#include "core/err.h"
#include "core/option.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "name=value;…" of everything that has a value. */
static void show_all(const struct bbf_options *options, struct bbf_buf *out)
{
    for (size_t i = 0; i < bbf_options_count(); i++) {
        struct bbf_buf value = BBF_BUF_INIT;
        bbf_option_show(options, i, &value);
        if (value.len > 0)
            bbf_buf_printf(out, "%s=%s;", bbf_option_name(i), bbf_buf_cstr(&value));
        bbf_buf_free(&value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bbf_options options, again, copy;
    struct bbf_option_error error;
    struct bbf_buf first = BBF_BUF_INIT, second = BBF_BUF_INIT;
    char *text = strndup((const char *)data, size);
    if (text == NULL)
        return 0;

    bbf_options_init(&options);
    bbf_options_init(&again);
    int rc = bbf_options_parse(&options, text, &error);
    if (rc == BBF_OK) {
        show_all(&options, &first);
        if (bbf_options_parse(&again, bbf_buf_cstr(&first), &error) != BBF_OK ||
            bbf_options_copy(&copy, &again) != BBF_OK)
            abort();
        show_all(&copy, &second);
        if (strcmp(bbf_buf_cstr(&first), bbf_buf_cstr(&second)) != 0)
            abort();
        bbf_options_free(&copy);
    } else if (rc != BBF_EINVAL || error.at.column == 0 || error.at.column > strlen(text) + 1 ||
               error.at.text[0] == '\0') {
        abort();
    }
    bbf_buf_free(&first);
    bbf_buf_free(&second);
    bbf_options_free(&options);
    bbf_options_free(&again);
    free(text);
    return 0;
}
