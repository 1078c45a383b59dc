"""Writes rxlab/results.py and rxlab/commands.py: from the JSON Schemas of docs/schema, and from commands.json, which is
what `rxlab schema --commands` prints."""

import json
import keyword
import sys
import textwrap
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
SCHEMAS = HERE.parent / "docs" / "schema"

# The commands that the module has, by the words that call them, and the functions' names. --all of experiments has a
# function of its own, because what comes back is another type.
FUNCTIONS = {
    "compare": "compare",
    "advise": "advise",
    "advise flows": "advise_flows",
    "trace": "trace",
    "flow": "flow",
    "experiment run": "experiment",
    "experiment list": "experiment_list",
    "profile show": "profile",
    "profile list": "profile_list",
    "profile check": "profile_check",
    "profile explain": "profile_explain",
    "profile detect": "profile_detect",
}
ALL = ("experiment run", "experiment_all")
# What one object of a command's answer is called.
RESULTS = {
    "compare": "Comparison",
    "advise": "Advice",
    "advise flows": "FlowAdvice",
    "trace": "Trace",
    "flow": "FlowRules",
    "experiment run": "Experiment",
    "experiment list": "ExperimentEntry",
    "profile show": "ServerProfile",
    "profile list": "ProfileEntry",
    "profile check": "ProfileCheck",
    "profile explain": "ProfileField",
    "profile detect": "DetectedProfile",
}
HEAD = '"""{}\n\nWritten by tools/generate.py: what is changed here by hand is lost."""\n\n'
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class Types:
    """Classes for the objects of schemas."""

    def __init__(self):
        self.common = json.loads((SCHEMAS / "common.json").read_text())["$defs"]
        self.classes: dict[str, str] = {}

    def result(self, command: str) -> tuple[str, bool]:
        """The class of what a command writes, and whether it writes an array of them."""
        schema = json.loads((SCHEMAS / f"{command.replace(' ', '-')}.json").read_text())
        self.own = schema.get("$defs", {})
        if "oneOf" in schema:
            schema = {"description": schema["description"]} | self.resolved(schema["oneOf"][0])
        many = schema.get("type") == "array"
        self.object(schema["items"] if many else schema, RESULTS[command], "Result")
        return RESULTS[command], many

    def part(self, name: str) -> dict:
        """No part of a command has the name of a common one."""
        return self.own[name] if name in self.own else self.common[name]

    def resolved(self, schema: dict) -> dict:
        """The schema without references, each with what stands beside it."""
        if "$ref" not in schema:
            return schema
        base = self.resolved(self.part(schema["$ref"].rsplit("/", 1)[1]))
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        merged = base | beside
        if "properties" in base and "properties" in beside:
            merged["properties"] = base["properties"] | beside["properties"]
            merged["required"] = base.get("required", []) + beside.get("required", [])
        return merged

    def type(self, schema: dict, name: str) -> str:
        """The Python type of a schema; `name` is for a class that it needs."""
        if "$ref" in schema and "properties" not in schema:
            last = schema["$ref"].rsplit("/", 1)[1]
            target = self.part(last)
            shared = "properties" in target or "oneOf" in target
            return self.type(target, camel(last) if shared else name)
        schema = self.resolved(schema)
        for key in ("oneOf", "anyOf"):
            if key in schema:
                return self.union(schema, schema[key], name)
        if "const" in schema:
            return PLAIN[{int: "integer", str: "string"}[type(schema["const"])]]
        if "enum" in schema:
            plain = all(isinstance(value, str) for value in schema["enum"])
            return f"Literal[{', '.join(map(json.dumps, schema['enum']))}]" if plain else "str | bool"
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return " | ".join(self.kind(schema, kind, name) for kind in kinds)

    def kind(self, schema: dict, kind: str, name: str) -> str:
        if kind == "array":
            return f"list[{self.type(schema['items'], singular(name))}]" if "items" in schema else "list[Any]"
        if kind != "object":
            return PLAIN[kind]
        if "properties" in schema:
            return self.object(schema, name, "Part")
        values = schema.get("additionalProperties")
        return f"dict[str, {self.type(values, singular(name)) if isinstance(values, dict) else 'Any'}]"

    def union(self, schema: dict, parts: list, name: str) -> str:
        null = {"type": "null"} in parts
        parts = [self.resolved(part) for part in parts if part != {"type": "null"}]
        if len(parts) > 1 and all("properties" in part for part in parts):
            # Objects that differ in what they have are one class: what some lack may be absent.
            properties = {key: value for part in parts for key, value in part["properties"].items()}
            required = set.intersection(*(set(part["required"]) for part in parts))
            merged = {"description": schema.get("description", ""), "properties": properties, "required": list(required)}
            kinds = [self.object(merged, name, "Part")]
        else:
            kinds = [self.type(part, name) for part in parts]
        kinds += ["None"] if null else []
        return " | ".join(dict.fromkeys(kinds))

    def object(self, schema: dict, name: str, base: str) -> str:
        """Writes a class, and returns its name."""
        # What a shared part has within it is named after that.
        within = camel(schema["$ref"].rsplit("/", 1)[1]) if "$ref" in schema else name
        schema = self.resolved(schema)
        required = schema.get("required", [])
        fields, told = [], []
        for key, inner in schema["properties"].items():
            kind = self.type(inner, within + camel(key))
            if key not in required and "None" not in kind.split(" | "):
                kind += " | None"
            field = key + "_" if keyword.iskeyword(key) else key
            value = "" if key in required else " = None"
            if field != key:
                value = f' = field(name="{key}")' if key in required else f' = field(name="{key}", default=None)'
            fields.append(f"    {field}: {kind}{value}")
            about = inner.get("description") or self.resolved(inner).get("description", "")
            told.append(wrapped(f"{field}: {about}", "        ", "            "))
        about = wrapped(schema.get("description", ""), "    ").strip()
        text = f'class {name}({base}, frozen=True, kw_only=True):\n    """{about}\n\n    Attributes:\n'
        text += "\n".join(told) + '\n    """\n\n' + "\n".join(fields) + "\n"
        if self.classes.setdefault(name, text) != text:
            raise SystemExit(f"two classes {name}:\n{text}\n{self.classes[name]}")
        return name

    def text(self) -> str:
        head = HEAD.format("What commands answer: an object for each object of their JSON.")
        head += "from __future__ import annotations\n\nfrom typing import Any, Literal\n\nfrom msgspec import field\n\n"
        return head + "from rxlab.result import Part, Result\n\n\n" + "\n\n".join(self.classes.values())


