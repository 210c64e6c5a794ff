/* A page without what nobody reads: see `bare`.

   The tokenizer of the HTML standard, as far as it must be known where tags, comments and raw text
   end. Where that cannot be known without the tree (a CDATA section, a script that is written into
   another one, an element that may be closed only in SVG), the rest is left as it is.

   Every byte is looked at twice at most, and the result is never longer than the input. */

#include "markup.h"

/* As in `bare.Left`. */
enum {
    HIDDEN = 1,
    DISPLAY = 2,
    REST = 4,
};

typedef struct {
    const char *copied; /* up to here the input was copied or left out */
    char *out;
    int left;
    Py_ssize_t svg, math; /* how many are open: there, no text is raw */
} Output;

typedef struct {
    const char *behind; /* behind its `>`, NULL if there is none or it is not understood */
    int self_closing;
} Tag;

enum what { PLAIN, READ, RAW, SCRIPT_OR_STYLE, SVG, MATH, TO_THE_END };

static inline int is_word(const char *at, Py_ssize_t length, const char *word)
{
    for (Py_ssize_t i = 0; i < length; i++)
        if ((at[i] | 0x20) != word[i])
            return 0;
    return word[length] == 0;
}

/* A name of up to eight characters as a number, so that it is looked up at once; 0 if it is longer. */
static inline uint64_t key_of(const char *name, Py_ssize_t length)
{
    uint64_t key = 0;
    if (length > 8)
        return 0;
    for (Py_ssize_t i = 0; i < length; i++)
        key = key << 8 | (unsigned char)(name[i] | 0x20);
    return key;
}

#define N1(a) ((uint64_t)(a))
#define N2(a, b) (N1(a) << 8 | (b))
#define N3(a, b, c) (N2(a, b) << 8 | (c))
#define N4(a, b, c, d) (N3(a, b, c) << 8 | (d))
#define N5(a, b, c, d, e) (N4(a, b, c, d) << 8 | (e))
#define N6(a, b, c, d, e, f) (N5(a, b, c, d, e) << 8 | (f))
#define N7(a, b, c, d, e, f, g) (N6(a, b, c, d, e, f) << 8 | (g))
#define N8(a, b, c, d, e, f, g, h) (N7(a, b, c, d, e, f, g) << 8 | (h))

static enum what kind_of(const char *name, Py_ssize_t length)
{
    switch (key_of(name, length)) {
    case N1('a'): case N4('a', 'r', 'e', 'a'): case N4('b', 'a', 's', 'e'):
    case N4('f', 'o', 'n', 't'): case N5('f', 'r', 'a', 'm', 'e'): case N4('h', 't', 'm', 'l'):
    case N5('i', 'n', 'p', 'u', 't'): case N4('l', 'i', 'n', 'k'): case N4('m', 'e', 't', 'a'):
        return READ;
    case N5('t', 'i', 't', 'l', 'e'): case N8('t', 'e', 'x', 't', 'a', 'r', 'e', 'a'):
    case N3('x', 'm', 'p'): case N7('n', 'o', 'e', 'm', 'b', 'e', 'd'):
    case N8('n', 'o', 'f', 'r', 'a', 'm', 'e', 's'): case N6('i', 'f', 'r', 'a', 'm', 'e'):
        return RAW;
    case N6('s', 'c', 'r', 'i', 'p', 't'): case N5('s', 't', 'y', 'l', 'e'):
        return SCRIPT_OR_STYLE;
    case N3('s', 'v', 'g'):
        return SVG;
    case N4('m', 'a', 't', 'h'):
        return MATH;
    case 0:
        /* MathML asks for the attributes of `annotation-xml`. */
        return is_word(name, length, "plaintext") ? TO_THE_END : READ;
    }
    return PLAIN;
}

static int is_read(const char *name, Py_ssize_t length)
{
    switch (key_of(name, length)) {
    case N4('h', 'r', 'e', 'f'): case N3('r', 'e', 'l'): case N4('n', 'a', 'm', 'e'):
    case N7('c', 'o', 'n', 't', 'e', 'n', 't'): case N8('p', 'r', 'o', 'p', 'e', 'r', 't', 'y'):
    case N4('t', 'y', 'p', 'e'): case N3('s', 'r', 'c'): case N5('t', 'i', 't', 'l', 'e'):
    case N3('a', 'l', 't'): case N4('l', 'a', 'n', 'g'):
    case N8('x', 'm', 'l', ':', 'l', 'a', 'n', 'g'): case N7('c', 'h', 'a', 'r', 's', 'e', 't'):
    case N8('e', 'n', 'c', 'o', 'd', 'i', 'n', 'g'):
    /* A `<font>` with one of these is no part of a drawing. */
    case N5('c', 'o', 'l', 'o', 'r'): case N4('f', 'a', 'c', 'e'): case N4('s', 'i', 'z', 'e'):
        return 1;
    }
    return is_word(name, length, "http-equiv");
}

static void leave_out(Output *output, const char *from, const char *to)
{
    memcpy(output->out, output->copied, (size_t)(from - output->copied));
    output->out += from - output->copied;
    output->copied = to;
}

static int says_display(const char *at, const char *end)
{
    for (; end - at >= 7; at++)
        if ((*at | 0x20) == 'd' && is_word(at, 7, "display"))
            return 1;
    return 0;
}

