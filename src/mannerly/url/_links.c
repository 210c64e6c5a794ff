/* Links that a look at their characters resolves, in one pass over a page's: the compiled form of
   what `mannerly.url.resolving` does with the URL parser, with the same results.

   Nearly all links of the web are such: `/path`, `name` or `https://known.example/path`, of
   characters that the URL standard leaves as they are, without dot segments. A link took 2.6 us,
   most of it for objects on the way to and from the parser. Whatever is not plain goes to it. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { ODD, PLAIN, SLASH, DOT, COLON, QUESTION, SEMICOLON, HASH };

static uint8_t kinds[256];

static void fill_kinds(void)
{
    for (const char *c = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                         "-_~!$&()*+,@=";
         *c; c++)
        kinds[(uint8_t)*c] = PLAIN;
    kinds['/'] = SLASH;
    kinds['.'] = DOT;
    kinds[':'] = COLON;
    kinds['?'] = QUESTION;
    kinds[';'] = SEMICOLON;
    kinds['#'] = HASH;
}

/* What is known of the page and its crawl. Borrowed references. */
typedef struct {
    PyObject *origin, *directory, *site, *origins, *strip, *made, *digest;
    Py_ssize_t max_length;
    int strips_directory;
} Page;

typedef struct {
    Py_ssize_t size;      /* without the fragment */
    Py_ssize_t authority; /* where the path of an absolute one begins; 0 of others */
    int strips;           /* it has parameters */
} Look;

/* Where the path of `http://host/...` or `https://host/...` begins; 0 if it is not one. */
static Py_ssize_t after_authority(const char *text, Py_ssize_t size)
{
    Py_ssize_t start = 0;
    if (size > 8 && !memcmp(text, "https://", 8))
        start = 8;
    else if (size > 7 && !memcmp(text, "http://", 7))
        start = 7;
    if (!start)
        return 0;
    const char *slash = memchr(text + start, '/', (size_t)(size - start));
    return slash ? slash - text : 0;
}

/* False: it is not plain. */
static int look_at(const char *text, Py_ssize_t size, Look *seen)
{
    seen->authority = after_authority(text, size);
    seen->strips = 0;
    Py_ssize_t at = seen->authority;
    int absolute = at > 0 || (size > 0 && text[0] == '/');
    if (!at && size > 1 && text[0] == '/' && text[1] == '/')
        return 0; /* a host follows */
    Py_ssize_t segment = at; /* where it begins */
    int dots = 1;            /* it has nothing but dots */
    int in_query = 0;
    for (; at < size; at++) {
        uint8_t kind = kinds[(uint8_t)text[at]];
        if (kind == PLAIN) {
            dots = 0;
        } else if (kind == HASH) {
            break;
        } else if (kind == ODD || (kind == COLON && !absolute)) {
            return 0;
        } else if (kind == QUESTION) {
            if (!in_query && dots && at - segment > 0 && at - segment <= 2)
                return 0;
            if (at == 0)
                return 0; /* the page itself with another query */
            seen->strips = in_query = 1;
            dots = 0;
        } else if (kind == SEMICOLON) {
            seen->strips = 1;
            dots = 0;
        } else if (kind == SLASH && !in_query) {
            if (dots && at - segment > 0 && at - segment <= 2)
                return 0;
            segment = at + 1;
            dots = 1;
        } else if (kind != DOT) {
            dots = 0;
        }
    }
    if (!in_query && dots && at - segment > 0 && at - segment <= 2)
        return 0;
    seen->size = at;
    return !(at && text[at - 1] == '?');
}

/* The canonical URL of a plain reference, and whose it is; NULL without an error: not plain. */
static PyObject *url_of(const Page *page, PyObject *href, PyObject **site)
{
    if (!PyUnicode_CheckExact(href) || !PyUnicode_IS_COMPACT_ASCII(href))
        return NULL;
    const char *text = PyUnicode_DATA(href);
    Look seen;
    if (!look_at(text, PyUnicode_GET_LENGTH(href), &seen) || !seen.size)
        return NULL;
    PyObject *url;
    int strips = seen.strips;
    if (seen.authority) {
        PyObject *origin = PyUnicode_FromStringAndSize(text, seen.authority);
        if (!origin)
            return NULL;
        *site = PyDict_GetItemWithError(page->origins, origin);
        Py_DECREF(origin);
        if (!*site)
            return NULL;
        url = PyUnicode_FromStringAndSize(text, seen.size);
    } else {
        if (page->site == Py_None)
            return NULL;
        *site = page->site;
        Py_ssize_t head = PyUnicode_GET_LENGTH(page->origin);
        Py_ssize_t middle = text[0] == '/' ? 0 : PyUnicode_GET_LENGTH(page->directory);
        strips |= middle && page->strips_directory;
        url = PyUnicode_New(head + middle + seen.size, 127);
        if (!url)
            return NULL;
        char *out = PyUnicode_DATA(url);
        memcpy(out, PyUnicode_DATA(page->origin), (size_t)head);
        memcpy(out + head, PyUnicode_DATA(page->directory), (size_t)middle);
        memcpy(out + head + middle, text, (size_t)seen.size);
    }
    if (url && strips && page->strip != Py_None) {
        PyObject *stripped = PyObject_CallOneArg(page->strip, url);
        Py_DECREF(url);
        url = stripped;
    }
    if (url && (PyUnicode_GET_LENGTH(url) > page->max_length || !PyUnicode_IS_COMPACT_ASCII(url)))
        Py_CLEAR(url); /* what is too long is counted there */
    return url;
}

