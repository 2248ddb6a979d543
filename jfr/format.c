/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, MS_PER_SECOND = 1000 };

/* ---- numbers ---- */

/* Digits and decimal exponent of the shortest text of `value` > 0: d.ddd x 10^exponent. */
static int shortest(double value, bool is_float, char digits[24])
{
    char text[40];

    /* Java never prefers one digit to a closer number of two. */
    for (int precision = 1;; precision++) {
        (void)snprintf(text, sizeof(text), "%.*e", precision, value);
        bool same = is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
        if (same || precision == 17)
            break;
    }
    char *e = strchr(text, 'e');
    size_t n = 0;
    for (const char *at = text; at < e; at++) {
        if (*at != '.')
            digits[n++] = *at;
    }
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    return (int)strtol(e + 1, NULL, 10);
}

static void add_scientific(struct bbf_buf *out, const char *digits, int exponent)
{
    bbf_buf_char(out, digits[0]);
    bbf_buf_char(out, '.');
    bbf_buf_str(out, digits[1] != '\0' ? digits + 1 : "0");
    bbf_buf_printf(out, "E%d", exponent);
}

static void add_decimal(struct bbf_buf *out, const char *digits, int exponent)
{
    int n = (int)strlen(digits);

    if (exponent < 0)
        bbf_buf_str(out, "0.");
    for (int i = exponent + 1; i < 0; i++)
        bbf_buf_char(out, '0');
    for (int i = 0; i < n || i <= exponent; i++) {
        bbf_buf_char(out, i < n ? digits[i] : '0');
        if (i == exponent)
            bbf_buf_char(out, '.');
    }
    if (exponent >= n - 1)
        bbf_buf_char(out, '0');
}

