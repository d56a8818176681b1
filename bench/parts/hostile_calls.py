"""Calls of somebody who means harm to a store on a PostgreSQL server: every kind on every target, in one fixed order.

A call is SQL, made when its turn comes: it aims at runs that honest agents hold at that moment. What the caller could
not know (keys of runs, ids of trials) it is given.
"""

import dataclasses
import json
import random
import typing

TABLES = (
    "store",
    "content",
    "campaign",
    "trial",
    "campaign_trial",
    "run",
    "record",
    "platform",
    "artifact",
    "progress",
    "access",
    "writer",
    "receipt",
    "up",
)
FUNCTIONS = {
    "works_on": "1",
    "found_campaign": "'x'",
    "holds": "'x', 'y', '{1}'",
    "free_leases": "1, '', '{}', '{}'",
    "put_receipts": "'x', '{1}'",
    "is_object": "'{}'",
    "link_of": "'', ''",
    "allow": "'mallory', 'agent', ''",
    "forbid": "'honest'",
    "grant_rights": "'mallory', 'reader'",
    "grant_all_rights": "",
    "up_since_ms": "",
    "now_ms": "",
    "progress_slot": "",
}
FUNCTION_NAMES = ("works_on", "now_ms", "holds", "put_receipts", "is_object", "record_hash")


def text(value):
    """A literal of SQL."""
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


@dataclasses.dataclass
class Run:
    """What a result must name."""

    campaign: str  # id
    run: int
    trial: str
    index: int
    attempt: int


@dataclasses.dataclass
class Scene:
    """What there is at the moment of a call."""

    runs: dict  # name -> Run
    claims: dict  # name -> claim, None for NULL
    own: Run  # a run that the caller holds, with claims["own"]
    pair: tuple  # runs of a pair that the caller holds, with claims["of the pair"]
    sample: dict  # a row that complete() takes
    platform: str  # id of one that an honest agent described
    victim: dict  # an honest agent: host, boot_id, pid, ticks


@dataclasses.dataclass
class Call:
    group: str
    name: str
    make: typing.Callable  # Scene -> SQL
    stays: bool = False  # its session is still there when readers are tried


def row(scene, of, raw=None, **other):
    """A row for complete(), as JSON text; `raw` has members as JSON text of their own, which may be broken."""
    named = {"run": of.run, "trial": of.trial, "index": of.index, "attempt": of.attempt}
    members = {name: json.dumps(value) for name, value in {**scene.sample, **named, **other}.items()}
    members.update(raw or {})
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in members.items()) + "}"


def complete(run, claim, rows, again="0", contents="[]", runs=None):
    keys = runs if runs is not None else [run.run]
    return (
        f"SELECT assay.complete({text(run.campaign)}, {text(claim)}, ARRAY{keys}::bigint[], {again}, "
        f"{text(rows)}, {text(contents)});"
    )


def lease(campaign, claim, seconds="60", host="'h'", boot="'b'", dead="'{}', '{}'"):
    return (
        f"SELECT * FROM assay.lease({text(campaign)}, {text(claim)}, {seconds}, {host}, {boot}, 1, 1, 'n', {dead}, "
        "NULL, NULL, NULL, NULL);"
    )


CLAIMS = (
    "own",
    "spent",
    "spent by another",
    "read by a reader",
    "guessed",
    "zeros",
    "empty",
    "none",
    "of old",
    "shouted",
)
TARGETS = ("held by another", "done by another", "ready", "of a forbidden campaign", "under a false name", "unknown")


def foreign_results():
    """Results for runs that are not the caller's."""
    for claim in CLAIMS:
        for target in TARGETS:

            def make(scene, claim=claim, target=target):
                run = scene.runs[target]
                return complete(run, scene.claims[claim], f"[{row(scene, run)}]")

            yield Call("results for runs of others", f"claim {claim}, run {target}", make)


