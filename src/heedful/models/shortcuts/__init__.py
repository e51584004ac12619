"""The same numbers, sooner: recurrences taken apart, deletions without reading again, each distinct word once."""