void bbf_jfr_add_real(struct bbf_buf *out, double value, bool is_float)
{
    char digits[24];

    if (isnan(value) || isinf(value)) {
        bbf_buf_str(out, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
        return;
    }
    if (signbit(value))
        bbf_buf_char(out, '-');
    value = fabs(value);
    if (value == 0) {
        bbf_buf_str(out, "0.0");
        return;
    }
    int exponent = shortest(value, is_float, digits);

    if (value >= 1e-3 && value < 1e7)
        add_decimal(out, digits, exponent);
    else
        add_scientific(out, digits, exponent);
}

/* `digits` rounded half up to `keep` of them, in place; true: it became one digit longer. */
static bool round_digits(char *digits, int keep)
{
    int n = (int)strlen(digits), i = keep - 1;
    bool up = keep >= 0 && keep < n && digits[keep] >= '5';

    if (keep < n)
        digits[keep > 0 ? keep : 0] = '\0';
    for (; up && i >= 0; i--) {
        up = digits[i] == '9';
        digits[i] = (char)(up ? '0' : digits[i] + 1);
    }
    if (up) {
        memmove(digits + 1, digits, strlen(digits) + 1);
        digits[0] = '1';
    }
    return up;
}

/* Java rounds the shortest text half up, where printf() rounds the exact value half to even. */
static void add_fixed(struct bbf_buf *out, double value, int decimals)
{
    char digits[32] = "0";
    int exponent = 0;

    if (signbit(value))
        bbf_buf_char(out, '-');
    if (value != 0)
        exponent = shortest(fabs(value), false, digits);
    if (round_digits(digits, exponent + 1 + decimals))
        exponent++;
    int n = (int)strlen(digits);
    for (int place = exponent > 0 ? exponent : 0; place >= -decimals; place--) {
        int i = exponent - place;
        bbf_buf_char(out, i >= 0 && i < n ? digits[i] : '0');
        if (place == 0 && decimals > 0)
            bbf_buf_char(out, '.');
    }
}

void bbf_jfr_add_fixed(struct bbf_buf *out, double value, int decimals)
{
    if (isnan(value) || isinf(value))
        bbf_jfr_add_real(out, value, false);
    else
        add_fixed(out, value, decimals);
}

void bbf_jfr_add_integer(struct bbf_buf *out, int64_t value, bool is_unsigned)
{
    if (is_unsigned)
        bbf_buf_printf(out, "%" PRIu64, (uint64_t)value);
    else
        bbf_buf_printf(out, "%" PRId64, value);
}

/* ---- durations ---- */

/* Java prints a negative duration part by part, each with its sign. */
void bbf_jfr_add_duration_iso(struct bbf_buf *out, struct bbf_jfr_duration d)
{
    int64_t whole = d.seconds + (d.seconds < 0 && d.nanos > 0);
    int64_t hours = whole / HOUR, minutes = whole % HOUR / MINUTE, seconds = whole % MINUTE;
    int32_t nanos = d.seconds < 0 && d.nanos > 0 ? (int32_t)(NS_PER_SECOND - d.nanos) : d.nanos;
    char fraction[16];

    bbf_buf_str(out, "PT");
    if (d.seconds == 0 && d.nanos == 0) {
        bbf_buf_str(out, "0S");
        return;
    }
    if (hours != 0)
        bbf_buf_printf(out, "%" PRId64 "H", hours);
    if (minutes != 0)
        bbf_buf_printf(out, "%" PRId64 "M", minutes);
    if (seconds == 0 && nanos == 0)
        return;
    bbf_buf_printf(out, "%s%" PRId64, d.seconds < 0 && seconds == 0 ? "-" : "", seconds);
    if (nanos != 0) {
        int len = snprintf(fraction, sizeof(fraction), ".%09" PRId32, nanos);
        while (fraction[len - 1] == '0')
            len--;
        bbf_buf_add(out, fraction, (size_t)len);
    }
    bbf_buf_char(out, 'S');
}

static int digits_of(int64_t value)
{
    int n = 1;

    for (; value >= 10; value /= 10)
        n++;
    return n;
}

static int64_t power_of_ten(int n)
{
    int64_t value = 1;

    while (n-- > 0)
        value *= 10;
    return value;
}

static int64_t round_to(int64_t value, int64_t unit)
{
    return unit > 1 ? (value + unit / 2) / unit * unit : value;
}

/* Three significant digits, seconds and minutes and hours as two parts. */
static struct bbf_jfr_duration rounded(struct bbf_jfr_duration d)
{
    int64_t part = d.nanos;

    if (d.seconds == 0 && d.nanos < 1000)
        return d;
    if (d.seconds == 0) {
        part = round_to(part, power_of_ten(digits_of(part) - 3));
    } else if (d.seconds < MINUTE) {
        int64_t millis = round_to(part / 1000000, power_of_ten(digits_of(d.seconds)));
        part = millis * 1000000;
    } else if (d.seconds < HOUR) {
        d.seconds += part >= NS_PER_SECOND / 2;
        part = 0;
    } else if (d.seconds < DAY) {
        d.seconds = (d.seconds + MINUTE / 2) / MINUTE * MINUTE;
    } else {
        d.seconds = (d.seconds + HOUR / 2) / HOUR * HOUR;
    }
    d.seconds += part / NS_PER_SECOND;
    d.nanos = (int32_t)(part % NS_PER_SECOND);
    return d;
}

static void add_unit(struct bbf_buf *out, double value, int decimals, const char *unit)
{
    bbf_jfr_add_fixed(out, value, decimals);
    bbf_buf_str(out, unit);
}

static void add_positive(struct bbf_buf *out, struct bbf_jfr_duration d)
{
    double millis = (double)d.nanos / 1e6;

    if (d.seconds == 0 && d.nanos < 1000)
        add_unit(out, millis, 6, " ms");
    else if (d.seconds == 0)
        add_unit(out, millis, 9 - digits_of(d.nanos), " ms");
    else if (d.seconds < MINUTE)
        add_unit(out, (double)d.seconds + (double)(d.nanos / 1000000) / 1000,
                 3 - digits_of(d.seconds), " s");
    else if (d.seconds < HOUR)
        bbf_buf_printf(out, "%" PRId64 " m %" PRId64 " s", d.seconds / MINUTE, d.seconds % MINUTE);
    else if (d.seconds < DAY)
        bbf_buf_printf(out, "%" PRId64 " h %" PRId64 " m", d.seconds / HOUR,
                       d.seconds % HOUR / MINUTE);
    else
        bbf_buf_printf(out, "%" PRId64 " d %" PRId64 " h", d.seconds / DAY, d.seconds % DAY / HOUR);
}

void bbf_jfr_add_duration(struct bbf_buf *out, struct bbf_jfr_duration d)
{
    bool is_negative = d.seconds < 0;

    if (is_negative) {
        d.seconds = -d.seconds - (d.nanos > 0);
        d.nanos = d.nanos > 0 ? (int32_t)(NS_PER_SECOND - d.nanos) : 0;
    }
    d = rounded(d);
    if (d.seconds == 0 && d.nanos == 0) {
        bbf_buf_str(out, "0 s");
        return;
    }
    if (is_negative)
        bbf_buf_char(out, '-');
    add_positive(out, d);
}

/* ---- times ---- */

/* Broken-down time; *nanos is the rest. */
static struct tm time_of(int64_t epoch_ns, int offset_ms, int *nanos)
{
    int64_t seconds = epoch_ns / NS_PER_SECOND, rest = epoch_ns % NS_PER_SECOND;
    struct tm tm;

    if (rest < 0) {
        rest += NS_PER_SECOND;
        seconds--;
    }
    *nanos = (int)rest;
    time_t t = (time_t)(seconds + offset_ms / MS_PER_SECOND);
    if (gmtime_r(&t, &tm) == NULL)
        memset(&tm, 0, sizeof(tm));
    return tm;
}

static void add_offset(struct bbf_buf *out, int offset_ms)
{
    int seconds = abs(offset_ms / MS_PER_SECOND);

    if (seconds == 0) {
        bbf_buf_char(out, 'Z');
        return;
    }
    bbf_buf_printf(out, "%c%02d:%02d", offset_ms < 0 ? '-' : '+', seconds / HOUR,
                   seconds % HOUR / MINUTE);
    if (seconds % MINUTE != 0)
        bbf_buf_printf(out, ":%02d", seconds % MINUTE);
}

void bbf_jfr_add_time_iso(struct bbf_buf *out, int64_t epoch_ns, int offset_ms)
{
    int nanos;
    struct tm tm = time_of(epoch_ns, offset_ms, &nanos);

    bbf_buf_printf(out, "%04d-%02d-%02dT%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                   tm.tm_hour, tm.tm_min);
    if (tm.tm_sec != 0 || nanos != 0)
        bbf_buf_printf(out, ":%02d", tm.tm_sec);
    if (nanos % 1000000 == 0 && nanos != 0)
        bbf_buf_printf(out, ".%03d", nanos / 1000000);
    else if (nanos % 1000 == 0 && nanos != 0)
        bbf_buf_printf(out, ".%06d", nanos / 1000);
    else if (nanos != 0)
        bbf_buf_printf(out, ".%09d", nanos);
    add_offset(out, offset_ms);
}

void bbf_jfr_add_time(struct bbf_buf *out, int64_t epoch_ns, int offset_ms, bool exact)
{
    int nanos;
    struct tm tm = time_of(epoch_ns, offset_ms, &nanos);

    bbf_buf_printf(out, "%02d:%02d:%02d.%0*d (%04d-%02d-%02d)", tm.tm_hour, tm.tm_min, tm.tm_sec,
                   exact ? 9 : 3, exact ? nanos : nanos / 1000000, tm.tm_year + 1900, tm.tm_mon + 1,
                   tm.tm_mday);
}

void bbf_jfr_add_date(struct bbf_buf *out, int64_t epoch_ns)
{
    int nanos;
    struct tm tm = time_of(epoch_ns, 0, &nanos);

    bbf_buf_printf(out, "%04d-%02d-%02d %02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1,
                   tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

/* ---- amounts ---- */

static void add_exact_amount(struct bbf_buf *out, int64_t value, bool is_bits, bool per_second)
{
    bbf_buf_printf(out, "%" PRId64 "%s%s%s", value, is_bits ? " bit" : " byte",
                   value > 1 ? "s" : "", per_second ? "/s" : "");
}

static void add_small_amount(struct bbf_buf *out, int64_t value, bool is_bits, bool per_second)
{
    bool is_one = value == 1 || value == -1;

    if (per_second)
        bbf_buf_printf(out, "%" PRId64 "%s", value, is_bits ? " bps" : " byte/s");
    else
        bbf_buf_printf(out, "%" PRId64 "%s%s", value, is_bits ? " bit" : " byte",
                       is_one ? "" : "s");
}

void bbf_jfr_add_amount(struct bbf_buf *out, int64_t value, bool is_bits, bool per_second,
                        bool exact)
{
    static const char prefixes[] = "kMGTPE";
    double amount = fabs((double)value);
    int exponent = 0;

    if (exact) {
        add_exact_amount(out, value, is_bits, per_second);
        return;
    }
    if (value < 1024 && value > -1024) {
        add_small_amount(out, value, is_bits, per_second);
        return;
    }
    for (; amount >= 1024 && exponent < (int)sizeof(prefixes) - 1; exponent++)
        amount /= 1024;
    bbf_jfr_add_fixed(out, value < 0 ? -amount : amount, 1);
    bbf_buf_printf(out, " %c%s", prefixes[exponent - 1],
                   per_second ? (is_bits ? "bps" : "B/s")
                   : is_bits  ? "bit"
                              : "B");
}
