/* What is read of a page, in one pass over its tags: see `treeless`.

   The tokenizer of the HTML standard and, of its tree construction, what has an influence on what is
   read: where the body begins, what a table moves out of itself, how far a hidden element or a
   heading goes. Whatever else a tree would be needed for makes the page an odd one, which is left to
   the tree.

   Every byte is looked at three times at most, and memory is bounded by the size of the input. */

#include "treeless_reader.h"

/* Behind an element whose content is no markup; `it->at` is behind its start tag. */
static int skip_raw(Reader *it, const char *name, Py_ssize_t length, const char **close)
{
    it->at = behind_raw(name, length, it->at, it->end, close);
    return it->at != NULL ? FINE : ODD;
}

static int add_made(PyObject *list, PyObject *made)
{
    if (made == NULL)
        return FAILED;
    const int result = PyList_Append(list, made);
    Py_DECREF(made);
    return result < 0 ? FAILED : FINE;
}

/* A title; in the body, and in a drawing, its words are part of the text as well. */
static int read_title(Reader *it, const char *from, const char *to)
{
    if (memchr(from, '<', (size_t)(to - from)) != NULL)
        return ODD;
    char *const room = PyMem_Malloc((size_t)(to - from + (to - from) / 2 + 8));
    PyObject *made = NULL;
    if (room == NULL) {
        PyErr_NoMemory();
        return FAILED;
    }
    char *out = room;
    int result = put_text(from, to, 0, &out);
    if (result == FINE)
        result = make_text(room, out - room, &made);
    PyMem_Free(room);
    TRY(result);
    TRY(add_made(it->titles, made));
    return it->in_body && to > from ? add_text(it, from, to) : FINE;
}

/* `<pre>`: its lines are kept, if it ends. */
static void begin_pre(Reader *it)
{
    if (it->in_pre || it->pre_never_ends)
        return;
    for (const char *at = it->at; (at = find(at, it->end, "</")) != NULL; at++)
        if (it->end - at > 4 && is_same(at + 2, "pre", 3)) {
            it->in_pre = 1;
            return;
        }
    it->pre_never_ends = 1;
}

static int begin_in_drawing(Reader *it, const Known *what, const char *name, Py_ssize_t length)
{
    Said said;
    clear(&said);
    TRY(read_start(it, what, &said));
    if (said.hides)
        return ODD;
    if (said.self_closing)
        return FINE;
    const char *close;
    switch (what->tag) {
    case SVG:
        it->drawings++;
        return FINE;
    case TITLE: case SCRIPT: case STYLE: {
        const char *const from = it->at;
        TRY(skip_raw(it, name, length, &close));
        if (memchr(from, '<', (size_t)(close - from)) != NULL)
            return ODD;
        if (what->tag == TITLE) {
            TRY(read_title(it, from, close));
            it->line_ends = 1;
        }
        return FINE;
    }
    default:
        return what->flags & DRAWN ? FINE : ODD;
    }
}

/* Whether a start tag is where it stays; keeps the state of the tables. */
static int begin_in_table(Reader *it, const Known *what)
{
    Table *const table = it->depth ? &it->tables[it->depth - 1] : NULL;
    if (what->tag == TABLE) {
        if ((table && table->cell == OTHER) || it->depth == MAX_TABLES)
            return ODD;
        it->tables[it->depth++] = (Table){OTHER, 0, it->in_a, it->in_p, 0};
        return FINE;
    }
    if (table == NULL)
        return FINE;
    switch (what->tag) {
    case TD: case TH:
        table->cell = what->tag;
        if (!table->section)
            table->section = 'b';
        it->in_p = 0;
        return FINE;
    case TR:
        if (!table->section)
            table->section = 'b';
        table->cell = OTHER;
        return FINE;
    case CAPTION: case COLS:
        table->section = 0;
        table->cell = what->tag == CAPTION ? CAPTION : OTHER;
        it->in_p = 0;
        return FINE;
    case SECTION:
        table->cell = OTHER;
        return FINE; /* which one, `begin` knows */
    case FORM: case SCRIPT: case STYLE:
        return FINE; /* between cells, a form ends where it begins */
    default:
        if (table->cell == OTHER && !(what->flags & EMPTY && word_of(what->tag) == NULL))
            return ODD;
        return FINE;
    }
}

/* Whether a part of a table is where it ends nothing of the region that is not closed. */
static int is_between(const Reader *it)
{
    return it->depth && it->tables[it->depth - 1].region == it->open;
}

static int is_table_part(enum tag tag)
{
    return tag == TD || tag == TH || tag == TR || tag == SECTION || tag == CAPTION || tag == COLS;
}

