/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/sites.h - gives the steps and roots of instrument/ their numbers in the tracker.
 *
 * Threads: any; constant.
 */
#ifndef BBF_AGENT_SITES_H
#define BBF_AGENT_SITES_H

#include "instrument/plan.h"

/* Numbers sites in bbf_agent.tracker (bbf_site_intern). */
extern const struct bbf_plan_sites bbf_agent_sites;

#endif
