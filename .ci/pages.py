#!/usr/bin/env python3
"""The programs and commands of the pages, as they are written there.

    pages.py check STAGE       prints blocks and commands that STAGE does not name, and names of it that are none
    pages.py show BLOCK        a block's text
    pages.py count BLOCK       how many commands a block of the shell has
    pages.py command BLOCK N   the N-th of them, behind the variables that the block sets before it
    pages.py variables BLOCK   the variables that a block sets
    pages.py unit BLOCK         the environment and the command of a unit of systemd, for a shell
    pages.py alike BLOCK FILE  whether each line that the block shows as output is in FILE, but for numbers

A block is PAGE#ANCHOR, the first behind a heading, or PAGE#ANCHOR/N. Figures are none: Mermaid, and text with lines and arrows.
Code in a sentence or a table that begins with ./ is a command too, unless it has a placeholder. Commands are split where a
terminal would take the next one: at the end of a line that has no backslash, and behind &.
"""

import glob
import os
import re
import shlex
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Records of decisions say what was; the plan says what is not built.
LEFT_OUT = {"docs/plan.md"}
FENCE = re.compile(r" *```(\S*)\s*$")
HEADING = re.compile(r"#{1,6} (.*)")
FIGURE = re.compile("[─│┌┐└┘├┤═║▶◀▲▼]")
CODE = re.compile(r"`([^`]+)`")
INLINE = re.compile(r"\./\S+ .*")
PLACEHOLDER = re.compile(r"…|\[|\b[A-Z]{3,}\b|\bA\.\.B\b")
NAME = re.compile(r"[\w/.-]+\.md#[\w/-]+")
VARIABLE = re.compile(r"[A-Z_]+=", re.ASCII)
# A checksum, which has digits and letters.
HEX = "(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,16}"
SHELL = {"", "sh", "bash", "console"}


class Block:
    """A fenced block, and where it stands."""

    def __init__(self, name, language, line):
        self.name, self.language, self.line = name, language, line
        self.lines = []

    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def is_session(self):
        """Whether it shows commands behind a prompt, and what they print."""
        return bool(self.lines) and self.lines[0].startswith("$ ")

    def shown(self):
        """The lines that its commands print."""
        return [line for line in self.lines if not line.startswith("$ ")]

    def script(self):
        if not self.is_session():
            return self.text()
        return "".join(line[2:] + "\n" for line in self.lines if line.startswith("$ "))

    def commands(self):
        """Pairs of the variables set so far and a command."""
        variables, found = "", []
        for command in split(self.script()):
            if is_variable(command):
                variables += command + "\n"
            else:
                found.append((variables, command))
        return variables, found


def is_variable(command):
    """Whether it sets variables, and runs nothing."""
    words = shlex.split(command)
    if words[0] == "export":
        words = words[1:]
    return all(VARIABLE.match(word) for word in words)


def unit(text):
    """What a unit of systemd sets and starts."""
    lines = []
    for line in re.sub(r"\\\n", " ", text).split("\n"):
        key, _, value = line.partition("=")
        if key == "Environment":
            lines += ["export " + shlex.quote(word) for word in shlex.split(value)]
        elif key == "ExecStart":
            lines.append("exec " + shlex.join(shlex.split(value)))
    return "\n".join(lines) + "\n"


def split(script):
    """The commands of a script of the shell, without comments."""
    found, command, quote, depth, i = [], "", "", 0, 0
    while i < len(script):
        char = script[i]
        if char == "\\" and quote != "'":
            command += script[i : i + 2]
            i += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and (not command or command[-1].isspace()):
            i = script.index("\n", i)
            continue
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "&" and script[i + 1 : i + 2] == "&":
            command += "&&"
            i += 2
            continue
        elif depth == 0 and (char == "\n" or (char == "&" and not command.endswith(">"))):
            found.append(command.strip())
            command = ""
            i += 1
            continue
        command += char
        i += 1
    return [each for each in found + [command.strip()] if each]


def pages():
    paths = [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    paths += sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))
    for path in paths:
        page = os.path.relpath(path, ROOT)
        if page not in LEFT_OUT:
            with open(path, encoding="utf-8") as file:
                yield page, file.read().split("\n")


