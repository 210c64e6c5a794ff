/* Links that a look at their characters resolves, in one pass over a page's: the compiled form of
   what `mannerly.url.resolving` does with the URL parser, with the same results.

   Nearly all links of the web are such: `/path`, `name` or `https://known.example/path`, of
   characters that the URL standard leaves as they are. A link took 2.6 us,
   most of it for objects on the way to and from the parser. Whatever is not plain goes to it.

   And nearly all of a page's links are known to the crawl. So a URL is written into a buffer and
   hashed there; only those that somebody wants become objects. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "xxh3_short.h"

enum { ODD, PLAIN, SLASH, DOT, COLON, QUESTION, SEMICOLON, HASH, PERCENT };

#define USUAL_LINKS 256 /* a power of two */

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
    kinds['%'] = PERCENT;
}

/* What is known of the page and its crawl. Borrowed references, but for `room`. */
typedef struct {
    PyObject *origin, *directory, *site, *origins, *strip, *made, *digest, *closely;
    Py_ssize_t max_length;
    int strips_directory;
    char *room; /* for a URL in the making, `max_length` long */
} Page;

/* A canonical URL: in the page's room, in the reference itself, or in an object of its own. */
typedef struct {
    const char *text;
    Py_ssize_t size;
    Py_ssize_t authority; /* how long its origin is, if that has to be known; 0: it is the page's */
    int strips;           /* it has parameters that may have to go */
    PyObject *site;       /* owned */
    PyObject *owner;      /* owned: NULL, or a string that `text` is in */
} Url;

static void drop(Url *url)
{
    Py_CLEAR(url->site);
    Py_CLEAR(url->owner);
}

/* Where a reference leads, as far as a look tells. `FAILED` is with an error. */
enum lead { FAILED = -1, NOWHERE, CLOSELY, LEADS };

typedef struct {
    Py_ssize_t size;      /* without the fragment */
    Py_ssize_t authority; /* where the path of an absolute one begins; 0 of others */
    Py_ssize_t path;      /* where its query begins, or its end */
    int strips;           /* it has parameters */
    int dotted;           /* its path has segments `.` or `..` */
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

/* An escaped dot, which counts as a dot. */
static int is_escaped_dot(const char *text, const char *end)
{
    return end - text > 2 && text[1] == '2' && (text[2] == 'e' || text[2] == 'E');
}

/* Whether the segment that ends at `at` is one that goes, with another one or without. */
static int is_dots(int dots, Py_ssize_t segment, Py_ssize_t at)
{
    return dots && at - segment > 0 && at - segment <= 2;
}

/* False: it is not plain. */
static int look_at(const char *text, Py_ssize_t size, Look *seen)
{
    seen->authority = after_authority(text, size);
    seen->strips = seen->dotted = 0;
    seen->path = -1;
    Py_ssize_t at = seen->authority;
    int absolute = at > 0 || (size > 0 && text[0] == '/');
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
        } else if (kind == PERCENT) {
            if (is_escaped_dot(text + at, text + size))
                return 0;
            dots = 0;
        } else if (kind == QUESTION) {
            if (at == 0)
                return 0; /* the page itself with another query */
            if (!in_query) {
                seen->dotted |= is_dots(dots, segment, at);
                seen->path = at;
            }
            seen->strips = in_query = 1;
            dots = 0;
        } else if (kind == SEMICOLON) {
            seen->strips = 1;
            dots = 0;
        } else if (kind == SLASH && !in_query) {
            seen->dotted |= is_dots(dots, segment, at);
            segment = at + 1;
            dots = 1;
        } else if (kind != DOT) {
            dots = 0;
        }
    }
    if (!in_query) {
        seen->dotted |= is_dots(dots, segment, at);
        seen->path = at;
    }
    seen->size = at;
    return at && text[at - 1] != '?';
}

/* `mailto:`, `javascript:` and the like, whatever follows: a scheme that is not `http` or `https`. */
static int is_elsewhere(const char *text, Py_ssize_t size)
{
    if (!size || text[0] == 'h')
        return 0;
    Py_ssize_t at = 0;
    while (at < size && text[at] >= 'a' && text[at] <= 'z')
        at++;
    return at && at < size && text[at] == ':';
}

static int has_capitals(const char *text, Py_ssize_t size)
{
    int capitals = 0;
    for (Py_ssize_t n = 0; n < size; n++)
        capitals |= text[n] >= 'A' && text[n] <= 'Z';
    return capitals;
}

