/* What is kept of a text to know it again, in one pass over it: the compiled form of
   `mannerly.parse.simhash_plain`, with the same results.

   A page of 40,000 characters took 0.66 ms there: a fifth of it for the lower case of characters
   that are nearly all ASCII, more than half for arrays of all that begins a word. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

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

/* The majority of each bit. The 64 counts are kept as numbers that stand upright: their lowest bits
   in the first word, and so on, so that all are counted up at once. */
static uint64_t majority(const uint64_t *hashes, Py_ssize_t count)
{
    uint64_t counts[11] = {0};
    for (Py_ssize_t n = 0; n < count; n++) {
        uint64_t carry = hashes[n];
        for (int digit = 0; carry && digit < 11; digit++) {
            uint64_t next = counts[digit] & carry;
            counts[digit] ^= carry;
            carry = next;
        }
    }
    uint64_t result = 0;
    for (int bit = 0; bit < 64; bit++) {
        Py_ssize_t votes = 0;
        for (int digit = 0; digit < 11; digit++)
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
    uint8_t *room = PyMem_Malloc(begins + 1 + 2 * bytes);
    if (room == NULL)
        return PyErr_NoMemory();
    room[begins] = ' ';
    Pass it = {.data = room + begins + 1, .begins = (uint32_t *)room};
    it.rest = it.data + bytes;
    PyObject *result = passed(&it, text, length) ? told(&it) : Py_NewRef(Py_None);
    PyMem_Free(room);
    return result;
}

/* Rows of four columns of signed numbers: content, simhash, but for digits, and whose they are. */
typedef struct {
    const int64_t *contents, *simhashes, *rests, *owners;
    Py_ssize_t held;
} Rows;

enum { NONE, EXACT, NEAR, BUT_FOR_DIGITS };

static int likeness(const Rows *rows, int64_t content, int64_t simhash, int64_t rest, int near,
                    int64_t *owner)
{
    for (Py_ssize_t n = 0; n < rows->held; n++)
        if (rows->contents[n] == content) {
            *owner = rows->owners[n];
            return EXACT;
        }
    if (simhash == 0)
        return NONE;
    int least = near + 1;
    for (Py_ssize_t n = 0; n < rows->held; n++) {
        int bits = __builtin_popcountll((uint64_t)(rows->simhashes[n] ^ simhash));
        if (bits < least && rows->simhashes[n] != 0) {
            least = bits;
            *owner = rows->owners[n];
        }
    }
    if (least <= near)
        return NEAR;
    for (Py_ssize_t n = 0; n < rows->held; n++)
        if (rows->rests[n] == rest) {
            *owner = rows->owners[n];
            return BUT_FOR_DIGITS;
        }
    return NONE;
}

static PyObject *among(PyObject *self, PyObject *args)
{
    Py_buffer columns;
    Py_ssize_t held;
    long long content, simhash, rest;
    int near;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*nLLLi", &columns, &held, &content, &simhash, &rest, &near))
        return NULL;
    Py_ssize_t room = columns.len / (4 * (Py_ssize_t)sizeof(int64_t));
    if (held < 0 || held > room) {
        PyBuffer_Release(&columns);
        PyErr_SetString(PyExc_ValueError, "there are not so many rows");
        return NULL;
    }
    const int64_t *first = columns.buf;
    Rows rows = {first, first + room, first + 2 * room, first + 3 * room, held};
    int64_t owner = 0;
    int found = likeness(&rows, content, simhash, rest, near, &owner);
    PyBuffer_Release(&columns);
    return Py_BuildValue("iL", found, (long long)owner);
}

static PyMethodDef methods[] = {
    {"among", among, METH_VARARGS,
     "among(columns, held, content, simhash, rest, near): how one of the first `held` rows is\n"
     "like this one (0 none, 1 exact, 2 near, 3 but for digits), and whose it is."},
    {"printed", printed, METH_VARARGS, "The simhash of a text, and its bytes without digits."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_simhash", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__simhash(void) { return PyModuleDef_Init(&module); }
