/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementary functions over vectors of doubles ("lanes"), for gcc and clang.
 *
 * Arguments are reduced as by Cody and Waite (Software Manual for the Elementary Functions,
 * 1980), with constants in parts whose products with whole numbers are exact. The polynomials
 * are minimax fits by Remez's algorithm. Errors are below two units in the last place. It must
 * not be compiled with -ffast-math, which breaks the rounding to whole numbers.
 */
#include <math.h>
#include <string.h>

/*
 * MOST_LANES is 4 for one sample: its few sines gain nothing by wider vectors, and lose. Older
 * compilers cannot put two vectors of 4 together, and gain nothing by 8 then.
 */
#if defined(__AVX512F__) && MOST_LANES >= 8 && (defined(__clang__) || __GNUC__ >= 12)
#define LANES 8
#elif defined(__AVX__)
#define LANES 4
#else
#define LANES 2
#endif

/* Loops over lanes become straight code, so that lanes stay in registers. */
#define UNROLL _Pragma("GCC unroll 8")
#define NO_UNROLL _Pragma("GCC unroll 1")

typedef double lanes __attribute__((vector_size(8 * LANES)));
typedef long long lanes_mask __attribute__((vector_size(8 * LANES)));

/* 1.5 * 2^52: adding it rounds to a whole number, which the low bits then hold. */
#define ROUNDING 6755399441055744.0

static inline lanes lanes_select(lanes_mask where, lanes yes, lanes no)
{
    return (lanes)((where & (lanes_mask)yes) | (~where & (lanes_mask)no));
}

/* As lanes_select, by the sign bit alone. */
static inline lanes lanes_by_sign(lanes_mask signs, lanes yes, lanes no)
{
#if LANES == 4
    __asm__("" : "+x"(signs)); /* or gcc makes masks of the signs first */
    return (lanes)__builtin_ia32_blendvpd256(no, yes, (lanes)signs);
#else
    return lanes_select(signs >> 63, yes, no);
#endif
}

/* Whether the sign bit of any is set. */
static inline int lanes_any(lanes_mask where)
{
#if LANES == 4
    return __builtin_ia32_movmskpd256((lanes)where) != 0;
#else
    long long found = 0;
    for (int k = 0; k < LANES; ++k)
        found |= where[k];
    return found < 0;
#endif
}

static inline lanes lanes_absolute(lanes x)
{
    return (lanes)((lanes_mask)x & 0x7fffffffffffffffLL);
}

static inline lanes lanes_with_sign(lanes x, lanes sign)
{
    return (lanes)((lanes_mask)x | ((lanes_mask)sign & ~0x7fffffffffffffffLL));
}

static inline lanes lanes_sqrt(lanes x)
{
    for (int k = 0; k < LANES; ++k)
        x[k] = sqrt(x[k]);
    return x;
}

/* A function without a version for lanes, lane by lane. */
static inline lanes lanes_map(double (*function)(double), lanes x)
{
    for (int k = 0; k < LANES; ++k)
        x[k] = function(x[k]);
    return x;
}

/* Sines and cosines from the C library. */
static __attribute__((noinline, cold)) void sincos_far(const double *x, double *s, double *c,
                                                       int count)
{
    for (int k = 0; k < count; ++k) {
        s[k] = sin(x[k]);
        c[k] = cos(x[k]);
    }
}

/* Sine and cosine; returns the lanes beyond 1e6, where the reduction loses digits. */
static inline lanes_mask lanes_sincos_near(lanes x, lanes *sine, lanes *cosine)
{
    lanes shifted = x * 0.6366197723675814 + ROUNDING;
    lanes_mask quadrant = (lanes_mask)shifted;
    lanes turns = shifted - ROUNDING;
    lanes head = x - turns * 1.5707963267341256;
    lanes r = head - turns * 6.077100506303966e-11;
    lanes tail = (head - r) - turns * 6.077100506303966e-11;
    lanes z, z2, half, one, s, c;
    lanes_mask odd, sign;

    tail = tail - turns * 2.0222662487959506e-21;
    z = r * r;
    /* Estrin's scheme: short chains of dependent operations. */
    z2 = z * z;
    s = (0.008333333333322413 * z - 0.16666666666666632)
        + z2 * ((2.7557313691920477e-06 * z - 0.0001984126982980783)
                + z2 * (1.5896795616091106e-10 * z - 2.50507581150722e-08));
    c = (0.0416666666666666 - 0.0013888888888874125 * z)
        + z2 * ((2.480158728948215e-05 - 2.755731435231791e-07 * z)
                + z2 * (2.0875723270715568e-09 - 1.1359647654546747e-11 * z));
    half = 0.5 * z;
    one = 1.0 - half;
    s = r + (r * z * s + tail * one);
    c = one + (((1.0 - one) - half - r * tail) + z2 * c);
    odd = quadrant << 63;
    sign = (quadrant << 62) & ~0x7fffffffffffffffLL;
    *sine = (lanes)((lanes_mask)lanes_by_sign(odd, c, s) ^ sign);
    *cosine = (lanes)((lanes_mask)lanes_by_sign(odd, s, c) ^ (sign ^ odd));
    return (lanes_mask)(lanes_absolute(x) > 1e6);
}

