/* Blocks and lines in one pass each: the compiled form of `blocks_plain`, with the same results.

   Every loop here looks at each byte at most twice, whatever it is given, and allocates no more
   than twice the size of its input. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "lines.h"

/* With fewer, the attributes of one tag cost at most a third of a second: see `crop`. */
#define MANY_BYTES (64 * 1024)

/* As in `blocks.Seen`. */
enum {
    TOP_HEADINGS = 1,
    LOW_HEADINGS = 2,
    STYLE = 4,
    IFRAME = 8,
    FRAME = 16,
    FALLBACK = 32,
    PREFORMATTED = 64,
    SCRIPT = 128,
};

static inline int is_letter(unsigned char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }

static inline int is_blank(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* A name of up to eight letters as a number. */
#define N1(a) ((uint64_t)(a))
#define N2(a, b) (N1(a) << 8 | (b))
#define N3(a, b, c) (N2(a, b) << 8 | (c))
#define N4(a, b, c, d) (N3(a, b, c) << 8 | (d))
#define N5(a, b, c, d, e) (N4(a, b, c, d) << 8 | (e))
#define N6(a, b, c, d, e, f) (N5(a, b, c, d, e) << 8 | (f))
#define N7(a, b, c, d, e, f, g) (N6(a, b, c, d, e, f) << 8 | (g))
#define N8(a, b, c, d, e, f, g, h) (N7(a, b, c, d, e, f, g) << 8 | (h))

typedef struct {
    int seen;
    Py_ssize_t left_open; /* formatting elements with attributes, not closed right behind their text */
} Survey;

static inline int ends_value(char c)
{
    return is_blank((unsigned char)c) || c == '"' || c == '\'' || c == '<' || c == '>' ||
           c == '=' || c == '`';
}

static inline int ends_name(char c) { return (ends_value(c) && c != '`') || c == '/'; }

/* Behind the `>` of a tag whose attributes begin at `at`, if it is written so plainly that nobody
   can see its end elsewhere; else NULL. */
static const char *plain_attributes(const char *at, const char *end)
{
    for (;;) {
        if (at < end && *at == '>')
            return at + 1;
        if (at >= end || !(is_blank((unsigned char)*at) || *at == '/'))
            return NULL;
        while (at < end && (is_blank((unsigned char)*at) || *at == '/'))
            at++;
        const char *name = at;
        while (at < end && !ends_name(*at))
            at++;
        if (at == name)
            continue;
        const char *value = at;
        while (value < end && is_blank((unsigned char)*value))
            value++;
        if (value >= end || *value != '=')
            continue;
        for (value++; value < end && is_blank((unsigned char)*value); value++)
            ;
        if (value >= end)
            return NULL;
        if (*value == '"' || *value == '\'') {
            for (at = value + 1; at < end && *at != *value; at++)
                if (*at == '<' || *at == '>')
                    return NULL;
            if (at >= end)
                return NULL;
            at++;
            continue;
        }
        for (at = value; at < end && !ends_value(*at); at++)
            ;
        if (at == value || at >= end || !(is_blank((unsigned char)*at) || *at == '>'))
            return NULL;
    }
}

static int is_named(const char *at, const char *end, const char *name, Py_ssize_t length)
{
    if (end - at < length)
        return 0;
    for (Py_ssize_t i = 0; i < length; i++)
        if ((at[i] | 0x20) != (name[i] | 0x20))
            return 0;
    return 1;
}

/* Whether a formatting element is closed right behind its text, which may have spans in it. */
static int closes_soon(const char *name, Py_ssize_t length, const char *end)
{
    const char *at = plain_attributes(name + length, end);
    while (at != NULL && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if (end - at > 1 && at[1] == '/') {
            if (is_named(at + 2, end, name, length) && at + 2 + length < end && at[2 + length] == '>')
                return 1;
            if (!(is_named(at + 2, end, "span", 4) && at + 6 < end && at[6] == '>'))
                return 0;
            at += 7;
        } else if (is_named(at + 1, end, "span", 4)) {
            at = plain_attributes(at + 5, end);
        } else {
            return 0;
        }
    }
    return 0;
}

/* Whether a tag separates. `name` is where its name begins: a letter. */
static int separates(const char *name, const char *end, int closing, Survey *survey)
{
    uint64_t key = 0;
    int length = 0;
    while (length < 8 && name + length < end && is_letter((unsigned char)name[length]))
        key = key << 8 | (unsigned char)(name[length++] | 0x20);
    unsigned char after = name + length < end ? (unsigned char)name[length] : 0;
    if (key == 'h' && after >= '1' && after <= '6') {
        if (!closing)
            survey->seen |= after <= '3' ? TOP_HEADINGS : LOW_HEADINGS;
        return 1;
    }
    if (!(is_blank(after) || after == '>' || after == '/'))
        return 1;
    switch (key) {
    case N1('b'): case N1('i'): case N1('u'): case N1('s'): case N2('e', 'm'): case N2('t', 't'):
    case N3('b', 'i', 'g'): case N4('c', 'o', 'd', 'e'): case N4('f', 'o', 'n', 't'):
    case N4('n', 'o', 'b', 'r'): case N5('s', 'm', 'a', 'l', 'l'):
    case N6('s', 't', 'r', 'i', 'k', 'e'): case N6('s', 't', 'r', 'o', 'n', 'g'):
        if (!closing && after != '>' && !closes_soon(name, length, end))
            survey->left_open++;
        return 0;
    case N5('s', 't', 'y', 'l', 'e'):
        survey->seen |= STYLE;
        return 0;
    case N1('a'): case N1('g'): case N1('q'): case N2('r', 'b'): case N2('r', 'p'):
    case N2('r', 't'): case N3('b', 'd', 'i'): case N3('b', 'd', 'o'): case N3('d', 'e', 'l'):
    case N3('d', 'f', 'n'): case N3('i', 'm', 'g'): case N3('i', 'n', 's'):
    case N3('k', 'b', 'd'): case N3('s', 'u', 'b'): case N3('s', 'u', 'p'):
    case N3('s', 'v', 'g'): case N3('u', 's', 'e'): case N3('v', 'a', 'r'):
    case N3('w', 'b', 'r'): case N4('a', 'b', 'b', 'r'): case N4('c', 'i', 't', 'e'):
    case N4('d', 'a', 't', 'a'): case N4('l', 'i', 'n', 'k'): case N4('m', 'a', 'r', 'k'):
    case N4('m', 'e', 't', 'a'): case N4('p', 'a', 't', 'h'): case N4('r', 'u', 'b', 'y'):
    case N4('s', 'a', 'm', 'p'): case N4('s', 'p', 'a', 'n'): case N4('t', 'i', 'm', 'e'):
    case N5('i', 'n', 'p', 'u', 't'): case N5('l', 'a', 'b', 'e', 'l'):
    case N7('a', 'c', 'r', 'o', 'n', 'y', 'm'):
        return 0;
    case N6('s', 'c', 'r', 'i', 'p', 't'):
        survey->seen |= SCRIPT;
        return 0;
    case N6('i', 'f', 'r', 'a', 'm', 'e'):
        survey->seen |= IFRAME;
        return 1;
    case N5('f', 'r', 'a', 'm', 'e'):
        survey->seen |= FRAME;
        return 1;
    case N8('n', 'o', 's', 'c', 'r', 'i', 'p', 't'): case N8('n', 'o', 'f', 'r', 'a', 'm', 'e', 's'):
    case N7('n', 'o', 'e', 'm', 'b', 'e', 'd'):
        survey->seen |= FALLBACK;
        return 1;
    case N3('p', 'r', 'e'):
        if (!closing && after != '/')
            survey->seen |= PREFORMATTED;
        return 1;
    }
    return 1;
}

/* Where the white space behind a tag ends, NULL if another `<` or odd quotes come before its `>`.
   `at` is behind its `<`. */
static const char *rest(const char *at, const char *end)
{
    for (; at < end; at++) {
        char c = *at;
        if (c == '>') {
            for (at++; at < end && is_blank((unsigned char)*at); at++)
                ;
            return at;
        }
        if (c == '<')
            return NULL;
        if (c == '"' || c == '\'') {
            for (at++; at < end && *at != c && *at != '<'; at++)
                ;
            if (at >= end || *at == '<')
                return NULL;
        }
    }
    return NULL;
}

/* Whether a tag that separates begins at `at`, which is a `<`. */
static int begins_block(const char *at, const char *end, Survey *survey)
{
    const char *name = at + 1;
    int closing = name < end && *name == '/';
    name += closing;
    return name < end && is_letter((unsigned char)*name) && separates(name, end, closing, survey);
}

static const char *find_pre(const char *at, const char *end, int closing)
{
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        const char *name = at + 1 + closing;
        if (end - name >= 3 && (!closing || at[1] == '/') && (name[0] | 0x20) == 'p' &&
            (name[1] | 0x20) == 'r' && (name[2] | 0x20) == 'e' &&
            (closing || (end - name > 3 && (is_blank((unsigned char)name[3]) || name[3] == '>'))))
            return at;
        at++;
    }
    return NULL;
}

