// SPDX-License-Identifier: BSD-3-Clause
/*
 * Links by earliest departure time: gives each packet of a link the time at which fq lets it go, or drops it.
 *
 * Stands at clsact's egress with fq as the root discipline.  A link is found by source and target, then by target
 * alone, and then there may be one for all the rest.  A packet waits until the line is free, is sent at the link's rate, and travels for the delay.  ARP, neighbour
 * discovery and all that is not IP pass untouched, as does what belongs to no link.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include "edt.h"

#define SECTION(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define NET16(x) (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16(x) : (__u16)(x))
#define NET32(x) (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(x) : (x))
#ifdef __clang__
#define HELPER(type, name, number, ...) static type (*const name)(__VA_ARGS__) = (void *)number
#else
#define HELPER(type, name, number, ...) type name(__VA_ARGS__) __attribute__((kernel_helper(number)))
#endif

#define NS_BITS (8ULL * 1000000000)	/* bits of a byte x nanoseconds of a second */
#define FARTHEST_NS 60000000000ULL	/* a stamp that is later is of another clock */
#define COPY 0x4c4c4544U
#define IP_TOS 1
#define IP_CHECK 10
#define IP_ADDRESSES 12
#define IPV6_NEXT 6
#define IPV6_ADDRESSES 8
#define IPV6_SIZE 40
#define IPPROTO_ICMPV6 58
#define ND_FIRST 133
#define ND_LAST 137
#define CE 3

HELPER(void *, map_lookup, BPF_FUNC_map_lookup_elem, void *map, const void *key);
HELPER(long, map_update, BPF_FUNC_map_update_elem, void *map, const void *key, const void *value, __u64 flags);
HELPER(__u64, time_ns, BPF_FUNC_ktime_get_ns, void);
HELPER(__u32, chance, BPF_FUNC_get_prandom_u32, void);
HELPER(long, load, BPF_FUNC_skb_load_bytes, const void *skb, __u32 offset, void *to, __u32 size);
HELPER(long, store, BPF_FUNC_skb_store_bytes, void *skb, __u32 offset, const void *from, __u32 size, __u64 flags);
HELPER(long, l3_check, BPF_FUNC_l3_csum_replace, void *skb, __u32 offset, __u64 from, __u64 to, __u64 size);
HELPER(long, clone_redirect, BPF_FUNC_clone_redirect, void *skb, __u32 interface, __u64 flags);
HELPER(long, lock, BPF_FUNC_spin_lock, void *lock);
HELPER(long, unlock, BPF_FUNC_spin_unlock, void *lock);
#ifdef EDT_TYPED
HELPER(long, set_stamp, BPF_FUNC_skb_set_tstamp, void *skb, __u64 at, __u32 type);
#endif

/*
 * The first two get as many entries as user space asks for.  Their memory is taken beforehand: what the kernel keeps at
 * hand for the others is a hundred entries, too few for a call that sets thousands or for the first packets of as many.
 */
SECTION("maps") struct edt_map edt_links = {
	BPF_MAP_TYPE_HASH, sizeof(struct edt_key), sizeof(struct edt_link), 4096, 0,
};
SECTION("maps") struct edt_map edt_states = {
	BPF_MAP_TYPE_HASH, sizeof(__u64), sizeof(struct edt_state), 4096, 0,
};
SECTION("maps") struct edt_map edt_tables = {
	BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct edt_table), EDT_TABLES, 0,
};
SECTION("maps") struct edt_map edt_about = {
	BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(struct edt_about), 1, 0,
};

/* Where a packet's IP header begins and what it is. */
struct place {
	__u32 offset;
	__u32 protocol;	/* ETH_P_IP or ETH_P_IPV6, in the machine's byte order */
	struct edt_key key;
};

/* A packet's way through the line. */
struct passage {
	__u64 at_ns;	/* when it comes, and then when its last bit leaves */
	__u64 copy_ns;	/* when its copy's last bit leaves */
	__u8 has_copy;
	__u8 is_full;
	__u8 is_lost;
	__u8 is_marked;
};