/* An element that begins a region or is in one. */
static int begin_in_region(Reader *it, const Known *what, const char *name, Py_ssize_t length,
                           int hides)
{
    const Open *const around = it->open ? &it->region[it->open - 1] : NULL;
    if (is_table_part(what->tag))
        return is_between(it) && !hides ? FINE : ODD;
    if ((what->flags & APART && what->tag != TABLE) || it->markers || it->open == MAX_REGION)
        return ODD;
    /* What it ends must not be in the region, nor around it. */
    if (around && (what->flags & BLOCK || what->tag == TABLE) && it->in_p)
        return ODD;
    switch (what->tag) {
    case A:
        if (around && it->in_a)
            return ODD;
        break;
    case BUTTON:
        if (around && it->buttons)
            return ODD;
        break;
    case FORM:
        if (it->in_form)
            return ODD;
        break;
    case HEADING:
        if (it->in_heading)
            return ODD;
        break;
    case ITEM:
        if (around && around->tag != LIST)
            return ODD;
        break;
    case DESCRIBED:
        if (around && around->tag != DESCRIPTIONS)
            return ODD;
        break;
    default:
        break;
    }
    if (what->flags & EMPTY)
        return FINE;
    Open *const new = &it->region[it->open++];
    *new = (Open){name, length, what->tag, hides || what->tag == NOSCRIPT, -1};
    it->hidden += new->hides;
    if (what->tag == TABLE)
        it->tables[it->depth - 1].region = it->open;
    it->in_heading += what->tag == HEADING;
    if (what->tag == HEADING && it->headings_seen++ < MAX_HEADINGS)
        new->from = it->size;
    return FINE;
}

/* What may be open behind a start tag. */
static void note_open(Reader *it, enum tag tag, int flags)
{
    if (flags & BLOCK)
        it->in_p = tag == P;
    switch (tag) {
    case A: it->in_a = 1; break;
    case BUTTON: it->buttons++; break;
    case FORM: it->in_form = 1; break;
    case MARKER: it->markers = 1; break;
    case PRE: begin_pre(it); break;
    default: break;
    }
}

static int begin(Reader *it, const Known *what, const char *name, Py_ssize_t length)
{
    if (it->drawings)
        return begin_in_drawing(it, what, name, length);
    if (what->flags & NEEDS_TREE)
        return ODD;
    if (it->in_select && what->tag != OPTION && what->tag != SCRIPT)
        return ODD;
    if (it->in_head_noscript && what->tag != LINK && what->tag != META && what->tag != STYLE)
        return ODD;
    if (!(what->flags & OF_HEAD) || (what->tag == NOSCRIPT && it->behind_head))
        it->in_body = 1;
    TRY(begin_in_table(it, what));
    if (what->tag == SECTION && it->depth)
        it->tables[it->depth - 1].section = lowered(name[1]);
    Said said;
    clear(&said);
    const int bare_pre = what->tag == PRE && it->at < it->end && *it->at == '/';
    TRY(read_start(it, what, &said));
    const char *const content = it->at;
    const char *close;
    switch (what->tag) {
    case SCRIPT: case STYLE: case IFRAME: case TITLE: case TEXTAREA:
        if (said.self_closing)
            return ODD;
        if (it->in_pre && what->tag != TEXTAREA)
            return ODD; /* what ends it might be in there */
        TRY(skip_raw(it, name, length, &close));
        if (said.hides && it->in_body && (what->tag == TEXTAREA || what->tag == TITLE))
            return ODD;
        if (what->tag == TITLE)
            TRY(read_title(it, content, close));
        if (what->tag == TEXTAREA) {
            if (memchr(content, '<', (size_t)(close - content)) != NULL)
                return ODD;
            if (close > content)
                TRY(add_text(it, content, close));
        }
        if (!(what->flags & INLINE))
            it->line_ends = 1;
        return FINE;
    case SVG:
        if (!said.self_closing) {
            it->drawings = 1;
            it->drawing_hides = said.hides;
        }
        return FINE;
    case NOSCRIPT:
        if (!it->in_body) {
            it->in_head_noscript = 1;
            return FINE;
        }
        break;
    case HTML: case HEAD: case BODY:
        if (it->open)
            return ODD;
        return FINE;
    default:
        break;
    }
    if (what->tag == OPTION && it->in_select)
        return said.hides ? ODD : FINE;
    if (what->tag == SELECT) {
        it->in_select = 1;
        return said.hides ? ODD : FINE;
    }
    const int between_cells = it->depth && it->tables[it->depth - 1].cell == OTHER;
    if (said.hides && what->tag == FORM && between_cells)
        return ODD;
    if (it->open || what->tag == NOSCRIPT || what->tag == HEADING ||
        (said.hides && !(what->flags & EMPTY)))
        TRY(begin_in_region(it, what, name, length, said.hides));
    note_open(it, bare_pre ? OTHER : what->tag, what->flags);
    return FINE;
}