def blocks():
    """All blocks but figures."""
    found, numbers = [], {}
    for page, lines in pages():
        anchor, block = "", None
        for number, line in enumerate(lines, 1):
            fence, heading = FENCE.match(line), HEADING.match(line)
            if block is not None:
                if fence:
                    if not is_figure(block):
                        numbers[block.name] = numbers.get(block.name, 0) + 1
                        if numbers[block.name] > 1:
                            block.name += "/%d" % numbers[block.name]
                        found.append(block)
                    block = None
                else:
                    block.lines.append(line)
            elif fence:
                block = Block("%s#%s" % (page, anchor), fence.group(1), "%s:%d" % (page, number))
            elif heading:
                anchor = re.sub(r"[^\w -]", "", heading.group(1).lower()).replace(" ", "-")
    return found


def is_figure(block):
    return block.language == "mermaid" or (not block.language and bool(FIGURE.search(block.text())))


def inline_commands():
    """Commands in sentences and tables, and where each stands first."""
    found = {}
    for page, lines in pages():
        inside = False
        for number, line in enumerate(lines, 1):
            if FENCE.match(line):
                inside = not inside
            elif not inside:
                for command in filter(INLINE.fullmatch, CODE.findall(line)):
                    if not PLACEHOLDER.search(command):
                        found.setdefault(command, "%s:%d" % (page, number))
    return found


def block_of(name):
    for block in blocks():
        if block.name == name:
            return block
    sys.exit("pages: no block %s" % name)


def check(stage):
    """What is in the pages and not in the stage, and the other way round; a reason that names a stage names one that is."""
    with open(stage, encoding="utf-8") as file:
        text = file.read()
    complaints = []
    names = {block.name: block for block in blocks()}
    named = set(NAME.findall(text))
    for name, block in names.items():
        if name not in named:
            first = block.lines[0] if block.lines else ""
            complaints.append("%s: no case of %s, and no reason for none: %s" % (block.line, name, first))
    complaints += ["%s: no block %s" % (stage, name) for name in sorted(named - set(names))]
    inline = inline_commands()
    for command, place in inline.items():
        if "`%s`" % command not in text and "'%s'" % command not in text:
            complaints.append("%s: no case of `%s`, and no reason for none" % (place, command))
    for command in re.findall(r"^`(.*?)`", text, re.MULTILINE):
        if command not in inline:
            complaints.append("%s: no page has `%s`" % (stage, command))
    for other in sorted(set(re.findall(r"\bstage (\d\d-[\w-]+)", text))):
        if not os.path.exists(os.path.join(ROOT, ".ci", "stages", other + ".sh")):
            complaints.append("%s: no stage %s" % (stage, other))
    for complaint in complaints:
        print(complaint)
    return not complaints


def alike(block, path):
    """A number, also one with commas or of hexadecimal digits, is any number. A process that a line begins with, such as
    [subscriber 2], is any process: what all say is shown once, of the first."""
    with open(path, encoding="utf-8") as file:
        actual = [line.rstrip("\n") for line in file]
    missing = []
    for line in block.shown() if block.is_session() else block.lines:
        process, rest = re.fullmatch(r"(\[[a-z]+(?: \d+)?\] )?(.*)", line.strip()).groups()
        pattern = r"\[[a-z]+( \d+)?\] " if process else ""
        for part in re.split(r"(\s+|\b%s\b|\d[\d,.]*)" % HEX, rest):
            if re.fullmatch(r"\s+", part):
                pattern += r"\s+"
            elif re.fullmatch(HEX, part):
                pattern += "[0-9a-f]{8,16}"
            elif re.fullmatch(r"\d[\d,.]*", part):
                pattern += r"\d[\d,.]*"
            else:
                pattern += re.escape(part)
        if not any(re.fullmatch(r"\s*%s\s*" % pattern, each) for each in actual):
            missing.append(line)
    for line in missing:
        print("%s shows this line, and no such line was printed: %s" % (block.line, line))
    return not missing


def main(words):
    if words[:1] == ["check"] and len(words) == 2:
        return 0 if check(words[1]) else 1
    if len(words) >= 2 and words[0] in ("show", "count", "command", "variables", "unit", "alike"):
        block = block_of(words[1])
        if words[0] == "show":
            sys.stdout.write(block.text())
        elif words[0] == "unit":
            sys.stdout.write(unit(block.text()))
        elif words[0] == "alike":
            return 0 if alike(block, words[2]) else 1
        elif block.language not in SHELL:
            sys.exit("pages: %s is in %s" % (block.name, block.language))
        elif words[0] == "count":
            print(len(block.commands()[1]))
        elif words[0] == "variables":
            sys.stdout.write(block.commands()[0])
        else:
            found = block.commands()[1]
            number = int(words[2])
            if not 1 <= number <= len(found):
                sys.exit("pages: %s has %d commands" % (block.name, len(found)))
            sys.stdout.write("".join(found[number - 1]) + "\n")
        return 0
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
