/* Where names, comments and raw text end: what all that reads markup agrees on. */

#ifndef MANNERLY_MARKUP_H
#define MANNERLY_MARKUP_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

static inline int is_letter(char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }

/* White space as the tokenizer has it (no vertical tab), and what else ends a name. Looked up:
   every character of a tag is asked this. */
enum { BLANK = 1, ENDS_NAME = 2 };
static const uint8_t KIND[256] = {
    [' '] = BLANK | ENDS_NAME,  ['\n'] = BLANK | ENDS_NAME, ['\t'] = BLANK | ENDS_NAME,
    ['\f'] = BLANK | ENDS_NAME, ['\r'] = BLANK | ENDS_NAME, ['/'] = ENDS_NAME,
    ['>'] = ENDS_NAME,
};

static inline int is_blank(char c) { return KIND[(uint8_t)c] & BLANK; }

static inline int ends_name(char c) { return KIND[(uint8_t)c] & ENDS_NAME; }

static inline char lowered(char c)
{
    return (char)(c | ((unsigned char)(c - 'A') < 26) << 5);
}

/* Eight characters at once, the first of them lowest; what is asked of each is its top bit. Names are
   short, and to look at them one by one costs most where they end: nobody can foresee that. */
#define EIGHT_TIMES 0x0101010101010101u
#define TOP_BITS (EIGHT_TIMES << 7)

static inline uint64_t eight_at(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint64_t are_equal(uint64_t word, uint8_t c)
{
    word ^= EIGHT_TIMES * c;
    return ~(((word & ~TOP_BITS) + ~TOP_BITS) | word) & TOP_BITS;
}

static inline uint64_t are_up_to_blank(uint64_t word)
{
    return ~(((word & ~TOP_BITS) + EIGHT_TIMES * (0x80 - ' ' - 1)) | word) & TOP_BITS;
}

static inline uint64_t all_lowered(uint64_t word)
{
    const uint64_t low = word & ~TOP_BITS;
    const uint64_t from_a = low + EIGHT_TIMES * (0x80 - 'A');
    const uint64_t behind_z = low + EIGHT_TIMES * (0x80 - 'Z' - 1);
    return word | ((from_a ^ behind_z) & ~word & TOP_BITS) >> 2;
}

/* Where the name of a tag that begins at `at` ends, or that of an attribute: at `also`, too. */
static inline const char *behind_name(const char *at, const char *end, char also)
{
    if (end - at >= 8) {
        const uint64_t word = eight_at(at);
        const uint64_t ends = are_up_to_blank(word) | are_equal(word, '/') | are_equal(word, '>') |
                              are_equal(word, (uint8_t)also);
        at += ends ? __builtin_ctzll(ends) / 8 : 8;
    }
    while (at < end && !ends_name(*at) && *at != also) /* controls may be part of it */
        at++;
    return at;
}

static int is_same(const char *one, const char *other, Py_ssize_t length)
{
    for (Py_ssize_t n = 0; n < length; n++)
        if (lowered(one[n]) != lowered(other[n]))
            return 0;
    return 1;
}

#define IS(AT, LENGTH, WORD) ((LENGTH) == sizeof(WORD) - 1 && is_same(AT, WORD, sizeof(WORD) - 1))

static const char *find(const char *at, const char *end, const char *word)
{
    const Py_ssize_t length = (Py_ssize_t)strlen(word);
    while (end - at >= length && (at = memchr(at, word[0], (size_t)(end - at))) != NULL) {
        if (end - at >= length && memcmp(at, word, (size_t)length) == 0)
            return at;
        at++;
    }
    return NULL;
}

/* Where `</name` or, without `closing`, `<name` is. */
static const char *find_tag(const char *at, const char *end, const char *name, Py_ssize_t length,
                            int closing)
{
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        const char *const word = at + 1 + closing;
        if (end - word > length && (!closing || at[1] == '/') && ends_name(word[length]) &&
            is_same(word, name, length))
            return at;
        at++;
    }
    return NULL;
}

/* Behind a comment; `at` is behind its `<!--`. */
static const char *behind_comment(const char *at, const char *end)
{
    if (at < end && *at == '>')
        return at + 1;
    if (end - at > 1 && at[0] == '-' && at[1] == '>')
        return at + 2;
    while ((at = find(at, end, "--")) != NULL) {
        if (end - at > 2 && at[2] == '>')
            return at + 3;
        if (end - at > 3 && at[2] == '!' && at[3] == '>')
            return at + 4;
        at++;
    }
    return NULL;
}

/* Behind an element whose content is no markup, and where its end tag begins; NULL if its end is not
   sure. `at` is behind its start tag. */
static const char *behind_raw(const char *name, Py_ssize_t length, const char *at, const char *end,
                              const char **close)
{
    *close = find_tag(at, end, name, length, 1);
    if (*close == NULL)
        return NULL;
    if (IS(name, length, "script")) {
        const char *const escaped = find(at, *close, "<!--");
        if (escaped != NULL && find_tag(escaped, *close, name, length, 0) != NULL)
            return NULL;
    }
    const char *behind = *close + 2 + length;
    while (behind < end && is_blank(*behind))
        behind++;
    /* In an end tag with attributes, their values may hold a `>`. */
    return behind < end && *behind == '>' ? behind + 1 : NULL;
}

#endif
