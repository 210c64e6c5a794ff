/* The elements of HTML, as far as `_treeless.c` knows them. */

#include "markup.h"

/* Elements that are more than their flags. */
enum tag {
    OTHER, A, AREA, BASE, BODY, BR, BUTTON, CAPTION, COLS, DESCRIBED, DESCRIPTIONS, FORM, HEAD,
    HEADING, HTML, IFRAME, ITEM, LINK, LIST, MARKER, META, NOSCRIPT, OPTION, P, PRE, SCRIPT, SECTION,
    SELECT, STYLE, SVG, TABLE, TD, TEXTAREA, TH, TITLE, TR,
};

enum {
    INLINE = 1,  /* ends no line: all others do, so that elements nobody has heard of do */
    EMPTY = 2,   /* has no content and no end tag */
    BLOCK = 4,   /* its start tag ends a paragraph */
    NEEDS_TREE = 8,
    APART = 16,  /* where it is in a region, or begins one, its end is not where its end tag is */
    DRAWN = 32,  /* a part of a drawing, and of nothing else */
    OF_HEAD = 64, /* does not begin the body */
};

typedef struct {
    const char *name;
    enum tag tag;
    int flags;
} Known;

#define EACH(NAMES, TAG, FLAGS) {NAMES, TAG, FLAGS}
static const Known GROUPS[] = {
    EACH("abbr acronym bdi bdo cite data del dfn ins kbd label mark q samp span sub sup time var "
         "b i u s em tt big code font strike strong small", OTHER, INLINE),
    EACH("g path use", OTHER, INLINE | DRAWN),
    EACH("rb rp rt ruby nobr", OTHER, INLINE | APART),
    EACH("img input wbr", OTHER, INLINE | EMPTY),
    EACH("a", A, INLINE),
    EACH("link", LINK, INLINE | EMPTY | OF_HEAD),
    EACH("meta", META, INLINE | EMPTY | OF_HEAD),
    EACH("script", SCRIPT, INLINE | OF_HEAD),
    EACH("style", STYLE, INLINE | OF_HEAD),
    EACH("svg", SVG, INLINE),
    EACH("embed param source track", OTHER, EMPTY),
    EACH("br", BR, EMPTY),
    EACH("hr", OTHER, EMPTY | BLOCK),
    EACH("area", AREA, EMPTY),
    EACH("base", BASE, EMPTY | OF_HEAD),
    EACH("address article aside blockquote center details dialog dir div fieldset figcaption figure "
         "footer header hgroup main nav section summary", OTHER, BLOCK),
    EACH("p", P, BLOCK),
    EACH("pre", PRE, BLOCK),
    EACH("form", FORM, BLOCK),
    EACH("li", ITEM, BLOCK),
    EACH("ul ol menu", LIST, BLOCK),
    EACH("dl", DESCRIPTIONS, BLOCK),
    EACH("dt dd", DESCRIBED, BLOCK),
    EACH("h1 h2 h3 h4 h5 h6", HEADING, BLOCK),
    EACH("button", BUTTON, 0),
    EACH("iframe", IFRAME, 0),
    EACH("noscript", NOSCRIPT, OF_HEAD),
    EACH("textarea", TEXTAREA, 0),
    EACH("title", TITLE, OF_HEAD),
    EACH("html", HTML, APART | OF_HEAD),
    EACH("head", HEAD, APART | OF_HEAD),
    EACH("body", BODY, APART),
    EACH("select", SELECT, APART),
    EACH("option optgroup", OPTION, APART),
    EACH("table", TABLE, APART),
    EACH("tbody thead tfoot", SECTION, APART),
    EACH("tr", TR, APART),
    EACH("td", TD, APART),
    EACH("th", TH, APART),
    EACH("caption", CAPTION, APART),
    EACH("col", COLS, APART | EMPTY),
    EACH("colgroup", COLS, APART),
    EACH("applet marquee object", MARKER, APART),
    EACH("search", OTHER, APART),
    EACH("circle rect line polygon polyline ellipse defs clippath mask lineargradient radialgradient "
         "stop symbol text tspan filter pattern marker animate animatetransform fegaussianblur "
         "feoffset feblend fecolormatrix feflood fecomposite femerge femergenode", OTHER, DRAWN),
    EACH("image", OTHER, DRAWN | NEEDS_TREE),
    EACH("template frameset frame math plaintext xmp listing noembed noframes isindex keygen "
         "basefont bgsound foreignobject", OTHER, NEEDS_TREE),
};

#define PLACES 512
#define LONGEST_NAME 20

/* Names in lower case, as numbers: nearly all fit into one. */
typedef struct {
    uint64_t first, second, third;
} Name;

static struct {
    Name name; /* all 0: free */
    Known known;
} places[PLACES];

static const Known UNKNOWN = {"", OTHER, 0};

static inline uint64_t packed(const char *name, Py_ssize_t length)
{
    uint64_t number = 0;
    for (Py_ssize_t n = 0; n < Py_MIN(length, 8); n++)
        number |= (uint64_t)(uint8_t)lowered(name[n]) << 8 * n;
    return number;
}

/* Of a name that is shorter than `LONGEST_NAME`. */
static Name name_of(const char *name, Py_ssize_t length)
{
    return (Name){packed(name, length), length > 8 ? packed(name + 8, length - 8) : 0,
                  length > 16 ? packed(name + 16, length - 16) : 0};
}

/* Where a name is, or would be. */
static inline unsigned place_of(const Name *it)
{
    unsigned at = (unsigned)((it->first ^ it->second) * 0x9E3779B97F4A7C15u >> 55);
    while (places[at].name.first != 0 &&
           (places[at].name.first != it->first || places[at].name.second != it->second ||
            places[at].name.third != it->third))
        at = (at + 1) % PLACES;
    return at;
}

/* The element of a name in a source that ends at `end`. */
static inline const Known *known(const char *name, Py_ssize_t length, const char *end)
{
    if (length >= LONGEST_NAME)
        return &UNKNOWN;
    Name it = {0, 0, 0};
    if (length < 8 && end - name >= 8)
        it.first = all_lowered(eight_at(name)) & (((uint64_t)1 << 8 * length) - 1);
    else
        it = name_of(name, length);
    const unsigned at = place_of(&it);
    return places[at].name.first != 0 ? &places[at].known : &UNKNOWN;
}

static void know_names(void)
{
    for (size_t n = 0; n < sizeof GROUPS / sizeof *GROUPS; n++) {
        const char *name = GROUPS[n].name;
        while (*name) {
            const Py_ssize_t length = (Py_ssize_t)strcspn(name, " ");
            const Name it = name_of(name, length);
            const unsigned at = place_of(&it);
            places[at].name = it;
            places[at].known = GROUPS[n];
            name += length + (name[length] == ' ');
        }
    }
}