static void end_in_table(Reader *it, enum tag tag, const char *name)
{
    Table *const table = &it->tables[it->depth - 1];
    switch (tag) {
    case TABLE:
        it->in_a |= table->in_a;
        it->in_p |= table->in_p;
        it->depth--;
        break;
    case TD: case TH: case CAPTION:
        if (table->cell == tag)
            table->cell = OTHER;
        break;
    case TR:
        if (table->cell != CAPTION)
            table->cell = OTHER;
        break;
    case SECTION:
        if (table->cell != CAPTION && table->section == lowered(name[1])) {
            table->cell = OTHER;
            table->section = 0;
        }
        break;
    default:
        break;
    }
}

/* A heading whose text begins at `from`, unless it has no words. */
static int add_heading(const Reader *it, Py_ssize_t from, int level)
{
    PyObject *raw;
    TRY(make_text(it->text + from, it->size - from, &raw));
    PyObject *const text = collapsed(raw, 8 * MAX_HEADING, ' ', MAX_HEADING);
    Py_DECREF(raw);
    if (text == NULL)
        return FAILED;
    if (PyUnicode_GET_LENGTH(text) == 0) {
        Py_DECREF(text);
        return FINE;
    }
    /* A named tuple, made as `tuple` makes one: to call it takes three times as long. */
    PyObject *const heading = it->heading->tp_alloc(it->heading, 2);
    if (heading == NULL) {
        Py_DECREF(text);
        return FAILED;
    }
    PyTuple_SET_ITEM(heading, 0, PyLong_FromLong(level));
    PyTuple_SET_ITEM(heading, 1, text);
    return add_made(it->headings, heading);
}

static int end_in_region(Reader *it, const Known *what, const char *name, Py_ssize_t length)
{
    if (what->flags & EMPTY)
        return FINE;
    Open *const last = &it->region[it->open - 1];
    if (last->length != length || !is_same(last->name, name, length))
        return ODD;
    it->open--;
    it->hidden -= last->hides;
    it->in_heading -= last->tag == HEADING;
    return last->from >= 0 ? add_heading(it, last->from, name[1] - '0') : FINE;
}

static int finish(Reader *it, const Known *what, const char *name, Py_ssize_t length)
{
    Said said;
    clear(&said);
    Known quiet = {what->name, OTHER, 0};
    if (it->at < it->end && *it->at == '>')
        it->at++;
    else
        TRY(read_attributes(it, &quiet, &said));
    if (it->drawings) {
        if (what->tag == SVG) {
            it->drawings--;
            it->drawing_hides &= it->drawings > 0;
        }
        return what->tag == SVG || what->flags & DRAWN ? FINE : ODD;
    }
    if (what->flags & NEEDS_TREE)
        return ODD;
    if (it->in_select) {
        it->in_select = what->tag != SELECT;
        return what->tag == SELECT || what->tag == OPTION ? FINE : ODD;
    }
    if (it->in_head_noscript) {
        it->in_head_noscript = 0;
        return what->tag == NOSCRIPT ? FINE : ODD;
    }
    if (!it->in_body) {
        it->behind_head |= what->tag == HEAD;
        it->in_body = what->tag == BODY || what->tag == HTML || what->tag == BR;
        return FINE;
    }
    if (it->open && !(is_table_part(what->tag) && is_between(it)))
        TRY(end_in_region(it, what, name, length));
    if (it->depth)
        end_in_table(it, what->tag, name);
    switch (what->tag) {
    case A: it->in_a = 0; break;
    case P: it->in_p = 0; break;
    case FORM: it->in_form = 0; break;
    case BUTTON: it->buttons -= it->buttons > 0; it->in_p = 1; break;
    default: break;
    }
    return FINE;
}

static int skip_declaration(Reader *it)
{
    if (it->end - it->at > 3 && it->at[2] == '-' && it->at[3] == '-' && it->at[1] == '!') {
        it->at = behind_comment(it->at + 4, it->end);
        return it->at != NULL && !it->in_pre ? FINE : ODD;
    }
    if (it->end - it->at > 2 && it->at[2] == '[')
        return ODD;
    const char *const close = memchr(it->at, '>', (size_t)(it->end - it->at));
    if (close == NULL)
        return ODD;
    it->at = close + 1;
    return FINE;
}

