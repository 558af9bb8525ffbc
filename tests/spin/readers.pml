/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol of lib/index/history.c and lib/index/read.c (docs/locking.md) with one writer, one
 * reader, an inner node above one leaf, and a ring of four entries. Every step that another thread
 * can come between is a step here.
 *
 *	spin -a readers.pml && cc -O2 -o pan pan.c && ./pan -m100000
 *
 * Asserted: what a reader returns is the state that it began with, in both words of each node that
 * it went through; the state is gone only when the ring went all around; what a fork's child puts
 * back at any moment is the last committed state.
 * -DBROKEN=1: an entry is made behind its change; 2: blocks are used again at once; 3: the reader
 * does not look at the end whether what it read of the ring still held; 4: commit before the last
 * change. Each must fail.
 */
#ifndef CALLS
#define CALLS 3
#endif
#ifndef BROKEN
#define BROKEN 0
#endif
#define SIZE 4	    /* of the ring */
#define INNER 0	    /* its two words both name the leaf */
#define BLOCKS 5    /* INNER, and leaves: their two words are the number of the call that wrote them */
#define IMAGES 6
#define STATES 16   /* numbers of entries that there can be, and more */
#define NOTHING 255

mtype = { NONE, CHANGED, MADE, OUT };

byte word0[BLOCKS], word1[BLOCKS];
bool saved[BLOCKS], free_block[BLOCKS];
byte image0[IMAGES], image1[IMAGES];
bool free_image[IMAGES];
byte ring_node[SIZE], ring_image[SIZE];
mtype ring_kind[SIZE];
byte head, committed;
byte expected[STATES]; /* what the leaf holds in a state, by the state's name */
bool writer_done;

/* What an entry held is free, whatever it was. */
inline release(at)
{
	d_step {
		if
		:: ring_kind[at] == CHANGED -> free_image[ring_image[at]] = true
		:: ring_kind[at] == OUT -> free_block[ring_node[at]] = true
		:: else
		fi;
		ring_kind[at] = NONE
	}
}

inline push(the_kind, the_node, the_image)
{
	assert(head + 1 - committed < SIZE);
	release(head % SIZE);
	ring_node[head % SIZE] = the_node;
	ring_image[head % SIZE] = the_image;
	ring_kind[head % SIZE] = the_kind;
	head = head + 1
}

/* Before the first change of a node in a call. */
inline touch(the_node)
{
	if
	:: !saved[the_node] ->
		d_step {
			image = 0;
			do
			:: free_image[image] -> break
			:: else -> image++
			od;
			free_image[image] = false
		};
		image0[image] = word0[the_node];
		image1[image] = word1[the_node];
		push(CHANGED, the_node, image);
		saved[the_node] = true
	:: else
	fi
}

inline change(the_node, value)
{
	if
	:: BROKEN == 1 ->
		word0[the_node] = value;
		touch(the_node);
		word1[the_node] = value
	:: else ->
		touch(the_node);
		word0[the_node] = value;
		word1[the_node] = value
	fi
}

/* A leaf takes the place of another. */
inline replace(value)
{
	d_step {
		old = word0[INNER];
		fresh = 1;
		do
		:: free_block[fresh] -> break
		:: else -> fresh++
		od;
		free_block[fresh] = false
	};
	push(MADE, fresh, 0);
	saved[fresh] = true;
	word0[fresh] = value;
	word1[fresh] = value;
	change(INNER, fresh);
	if
	:: BROKEN == 2 -> free_block[old] = true
	:: else -> push(OUT, old, 0)
	fi
}

inline commit(value)
{
	d_step {
		entry = committed;
		do
		:: entry != head ->
			if
			:: ring_kind[entry % SIZE] != OUT ->
				saved[ring_node[entry % SIZE]] = false
			:: else
			fi;
			entry++
		:: else -> break
		od;
		expected[head] = value
	};
	committed = head
}

