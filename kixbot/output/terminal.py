"""Text that is safe on a terminal, in a log and in a review: nothing in it moves the cursor or reorders what is read.

Escaped are C0 and C1 controls, ESC and DEL, bidirectional controls, line and paragraph separators, and lone
surrogates (which no terminal and no file takes). They appear as `\\x1b` or `\\u202e`, so that a reader sees them.
"""

import re

# U+061C, U+200E, U+200F, U+202A–U+202E and U+2066–U+2069 are Unicode's bidirectional controls (UAX #9);
# U+2028 and U+2029 break lines in many viewers; U+FEFF hides inside words.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str) -> str:
    """One line of safe text: every unsafe character, newline and tab too, becomes a visible escape."""
    return _UNSAFE.sub(_visible, text)


def escape_block(text: str) -> str:
    """Several lines of safe text: as `escape`, but newlines stay."""
    return "\n".join(escape(line) for line in text.split("\n"))


def escape_json(text: str) -> str:
    """A JSON text with what `escape` escapes written as `\\u202e`: the same document, which steers nothing."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] == "\n" else f"\\u{ord(found[0]):04x}", text)


def _visible(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    return _NAMED.get(character) or (f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}")