/* Sine and cosine; angles beyond 1e6 go to the C library. */
static inline void lanes_sincos(lanes x, lanes *sine, lanes *cosine)
{
    if (__builtin_expect(lanes_any(lanes_sincos_near(x, sine, cosine)), 0)) {
        double from[LANES], s_far[LANES], c_far[LANES];
        memcpy(from, &x, sizeof from);
        sincos_far(from, s_far, c_far, LANES);
        memcpy(sine, s_far, sizeof s_far);
        memcpy(cosine, c_far, sizeof c_far);
    }
}

/*
 * Sines and cosines of several angles, in arrays whose sizes are a multiple of the lanes. It is a
 * loop, as short code stays in the processor's caches. Angles are read one by one: they were just
 * stored so, and a load of several at once would have to wait for them.
 */
static __attribute__((noinline, unused)) void sincos_all(const double *x, double *s, double *c,
                                                         int count)
{
    const volatile double *from = x;
    lanes_mask far = {0};
    NO_UNROLL
    for (int k = 0; k < count; k += LANES) {
        lanes angle, sine, cosine;
        UNROLL
        for (int j = 0; j < LANES; ++j)
            angle[j] = from[k + j];
        far |= lanes_sincos_near(angle, &sine, &cosine);
        memcpy(s + k, &sine, sizeof sine);
        memcpy(c + k, &cosine, sizeof cosine);
    }
    if (__builtin_expect(lanes_any(far), 0))
        sincos_far(x, s, c, count);
}

/* Sines and cosines of several vectors. */
static __attribute__((noinline, unused)) void lanes_sincos_all(const lanes *x, lanes *s, lanes *c,
                                                               int count)
{
    NO_UNROLL
    for (int k = 0; k < count; ++k)
        lanes_sincos(x[k], s + k, c + k);
}

static inline lanes lanes_sin(lanes x)
{
    lanes s, c;
    lanes_sincos(x, &s, &c);
    return s;
}

static inline lanes lanes_cos(lanes x)
{
    lanes s, c;
    lanes_sincos(x, &s, &c);
    return c;
}

/* Return 2^n for whole numbers n from -1022 to 1023. */
static inline lanes lanes_power_of_two(lanes_mask n)
{
    return (lanes)((n + 1023) << 52);
}

/* exp(x) = (1 + *part) * 2^n with |x - n log 2| <= log(2) / 2. */
static inline lanes_mask lanes_split_exp(lanes x, lanes *part)
{
    lanes shifted = x * 1.4426950408889634 + ROUNDING;
    lanes n = shifted - ROUNDING;
    lanes head = x - n * 0.6931471805592082;
    lanes low = n * 7.371002565167799e-13;
    lanes r = head - low;
    lanes tail = (head - r) - low;
    lanes p = 2.5109045054559438e-08 + 2.0924451071100134e-09 * r;

    p = p * r + 2.7557242734040135e-07;
    p = p * r + 2.755724418141628e-06;
    p = p * r + 2.4801587360586924e-05;
    p = p * r + 0.00019841269886159102;
    p = p * r + 0.0013888888888866822;
    p = p * r + 0.008333333333321615;
    p = p * r + 0.0416666666666667;
    p = p * r + 0.16666666666666677;
    p = p * r + 0.5;
    *part = r + (r * r * p + (tail + tail * r));
    return (lanes_mask)shifted - (lanes_mask)(ROUNDING + (lanes){0});
}

static inline lanes lanes_exp(lanes x)
{
    lanes_mask known = x == x, high = x > 709.782712893384, low = x < -745.2;
    lanes part, bounded = lanes_select(known & ~high & ~low, x, (lanes){0});
    lanes_mask n = lanes_split_exp(bounded, &part), first = n >> 1;
    lanes value = (1.0 + part) * lanes_power_of_two(first) * lanes_power_of_two(n - first);
    value = lanes_select(high, HUGE_VAL + (lanes){0}, value);
    value = lanes_select(low, (lanes){0}, value);
    return lanes_select(known, value, x);
}

/* tanh x = -e / (2 + e) with e = exp(-2 |x|) - 1, and the sign of x. */
static inline lanes lanes_tanh(lanes x)
{
    lanes twice = -2.0 * lanes_absolute(x);
    lanes_mask far = twice < -40.0;
    lanes part, power, below;
    lanes_mask n = lanes_split_exp(lanes_select(far, (lanes){0}, twice), &part);

    power = lanes_power_of_two(n);
    below = power * part + (power - 1.0);
    below = lanes_select(far, -1.0 + (lanes){0}, below);
    return lanes_with_sign(lanes_absolute(below) / (2.0 + below), x);
}
