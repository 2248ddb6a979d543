/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/address.h - "PORT" or "HOST:PORT", where a server listens. The host is an IP address or
 * localhost: a name would need a resolver, which may wait for a network.
 *
 * Threads: any, no state.
 */
#ifndef BBF_CORE_ADDRESS_H
#define BBF_CORE_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct bbf_address {
    char host[INET6_ADDRSTRLEN]; /* 127.0.0.1 if none was given, or localhost */
    uint16_t port;               /* 0: any that is free */
    bool is_ipv6;
};

/* "9404", "10.0.0.7:9404", "localhost:9404", "[::1]:9404". BBF_EINVAL (`why` gets a constant text),
 * BBF_ERANGE (the port, likewise). */
int bbf_address_parse(struct bbf_address *address, const char *text, const char **why);

/* Can only programs of this host connect to it? */
bool bbf_address_is_loopback(const struct bbf_address *address);

#endif
