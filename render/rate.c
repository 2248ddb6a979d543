/* SPDX-License-Identifier: Apache-2.0 */
#include "render/rate.h"

#include <inttypes.h>
#include <math.h>

static const double Z = 1.959963984540054; /* of the normal distribution, 95 % on two sides */

struct bbf_interval bbf_rate_of(uint64_t lost, uint64_t passed, uint64_t sampled)
{
    if (passed == 0)
        return (struct bbf_interval){0, 0, 1};
    if (lost > passed)
        lost = passed; /* a document may say so */
    const double n = (double)passed / (double)(sampled > 1 ? sampled : 1);
    const double p = (double)lost / (double)passed, z2 = Z * Z;
    const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    const double half = Z / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));

    /* Without rounding: none lost has no lower end, all lost no upper one. */
    return (struct bbf_interval){p, lost == 0 || half > middle ? 0 : middle - half,
                                 lost == passed || middle + half > 1 ? 1 : middle + half};
}

struct bbf_interval bbf_rate_change(const struct bbf_interval *before,
                                    const struct bbf_interval *now)
{
    const double change = now->at - before->at;
    const double down = now->at - now->low, up = now->high - now->at;
    const double before_down = before->at - before->low, before_up = before->high - before->at;

    return (struct bbf_interval){change, change - sqrt(down * down + before_up * before_up),
                                 change + sqrt(up * up + before_down * before_down)};
}

/* printf("%f") writes the locale's decimal point, and a JVM sets its locale. */
void bbf_rate_text(struct bbf_buf *out, double share, bool sign)
{
    static const struct {
        uint64_t least; /* millionths of one in 1,000 */
        int decimals;
    } precisions[] = {{10000000, 1}, {1000000, 2}, {10000, 4}, {0, 6}};
    uint64_t millionths = (uint64_t)(fabs(share) * 1e9 + 0.5), unit = 1000000, half;
    size_t i = 0;

    if (millionths != 0 && share < 0)
        bbf_buf_char(out, '-');
    else if (sign && millionths != 0)
        bbf_buf_char(out, '+');
    while (millionths < precisions[i].least)
        i++;
    for (int d = 0; d < precisions[i].decimals; d++)
        unit /= 10;
    half = unit / 2;
    millionths = (millionths + half) / unit * unit;
    int decimals = precisions[i].decimals;
    uint64_t part = millionths % 1000000 / unit;
    for (; decimals > 0 && part % 10 == 0; part /= 10)
        decimals--;
    bbf_buf_printf(out, "%" PRIu64, millionths / 1000000);
    if (decimals > 0)
        bbf_buf_printf(out, ".%0*" PRIu64, decimals, part);
}

void bbf_rate_interval_text(struct bbf_buf *out, const struct bbf_interval *rate)
{
    bbf_rate_text(out, rate->at, false);
    bbf_buf_str(out, " per 1,000 (95%: ");
    bbf_rate_text(out, rate->low, false);
    bbf_buf_str(out, " to ");
    bbf_rate_text(out, rate->high, false);
    bbf_buf_char(out, ')');
}
