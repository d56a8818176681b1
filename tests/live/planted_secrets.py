"""Fifty secrets as users have them, each with the place where it is planted: what test_secrets.py looks for."""

import hashlib
import urllib.parse

CANARY = "canary-" + hashlib.sha256(b"canary").hexdigest()[:16]  # is there on purpose: a search must find it


def secret(name, middle=""):
    digits = hashlib.sha256(name.encode()).hexdigest()
    return f"s{digits[:12]}{middle}{digits[12:24]}"


# Passwords of roles that log in, by what makes them hard to write in a URL.
PASSWORDS = {
    f"password with {kind}": secret(kind, middle)
    for kind, middle in {
        "letters": "",
        "at": "@",
        "slash": "/",
        "colon": ":",
        "question": "?",
        "ampersand": "&",
        "percent": "%41",
        "hash": "#",
        "space": " ",
        "umlaut": "ü",
        "quote": "'",
        "double quote": '"',
        "backslash": "\\",
        "equals": "=",
        "much length": "x" * 150,
    }.items()
}

# Other ways in which a password reaches libpq.
WAYS = {
    name: secret(name)
    for name in (
        "PGPASSWORD",
        "PGPASSFILE",
        "home's .pgpass",
        "passfile parameter",
        "password parameter",
        "escaped password parameter",
        "service file",
        "ASSAY_STORE",
    )
}

# In locations that fail: the message must not repeat them.
FAILING = {
    name: secret(name, middle)
    for name, middle in {
        "wrong password": "",
        "wrong PGPASSWORD": "",
        "no such host": "",
        "no such database": "",
        "broken escape": "%zz",
        "broken port": "",
        "unknown parameter": "",
        "sslpassword": "",
        "bare at": "@",
        "bare slash": "/",
    }.items()
}

# In the environment of whoever plans and works.
VARIABLES = {
    name: secret(name)
    for name in (
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "HF_TOKEN",
        "WANDB_API_KEY",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "DOCKER_PASSWORD",
        "MYSQL_PWD",
        "SLURM_JWT",
        "AZURE_CLIENT_SECRET",
        "VAULT_TOKEN",
        "HTTPS_PROXY",
    )
}

# On command lines that are refused: others can read those already, but nothing may write them down.
TYPED = {name: secret("typed " + name) for name in ("--store URL", "--store=URL", "HF_TOKEN", "CACHE_URL", "DB_PASS")}


def everything():
    groups = {"role": PASSWORDS, "way": WAYS, "failing": FAILING, "variable": VARIABLES, "typed": TYPED}
    return {f"{kind} {name}": text for kind, group in groups.items() for name, text in group.items()}


def halves():
    """What is left of secrets that are cut where libpq takes a character for one of its own."""
    cut = {**PASSWORDS, **FAILING}
    return {f"{side} of {name}": text[begin:end] for name, text in cut.items() for side, begin, end in SIDES}


SIDES = (("begin", 0, 13), ("end", -12, None))


def environment():
    """The variables as they are set."""
    return {
        name: f"http://me:{text}@proxy.invalid:3128" if name == "HTTPS_PROXY" else text
        for name, text in VARIABLES.items()
    }


def failing_locations(url):
    """Contents of store files that lead nowhere, by name; `url(user)` is that of the server."""
    return {
        "wrong password": url(f"guarded:{FAILING['wrong password']}"),
        "no such host": f"postgresql://me:{FAILING['no such host']}@nowhere.invalid/d?connect_timeout=2",
        "no such database": url(f"guarded:{PASSWORDS['password with letters']}").replace("/postgres?", "/nothing?")
        + f"&application_name=x&passfile=/nowhere/{FAILING['no such database']}",
        "broken escape": f"postgresql://me:{FAILING['broken escape']}@localhost/d",
        "broken port": f"postgresql://me:{FAILING['broken port']}@localhost:port/d",
        "unknown parameter": f"postgresql://me@localhost/d?key={FAILING['unknown parameter']}",
        "sslpassword": url("guarded") + f"&sslpassword={FAILING['sslpassword']}",
        "bare at": f"postgresql://me:{FAILING['bare at']}@localhost/d",
        "bare slash": f"postgresql://me:{FAILING['bare slash']}@localhost/d",
    }


def quoted(text):
    return urllib.parse.quote(text, safe="")
