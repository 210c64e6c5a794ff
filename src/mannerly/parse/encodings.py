"""The encodings of the WHATWG Encoding Standard: their labels, and the codecs that decode them."""

from codecs import lookup

_ENCODINGS = """
UTF-8            utf-8        unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8
IBM866           cp866        866 cp866 csibm866
ISO-8859-2       iso8859-2    csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
ISO-8859-3       iso8859-3    csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
ISO-8859-4       iso8859-4    csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
ISO-8859-5       iso8859-5    csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
ISO-8859-6       iso8859-6    arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
ISO-8859-7       iso8859-7    csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek
ISO-8859-8       iso8859-8    csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual
ISO-8859-8-I     iso8859-8    csiso88598i logical
ISO-8859-10      iso8859-10   csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
ISO-8859-13      iso8859-13   iso8859-13 iso885913
ISO-8859-14      iso8859-14   iso8859-14 iso885914
ISO-8859-15      iso8859-15   csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
ISO-8859-16      iso8859-16
KOI8-R           koi8-r       cskoi8r koi koi8 koi8_r
KOI8-U           koi8-u       koi8-ru
macintosh        mac-roman    csmacintosh mac x-mac-roman
windows-874      cp874        dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
windows-1250     cp1250       cp1250 x-cp1250
windows-1251     cp1251       cp1251 x-cp1251
windows-1252     cp1252       ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
windows-1253     cp1253       cp1253 x-cp1253
windows-1254     cp1254       cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254
windows-1255     cp1255       cp1255 x-cp1255
windows-1256     cp1256       cp1256 x-cp1256
windows-1257     cp1257       cp1257 x-cp1257
windows-1258     cp1258       cp1258 x-cp1258
x-mac-cyrillic   mac-cyrillic x-mac-ukrainian
GBK              gb18030      chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk
gb18030          gb18030
Big5             big5hkscs    big5-hkscs cn-big5 csbig5 x-x-big5
EUC-JP           euc-jp       cseucpkdfmtjapanese x-euc-jp
ISO-2022-JP      iso2022-jp   csiso2022jp
Shift_JIS        cp932        csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
EUC-KR           cp949        cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
replacement      -            csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr
UTF-16BE         utf-16-be    unicodefffe
UTF-16LE         utf-16-le    csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
x-user-defined   -
"""  # noqa: E501 - one line per encoding
"""Name, Python codec (`-`: decoded by hand), further labels. GBK, Big5, Shift_JIS and EUC-KR name
the larger character sets that browsers decode under these names."""

_BY_LABEL: dict[str, str] = {}
_CODECS: dict[str, str] = {}
for _line in _ENCODINGS.strip().splitlines():
    _name, _codec, *_labels = _line.split()
    _CODECS[_name] = _codec
    _BY_LABEL.update(dict.fromkeys([_name.lower(), *_labels], _name))

_BY_CODEC = {lookup(_codec).name: _name for _name, _codec in _CODECS.items() if _codec != "-"}
_PRIVATE = {byte: 0xF780 + byte - 0x80 for byte in range(0x80, 0x100)}


def named(label: str) -> str:
    """The encoding that a label means, '' if none: `latin1` is windows-1252."""
    return _BY_LABEL.get(label.strip("\t\n\f\r ").lower(), "")


def name_of_codec(codec: str) -> str:
    """The encoding that Python decodes with this codec, '' if none."""
    try:
        return _BY_CODEC.get(lookup(codec).name, "")
    except LookupError:
        return ""


def decoded(body: bytes, name: str) -> str:
    """The text of `body`. Never raises: what cannot be decoded becomes U+FFFD."""
    codec = _CODECS[name]
    if codec != "-":
        return body.decode(codec, "replace")
    if name == "x-user-defined":
        return body.decode("latin-1").translate(_PRIVATE)
    # `replacement` stands for encodings that are dangerous to decode.
    return "\ufffd" if body else ""
