/* The folding of numbers and ids in a pattern: the compiled form of what `mannerly.url.patterns` does
   with two regular expressions and a call for each number, with the same results. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Of a run of letters and digits: what it becomes is written to `out`; how much that is. */
static Py_ssize_t fold(const char *run, Py_ssize_t size, char *out)
{
    Py_ssize_t letters = 0, digits = 0;
    while (letters < size && is_letter(run[letters]))
        letters++;
    while (letters + digits < size && is_digit(run[letters + digits]))
        digits++;
    if (letters + digits < size) { /* an id */
        out[0] = '*';
        return 1;
    }
    memcpy(out, run, (size_t)letters);
    if (digits)
        out[letters] = '0';
    return letters + (digits > 0);
}

static PyObject *folded(PyObject *module, PyObject *shape)
{
    (void)module;
    if (!PyUnicode_CheckExact(shape) || !PyUnicode_IS_COMPACT_ASCII(shape))
        Py_RETURN_NONE;
    const char *text = PyUnicode_DATA(shape);
    const Py_ssize_t size = PyUnicode_GET_LENGTH(shape);
    char *out = PyMem_Malloc((size_t)size + 1);
    if (!out)
        return PyErr_NoMemory();
    Py_ssize_t made = 0;
    for (Py_ssize_t at = 0; at < size;) {
        const Py_ssize_t from = at;
        while (at < size && (is_letter(text[at]) || is_digit(text[at])))
            at++;
        if (at > from)
            made += fold(text + from, at - from, out + made);
        else
            out[made++] = text[at++];
    }
    PyObject *result = PyUnicode_FromStringAndSize(out, made);
    PyMem_Free(out);
    return result;
}

static PyMethodDef methods[] = {
    {"folded", folded, METH_O, "`shape` with its numbers and ids folded; None if it is not ASCII."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_patterns", .m_size = 0, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__patterns(void) { return PyModule_Create(&definition); }
