/* What is kept of a text to know it again, in one pass over it: the compiled form of
   `mannerly.parse.simhash_plain`, with the same results.

   A page of 40,000 characters took 0.66 ms there: a fifth of it for the lower case of characters
   that are nearly all ASCII, more than half for arrays of all that begins a word. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "scratch.h"

#define MAX_FEATURES 1024
#define FEATURE_BYTES 16
/* The first byte of CJK characters, kana and hangul in UTF-8, or higher: each begins a feature. */
#define UNSPACED 0xE3

/* Lower case depends on what is around (sigma), or is longer than one character. */
static inline int is_special(Py_UCS4 c) { return c == 0x3A3 || c == 0x130; }

static inline int is_surrogate(Py_UCS4 c) { return c >= 0xD800 && c <= 0xDFFF; }

static inline uint8_t *put_utf8(uint8_t *out, Py_UCS4 c)
{
    if (c < 0x800) {
        *out++ = (uint8_t)(0xC0 | c >> 6);
    } else if (is_surrogate(c)) {
        *out++ = '?'; /* as Python replaces what UTF-8 cannot hold */
        return out;
    } else {
        if (c < 0x10000) {
            *out++ = (uint8_t)(0xE0 | c >> 12);
        } else {
            *out++ = (uint8_t)(0xF0 | c >> 18);
            *out++ = (uint8_t)(0x80 | (c >> 12 & 0x3F));
        }
        *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    }
    *out++ = (uint8_t)(0x80 | (c & 0x3F));
    return out;
}

/* What one pass over a text finds. */
typedef struct {
    uint8_t *data;      /* in lower case as UTF-8, a blank before it, `FEATURE_BYTES` behind it */
    uint8_t *rest;      /* the same without digits */
    uint32_t *begins;   /* where in `data` its features begin */
    Py_ssize_t size, rest_size, count;
} Pass;

#define STRIDE 32

/* Where a pass is: behind what it has written. */
typedef struct {
    uint8_t *out, *rest;
    uint32_t *begin;
    uint8_t before;
} Ends;

/* One character of any kind. False: Python must do it. */
static inline int take(const Pass *it, Ends *ends, Py_UCS4 c)
{
    if (c >= 0x80) {
        if (is_special(c))
            return 0;
        c = Py_UNICODE_TOLOWER(c); /* the sign of Kelvin becomes ASCII by it */
    } else if (c - 'A' < 26) {
        c |= 0x20;
    }
    const uint8_t *first = ends->out;
    if (c < 0x80) {
        *ends->out++ = (uint8_t)c;
        *ends->rest = (uint8_t)c;
        ends->rest += c - '0' >= 10;
    } else {
        ends->out = put_utf8(ends->out, c);
        for (const uint8_t *byte = first; byte < ends->out; byte++)
            *ends->rest++ = *byte;
    }
    *ends->begin = (uint32_t)(first - it->data);
    ends->begin += ((ends->before <= 32) & (*first > 32)) | (*first >= UNSPACED);
    ends->before = ends->out[-1];
    return 1;
}

/* A stride of ASCII that is in lower case at `ends->out`: what `take` does, for all of it. */
static inline void take_stride(const Pass *it, Ends *ends)
{
    uint8_t *const out = ends->out;
    uint8_t digits = 0;
    for (int n = 0; n < STRIDE; n++)
        digits |= (uint8_t)(out[n] - '0') < 10;
    if (digits) {
        for (int n = 0; n < STRIDE; n++) {
            *ends->rest = out[n];
            ends->rest += (uint8_t)(out[n] - '0') >= 10;
        }
    } else {
        memcpy(ends->rest, out, STRIDE);
        ends->rest += STRIDE;
    }
    const uint32_t base = (uint32_t)(out - it->data);
    uint32_t *begin = ends->begin;
    uint8_t before = ends->before;
    for (int n = 0; n < STRIDE; n++) {
        *begin = base + (uint32_t)n;
        begin += (before <= 32) & (out[n] > 32);
        before = out[n];
    }
    ends->begin = begin;
    ends->before = before;
    ends->out = out + STRIDE;
}

