"""Plain words: fail on phrases that made readers stumble, and suggest what to write instead.

Reads comments, docstrings, messages and names of the package, and the pages people read. Functions return,
raise and compute; models predict; rows are split; people ask and tell. Run by `make lint` and by pre-commit:

    python .ci/words.py                 # everything but NOT_YET
    python .ci/words.py src/arboretum/forest docs/forest.md     # these files and rooms, also those in NOT_YET

An expression that is right English after all is added to `FINE`; a line of code that quotes the words of
others (a message of a peer, a sentence users match on) ends in `# words: quoted`.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Rooms (folders or files) that still have such words. The owner of a room removes its line when it is clean.
NOT_YET: tuple[str, ...] = ()

# Rooms whose prose is plain, but whose names still have such words: of kernels and of the fields they read.
NAMES_NOT_YET = (
    "src/arboretum/engine/predict",
    "src/arboretum/engine/presorted",
    "src/arboretum/engine/second_order",
    "src/arboretum/engine/shap",
    "src/arboretum/predict/engines/bitmask.py",
    "src/arboretum/predict/shap/tabling.py",
)

PEOPLE = (
    r"people|users?|readers?|those|anyone|someone|person|everyone|engineers?|passengers?|patients?"
)
TEXTS = (
    r"messages?|docstrings?|pages?|notes?|theorems?|theory|lectures?|papers?|articles?|books?|chapters?|texts?"
    r"|comments?|warnings?|errors?|documentation|docs|tables?|lines?|headers?|Breiman|Quinlan|Friedman|Freund"
)

# pattern -> what to write
DIALECT = {
    r"\b(?:told|tells?|telling)\b": "return, report, predict, give; `x` is passed; distinguish",
    r"\b(?:ask|asks|asked|asking)\b": "request, call, split on, look up, need",
    r"\b(?:says|said)\b": "return, give, state, set, determine, report",
    r"\b(?:what|how|who) (?:\w+ ){1,3}say\b": "return, predict, answer, set",
    r"\bknows\b|\b(?:do|does|did) not know\b|\bknow (?:of|nothing)\b": (
        "has, supports, recognises; unknown to"
    ),
    r"\b[Ss]o (?:many|few)\b": "n, this many; at most 16 rows",
    r"\b[Nn]obody\b": "no one, nothing, or the noun",
    r"\b[Ll]ikewise\b": "also, the same, in the same way",
    r"\b(?:part|parts|parted|parting) (?:the |these |all |those )?(?:rows|cases|nodes|classes|categories)\b"
    r"|\b(?:are|is|be|were|was) parted\b": "split, partition",
    r"\bput(?:s|ting)? (?:it |them |its \w+ )?by\b": "keep, store, save for later",
    r"\bat work\b": "running, active, in use",
    r"\bmeets\b|\b(?:is|are|was|were|has|have|not|never|been|be|values?) met\b|\bmet (?:so far|at|by|in)\b": (
        "contain, seen, find, reach"
    ),
    r"\b[Ww]ho(?:ever)? (?:is|has|calls|asks|wants|needs|reads|takes|says|knows|does)\b": (
        "name the person or the thing: users who, the caller, models that"
    ),
    r"\b[Tt]ruth (?:and|less) (?:what (?:was|is) )?told\b": "actual and predicted; actual − predicted",
    r"\b[Ww]hat (?:is|was|are|were) (?:made|given|handed|had|to be)\b(?! (?:of|up))": "name the thing",
    r"\bof none\b|\band of (?:two|none|one)\b": "for two classes, …; for none, …",
}

# Right English that the patterns would catch.
FINE = (
    r"\b(?:tell|tells|told|telling)\b(?:[\w ,`{}'-]{0,60}?)\bapart\b",  # distinguish
    r"\bask(?:s|ed|ing)? (?:(?:a|an|one|no|another|yes/no|the)[ ])*(?:\w+ )?questions?\b",
    rf"\b(?:{PEOPLE})\b who (?:is|has|calls|asks|wants|needs|reads|takes|says|knows|does)\b",
    rf"\b(?:{PEOPLE}) (?:\w+ )?(?:tell|ask|say|know|told|asked|said|knows|says)\b",
    rf"\b(?:{TEXTS})\b(?: of [\w ]+)?(?: that)? (?:says|said)\b",
    r"\brequirements? (?:is|are|was|were) met\b|\bconditions? (?:is|are|was|were) met\b",
    r"\bmodel\.says\b|\bsum of the says\b",  # the amounts of say of AdaBoost's rounds
    r"\bthat is to say\b|\beasier said than done\b",
)

# Parts of names between underscores.
NAMES = {
    "told": "given, predicted, seen",
    "tell": "report, notify",
    "tells": "reports",
    "asked": "wanted, requested",
    "asks": "needs, queries",
    "nobody": "no_one, or the noun",
    "parted": "split, partitioned",
    "likewise": "also",
}
OTHERS_NAMES = {"tell"}  # of files: where one stands in it

_PARAMETERS = re.compile(r"``\w+``|\b\w+(?:, \w+)* \(n_")  # names of parameters in docstrings
_DIALECT = re.compile("|".join(f"(?P<w{i}>{pattern})" for i, pattern in enumerate(DIALECT)))
_REMEDIES = list(DIALECT.values())
_FINE = re.compile("|".join(FINE))


def findings(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (line, words found, what to write) of a file."""
    text = path.read_text(encoding="utf-8")
    quoted = {i for i, line in enumerate(text.split("\n"), 1) if line.endswith("# words: quoted")}
    pieces = python_prose(text) if path.suffix == ".py" else [(1, text)]
    seen: set[tuple[int, str]] = set()
    for start, prose in pieces:
        if _is_in(path, NAMES_NOT_YET):
            prose = _PARAMETERS.sub(lambda name: " " * len(name.group()), prose)
        fine = [match.span() for match in _FINE.finditer(prose)]
        for match in _DIALECT.finditer(prose):
            if any(a <= match.start() and match.end() <= b for a, b in fine):
                continue
            line = start + prose.count("\n", 0, match.start())
            if line not in quoted:
                group = match.lastgroup or "w0"
                yield line, " ".join(match.group().split()), _REMEDIES[int(group[1:])]
    if path.suffix == ".py" and not _is_in(path, NAMES_NOT_YET):
        for line, name, remedy in python_names(text):
            if (line, name) not in seen and line not in quoted:
                seen.add((line, name))
                yield line, f"{name} (a name)", remedy


