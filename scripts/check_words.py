#!/usr/bin/env python3
"""Finds idioms in the documentation and the sources, and names the term to use instead.

  scripts/check_words.py            README.md, CHANGELOG.md, CONTRIBUTING.md, mkdocs.yml, docs/**/*.md, and the help
                                    texts, messages and comments in kernels, solvers, engine, python and viewer
  scripts/check_words.py PATH...    these files and folders only
  scripts/check_words.py --list     the list of words

Prints "file:line: word -> use instead". Exit code 1 if there are findings, 2 for wrong usage.
In Markdown, code (fenced or inline) and the targets of links are skipped. In C++, only comments and strings are checked;
names in them are skipped: text in backticks, and a string of one word, such as the key of a JSON object.
docs/reference/{command-line,scene,viewer}.md are generated: correct their words in the source, then write them anew.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Endings of C++ and CUDA sources.
SOURCES = {".hpp", ".cpp", ".cu", ".cuh"}

# (what is found, what to write instead)
WORDS = [
    # training and reduction
    (r"so-manieth", "every n-th"),
    (r"learnt|learns|(?:to|has|have|had|been|be|can) learn(?:ed)?|learn from|what it learn\w*", "trained on, training set"),
    (r"shaken|shak(?:e|es|ing) (?:it|them|the (?:robot|body))", "trained on transient trajectories"),
    (r"never (?:seen|saw)", "test set, unseen"),
    (r"states to choose from", "validation set"),
    (r"elements? (?:that )?(?:it|the model) computes with", "reduced integration domain"),
    # bodies and contact
    (r"loose(?:ly)?", "free-floating (body), slack (cable), above the tolerance (residual)"),
    (r"(?:that|which|where|as) nothing holds|held by nothing|nothing holds (?:it|them|the)", "free-floating"),
    (r"among (?:its |the |some )?obstacles", "in contact with obstacles"),
    (r"what presses", "active contacts"),
    (r"(?:pairs?|contacts?|those) that matters?", "candidate contacts"),
    (r"held off", "kept at the contact distance"),
    (r"feels", "the contact force on, the inertial coupling of"),
    (r"giv(?:e|es|ing) (?:nothing|way)", "compliance, yields, is rigid"),
    (r"driven regions?", "region with a prescribed motion"),
    # errors
    (r"astray", "position error, error"),
    (r"wrong by", "error of"),
    (r"(?:%|mm|°|deg) off", "an error of"),
    # numerics
    (r"in vain", "wasted, not converged"),
    (r"patience|patient", "iteration limit"),
    (r"giv(?:e|es|en|ing) up", "not converged, stops"),
    (r"at its last answer", "warm start"),
    (r"(?:is|are|be|was|were|not) sought|sought again", "computed, retried"),
    (r"cannot be had|out of the question", "infeasible"),
    (r"contradict\w*", "conflict, infeasible, inconsistent"),
    (r"portions?", "chunk"),
    # what programs do
    (r"says", "states, reports, prints"),
    (r"believes?", "estimates, assumes"),
    (r"wants", "requires"),
    (r"refus(?:e|es|ed|ing)", "is not supported, is an error, rejects"),
    (r"do(?:es)? not (?:see|notice)|(?:not|nobody|none) notices?", "ignores, is not affected"),
    (r"(?:go|goes|going|went|gone) on(?! top)", "continue"),
    (r"put (?:back|somewhere else)", "reset"),
    (r"resident robots?", "device-resident batch"),
    (r"facts", "summary"),
    (r"without (?:more|the key)|; without it|\bWithout it\b", "default: X, by default"),
    (r"so many (?!that)", "N, this number of"),
    (r"of the time (?:it|they) took", "faster by a factor of"),
    (r"at hand", "available"),
    (r"nobody", "no actuator, no process"),
    (r"mend(?:s|ed|ing)?", "correct, repair"),
    (r"of no use", "not usable"),
]
RULES = [(re.compile(r"(?<![\w-])(?:" + pattern.replace(" ", r"\s+") + r")(?![\w-])", 0 if r"\bWithout" in pattern else re.IGNORECASE), term)
         for pattern, term in WORDS]


def blank(match):
    """Spaces in the place of a match; line breaks stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def markdown(text):
    text = re.sub(r"(?ms)^( *)(```|~~~).*?^\1\2[ \t]*$", blank, text)
    text = re.sub(r"(?s)<!--.*?-->", blank, text)
    text = re.sub(r"`[^`\n]*`", blank, text)
    return re.sub(r"\]\([^)\n]*\)", blank, text)


CPP = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*")|(?P<char>'(?:\\.|[^'\\\n])')""",
                 re.DOTALL)


def source(text):
    kept, last = [], 0
    for match in CPP.finditer(text):
        kept.append(re.sub(r"[^\n]", " ", text[last:match.start()]))
        word = match.group(0)
        include = text.rfind("\n", 0, match.start())
        if match.group("char") or text[include + 1:match.start()].lstrip().startswith("#include"):
            word = blank(match)
        elif match.group("comment"):
            word = re.sub(r"`[^`\n]*`|\"[\w/.-]+\"", blank, word)
        elif re.fullmatch(r'"[\w/.-]+"', word):
            word = blank(match)
        kept.append(word)
        last = match.end()
    kept.append(re.sub(r"[^\n]", " ", text[last:]))
    # A comment runs over several lines: its slashes are not words.
    return re.sub(r"//+[!<]?", blank, "".join(kept))


def findings(name, text):
    readable = source(text) if re.search(r"\.(hpp|cpp|cu|cuh)$", name) else markdown(text) if name.endswith(".md") else text
    found = []
    for rule, term in RULES:
        for match in rule.finditer(readable):
            line = readable.count("\n", 0, match.start()) + 1
            found.append((line, " ".join(match.group(0).split()), term))
    return sorted(set(found))


def documents():
    names = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "mkdocs.yml"]
    names += [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]
    return [name for name in names if (ROOT / name).is_file()]


def sources(folder):
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SOURCES]


def given(argument):
    path = pathlib.Path(argument).resolve()
    name = str(path.relative_to(ROOT))
    return sources(name) + [str(page.relative_to(ROOT)) for page in sorted(path.rglob("*.md"))] if path.is_dir() else [name]


def main(arguments):
    if "-h" in arguments or "--help" in arguments:
        print(__doc__.strip())
        return 0
    if "--list" in arguments:
        for pattern, term in WORDS:
            print(f"{pattern}  ->  {term}")
        return 0
    unknown = [a for a in arguments if a.startswith("-")]
    if unknown:
        print(f"check_words.py: unknown option '{unknown[0]}' (try --help)", file=sys.stderr)
        return 2
    names = [name for a in arguments for name in given(a)]
    if not arguments:
        of_folders = [name for folder in ("kernels", "solvers", "engine", "python", "viewer") for name in sources(folder)]
        of_package = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "python").rglob("*.py"))]
        names = documents() + of_folders + of_package
    count = 0
    for name in names:
        for line, word, term in findings(name, (ROOT / name).read_text(encoding="utf-8")):
            print(f"{name}:{line}: {word} -> {term}")
            count += 1
    print(f"check_words.py: {count} findings in {len(names)} files" if count else
          f"check_words.py: {len(names)} files, nothing found")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
