/* SPDX-License-Identifier: BSD-2-Clause */
/* The sorted array under names of its own, so that one program can hold both indexes. */
#define index linear
#define index_init linear_init
#define index_destroy linear_destroy
#define index_count linear_count
#define index_seek linear_seek
#define index_look_up linear_look_up
#define index_last linear_last
#define index_next linear_next
#define index_prev linear_prev
#define index_load linear_load
#define index_remove linear_remove
#define index_store linear_store
#define index_reserve linear_reserve
#define index_reserve_apart linear_reserve_apart
#define index_gap_highest linear_gap_highest
#define index_gap_lowest linear_gap_lowest
#define index_insert linear_insert
#define index_replace linear_replace
#define index_step linear_step
#define index_on_area linear_on_area
#define index_between linear_between
#define index_largest_gap linear_largest_gap
#define index_gap_lowest_from linear_gap_lowest_from
