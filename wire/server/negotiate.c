/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/server/negotiate.h"

#include <string.h>

#include "core/clock.h"
#include "core/err.h"
#include "wire/refusal.h"
#include "wire/server/admit.h"

enum { MAGIC = 4 };

static const char auth_magic[MAGIC] = {'B', 'T', 'A', '1'};
static const char accepted[MAGIC] = {'B', 'T', 'A', 'K'};
static const char refused[MAGIC] = {'B', 'T', 'A', 'F'};
static const char v2_magic[MAGIC] = {'B', 'T', 'R', '2'};

static void send_magic(struct bbf_session *session, const char *magic)
{
    if (bbf_sendq_add(&session->out, magic, MAGIC) != BBF_OK)
        session->broken = true;
}

/* Has come, may still come, or is something else. */
enum match { YES, PERHAPS, NO };

static enum match match(const struct bbf_session *session, size_t pos, const char *magic)
{
    size_t n = session->in.len - pos < MAGIC ? session->in.len - pos : MAGIC;

    if (n > 0 && memcmp(session->in.data + pos, magic, n) != 0)
        return NO;
    return n == MAGIC ? YES : PERHAPS;
}

static void next_state(struct bbf_service *service, struct bbf_session *session,
                       enum bbf_session_state state)
{
    session->state = state;
    session->moved = bbf_monotonic_ms();
    session->deadline = session->moved + service->config.handshake_ms;
}

/* Whatever was wrong: the same answer, and nothing more is read. */
static void refuse(struct bbf_service *service, struct bbf_session *session)
{
    atomic_fetch_add_explicit(&service->unauthorized, 1, memory_order_relaxed);
    explicit_bzero(session->in.data, session->in.cap);
    session->asked = true;
    send_magic(session, refused);
    bbf_session_linger(session);
}

/* Not for a secret's sake: our own client may know why. */
static void say_why(struct bbf_session *session, const char *why)
{
    session->asked = true;
    send_magic(session, refused);
    send_magic(session, why);
    bbf_session_linger(session);
}

static void authenticate(struct bbf_service *service, struct bbf_session *session, size_t *pos)
{
    const uint8_t *in = (const uint8_t *)session->in.data;
    enum match magic = match(session, 0, auth_magic);
    uint32_t len = 0;

    if (magic == NO) {
        refuse(service, session);
        return;
    }
    if (session->in.len < 2 * MAGIC)
        return;
    for (size_t i = MAGIC; i < 2 * MAGIC; i++)
        len = len << 8 | in[i];
    if (len < 1 || len > BBF_TOKEN_MAX) {
        refuse(service, session);
        return;
    }
    if (session->in.len < 2 * MAGIC + len)
        return;
    if (!bbf_token_equal(service->token, service->token_len, in + 2 * MAGIC, len)) {
        refuse(service, session);
        return;
    }
    *pos = 2 * MAGIC + len;
    explicit_bzero(session->in.data, *pos);
    if (!bbf_admit_client(service, session)) {
        say_why(session, BBF_WHY_FULL);
        return;
    }
    send_magic(session, accepted);
    next_state(service, session, BBF_NEGOTIATE);
}

/* BTR2 is answered by itself, v1's header at once by our own: its client may wait for it. Anything
 * else is sent away at its first wrong byte. */
static void choose(struct bbf_service *service, struct bbf_session *session, size_t *pos)
{
    enum match v2 = match(session, *pos, v2_magic), v1 = match(session, *pos, BBF_V1_HEADER);

    if (session->tcp && session->waiting && match(session, *pos, auth_magic) != NO) {
        if (match(session, *pos, auth_magic) == YES)
            say_why(session, BBF_WHY_NONE);
        return;
    }
    if (v2 == NO && v1 == NO) {
        atomic_fetch_add_explicit(&service->malformed, 1, memory_order_relaxed);
        session->broken = true;
        return;
    }
    if (v2 != YES && v1 != YES)
        return;
    *pos += MAGIC;
    if (session->waiting && !bbf_admit_client(service, session)) {
        say_why(session, BBF_WHY_FULL);
        return;
    }
    if (v1 == YES) {
        session->reader = bbf_v1_reader_new(&bbf_wire_server_limits);
        if (session->reader == NULL)
            session->broken = true;
    }
    send_magic(session, v1 == YES ? BBF_V1_HEADER : v2_magic);
    atomic_fetch_add_explicit(&service->accepted, 1, memory_order_relaxed);
    next_state(service, session, BBF_HANDSHAKE);
}

void bbf_session_negotiate(struct bbf_service *service, struct bbf_session *session, size_t *pos)
{
    if (session->in.len == 0)
        return;
    if (session->state == BBF_AUTH)
        authenticate(service, session, pos);
    if (session->state == BBF_NEGOTIATE)
        choose(service, session, pos);
}
