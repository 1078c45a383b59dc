/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * rxlookup: DPDK's tables on the rules of `rxlab bench flow`, which tells it by lines on stdin what to do:
 *
 *     hash N | hash-lf N | acl N   new tables with N rules; how long they took to fill
 *     go MS                        bulk look-ups for MS milliseconds; the time of one
 *
 * Only the look-ups are timed, a burst at a time: keys are made beside.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_acl.h>
#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#define BURST 32

/* What a rule matches, in network order; the rest is 0. */
struct tuple {
	uint32_t src, dst;
	uint16_t sport, dport;
	uint8_t proto, rest[3];
};

/* Rule n; `live::tables` has the same ones. */
static struct tuple
tuple(uint32_t n)
{
	uint64_t mixed = n * UINT64_C(0x9e3779b97f4a7c15);

	return (struct tuple){
		.src = rte_cpu_to_be_32(mixed >> 32), .dst = rte_cpu_to_be_32(n),
		.sport = rte_cpu_to_be_16(mixed >> 16), .dport = rte_cpu_to_be_16(mixed), .proto = 17,
	};
}

/* The next rule to look up, in no order; `live::tables` takes the same ones. */
static uint32_t
next(uint64_t *state, uint32_t rules)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return ((*state >> 32) * rules) >> 32;
}

/* Time, once all instructions before are done: as `live::tables` takes it. */
static inline uint64_t
ticks(void)
{
#ifdef RTE_ARCH_X86
	unsigned int cpu;

	return __builtin_ia32_rdtscp(&cpu);
#else
	return rte_rdtsc_precise();
#endif
}

static struct rte_hash *hash;
static struct rte_acl_ctx *acl;

enum { PROTO, SRC, DST, PORTS, FIELDS };
RTE_ACL_RULE_DEF(acl_rule, FIELDS);

static const struct rte_acl_field_def acl_fields[] = {
	{ RTE_ACL_FIELD_TYPE_BITMASK, 1, PROTO, 0, offsetof(struct tuple, proto) },
	{ RTE_ACL_FIELD_TYPE_BITMASK, 4, SRC, 1, offsetof(struct tuple, src) },
	{ RTE_ACL_FIELD_TYPE_BITMASK, 4, DST, 2, offsetof(struct tuple, dst) },
	{ RTE_ACL_FIELD_TYPE_BITMASK, 4, PORTS, 3, offsetof(struct tuple, sport) },
};

static int
fill_hash(uint32_t rules, uint8_t flags)
{
	struct rte_hash_parameters parameters = {
		.name = "rules", .entries = rules, .key_len = sizeof(struct tuple),
		.hash_func = rte_hash_crc, .socket_id = SOCKET_ID_ANY, .extra_flag = flags,
	};
	uint32_t n;
	int ret = 0;

	hash = rte_hash_create(&parameters);
	if (hash == NULL)
		return -rte_errno;
	for (n = 0; n < rules && ret >= 0; n++) {
		struct tuple key = tuple(n);

		ret = rte_hash_add_key_data(hash, &key, (void *)(uintptr_t)(n + 1));
	}
	return ret;
}

static int
fill_acl(uint32_t rules)
{
	struct rte_acl_param parameters = {
		.name = "rules", .socket_id = SOCKET_ID_ANY, .rule_size = RTE_ACL_RULE_SZ(FIELDS), .max_rule_num = rules,
	};
	struct rte_acl_config config = { .num_categories = 1, .num_fields = FIELDS };
	uint32_t n;
	int ret = 0;

	memcpy(config.defs, acl_fields, sizeof(acl_fields));
	acl = rte_acl_create(&parameters);
	if (acl == NULL)
		return -rte_errno;
	for (n = 0; n < rules && ret == 0; n++) {
		struct tuple key = tuple(n);
		/* Values in the order of the host, ports as one number of four bytes. */
		struct acl_rule rule = {
			.data = { .category_mask = 1, .priority = 1, .userdata = n + 1 },
			.field = {
				[PROTO] = { .value.u8 = key.proto, .mask_range.u8 = UINT8_MAX },
				[SRC] = { .value.u32 = rte_be_to_cpu_32(key.src), .mask_range.u32 = UINT32_MAX },
				[DST] = { .value.u32 = rte_be_to_cpu_32(key.dst), .mask_range.u32 = UINT32_MAX },
				[PORTS] = {
					.value.u32 = (uint32_t)rte_be_to_cpu_16(key.sport) << 16 | rte_be_to_cpu_16(key.dport),
					.mask_range.u32 = UINT32_MAX,
				},
			},
		};

		ret = rte_acl_add_rules(acl, (struct rte_acl_rule *)&rule, 1);
	}
	return ret == 0 ? rte_acl_build(acl, &config) : ret;
}

