/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent/exit.h - the work at the JVM's end: the collection of gc=exit, then file=. The agent thread
 * does both; these functions post the job and wait, bounded by exitTimeout=.
 *
 * Threads: one of the JVM's shutdown.
 */
#ifndef BBF_AGENT_EXIT_H
#define BBF_AGENT_EXIT_H

/* gc=exit: in a shutdown hook. Failure is logged. */
void bbf_exit_collect(void);
/* Write file=, if there is one: at VMDeath. Failure is logged. */
void bbf_exit_write(void);

/* End the recording of jfr=, with what was lost by now. As bbf_exit_write(). */
void bbf_exit_record(void);

#endif
