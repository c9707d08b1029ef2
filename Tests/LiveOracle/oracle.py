"""The oracle of live requests, change sequences and tracked contexts. AGENT.md says what the program under test must speak.

python3 oracle.py --agent COMMAND [--enable COMMAND] [--mock] [--seed N] [--batches N] [--requests N] [--faults P] [--seconds N]
(server from PG*, with PGDIR and PGBIN for restarts: use ./live, which starts a private one; where transactions cannot be
prepared, LIVE_PREPARED=0, no writer does). {tables} in the enabling command stands
for the tables' names. --faults P is the share of batches with a fault; --fault KIND limits them; --lenient-gaps lets a sequence say
`everything` after any fault, not only where the design needs it. Prints `LIVE: B batches, U updates, F wrong` and the seed; exits 1 if
F > 0, with seed, batch, request, SQL, expected and given on standard error. The seed fixes what is done, not how it interleaves.

How (b), "each update is the request's result in some committed state and none goes back", is decided exactly. Writers run at the
same time, but their COMMITs go one by one through a lock, and behind each a reader exports the snapshot (pg_export_snapshot).
So every committed state of a batch has a number and can be asked again afterwards, as long as it is needed: the list of states is
walked once, and each request's updates are taken off in order where they equal what its SQL gives in that state. What is left
over was never true, or came too late. TRUNCATE and restarts would falsify old snapshots; there each state is read when it arises.
One batch in five is a storm: COMMITs without the lock, truly at once; there only differences, row versions (column v, drawn from
a sequence under the row's lock) and the end are checked.
"""
import argparse, asyncio, json, os, random, shlex, signal, subprocess, sys, time, traceback
from bisect import bisect_left
import psycopg
from psycopg import AsyncConnection
import model, writers
from model import E, TABLES, closure

ORDERED = {("playlist", "tracks"), ("book", "chapters")}
MISSING = "<missing>"
def tup(k): return tuple(k)
def short(x, n=600): s = json.dumps(x, ensure_ascii=False, default=str); return s if len(s) <= n else s[:n] + "…"

class Wrong(Exception): pass

class Commit:
    """A committed state: the transaction that led to it, its snapshot, and what has been read in it."""
    def __init__(self, txn, touched, snap=None): self.txn, self.touched, self.snap, self.evals, self.tables, self.lost, self.at = txn, touched, snap, {}, None, False, time.time()

def whole(x, q): return x["values"], {p: sorted(x["sets"][p], key=lambda y: repr(y["key"])) for p in q.prefetch}

class Live:
    def __init__(self, request): self.whole = {}; self.q, self.rows, self.n, self.pending, self.since, self.closed, self.broken, self.firsts = request, None, 0, [], 0, False, False, 0
    def keys(self): return [tup(x[0]) for x in self.rows or []]
    def normal(self, rows): return rows if self.q.sort else sorted(rows, key=lambda x: x[0])

class Stream:
    def __init__(self, ident, entities): self.id, self.entities, self.events, self.cursor, self.closed = ident, entities, [], None, False

def lis(seq):
    tails = []
    for x in seq:
        i = bisect_left(tails, x)
        if i == len(tails): tails.append(x)
        else: tails[i] = x
    return len(tails)

