/* SPDX-License-Identifier: BSD-2-Clause */
/* The named policies, oldest first, and the reading of what-if specifications. */
#include <stdbool.h>
#include <string.h>

#include "lib/export.h"
#include "lib/policy/policy.h"

#define POLICY_ENTRY(name) &POLICY_OBJECT(name),
static const struct seam_policy *const policies[] = { SEAM_POLICIES(POLICY_ENTRY) };
#define NR_POLICIES (sizeof(policies) / sizeof(policies[0]))

static const char *const rule_names[] = {
#define RULE_NAME(name, text) WITH_KERNELS ? #name : "",
	SEAM_RULES(RULE_NAME)
#undef RULE_NAME
};

static const char *const rule_texts[] = {
#ifdef SEAM_ONE_POLICY /* small */
#define RULE_TEXT(name, text) "",
#else
#define RULE_TEXT(name, text) text,
#endif
	SEAM_RULES(RULE_TEXT)
#undef RULE_TEXT
};

/* Other names for the same vectors. */
static const char *const aliases[][2] = {
	{ "linux-2.6.12-rc1", "linux-2.6.12" },
};

/* libc is not required here. */
static size_t length_of(const char *text)
{
	size_t len = 0;

	while (text[len])
		len++;
	return len;
}

static bool is_word(const char *word, size_t len, const char *name)
{
	return length_of(name) == len && !memcmp(word, name, len);
}

SEAM_EXPORT const struct seam_policy *seam_policy_at(unsigned int n)
{
	return n < NR_POLICIES ? policies[n] : NULL;
}

SEAM_EXPORT const char *seam_rule_name(unsigned int rule)
{
	return rule < SEAM_NR_RULES ? rule_names[rule] : NULL;
}

SEAM_EXPORT const char *seam_rule_text(unsigned int rule)
{
	return rule < SEAM_NR_RULES ? rule_texts[rule] : NULL;
}

static const struct seam_policy *find(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (is_word(word, len, aliases[i][0])) {
			word = aliases[i][1];
			len = length_of(word);
		}
	}
	for (size_t i = 0; i < NR_POLICIES; i++)
		if (is_word(word, len, policies[i]->name))
			return policies[i];
	return NULL;
}

bool policy_built_in(const struct seam_policy *policy)
{
#ifdef SEAM_ONE_POLICY
	return policy->calls == policies[0]->calls &&
	       !memcmp(policy->rule, policies[0]->rule, sizeof(policy->rule));
#else
	return true;
#endif
}

SEAM_EXPORT const struct seam_policy *seam_policy_find(const char *name)
{
	return find(name, length_of(name));
}

/* Of all policies: what a larger value would mean is nowhere written. */
static unsigned int largest_value(unsigned int rule)
{
	unsigned int largest = 1;

	for (size_t i = 0; i < NR_POLICIES; i++)
		if (policies[i]->rule[rule] > largest)
			largest = policies[i]->rule[rule];
	return largest;
}

static bool set_rule(struct seam_policy *policy, const char *name, size_t len, unsigned int value)
{
	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++) {
		if (!is_word(name, len, rule_names[rule]))
			continue;
		policy->rule[rule] = (uint8_t)value;
		return value <= largest_value(rule);
	}
	return false;
}

/* One word behind a comma: "-RULE", "RULE" or "RULE=VALUE". */
static bool apply_word(struct seam_policy *policy, const char *word, size_t len)
{
	unsigned int value = 1;
	size_t name_len = 0;

	if (len && (*word == '-' || *word == '+')) {
		value = *word == '+';
		word++;
		len--;
	}
	while (name_len < len && word[name_len] != '=')
		name_len++;
	if (name_len < len) {
		value = 0;
		if (name_len + 1 == len)
			return false;
		for (size_t i = name_len + 1; i < len; i++) {
			if (word[i] < '0' || word[i] > '9')
				return false;
			value = value * 10 + (unsigned int)(word[i] - '0');
			if (value > UINT8_MAX)
				return false;
		}
	}
	return set_rule(policy, word, name_len, value);
}

SEAM_EXPORT int seam_policy_change(struct seam_policy *policy, const char *words,
				   const char **ret_bad)
{
	struct seam_policy changed = *policy;
	size_t name_len = length_of(policy->name), len = length_of(words);
	const char *unused;

	if (!ret_bad)
		ret_bad = &unused;
	*ret_bad = words;
	/* plain alone has rules to look at and none to change */
	if (!WITH_KERNELS || name_len + len + 1 >= sizeof(changed.name))
		return -SEAM_EINVAL;
	changed.name[name_len] = ',';
	memcpy(changed.name + name_len + 1, words, len + 1);
	for (const char *word = words;; word++) {
		size_t word_len = 0;

		*ret_bad = word;
		while (word[word_len] && word[word_len] != ',')
			word_len++;
		if (!apply_word(&changed, word, word_len))
			return -SEAM_EINVAL;
		word += word_len;
		if (!*word)
			break;
	}
	*policy = changed;
	return 0;
}

SEAM_EXPORT int seam_policy_parse(const char *spec, struct seam_policy *ret_policy,
				  const char **ret_bad)
{
	const struct seam_policy *base;
	struct seam_policy policy;
	size_t name_len = 0;
	int err;

	if (ret_bad)
		*ret_bad = spec;
	while (spec[name_len] && spec[name_len] != ',')
		name_len++;
	base = find(spec, name_len);
	if (!base)
		return -SEAM_EINVAL;
	policy = *base;
	if (spec[name_len]) {
		/* the name as written: it may be another one for the same vector */
		if (name_len >= sizeof(policy.name))
			return -SEAM_EINVAL;
		memcpy(policy.name, spec, name_len);
		policy.name[name_len] = 0;
		err = seam_policy_change(&policy, spec + name_len + 1, ret_bad);
		if (err)
			return err;
	}
	*ret_policy = policy;
	return 0;
}

static uint32_t hash_byte(uint32_t hash, uint8_t byte)
{
	return (hash ^ byte) * UINT32_C(16777619);
}

/* FNV-1a */
static uint32_t rule_hash(const char *name, uint8_t value)
{
	uint32_t hash = UINT32_C(2166136261);

	while (*name)
		hash = hash_byte(hash, (uint8_t)*name++);
	return hash_byte(hash, value);
}

SEAM_EXPORT uint32_t seam_policy_vector(const struct seam_policy *policy)
{
	uint32_t sum = policy->old;

	for (unsigned int rule = 0; rule < SEAM_NR_RULES; rule++)
		if (policy->rule[rule])
			sum += rule_hash(rule_names[rule], policy->rule[rule]);
	return sum;
}
