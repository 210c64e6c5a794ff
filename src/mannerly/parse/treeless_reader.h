/* The reader of `_treeless.c`: its state, texts, tags and their attributes. */

#include <stddef.h>

#include "lines.h"
#include "treeless_names.h"
#include "treeless_texts.h"

/* With more, the tree is bounded in ways that this reader would not know of: `crop`, `defuse`. */
#define MAX_TAGS 10000
#define MAX_ATTRIBUTES 30000
#define MAX_TAG_ATTRIBUTES 255
#define MAX_TAG_BYTES (64 * 1024)
/* Far more than people nest. */
#define MAX_TABLES 32
#define MAX_REGION 256
/* As in `facts`. */
#define MAX_HREF 16384
/* As in `contract`. */
#define MAX_HEADING 500
#define MAX_HEADINGS 200
#define MAX_TOLD 2000

/* An element whose end must be where its end tag is: hidden, a heading, or within one of these. */
typedef struct {
    const char *name;
    Py_ssize_t length;
    enum tag tag;
    int hides;
    Py_ssize_t from; /* of a heading that counts: where its text begins; else -1 */
} Open;

typedef struct {
    enum tag cell;    /* TD, TH, CAPTION; OTHER between cells */
    char section;     /* the second letter of its name: b, h, f; 0: none is open */
    int in_a, in_p;   /* where it begins */
    int region;       /* how many are open in the region with it; 0: it is in none */
} Table;

typedef struct {
    const char *at, *end;
    char *text;
    Py_ssize_t size;
    int line_ends; /* a line ends before the next text or inline tag */
    Py_ssize_t attributes;
    /* The document */
    int in_body, behind_head, in_head_noscript;
    /* What may be open */
    int in_a, in_p, in_form, in_pre, in_select, markers;
    Py_ssize_t buttons, drawings;
    int drawing_hides;
    int pre_never_ends;
    int depth; /* of tables */
    int open, hidden, in_heading;
    /* What was found */
    PyObject *links, *see, *titles, *headings, *root, *told;
    PyObject *names; /* of those `<meta>` whose words go into `told` */
    PyTypeObject *heading;
    Py_ssize_t max_links, headings_seen;
    const char *agent; /* in lower case */
    Py_ssize_t agent_length;
    /* Not cleared: only those that are open count */
    Table tables[MAX_TABLES];
    Open region[MAX_REGION];
} Reader;

typedef struct {
    const char *name, *value; /* no value: NULL */
    Py_ssize_t length, size;
} Attribute;

static PyObject *word_a, *word_area, *word_base, *word_iframe, *word_link, *word_meta;

/* The attributes that `facts` reads. */
enum word { CONTENT, EQUIV, HREF, LANG, NAME, PROPERTY, REL, SRC, TYPE, XML_LANG, WORDS };
static const char *const WORD[WORDS] = {
    "content", "http-equiv", "href", "lang", "name", "property", "rel", "src", "type", "xml:lang",
};
static PyObject *words[WORDS]; /* the same as objects */


/* Printable ASCII without references, as nearly all values are. */
static int is_plain(const char *text, Py_ssize_t size)
{
    int odd = 0;
    for (Py_ssize_t n = 0; n < size; n++) /* without a way out, so that many go at once */
        odd |= (signed char)text[n] < ' ' || text[n] == '&';
    return !odd;
}

/* A value as the tree would have it. */
static int value_of(const Reader *it, const Attribute *attribute, PyObject **made)
{
    const size_t size = (size_t)attribute->size;
    if (is_plain(attribute->value, attribute->size)) {
        *made = PyUnicode_New(attribute->size, 127);
        if (*made == NULL)
            return FAILED;
        if (size > 0) /* what is empty has no room of its own */
            memcpy(PyUnicode_DATA(*made), attribute->value, size);
        return FINE;
    }
    if (memchr(attribute->value, '\r', size) != NULL)
        return ODD;
    char *const room = PyMem_Malloc(size + size / 2 + 8);
    if (room == NULL) {
        PyErr_NoMemory();
        return FAILED;
    }
    char *out = room;
    int result = put_text(attribute->value, attribute->value + attribute->size,
                          IN_VALUE | (it->in_pre ? IN_PRE : 0), &out);
    if (result == FINE)
        result = make_text(room, out - room, made);
    PyMem_Free(room);
    return result;
}

static inline int is_seen(const Reader *it) { return it->hidden == 0 && !it->drawing_hides; }

static inline void end_line(Reader *it)
{
    if (it->line_ends && is_seen(it))
        it->text[it->size++] = '\f';
    it->line_ends = 0;
}

