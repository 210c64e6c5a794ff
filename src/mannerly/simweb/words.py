"""The words that names, paths and texts are made of. ADJECTIVES, NOUNS and SLUGS are 64 each."""

# ruff: noqa: SIM905 - lists of words read better as prose than as literals

ADJECTIVES = (
    "amber bold brisk calm civil clear cosy crisp deft dusky early eager fair fleet fresh gentle "
    "glad golden grand green happy hardy honest humble ideal jolly keen kind lively loyal lucky "
    "mellow merry mild modest neat nimble noble plain polite proud quick quiet rapid ready rosy "
    "rural shy silver smart solid sound spry stout sunny swift tidy true urban vivid warm wise "
    "young zesty"
).split()

NOUNS = (
    "adder badger beaver bison bobcat bream camel carp cobra condor coot crane cricket curlew "
    "dingo dove eagle egret eland falcon ferret finch fox gannet gecko gull hare heron hornet ibis "
    "jackal jay kestrel kite koala lark lemur linnet lion lynx magpie marten mole moose newt otter "
    "owl panda perch pigeon plover puffin quail raven robin seal shrew snipe stork swan tapir "
    "tern thrush wren"
).split()

SECTIONS = (
    "about archive articles city events guide help history library market notes people places "
    "products reports topics"
).split()

SLUGS = (
    "annual-report bakery-hours bridge-walk caf%C3%A9-list canal-tour choir-notes coast-path "
    "common-birds council-vote craft-fair daily-bread evening-class family-tree ferry-times "
    "field-notes garden-plan ghost-signs harbour-map harvest-song home-repair island-life "
    "kitchen-table lamp-post late-train lending-desk local-maps long-view lost-property "
    "market-day mill-race moor-walk morning-post mountain-hut night-bus north-gate old-mill "
    "open-house orchard-days paper-trail parish-news pier-head post-office quiet-hours rain-gauge "
    "reading-room repair-shop river-level road-works sea-wall seed-list shore-birds slow-food "
    "small-press snow-line song-book south-side spring-clean station-clock stone-wall "
    "summer-school swimming-bath tide-table town-hall village-pump"
).split()

LATIN = "déjà vu où naïve façade œuvre garçon Straße über Öl año señor forêt crème brûlée".split()

CYRILLIC = "в городе на реке новый мост старая библиотека вечером письмо зима поезд остров".split()

JAPANESE = "東京 の 図書館 は 朝 から 開いて います 新しい 橋 と 古い 駅 を 見る 手紙 島".split()

CHINESE = "北京 的 图书馆 早上 开门 新 桥 和 旧 车站 一 封 信 冬天 岛屿 火车 花园".split()

WORDS = (
    "the of and a to in is it that was for on with as by at from his her they be this have are "
    "not but had or an were which one all their there been when who will more no if out so said "
    "what up its about into than them can only other new some could time these two may then do "
    "first any my now such like our over man me even most made after also did many before must "
    "through back years where much your way well down should because each just those people how "
    "too little state good very make world still own see men work long get here between both life "
    "being under never day same another know while last might us great old year off come since "
    "against go came right used take three harbour station garden library council bridge market "
    "river village letter window winter summer morning evening history museum ferry railway "
    "printer measure painter orchard kitchen mountain island weather signal engine bicycle "
    "lantern compass archive ledger catalogue chapter paragraph footnote caf&eacute; r&ouml;sti "
    "na&iuml;ve &pound;12 AT&amp;T Smith&nbsp;&amp;&nbsp;Sons &ldquo;quoted&rdquo; &mdash; &hellip;"
).split()
