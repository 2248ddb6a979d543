/* tests/unit/wire_check.h - a check that says what was under test when it fails. */
#ifndef BBF_TESTS_WIRE_CHECK_H
#define BBF_TESTS_WIRE_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char where[128]; /* the vector or command under test, for messages */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s: %s", where, #condition);                                                 \
    } while (0)

#endif
