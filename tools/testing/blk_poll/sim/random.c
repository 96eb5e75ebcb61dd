// SPDX-License-Identifier: GPL-2.0
/*
 * Random numbers and the functions they need, the same bytes on every machine.
 *
 * The generators are xoshiro256** and, to fill its state, splitmix64, both from
 * their public definitions by Blackman, Steele and Vigna.  Logarithm and
 * exponential function are computed here because a C library may have several
 * and choose by the CPU it runs on; +, -, *, / and the square root are exact to
 * the last bit everywhere.
 */
#include <string.h>

#include "sim.h"

#define LN2		0.693147180559945309417
#define SQRT2		1.414213562373095048802

/* 2^-53: random numbers of 53 bits become fractions. */
#define UNIT		(1.0 / 9007199254740992.0)

static u64 splitmix64(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/**
 * sim_random_init() - Start a generator.
 * @random: The generator.
 * @seed: The user's seed.
 * @stream: Different for generators that must not know of each other.
 */
void sim_random_init(struct sim_random *random, u64 seed, u64 stream)
{
	u64 state = seed;
	int i;

	state = splitmix64(&state) + stream;
	*random = (struct sim_random){ };
	for (i = 0; i < 4; i++)
		random->s[i] = splitmix64(&state);
}

static u64 rotate(u64 x, int bits)
{
	return x << bits | x >> (64 - bits);
}

/**
 * sim_random_u64() - Get 64 random bits.
 * @random: The generator.
 *
 * Return: The bits.
 */
u64 sim_random_u64(struct sim_random *random)
{
	u64 *s = random->s;
	u64 result = rotate(s[1] * 5, 7) * 9;
	u64 t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

/**
 * sim_random_unit() - Get a random fraction.
 * @random: The generator.
 *
 * Return: More than 0 and less than 1.
 */
double sim_random_unit(struct sim_random *random)
{
	return ((sim_random_u64(random) >> 11) + 0.5) * UNIT;
}

/**
 * sim_random_exponential() - Get a random number, exponentially distributed.
 * @random: The generator.
 * @mean: Its mean.
 *
 * Return: The number.
 */
double sim_random_exponential(struct sim_random *random, double mean)
{
	return -mean * sim_log(sim_random_unit(random));
}

/**
 * sim_random_normal() - Get a random number, normally distributed.
 * @random: The generator.
 *
 * Takes points in a square until one is within the circle (Marsaglia's polar
 * method): each gives two numbers.
 *
 * Return: The number; mean 0, standard deviation 1.
 */
double sim_random_normal(struct sim_random *random)
{
	double x, y, r2, scale;

	if (random->has_spare) {
		random->has_spare = false;
		return random->spare;
	}
	do {
		x = 2 * sim_random_unit(random) - 1;
		y = 2 * sim_random_unit(random) - 1;
		r2 = x * x + y * y;
	} while (r2 >= 1 || r2 == 0);

	scale = __builtin_sqrt(-2 * sim_log(r2) / r2);
	random->spare = y * scale;
	random->has_spare = true;
	return x * scale;
}

static u64 to_bits(double x)
{
	u64 bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static double from_bits(u64 bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/**
 * sim_log() - Natural logarithm.
 * @x: A normal number above 0.
 *
 * x = m * 2^e with m around 1, and log(m) = 2 * atanh((m - 1) / (m + 1)), whose
 * series has terms below 2^-53 after the eleventh.
 *
 * Return: The logarithm.
 */
double sim_log(double x)
{
	u64 bits = to_bits(x);
	int e = (int)(bits >> 52 & 0x7ff) - 1023;
	double m = from_bits((bits & (BIT_ULL(52) - 1)) | 1023ULL << 52);
	double s, s2, sum = 0;
	int k;

	if (m > SQRT2) {
		m /= 2;
		e++;
	}
	s = (m - 1) / (m + 1);
	s2 = s * s;
	for (k = 21; k > 0; k -= 2)
		sum = sum * s2 + 1.0 / k;
	return e * LN2 + 2 * s * sum;
}

/**
 * sim_exp() - Exponential function.
 * @x: From -700 to 700.
 *
 * exp(x) = 2^k * exp(r) with r within half of log(2), whose Taylor series has
 * terms below 2^-53 after the fourteenth.
 *
 * Return: e to the power of @x.
 */
double sim_exp(double x)
{
	double scaled = x / LN2;
	int k = (int)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
	double r = x - k * LN2;
	double sum = 1;
	int i;

	for (i = 14; i > 0; i--)
		sum = 1 + sum * r / i;
	return sum * from_bits((u64)(k + 1023) << 52);
}