static int add_text(Reader *it, const char *from, const char *to)
{
    end_line(it);
    if (!is_seen(it))
        return FINE;
    char *out = it->text + it->size;
    TRY(put_text(from, to, it->in_pre ? IN_PRE : 0, &out));
    it->size = out - it->text;
    return FINE;
}

/* Everything up to the next `<` that begins something else than text. */
static int read_text(Reader *it, const char *to)
{
    const char *word = it->at;
    while (word < to && is_blank(*word))
        word++;
    if (word == to) {
        if (!it->line_ends && it->in_body)
            return add_text(it, it->at, to);
        return FINE;
    }
    if (it->in_head_noscript || (it->depth && it->tables[it->depth - 1].cell == OTHER))
        return ODD;
    if (!it->in_body) {
        if (*word == '&')
            return ODD;
        it->in_body = 1;
    }
    return add_text(it, it->at, to);
}

/* The next attribute of the tag at `it->at`, which is then behind it. `*more` is 0 at the `>`, and
   `it->at` behind that. */
static int next_attribute(Reader *it, Attribute *attribute, int *more, int *self_closing)
{
    const char *at = it->at, *const end = it->end;
    const char *const gap = at;
    while (at < end && (is_blank(*at) || *at == '/'))
        at++;
    if (at >= end || *at == '=')
        return ODD;
    *more = *at != '>';
    if (!*more) {
        *self_closing = at > gap && at[-1] == '/';
        it->at = at + 1;
        return FINE;
    }
    attribute->name = at;
    at = behind_name(at, end, '=');
    attribute->length = at - attribute->name;
    attribute->value = NULL;
    attribute->size = 0;
    const char *value = at;
    while (value < end && is_blank(*value))
        value++;
    if (value < end && *value == '=') {
        for (value++; value < end && is_blank(*value); value++)
            ;
        if (value >= end)
            return ODD;
        if (*value == '"' || *value == '\'') {
            at = memchr(value + 1, *value, (size_t)(end - value - 1));
            if (at == NULL)
                return ODD;
            attribute->value = value + 1;
            attribute->size = at++ - attribute->value;
        } else {
            for (at = value; at < end && !is_blank(*at) && *at != '>'; at++)
                ;
            attribute->value = value;
            attribute->size = at - value;
        }
    }
    it->at = at;
    return at < end ? FINE : ODD;
}

static int contains(const char *at, Py_ssize_t size, const char *word)
{
    const Py_ssize_t length = (Py_ssize_t)strlen(word);
    for (; size >= length; at++, size--)
        if (lowered(*at) == *word && is_same(at, word, length))
            return 1;
    return 0;
}

/* What the rest of a start tag says. Of two attributes of a name, the first counts. */
typedef struct {
    int hides, self_closing;
    int styled, described; /* whether there was a `style`, an `aria-hidden` */
    int reads;             /* the attributes below are read */
    unsigned kept;         /* a bit for each of them that is there */
    Attribute of[WORDS];   /* not to be touched but by the next two: it is not even cleared */
} Said;

static const Attribute NO_ATTRIBUTE = {"", NULL, 0, 0};

static inline const Attribute *said_of(const Said *said, enum word word)
{
    return said->kept & 1u << word ? &said->of[word] : &NO_ATTRIBUTE;
}

/* Of two of a name the first counts. */
static inline void keep_as(Said *said, enum word word, const Attribute *attribute)
{
    if (!(said->kept & 1u << word))
        said->of[word] = *attribute;
    said->kept |= 1u << word;
}

static inline void clear(Said *said) { memset(said, 0, offsetof(Said, of)); }

/* Whether an attribute hides its element. */
static int look_for_hiding(const Attribute *attribute, Said *said)
{
    const char *const name = attribute->name, *const value = attribute->value;
    const size_t size = (size_t)attribute->size;
    switch (lowered(*name)) {
    case 'h':
        said->hides |= IS(name, attribute->length, "hidden");
        break;
    case 'a':
        if (IS(name, attribute->length, "aria-hidden") && !said->described && size > 0) {
            if (memchr(value, '&', size) != NULL || memchr(value, '<', size) != NULL)
                return ODD;
            said->hides |= IS(value, attribute->size, "true");
        }
        said->described |= IS(name, attribute->length, "aria-hidden");
        break;
    case 's':
        if (!IS(name, attribute->length, "style"))
            break;
        if (said->styled)
            return ODD; /* `bare` does not know which is the first */
        said->styled = 1;
        if (size < 12)
            break;
        if (memchr(value, '&', size) != NULL || memchr(value, '<', size) != NULL)
            return ODD;
        said->hides |= contains(value, attribute->size, "display:none") ||
                       contains(value, attribute->size, "display: none");
        break;
    }
    return FINE;
}