proctype writer()
{
	byte call = 1, leaf, image, old, fresh, entry;

	do
	:: call <= CALLS ->
		leaf = word0[INNER];
		if
		:: BROKEN == 4 ->
			touch(leaf);
			word0[leaf] = call;
			commit(call);
			word1[leaf] = call
		:: else ->
			if
			:: change(leaf, call)
			:: replace(call)
			fi;
			commit(call)
		fi;
		call++
	:: else -> break
	od;
	writer_done = true
}

/* The oldest change of the node since the state; NOTHING when it is as it was. */
inline change_of(the_node)
{
	entry = at;
	found = NOTHING;
	do
	:: entry != seen && found == NOTHING ->
		if
		:: ring_node[entry % SIZE] == the_node &&
		   (ring_kind[entry % SIZE] == CHANGED || ring_kind[entry % SIZE] == MADE) ->
			found = entry % SIZE
		:: else -> entry++
		fi
	:: else -> break
	od
}

/* One level of seek_slowly: both words of the node as they were. */
inline read_node(the_node, ret0, ret1)
{
	ret0 = word0[the_node];
	ret1 = word1[the_node];
	seen = head;
	gone = gone || seen - at >= SIZE;
	if
	:: !gone ->
		change_of(the_node);
		if
		:: found != NOTHING && ring_kind[found] == MADE ->
			assert(head - at >= SIZE);
			gone = true
		:: found != NOTHING && ring_kind[found] != MADE ->
			found = ring_image[found];
			ret0 = image0[found];
			ret1 = image1[found]
		:: else
		fi
	:: else
	fi
}

proctype reader()
{
	byte at, seen, entry, found, child, child1, value, value1;
	bool gone;

	do
	:: !writer_done ->
		gone = false;
		at = committed;
		if
		:: /* slowly: node by node */
			read_node(INNER, child, child1);
			if
			:: !gone -> read_node(child, value, value1)
			:: else
			fi
		:: /* at once, then asking for all of them */
			child = word0[INNER];
			child1 = word1[INNER];
			value = word0[child];
			value1 = word1[child];
			seen = head;
			gone = seen - at >= SIZE;
			if
			:: !gone ->
				change_of(INNER);
				gone = found != NOTHING;
				change_of(child);
				gone = gone || found != NOTHING
			:: else
			fi
		fi;
		if
		:: !gone ->
			if
			:: BROKEN != 3 -> gone = head - at >= SIZE
			:: else
			fi
		:: else
		fi;
		if
		:: !gone ->
			assert(child == child1);
			assert(value == value1);
			assert(value == expected[at])
		:: else
		fi
	:: else -> break
	od
}

/* What the child of a fork that comes now makes of it: on copies, for the parent goes on. */
proctype child_of_fork()
{
	byte copy0[BLOCKS], copy1[BLOCKS], i;

	d_step {
		i = 0;
		do
		:: i < BLOCKS -> copy0[i] = word0[i]; copy1[i] = word1[i]; i++
		:: else -> break
		od;
		i = head;
		do
		:: i != committed ->
			i--;
			if
			:: ring_kind[i % SIZE] == CHANGED ->
				copy0[ring_node[i % SIZE]] = image0[ring_image[i % SIZE]];
				copy1[ring_node[i % SIZE]] = image1[ring_image[i % SIZE]]
			:: else
			fi
		:: else -> break
		od;
		assert(copy0[INNER] == copy1[INNER]);
		assert(copy0[copy0[INNER]] == expected[committed]);
		assert(copy1[copy0[INNER]] == expected[committed])
	}
}

init
{
	byte i = 0;

	d_step {
		word0[INNER] = 1;
		word1[INNER] = 1;
		do
		:: i < IMAGES -> free_image[i] = true; i++
		:: else -> break
		od;
		i = 2;
		do
		:: i < BLOCKS -> free_block[i] = true; i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < SIZE -> ring_kind[i] = NONE; i++
		:: else -> break
		od
	};
	atomic {
		run writer();
		run reader();
		run child_of_fork()
	}
}
