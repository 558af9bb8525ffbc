/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/attach.h - stopping a program at its calls: asking first, and saying why it could not be. */
#ifndef CMD_ATTACH_H
#define CMD_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Says what it costs a process that runs already to be stopped at each call, and asks, unless @yes;
 * @own_unasked: nor for a process of one's own. @doing: "recording". 0, or the status to end with
 * after a message.
 */
int attach_ask(pid_t pid, bool yes, bool own_unasked, const char *doing);

/* After record_run gave @err for process @pid (0: for @program). The status to end with. */
int attach_failed(int err, pid_t pid, const char *program);

#endif