def python_prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield (first line, text) of comments and strings, without what formatted strings compute."""
    middle = getattr(tokenize, "FSTRING_MIDDLE", None)  # from Python 3.12 on
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING, middle):
            prose = token.string
            if token.type == tokenize.STRING and re.match(r"[rRbB]?[fF]", prose):
                prose = re.sub(r"\{[^{}]*\}", "{}", prose)
            yield token.start[0], prose


def python_names(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, name, what to write) of names made of words of `NAMES`."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string not in OTHERS_NAMES:
            for part in re.findall(r"[a-z]+|[A-Z][a-z]*", token.string):
                if part.lower() in NAMES:
                    yield token.start[0], token.string, NAMES[part.lower()]
                    break


def _is_in(path: Path, rooms: tuple[str, ...]) -> bool:
    """Return True if a file is in one of these rooms; "room/" is the files of the room itself."""
    name = path.relative_to(ROOT).as_posix()
    return any(
        name.rpartition("/")[0] == room[:-1]
        if room.endswith("/")
        else name == room or name.startswith(room + "/")
        for room in rooms
    )


def files(places: list[str]) -> Iterator[Path]:
    """Yield the files to read: of these places, or all that are not exempt."""
    if places:
        for place in places:
            path = (ROOT / place).resolve()
            yield from (
                sorted(path.rglob("*.py")) + sorted(path.rglob("*.md")) if path.is_dir() else [path]
            )
        return
    pages = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md"))
    for path in sorted((ROOT / "src").rglob("*.py")) + pages:
        if not _is_in(path, NOT_YET):
            yield path


def main() -> int:
    """Print what was found and return the exit code."""
    places = [place for place in sys.argv[1:] if not place.startswith("-")]
    count = 0
    for path in files(places):
        for line, words, remedy in sorted(findings(path)):
            print(f'{path.relative_to(ROOT)}:{line}: "{words}": {remedy}')
            count += 1
    if count:
        print(f"\n{count} phrases to write plainly (.ci/words.py says how to keep an exception)")
    return count > 0


if __name__ == "__main__":
    raise SystemExit(main())
