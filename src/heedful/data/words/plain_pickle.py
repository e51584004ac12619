"""Read a pickle of plain data without running it: nothing is imported, and nothing is called."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

_SET = b"__builtin__\nset\n"
_NUMBER, _STRING, _KEEP, _RECALL, _RECALL_SHORT = 0x47, 0x55, 0x72, 0x6A, 0x68


def read_plain_pickle(content: bytes) -> Any:
    """Read dictionaries, lists, tuples, sets, strings and numbers of a pickle of version 2.

    Any other instruction is a ValueError.

    >>> read_plain_pickle(b"\\x80\\x02}U\\x01aG?\\xf0" + bytes(6) + b"\\x86\\x85.")
    Traceback (most recent call last):
    ValueError: what is left is not one thing
    >>> read_plain_pickle(b"\\x80\\x02}(U\\x01aG?\\xf0" + bytes(6) + b"u.")
    {'a': 1.0}
    """
    return _Machine(content).run()


class _Machine:
    def __init__(self, content: bytes) -> None:
        if content[:2] != b"\x80\x02":
            raise ValueError("it is no pickle of version 2")
        self.content, self.at = content, 2
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memory: dict[int, Any] = {}
        self.rare: dict[int, Callable[[], None]] = {
            0x28: lambda: self.marks.append(len(self.stack)),
            0x75: self._fill_dictionary,
            0x65: self._fill_list,
            0x7D: lambda: self.stack.append({}),
            0x5D: lambda: self.stack.append([]),
            0x71: self._keep_short,
            0x85: lambda: self._tuple(1),
            0x86: lambda: self._tuple(2),
            0x87: lambda: self._tuple(3),
            0x63: self._name,
            0x52: self._make_set,
        }

    def run(self) -> Any:
        """Carry out instructions until the last; those that are frequent stand here, because there are a million."""
        content, stack, memory, unpack = self.content, self.stack, self.memory, struct.unpack_from
        while (code := content[self.at]) != 0x2E:
            self.at += 1
            if code == _NUMBER:
                stack.append(unpack(">d", content, self.at)[0])
                self.at += 8
            elif code == _KEEP:
                memory[unpack("<I", content, self.at)[0]] = stack[-1]
                self.at += 4
            elif code == _RECALL_SHORT:
                stack.append(memory[content[self.at]])
                self.at += 1
            elif code == _STRING:
                length = content[self.at]
                stack.append(content[self.at + 1 : self.at + 1 + length].decode("utf-8"))
                self.at += 1 + length
            elif code == _RECALL:
                stack.append(memory[unpack("<I", content, self.at)[0]])
                self.at += 4
            elif code in self.rare:
                self.rare[code]()
            else:
                raise ValueError(f"instruction {code:#x} is not plain data")
        if len(stack) != 1:
            raise ValueError("what is left is not one thing")
        return stack[0]

    def _since_mark(self) -> list[Any]:
        first = self.marks.pop()
        items = self.stack[first:]
        del self.stack[first:]
        return items

    def _fill_dictionary(self) -> None:
        items = self._since_mark()
        self.stack[-1].update(zip(items[::2], items[1::2], strict=True))

    def _fill_list(self) -> None:
        items = self._since_mark()
        self.stack[-1].extend(items)

    def _keep_short(self) -> None:
        self.memory[self.content[self.at]] = self.stack[-1]
        self.at += 1

    def _tuple(self, size: int) -> None:
        self.stack[-size:] = [tuple(self.stack[-size:])]

    def _name(self) -> None:
        """Know one name, that of sets."""
        if not self.content.startswith(_SET, self.at):
            raise ValueError("it names something to import")
        self.stack.append(set)
        self.at += len(_SET)

    def _make_set(self) -> None:
        what, arguments = self.stack[-2:]
        if what is not set or not isinstance(arguments, tuple):
            raise ValueError("it calls something")
        self.stack[-2:] = [set(arguments[0])]
