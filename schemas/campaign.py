"""The schema of campaign files: schemas/campaign.json, with the fields of structs as people write them."""

SPACE = "[ \\t]*"


def word_pattern(words):
    """A comma list of these words."""
    one = f"{SPACE}({'|'.join(words)}){SPACE}"
    return f"^{one}(,{one})*$"


def named(word):
    return {"$ref": f"#/$defs/{word}"}


def one_or_list(schema):
    return {"anyOf": [schema, {"type": "array", "minItems": 1, "items": schema}]}


def sweep(field, schema):
    """A field of a trial: one value or several, as a list or in one text."""
    types = schema.get("type", [])
    nullable = "null" in types
    if "enum" in schema:
        words = [word for word in schema["enum"] if word is not None]
        text = {"type": "string", "pattern": word_pattern(words + ["null", "~"] if None in schema["enum"] else words)}
        made = one_or_list({"anyOf": [text, {"type": "null"}]} if None in schema["enum"] else text)
        return {"description": f"One or more of {', '.join(words)}."} | made
    if field.endswith("_bytes"):
        made = named("sizes")
    elif "integer" in types:
        made = named("settingNumbers" if nullable else "numbers")
    elif "boolean" in types:
        made = named("flags")
    else:
        made = named("scalars" if nullable else "words")
    return made | {key: value for key, value in schema.items() if key == "description"}


def plain(field, schema, default):
    """A field of how to measure: one value, times and sizes also with a unit."""
    unit = next((unit for unit in ("seconds", "bytes") if field.endswith(unit)), None)
    if unit is None:
        return schema | {"default": default}
    nullable = "null" in schema["type"]
    made = {"anyOf": [named(unit), {"type": "null"}]} if nullable else named(unit)
    return {key: value for key, value in schema.items() if key == "description"} | made | {"default": default}


def filled_in(node, fields_of):
    """`node` with properties instead of "sweeps of" and "plain fields of" a struct. Other properties there add to a
    field or, with a type of their own, take its place; null leaves it out. `fields_of` gives schemas and defaults."""
    if isinstance(node, list):
        return [filled_in(part, fields_of) for part in node]
    if not isinstance(node, dict):
        return node
    made = {}
    for field, (schema, default) in fields_of(node.get("sweeps of") or node.get("plain fields of")).items():
        made[field] = sweep(field, schema) if "sweeps of" in node else plain(field, schema, default)
    for key, part in node.items():
        if key in ("sweeps of", "plain fields of"):
            continue
        if part is None and key in made:
            del made[key]
        elif key in made and not {"type", "$ref"} & {*part}:
            made[key] = made[key] | part
        else:
            made[key] = filled_in(part, fields_of)
    return made