/* A `Resolved` of them. */
static PyObject *link_of(const Page *page, PyObject *url, PyObject *site)
{
    PyObject *bytes = PyBytes_FromStringAndSize(PyUnicode_DATA(url), PyUnicode_GET_LENGTH(url));
    PyObject *told = bytes ? PyObject_CallOneArg(page->digest, bytes) : NULL;
    Py_XDECREF(bytes);
    if (!told)
        return NULL;
    uint64_t digest = PyLong_AsUnsignedLongLong(told);
    Py_DECREF(told);
    if (PyErr_Occurred())
        return NULL;
    PyObject *hash = PyLong_FromLongLong((int64_t)digest);
    if (!hash)
        return NULL;
    PyTypeObject *type = (PyTypeObject *)page->made;
    PyObject *link = type->tp_alloc(type, 3);
    if (!link) {
        Py_DECREF(hash);
        return NULL;
    }
    PyTuple_SET_ITEM(link, 0, Py_NewRef(url));
    PyTuple_SET_ITEM(link, 1, hash);
    PyTuple_SET_ITEM(link, 2, Py_NewRef(site));
    return link;
}

/* The link of `href`: a new reference, None if it leads nowhere, NULL with an error set. */
static PyObject *resolved(const Page *page, PyObject *href, PyObject *found, PyObject *closely)
{
    PyObject *site = NULL;
    PyObject *url = url_of(page, href, &site);
    if (!url) {
        if (PyErr_Occurred())
            return NULL;
        if (PyUnicode_CheckExact(href) && PyUnicode_GET_LENGTH(href)
            && PyUnicode_READ_CHAR(href, 0) == '#')
            return Py_NewRef(Py_None); /* the page itself */
        return PyObject_CallOneArg(closely, href);
    }
    PyObject *link;
    int known = PyDict_Contains(found, url);
    if (known)
        link = known < 0 ? NULL : Py_NewRef(Py_None);
    else
        link = link_of(page, url, site);
    Py_DECREF(url);
    return link;
}

static PyObject *walk(PyObject *module, PyObject *args)
{
    (void)module;
    Page page;
    PyObject *hrefs, *found, *closely, *positions;
    Py_ssize_t max_links;
    if (!PyArg_ParseTuple(args, "O!O!OUUOO!OO!OnnO", &PyList_Type, &hrefs, &PyDict_Type, &found,
                          &closely, &page.origin, &page.directory, &page.site, &PyDict_Type,
                          &page.origins, &page.strip, &PyType_Type, &page.made, &page.digest,
                          &page.max_length, &max_links, &positions))
        return NULL;
    if (!PyType_IsSubtype((PyTypeObject *)page.made, &PyTuple_Type)
        || !PyUnicode_IS_COMPACT_ASCII(page.origin) || !PyUnicode_IS_COMPACT_ASCII(page.directory)) {
        PyErr_SetString(PyExc_TypeError, "a tuple's subclass and ASCII are wanted");
        return NULL;
    }
    page.strips_directory = memchr(PyUnicode_DATA(page.directory), ';',
                                   (size_t)PyUnicode_GET_LENGTH(page.directory)) != NULL;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(hrefs); at++) {
        PyObject *href = Py_NewRef(PyList_GET_ITEM(hrefs, at));
        PyObject *link = resolved(&page, href, found, closely);
        Py_DECREF(href);
        if (!link)
            return NULL;
        int taken = 0;
        if (link != Py_None) {
            PyObject *url = PyTuple_GET_ITEM(link, 0);
            taken = PyDict_Contains(found, url);
            if (taken == 0)
                taken = PyDict_SetItem(found, url, link) < 0 ? -1 : 2;
        }
        Py_DECREF(link);
        if (taken < 0)
            return NULL;
        if (taken == 2) {
            if (positions != Py_None) {
                PyObject *position = PyLong_FromSsize_t(at);
                if (!position || PyList_Append(positions, position) < 0) {
                    Py_XDECREF(position);
                    return NULL;
                }
                Py_DECREF(position);
            }
            if (PyDict_GET_SIZE(found) >= max_links)
                break;
        }
    }
    Py_RETURN_NONE;
}

/* Those of `links` whose hash is not at its place among `slots`, of which there are a power of two. */
static PyObject *others(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *links;
    Py_buffer slots;
    if (!PyArg_ParseTuple(args, "O!y*", &PyList_Type, &links, &slots))
        return NULL;
    const int64_t *known = slots.buf;
    const uint64_t mask = (uint64_t)slots.len / sizeof *known - 1;
    PyObject *left = PyList_New(0);
    for (Py_ssize_t at = 0; left && at < PyList_GET_SIZE(links); at++) {
        PyObject *link = PyList_GET_ITEM(links, at);
        int64_t hash = 0;
        if (PyTuple_Check(link) && PyTuple_GET_SIZE(link) == 3)
            hash = PyLong_AsLongLong(PyTuple_GET_ITEM(link, 1));
        else
            PyErr_SetString(PyExc_TypeError, "a link has three parts");
        if (PyErr_Occurred())
            Py_CLEAR(left);
        else if (known[(uint64_t)hash & mask] != hash && PyList_Append(left, link) < 0)
            Py_CLEAR(left);
    }
    PyBuffer_Release(&slots);
    return left;
}

static PyMethodDef methods[] = {
    {"others", others, METH_VARARGS,
     "others(links, slots): those of `links` whose hash is not at its place among `slots`."},
    {"walk", walk, METH_VARARGS,
     "walk(hrefs, found, closely, origin, directory, site, origins, strip, made, digest,\n"
     "     max_length, max_links, positions)\n\n"
     "Puts into `found` by URL what each of `hrefs` leads to; those that are not plain are asked\n"
     "of `closely`."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_links", .m_size = 0, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__links(void)
{
    fill_kinds();
    return PyModule_Create(&definition);
}