def foreign_leases():
    for claim in ("own", "spent by another", "read by a reader", "guessed", "none"):
        for target in ("held by another", "done by another", "of a forbidden campaign"):
            for function, rest in (("renew", ", 60"), ("give_back", "")):

                def make(scene, claim=claim, target=target, function=function, rest=rest):
                    run = scene.runs[target]
                    words = f"{text(run.campaign)}, {text(scene.claims[claim])}, ARRAY[{run.run}]::bigint[]"
                    return f"SELECT assay.{function}({words}{rest});"

                yield Call("leases of others", f"{function}, claim {claim}, run {target}", make)

    def dead(scene):
        victim = scene.victim
        listed = f"ARRAY[{victim['pid']}]::bigint[], ARRAY[{victim['ticks']}]::bigint[]"
        campaign = scene.runs["held by another"].campaign
        # It may take a ready run, and must not take the victim's: for so long that it does not run out meanwhile.
        return lease(campaign, scene.claims["guessed"], "36000", boot=text(victim["boot_id"]), dead=listed)

    yield Call("leases of others", "a live owner is said to be dead", dead)
    yield Call(
        "leases of others",
        "of a forbidden campaign",
        lambda scene: lease(scene.runs["of a forbidden campaign"].campaign, scene.claims["guessed"]),
    )
    for seconds in ("'NaN'", "'Infinity'", "-1", "1e18", "86401", "NULL"):
        yield Call(
            "leases of others",
            f"for {seconds} seconds",
            lambda scene, seconds=seconds: lease(scene.own.campaign, scene.claims["guessed"], seconds),
        )
    for name in ("zeros ", "", "X" * 32, "0" * 33):
        yield Call("leases of others", f"claim '{name}'", lambda scene, name=name: lease(scene.own.campaign, name))
    yield Call(
        "leases of others",
        "a name of 1 MB",
        lambda scene: lease(scene.own.campaign, scene.claims["guessed"], host="repeat('x', 1000000)"),
    )


def false_names():
    """Results for a run of the caller's own that are not those of the run."""

    def own(name, make):
        return Call("results that are not those of the run", name, make)

    for field, value in (("trial", "0" * 32), ("index", 77), ("attempt", 9), ("run", -1)):
        yield own(
            f"another {field}",
            lambda s, f=field, v=value: complete(s.own, s.claims["own"], f"[{row(s, s.own, **{f: v})}]"),
        )
    for again in ("2", "-1", "NULL"):
        yield own(
            f"again is {again}", lambda s, again=again: complete(s.own, s.claims["own"], f"[{row(s, s.own)}]", again)
        )
    yield own("no record", lambda s: complete(s.own, s.claims["own"], "[]"))
    yield own("two records", lambda s: complete(s.own, s.claims["own"], f"[{row(s, s.own)}, {row(s, s.own)}]"))
    yield own(
        "the run twice", lambda s: complete(s.own, s.claims["own"], f"[{row(s, s.own)}]", runs=[s.own.run, s.own.run])
    )
    for target in TARGETS:
        yield own(
            f"with a record for a run {target}",
            lambda s, target=target: complete(
                s.own,
                s.claims["own"],
                f"[{row(s, s.own)}, {row(s, s.runs[target])}]",
                runs=[s.own.run, s.runs[target].run],
            ),
        )
        yield own(
            f"for a run {target} in its place",
            lambda s, target=target: complete(s.own, s.claims["own"], f"[{row(s, s.runs[target])}]"),
        )
    yield own("the whole is an object", lambda s: complete(s.own, s.claims["own"], row(s, s.own)))
    for again in ("0", "1"):
        yield own(
            f"half a pair, again {again}",
            lambda s, again=again: complete(s.pair[0], s.claims["of the pair"], f"[{row(s, s.pair[0])}]", again),
        )
    for side in (0, 1):
        yield own(
            f"half a pair given back, side {'ab'[side]}",
            lambda s, side=side: (
                f"SELECT assay.give_back({text(s.pair[side].campaign)}, {text(s.claims['of the pair'])}, "
                f"ARRAY[{s.pair[side].run}]::bigint[]);"
            ),
        )


NESTED = "[" * 200_000
BROKEN = {
    "no JSON": "{",
    "a list": "[]",
    "null": "null",
    "a number": "1",
    "a text": '"x"',
    "empty": "",
    "NaN": '{"x": NaN}',
    "nested": '{"x": ' + NESTED,
    "nested and closed": '{"x": ' + "[" * 3000 + "]" * 3000 + "}",
    "2 MB": '{"x": "' + "y" * 2_000_000 + '"}',
    "twice the same member": '{"version": 1, "version": 2}',
    "NUL": '{"x": "\\u0000"}',
    "half a surrogate": '{"x": "\\ud800"}',
    "an object": "{}",
    "huge number": '{"x": 1e999}',
    "other types": '{"version": [], "summary": 3, "samples": "x", "ranks": {}}',
}
TEXTS = {
    "controls": "\x1b]0;owned\x07\x1b[2J\r\n\t\x7f",
    "markup": "</script><script>alert(1)</script><img src=x onerror=1>",
    "a formula": "=cmd|' /C calc'!A0",
    "order": "\u202egnp.exe\u2066",
    "SQL": "'; DROP TABLE assay.run; --",
}


