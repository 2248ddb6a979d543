/* SPDX-License-Identifier: Apache-2.0 */
#include "render/estimate.h"

#include <inttypes.h>
#include <math.h>

#include "render/text.h"

static const double Z = 1.959963984540054; /* of the normal distribution, 95 % on two sides */

bool bbf_is_windowed(const struct bbf_snapshot *snapshot)
{
    return snapshot->windows.used && snapshot->windows.share_ppb_ < BBF_SHARE_ALL_PPB;
}

static double larger(double a, double b)
{
    return a > b ? a : b; /* fmax() is a call of libm */
}

static double cube(double x)
{
    return x * x * x;
}

struct bbf_estimate bbf_estimate_of(const struct bbf_snap_windows *windows, uint64_t count)
{
    const double share = (double)windows->share_ppb_ / BBF_SHARE_ALL_PPB, n = (double)count;
    const double by_windows = Z * n * (double)windows->spread_ppm_ / 1e6;
    double low = 0, high = cube(1 - 1 / (9 * (n + 1)) + Z / (3 * sqrt(n + 1))) * (n + 1);

    if (count > 0)
        low = larger(0, cube(1 - 1 / (9 * n) - Z / (3 * sqrt(n))) * n);
    low = n - sqrt((1 - share) * (n - low) * (n - low) + by_windows * by_windows);
    high = n + sqrt((1 - share) * (high - n) * (high - n) + by_windows * by_windows);
    return (struct bbf_estimate){n / share, larger(low / share, n), high / share};
}

/* In three digits: an estimate has not more. */
static void add_rounded(struct bbf_buf *out, double number)
{
    double unit = 1;

    while (number / unit >= 1000 && unit < 1e15)
        unit *= 10;
    bbf_text_grouped(out, (uint64_t)(number / unit + 0.5) * (uint64_t)unit);
}

void bbf_estimate_text(struct bbf_buf *out, const struct bbf_snapshot *snapshot, uint64_t count)
{
    if (!bbf_is_windowed(snapshot) || count == 0)
        return;
    const struct bbf_estimate e = bbf_estimate_of(&snapshot->windows, count);
    bbf_buf_str(out, ", about ");
    add_rounded(out, e.at);
    bbf_buf_str(out, " (");
    add_rounded(out, e.low);
    bbf_buf_str(out, " to ");
    add_rounded(out, e.high);
    bbf_buf_str(out, ") in all");
}

void bbf_estimate_json(struct bbf_buf *out, const struct bbf_snap_windows *windows)
{
    const char *comma = "";

    if (!windows->used)
        return;
    bbf_buf_str(out, "\"windows\":{");
#define XX(name)                                                                                   \
    bbf_buf_printf(out, "%s\"" #name "\":%" PRIu64, comma, windows->name##_);                      \
    comma = ",";
    BBF_WINDOWS_COLUMNS(XX)
#undef XX
    bbf_buf_str(out, "},\n");
}

void bbf_estimate_json_leak(struct bbf_buf *out, const struct bbf_snapshot *snapshot,
                            uint64_t count)
{
    if (!bbf_is_windowed(snapshot))
        return;
    const struct bbf_estimate e = bbf_estimate_of(&snapshot->windows, count);
    bbf_buf_printf(
        out, ",\"estimated\":%" PRIu64 ",\"estimated_low\":%" PRIu64 ",\"estimated_high\":%" PRIu64,
        (uint64_t)(e.at + 0.5), (uint64_t)e.low, (uint64_t)(e.high + 1));
}