/* How many of a burst are found, by a number that depends on all results. */
static inline unsigned int
look_up(const struct tuple *keys)
{
	const void *pointers[BURST];
	unsigned int i, found = 0;

	for (i = 0; i < BURST; i++)
		pointers[i] = &keys[i];
	if (hash != NULL) {
		void *data[BURST];
		uint64_t hits;

		rte_hash_lookup_bulk_data(hash, pointers, BURST, &hits, data);
		for (i = 0; i < BURST; i++)
			found += (hits >> i & 1) && data[i] != NULL;
	} else {
		uint32_t results[BURST];

		rte_acl_classify(acl, (const uint8_t **)pointers, results, BURST, 1);
		for (i = 0; i < BURST; i++)
			found += results[i] != 0;
	}
	return found;
}

static void
measure(uint32_t rules, uint64_t ms)
{
	static uint64_t state;
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000 * ms, cycles = 0, bursts = 0, found = 0;

	while (rte_rdtsc() < end) {
		struct tuple keys[BURST];
		uint64_t begin;
		unsigned int i;

		for (i = 0; i < BURST; i++)
			keys[i] = tuple(next(&state, rules));
		begin = ticks();
		found += look_up(keys);
		cycles += ticks() - begin;
		bursts++;
	}
	printf("{\"event\":\"lookups\",\"ns\":%.3f,\"lookups\":%" PRIu64 ",\"found\":%" PRIu64 "}\n",
	       cycles * 1e9 / rte_get_tsc_hz() / (bursts * BURST), bursts * BURST, found);
	fflush(stdout);
}

static uint64_t
heap_bytes(void)
{
	struct rte_malloc_socket_stats stats = { 0 };

	rte_malloc_get_socket_stats(0, &stats);
	return stats.heap_allocsz_bytes;
}

static int
fill(const char *what, uint32_t rules)
{
	uint64_t before, begin;
	int ret;

	rte_hash_free(hash);
	rte_acl_free(acl);
	hash = NULL;
	acl = NULL;
	before = heap_bytes();
	begin = rte_rdtsc();
	if (strcmp(what, "hash") == 0)
		ret = fill_hash(rules, 0);
	else if (strcmp(what, "hash-lf") == 0)
		ret = fill_hash(rules, RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF);
	else
		ret = fill_acl(rules);
	if (ret < 0) {
		printf("{\"event\":\"full\",\"why\":\"%s\"}\n", rte_strerror(-ret));
		rte_hash_free(hash);
		rte_acl_free(acl);
		hash = NULL;
		acl = NULL;
	} else {
		printf("{\"event\":\"filled\",\"seconds\":%.6f,\"bytes\":%" PRIu64 "}\n",
		       (double)(rte_rdtsc() - begin) / rte_get_tsc_hz(), heap_bytes() - before);
	}
	fflush(stdout);
	return ret;
}

int
main(int argc, char **argv)
{
	char line[64], what[16];
	uint32_t rules = 0;
	uint64_t number;

	if (rte_eal_init(argc, argv) < 0)
		return EXIT_FAILURE;
	printf("{\"event\":\"ready\",\"tsc_hz\":%" PRIu64 ",\"timer_cycles\":0}\n", rte_get_tsc_hz());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "%15s %" SCNu64, what, &number) != 2) {
			fprintf(stderr, "rxlookup: `%s`: allowed: hash N, hash-lf N, acl N, go MS\n", line);
			return 2;
		}
		if (strcmp(what, "go") != 0)
			rules = fill(what, number) < 0 ? 0 : number;
		else if (rules > 0)
			measure(rules, number);
	}
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