class Agent:
    """The process under test: JSON lines in and out (AGENT.md)."""
    def __init__(self, oracle, command): self.o, self.command, self.p, self.waits, self.info, self.alive = oracle, command, None, {}, {}, False
    async def start(self):
        self.p = await asyncio.create_subprocess_exec(*shlex.split(os.path.expandvars(self.command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.o.agent_log, limit=2**28, start_new_session=True)
        self.alive = True; self.reader = asyncio.create_task(self.read(self.p)); self.send({"op": "hello", "protocol": 1, "mock": self.o.a.mock})
        self.info = await self.wait("ready", 60)
    async def read(self, p):
        try:
            while line := await p.stdout.readline():
                m = json.loads(line); ev = m.get("event")
                if ev == "update": self.o.update(m)
                elif ev in ("changes", "everything"): self.o.change(m)
                elif ev == "started":
                    if m["id"] in self.o.streams: self.o.streams[m["id"]].cursor = m["cursor"]
                elif ev == "schema": self.o.schema_seen |= set(m.get("entities", []))
                elif ev == "error": self.o.fail("agent error", message=short(m))
                key = (ev, m["token"]) if m.get("token") is not None else (ev, m["marker"]) if ev == "synced" else ev
                if key in self.waits and not self.waits[key].done(): self.waits.pop(key).set_result(m)
        except Exception: self.o.fail("the agent's output cannot be read", trace=traceback.format_exc()[-400:])
        self.alive = p is self.p and False
    def send(self, m):
        try: self.p.stdin.write((json.dumps(m) + "\n").encode())
        except Exception: pass
    async def wait(self, key, seconds):
        f = asyncio.get_running_loop().create_future(); self.waits[key] = f
        try: return await asyncio.wait_for(f, seconds)
        except asyncio.TimeoutError: self.waits.pop(key, None); raise Wrong(f"no {key} within {seconds} s")
    async def ask(self, m, event, seconds=30): m["token"] = self.o.token(); self.send(m); return await self.wait((event, m["token"]), seconds)
    async def kill(self, sig=signal.SIGKILL):
        try: os.killpg(self.p.pid, sig)
        except ProcessLookupError: pass
        if sig == signal.SIGKILL: await self.p.wait(); await self.reader

class Oracle:
    def __init__(self, a):
        self.a, self.r = a, random.Random(a.seed); self.lives, self.closed, self.streams, self.contexts = {}, set(), {}, {}
        self.updates = self.changes = self.gaps = self.commits = self.aborted = self.wrong = self.faults = self.late = self.states = 0; self.late_ms = 0.0; self.conflicts, self.saves, self.rivals = [0, 0], 0, []
        self.lock, self.serial, self.eager, self.chain, self.storm, self.unknown = asyncio.Lock(), True, False, [], [], []
        self.prepared, self.open, self.extra, self.new_extra, self.causes, self.schema_seen, self.schema_due = {}, [], {}, {}, set(), set(), set()
        self._txn = self._token = self._marker = self._id = 0; self.b = -1; self.failures = []; self.parts = 3; self.log = []; self.down = self.doubt = False; self.kinds = {}
        self.agent_log = open(os.path.join(a.tmp, "agent.log"), "ab")
    def token(self): self._token += 1; return self._token
    def fail(self, what, **facts):
        self.wrong += 1; self.failures.append((self.b, what))
        if self.wrong > self.a.show: return
        print(f"WRONG seed {self.a.seed}, batch {self.b}: {what}", file=sys.stderr)
        for k, v in facts.items(): print(f"  {k}: {v if isinstance(v, str) else short(v)}", file=sys.stderr)
    # ---- connections -------------------------------------------------------------------------------------------------------
    async def connect(self, name, **k):
        for _ in range(400):
            try: return await AsyncConnection.connect(autocommit=True, application_name=f"oracle-{name}", **k)
            except psycopg.OperationalError:
                if not self.down and _ > 300: raise
                await asyncio.sleep(.05)
        raise Wrong("the server does not come back")
    async def start(self):
        self.admin = await self.connect("admin"); self.eye = await self.connect("eye"); self.historian = await self.connect("historian"); self.w = []
        self.version = self.admin.info.server_version // 10000; self.can_prepare = int((await (await self.admin.execute("SHOW max_prepared_transactions")).fetchone())[0]) > 0
        await self.admin.execute(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema.sql")).read())
        for q, p in writers.fill(random.Random(self.a.seed)): await self.admin.execute(q, p)
        await self.admin.execute("INSERT INTO sync_marker VALUES (1, 0)"); await self.admin.execute("ANALYZE")
        # writers are a role that owns nothing and may only change the tables: tracking asks no more of them
        await self.admin.execute("DO $$ BEGIN CREATE ROLE oracle_writer; EXCEPTION WHEN duplicate_object THEN NULL; END $$; GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA public TO oracle_writer; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO oracle_writer")
        if self.a.enable:
            e = subprocess.run(self.a.enable.replace("{tables}", " ".join(TABLES + ["sync_marker"])), shell=True, capture_output=True, text=True, timeout=120)
            if e.returncode: raise SystemExit(f"enabling failed: {e.stderr[-800:] or e.stdout[-800:]}")
        for i in range(8): self.w.append(await self.writer_connection(i))
        self.busy = set(); self.agent = Agent(self, self.a.agent); await self.agent.start(); self.exact = self.agent.info.get("values", "exact") == "exact"
    async def writer_connection(self, i):
        c = await self.connect(f"writer-{i}"); await c.execute("SET lock_timeout = '250ms'; SET deadlock_timeout = '40ms'; SET client_min_messages = error; SET ROLE oracle_writer"); return c
    # ---- opening -----------------------------------------------------------------------------------------------------------
    def at(self): return max(0, len(self.chain) - 1) if self.serial else 0
    def open_request(self):
        self._id += 1; q = model.make(self.r, f"r{self._id}", self.extra, self.a.views); l = Live(q); l.since = self.at(); self.lives[q.id] = l; self.agent.send(q.message(self.a.mock))
    def close_request(self, ident): l = self.lives.pop(ident); l.closed = True; self.closed.add(ident); self.agent.send({"op": "close", "id": ident})
    def open_stream(self, ident, entities, since=None):
        s = self.streams.get(ident) or Stream(ident, entities); self.streams[ident] = s
        m = {"op": "changes", "id": ident, "entities": [f"public.{e}" for e in entities], "since": since}
        if self.a.mock: m["tables"] = {e: [E[e].key, self.columns(e)] for e in entities}
        self.agent.send(m)
        if since is None: return self.agent.wait("started", 30)
    def resume(self, s):
        """Another sequence, under another id, from where the driver has read."""
        self.agent.send({"op": "close", "id": s.id}); del self.streams[s.id]; s.id = s.id.split(".")[0] + f".{self.token()}"; self.streams[s.id] = s; return self.open_stream(s.id, s.entities, s.cursor)
    def columns(self, e): return E[e].names + self.extra.get(e, [])
    def load_sql(self, x):
        e = E[x["entity"]]; parts = []
        for n in x["sets"]: y = e.rels[n]; m = E[y.to]; parts.append(f"(SELECT coalesce(json_agg({m.keys('m')} ORDER BY {y.order.format(t='m')}), '[]') FROM {y.source.format(t='m')} WHERE {y.link.format(s='s', t='m')})")
        for n in x["counts"]: y = e.rels[n]; parts.append(f"(SELECT count(*) FROM {y.source.format(t='m')} WHERE {y.link.format(s='s', t='m')})")
        for n in x["ones"]: y = e.rels[n]; parts.append(f"(SELECT {E[y.to].keys('m')} FROM {y.source.format(t='m')} WHERE {y.link.format(s='s', t='m')})")
        return f"SELECT coalesce(json_agg(json_build_array({e.keys('s')}, {e.values('s')}{''.join(', ' + p for p in parts)})), '[]') FROM {x['entity']} s WHERE ({', '.join(e.key)}) IN ({', '.join('(' + ', '.join(str(int(v)) for v in k) + ')' for k in x['keys'])})"
    async def load_context(self, ident, fresh=True):
        if fresh:
            loads = []
            for e in ["person"] + self.r.sample(["project", "playlist", "book", "tag", "course", "region", "email", "event", "milestone"], 4):
                rows = list(self.chain[-1].tables[e]); keys = self.r.sample(rows, min(len(rows), self.r.randint(2, 12))); many = [n for n, y in E[e].rels.items() if y.many]; ones = [n for n, y in E[e].rels.items() if not y.many]
                if not keys: continue
                pick = self.r.sample(many, min(len(many), 3)); sets = pick[:2]
                loads.append({"entity": e, "keys": [list(k) for k in keys], "sets": sets, "counts": pick[2:], "ones": self.r.sample(ones, min(len(ones), 2)), "load": f"l{self.token()}"})
            self.contexts[ident] = {"loads": loads, "staged": {}, "age": 0}
        self.agent.send({"op": "context", "id": ident})
        for x in self.contexts[ident]["loads"]:
            m = {**x, "op": "load", "context": ident, "entity": f"public.{x['entity']}"}
            if self.a.mock: m |= {"sql": self.load_sql(x), "columns": E[x["entity"]].names}
            got = await self.agent.ask(m, "loaded", 60)
    # ---- what the agent says -------------------------------------------------------------------------------------------------
    def update(self, m):
        self.updates += 1; l = self.lives.get(m["id"])
        if not l:
            if m["id"] not in self.closed: self.fail("an update of an unknown request", id=m["id"])
            return
        if l.broken: return
        q = l.q; e = E[q.entity]; fact = dict(request=q.id + " " + self.say(q), sql=q.sql, parameters=q.params, update=m["n"])
        def bad(what, **k): l.broken = True; self.fail(what, **fact, **k)
        try:
            rows = [[x["key"], [x["values"].get(c, MISSING) for c in e.names], [self.members(q.entity, p, x["sets"][p]) for p in q.prefetch]] for x in m["rows"]]
        except (KeyError, TypeError) as x: return bad(f"an update without {x}", given=m)
        keys = [tup(x[0]) for x in rows]
        if len(set(keys)) != len(keys): return bad("a key comes twice in one list", given=keys)
        first = m["why"] == "first"
        if first != (l.rows is None): return bad("a first result at the wrong time" if first else "an update before the first result")
        if not first and m["n"] != l.n + 1: return bad("updates are not numbered one by one", given=[l.n, m["n"]])
        l.n = m["n"]
        if m["why"] == "everything" and not self.allowed_gap(): return bad("a gap without a cause", reason=m.get("reason"), causes=sorted(self.causes))
        if not first:
            old = l.keys(); rem, ins = m["removals"], m["insertions"]
            gone = set(rem); left = [k for i, k in enumerate(old) if i not in gone]; new = list(left)
            if len(gone) != len(rem) or any(not 0 <= i < len(old) for i in rem) or len(set(ins)) != len(ins) or any(not 0 <= j < len(keys) for j in ins): return bad("the difference has impossible offsets", old=old, given=[rem, ins])
            for j in sorted(ins): new.insert(j, keys[j])
            if new != keys: return bad("(a) the difference does not lead from the last list to this one", last=old, removals=rem, insertions=ins, expected=keys, given=new)
            pos_old, pos_new = {k: i for i, k in enumerate(old)}, {k: i for i, k in enumerate(keys)}
            moved = {(pos_old[k], pos_new[k]) for i, k in enumerate(old) if i in gone and k in pos_new}
            if moved != {tuple(x) for x in m["moves"]}: return bad("(a) moves are not those elements that are both removed and inserted", last=old, now=keys, expected=sorted(moved), given=m["moves"])
            stay = [pos_old[k] for k in keys if k in pos_old]; least = len(stay) - lis(stay)
            before = {tup(x[0]): x for x in l.rows}; changed = {j for j, x in enumerate(rows) if tup(x[0]) in before and (before[tup(x[0])] != x or tup(x[0]) in l.whole and l.whole[tup(x[0])] != whole(m["rows"][j], q))}
            if len(moved) > max(least, len(changed)) and not any("." in t["path"] for t in q.sort): return bad("(a) more moves than elements that changed or had to move", last=old, now=keys, expected=f"at most {max(least, len(changed))}", given=m["moves"])
            if not q.sort and moved: return bad("(a) elements of a list without an order move", given=m["moves"])
            if self.exact and changed != set(m["updates"]): return bad("(a) the updated places are not those whose content changed", expected=sorted(changed), given=m["updates"], example=[[before[tup(rows[j][0])], rows[j]] for j in sorted(changed ^ set(m["updates"])) if tup(rows[j][0]) in before][:1])
            if not rem and not ins and not changed and not m["updates"]: return bad("(c) an update without any difference")
            if "v" in e.names:
                iv = e.names.index("v")
                for x in rows:
                    y = before.get(tup(x[0]))
                    if y and y[1][iv] is not None and x[1][iv] is not None and x[1][iv] < y[1][iv]: return bad("(b) a row went back in time", row=x[0], last=y, given=x)
        l.whole = {tup(x["key"]): whole(x, q) for x in m["rows"]}
        l.rows = rows; l.pending.append((rows, l.since if first else 0, m.get("why")))
        if first: l.firsts += 1
    def members(self, e, p, given):
        m = E[E[e].rels[p].to]; out = [[x["key"], [x["values"].get(c, MISSING) for c in m.names]] for x in given]
        return out if (e, p) in ORDERED else sorted(out, key=lambda x: x[0])
    def change(self, m):
        s = self.streams.get(m["id"])
        if not s: return
        s.cursor = m.get("cursor", s.cursor); m["at"] = len(self.chain) - 1; s.events.append(m)
        if m["event"] == "everything": self.gaps += 1
        else: self.changes += sum(len(m[k]) for k in ("inserted", "updated", "deleted"))
    def say(self, q): return f"{q.entity} where {q.where!r} {q.args} sorted {[s['path'] + ('' if s['ascending'] else ' desc') for s in q.sort]} limit {q.limit} offset {q.offset} prefetch {q.prefetch}"
    # ---- writing -----------------------------------------------------------------------------------------------------------
    async def ex(self, conn, sql, params=()):
        if sql.startswith("COPY"):
            cur = conn.cursor()
            async with cur.copy(sql) as c:
                for row in params: await c.write_row(row)
            return cur
        return await conn.execute(sql, list(params))
    async def committed(self, conn, sql, txn, touched):
        """COMMIT, and the number of the state that it leads to."""
        async def go():
            if self.doubt: raise psycopg.OperationalError("the server is going down")  # one state at most can be in doubt
            try: cur = await conn.execute(sql)
            except psycopg.Error:
                if self.eager: self.unknown.append((txn, touched)); self.doubt = self.down
                raise
            if sql == "COMMIT" and cur.statusmessage != "COMMIT": self.aborted += 1; return
            self.commits += 1
            if "!bulk" in touched: self.causes.add("bulk")
            if not self.serial: self.storm.append((txn, touched)); return
            c = Commit(txn, touched); self.chain.append(c)
            try:
                if self.eager: await self.read_state(c, None)
                else: c.snap = (await (await self.historian.execute("SELECT pg_export_snapshot()")).fetchone())[0]
            except psycopg.Error: c.lost, c.tables, self.doubt = True, None, True; raise
        if self.serial:
            async with self.lock: await go()
        else: await go()
    async def transaction(self, i, plan):
        r, conn = random.Random(plan["seed"]), self.w[i]; touched = {}; self._txn += 1; txn = self._txn; wait = lambda: asyncio.sleep(r.random() ** 3 * .03)
        def touch(t):
            for e, cs in t.items(): touched[e] = None if cs is None or touched.get(e, ()) is None else touched.get(e, set()) | cs
        try:
            await conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ" if r.random() < .15 else "BEGIN"); at = r.randint(0, len(plan["steps"]))
            for k, statements in enumerate(plan["steps"] + [[]]):
                if k == at: await conn.execute("INSERT INTO ledger VALUES (%s, %s)", [txn, i]); touch({"ledger": None})
                if not statements: continue
                safe = r.random() < .7
                if safe: await conn.execute("SAVEPOINT s")
                try:
                    for sql, params, t in statements: await self.ex(conn, sql, params); touch(t); await wait()
                    if safe and r.random() < .12: await conn.execute("ROLLBACK TO s")
                except psycopg.Error as e:
                    if conn.closed or conn.broken or not safe: raise
                    await conn.execute("ROLLBACK TO s")
                    self.note(e)
                if safe and r.random() < .5: await conn.execute("RELEASE s")
            await wait(); end = plan["end"]
            if end == "long": self.open.append([i, txn, touched, r.randint(1, 3)]); self.busy.add(i); return
            if end == "rollback": await conn.execute("ROLLBACK"); return
            if end.startswith("prepare"):
                gid = f"g{txn}"; await conn.execute(f"PREPARE TRANSACTION '{gid}'")
                if conn.info.transaction_status != 0: return
                self.prepared[gid] = (txn, touched); await asyncio.sleep(r.random() * .15); del self.prepared[gid]
                if end == "prepare rollback": await conn.execute(f"ROLLBACK PREPARED '{gid}'")
                else: await self.committed(conn, f"COMMIT PREPARED '{gid}'", txn, touched)
                return
            await self.committed(conn, "COMMIT", txn, touched)
        except psycopg.Error as e:
            self.aborted += 1; self.note(e)
            if not (conn.closed or conn.broken):
                try: await conn.execute("ROLLBACK")
                except psycopg.Error: pass
    def note(self, e):
        self.log.append((type(e).__name__, str(e)[:80]))
        if (e.sqlstate or "")[:2] in ("42", "0A"): self.fail("a writer's SQL is refused (the driver's fault, or tracking broke writers: rights, or NOTIFY in a transaction that is prepared)", error=str(e)[:300])
    def plan(self, small):
        r = self.r; steps = [writers.step(r, self.version >= 15, bulk_ok=r.random() < .5) for _ in range(r.choice([1, 1, 2, 3, 5] if not small else [1, 2]))]
        if self.extra and r.random() < .15:
            e = r.choice(list(self.extra)); c = r.choice(self.extra[e]); w, p = writers.where(r, e); steps.append([(f"UPDATE {e} SET {c} = ({c} + 1) %% 4 WHERE {w}", p, {e: {c}})])
        for s in steps:
            for q in s:
                if any(x in q[0] for x in ("qty + %s", "WHERE id > %s", "id > 200", "'big'", "(201, 1500)")): q[2]["!bulk"] = set()
        return {"seed": r.random(), "steps": steps, "end": r.choices(["commit", "rollback", "prepare", "prepare rollback", "long"], [78, 8, 6, 2, 6] if self.can_prepare else [84, 10, 0, 0, 6])[0]}
    async def writer(self, i, plans):
        for p in plans:
            if i in self.busy: return
            if self.w[i].closed or self.w[i].broken:
                if self.down: await asyncio.sleep(.3)
                try: self.w[i] = await self.writer_connection(i)
                except (psycopg.Error, Wrong): return
            await self.transaction(i, p)
    async def finish_open(self):
        for x in list(self.open):
            x[3] -= 1
            if x[3] > 0: continue
            self.open.remove(x); i, txn, touched, _ = x; await asyncio.sleep(self.r.random() * .3)
            try: await self.committed(self.w[i], "COMMIT", txn, touched) if self.r.random() < .8 else await self.w[i].execute("ROLLBACK")
            except psycopg.Error: pass
            self.busy.discard(i)
    async def special(self, kind):
        """DDL and TRUNCATE, each a transaction of its own with a row in the ledger."""
        self._txn += 1; txn = self._txn; conn = await self.writer_connection(99); r = self.r; await conn.execute("RESET ROLE; SET lock_timeout = '3s'")
        try:
            await conn.execute("BEGIN")
            if kind == "truncate":
                q, t = r.choice([("friendship", {"friendship"}), ("event", {"event"}), ("playlist_track", {"playlist_track"}), ("playlist CASCADE", {"playlist", "playlist_track"}), ("person_tag, enrolment", {"person_tag", "enrolment"})]); await conn.execute(f"TRUNCATE {q}"); touched = {e: None for e in t}; self.causes.add("truncate")
                if r.random() < .4:
                    for s in writers.several(r): await self.ex(conn, s[0], s[1]); touched |= {e: None for e in s[2]}
            elif kind == "column":
                e = r.choice(["person", "email", "event", "tag", "project"]); c = f"x{txn}"; await conn.execute(f"ALTER TABLE {e} ADD COLUMN {c} int NOT NULL DEFAULT {r.randint(0, 3)}"); w, p = writers.where(r, e, False)
                await conn.execute(f"UPDATE {e} SET {c} = 1 WHERE {w}", p); touched = {e: {c}}; self.new_extra.setdefault(e, []).append(c); self.schema_due.add(f"public.{e}"); self.causes.add("ddl")
            else:
                n = self.parts; await conn.execute(f"CREATE TABLE event_{n} PARTITION OF event FOR VALUES FROM ({n * 10}) TO ({n * 10 + 10})"); await conn.execute(f"INSERT INTO event VALUES (%s, {n * 10}, 'new', 1, NULL), (%s, {n * 10 + 1}, 'new', 2, NULL)", [r.randint(1, 50), r.randint(51, 120)]); touched = {"event": None}; self.parts += 1; self.causes.add("ddl")
            await conn.execute("INSERT INTO ledger VALUES (%s, 99)", [txn]); touched["ledger"] = None
            await self.committed(conn, "COMMIT", txn, touched); return True
        except psycopg.Error as e: self.log.append((kind, str(e)[:80])); self.new_extra = {}; self.schema_due = set(); return False
        finally: await conn.close()
    # ---- reading the truth ---------------------------------------------------------------------------------------------------
    async def read_state(self, c, wanted, tables=True):
        """Asks the wanted requests (None: all that are open) and the touched tables in the state `c`."""
        if self.eye.closed or self.eye.broken: self.eye = await self.connect("eye")
        await self.eye.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            if c.snap: await self.eye.execute(f"SET TRANSACTION SNAPSHOT '{c.snap}'")
            for l in (list(self.lives.values()) if wanted is None else wanted):
                if l.q.id not in c.evals: c.evals[l.q.id] = (await (await self.eye.execute(l.q.sql, l.q.params)).fetchone())[0]; self.states += 1
            if tables and c.tables is None:
                p = self.chain.index(c) if c in self.chain else 0; before = self.chain[p - 1].tables if p else None
                need = set(TABLES) if before is None else closure([e for e in c.touched if e[0] != "!"]); c.tables = dict(before or {})
                for e in need: c.tables[e] = await self.table(e)
        finally:
            try: await self.eye.execute("ROLLBACK")
            except psycopg.Error: pass
    async def table(self, e):
        cur = await self.eye.execute(f"SELECT {', '.join(E[e].key)}, {', '.join(self.columns(e))} FROM {e}"); n = len(E[e].key); return {x[:n]: x[n:] for x in await cur.fetchall()}
    # ---- faults --------------------------------------------------------------------------------------------------------------
    async def fault(self, kind):
        await asyncio.sleep(self.r.random() * .5); self.faults += 1; self.causes.add("fault:" + kind)
        if kind in ("listener", "reader", "all"):
            q = "SELECT pid, query FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name NOT LIKE 'oracle-%' AND datname = current_database() AND pid <> pg_backend_pid()"
            pids = await (await self.admin.execute(q)).fetchall(); listen = [p for p, s in pids if s.strip().lower().startswith("listen")]; other = [p for p, s in pids if p not in listen]
            hit = [p for p, _ in pids] if kind == "all" else (listen or other[:1]) if kind == "listener" else (self.r.sample(other, 1) if other else listen)
            for p in hit: await self.admin.execute("SELECT pg_terminate_backend(%s)", [p])
        elif kind == "restart":
            self.down = True; pg = [os.path.join(os.environ["PGBIN"], "pg_ctl"), "-D", os.path.join(os.environ["PGDIR"], "data"), "-w", "-l", os.path.join(os.environ["PGDIR"], "log")]; pg = (["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []) + pg
            for cmd in (["-m", "immediate", "stop"], ["start"]): await (await asyncio.create_subprocess_exec(*pg, *cmd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)).wait()
            self.admin = await self.connect("admin"); self.historian = await self.connect("historian"); self.down = False
        elif kind == "pause": await self.agent.kill(signal.SIGSTOP); await asyncio.sleep(1 + self.r.random()); await self.agent.kill(signal.SIGCONT)
    async def restart_agent(self):
        self.causes.add("fault:agent"); self.faults += 1; self.schema_due = set()  # a new process begins with the new model
        async with self.lock: await self.agent.kill()
        self.agent = Agent(self, self.a.agent); await self.agent.start()
        for l in self.lives.values(): l.rows = None; l.since = self.at(); self.agent.send(l.q.message(self.a.mock))
        for s in self.streams.values():
            if (w := self.open_stream(s.id, s.entities, s.cursor)) is not None: await w; s.events.append({"event": "everything", "id": s.id, "reason": "no cursor yet", "at": len(self.chain) - 1})
        for x in list(self.contexts): self.contexts[x]["staged"] = {}; await self.load_context(x, fresh=False)
    # ---- a batch ---------------------------------------------------------------------------------------------------------------
    async def batch(self, b):
        self.b, r = b, self.r; kind = r.choices(["plain", "storm", "truncate", "column", "partition"], [66, 20, 6, 5 if sum(map(len, self.extra.values())) < 12 else 0, 3 if self.parts < 7 else 0])[0]
        fault = r.choice(self.a.fault or ["listener", "reader", "all", "restart", "agent", "pause"]) if r.random() < self.a.faults else None
        if fault == "restart" and not os.environ.get("PGDIR"): fault = "listener"
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if fault: self.kinds[fault] = self.kinds.get(fault, 0) + 1
        self.serial, self.eager, self.storm, self.unknown, self.causes = kind != "storm" or fault in ("restart", "agent"), fault == "restart", [], [], set()
        base = self.chain[-1]; base.snap = None; self.chain = [base]
        for l in self.lives.values(): l.since = 0; l.pending = [(x, 0, w) for x, _, w in l.pending]
        if self.serial and not self.eager:
            await self.historian.execute("BEGIN")
            if kind != "truncate": base.snap = (await (await self.historian.execute("SELECT pg_export_snapshot()")).fetchone())[0]
        if self.eager or (kind == "truncate" and self.serial): await self.read_state(base, None, tables=False)
        if kind == "truncate" and self.serial and not await self.special("truncate") and not self.eager: base.snap = (await (await self.historian.execute("SELECT pg_export_snapshot()")).fetchone())[0]
        loose = kind == "storm" and r.random() < .25 and not self.serial  # TRUNCATE falsifies the old snapshots of a serial batch
        few = [{"seed": r.random(), "steps": [x], "end": "commit"} for x in writers.refill(r, {e: len(base.tables[e]) for e in TABLES})] + self.rivals; self.rivals = []
        jobs = [self.writer(i, few[i::8] + [self.plan(fault == "restart") for _ in range(r.randint(1, 2) if fault == "restart" else r.randint(1, 4))]) for i in range(8) if i not in self.busy] + [self.finish_open()]
        if kind in ("column", "partition") or loose: jobs.append(self.delayed(kind if not loose else "truncate"))
        if fault and fault != "agent": jobs.append(self.fault(fault))
        if b % 4 == 3 and not fault: jobs.append(self.reopen())
        if b % 3 == 1 and fault not in ("agent", "restart"): jobs.append(self.stage())
        got = asyncio.gather(*[asyncio.create_task(j) for j in jobs], return_exceptions=True)
        for x in await asyncio.wait_for(got, 120):
            if isinstance(x, Wrong): self.fail(str(x))
            elif isinstance(x, BaseException) and not isinstance(x, psycopg.Error): raise x
        if fault == "restart": await self.after_restart()
        if fault == "agent": await self.restart_agent()
        if b % 3 == 0 and not fault and self.serial: await self.save()
        await self.quiesce(40 if fault else self.a.deadline, loose)
        if b % 20 == 19:
            n = (await (await self.admin.execute("SELECT count(*) FROM pg_stat_activity WHERE query ~* '^ *listen' AND application_name NOT LIKE 'oracle-%'")).fetchone())[0]
            if n > 1: self.fail("more than one listening connection", given=n)
        if b % 7 == 6:
            n = self.updates, sum(len(s.events) for s in self.streams.values()); await asyncio.sleep(.25)
            if n != (self.updates, sum(len(s.events) for s in self.streams.values())): self.fail("(c) something is sent although nothing changed", updates=self.updates - n[0], streams=short([s.events[-1] for s in self.streams.values() if s.events]))
        if self.serial and not self.eager: await self.historian.execute("ROLLBACK")
        if self.new_extra:
            for e, cs in self.new_extra.items(): self.extra.setdefault(e, []).extend(cs)
            self.new_extra = {}; last = Commit(None, {}); last.evals = self.chain[-1].evals; self.chain = [last]; await self.read_state(last, [])
            for s in list(self.streams.values()):  # a context with the new model
                if (w := self.resume(s)) is not None: await w
            self.serial, self.storm = False, []; await self.quiesce(self.a.deadline, True)
        for l in [l for l in self.lives.values() if l.broken]: self.close_request(l.q.id); self.open_request()
        if b % 10 == 9:
            x = r.choice(list(self.contexts)); self.agent.send({"op": "close", "id": x}); del self.contexts[x]; await self.load_context(f"x{self.token()}")
    async def delayed(self, kind): await asyncio.sleep(self.r.random() * .3); await self.special(kind)
    async def reopen(self):
        await asyncio.sleep(self.r.random() * .3)
        for ident in self.r.sample(list(self.lives), min(3, len(self.lives))): self.close_request(ident); self.open_request()
        for s in [s for s in self.streams.values() if s.id.startswith("c2") and s.cursor is not None]: self.resume(s)
    async def stage(self):
        for ident, x in self.contexts.items():
            for l in x["loads"]:
                if l["entity"] == "person" and len(x["staged"]) < 3:
                    k = self.r.choice(l["keys"]); v = f"staged {self.token()}"
                    got = await self.agent.ask({"op": "stage", "context": ident, "entity": "public.person", "key": k, "values": {"nick": v}}, "staged")
                    if got.get("ok", True):
                        if self.r.random() < .4: self.rivals.append({"seed": self.r.random(), "steps": [[("UPDATE person SET nick = 'rival', v = nextval('v_seq') WHERE id = %s", k, {"person": {"nick", "v"}})]], "end": "commit"})
                        x["staged"][tup(k)] = {"nick": v, "was": self.chain[-1].tables["person"].get(tup(k)) if self.chain[-1].tables else self.chain[0].tables["person"].get(tup(k))}
    async def save(self):
        """A context writes what it holds; the transaction has a row in the ledger as any other."""
        for ident, x in self.contexts.items():
            if not x["staged"]: continue
            ids = [k[0] for k in x["staged"]]; there = (await (await self.admin.execute("SELECT count(*) FROM person WHERE id = ANY(%s)", [ids])).fetchone())[0]
            if len(await (await self.admin.execute("SELECT id FROM person WHERE id = ANY(%s) FOR NO KEY UPDATE SKIP LOCKED", [ids])).fetchall()) < there: continue  # by an open transaction: the save would wait
            self._txn += 1; txn = self._txn; now = await (await self.admin.execute("SELECT id, nick FROM person WHERE id = ANY(%s)", [[k[0] for k in x["staged"]]])).fetchall(); now = dict(now)
            clash = any(k[0] not in now or s["was"] is None or now[k[0]] != s["was"][E["person"].names.index("nick")] for k, s in x["staged"].items())
            async with self.lock:
                got = await self.agent.ask({"op": "save", "context": ident, "txn": txn}, "saved", 30)
                there = await (await self.admin.execute("SELECT count(*) FROM ledger WHERE txn = %s", [txn])).fetchone()
                if bool(there[0]) != got["ok"]: self.fail("a save that says one thing and does another", given=got)
                self.saves += 1
                if clash: self.conflicts[1] += 1; self.conflicts[0] += not got["ok"]
                if got["ok"]:
                    self.commits += 1; c = Commit(txn, {"person": {"nick"}, "ledger": None}); self.chain.append(c); c.snap = (await (await self.historian.execute("SELECT pg_export_snapshot()")).fetchone())[0]
                    for k, s in x["staged"].items():
                        n = await (await self.admin.execute("SELECT nick FROM person WHERE id = %s", [k[0]])).fetchone()
                        if n and n[0] != s["nick"]: self.fail("a saved value is not in the database", key=list(k), expected=s["nick"], given=n[0])
                else: await self.agent.ask({"op": "discard", "context": ident}, "discarded")
            x["staged"] = {}
    async def after_restart(self):
        self.doubt = False; self.eye = await self.connect("eye")
        for g, (txn, touched) in list(self.prepared.items()): self.unknown.append((txn, touched))
        self.prepared = {}; self.open = []; self.busy = set()
        for i in range(8): await self.w[i].close(); self.w[i] = await self.writer_connection(i)  # with what was left open on connections made since
        for g in [x[0] for x in await (await self.admin.execute("SELECT gid FROM pg_prepared_xacts")).fetchall()]: await self.admin.execute(f"ROLLBACK PREPARED '{g}'")
        have = {x[0] for x in await (await self.admin.execute("SELECT txn FROM ledger")).fetchall()}; known = {c.txn for c in self.chain}; late = [(t, x) for t, x in self.unknown if t in have and t not in known]
        lost = [c for c in self.chain[1:] if c.lost or c.tables is None]
        if late or lost:
            if len(late) > 1: self.log.append(("restart", f"{len(late)} unknown commits"))
            for t, x in late: c = Commit(t, x); c.lost = True; self.chain.append(c)
            self.chain[-1].lost = False; todo = self.chain[-1]; touched = {e: None for c in self.chain[1:] for e in c.touched if e[0] != "!"}
            first = next(i for i, c in enumerate(self.chain) if c.tables is None or c is todo); before = dict(self.chain[first - 1].tables); todo.evals, todo.tables = {}, None
            await self.eye_tables(todo, before, touched)
            for c in self.chain[first:]: c.tables = todo.tables
            await self.read_state(todo, None, tables=False)
    async def eye_tables(self, c, before, touched):
        if self.eye.closed or self.eye.broken: self.eye = await self.connect("eye")
        c.tables = before
        for e in closure(touched): c.tables[e] = await self.table(e)
    async def quiesce(self, deadline, loose):
        """Marker, then all comparisons."""
        self._marker += 1; self._txn += 1; conn = self.admin
        await conn.execute("BEGIN"); await conn.execute("UPDATE sync_marker SET value = %s", [self._marker]); await conn.execute("INSERT INTO ledger VALUES (%s, 100)", [self._txn]); await self.committed(conn, "COMMIT", self._txn, {"ledger": None})
        start = time.time(); self.agent.send({"op": "sync", "marker": self._marker})
        try: await self.agent.wait(("synced", self._marker), deadline)
        except Wrong as e: self.fail(f"not current: {e}"); raise
        synced = time.time(); final = self.chain[-1] if self.serial else Commit(None, {})
        if not self.serial: final.touched = {e: None for e in TABLES}; self.chain.append(final)
        await self.read_state(final, None)
        behind = [l for l in self.lives.values() if not self.equal(l, l.rows, final.evals[l.q.id])]; was = bool(behind); asked = time.time()
        while behind and time.time() - synced < deadline: await asyncio.sleep(.02); behind = [l for l in behind if not l.broken and not self.equal(l, l.rows, final.evals[l.q.id])]
        if was: self.late += 1; self.late_ms = max(self.late_ms, (time.time() - asked) * 1000)
        for l in behind:
            if l.broken: continue
            l.broken = True; w = final.evals[l.q.id]; i = next((i for i, (x, y) in enumerate(zip(w, l.normal(l.rows or []))) if x != y), min(len(w), len(l.rows or [])))
            self.fail("the list is not the request's result after sync", request=l.q.id + " " + self.say(l.q), sql=l.q.sql, parameters=l.q.params, expected=f"{len(w)} rows; from {i}: {short(w[i:i + 2])}", given="no result at all" if l.rows is None else f"{len(l.rows)} rows; from {i}: {short(l.normal(l.rows)[i:i + 2])}", wanted_only=[x for x in w if x not in (l.rows or [])][:5], given_only=[x for x in (l.rows or []) if x not in w][:5])
        if self.serial: await self.intermediate(final)
        for l in self.lives.values(): l.pending = []; l.since = 0
        await self.streams_end(loose, deadline); await self.contexts_end(deadline)
        if self.schema_due:
            end = time.time() + 20
            while not self.schema_due <= self.schema_seen and time.time() < end: await asyncio.sleep(.05)
            if not self.schema_due <= self.schema_seen: self.fail("schemaChanges did not tell", expected=sorted(self.schema_due), given=sorted(self.schema_seen))
            self.schema_seen, self.schema_due = set(), set()
        if not self.serial: self.chain = [final]
    def equal(self, l, rows, want):
        if rows is None: return False
        if l.q.sort: return rows == want
        return l.normal(rows) == sorted(want, key=lambda x: x[0])
    def same(self, l, rows, want): return self.equal(l, rows, want) if self.exact else ([x[0] for x in l.normal(rows)] == [x[0] for x in (want if l.q.sort else sorted(want, key=lambda x: x[0]))])
    async def intermediate(self, final):
        todo = []
        for l in self.lives.values():
            if l.broken or not l.pending: continue
            if len(l.pending) == 1 and self.same(l, l.pending[0][0], final.evals[l.q.id]): l.pending = []; continue
            todo.append(l); l.left = list(l.pending)
        for k, c in enumerate(self.chain):
            want = [l for l in todo if l.left and l.left[0][1] <= k]
            if not want: continue
            miss = [l for l in want if l.q.id not in c.evals]
            if miss and not c.lost and (c.snap or c is final): await self.read_state(c, miss, tables=False)
            for l in want:
                if l.q.id not in c.evals: continue
                while l.left and l.left[0][1] <= k and self.same(l, l.left[0][0], c.evals[l.q.id]): l.left.pop(0); l.found = k
        for l in todo:
            if l.left:
                l.broken = True; rows, since, why = l.left[0]; n = len(l.pending) - len(l.left); keys = [x[0] for x in l.normal(rows)]
                again = [k for k, c in enumerate(self.chain) if l.q.id in c.evals and self.same(l, rows, c.evals[l.q.id])]
                near = min((c.evals[l.q.id] for c in self.chain if l.q.id in c.evals), key=lambda w: sum(x not in rows for x in w) + sum(x not in w for x in rows), default=[])
                self.fail("(b) an update shows " + (f"an earlier state ({again[-1]} of {len(self.chain) - 1}) than what was shown or opened before it" if again else "a state that this batch never had"), request=l.q.id + " " + self.say(l.q), sql=l.q.sql, parameters=l.q.params,
                          which=f"update {n + 1} of {len(l.pending)} in this batch ({why}); {len(self.chain)} states", expected=f"in the nearest state only: {short([x for x in near if x not in rows][:2])}", given=f"in the update only: {short([x for x in rows if x not in near][:2])}")
    # ---- changes(of:) ------------------------------------------------------------------------------------------------------------
    def allowed_gap(self): return bool(self.causes & ({"bulk", "truncate", "ddl"} | ({"fault:restart", "fault:listener", "fault:reader", "fault:all", "fault:agent", "fault:pause"} if self.a.lenient_gaps else set())))
    async def streams_end(self, loose, deadline):
        end = time.time() + deadline
        for s in self.streams.values():
            last = self._txn
            while time.time() < end and not any(ev["event"] == "everything" and ev["at"] >= len(self.chain) - 1 for ev in s.events) and not any(last in self.ledger(ev) for ev in s.events[-50:] if ev["event"] == "changes"): await asyncio.sleep(.02)
        if not self.serial: pass
        for c in self.chain:
            if c.tables is None and (c.snap or c is self.chain[-1]): await self.read_state(c, [])
        for s in self.streams.values():
            events, s.events = s.events, []
            try: self.check_stream(s, events, loose)
            except Wrong as x: self.fail(f"changes(of:) {s.id}: {x.args[0]}", **(x.args[1] if len(x.args) > 1 else {}))
    def ledger(self, ev): return {x["key"][0] for x in ev["inserted"] if x["entity"] == "public.ledger"}
    def check_stream(self, s, events, loose):
        order = {c.txn: k for k, c in enumerate(self.chain) if c.txn} if self.serial else {t: 0 for t, _ in self.storm}
        n = len(self.chain) - 1; pos, skip, seen = 0, -1, set(); base, final = self.chain[0].tables, self.chain[-1].tables; fold = {e: set(base[e]) for e in s.entities}; told = {}; blind = set(); reset = False
        for ev in events:
            if ev["event"] == "everything":
                if not self.allowed_gap(): raise Wrong("a gap without a cause", {"reason": ev.get("reason"), "causes": sorted(self.causes)})
                skip, reset = ev["at"], True; continue
            lists = {k: {} for k in ("inserted", "updated", "deleted")}
            for k, d in lists.items():
                for x in ev[k]:
                    e = x["entity"].split(".", 1)[1]; key = (e, tup(x["key"]))
                    if e not in s.entities: raise Wrong("an entity that was not asked for", {"given": x})
                    if key in d: raise Wrong("one key twice in one batch", {"given": x, "list": k})
                    if k == "updated" and "was" in x and x["was"] != x["key"]: lists["deleted"][(e, tup(x["was"]))] = x; lists["inserted"][key] = x; continue
                    d[key] = x
            ins, upd, dele = lists["inserted"], lists["updated"], lists["deleted"]; unnamed = {x.split(".", 1)[1] for x in ev.get("unnamed", [])}; blind |= unnamed
            if unnamed and not self.causes & {"bulk", "truncate", "ddl"}: raise Wrong("unnamed changes without a cause", {"given": sorted(unnamed)})
            T = {k[0] for e, k in ins if e == "ledger"}
            if twice := T & seen: raise Wrong("a transaction comes twice", {"transactions": sorted(twice)})
            if strange := [t for t in T if t not in order]: raise Wrong("a transaction that was not committed, or was told before", {"transactions": strange, "causes": sorted(self.causes), "expected": sorted(order)[-5:]})
            seen |= T
            if not T and "ledger" not in unnamed: raise Wrong("changes without their transaction's row in the ledger: not whole, or told twice", {"given": [ev[k][:2] for k in lists]})
            for e, k in dele: fold[e].discard(k)
            for e, k in ins: fold[e].add(k)
            for (e, k), x in list(upd.items()) + list(ins.items()):
                told.setdefault((e, k), set()).update(x.get("columns") or []); fold[e].add(k)
                if (e, k) in ins: told[e, k].add("*")
            for e, k in dele: told.setdefault((e, k), set()).add("*")
            if not self.serial: continue
            idx = sorted(order[t] for t in T)
            if not (idx[0] == pos + 1 or (skip >= 0 and pos < idx[0] <= skip + 1)): raise Wrong("transactions are missing before this batch" if idx[0] > pos + 1 else "a batch out of order", {"expected": f"from commit {pos + 1} of {n} (transaction {self.chain[min(pos + 1, n)].txn})", "given": sorted(T), "missing": [self.chain[k].txn for k in range(pos + 1, idx[0])]})
            if idx != list(range(idx[0], idx[-1] + 1)): raise Wrong("not the transactions that became visible one after another", {"given": [self.chain[k].txn for k in idx], "missing": [self.chain[k].txn for k in range(idx[0], idx[-1]) if k not in idx]})
            pos, skip = idx[-1], -1; a, z = self.chain[idx[0] - 1].tables, self.chain[pos].tables
            touched = {}
            for k in idx:
                for e, cs in self.chain[k].touched.items(): touched[e] = None if cs is None or touched.get(e, ()) is None else touched.get(e, set()) | cs
            for e in s.entities:
                if e in unnamed: continue
                may = closure([x for x in touched if x[0] != "!"]); names = self.columns(e); free = touched.get(e, set()) is None
                for k in set(a[e]) | set(z[e]) if a[e] is not z[e] else ():
                    x, y = a[e].get(k), z[e].get(k)
                    if x == y: continue
                    both = (e, k) in ins and (e, k) in dele
                    if x is None and (e, k) not in ins: raise Wrong("an inserted row is missing", {"row": [e, list(k)], "transactions": sorted(T), "given": self.near(lists, e, k)})
                    if y is None and (e, k) not in dele: raise Wrong("a deleted row is missing", {"row": [e, list(k)], "transactions": sorted(T), "given": self.near(lists, e, k)})
                    if x is not None and y is not None and not both:
                        cols = {c for c, p, q in zip(names, x, y) if p != q}
                        if (e, k) not in upd: raise Wrong("an updated row is missing", {"row": [e, list(k)], "columns": sorted(cols), "transactions": sorted(T), "given": self.near(lists, e, k)})
                        if not cols <= set(upd[e, k].get("columns") or names): raise Wrong("changed columns are missing", {"row": [e, list(k)], "expected": sorted(cols), "given": upd[e, k].get("columns")})
                for d, name in ((ins, "inserted"), (upd, "updated")):
                    for (e2, k) in d:
                        if e2 == e and k not in z[e]: raise Wrong(f"a row that is not there is {name}", {"row": [e, list(k)], "transactions": sorted(T)})
                        if e2 == e and e not in may: raise Wrong(f"a row of an entity that nobody touched is {name}", {"row": [e, list(k)], "transactions": sorted(T)})
                        if e2 == e and d is ins and k in a[e] and (e, k) not in dele: raise Wrong("a row that was there is inserted", {"row": [e, list(k)], "transactions": sorted(T)})
                for (e2, k) in dele:
                    if e2 == e and k in z[e] and (e, k) not in ins: raise Wrong("a row that is there is deleted", {"row": [e, list(k)], "transactions": sorted(T)})
                if not free:
                    fk = {c for c in E[e].names if c.endswith("_id")} | ({"project_no"} if e == "milestone" else set()) | ({"task_count"} if e == "project" else set()) | {"v"} | set(E[e].key) | {c for l in self.new_extra.values() for c in l}
                    for (e2, k), x in upd.items():
                        if e2 == e and not set(x.get("columns") or []) <= touched.get(e, set()) | fk: raise Wrong("columns that no statement set", {"row": [e, list(k)], "expected": sorted(touched.get(e, set())), "given": x.get("columns")})
        if self.serial and pos != n and not (skip >= 0 and n <= skip): raise Wrong("the last transactions are missing", {"expected": n, "given": pos, "missing": [self.chain[k].txn for k in range(pos + 1, n + 1)][:20]})
        if not self.serial and not reset and set(order) - seen: raise Wrong("transactions are missing", {"missing": sorted(set(order) - seen)[:20]})
        if reset or loose: return
        for e in s.entities:
            if e in blind: continue
            if fold[e] != set(final[e]): raise Wrong("the sum of all changes is not what is there", {"entity": e, "too many": [list(k) for k in fold[e] - set(final[e])][:5], "too few": [list(k) for k in set(final[e]) - fold[e]][:5]})
            for k in set(base[e]) & set(final[e]) if base[e] is not final[e] else ():
                x, y = base[e][k], final[e][k]
                if x != y:
                    cols = {c for c, p, q in zip(self.columns(e), x, y) if p != q}; t = told.get((e, k), set())
                    if not t: raise Wrong("a changed row was never told", {"row": [e, list(k)], "columns": sorted(cols)})
                    if "*" not in t and not cols <= t: raise Wrong("changed columns were never told", {"row": [e, list(k)], "expected": sorted(cols), "given": sorted(t)})
    def near(self, lists, e, k): return {n: [x for (f, j), x in d.items() if f == e and (j == k or n == "deleted")][:3] for n, d in lists.items()}
    # ---- contexts ----------------------------------------------------------------------------------------------------------------
    async def contexts_end(self, deadline):
        for ident, x in self.contexts.items():
            end = time.time() + deadline; faults = None
            want = {}
            for l in x["loads"]:
                rows = (await (await self.admin.execute(self.load_sql(l))).fetchone())[0]; want[l["load"]] = {tup(w[0]): w for w in rows}
            while True:
                got = await self.agent.ask({"op": "read", "context": ident}, "read"); faults = self.context_faults(x, want, got["objects"])
                if not faults or time.time() > end: break
                await asyncio.sleep(.05)
            if got.get("statements"): faults.append(("reading loaded objects sent statements", {"given": got["statements"]}))
            for what, facts in faults[:2]: self.fail(f"context {ident}: {what}", **facts)
    def context_faults(self, x, want, objects):
        out = []; have = {(o["load"], tup(o["handle"])): o for o in objects}
        for l in x["loads"]:
            e = E[l["entity"]]
            for k in map(tup, l["keys"]):
                o = have.get((l["load"], k)); fact = {"object": [l["entity"], list(k)]}
                if not o: out.append(("a loaded object is gone", fact)); continue
                w = want[l["load"]].get(k); moved = tup(o.get("key") or k) != k
                if moved: continue  # a changed key that the object followed: its row is another one's, checked where it was loaded
                if w is None:
                    if not o["deleted"]: out.append(("a deleted object does not say so", fact))
                    else: x["staged"].pop(k, None) if l["entity"] == "person" else None
                    continue
                if o["deleted"]:
                    if k not in x.setdefault("dead", set()) and not self.came_back(l["entity"], k): out.append(("an object says that it is deleted, but is there", fact))
                    continue
                st = x["staged"].get(k, {}) if l["entity"] == "person" else {}
                for i, c in enumerate(e.names):
                    v = st[c] if c in st else w[1][i]
                    if o["values"].get(c, MISSING) != v: out.append(("a staged value was lost" if c in st else "a loaded object's value is old", {**fact, "attribute": c, "expected": v, "given": o["values"].get(c, MISSING)})); break
                i = 2
                for n in l["sets"]:
                    g = o["sets"].get(n); g = g if (l["entity"], n) in ORDERED or g is None else sorted(g); ex = w[i] if (l["entity"], n) in ORDERED else sorted(w[i]); i += 1
                    if g != ex: out.append(("a loaded set is wrong", {**fact, "set": n, "expected": ex, "given": g}))
                for n in l["counts"]:
                    if o["counts"].get(n) != w[i]: out.append(("a loaded count is wrong", {**fact, "set": n, "expected": w[i], "given": o["counts"].get(n)}))
                    i += 1
                for n in l["ones"]:
                    if o["ones"].get(n) != w[i]: out.append(("a to-one end is wrong", {**fact, "key": n, "expected": w[i], "given": o["ones"].get(n)}))
                    i += 1
        # an object that was deleted once may stay so when its key comes back: Kindred's choice, see AGENT.md
        for o in objects:
            if o["deleted"]: x.setdefault("dead", set()).add(tup(o["handle"]))
        return [f for f in out]
    def came_back(self, e, k):
        """Whether the row was away, or was replaced, in this batch."""
        if not self.serial: return True
        return any(c.tables and p.tables and (k not in c.tables[e] or (c.touched.get(e, ()) is None and c.tables[e].get(k) != p.tables[e].get(k))) for p, c in zip(self.chain, self.chain[1:]))
    # ---- all of it -----------------------------------------------------------------------------------------------------------------
    async def run(self):
        began = time.time(); await self.start(); first = Commit(None, {}); self.chain = [first]; await self.read_state(first, [])
        for _ in range(self.a.requests): self.open_request()
        await self.open_stream("c1", [e for e in TABLES]); await self.open_stream("c2", ["ledger", "person", "email", "person_tag", "event", "task"])
        for i in range(2): await self.load_context(f"x{i}")
        await self.historian.execute("BEGIN"); first.snap = (await (await self.historian.execute("SELECT pg_export_snapshot()")).fetchone())[0]; done = 0
        try:
            await self.quiesce(60, True); await self.historian.execute("ROLLBACK")
            for b in range(self.a.batches):
                if self.a.seconds and time.time() - began > self.a.seconds: break
                await self.batch(b); done += 1
                if self.a.progress and b % self.a.progress == self.a.progress - 1: print(f"  batch {b + 1}: {self.updates} updates, {self.changes} changes, {self.commits} commits, {self.wrong} wrong, {time.time() - began:.0f} s", file=sys.stderr, flush=True)
                if self.wrong and not self.a.keep_going: break
        except Wrong: pass
        except Exception: self.fail("the driver stopped", trace=traceback.format_exc()[-1500:])
        try: await self.agent.kill()
        except Exception: pass
        if self.wrong:
            try: tail = open(self.agent_log.name, errors="replace").read()[-800:]; tail and print("agent's log ends: " + tail, file=sys.stderr)
            except OSError: pass
        if self.a.verbose:
            print("  rows", {e: (await (await self.admin.execute(f"SELECT count(*) FROM {e}")).fetchone())[0] for e in TABLES}, file=sys.stderr)
            from collections import Counter
            print("  kinds", self.kinds, "aborts", Counter(x for x, _ in self.log).most_common(8), Counter(self.log).most_common(12), file=sys.stderr)
        print(f"LIVE: {done} batches, {self.updates} updates, {self.wrong} wrong (seed {self.a.seed}; {self.changes} changes, {self.commits} commits, {self.aborted} aborted, {self.faults} faults, {self.gaps} gaps, {self.states} states asked, {self.late} batches late by up to {self.late_ms:.0f} ms, {self.saves} saves, conflicts noticed {self.conflicts[0]} of {self.conflicts[1]}; {time.time() - began:.0f} s)" + (f"; first: batch {self.failures[0][0]}, {self.failures[0][1]}" if self.failures else ""), flush=True)
        return 1 if self.wrong else 0

if __name__ == "__main__":
    p = argparse.ArgumentParser(); p.add_argument("--agent", required=True); p.add_argument("--enable"); p.add_argument("--mock", action="store_true"); p.add_argument("--seed", type=int, default=None); p.add_argument("--batches", type=int, default=200)
    p.add_argument("--requests", type=int, default=100); p.add_argument("--faults", type=float, default=.1); p.add_argument("--fault", action="append", choices=["listener", "reader", "all", "restart", "agent", "pause"]); p.add_argument("--seconds", type=float, default=0); p.add_argument("--deadline", type=float, default=10); p.add_argument("--views", action="store_true")
    p.add_argument("--lenient-gaps", action="store_true"); p.add_argument("--keep-going", action="store_true"); p.add_argument("--show", type=int, default=5); p.add_argument("--progress", type=int, default=0); p.add_argument("--verbose", action="store_true"); p.add_argument("--tmp", default=os.environ.get("PGDIR", "/tmp"))
    a = p.parse_args(); a.seed = a.seed if a.seed is not None else random.SystemRandom().randint(1, 10**6)
    sys.exit(asyncio.run(Oracle(a).run()))