static void lower(char *text, Py_ssize_t size)
{
    for (Py_ssize_t n = 0; n < size; n++)
        text[n] = (char)(text[n] | (text[n] >= 'A' && text[n] <= 'Z') << 5);
}

/* How long the port is at the end of an origin that need not be named: `:80` or `:443`. */
static int default_port(const char *origin, Py_ssize_t size)
{
    if (origin[4] == 's')
        return size > 4 && !memcmp(origin + size - 4, ":443", 4) ? 4 : 0;
    return size > 3 && !memcmp(origin + size - 3, ":80", 3) ? 3 : 0;
}

/* Takes the segments `.` and `..` out of the path from `path` to `end`, with what the latter go back
   by; `path` is at its first slash. Where it ends then. */
static char *undotted(char *path, const char *end)
{
    char *out = path + 1; /* behind a slash, always */
    const char *at = path + 1;
    for (;;) {
        const char *const slash = memchr(at, '/', (size_t)(end - at));
        const char *const upto = slash ? slash : end;
        const Py_ssize_t size = upto - at;
        if (size == 2 && at[0] == '.' && at[1] == '.') {
            if (out > path + 1)
                for (out--; out[-1] != '/'; out--)
                    ;
        } else if (!(size == 1 && at[0] == '.')) {
            memmove(out, at, (size_t)size);
            out += size;
            if (slash)
                *out++ = '/';
        }
        if (!slash)
            return out;
        at = slash + 1;
    }
}

/* The same for a URL, in the page's room, whose path begins behind `origin` characters and ends where
   its query, of `query` characters, begins. How long it is then. */
static Py_ssize_t without_dots(char *room, Py_ssize_t origin, Py_ssize_t size, Py_ssize_t query)
{
    char *const end = undotted(room + origin, room + size - query);
    memmove(end, room + size - query, (size_t)query);
    return end + query - room;
}

/* The URL that a reference is, as far as its characters tell: whether its origin is a sound one, and
   whether parameters have to go, is for `settled`. */
static enum lead written(const Page *page, PyObject *href, Url *url)
{
    url->site = url->owner = NULL;
    if (!PyUnicode_CheckExact(href) || !PyUnicode_IS_COMPACT_ASCII(href))
        return CLOSELY;
    const char *text = PyUnicode_DATA(href);
    Py_ssize_t size = PyUnicode_GET_LENGTH(href);
    if (size && text[0] == '#')
        return NOWHERE; /* the page itself */
    while (size && (uint8_t)text[size - 1] <= ' ')
        size--;
    while (size && (uint8_t)*text <= ' ')
        text++, size--;
    if (size > page->max_length)
        return CLOSELY; /* what is too long is counted there */
    if (is_elsewhere(text, size))
        return NOWHERE;
    if (size > 1 && text[0] == '/' && text[1] == '/') { /* a host follows */
        const char *const origin = PyUnicode_DATA(page->origin);
        const char *const colon = memchr(origin, ':', (size_t)PyUnicode_GET_LENGTH(page->origin));
        const Py_ssize_t scheme = colon ? colon + 1 - origin : 0;
        if (!scheme || scheme + size > page->max_length)
            return CLOSELY;
        memcpy(page->room, origin, (size_t)scheme);
        memcpy(page->room + scheme, text, (size_t)size);
        text = page->room;
        size += scheme;
    }
    Look seen;
    if (!look_at(text, size, &seen))
        return CLOSELY;
    url->text = text;
    url->size = seen.size;
    url->authority = seen.authority;
    url->strips = seen.strips;
    if (seen.authority) {
        const int port = default_port(text, seen.authority);
        const int is_odd = seen.dotted || port || has_capitals(text, seen.authority);
        if (is_odd && text != page->room)
            memcpy(page->room, text, (size_t)seen.size);
        if (is_odd) {
            url->text = page->room;
            lower(page->room, seen.authority);
            url->authority -= port;
            url->size -= port;
            memmove(page->room + url->authority, page->room + seen.authority,
                    (size_t)(seen.size - seen.authority));
            url->size = without_dots(page->room, url->authority, url->size, seen.size - seen.path);
        }
    }
    if (!seen.authority) {
        if (page->site == Py_None)
            return CLOSELY;
        const Py_ssize_t head = PyUnicode_GET_LENGTH(page->origin);
        const Py_ssize_t middle = text[0] == '/' ? 0 : PyUnicode_GET_LENGTH(page->directory);
        if (head + middle + seen.size > page->max_length)
            return CLOSELY;
        memcpy(page->room, PyUnicode_DATA(page->origin), (size_t)head);
        memcpy(page->room + head, PyUnicode_DATA(page->directory), (size_t)middle);
        memcpy(page->room + head + middle, text, (size_t)seen.size);
        url->text = page->room;
        url->size = head + middle + seen.size;
        if (seen.dotted)
            url->size = without_dots(page->room, head, url->size, seen.size - seen.path);
        url->strips |= middle && page->strips_directory;
    }
    url->strips &= page->strip != Py_None;
    return LEADS;
}

