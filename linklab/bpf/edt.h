/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program edt.bpf.c and user space (linklab/linux/edt_maps.py) tell each other.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, rates bit/s, both of 64 bits and in the machine's byte order.
 * A share of all packets is a fraction of 2^32; 0xffffffff is all of them.
 */
#ifndef LINKLAB_EDT_H
#define LINKLAB_EDT_H

#include <linux/types.h>

#define EDT_VERSION 1
#define EDT_ALWAYS 0xffffffffU
#define EDT_NO_LIMIT 0xffffffffffffffffULL
#define EDT_TABLES 3
#define EDT_TABLE_SIZE 4096
#define EDT_TABLE_SCALE 8192

/* Addresses in network byte order, IPv4 as ::ffff:a.b.c.d; zeros are any, for the source or for both. */
struct edt_key {
	__u32 source[4];
	__u32 target[4];
};

/* What a link does; written by user space alone, so that a change is one update of one element. */
struct edt_link {
	__u64 id;		/* of its state; several keys may have one */
	__u64 rate_bit;		/* 0: not limited */
	__u64 delay_ns;
	__u64 jitter_ns;
	__u64 queue_ns;		/* the longest wait for the line */
	__u64 queue_bytes;	/* the same where it was given so, else 0; for user space alone */
	__u64 ecn_ns;		/* packets that wait this long are marked */
	__u32 to_bad;		/* Gilbert and Elliott's chances for each packet */
	__u32 to_good;
	__u32 loss_good;	/* all there is to a random loss */
	__u32 loss_bad;
	__u32 duplicate;
	__u32 reorder;
	__u32 corrupt;
	__u32 distribution;	/* 0: uniform; else the number of a table, from 1 */
	__u32 holds_socket;	/* 1: a packet that is held still belongs to the socket that sent it */
	__u32 unused;
};

/* What becomes of a link; written by the program under the lock, begun with its first packet. */
struct edt_state {
	__u32 lock;		/* a struct bpf_spin_lock */
	__u32 is_bad;
	__u64 free_ns;		/* when the line has sent all that it took */
	__u64 left;		/* of the last division by the rate */
	__u64 packets;		/* sent, without copies; bytes with the Ethernet header of each segment */
	__u64 bytes;
	__u64 lost;
	__u64 full;		/* dropped because the queue was full */
	__u64 marked;
	__u64 duplicated;
	__u64 reordered;
	__u64 corrupted;
	__u64 longest_ns;	/* the longest wait for the line */
};

/* A distribution of mean 0, in EDT_TABLE_SCALE-ths of the jitter. */
struct edt_table {
	__s16 value[EDT_TABLE_SIZE];
};

/* Of the whole interface; the first three for user space alone. */
struct edt_about {
	__u64 version;
	__u64 next_id;
	__u64 held_pkts;	/* what fq has to hold for all links together */
	__u64 untouched;	/* packets that belong to no link */
	__u64 no_room;		/* packets let through because there was no room for their link's state */
};

/* A map as this file describes it, for linklab/linux/elf.py. */
struct edt_map {
	__u32 type;
	__u32 key_size;
	__u32 value_size;
	__u32 max_entries;
	__u32 flags;
};

#endif
