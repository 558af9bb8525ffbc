/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd/sentences.h - causes, groups and remedies in words. People do not read the words "unseen",
 * "untried" and "not_visible": they read what they mean.
 */
#ifndef CMD_SENTENCES_H
#define CMD_SENTENCES_H

#include <stdint.h>
#include <stdio.h>

#include "findings/findings.h"

#define SENTENCE_SIZE 400

/* Why pairs are apart: "different protection; flags dd"; @flags: the bits that differ. */
char *cause_sentence(char *buf, const struct findings *findings, uint32_t causes, uint64_t flags);
/* "240 fiber stacks of 64K, each with a guard of 4K". */
char *group_sentence(char *buf, const struct snapshot *snapshot, const struct group_row *row);
/* "the text", "smaps", "the kernel": how a sentence names where areas were read. */
const char *source_words(const struct snapshot *snapshot);
/* What a source cannot show, as a list. */
char *hidden_sentence(char *buf, uint32_t hidden);
/* "with guard markers": how a verdict names a remedy before the number that it leaves. */
const char *remedy_phrase(const char *remedy);
/* "3 h", "40 min". */
void say_minutes(double minutes, FILE *out);
/* What --skip-bad has left out, if anything. */
void say_left_out(uint64_t nr, const char *one, const char *many, FILE *out);

#endif
