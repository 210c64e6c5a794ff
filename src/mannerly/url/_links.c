/* Links that a look at their characters resolves, in one pass over a page's: the compiled form of
   what `mannerly.url.resolving` does with the URL parser, with the same results.

   Nearly all links of the web are such: `/path`, `name` or `https://known.example/path`, of
   characters that the URL standard leaves as they are, without dot segments. A link took 2.6 us,
   most of it for objects on the way to and from the parser. Whatever is not plain goes to it.

   And nearly all of a page's links are known to the crawl. So a URL is written into a buffer and
   hashed there; only those that somebody wants become objects. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "xxh3_short.h"

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

/* What is known of the page and its crawl. Borrowed references, but for `room`. */
typedef struct {
    PyObject *origin, *directory, *site, *origins, *strip, *made, *digest;
    Py_ssize_t max_length;
    int strips_directory;
    char *room; /* for a URL in the making, `max_length` long */
} Page;

/* A canonical URL: in the page's room, in the reference itself, or in an object of its own. */
typedef struct {
    const char *text;
    Py_ssize_t size;
    PyObject *site;
    PyObject *owner; /* NULL, or a string that `text` is in */
} Url;

static void drop(Url *url)
{
    Py_CLEAR(url->site);
    Py_CLEAR(url->owner);
}

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

/* The URL without the parameters that are left out: 1, or 0 if it is not plain, -1 with an error. */
static int strip(const Page *page, Url *url)
{
    PyObject *whole = PyUnicode_FromStringAndSize(url->text, url->size);
    url->owner = whole ? PyObject_CallOneArg(page->strip, whole) : NULL;
    Py_XDECREF(whole);
    if (!url->owner)
        return -1;
    if (!PyUnicode_CheckExact(url->owner) || !PyUnicode_IS_COMPACT_ASCII(url->owner))
        return 0;
    url->text = PyUnicode_DATA(url->owner);
    url->size = PyUnicode_GET_LENGTH(url->owner);
    return 1;
}

/* What a plain reference leads to: 1, or 0 if it is not plain, -1 with an error. To be dropped. */
static int lead(const Page *page, PyObject *href, Url *url)
{
    url->site = url->owner = NULL;
    if (!PyUnicode_CheckExact(href) || !PyUnicode_IS_COMPACT_ASCII(href))
        return 0;
    const char *text = PyUnicode_DATA(href);
    Look seen;
    if (!look_at(text, PyUnicode_GET_LENGTH(href), &seen) || !seen.size)
        return 0;
    int strips = seen.strips;
    if (seen.authority) {
        PyObject *origin = PyUnicode_FromStringAndSize(text, seen.authority);
        if (!origin)
            return -1;
        url->site = Py_XNewRef(PyDict_GetItemWithError(page->origins, origin));
        Py_DECREF(origin);
        if (!url->site)
            return PyErr_Occurred() ? -1 : 0;
        url->text = text;
        url->size = seen.size;
    } else {
        if (page->site == Py_None)
            return 0;
        const Py_ssize_t head = PyUnicode_GET_LENGTH(page->origin);
        const Py_ssize_t middle = text[0] == '/' ? 0 : PyUnicode_GET_LENGTH(page->directory);
        if (head + middle + seen.size > page->max_length)
            return 0; /* what is too long is counted there */
        strips |= middle && page->strips_directory;
        memcpy(page->room, PyUnicode_DATA(page->origin), (size_t)head);
        memcpy(page->room + head, PyUnicode_DATA(page->directory), (size_t)middle);
        memcpy(page->room + head + middle, text, (size_t)seen.size);
        url->site = Py_NewRef(page->site);
        url->text = page->room;
        url->size = head + middle + seen.size;
    }
    if (strips && page->strip != Py_None) {
        int plain = strip(page, url);
        if (plain <= 0)
            return plain;
    }
    return url->size <= page->max_length;
}