/* Whether chance takes a packet of this share. */
INLINE int drawn(__u32 share)
{
	return share && (share == EDT_ALWAYS || chance() < share);
}

/* The mapped form of an IPv4 address, given in network byte order. */
INLINE void map_address(__u32 *to, __u32 address)
{
	to[0] = 0;
	to[1] = 0;
	to[2] = NET32(0xffffU);
	to[3] = address;
}

/* Find the IP header behind up to two VLAN tags, and the addresses.  0 if the packet is none of ours. */
INLINE int find_place(struct __sk_buff *skb, struct place *place)
{
	__u32 address[2];
	__u16 protocol;
	__u8 kind;
	int i;

	place->offset = ETH_HLEN;
	if (load(skb, ETH_HLEN - 2, &protocol, 2) < 0)
		return 0;
	for (i = 0; i < 2; i++) {
		if (protocol != NET16(ETH_P_8021Q) && protocol != NET16(ETH_P_8021AD))
			break;
		if (load(skb, place->offset + 2, &protocol, 2) < 0)
			return 0;
		place->offset += 4;
	}
	place->protocol = NET16(protocol);
	if (place->protocol == ETH_P_IP) {
		if (load(skb, place->offset + IP_ADDRESSES, address, sizeof(address)) < 0)
			return 0;
		map_address(place->key.source, address[0]);
		map_address(place->key.target, address[1]);
		return 1;
	}
	if (place->protocol != ETH_P_IPV6 || load(skb, place->offset + IPV6_NEXT, &kind, 1) < 0)
		return 0;
	if (kind == IPPROTO_ICMPV6) {
		if (load(skb, place->offset + IPV6_SIZE, &kind, 1) < 0)
			return 0;
		if (kind >= ND_FIRST && kind <= ND_LAST)
			return 0;
	}
	return load(skb, place->offset + IPV6_ADDRESSES, &place->key, sizeof(place->key)) >= 0;
}

INLINE void clear_address(__u32 *address)
{
	address[0] = 0;
	address[1] = 0;
	address[2] = 0;
	address[3] = 0;
}

/* The link of source and target, else of the target, else of the interface; NULL if there is none.  The key is changed. */
INLINE struct edt_link *find_link(struct edt_key *key)
{
	struct edt_link *link = map_lookup(&edt_links, key);

	if (link)
		return link;
	clear_address(key->source);
	link = map_lookup(&edt_links, key);
	if (link)
		return link;
	clear_address(key->target);
	return map_lookup(&edt_links, key);
}

/* The state of a link, made with its first packet; NULL if there is no room. */
INLINE struct edt_state *find_state(const __u64 *id)
{
	struct edt_state *state = map_lookup(&edt_states, id);
	struct edt_state fresh = {};

	if (state)
		return state;
	map_update(&edt_states, id, &fresh, BPF_NOEXIST);
	return map_lookup(&edt_states, id);
}

/* Nanoseconds of travel: the delay, varied by the jitter, and never less than none. */
INLINE __u64 travel_ns(const struct edt_link *link)
{
	struct edt_table *table;
	__u64 delay_ns = link->delay_ns, by;
	__u32 number;
	__s32 value;

	if (!link->jitter_ns)
		return delay_ns;
	if (!link->distribution) {
		by = ((__u64)chance() << 32 | chance()) % (2 * link->jitter_ns);
		by += delay_ns;
		return by > link->jitter_ns ? by - link->jitter_ns : 0;
	}
	number = link->distribution - 1;
	table = map_lookup(&edt_tables, &number);
	if (!table)
		return delay_ns;
	value = table->value[chance() & (EDT_TABLE_SIZE - 1)];
	if (value >= 0)
		return delay_ns + link->jitter_ns * value / EDT_TABLE_SCALE;
	by = link->jitter_ns * -value / EDT_TABLE_SCALE;
	return delay_ns > by ? delay_ns - by : 0;
}

/*
 * Whether Gilbert and Elliott lose this packet, and the step to the next state, as netem's loss_gilb_ell does.
 * The lock is held, so both numbers were drawn before.
 */