def values():
    """Results for a run of the caller's own with values that no agent sends."""

    def own(name, raw):
        return Call("values", name, lambda s: complete(s.own, s.claims["own"], f"[{row(s, s.own, raw=raw)}]"))

    for outcome in ("unknown", "OK", "", None, "ok\x00"):
        yield own(f"outcome {outcome!r}", {"outcome": json.dumps(outcome)})
    for field in ("duration_ns", "n", "median_ns", "p99_ns", "samples_per_second", "peak_memory_bytes"):
        for value in ("-1", '"NaN"', '"Infinity"', "1e300"):
            yield own(f"{field} {value}", {field: value})
    for value in ("yesterday", "2024-01-01", "99999-01-01T00:00:00Z", "2024-01-01T00:00:00Z\x1b[2J"):
        yield own(f"started_utc {value!r}", {"started_utc": json.dumps(value)})
    yield own("trusted 7", {"trusted": "7"})
    yield own("platform of 1 MB", {"platform": json.dumps("p" * 1_000_000)})
    yield own("message of 2 MB", {"message": json.dumps("m" * 2_000_000)})
    yield own("summary_version huge", {"summary_version": "999999"})
    for name, value in TEXTS.items():
        yield own(f"message with {name}", {"message": json.dumps(value), "outcome": '"failed"'})
        yield own(f"platform with {name}", {"platform": json.dumps(value)})
    for column in ("json", "digest"):
        for name, value in BROKEN.items():
            yield own(f"{column}: {name}", {column: json.dumps(value)})
    for samples in ("0", "zz", "00", "7fffffffffffffff" * 4, "f" * 16):
        yield own(f"samples {samples[:8]}", {"samples": json.dumps(samples)})
    for name, contents in {
        "false hash": '[{"hash": "00", "json": "{}"}]',
        "no hash": '[{"json": "{}"}]',
        "no list": "{}",
        "no JSON": '[{"hash": "021fb596db81e6d02bf3d2586ee3981f", "json": "{"}]',
        "nested": NESTED,
    }.items():
        yield Call(
            "values",
            f"contents: {name}",
            lambda s, contents=contents: complete(s.own, s.claims["own"], f"[{row(s, s.own)}]", contents=contents),
        )


def replays():
    """The same result twice in one session, the second time with another content, and of a run that is given back."""

    def twice(scene):
        first = complete(scene.own, scene.claims["own"], f"[{row(scene, scene.own)}]")
        return first + complete(scene.own, scene.claims["own"], f"[{row(scene, scene.own, median_ns=1)}]")

    def after_giving_back(scene):
        words = f"{text(scene.own.campaign)}, {text(scene.claims['own'])}, ARRAY[{scene.own.run}]::bigint[]"
        return f"SELECT assay.give_back({words});" + complete(
            scene.own, scene.claims["own"], f"[{row(scene, scene.own)}]"
        )

    yield Call("replays", "another content the second time", twice)
    yield Call("replays", "after it was given back", after_giving_back)


def platforms():
    for name, value in BROKEN.items():
        yield Call(
            "platforms",
            name,
            lambda s, name=name, value=value: f"SELECT assay.put_platform({text('m-' + name)}, {text(value)});",
        )
    for name, platform in {"empty": "", "long": "x" * 201, "none": None, **TEXTS}.items():
        yield Call(
            "platforms",
            f"id {name}",
            lambda s, platform=platform: f"SELECT assay.put_platform({text(platform)}, '{{}}');",
        )
    yield Call(
        "platforms",
        "one that another described",
        lambda s: f"SELECT assay.put_platform({text(s.platform)}, '{{\"cpus\": 1}}');",
    )


def statements(tables, kinds):
    made = {
        "INSERT": "INSERT INTO assay.{} DEFAULT VALUES;",
        "DELETE": "DELETE FROM assay.{};",
        "UPDATE": "UPDATE assay.{0} SET {1} = {1};",
        "TRUNCATE": "TRUNCATE assay.{} CASCADE;",
        "COPY": "COPY assay.{} FROM stdin;\n\\.\n",
        "DROP": "DROP TABLE assay.{} CASCADE;",
        "ALTER": "ALTER TABLE assay.{} DISABLE TRIGGER ALL;",
        "LOCK": "LOCK TABLE assay.{} IN EXCLUSIVE MODE;",
    }
    columns = {
        "store": "version",
        "content": "json",
        "campaign": "name",
        "trial": "json",
        "campaign_trial": "trial",
        "run": "state",
        "record": "counted",
        "platform": "json",
        "artifact": "json",
        "progress": "done",
        "access": "role",
        "writer": "role",
        "receipt": "claim",
        "up": "since_ms",
    }
    for table in tables:
        for kind in kinds:
            sql = made[kind].format(table, columns[table])
            yield Call("statements on tables", f"{kind} {table}", lambda s, sql=sql: sql)