def camel(text: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in text.split("_"))


def singular(name: str) -> str:
    if name.endswith("Series"):
        return name
    return name[:-3] + "y" if name.endswith("ies") else name[:-1] if name.endswith("s") and not name.endswith("ss") else name + "Item"


def wrapped(text: str, first: str, rest: str | None = None) -> str:
    text = " ".join((text or "").split()).replace("\\", "\\\\")
    return textwrap.fill(text, 112, initial_indent=first, subsequent_indent=first if rest is None else rest,
                         break_long_words=False, break_on_hyphens=False)


def annotated(option: dict) -> str:
    kinds = {"integer": "int", "number": "float", "path": "str | PathLike[str]", "text": "str | float", None: "bool"}
    kind = kinds[option["value"]]
    if option["many"]:
        # One alone may stand for a list of one, and words may be joined already.
        return f"Sequence[{kind.removesuffix(' | float')}] | str"
    return kind


def function(words: str, name: str, command: dict, returns: tuple[str, bool], without: tuple[str, ...] = (), extra: str = "") -> str:
    """A function that calls one command."""
    options = [option for option in command["options"] if option["flag"] not in without]
    places = [option for option in options if option["flag"] is None]
    named = [option for option in options if option["flag"] is not None]
    taken = [f"    {o['name']}: {annotated(o)}" + ("" if o["required"] else " | None = None") + "," for o in places]
    taken.append("    *,")
    for o in named:
        kind = annotated(o)
        absent = "" if o["required"] else " = False" if kind == "bool" else " | None = None"
        taken.append(f"    {o['name']}: {kind}{absent},")
    taken += ["    threads: int | None = None,", "    progress: Progress = False,"]
    told = [wrapped(f"{o['name']}: {said(o)}", "        ", "            ") for o in places + named]
    told.append("        threads: CPUs that it may take [default: all]. The answer does not depend on it.")
    told.append("        progress: True for a bar, or a function that is called with what is done, how much, and of how much.")
    kind, many = returns
    answer = f"Results[{kind}]" if many else kind
    given = "{" + ", ".join(f'"{o["name"]}": {o["name"]}' for o in options) + "}"
    given = textwrap.fill(given, 112, initial_indent="        ", subsequent_indent="        ", break_on_hyphens=False)
    asks = "ask_all" if many else "ask"
    body = f'    return {asks}(\n        "{words}{extra}",\n{given},\n        {kind}, threads, progress,\n    )\n'
    about = (command["about"] or "").rstrip(".")
    return (f"def {name}(\n" + "\n".join(taken) + f'\n) -> {answer}:\n    """{about}.\n\n    `rxlab {words}` with the same options.\n\n'
            "    Args:\n" + "\n".join(told) + '\n    """\n' + body)


def said(option: dict) -> str:
    text = option["help"] or ""
    default = ", ".join(option["default"])
    return text + (f" [default: {default}]" if option["value"] and default else "")


def generate() -> dict[str, str]:
    """Each file's text, by its name."""
    commands = {" ".join(c["words"]): c for c in json.loads((HERE / "commands.json").read_text())["commands"]}
    types, functions = Types(), []
    for words, name in FUNCTIONS.items():
        returns = types.result(words)
        without = ("all",) if words == ALL[0] else ()
        functions.append(function(words, name, commands[words], returns, without))
        if words == ALL[0]:
            kind = (returns[0], True)
            functions.append(function(words, ALL[1], commands[words], kind, ("all", "pcap"), " --all"))
    names = sorted(RESULTS.values())
    head = HEAD.format("A function for each command.") + "from collections.abc import Sequence\nfrom os import PathLike\n\n"
    head += "from rxlab.call import Progress, ask, ask_all\nfrom rxlab.result import Results\n"
    head += f"from rxlab.results import (\n    {', '.join(names[:6])},\n    {', '.join(names[6:])},\n)\n\n"
    listed = ", ".join(f'"{name}"' for name in sorted([*FUNCTIONS.values(), ALL[1]]))
    head += textwrap.fill(f"__all__ = [{listed}]", 112, subsequent_indent="    ") + "\n\n\n"
    return {"results.py": types.text(), "commands.py": head + "\n\n".join(functions)}


def main() -> int:
    wrong = 0
    for name, text in generate().items():
        path = HERE / "rxlab" / name
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            print(f"{path} is not what tools/generate.py writes: run make python-api", file=sys.stderr)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