INLINE int is_lost(const struct edt_link *link, struct edt_state *state, __u32 step, __u32 loss)
{
	__u32 share = state->is_bad ? link->loss_bad : link->loss_good;
	__u32 leave = state->is_bad ? link->to_good : link->to_bad;

	if (leave && (leave == EDT_ALWAYS || step < leave))
		state->is_bad = !state->is_bad;
	return share && (share == EDT_ALWAYS || loss < share);
}

/* Send `bytes` on the line; the time at which the last bit has left.  The lock is held, and there is a rate. */
INLINE __u64 send(const struct edt_link *link, struct edt_state *state, __u64 bytes)
{
	__u64 work = bytes * NS_BITS + state->left;

	state->free_ns += work / link->rate_bit;
	state->left = work % link->rate_bit;
	return state->free_ns;
}

/* Take a packet into the link's line, and count it. */
INLINE void take(struct __sk_buff *skb, const struct edt_link *link, struct edt_state *state, struct passage *pass)
{
	int is_lossy = link->to_bad || link->to_good || link->loss_good || link->loss_bad;
	__u64 bytes = skb->wire_len, wait_ns = 0, first_ns = 0;
	__u32 step = 0, loss = 0, segments = skb->gso_segs;

	if (is_lossy) {
		step = chance();
		loss = chance();
	}
	/* of what leaves in one piece, the first segment has to find room: a queue may be shorter than the piece */
	if (link->rate_bit)
		first_ns = bytes / (segments ? segments : 1) * NS_BITS / link->rate_bit;
	lock(&state->lock);
	if (is_lossy && is_lost(link, state, step, loss)) {
		state->lost++;
		pass->is_lost = 1;
		goto out;
	}
	if (link->rate_bit) {
		if (state->free_ns > pass->at_ns) {
			wait_ns = state->free_ns - pass->at_ns;
		} else {
			state->free_ns = pass->at_ns;
			state->left = 0;
		}
		if (wait_ns + first_ns > link->queue_ns) {
			state->full++;
			pass->is_full = 1;
			goto out;
		}
		if (wait_ns > state->longest_ns)
			state->longest_ns = wait_ns;
		if (state->left >= link->rate_bit)	/* of a rate that was higher */
			state->left = 0;
		pass->at_ns = send(link, state, bytes);
	}
	pass->copy_ns = pass->at_ns;
	if (pass->has_copy) {
		state->duplicated++;
		if (link->rate_bit)
			pass->copy_ns = send(link, state, bytes);
	}
	state->packets++;
	state->bytes += bytes;
	pass->is_marked = wait_ns && wait_ns >= link->ecn_ns;
out:
	unlock(&state->lock);
}

/* Mark a packet as one that has met congestion (RFC 3168) if its ends can be told so.  1 if it is marked. */
INLINE int mark(struct __sk_buff *skb, const struct place *place)
{
	__u16 word, marked;
	__u32 shift = place->protocol == ETH_P_IP ? 0 : 4;	/* ECN's two bits are the class's last */

	if (load(skb, place->offset, &word, 2) < 0)
		return 0;
	if (!(NET16(word) >> shift & CE))
		return 0;
	marked = NET16((__u16)(NET16(word) | CE << shift));
	if (marked == word)
		return 1;
	if (place->protocol == ETH_P_IP && l3_check(skb, place->offset + IP_CHECK, word, marked, 2) < 0)
		return 0;
	return store(skb, place->offset, &marked, 2, 0) >= 0;
}

/* Turn one bit of what the IP header carries.  The checksum stays, so that the receiver can notice. */
INLINE int corrupt(struct __sk_buff *skb, const struct place *place)
{
	__u32 begin = place->offset + IPV6_SIZE, where;
	__u8 byte;

	if (place->protocol == ETH_P_IP) {
		if (load(skb, place->offset, &byte, 1) < 0)
			return 0;
		begin = place->offset + (byte & 0xf) * 4;
	}
	if (skb->len <= begin)
		return 0;
	where = begin + chance() % (skb->len - begin);
	if (load(skb, where, &byte, 1) < 0)
		return 0;
	byte ^= 1 << (chance() & 7);
	return store(skb, where, &byte, 1, 0) >= 0;
}