/* Keep the lines of preformatted text. */
static void keep_lines(char *from, char *end)
{
    const char *open = from;
    while ((open = find_pre(open, end, 0)) != NULL) {
        const char *close = find_pre(open, end, 1);
        if (close == NULL)
            return;
        for (char *at = from + (open - from); at < close; at++)
            if (*at == '\n')
                *at = '\f';
        open = close;
    }
}

/* The longest stretch without a `>`, but for those in quoted values: no tag is longer. */
static Py_ssize_t longest_stretch(const char *at, const char *end)
{
    Py_ssize_t longest = 0;
    const char *begin = at;
    for (; at < end; at++) {
        if (*at == '>') {
            if (at - begin > longest)
                longest = at - begin;
            begin = at + 1;
        } else if (*at == '=') {
            const char *value = at + 1;
            while (value < end && is_blank((unsigned char)*value))
                value++;
            if (value >= end || (*value != '"' && *value != '\''))
                continue;
            const char quote = *value++;
            while (value < end && *value != quote && *value != '>')
                value++;
            if (value >= end || *value == quote)
                continue;
            while (value < end && *value != quote)
                value++;
            at = value - 1;
        }
    }
    return end - begin > longest ? end - begin : longest;
}

static PyObject *marked(PyObject *Py_UNUSED(module), PyObject *source)
{
    char *from;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(source, &from, &length) < 0)
        return NULL;
    Py_ssize_t tags = 0;
    for (Py_ssize_t i = 0; i < length; i++)
        tags += from[i] == '<';
    /* At most one mark for each `<`. */
    PyObject *result = PyBytes_FromStringAndSize(NULL, length + tags);
    if (result == NULL)
        return NULL;
    char *const to = PyBytes_AsString(result);
    char *out = to;
    const char *const end = from + length;
    const char *copied = from;
    const char *at = from;
    Survey survey = {0, 0};
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if (!begins_block(at, end, &survey)) {
            at++;
            continue;
        }
        const char *behind = rest(at + 1, end);
        const char *upto = behind != NULL ? behind : at;
        /* The run goes on. An inline tag that ends it is looked at again, so it is counted then. */
        Survey run = {0, 0};
        while (behind != NULL && behind < end && *behind == '<' &&
               begins_block(behind, end, &run) && (behind = rest(behind + 1, end)) != NULL)
            upto = behind;
        survey.seen |= run.seen;
        memcpy(out, copied, (size_t)(upto - copied));
        out += upto - copied;
        *out++ = '\f';
        copied = upto;
        at = upto > at ? upto : at + 1;
    }
    memcpy(out, copied, (size_t)(end - copied));
    out += end - copied;
    if (survey.seen & PREFORMATTED)
        keep_lines(to, out);
    if (_PyBytes_Resize(&result, out - to) < 0)
        return NULL;
    Py_ssize_t longest = length > MANY_BYTES ? longest_stretch(from, end) : 0;
    return Py_BuildValue("(Nninn)", result, tags, survey.seen, survey.left_open, longest);
}

