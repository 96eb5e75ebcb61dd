/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stands in for the kernel's header of this name; only what blk_poll needs.
 * Mixed signs are refused as in the kernel, and also those of constants.
 */
#ifndef BLK_POLL_LINUX_MINMAX_H
#define BLK_POLL_LINUX_MINMAX_H

#define MINMAX_SIGNED(value)	((typeof((value) + 0))-1 < 1)
#define MINMAX_CHECK(a, b)						\
	_Static_assert(MINMAX_SIGNED(a) == MINMAX_SIGNED(b), "mixed signs")

#define min(a, b)				\
({						\
	MINMAX_CHECK(a, b);			\
	__auto_type min_a = (a);		\
	__auto_type min_b = (b);		\
						\
	min_a < min_b ? min_a : min_b;		\
})

#define max(a, b)				\
({						\
	MINMAX_CHECK(a, b);			\
	__auto_type max_a = (a);		\
	__auto_type max_b = (b);		\
						\
	max_a > max_b ? max_a : max_b;		\
})

#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))

#define clamp(value, low, high)			min(max(value, low), high)
#define clamp_t(type, value, low, high)		\
	clamp((type)(value), (type)(low), (type)(high))

#endif /* BLK_POLL_LINUX_MINMAX_H */
