/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spawn.h"

#include <signal.h>

#include "core/err.h"

int bbf_spawn(pthread_t *thread, size_t stack_bytes, void *(*run)(void *arg), void *arg)
{
    pthread_t detached;
    pthread_attr_t attributes;
    sigset_t all, before;

    if (pthread_attr_init(&attributes) != 0)
        return BBF_EIO;
    (void)pthread_attr_setstacksize(&attributes, stack_bytes);
    if (thread == NULL)
        (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    /* The thread inherits the mask. */
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(thread != NULL ? thread : &detached, &attributes, run, arg);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return err == 0 ? BBF_OK : BBF_EIO;
}