static PyObject *lines(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *raw;
    Py_ssize_t limit;
    if (!PyArg_ParseTuple(args, "Un", &raw, &limit))
        return NULL;
    return collapsed(raw, 4 * limit, '\n', limit);
}

static PyObject *line(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *raw;
    Py_ssize_t limit;
    if (!PyArg_ParseTuple(args, "Un", &raw, &limit))
        return NULL;
    return collapsed(raw, 8 * limit, ' ', limit);
}

/* How many words the tags of `source` have at most, wherever one sees them begin and end: an upper
   bound for `crop._wordy`, whose reading of quoted values this is. */
static PyObject *most_words(PyObject *Py_UNUSED(module), PyObject *source)
{
    char *from;
    Py_ssize_t length, words = 0;
    if (PyBytes_AsStringAndSize(source, &from, &length) < 0)
        return NULL;
    const char *const end = from + length;
    int in_tag = 0;
    for (const char *at = from; at < end; at++) {
        const char c = *at;
        if (c == '<') {
            in_tag |= at + 1 < end && is_letter((unsigned char)at[1]);
            words += in_tag;
        } else if (c == '>') {
            in_tag = 0;
        } else if (in_tag && (is_blank((unsigned char)c) || c == '/' || c == '"' || c == '\'')) {
            words++;
        } else if (c == '=') {
            words += in_tag;
            const char *value = at + 1;
            while (value < end && is_blank((unsigned char)*value))
                value++;
            if (value >= end || (*value != '"' && *value != '\''))
                continue;
            const char *const first = value;
            const char quote = *value++;
            while (value < end && *value != quote && *value != '>')
                value++;
            if (value >= end || *value == quote)
                continue;
            /* It hides a `>`: all of it may be in a tag. */
            while (value < end && *value != quote)
                value++;
            for (at = first; at < value; at++)
                words += is_blank((unsigned char)*at) || *at == '/' || *at == '=' || *at == '<' ||
                         *at == '"' || *at == '\'';
            in_tag = 1;
            at = value - 1;
        }
    }
    return PyLong_FromSsize_t(words);
}

