"""The same numbers, faster: recurrences taken apart, deletions without reading again, each distinct word once."""