/* For each width of characters. A stride at once where it is ASCII. False: Python must do it. */
#define PASS(NAME, UNIT)                                                                           \
    static int pass_##NAME(Pass *it, const UNIT *text, Py_ssize_t length)                          \
    {                                                                                              \
        Ends ends = {it->data, it->rest, it->begins, ' '};                                         \
        Py_ssize_t at = 0;                                                                         \
        while (at < length) {                                                                      \
            const UNIT *const here = text + at;                                                    \
            if (length - at >= STRIDE) {                                                           \
                UNIT all = 0;                                                                      \
                for (int n = 0; n < STRIDE; n++)                                                   \
                    all |= here[n];                                                                \
                if (all < 0x80) {                                                                  \
                    for (int n = 0; n < STRIDE; n++) {                                             \
                        uint8_t c = (uint8_t)here[n];                                              \
                        ends.out[n] = (uint8_t)(c + (((uint8_t)(c - 'A') < 26) << 5));             \
                    }                                                                              \
                    take_stride(it, &ends);                                                        \
                    at += STRIDE;                                                                  \
                    continue;                                                                      \
                }                                                                                  \
            }                                                                                      \
            const Py_ssize_t soon = Py_MIN(length, at + STRIDE);                                   \
            for (; at < soon; at++)                                                                \
                if (!take(it, &ends, text[at]))                                                    \
                    return 0;                                                                      \
        }                                                                                          \
        memset(ends.out, ' ', FEATURE_BYTES);                                                      \
        it->size = ends.out - it->data;                                                            \
        it->rest_size = ends.rest - it->rest;                                                      \
        it->count = ends.begin - it->begins;                                                       \
        return 1;                                                                                  \
    }

PASS(narrow, Py_UCS1)
PASS(middle, Py_UCS2)
PASS(wide, Py_UCS4)

static int passed(Pass *it, PyObject *text, Py_ssize_t length)
{
    const void *data = PyUnicode_DATA(text);
    switch (PyUnicode_KIND(text)) {
    case PyUnicode_1BYTE_KIND:
        return pass_narrow(it, data, length);
    case PyUnicode_2BYTE_KIND:
        return pass_middle(it, data, length);
    default:
        return pass_wide(it, data, length);
    }
}

static inline uint64_t eight(const uint8_t *at)
{
    uint64_t bytes = 0;
    for (int n = 7; n >= 0; n--)
        bytes = bytes << 8 | at[n];
    return bytes;
}

static inline uint64_t feature(const uint8_t *at)
{
    uint64_t hash = eight(at) * 0x9E3779B97F4A7C15u ^ eight(at + 8) * 0xC2B2AE3D27D4EB4Fu;
    hash ^= hash >> 32;
    hash *= 0xFF51AFD7ED558CCDu;
    return hash ^ hash >> 32;
}

/* Of a longer text a sample votes: those whose hash has a 0 at the end, as often as need be. */
static Py_ssize_t thinned(uint64_t *hashes, Py_ssize_t count)
{
    while (count > MAX_FEATURES) {
        Py_ssize_t left = 0;
        for (Py_ssize_t n = 0; n < count; n++) {
            uint64_t hash = hashes[n];
            hashes[left] = hash >> 1;
            left += !(hash & 1);
        }
        count = left;
    }
    return count;
}

#define DIGITS 11 /* of the largest count, `MAX_FEATURES` */

/* Adds two to a digit of each of 64 counts: what is carried to the next. */
static inline uint64_t carried(uint64_t *digit, uint64_t one, uint64_t other)
{
    const uint64_t odd = *digit ^ one;
    const uint64_t carry = (*digit & one) | (odd & other);
    *digit = odd ^ other;
    return carry;
}

static inline void carry_on(uint64_t *counts, int digit, uint64_t carry)
{
    for (; carry && digit < DIGITS; digit++) {
        const uint64_t next = counts[digit] & carry;
        counts[digit] ^= carry;
        carry = next;
    }
}

/* The majority of each bit. The 64 counts are kept as numbers that stand upright: their lowest bits
   in the first word, and so on, so that all are counted up at once. */
