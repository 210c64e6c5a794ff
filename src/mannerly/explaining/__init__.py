"""Why was this URL not crawled? Everything a crawl knows of one URL, and what follows from it.

- `explain(config, text)`: ask the rules, the frontier and the store (`asking`);
- `Story`: what they said, plain values (`story`);
- `Explanation`: the answer in one sentence, the reasons in more, and a document for programs
  (`words`, a pure function of the story).
"""

from mannerly.explaining.asking import explain
from mannerly.explaining.story import Story
from mannerly.explaining.words import Explanation, explanation

__all__ = ["Explanation", "Story", "explain", "explanation"]