static int is_kept(const char *name, Py_ssize_t length, const char *end, int read, int *left)
{
    switch (key_of(name, length)) {
    case N5('c', 'l', 'a', 's', 's'): case N2('i', 'd'):
        return 0;
    case N5('s', 't', 'y', 'l', 'e'):
        if (!says_display(name, end))
            return 0;
        *left |= DISPLAY;
        return 1;
    case N6('h', 'i', 'd', 'd', 'e', 'n'):
        *left |= HIDDEN;
        return 1;
    }
    if (is_word(name, length, "aria-hidden")) {
        *left |= HIDDEN;
        return 1;
    }
    return read && is_read(name, length);
}

/* Behind the value of an attribute, if it has one; NULL if it does not end. `at` is behind its
   name. */
static const char *behind_value(const char *at, const char *end)
{
    const char *value = at;
    while (value < end && is_blank(*value))
        value++;
    if (value >= end || *value != '=')
        return at;
    for (value++; value < end && is_blank(*value); value++)
        ;
    if (value >= end)
        return NULL;
    if (*value == '"' || *value == '\'') {
        const char *close = memchr(value + 1, *value, (size_t)(end - value - 1));
        return close != NULL ? close + 1 : NULL;
    }
    while (value < end && !is_blank(*value) && *value != '>')
        value++;
    return value;
}

/* The rest of a tag; `at` is behind its name. Its attributes that nobody reads are left out. From
   the first of them on the tag is written anew, in the plainest way: else what stood apart because
   of one could become something else, `<a href=x id="y"/>` a link to `x/`. */
static Tag attributes(const char *at, const char *end, enum what what, Output *output)
{
    Tag tag = {NULL, 0};
    int anew = 0;
    int dropped = 0; /* the one before */
    for (;;) {
        const char *gap = at;
        while (at < end && (is_blank(*at) || *at == '/'))
            at++;
        if (at >= end || *at == '=')
            return tag;
        if (*at == '>') {
            tag.behind = at + 1;
            tag.self_closing = at > gap && at[-1] == '/';
            if (anew) {
                if (tag.self_closing) {
                    *output->out++ = ' ';
                    *output->out++ = '/';
                }
                output->copied = at;
            }
            return tag;
        }
        const char *name = at;
        while (at < end && !ends_name(*at) && *at != '=')
            at++;
        const Py_ssize_t length = at - name;
        at = behind_value(at, end);
        if (at == NULL || at >= end)
            return tag;
        if (!is_kept(name, length, at, what == READ || what == RAW, &output->left)) {
            if (!anew)
                leave_out(output, gap, at);
            anew = dropped = 1;
        } else if (anew) {
            if (dropped || name > gap)
                *output->out++ = ' ';
            memcpy(output->out, name, (size_t)(at - name));
            output->out += at - name;
            dropped = 0;
        }
    }
}

/* Behind whatever begins with the `<` at `at`; NULL: the rest is left as it is. */
static const char *behind_markup(const char *at, const char *end, Output *output)
{
    const char *name = at + 1;
    if (name >= end)
        return end;
    if (*name == '!') {
        if (end - at > 3 && at[2] == '-' && at[3] == '-') {
            const char *behind = behind_comment(at + 4, end);
            if (behind != NULL)
                leave_out(output, at, behind);
            return behind;
        }
        if (end - at > 2 && at[2] == '[')
            return NULL;
    }
    int closing = *name == '/';
    name += closing;
    if (name >= end || !is_letter(*name)) {
        if (*(at + 1) != '!' && *(at + 1) != '?' && !closing)
            return at + 1; /* text */
        const char *behind = memchr(at, '>', (size_t)(end - at));
        return behind != NULL ? behind + 1 : NULL;
    }
    const char *behind_name = name;
    while (behind_name < end && !ends_name(*behind_name))
        behind_name++;
    const Py_ssize_t length = behind_name - name;
    const enum what what = kind_of(name, length);
    const int simple = what == PLAIN || what == READ || (closing && what != SVG && what != MATH);
    if (simple && behind_name < end && *behind_name == '>')
        return behind_name + 1;
    const Output before = *output;
    const Tag tag = attributes(behind_name, end, what, output);
    if (tag.behind == NULL) {
        *output = before;
        return NULL;
    }
    if (what == SVG || what == MATH) {
        Py_ssize_t *open = what == SVG ? &output->svg : &output->math;
        *open += closing ? -(*open > 0) : !tag.self_closing;
    }
    if (simple || what == SVG || what == MATH)
        return tag.behind;
    if (tag.self_closing || what == TO_THE_END)
        return NULL;
    const char *close;
    const char *const behind = behind_raw(name, length, tag.behind, end, &close);
    if ((output->svg || output->math) && behind != NULL &&
        memchr(tag.behind, '<', (size_t)(close - tag.behind)) != NULL)
        return NULL;
    if (behind != NULL && what == SCRIPT_OR_STYLE) {
        *output = before; /* some of its attributes may be left out already */
        leave_out(output, at, behind);
    }
    return behind;
}

static PyObject *bared(PyObject *Py_UNUSED(module), PyObject *source)
{
    char *from;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(source, &from, &length) < 0)
        return NULL;
    PyObject *result = PyBytes_FromStringAndSize(NULL, length);
    if (result == NULL)
        return NULL;
    char *const to = PyBytes_AsString(result);
    const char *const end = from + length;
    Output output = {from, to, 0, 0, 0};
    const char *at = from;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        at = behind_markup(at, end, &output);
        if (at == NULL) {
            output.left |= REST;
            break;
        }
    }
    leave_out(&output, end, end);
    if (_PyBytes_Resize(&result, output.out - to) < 0)
        return NULL;
    return Py_BuildValue("(Ni)", result, output.left);
}

static PyMethodDef methods[] = {
    {"bared", bared, METH_O, "The source without what nobody reads, and what is left in it."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_bare", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__bare(void) { return PyModuleDef_Init(&module); }