def rights():
    """Statements that would give a role rights, or code of its own a place."""
    for sql in (
        "SET ROLE lab; UPDATE assay.record SET counted = 0;",
        "SET SESSION AUTHORIZATION lab;",
        "SET ROLE honest;",
        "ALTER ROLE mallory SUPERUSER;",
        "GRANT lab TO mallory;",
        "GRANT honest TO mallory;",
        "GRANT ALL ON ALL TABLES IN SCHEMA assay TO mallory;",
        "ALTER SCHEMA assay OWNER TO mallory;",
        "CREATE TABLE assay.mine(x text);",
        "CREATE VIEW assay.mine AS SELECT 1;",
        "DROP SCHEMA assay CASCADE;",
        "CREATE FUNCTION assay.mine() RETURNS int LANGUAGE sql AS 'SELECT 1';",
        "CREATE OR REPLACE FUNCTION assay.works_on(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';",
        "ALTER FUNCTION assay.complete SET search_path = pg_temp, assay;",
        "DROP FUNCTION assay.complete;",
        "CREATE TRIGGER mine BEFORE INSERT ON assay.record EXECUTE FUNCTION suppress_redundant_updates_trigger();",
        "CREATE RULE mine AS ON INSERT TO assay.record DO INSTEAD NOTHING;",
        "CREATE POLICY mine ON assay.campaign USING (true);",
        "ALTER TABLE assay.campaign DISABLE ROW LEVEL SECURITY;",
        "SET row_security = off; SELECT * FROM assay.campaign;",
        "SET session_replication_role = replica;",
        "COPY (SELECT 1) TO PROGRAM 'true';",
        "SELECT pg_read_file('pg_hba.conf');",
        "SELECT lo_import('/etc/passwd');",
        "ALTER SYSTEM SET fsync = off;",
        "ALTER DATABASE postgres SET search_path = pg_temp;",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename IN ('honest', 'lab');",
        "SELECT query FROM pg_stat_activity WHERE usename = 'honest';",
        "DELETE FROM pg_catalog.pg_proc;",
        "CREATE EXTENSION dblink SCHEMA assay;",
        "REASSIGN OWNED BY lab TO mallory;",
        "SELECT assay.allow('x','y','z');",
    ):
        yield Call("rights", sql, lambda s, sql=sql: sql)
    for name, arguments in FUNCTIONS.items():
        yield Call(
            "rights", f"calls {name}", lambda s, name=name, arguments=arguments: f"SELECT assay.{name}({arguments});"
        )


def stand_ins():
    """Objects of the caller's own with names of the store's, and then a call that would use them."""

    def after(setup):
        def make(scene):
            run = scene.runs["held by another"]
            forbidden = scene.runs["of a forbidden campaign"]
            return (
                f"{setup} SET search_path TO pg_temp, assay, pg_catalog;"
                + complete(run, scene.claims["guessed"], f"[{row(scene, run)}]")
                + lease(forbidden.campaign, scene.claims["guessed"])
            )

        return make

    tables = {
        "access": "SELECT 'mallory'::text AS role, 'agent'::text AS kind, NULL::bigint AS campaign",
        "run": "SELECT 1 AS key",
        "record": "SELECT 1 AS key",
        "campaign": "SELECT 1 AS key",
        "writer": "SELECT 1 AS key",
        "receipt": "SELECT 1 AS key",
        "pg_roles": "SELECT 'mallory'::name AS rolname, 10::oid AS oid",
        "progress": "SELECT 1 AS key",
        "content": "SELECT 1 AS key",
        "up": "SELECT 0::bigint AS since_ms",
    }
    for name, query in tables.items():
        yield Call("stand-ins", f"table {name}", after(f"CREATE TEMP TABLE {name} AS {query};"))
    for name in FUNCTION_NAMES:
        made = f"CREATE FUNCTION pg_temp.{name}(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
        made += f"CREATE FUNCTION pg_temp.{name}(text, text, bigint[]) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
        yield Call("stand-ins", f"function {name}", after(made))
    truth = "CREATE FUNCTION pg_temp.truth({0}, {0}) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
    equal = "CREATE OPERATOR pg_temp.= (LEFTARG = {0}, RIGHTARG = {0}, FUNCTION = pg_temp.truth);"
    for kind in ("text", "bigint"):
        yield Call("stand-ins", f"operator = of {kind}", after((truth + equal).format(kind)))
    for kind in ("text", "bigint", "json", "campaign"):
        yield Call("stand-ins", f"type {kind}", after(f"CREATE DOMAIN pg_temp.{kind} AS integer;"))
    yield Call(
        "stand-ins",
        "role as a function",
        after("CREATE FUNCTION pg_temp.pg_has_role(name, name, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';"),
    )
    for setting in (
        "standard_conforming_strings = off",
        "transform_null_equals = on",
        "bytea_output = 'escape'",
        "extra_float_digits = -15",
        "client_encoding = 'LATIN1'",
        "default_transaction_isolation = 'serializable'",
        "synchronous_commit = off",
        "DateStyle = 'German'",
    ):
        yield Call("stand-ins", f"SET {setting}", after(f"SET {setting};"))