/* The URL without the parameters that are left out. */
static enum lead stripped(const Page *page, Url *url)
{
    PyObject *whole = PyUnicode_FromStringAndSize(url->text, url->size);
    url->owner = whole ? PyObject_CallOneArg(page->strip, whole) : NULL;
    Py_XDECREF(whole);
    if (!url->owner)
        return FAILED;
    if (!PyUnicode_CheckExact(url->owner) || !PyUnicode_IS_COMPACT_ASCII(url->owner))
        return CLOSELY;
    url->text = PyUnicode_DATA(url->owner);
    url->size = PyUnicode_GET_LENGTH(url->owner);
    return url->size <= page->max_length ? LEADS : CLOSELY;
}

/* What was `written`, with its site and without what is left out. To be dropped in any case. */
static enum lead settled(const Page *page, Url *url)
{
    if (url->authority) {
        PyObject *origin = PyUnicode_FromStringAndSize(url->text, url->authority);
        if (!origin)
            return FAILED;
        url->site = Py_XNewRef(PyDict_GetItemWithError(page->origins, origin));
        Py_DECREF(origin);
        if (!url->site)
            return PyErr_Occurred() ? FAILED : CLOSELY;
    } else {
        url->site = Py_NewRef(page->site);
    }
    return url->strips ? stripped(page, url) : LEADS;
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

/* Which hashes were met before on this page. A power of two of places, more than half of them free;
   0 means free, so the hash 0 stands as 1. */
typedef struct {
    uint64_t *places;
    size_t mask;
} Before;

/* Its place, or the one that it would take. */
static uint64_t *place_of(const Before *before, uint64_t hash)
{
    size_t at = hash & before->mask;
    while (before->places[at] && before->places[at] != hash)
        at = (at + 1) & before->mask;
    return &before->places[at];
}

/* Hashes that are known, each at the place of its low bits; NULL: none is. */
typedef struct {
    const int64_t *slots;
    uint64_t mask;
} Known;

static int is_known(const Known *known, uint64_t hash)
{
    return known->slots && known->slots[hash & known->mask] == (int64_t)hash;
}

/* A reference at first sight. */
typedef struct {
    uint64_t hash;
    enum lead lead;
    int hashed; /* it leads to a URL of this hash, if it leads anywhere */
} Sight;

/* What comes of all references. */
typedef struct {
    const Page *page;
    const Known *known;
    Before before;
    Py_ssize_t count;
    PyObject *links;     /* of those that are not known */
    PyObject *positions; /* of those that were met, or None */
} Walk;

/* A URL was met; `link` is it, stolen, or NULL if it is known or was met before. */
static int meet(Walk *it, uint64_t hash, Py_ssize_t at, PyObject *link)
{
    uint64_t *const place = place_of(&it->before, hash ? hash : 1);
    int met = *place != 0, ok = 1;
    if (!met) {
        *place = hash ? hash : 1;
        it->count++;
        if (it->positions != Py_None) {
            PyObject *position = PyLong_FromSsize_t(at);
            ok = position && PyList_Append(it->positions, position) == 0;
            Py_XDECREF(position);
        }
        if (ok && link)
            ok = PyList_Append(it->links, link) == 0;
    }
    Py_XDECREF(link);
    return ok;
}

/* Of what the parser says of it. */
static int meet_closely(Walk *it, PyObject *href, Py_ssize_t at)
{
    PyObject *link = PyObject_CallOneArg(it->page->closely, href);
    if (!link || link == Py_None) {
        Py_XDECREF(link);
        return link != NULL;
    }
    uint64_t hash = 0;
    if (PyTuple_Check(link) && PyTuple_GET_SIZE(link) == 3)
        hash = (uint64_t)PyLong_AsLongLong(PyTuple_GET_ITEM(link, 1));
    else
        PyErr_SetString(PyExc_TypeError, "a link has three parts");
    if (PyErr_Occurred()) {
        Py_DECREF(link);
        return 0;
    }
    if (is_known(it->known, hash))
        Py_CLEAR(link);
    return meet(it, hash, at, link);
}

static int meet_plainly(Walk *it, PyObject *href, const Sight *sight, Py_ssize_t at)
{
    Url url;
    uint64_t hash = sight->hash;
    /* What is known is a URL as it should be, so its origin need not be looked up. */
    if (sight->hashed && is_known(it->known, hash))
        return meet(it, hash, at, NULL);
    if (sight->hashed && *place_of(&it->before, hash ? hash : 1))
        return 1;
    int ok = 1;
    enum lead lead = written(it->page, href, &url);
    if (lead == LEADS)
        lead = settled(it->page, &url);
    if (lead == LEADS && !sight->hashed && !digest(it->page, &url, &hash))
        lead = FAILED;
    if (lead == LEADS) {
        PyObject *link = is_known(it->known, hash) ? NULL : made(it->page, &url, hash);
        ok = !PyErr_Occurred() && meet(it, hash, at, link);
    }
    drop(&url);
    return lead == CLOSELY ? meet_closely(it, href, at) : ok && lead != FAILED;
}

/* Each reference as it looks; the processor is asked for its slot, which is there by the time that
   it is wanted. (A look took 0.2 us, waiting for memory.) */
static int sighted(const Page *page, PyObject *hrefs, const Known *known, Sight *sights)
{
    Url url;
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(hrefs); at++) {
        Sight *const sight = &sights[at];
        sight->lead = written(page, PyTuple_GET_ITEM(hrefs, at), &url);
        sight->hashed = sight->lead == LEADS && !url.strips;
        if (sight->hashed && !digest(page, &url, &sight->hash))
            return 0;
        if (sight->hashed && known->slots)
            __builtin_prefetch(&known->slots[sight->hash & known->mask]);
    }
    return 1;
}

