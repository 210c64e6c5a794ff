/* Named tuples made without a detour: see `mannerly.quick`.

   To call a class that is made in Python means: a tuple and a dictionary of the arguments, a search
   for `__new__`, a frame for it, and in that the tuple that was wanted. Here the arguments go where
   they belong. Whatever is not as it should be (a name that is none, an argument too many or too
   few) is left to the class itself, which says so in its own words. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define MOST_CLASSES 256 /* a power of two; half of them are used at most */

typedef struct {
    PyTypeObject *class;  /* NULL: free */
    PyObject *fields;     /* a tuple of names */
    PyObject *defaults;   /* a tuple, of the last of them */
} Layout;

static Layout layouts[MOST_CLASSES];
static int used;

/* That of a class, or the place that it would have. */
static Layout *layout_of(const PyTypeObject *class)
{
    size_t at = ((size_t)class >> 4) * 0x9E3779B97F4A7C15u >> 56;
    while (layouts[at].class != NULL && layouts[at].class != class)
        at = (at + 1) % MOST_CLASSES;
    return &layouts[at];
}

/* As if the class were called in the ordinary way. */
static PyObject *called(PyObject *class, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    PyObject *result = NULL;
    PyObject *const all = PyTuple_New(count);
    PyObject *const named = PyDict_New();
    if (all == NULL || named == NULL)
        goto done;
    for (Py_ssize_t n = 0; n < count; n++)
        PyTuple_SET_ITEM(all, n, Py_NewRef(args[n]));
    for (Py_ssize_t n = 0; names != NULL && n < PyTuple_GET_SIZE(names); n++)
        if (PyDict_SetItem(named, PyTuple_GET_ITEM(names, n), args[count + n]) < 0)
            goto done;
    result = PyType_Type.tp_call(class, all, named);
done:
    Py_XDECREF(all);
    Py_XDECREF(named);
    return result;
}

/* Where the field of this name is, looked for from `at` on; -1 if it is nowhere. Names in code are
   interned, as those of fields are. */
static Py_ssize_t place_of(const Layout *layout, PyObject *name, Py_ssize_t at)
{
    const Py_ssize_t size = PyTuple_GET_SIZE(layout->fields);
    for (Py_ssize_t n = 0; n < size; n++, at++) {
        at = at < size ? at : 0;
        if (PyTuple_GET_ITEM(layout->fields, at) == name)
            return at;
    }
    return -1;
}

/* Fills in what was not given: false if there is something that must be. */
static int completed(const Layout *layout, PyObject *made)
{
    const Py_ssize_t size = PyTuple_GET_SIZE(layout->fields);
    const Py_ssize_t first = size - PyTuple_GET_SIZE(layout->defaults);
    for (Py_ssize_t n = 0; n < size; n++) {
        if (PyTuple_GET_ITEM(made, n) != NULL)
            continue;
        if (n < first)
            return 0;
        PyTuple_SET_ITEM(made, n, Py_NewRef(PyTuple_GET_ITEM(layout->defaults, n - first)));
    }
    return 1;
}

static PyObject *make(PyObject *class, PyObject *const *args, size_t flagged, PyObject *names)
{
    const Layout *const layout = layout_of((PyTypeObject *)class);
    const Py_ssize_t count = PyVectorcall_NARGS(flagged);
    const Py_ssize_t named = names != NULL ? PyTuple_GET_SIZE(names) : 0;
    const Py_ssize_t size = PyTuple_GET_SIZE(layout->fields);
    if (count + named > size)
        return called(class, args, count, names);
    PyObject *const made = layout->class->tp_alloc(layout->class, size);
    if (made == NULL)
        return NULL;
    for (Py_ssize_t n = 0; n < count; n++)
        PyTuple_SET_ITEM(made, n, Py_NewRef(args[n]));
    Py_ssize_t at = count;
    int fits = 1;
    for (Py_ssize_t n = 0; fits && n < named; n++, at++) {
        at = place_of(layout, PyTuple_GET_ITEM(names, n), at);
        fits = at >= 0 && PyTuple_GET_ITEM(made, at) == NULL;
        if (fits)
            PyTuple_SET_ITEM(made, at, Py_NewRef(args[count + n]));
    }
    if (fits && (count + named == size || completed(layout, made)))
        return made;
    Py_DECREF(made);
    return called(class, args, count, names);
}

static int is_named_tuple(PyObject *class)
{
    return PyType_Check(class) && PyType_IsSubtype((PyTypeObject *)class, &PyTuple_Type) &&
           ((PyTypeObject *)class)->tp_flags & Py_TPFLAGS_HEAPTYPE;
}

static PyObject *quick(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *class, *fields, *defaults;
    if (!PyArg_ParseTuple(args, "OO!O!", &class, &PyTuple_Type, &fields, &PyTuple_Type, &defaults))
        return NULL;
    if (!is_named_tuple(class) || PyTuple_GET_SIZE(defaults) > PyTuple_GET_SIZE(fields)) {
        PyErr_SetString(PyExc_TypeError, "a named tuple is wanted");
        return NULL;
    }
    Layout *const layout = layout_of((PyTypeObject *)class);
    if (layout->class == NULL) {
        if (used == MOST_CLASSES / 2)
            Py_RETURN_NONE; /* it is made as any other */
        used++;
        *layout = (Layout){(PyTypeObject *)Py_NewRef(class), Py_NewRef(fields), Py_NewRef(defaults)};
        ((PyTypeObject *)class)->tp_vectorcall = make;
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"quick", quick, METH_VARARGS,
     "quick(class, fields, defaults): from now on the named tuple is made here."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_quick", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__quick(void) { return PyModuleDef_Init(&module); }