def false_writers():
    """Results for a run of the caller's own, in the name of another."""
    for setting in ("application_name", "assay.role", "assay.writer", "assay.host", "session_authorization", "role"):
        yield Call(
            "false writers",
            f"SET {setting}",
            lambda s, setting=setting: (
                f"SET {setting} = 'honest';" + complete(s.own, s.claims["own"], f"[{row(s, s.own)}]")
            ),
        )
    for field in ("writer", "role", "agent", "hash", "link", "seq", "counted", "epoch", "claim"):
        yield Call(
            "false writers",
            f"record says its {field}",
            lambda s, field=field: complete(s.own, s.claims["own"], f"[{row(s, s.own, **{field: 'honest'})}]"),
        )
    yield Call(
        "false writers",
        "no lock of the role",
        lambda s: "SET LOCAL ROLE NONE;" + complete(s.own, s.claims["own"], f"[{row(s, s.own)}]"),
    )


def sessions(planning_locks):
    """Sessions that stay: locks, transactions and listeners."""
    for lock in planning_locks:
        yield Call("sessions", f"advisory lock {lock}", lambda s, lock=lock: f"SELECT pg_advisory_lock({lock});", True)
    for table in ("store", "campaign", "progress"):
        yield Call(
            "sessions",
            f"open transaction on {table}",
            lambda s, table=table: f"BEGIN; LOCK TABLE assay.{table} IN ACCESS SHARE MODE;",
            True,
        )
        yield Call(
            "sessions",
            f"rows of {table} locked",
            lambda s, table=table: f"BEGIN; SELECT 1 FROM assay.{table} FOR SHARE;",
            True,
        )
    for sql in ("LISTEN assay;", "NOTIFY assay, 'x';", "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM assay.campaign;"):
        yield Call("sessions", sql, lambda s, sql=sql: sql, True)


def of_an_agent(planning_locks, seed):
    """At least 200, in the same order for the same seed."""
    kinds = ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "COPY", "DROP", "ALTER", "LOCK")
    calls = [
        *foreign_results(),
        *foreign_leases(),
        *false_names(),
        *values(),
        *replays(),
        *platforms(),
        *statements(TABLES, kinds),
        *rights(),
        *stand_ins(),
        *false_writers(),
        *sessions(planning_locks),
    ]
    random.Random(seed).shuffle(calls)
    return calls


def of_a_reader(planning_locks, seed):
    """At least 50."""

    def function(name, make):
        return Call("functions of agents", name, make)

    calls = [
        *statements(TABLES, ("INSERT", "UPDATE", "DELETE", "TRUNCATE", "ALTER")),
        *rights(),
        *sessions(planning_locks),
        function("lease", lambda s: lease(s.own.campaign, s.claims["guessed"])),
        function("complete", lambda s: complete(s.own, s.claims["own"], f"[{row(s, s.own)}]")),
        function("put_platform", lambda s: "SELECT assay.put_platform('nosy', '{}');"),
    ]
    for claim in ("own", "read by a reader", "spent by another"):
        for target in ("held by another", "done by another"):
            calls.append(
                function(
                    f"complete, claim {claim}, run {target}",
                    lambda s, claim=claim, target=target: complete(
                        s.runs[target], s.claims[claim], f"[{row(s, s.runs[target])}]"
                    ),
                )
            )
            calls.append(
                function(
                    f"give_back, claim {claim}, run {target}",
                    lambda s, claim=claim, target=target: (
                        f"SELECT assay.give_back({text(s.runs[target].campaign)}, {text(s.claims[claim])}, "
                        f"ARRAY[{s.runs[target].run}]::bigint[]);"
                    ),
                )
            )
    random.Random(seed).shuffle(calls)
    return calls