static uint64_t majority(const uint64_t *hashes, Py_ssize_t count)
{
    uint64_t counts[DIGITS] = {0};
    Py_ssize_t n = 0;
    for (; n + 4 <= count; n += 4) { /* four at once: their ones and twos, then what is carried */
        uint64_t ones = counts[0], twos = counts[1];
        uint64_t first = carried(&ones, hashes[n], hashes[n + 1]);
        uint64_t second = carried(&ones, hashes[n + 2], hashes[n + 3]);
        uint64_t fours = carried(&twos, first, second);
        counts[0] = ones;
        counts[1] = twos;
        carry_on(counts, 2, fours);
    }
    for (; n < count; n++)
        carry_on(counts, 0, hashes[n]);
    uint64_t result = 0;
    for (int bit = 0; bit < 64; bit++) {
        Py_ssize_t votes = 0;
        for (int digit = 0; digit < DIGITS; digit++)
            votes |= (Py_ssize_t)(counts[digit] >> bit & 1) << digit;
        /* The first byte of a hash is the first of the result, whose bytes stand the other way. */
        if (votes * 2 > count)
            result |= (uint64_t)1 << ((7 - bit / 8) * 8 + bit % 8);
    }
    return result;
}

static PyObject *told(const Pass *it)
{
    uint64_t *hashes = PyMem_Malloc(((size_t)it->count + 1) * sizeof *hashes);
    if (hashes == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t n = 0; n < it->count; n++)
        hashes[n] = feature(it->data + it->begins[n]);
    Py_ssize_t count = thinned(hashes, it->count);
    uint64_t hash = count ? majority(hashes, count) : 0;
    PyMem_Free(hashes);
    return Py_BuildValue("Ly#", (long long)(int64_t)hash, (const char *)it->rest, it->rest_size);
}

static PyObject *printed(PyObject *self, PyObject *args)
{
    PyObject *text;
    Py_ssize_t limit;
    (void)self;
    if (!PyArg_ParseTuple(args, "Un", &text, &limit))
        return NULL;
    Py_ssize_t length = Py_MIN(PyUnicode_GET_LENGTH(text), limit);
    size_t longest = PyUnicode_IS_ASCII(text) ? 1 : PyUnicode_KIND(text) == 4 ? 4 : 3;
    size_t bytes = (size_t)length * longest + FEATURE_BYTES;
    size_t begins = ((size_t)length + 1) * sizeof(uint32_t);
    const Scratch scratch = take_scratch(begins + 1 + 2 * bytes);
    uint8_t *const room = scratch.room;
    if (room == NULL)
        return PyErr_NoMemory();
    room[begins] = ' ';
    Pass it = {.data = room + begins + 1, .begins = (uint32_t *)room};
    it.rest = it.data + bytes;
    PyObject *result = passed(&it, text, length) ? told(&it) : Py_NewRef(Py_None);
    give_scratch(scratch);
    return result;
}

/* What is kept of a page. */
typedef struct {
    int64_t content, simhash, but_for_digits, owner;
} Row;

enum { NONE, EXACT, NEAR, BUT_FOR_DIGITS };

static int likeness(const Row *rows, Py_ssize_t held, const Row *page, int near, int64_t *owner)
{
    for (Py_ssize_t n = 0; n < held; n++)
        if (rows[n].content == page->content) {
            *owner = rows[n].owner;
            return EXACT;
        }
    if (page->simhash == 0)
        return NONE;
    int least = near + 1;
    for (Py_ssize_t n = 0; n < held; n++) {
        int bits = __builtin_popcountll((uint64_t)(rows[n].simhash ^ page->simhash));
        if (bits < least && rows[n].simhash != 0) {
            least = bits;
            *owner = rows[n].owner;
        }
    }
    if (least <= near)
        return NEAR;
    for (Py_ssize_t n = 0; n < held; n++)
        if (rows[n].but_for_digits == page->but_for_digits) {
            *owner = rows[n].owner;
            return BUT_FOR_DIGITS;
        }
    return NONE;
}

static PyObject *among(PyObject *self, PyObject *args)
{
    Py_buffer rows;
    long long content, simhash, rest;
    int near;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*LLLi", &rows, &content, &simhash, &rest, &near))
        return NULL;
    const Row page = {content, simhash, rest, 0};
    const Py_ssize_t held = rows.len / (Py_ssize_t)sizeof(Row);
    int64_t owner = 0;
    int found = likeness(rows.buf, held, &page, near, &owner);
    PyBuffer_Release(&rows);
    return Py_BuildValue("iL", found, (long long)owner);
}

static PyMethodDef methods[] = {
    {"among", among, METH_VARARGS,
     "among(rows, content, simhash, rest, near): how one of the rows of four is like this one\n"
     "(0 none, 1 exact, 2 near, 3 but for digits), and whose it is."},
    {"printed", printed, METH_VARARGS, "The simhash of a text, and its bytes without digits."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_simhash", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__simhash(void) { return PyModuleDef_Init(&module); }
