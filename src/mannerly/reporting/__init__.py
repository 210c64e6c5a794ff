"""A report on a crawl: its figures from the store, as one page for people or as JSON for programs.

    gathering   asks the store: SQL in `queries`, answers in `figures`
    plots       the figures as drawings (SVG), on `scales`
    page        all of it as one HTML file that needs nothing else

What others wrote (URLs, content types, languages, messages) comes into the page through `markup`
only, where everything is text that is not known to be markup.
"""
