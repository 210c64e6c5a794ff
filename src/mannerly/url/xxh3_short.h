/* XXH3 (64 bits, no seed) of up to 240 bytes, by the published description of the algorithm. A URL is
   rarely longer, and to ask the library takes three objects a link. A test compares the two for each
   length. */

#ifndef MANNERLY_XXH3_SHORT_H
#define MANNERLY_XXH3_SHORT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SIZEOF_INT128__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define XXH3_LONGEST 240
#else
#define XXH3_LONGEST -1 /* nothing is short: the library is asked */
typedef uint64_t __uint128_t;
#endif

static const uint64_t XXH_PRIME_1 = 0x9E3779B185EBCA87ULL;
static const uint64_t XXH_PRIME_2 = 0xC2B2AE3D27D4EB4FULL;
static const uint64_t XXH_PRIME_3 = 0x165667B19E3779F9ULL;
static const uint64_t XXH3_PRIME_MX1 = 0x165667919E3779F9ULL;
static const uint64_t XXH3_PRIME_MX2 = 0x9FB21C651E98DF25ULL;

static const uint8_t XXH3_SECRET[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
};

static inline uint64_t xxh_read64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t xxh_read32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t xxh_rotated(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static inline uint64_t xxh_folded(uint64_t one, uint64_t other)
{
    const __uint128_t product = (__uint128_t)one * other;
    return (uint64_t)product ^ (uint64_t)(product >> (4 * sizeof product));
}

static inline uint64_t xxh64_avalanche(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * XXH_PRIME_2;
    hash = (hash ^ hash >> 29) * XXH_PRIME_3;
    return hash ^ hash >> 32;
}

static inline uint64_t xxh3_avalanche(uint64_t hash)
{
    hash = (hash ^ hash >> 37) * XXH3_PRIME_MX1;
    return hash ^ hash >> 32;
}

static inline uint64_t xxh3_mixed(const uint8_t *in, int secret)
{
    const uint8_t *with = XXH3_SECRET + secret;
    return xxh_folded(xxh_read64(in) ^ xxh_read64(with), xxh_read64(in + 8) ^ xxh_read64(with + 8));
}

static inline uint64_t xxh3_up_to_16(const uint8_t *in, size_t size)
{
    const uint8_t *with = XXH3_SECRET;
    if (size > 8) {
        const uint64_t low = xxh_read64(in) ^ (xxh_read64(with + 24) ^ xxh_read64(with + 32));
        const uint64_t high
            = xxh_read64(in + size - 8) ^ (xxh_read64(with + 40) ^ xxh_read64(with + 48));
        return xxh3_avalanche(size + __builtin_bswap64(low) + high + xxh_folded(low, high));
    }
    if (size >= 4) {
        uint64_t hash = xxh_read32(in + size - 4) + ((uint64_t)xxh_read32(in) << 32);
        hash ^= xxh_read64(with + 8) ^ xxh_read64(with + 16);
        hash ^= xxh_rotated(hash, 49) ^ xxh_rotated(hash, 24);
        hash *= XXH3_PRIME_MX2;
        hash ^= (hash >> 35) + size;
        hash *= XXH3_PRIME_MX2;
        return hash ^ hash >> 28;
    }
    if (size) {
        const uint32_t all = (uint32_t)in[0] << 16 | (uint32_t)in[size >> 1] << 24 | in[size - 1]
                             | (uint32_t)size << 8;
        return xxh64_avalanche(all ^ (uint64_t)(xxh_read32(with) ^ xxh_read32(with + 4)));
    }
    return xxh64_avalanche(xxh_read64(with + 56) ^ xxh_read64(with + 64));
}

/* Of at most XXH3_LONGEST bytes. */
static uint64_t xxh3_short(const void *data, size_t size)
{
    const uint8_t *in = data, *end = in + size;
    if (size <= 16)
        return xxh3_up_to_16(in, size);
    uint64_t sum = size * XXH_PRIME_1;
    if (size <= 128) {
        for (size_t pair = (size - 1) / 32; pair > 0; pair--) {
            sum += xxh3_mixed(in + 16 * pair, 32 * (int)pair);
            sum += xxh3_mixed(end - 16 * (pair + 1), 32 * (int)pair + 16);
        }
        sum += xxh3_mixed(in, 0) + xxh3_mixed(end - 16, 16);
        return xxh3_avalanche(sum);
    }
    for (int at = 0; at < 128; at += 16)
        sum += xxh3_mixed(in + at, at);
    sum = xxh3_avalanche(sum);
    for (int at = 128; at + 16 <= (int)size; at += 16)
        sum += xxh3_mixed(in + at, at - 128 + 3);
    sum += xxh3_mixed(end - 16, 136 - 17);
    return xxh3_avalanche(sum);
}

#endif
