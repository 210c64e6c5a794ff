/* Texts: references replaced by what they stand for, and UTF-8 made to Python's texts. */

enum { FINE = 0, ODD = 1, FAILED = -1 };
#define TRY(CALL)                                                                                  \
    do {                                                                                           \
        const int result_ = (CALL);                                                                \
        if (result_ != FINE)                                                                       \
            return result_;                                                                        \
    } while (0)

static PyObject *references; /* `html.entities.html5` */

static Py_ssize_t put_character(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static inline int digit_of(char c, int hexadecimal)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const int letter = (c | 0x20) - 'a';
    return hexadecimal && letter >= 0 && letter < 6 ? 10 + letter : -1;
}

/* `&#...`; `*at` is its `&`. Characters that the standard has others for are odd. */
static int put_number(const char **at, const char *end, char **out)
{
    const char *c = *at + 2;
    const int hexadecimal = c < end && (*c | 0x20) == 'x';
    c += hexadecimal;
    const char *const first = c;
    uint32_t number = 0;
    for (int value; c < end && (value = digit_of(*c, hexadecimal)) >= 0; c++)
        if (number < 0x110000)
            number = number * (hexadecimal ? 16 : 10) + (uint32_t)value;
    if (c == first) {
        *(*out)++ = *(*at)++;
        return FINE;
    }
    if ((number < 0x20 && number != '\t' && number != '\n') || (number >= 0x7f && number < 0xa0) || number > 0x10ffff ||
        (number >= 0xd800 && number < 0xe000))
        return ODD;
    *out += put_character(*out, number);
    *at = c + (c < end && *c == ';');
    return FINE;
}

/* The text that a name stands for, borrowed; NULL, perhaps with an error, if it is none. */
static const char *named(const char *name, Py_ssize_t length, Py_ssize_t *size)
{
    PyObject *const key = PyUnicode_DecodeLatin1(name, length, NULL);
    if (key == NULL)
        return NULL;
    PyObject *const text = PyDict_GetItemWithError(references, key);
    Py_DECREF(key);
    return text != NULL ? PyUnicode_AsUTF8AndSize(text, size) : NULL;
}

/* What a `&` at `*at` stands for. Never longer than half as much again as it is written. */
static int put_reference(const char **at, const char *end, int in_value, char **out)
{
    const char *const name = *at + 1;
    if (name < end && *name == '#')
        return put_number(at, end, out);
    const char *behind = name;
    while (behind < end && behind - name < 32 && (is_letter(*behind) || digit_of(*behind, 0) >= 0))
        behind++;
    Py_ssize_t length = behind - name, size;
    const char *text = NULL;
    if (length > 1 && behind < end && *behind == ';')
        text = named(name, ++length, &size);
    /* A hundred old ones need no semicolon, even where they are followed by letters. */
    for (length = text ? length : Py_MIN(length, 6); text == NULL && length > 1; length -= !text)
        text = named(name, length, &size);
    if (PyErr_Occurred())
        return FAILED;
    const char next = name + length < end ? name[length] : 0;
    if (text == NULL ||
        (in_value && name[length - 1] != ';' &&
         (next == '=' || is_letter(next) || digit_of(next, 0) >= 0))) {
        *(*out)++ = *(*at)++;
        return FINE;
    }
    memcpy(*out, text, (size_t)size);
    *out += size;
    *at = name + length;
    return FINE;
}

enum { IN_VALUE = 1, IN_PRE = 2 };

/* `from` to `to` with its references replaced. The room at `out` is half as much again. */
static int put_text(const char *from, const char *to, int where, char **out)
{
    while (from < to) {
        const char *reference = memchr(from, '&', (size_t)(to - from));
        const char *const upto = reference != NULL ? reference : to;
        memcpy(*out, from, (size_t)(upto - from));
        if (where & IN_PRE) /* as `blocks` does */
            for (Py_ssize_t n = 0; n < upto - from; n++)
                if ((*out)[n] == '\n')
                    (*out)[n] = '\f';
        *out += upto - from;
        from = upto;
        if (reference != NULL)
            TRY(put_reference(&from, to, where & IN_VALUE, out));
    }
    return FINE;
}

static int is_odd_text(void)
{
    if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
        return FAILED;
    PyErr_Clear(); /* the parser has its own way with bytes that are not UTF-8 */
    return ODD;
}

static int make_text(const char *from, Py_ssize_t size, PyObject **made)
{
    *made = PyUnicode_DecodeUTF8(from, size, "strict");
    return *made != NULL ? FINE : is_odd_text();
}