/* A tag whose name begins at `name`. */
static int read_tag(Reader *it, const char *name, int closing)
{
    const char *const behind = behind_name(name, it->end, '>');
    if (behind >= it->end)
        return ODD;
    const Py_ssize_t length = behind - name;
    const Known *const what = known(name, length, it->end);
    it->at = behind;
    /* Scripts and styles are gone before lines are made. */
    if (closing && it->in_pre && length >= 3 && is_same(name, "pre", 3))
        it->in_pre = 0;
    if (!(what->flags & INLINE))
        it->line_ends = 1;
    else if (what->tag != SCRIPT && what->tag != STYLE)
        end_line(it);
    return closing ? finish(it, what, name, length) : begin(it, what, name, length);
}

static int read_page(Reader *it)
{
    Py_ssize_t tags = 0;
    while (it->at < it->end) {
        const char *tag = it->at;
        int closing = 0, begins = 0;
        while (tag < it->end && (tag = memchr(tag, '<', (size_t)(it->end - tag))) != NULL) {
            closing = it->end - tag > 1 && tag[1] == '/';
            if (it->end - tag > 1 + closing) {
                const char c = tag[1 + closing];
                begins = is_letter(c) ? 1 : closing || c == '!' || c == '?' ? 2 : 0;
            }
            if (begins)
                break;
            tag++;
        }
        if (tag == NULL || tag >= it->end)
            tag = it->end;
        if (tag > it->at)
            TRY(read_text(it, tag));
        it->at = tag;
        if (tag == it->end)
            break;
        if (++tags > MAX_TAGS)
            return ODD;
        TRY(begins == 1 ? read_tag(it, tag + 1 + closing, closing) : skip_declaration(it));
    }
    return it->open || it->drawings || it->in_select || it->in_head_noscript ? ODD : FINE;
}

static PyObject *read_all(PyObject *Py_UNUSED(module), PyObject *args)
{
    Reader reader, *const it = &reader;
    memset(it, 0, offsetof(Reader, tables));
    Scratch scratch = {NULL, 0};
    const char *from;
    Py_ssize_t length;
    PyObject *told = NULL, *text = NULL;
    if (!PyArg_ParseTuple(args, "y#O!nOO!s#O!O!", &from, &length, &PyDict_Type, &it->links,
                          &it->max_links, &it->see, &PyType_Type, &it->heading, &it->agent,
                          &it->agent_length, &PyDict_Type, &it->told, &PyFrozenSet_Type,
                          &it->names))
        goto done;
    if (!PyType_IsSubtype(it->heading, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "a heading is a tuple");
        goto done;
    }
    it->at = from;
    it->end = from + length;
    it->titles = PyList_New(0);
    it->headings = PyList_New(0);
    it->root = PyDict_New();
    /* References may grow by half; a line's end takes no more room than the tag that makes it. */
    scratch = take_scratch((size_t)(length + length / 2 + 8));
    it->text = scratch.room;
    if (it->text == NULL)
        PyErr_NoMemory();
    if (it->titles == NULL || it->headings == NULL || it->root == NULL || it->text == NULL)
        goto done;
    int result = memchr(from, 0, (size_t)length) == NULL ? read_page(it) : ODD;
    if (result == FINE)
        result = make_text(it->text, it->size, &text);
    if (result == ODD)
        told = Py_NewRef(Py_None);
    else if (result == FINE)
        told = Py_BuildValue("(NOOO)", text, it->root, it->titles, it->headings);
done:
    Py_XDECREF(it->titles);
    Py_XDECREF(it->headings);
    Py_XDECREF(it->root);
    give_scratch(scratch);
    return told;
}

static PyMethodDef methods[] = {
    {"read", read_all, METH_VARARGS, "Text, root attributes, titles and headings of a page; or None."},
    {NULL, NULL, 0, NULL},
};

static int prepare(PyObject *Py_UNUSED(module))
{
    know_names();
    PyObject *const entities = PyImport_ImportModule("html.entities");
    if (entities == NULL)
        return -1;
    references = PyObject_GetAttrString(entities, "html5");
    Py_DECREF(entities);
    word_a = PyUnicode_InternFromString("a");
    word_area = PyUnicode_InternFromString("area");
    word_base = PyUnicode_InternFromString("base");
    word_iframe = PyUnicode_InternFromString("iframe");
    word_link = PyUnicode_InternFromString("link");
    word_meta = PyUnicode_InternFromString("meta");
    for (int word = 0; word < WORDS; word++)
        if ((words[word] = PyUnicode_InternFromString(WORD[word])) == NULL)
            return -1;
    return references && word_a && word_area && word_base && word_iframe && word_link &&
           word_meta ? 0 : -1;
}

static struct PyModuleDef_Slot slots[] = {{Py_mod_exec, prepare}, {0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_treeless", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__treeless(void) { return PyModuleDef_Init(&module); }