/* Have the packet leave at that time. */
INLINE void stamp(struct __sk_buff *skb, __u64 at_ns)
{
#ifdef EDT_TYPED
	/* says that it is no time of arrival, which tcpdump would show; for IP only, so not behind a VLAN tag */
	if (set_stamp(skb, at_ns, BPF_SKB_TSTAMP_DELIVERY_MONO) >= 0)
		return;
#endif
	skb->tstamp = at_ns;
}

/*
 * Send a copy that leaves at that time.  It comes by here again, without its stamp: the redirection clears that.  So the
 * time travels in the control block, which holds anything when a packet comes from above, and the words beside it prove
 * that it is ours.  0 if it was sent.
 */
INLINE int send_copy(struct __sk_buff *skb, __u64 at_ns)
{
	long failed;

	skb->cb[0] = COPY;
	skb->cb[1] = at_ns;
	skb->cb[2] = at_ns >> 32;
	skb->cb[3] = ~(__u32)at_ns;
	skb->cb[4] = ~(__u32)(at_ns >> 32);
	failed = clone_redirect(skb, skb->ifindex, 0);
	skb->cb[0] = 0;
	return failed != 0;
}

/* Whether this is such a copy, which then leaves at its time. */
INLINE int is_copy(struct __sk_buff *skb)
{
	__u32 low = skb->cb[1], high = skb->cb[2];

	if (skb->cb[0] != COPY || skb->cb[3] != (__u32)~low || skb->cb[4] != (__u32)~high)
		return 0;
	skb->cb[0] = 0;
	stamp(skb, (__u64)high << 32 | low);
	return 1;
}

/* When the packet came, or when its sender wants it to leave. */
INLINE __u64 arrival_ns(struct __sk_buff *skb)
{
	__u64 now_ns = time_ns(), wanted_ns = skb->tstamp;

	return wanted_ns > now_ns && wanted_ns - now_ns < FARTHEST_NS ? wanted_ns : now_ns;
}

INLINE void count(struct edt_state *state, __u64 *counter)
{
	lock(&state->lock);
	(*counter)++;
	unlock(&state->lock);
}

SECTION("classifier") int edt(struct __sk_buff *skb)
{
	struct edt_about *about;
	struct edt_state *state;
	struct edt_link *link;
	struct passage pass = {};
	struct place place = {};
	__u32 zero = 0;
	__u64 id;

	if (is_copy(skb) || !find_place(skb, &place))
		return TC_ACT_UNSPEC;
	link = find_link(&place.key);
	if (!link) {
		about = map_lookup(&edt_about, &zero);
		if (about)
			__sync_fetch_and_add(&about->untouched, 1);
		return TC_ACT_UNSPEC;
	}
	id = link->id;
	state = find_state(&id);
	if (!state) {
		about = map_lookup(&edt_about, &zero);
		if (about)
			__sync_fetch_and_add(&about->no_room, 1);
		return TC_ACT_UNSPEC;
	}
	pass.at_ns = arrival_ns(skb);
	pass.has_copy = drawn(link->duplicate);
	take(skb, link, state, &pass);
	if (pass.is_lost)
		return TC_ACT_STOLEN;	/* the sender must not notice: SHOT tells TCP of congestion at home */
	if (pass.is_full)
		return TC_ACT_SHOT;
	if (pass.is_marked && mark(skb, &place))
		count(state, &state->marked);
	if (pass.has_copy)
		send_copy(skb, pass.copy_ns + travel_ns(link));
	if (drawn(link->corrupt) && corrupt(skb, &place))
		count(state, &state->corrupted);
	if (drawn(link->reorder))
		count(state, &state->reordered);
	else
		pass.at_ns += travel_ns(link);
	/* a copy belongs to no socket, so TCP's small queue does not count it, as it does not what netem holds */
	if (!link->holds_socket && skb->sk && !send_copy(skb, pass.at_ns))
		return TC_ACT_STOLEN;
	stamp(skb, pass.at_ns);
	return TC_ACT_UNSPEC;
}

SECTION("license") char edt_license[] = "BSD";