/* What `defuse` knows of an element. */
enum { VOID = 1, IMPLIED_END = 2, LEAVES_SVG = 4, SVG = 8 };

static const struct {
    const char *names;
    int kind;
} KINDS[] = {
    {"area base br col embed hr img input link meta param source track wbr ", VOID},
    {"p li dd dt option optgroup tr td th tbody thead tfoot colgroup caption rp rt ", IMPLIED_END},
    {"body br center div dl dd dt em h1 h2 h3 h4 h5 h6 head hr i img li menu meta nobr ol p pre "
     "ruby s small span strong strike sub sup table tt u ul var ", LEAVES_SVG},
    {"svg ", SVG},
};

#define KNOWN 256

static struct {
    uint64_t key;
    int kind;
} known[KNOWN];

static unsigned place(uint64_t key)
{
    unsigned at = (unsigned)(key * 0x9E3779B97F4A7C15u >> 56);
    while (known[at].key != 0 && known[at].key != key)
        at = (at + 1) % KNOWN;
    return at;
}

static void know_kinds(void)
{
    for (size_t n = 0; n < sizeof KINDS / sizeof *KINDS; n++) {
        uint64_t key = 0;
        for (const char *c = KINDS[n].names; *c; c++) {
            if (*c != ' ') {
                key = key << 8 | (unsigned char)*c;
                continue;
            }
            unsigned at = place(key);
            known[at].key = key;
            known[at].kind |= KINDS[n].kind;
            key = 0;
        }
    }
}

typedef struct {
    const char *name;
    Py_ssize_t length;
    int kind;
} Element;

static inline unsigned char lowered(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static int is_same(const Element *one, const Element *other)
{
    if (one->length != other->length)
        return 0;
    for (Py_ssize_t n = 0; n < one->length; n++)
        if (lowered(one->name[n]) != lowered(other->name[n]))
            return 0;
    return 1;
}

/* The element whose name begins at `name`, a letter. */
static Element element_at(const char *name, const char *end)
{
    Element it = {name, 0, 0};
    uint64_t key = 0;
    while (name < end && !is_blank((unsigned char)*name) && *name != '/' && *name != '>')
        key = key << 8 | lowered(*name++);
    it.length = name - it.name;
    if (it.length <= 8)
        it.kind = known[place(key)].kind;
    return it;
}

/* As `defuse_plain.shallow`. */
static PyObject *shallow(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *from;
    Py_ssize_t length, deepest, depth = 0;
    if (!PyArg_ParseTuple(args, "y#n", &from, &length, &deepest))
        return NULL;
    Element *open = PyMem_Malloc((size_t)(deepest + 2) * sizeof *open);
    if (open == NULL)
        return PyErr_NoMemory();
    const char *const end = from + length;
    const char *at = from;
    int in_svg = 0;
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        const char *const begin = at++;
        const int closing = at < end && *at == '/';
        if (at + closing >= end || !is_letter((unsigned char)at[closing]))
            continue;
        const Element it = element_at(at + closing, end);
        at = it.name + it.length;
        const int self_closing = end - at >= 2 && at[0] == '/' && at[1] == '>';
        at += 2 * self_closing;
        if (it.kind & VOID)
            continue;
        if (closing) {
            Py_ssize_t top = depth - 1;
            while (top >= 0 && open[top].kind & IMPLIED_END && !is_same(&open[top], &it))
                top--;
            if (top >= 0 && is_same(&open[top], &it)) {
                depth = top;
                in_svg &= !(it.kind & SVG);
            }
            continue;
        }
        if (it.kind & SVG)
            in_svg = 1;
        else if (it.kind & LEAVES_SVG)
            in_svg = 0;
        if (self_closing && in_svg)
            continue;
        if (it.kind & IMPLIED_END)
            while (depth && open[depth - 1].kind & IMPLIED_END)
                depth--;
        open[depth++] = it;
        if (depth > deepest) {
            length = begin - from;
            break;
        }
    }
    PyMem_Free(open);
    return PyLong_FromSsize_t(length);
}

static PyMethodDef methods[] = {
    {"marked", marked, METH_O, "The source with its marks, and what was seen on the way."},
    {"lines", lines, METH_VARARGS, "White space collapsed, one line per block."},
    {"line", line, METH_VARARGS, "White space collapsed, all in one line."},
    {"most_words", most_words, METH_O, "How many words its tags have, at most."},
    {"shallow", shallow, METH_VARARGS, "How far it goes before it is nested more deeply."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_blocks", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__blocks(void)
{
    know_kinds();
    return PyModuleDef_Init(&module);
}
