/* White space collapsed: how texts become lines. */

#ifndef MANNERLY_LINES_H
#define MANNERLY_LINES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "scratch.h"

/* White space as `str.split` has it, but for form feeds. */
static inline int is_white(Py_UCS4 c)
{
    if (c <= ' ')
        return c == ' ' || (c >= '\t' && c <= '\r' && c != '\f') || c >= 0x1c;
    if (c < 0x1680)
        return c == 0x85 || c == 0xa0;
    return (c >= 0x2000 && c <= 0x200a) || c == 0x1680 || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

#define STRIDE 32

/* Texts have one form for each width of their characters, and so has this. */
#define COLLAPSE(NAME, UNIT, ODD)                                                                  \
    /* How many characters from `at` on are copied as they are: all but form feeds and white       \
       space, and single blanks between them. `at` is one of them. */                              \
    static inline size_t run_##NAME(const UNIT *at, const UNIT *end)                               \
    {                                                                                              \
        const UNIT *const begin = at;                                                              \
        for (;;) {                                                                                 \
            /* A stride at once, where nothing in it needs a closer look. */                       \
            while (end - at > STRIDE) {                                                            \
                UNIT odd = 0;                                                                      \
                for (int n = 0; n < STRIDE; n++) {                                                 \
                    UNIT c = at[n];                                                                \
                    odd |= (UNIT)((c < ' ') | ODD | ((c == ' ') & (at[n + 1] == ' ')));            \
                }                                                                                  \
                if (odd)                                                                           \
                    break;                                                                         \
                /* What follows a blank at its end was not looked at. */                           \
                at += STRIDE - (at[STRIDE - 1] == ' ');                                            \
            }                                                                                      \
            const UNIT *const soon = end - at > STRIDE ? at + STRIDE : end;                        \
            for (; at < soon; at++) {                                                              \
                if (*at == '\f' || (*at != ' ' && is_white(*at)))                                  \
                    return (size_t)(at - begin);                                                   \
                if (*at == ' ' && (at + 1 == end || at[1] == '\f' || is_white(at[1])))             \
                    return (size_t)(at - begin);                                                   \
            }                                                                                      \
            if (at == end)                                                                         \
                return (size_t)(at - begin);                                                       \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static size_t collapse_##NAME(const UNIT *at, Py_ssize_t length, UNIT line_end, UNIT *out)     \
    {                                                                                              \
        const UNIT *const end = at + length;                                                       \
        UNIT *const begin = out;                                                                   \
        UNIT gap = 0; /* what separates the next word from the last */                             \
        while (at < end) {                                                                         \
            if (*at == '\f') {                                                                     \
                gap = line_end;                                                                    \
                at++;                                                                              \
            } else if (is_white(*at)) {                                                            \
                if (gap == 0)                                                                      \
                    gap = ' ';                                                                     \
                at++;                                                                              \
            } else {                                                                               \
                size_t run = run_##NAME(at, end);                                                  \
                if (gap != 0 && out > begin)                                                       \
                    *out++ = gap;                                                                  \
                gap = 0;                                                                           \
                memcpy(out, at, run * sizeof *at);                                                 \
                out += run;                                                                        \
                at += run;                                                                         \
            }                                                                                      \
        }                                                                                          \
        return (size_t)(out - begin);                                                              \
    }

COLLAPSE(narrow, Py_UCS1, (c == 0x85) | (c == 0xa0))
COLLAPSE(middle, Py_UCS2,
         (c == 0x85) | (c == 0xa0) | (c == 0x1680) | ((c & 0xff80) == 0x2000) | (c == 0x3000))
COLLAPSE(wide, Py_UCS4,
         (c == 0x85) | (c == 0xa0) | (c == 0x1680) | ((c & 0xffffff80) == 0x2000) | (c == 0x3000))

/* White space collapsed in the first `length` characters of `raw`; at most `limit` are left. */
static PyObject *collapsed(PyObject *raw, Py_ssize_t length, char line_end, Py_ssize_t limit)
{
    length = Py_MIN(PyUnicode_GET_LENGTH(raw), length);
    const int kind = PyUnicode_KIND(raw);
    const Scratch scratch = take_scratch((size_t)(length + 1) * (size_t)kind);
    void *const out = scratch.room;
    if (out == NULL)
        return PyErr_NoMemory();
    const void *text = PyUnicode_DATA(raw);
    size_t size;
    if (kind == PyUnicode_1BYTE_KIND)
        size = collapse_narrow(text, length, (Py_UCS1)line_end, out);
    else if (kind == PyUnicode_2BYTE_KIND)
        size = collapse_middle(text, length, (Py_UCS2)line_end, out);
    else
        size = collapse_wide(text, length, (Py_UCS4)line_end, out);
    PyObject *result = PyUnicode_FromKindAndData(kind, out, Py_MIN((Py_ssize_t)size, limit));
    give_scratch(scratch);
    return result;
}

#endif