static int walk_on(Walk *it, PyObject *hrefs, Sight *sights, Py_ssize_t max_links)
{
    if (!sighted(it->page, hrefs, it->known, sights))
        return 0;
    int ok = 1;
    for (Py_ssize_t at = 0; ok && at < PyTuple_GET_SIZE(hrefs) && it->count < max_links; at++) {
        PyObject *const href = PyTuple_GET_ITEM(hrefs, at);
        if (sights[at].lead == LEADS)
            ok = meet_plainly(it, href, &sights[at], at);
        else if (sights[at].lead == CLOSELY)
            ok = meet_closely(it, href, at);
    }
    return ok;
}

static PyObject *walked(const Page *page, PyObject *hrefs, Py_ssize_t max_links,
                        PyObject *positions, const Known *known)
{
    const size_t size = (size_t)PyTuple_GET_SIZE(hrefs);
    size_t places = 16;
    while (places < 2 * size)
        places *= 2;
    /* For most pages there is room on the stack. */
    Sight few_sights[USUAL_LINKS];
    uint64_t few_places[2 * USUAL_LINKS];
    const int few = size <= USUAL_LINKS;
    Sight *sights = few ? few_sights : PyMem_Malloc(size * sizeof *sights);
    uint64_t *taken = few ? few_places : PyMem_Malloc(places * sizeof *taken);
    Walk it = {page, known, {taken, places - 1}, 0, PyList_New(0), positions};
    int ok = it.links != NULL;
    if (!sights || !taken) {
        PyErr_NoMemory();
        ok = 0;
    }
    if (ok) {
        memset(taken, 0, places * sizeof *taken);
        ok = walk_on(&it, hrefs, sights, max_links);
    }
    if (!few) {
        PyMem_Free(sights);
        PyMem_Free(taken);
    }
    if (!ok)
        Py_CLEAR(it.links);
    return ok ? Py_BuildValue("nN", it.count, it.links) : NULL;
}

static PyObject *walk(PyObject *module, PyObject *args)
{
    (void)module;
    Page page;
    PyObject *hrefs, *positions;
    Py_ssize_t max_links;
    Py_buffer slots = {.len = 0};
    if (!PyArg_ParseTuple(args, "O!OUUOO!OO!OnnO|y*", &PyList_Type, &hrefs, &page.closely, &page.origin,
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
        found = walked(&page, all, max_links, positions, &known);
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
