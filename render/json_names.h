/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/json_names.h - the words of bbflow-snapshot/1 that stand for an enum, for writer and
 * reader. docs/bbflow-snapshot-1.schema.json lists the same.
 *
 * Each array is indexed by its enum.
 */
#ifndef BBF_RENDER_JSON_NAMES_H
#define BBF_RENDER_JSON_NAMES_H

#define BBF_JSON_SCHEMA "bbflow-snapshot/1"

__attribute__((unused)) static const char *const bbf_json_site_kinds[] = {
    "root", "enter", "return", "derive", "release", "retain", "decrement"};
__attribute__((unused)) static const char *const bbf_json_refs[] = {"0", "1-2", "3-5", "6+"};
__attribute__((unused)) static const char *const bbf_json_memories[] = {"direct", "heap",
                                                                        "composite", "unknown"};
__attribute__((unused)) static const char *const bbf_json_verdicts[] = {"leaked", "aged"};
__attribute__((unused)) static const char *const bbf_json_lost[] = {"unknown", "for_good",
                                                                    "counter_only", "nothing"};

__attribute__((unused)) static const char *const bbf_json_uses[] = {"release", "retain", "access",
                                                                    "step"};
__attribute__((unused)) static const char *const bbf_json_callers[] = {"followed", "nearest",
                                                                       "none", "others"};
__attribute__((unused)) static const char *const bbf_json_pools[] = {"pooled", "unpooled",
                                                                     "adaptive"};
__attribute__((unused)) static const char *const bbf_json_growth[] = {"lost", "held"};
__attribute__((unused)) static const char *const bbf_json_hints[] = {"none", "text", "handler",
                                                                     "class"};
/* By the number of the bit: enum bbf_fact. */
__attribute__((unused)) static const char *const bbf_json_facts[] = {
    "keeps", "returns", "releases", "retains", "gives", "unknown"};

#endif