static void keep(const Attribute *attribute, Said *said)
{
    for (int word = 0; word < WORDS; word++)
        if (attribute->length == (Py_ssize_t)strlen(WORD[word]) &&
            is_same(attribute->name, WORD[word], attribute->length)) {
            keep_as(said, (enum word)word, attribute);
            return;
        }
}

/* The rest of a start tag, from behind its name. */
static int read_attributes(Reader *it, const Known *what, Said *said)
{
    const char *const begin = it->at;
    int count = 0;
    for (;;) {
        Attribute attribute;
        int more;
        TRY(next_attribute(it, &attribute, &more, &said->self_closing));
        if (!more)
            break;
        if (++count > MAX_TAG_ATTRIBUTES || it->at - begin > MAX_TAG_BYTES)
            return ODD;
        TRY(look_for_hiding(&attribute, said));
        if (what->tag == A) {
            if (IS(attribute.name, attribute.length, "href"))
                keep_as(said, HREF, &attribute);
            else if (IS(attribute.name, attribute.length, "rel"))
                keep_as(said, REL, &attribute);
        } else if (said->reads) {
            keep(&attribute, said);
        }
    }
    it->attributes += count;
    return it->attributes > MAX_ATTRIBUTES ? ODD : FINE;
}

static int tell(const Reader *it, PyObject *word, PyObject *attributes)
{
    PyObject *const result = PyObject_CallFunctionObjArgs(it->see, word, attributes, NULL);
    Py_XDECREF(result);
    return result != NULL ? FINE : FAILED;
}

/* A link that `facts` must look at: one that is marked, or that has been told of in another way. */
static int tell_link(const Reader *it, PyObject *href, const Attribute *rel)
{
    PyObject *const all = PyDict_New();
    PyObject *value = NULL;
    if (all == NULL)
        return FAILED;
    int result = PyDict_SetItem(all, words[HREF], href) < 0 ? FAILED : FINE;
    if (result == FINE && rel->value != NULL) {
        result = value_of(it, rel, &value);
        if (result == FINE && PyDict_SetItem(all, words[REL], value) < 0)
            result = FAILED;
        Py_XDECREF(value);
    }
    if (result == FINE)
        result = tell(it, word_a, all);
    Py_DECREF(all);
    return result;
}

static int is_marked(const Attribute *rel)
{
    const char *const words = rel->value;
    return words != NULL &&
           (memchr(words, '&', (size_t)rel->size) || contains(words, rel->size, "nofollow") ||
            contains(words, rel->size, "ugc") || contains(words, rel->size, "sponsored"));
}

static int add_link(const Reader *it, const Said *said)
{
    PyObject *href, *told;
    const Attribute *const rel = said_of(said, REL), *const written = said_of(said, HREF);
    if (written->size == 0)
        return FINE;
    TRY(value_of(it, written, &href));
    int result = FINE;
    if (PyUnicode_GET_LENGTH(href) > MAX_HREF)
        told = Py_None;
    else if (is_marked(rel) || (!is_plain(written->value, written->size) &&
                                PyUnicode_FindChar(href, '\f', 0, PyUnicode_GET_LENGTH(href), 1) >= 0))
        told = NULL;
    else if (PyDict_GET_SIZE(it->links) < it->max_links)
        told = PyDict_SetDefault(it->links, href, Py_None);
    else if ((told = PyDict_GetItemWithError(it->links, href)) == NULL)
        told = Py_None;
    if (PyErr_Occurred())
        result = FAILED;
    else if (told != Py_None)
        result = tell_link(it, href, rel);
    Py_DECREF(href);
    return result;
}

/* Elements whose attributes `facts` reads: their word; else NULL. */
static PyObject *word_of(enum tag tag)
{
    switch (tag) {
    case AREA: return word_area;
    case BASE: return word_base;
    case IFRAME: return word_iframe;
    case LINK: return word_link;
    case META: return word_meta;
    default: return NULL;
    }
}

/* Whether a value must be looked at closely to know what it says in lower case without blanks. */
static int is_odd_value(const Attribute *value)
{
    if (value->size == 0)
        return 0;
    for (Py_ssize_t n = 0; n < value->size; n++)
        if ((unsigned char)value->value[n] >= 0x80 || value->value[n] == '&')
            return 1;
    return value->value[0] <= ' ' || value->value[value->size - 1] <= ' ';
}

#define LONGEST_TOLD 24

/* Words that a `<meta>` of this name tells of the page, if it is one of those: 1; 0 if it is not,
   -1 with an error. The first of a name counts. */
