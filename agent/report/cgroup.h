/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/report/cgroup.h - how much memory the process's cgroups may use, and do: version 2
 * (memory.max) and version 1 (memory.limit_in_bytes), also in a container, and with limits at
 * several levels. The level that is nearest to its limit counts.
 *
 * Threads: one. It allocates nothing and reads a few files of the kernel.
 */
#ifndef BBF_AGENT_REPORT_CGROUP_H
#define BBF_AGENT_REPORT_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bbf_cgroup {
    bool is_v1;
    size_t mount;        /* length of the mount point's path, at which the levels end */
    char path[PATH_MAX]; /* of the process's own cgroup; "": none was found */
};

/* What a level has. Bytes. */
struct bbf_cgroup_memory {
    uint64_t used, limit;
};

/* Find the process's cgroup for memory. `cgroup` and `mounts` are the texts of /proc/self/cgroup
 * and /proc/self/mountinfo. False: no such cgroup is found. */
bool bbf_cgroup_parse(struct bbf_cgroup *to, const char *cgroup, const char *mounts);
/* The same for this process. */
bool bbf_cgroup_find(struct bbf_cgroup *to);
/*
 * Read the level that is nearest to its limit, from the process's own to the top of the mount.
 * Where `used` reaches `ppm` millionths of the limit, file pages that the kernel may drop at once
 * (inactive_file) are not counted, as the kubelet does. False: no level has a limit.
 */
bool bbf_cgroup_read(const struct bbf_cgroup *cgroup, uint64_t ppm, struct bbf_cgroup_memory *to);

/* Does `used` reach `ppm` millionths of the limit? */
bool bbf_cgroup_reaches(const struct bbf_cgroup_memory *memory, uint64_t ppm);

#endif