/* Its hash; false with an error. */
static int digest(const Page *page, const Url *url, uint64_t *hash)
{
    if (url->size <= XXH3_LONGEST) {
        *hash = xxh3_short(url->text, (size_t)url->size);
        return 1;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(url->text, url->size);
    PyObject *told = bytes ? PyObject_CallOneArg(page->digest, bytes) : NULL;
    Py_XDECREF(bytes);
    if (!told)
        return 0;
    *hash = PyLong_AsUnsignedLongLong(told);
    Py_DECREF(told);
    return !PyErr_Occurred();
}

/* A `Resolved` of it. */
static PyObject *made(const Page *page, const Url *url, uint64_t hash)
{
    PyTypeObject *type = (PyTypeObject *)page->made;
    PyObject *text
        = url->owner ? Py_NewRef(url->owner) : PyUnicode_FromStringAndSize(url->text, url->size);
    PyObject *number = PyLong_FromLongLong((int64_t)hash);
    PyObject *link = text && number ? type->tp_alloc(type, 3) : NULL;
    if (!link) {
        Py_XDECREF(text);
        Py_XDECREF(number);
        return NULL;
    }
    PyTuple_SET_ITEM(link, 0, text);
    PyTuple_SET_ITEM(link, 1, number);
    PyTuple_SET_ITEM(link, 2, Py_NewRef(url->site));
    return link;
}

/* A link that was met: by its hash; as an object where the parser was asked. */
typedef struct {
    uint64_t hash;
    PyObject *href; /* borrowed */
    PyObject *link; /* owned, or NULL: it is plain */
} Met;

/* Which hashes were met before on this page. A power of two of places, more than half of them free;
   0 means free, so the hash 0 stands as 1. */
typedef struct {
    uint64_t *places;
    size_t mask;
} Before;

static int is_first(Before *before, uint64_t hash)
{
    hash = hash ? hash : 1;
    size_t at = hash & before->mask;
    for (; before->places[at]; at = (at + 1) & before->mask)
        if (before->places[at] == hash)
            return 0;
    before->places[at] = hash;
    return 1;
}

/* Of what `closely` says of it: 1, 0 if it leads nowhere, -1 with an error. */
static int met_closely(PyObject *closely, PyObject *href, Met *met)
{
    met->link = NULL;
    if (PyUnicode_CheckExact(href) && PyUnicode_GET_LENGTH(href)
        && PyUnicode_READ_CHAR(href, 0) == '#')
        return 0; /* the page itself */
    PyObject *link = PyObject_CallOneArg(closely, href);
    if (!link)
        return -1;
    if (link == Py_None) {
        Py_DECREF(link);
        return 0;
    }
    met->hash = 0;
    if (PyTuple_Check(link) && PyTuple_GET_SIZE(link) == 3)
        met->hash = (uint64_t)PyLong_AsLongLong(PyTuple_GET_ITEM(link, 1));
    else
        PyErr_SetString(PyExc_TypeError, "a link has three parts");
    met->link = link;
    return PyErr_Occurred() ? -1 : 1;
}

static int met_by(const Page *page, PyObject *closely, PyObject *href, Met *met)
{
    Url url;
    met->href = href;
    met->link = NULL;
    int told = lead(page, href, &url);
    if (told == 1 && !digest(page, &url, &met->hash))
        told = -1;
    drop(&url);
    return told ? told : met_closely(closely, href, met);
}

static int add_position(PyObject *positions, Py_ssize_t at)
{
    if (positions == Py_None)
        return 1;
    PyObject *position = PyLong_FromSsize_t(at);
    int added = position && PyList_Append(positions, position) == 0;
    Py_XDECREF(position);
    return added;
}

/* Hashes that are known, each at the place of its low bits; NULL: none is. */
typedef struct {
    const int64_t *slots;
    uint64_t mask;
} Known;

/* A link that was met and is wanted. */
static PyObject *link_of(const Page *page, PyObject *closely, const Met *met)
{
    if (met->link)
        return Py_NewRef(met->link);
    Url url;
    PyObject *link = NULL;
    int plain = lead(page, met->href, &url);
    if (plain == 1)
        link = made(page, &url, met->hash);
    else if (plain == 0) /* its origin was forgotten since: there is a bound on those known */
        link = PyObject_CallOneArg(closely, met->href);
    drop(&url);
    return link;
}

/* Those that were met and are not known, as objects. */
static PyObject *unknown(const Page *page, PyObject *closely, Met *met, Py_ssize_t count,
                         const Known *known)
{
    PyObject *links = PyList_New(0);
    for (Py_ssize_t at = 0; links && at < count; at++) {
        if (known->slots && known->slots[met[at].hash & known->mask] == (int64_t)met[at].hash)
            continue;
        PyObject *link = link_of(page, closely, &met[at]);
        if (!link || (link != Py_None && PyList_Append(links, link) < 0))
            Py_CLEAR(links);
        Py_XDECREF(link);
    }
    return links;
}

/* All in two rounds: hashes first, each of which has the processor fetch its slot; by the time they
   are looked at, the slots are there. (A look took 0.2 us, waiting for memory.) */
static PyObject *walked(const Page *page, PyObject *hrefs, PyObject *closely, Py_ssize_t max_links,
                        PyObject *positions, const Known *known)
{
    const Py_ssize_t size = PyTuple_GET_SIZE(hrefs);
    size_t places = 16;
    while (places < 2 * (size_t)size)
        places *= 2;
    Before before = {PyMem_Calloc(places, sizeof *before.places), places - 1};
    Met *met = PyMem_Malloc((size_t)(size ? size : 1) * sizeof *met);
    Py_ssize_t count = 0;
    int ok = before.places && met;
    if (!ok)
        PyErr_NoMemory();
    for (Py_ssize_t at = 0; ok && at < size && count < max_links; at++) {
        int leads = met_by(page, closely, PyTuple_GET_ITEM(hrefs, at), &met[count]);
        if (leads == 1 && is_first(&before, met[count].hash)) {
            if (known->slots)
                __builtin_prefetch(&known->slots[met[count].hash & known->mask]);
            count++;
            ok = add_position(positions, at);
        } else {
            Py_CLEAR(met[count].link);
            ok = leads >= 0;
        }
    }
    PyObject *links = ok ? unknown(page, closely, met, count, known) : NULL;
    for (Py_ssize_t at = 0; at < count; at++)
        Py_XDECREF(met[at].link);
    PyMem_Free(met);
    PyMem_Free(before.places);
    return links ? Py_BuildValue("nN", count, links) : NULL;
}

static PyObject *walk(PyObject *module, PyObject *args)
{
    (void)module;
    Page page;
    PyObject *hrefs, *closely, *positions;
    Py_ssize_t max_links;
    Py_buffer slots = {.len = 0};
    if (!PyArg_ParseTuple(args, "O!OUUOO!OO!OnnO|y*", &PyList_Type, &hrefs, &closely, &page.origin,
                          &page.directory, &page.site, &PyDict_Type, &page.origins, &page.strip,
                          &PyType_Type, &page.made, &page.digest, &page.max_length, &max_links,
                          &positions, &slots))
        return NULL;
    PyObject *found = NULL;
    PyObject *all = PySequence_Tuple(hrefs); /* which nobody can change meanwhile */
    page.room = PyMem_Malloc(page.max_length > 0 ? (size_t)page.max_length : 1);
    if (!PyType_IsSubtype((PyTypeObject *)page.made, &PyTuple_Type)
        || !PyUnicode_IS_COMPACT_ASCII(page.origin) || !PyUnicode_IS_COMPACT_ASCII(page.directory)) {
        PyErr_SetString(PyExc_TypeError, "a tuple's subclass and ASCII are wanted");
    } else if (!page.room) {
        PyErr_NoMemory();
    } else if (all) {
        page.strips_directory = memchr(PyUnicode_DATA(page.directory), ';',
                                       (size_t)PyUnicode_GET_LENGTH(page.directory)) != NULL;
        Known known = {NULL, 0};
        if (slots.len >= (Py_ssize_t)sizeof *known.slots)
            known = (Known){slots.buf, (uint64_t)slots.len / sizeof *known.slots - 1};
        found = walked(&page, all, closely, max_links, positions, &known);
    }
    PyMem_Free(page.room);
    Py_XDECREF(all);
    if (slots.obj)
        PyBuffer_Release(&slots);
    return found;
}

static PyObject *short_digest(PyObject *module, PyObject *args)
{
    (void)module;
    const char *text;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#", &text, &size))
        return NULL;
    if (size > XXH3_LONGEST)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLongLong(xxh3_short(text, (size_t)size));
}

static PyMethodDef methods[] = {
    {"short_digest", short_digest, METH_VARARGS,
     "short_digest(data): XXH3 of what is short enough, else None. For tests."},
    {"walk", walk, METH_VARARGS,
     "walk(hrefs, closely, origin, directory, site, origins, strip, made, digest, max_length,\n"
     "     max_links, positions, slots=b'')\n\n"
     "How many URLs `hrefs` lead to, and those whose hash is not at its place among `slots`, of\n"
     "which there are a power of two (without any: all). References that are not plain are asked\n"
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