static int is_told(const Reader *it, const Attribute *name, PyObject **key)
{
    char lower[LONGEST_TOLD + 8]; /* more than is used, which gcc does not see */
    if (name->size == 0 || name->size > LONGEST_TOLD || is_odd_value(name) ||
        (name->size == it->agent_length && is_same(name->value, it->agent, name->size)))
        return 0;
    for (Py_ssize_t n = 0; n < name->size; n++)
        lower[n] = lowered(name->value[n]);
    *key = PyUnicode_FromStringAndSize(lower, name->size);
    return *key != NULL ? PySet_Contains(it->names, *key) : -1;
}

static int add_told(const Reader *it, const Attribute *content, PyObject *key)
{
    if (PyDict_Contains(it->told, key))
        return FINE;
    PyObject *raw;
    TRY(value_of(it, content, &raw));
    PyObject *const words = collapsed(raw, 8 * MAX_TOLD, ' ', MAX_TOLD);
    Py_DECREF(raw);
    if (words == NULL)
        return FAILED;
    int result = FINE;
    if (PyUnicode_GET_LENGTH(words) > 0 && PyDict_SetItem(it->told, key, words) < 0)
        result = FAILED;
    Py_DECREF(words);
    return result;
}

/* A `<meta>` that tells something by its words: whether it was one. */
static int read_told(const Reader *it, const Said *said, int *was_one)
{
    PyObject *key = NULL;
    const Attribute *const name = said_of(said, said_of(said, NAME)->size ? NAME : PROPERTY);
    const int told = said_of(said, CONTENT)->size > 0 ? is_told(it, name, &key) : 0;
    int result = told < 0 ? FAILED : FINE;
    if (told == 1)
        result = add_told(it, said_of(said, CONTENT), key);
    Py_XDECREF(key);
    *was_one = told == 1;
    return result;
}

/* What most of these say is of no interest to `facts`: style sheets and icons, how wide a screen is,
   what another program made of the page. Told of are all that may be. */
static int is_of_interest(const Reader *it, const Known *what, const Said *said)
{
    if (what->tag == META) {
        const Attribute *const name = said_of(said, said_of(said, NAME)->size ? NAME : PROPERTY);
        const Attribute *const equiv = said_of(said, EQUIV);
        return said_of(said, CONTENT)->size > 0 &&
               (is_odd_value(name) || is_odd_value(equiv) ||
                IS(name->value, name->size, "robots") ||
                (name->size == it->agent_length && is_same(name->value, it->agent, name->size)) ||
                IS(equiv->value, equiv->size, "refresh"));
    }
    if (what->tag == LINK) {
        const Attribute *const rel = said_of(said, REL);
        return is_odd_value(rel) || contains(rel->value, rel->size, "canonical") ||
               contains(rel->value, rel->size, "alternate") ||
               contains(rel->value, rel->size, "next") || contains(rel->value, rel->size, "prev");
    }
    return 1;
}

/* The attributes that were kept, by name; what is there already stays. */
static int put_all(const Reader *it, const Said *said, PyObject *all)
{
    for (int word = 0; word < WORDS; word++) {
        PyObject *value;
        if (!(said->kept & 1u << word) || PyDict_Contains(all, words[word]))
            continue;
        TRY(value_of(it, said_of(said, (enum word)word), &value));
        const int failed = PyDict_SetItem(all, words[word], value) < 0;
        Py_DECREF(value);
        if (failed)
            return FAILED;
    }
    return FINE;
}

/* What a start tag says, told to whom it concerns. `it->at` is behind its name. */
static int read_start(Reader *it, const Known *what, Said *said)
{
    PyObject *const word = word_of(what->tag);
    if (it->at < it->end && *it->at == '>') {
        it->at++;
        return FINE; /* nothing */
    }
    said->reads = word != NULL || what->tag == HTML;
    const char *const begin = it->at;
    TRY(read_attributes(it, what, said));
    if (!said->reads)
        return what->tag == A ? add_link(it, said) : FINE;
    /* A `<` in its values might be taken for a tag by `blocks`. */
    if (memchr(begin, '<', (size_t)(it->at - begin)) != NULL)
        return ODD;
    if (word == NULL)
        return put_all(it, said, it->root);
    if (what->tag == META) {
        int was_one;
        TRY(read_told(it, said, &was_one));
        if (was_one)
            return FINE;
    }
    if (!is_of_interest(it, what, said))
        return FINE;
    PyObject *const all = PyDict_New();
    if (all == NULL)
        return FAILED;
    int result = put_all(it, said, all);
    if (result == FINE)
        result = tell(it, word, all);
    Py_DECREF(all);
    return result;
}
