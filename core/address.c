/* SPDX-License-Identifier: Apache-2.0 */
#include "core/address.h"

#include <arpa/inet.h>
#include <string.h>

#include "core/err.h"
#include "core/units.h"

static int parse_host(struct bbf_address *address, const char *text, size_t len, const char **why)
{
    struct in6_addr binary;

    address->is_ipv6 = len > 2 && text[0] == '[' && text[len - 1] == ']';
    if (address->is_ipv6)
        text++, len -= 2;
    if (len == strlen("localhost") && memcmp(text, "localhost", len) == 0)
        text = "127.0.0.1", len = strlen(text);
    *why = "the host is no IP address; write one, as 10.0.0.7:9404 or [::1]:9404, or localhost";
    if (len == 0 || len >= sizeof address->host)
        return BBF_EINVAL;
    memcpy(address->host, text, len);
    address->host[len] = '\0';
    return inet_pton(address->is_ipv6 ? AF_INET6 : AF_INET, address->host, &binary) == 1
               ? BBF_OK
               : BBF_EINVAL;
}

int bbf_address_parse(struct bbf_address *address, const char *text, const char **why)
{
    const char *colon = strrchr(text, ':'), *port = colon != NULL ? colon + 1 : text;
    uint64_t number = 0;

    *address = (struct bbf_address){.host = "127.0.0.1"};
    if (colon != NULL) {
        int err = parse_host(address, text, (size_t)(colon - text), why);
        if (err != BBF_OK)
            return err;
    }
    *why = "it takes a port, as 9404, or an address and a port, as 0.0.0.0:9404";
    int err = bbf_parse_digits(&port, &number);
    if (err == BBF_EINVAL || (err == BBF_OK && *port != '\0'))
        return BBF_EINVAL;
    *why = "a port is 0 to 65535";
    if (err != BBF_OK || number > UINT16_MAX)
        return BBF_ERANGE;
    address->port = (uint16_t)number;
    return BBF_OK;
}

bool bbf_address_is_loopback(const struct bbf_address *address)
{
    struct in6_addr binary;

    if (!address->is_ipv6)
        return strncmp(address->host, "127.", 4) == 0;
    return inet_pton(AF_INET6, address->host, &binary) == 1 && IN6_IS_ADDR_LOOPBACK(&binary);
}
