/* SPDX-License-Identifier: Apache-2.0 */
#include "render/html.h"

#include <string.h>

#include "render_live.h" /* bbf__live: made when bbflow is built */

void bbf_html_live(struct bbf_buf *out)
{
    bbf_html_add(out, BBF_HTML_TOP, BBF_HTML_TOP);
    bbf_buf_add(out, bbf__live_policy, sizeof bbf__live_policy - 1);
    bbf_html_add(out, BBF_HTML_HEAD, BBF_HTML_HEAD);
    bbf_buf_str(out, "null\n");
    bbf_html_add(out, BBF_HTML_BETWEEN, BBF_HTML_BETWEEN);
    bbf_buf_str(out, "null\n");
    bbf_html_add(out, BBF_HTML_END, BBF_HTML_END);
    bbf_buf_add(out, bbf__live_script, sizeof bbf__live_script - 1);
    bbf_html_add(out, BBF_HTML_BOTTOM, BBF_HTML_BOTTOM);
}

bool bbf_html_data(struct bbf_buf *page)
{
    struct bbf_buf head = BBF_BUF_INIT, between = BBF_BUF_INIT, end = BBF_BUF_INIT;
    char *report = NULL, *cut = NULL;

    bbf_html_add(&head, BBF_HTML_TOP, BBF_HTML_HEAD);
    bbf_html_add(&between, BBF_HTML_BETWEEN, BBF_HTML_BETWEEN);
    bbf_html_add(&end, BBF_HTML_END, BBF_HTML_BOTTOM);
    bool good = !head.failed && !between.failed && !end.failed && !page->failed &&
                page->len >= head.len + between.len + end.len &&
                memcmp(page->data, head.data, head.len) == 0 &&
                memcmp(page->data + page->len - end.len, end.data, end.len) == 0;
    if (good) {
        report = page->data + head.len;
        cut = memmem(report, page->len - head.len - end.len, between.data, between.len);
        good = cut != NULL; /* the data has no '<' */
    }
    if (good) {
        const size_t report_len = (size_t)(cut - report);
        const size_t snapshot_len = (size_t)(page->data + page->len - end.len - cut) - between.len;
        memmove(page->data, report, report_len);
        page->data[report_len] = BBF_HTML_MARK;
        memmove(page->data + report_len + 1, cut + between.len, snapshot_len);
        page->len = report_len + 1 + snapshot_len;
    }
    bbf_buf_free(&head);
    bbf_buf_free(&between);
    bbf_buf_free(&end);
    return good;
}
