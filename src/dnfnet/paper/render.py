"""A table as Markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dnfnet.paper.store import write_atomically

_LATEX = {
    "±": r"$\pm$",
    "−": "$-$",
    "%": r"\%",
    "_": r"\_",
    "&": r"\&",
    "#": r"\#",
    "×": r"$\times$",
    "†": r"$\dagger$",
}


@dataclass(frozen=True)
class Table:
    """A table with a caption, a header, rows of text and notes below."""

    name: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """Return the table in Markdown, its columns aligned so that it reads well as text too."""
        lines = [list(self.header), *(list(row) for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.header))]
        padded = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        rule = " | ".join("-" * width for width in widths)
        body = "\n".join(f"| {line} |" for line in [padded[0], rule, *padded[1:]])
        return "\n\n".join([f"**{self.caption}**", body, *self.notes]) + "\n"

    def latex(self) -> str:
        """Return the table in LaTeX, for the package booktabs."""
        rows = [" & ".join(map(_escape, row)) + r" \\" for row in self.rows]
        lines = [
            r"\begin{table}[ht]",
            r"\centering",
            rf"\caption{{{_escape(self.caption)}}}",
            rf"\begin{{tabular}}{{{'l' * len(self.header)}}}",
            r"\toprule",
            " & ".join(map(_escape, self.header)) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par {{\footnotesize {_escape(note)}}}" for note in self.notes),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return header and rows as comma-separated values."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([self.header, *self.rows])
        return text.getvalue()

    def write(self, folder: Path) -> list[Path]:
        """Write the three forms to ``folder``; returns the files."""
        forms = {".md": self.markdown(), ".tex": self.latex(), ".csv": self.csv()}
        files = [folder / f"{self.name}{ending}" for ending in forms]
        for file, text in zip(files, forms.values(), strict=True):
            write_atomically(file, text)
        return files


def _escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
