import { readFile } from "node:fs/promises";
import { type Kv, openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { nearestName } from "../src/errors/nearest-name.js";
import * as orm from "../src/index.js";
import {
  belongsTo,
  createDatabase,
  decimal,
  defineJob,
  defineMigration,
  defineModel,
  hasMany,
} from "../src/index.js";
import { denoKv, interferingKv } from "./faulty-kv.js";
import { contextOf } from "./migration-run.js";

/** Part of the rows and queries of all tests. No message may contain it. */
const secret = "ada@example.com";

const User = defineModel({
  name: "users",
  schema: z.strictObject({
    id: z.string(),
    email: z.email(),
    name: z.string(),
    age: z.number().optional(),
    address: z.object({ city: z.string(), zips: z.array(z.string()) }).optional(),
    scores: z.record(z.string(), z.number()).optional(),
    role: z.enum(["admin", "member"]).default("member"),
    tags: z.array(z.string()).default([]),
  }),
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true },
    byRole: { key: "role" },
    byTags: { key: "tags", each: true },
    byRoleAndAge: { key: ["role", "age"] },
    byAdult: { key: "name", where: ({ age = 0 }) => age > 17 },
  },
  relations: { posts: hasMany("posts", "authorId") },
});
const Post = defineModel({
  name: "posts",
  schema: z.object({ id: z.string(), authorId: z.string(), title: z.string() }),
  primaryKey: "id",
  indexes: { byAuthorId: { key: "authorId" } },
  relations: { author: belongsTo("users", "authorId") },
});
const models = { users: User, posts: Post };
const ada = { id: secret, email: secret, name: secret };

const SendMail = defineJob({ name: "send-mail", schema: z.object({ userId: z.ulid() }) });
const mailId = "01J9ZK4T0000000000000000ZZ";

const open = (kv: Kv) => createDatabase({ kv, models });
type Database = Awaited<ReturnType<typeof open>>;

/** Calls with invalid types, which the compiler refuses. */
type AnyCalls = Record<string, Record<string, (argument: unknown) => PromiseLike<unknown>>>;
const untyped = (db: object) => db as unknown as AnyCalls;
const define = (definition: object) => defineModel(definition as never);

interface Place {
  readonly kv: Kv;
  readonly db: Database;
  /** The database for calls with invalid arguments. */
  readonly calls: { readonly users: AnyCalls[string]; readonly posts: AnyCalls[string] };
}

type Provoke = (place: Place) => unknown;

/** Returns the error that calls on a database with one user throw. */
async function errorOf(provoke: Provoke): Promise<Error> {
  const kv = await openKv();
  try {
    const db = await open(kv);
    await db.users.create({ data: ada });
    await provoke({ kv, db, calls: untyped(db) as unknown as Place["calls"] });
  } catch (error) {
    return error as Error;
  } finally {
    await kv.close();
  }
  throw new Error("no call has thrown");
}

async function messageOf(provoke: Provoke): Promise<string> {
  const error = await errorOf(provoke);
  expect(error.message).not.toContain(secret);
  // `console.log` prints the stack, which begins with the message.
  expect(error.stack).toContain(error.message);
  expect(error.stack).not.toContain(secret);
  return error.message;
}

const cases: readonly [name: string, text: string, provoke: Provoke][] = [
  [
    "ModelDefinitionError",
    'users: indexes.byMail.key is not valid: the schema has no field "emial"; did you mean "email"?',
    () => define({ ...User, indexes: { byMail: { key: "emial" } } }),
  ],
  [
    "RowInvalidError",
    "users.create: the row does not fit the schema: email (Invalid email address), age (expected number)",
    ({ calls }) => calls.users!.create!({ data: { ...ada, email: `${secret}!`, age: secret } }),
  ],
  [
    "StoredRowInvalidError",
    "users.findUnique: a stored row does not fit the schema: it is not an object; correct the row (id says which), or the schema",
    async ({ kv, db }) => {
      await kv.set(["users", secret], secret);
      await db.users.findUnique({ where: { id: secret } });
    },
  ],
  [
    "RowNotFoundError",
    "users.update: no row has this email; create the row first, or call upsert",
    ({ db }) => db.users.update({ where: { email: `x${secret}` }, data: {} }),
  ],
  [
    "UniqueConstraintError",
    "users.create: email is already taken (unique index byEmail); use another value, or change the row that has it",
    ({ db }) => db.users.create({ data: { ...ada, id: "2" } }),
  ],
  [
    "VersionConflictError",
    "users.update: the row has another version than ifVersion; read it again and decide",
    ({ db }) =>
      db.users.update({ where: { id: secret }, data: { name: secret }, ifVersion: "0".repeat(20) }),
  ],
  [
    "PrimaryKeyChangeError",
    "users.update: id is in the primary key, which cannot change; create a row with the new key, then delete the old one",
    ({ calls }) => calls.users!.update!({ where: { id: secret }, data: { id: "2" } }),
  ],
  [
    "ReferenceMissingError",
    "posts.create: authorId refers to a row of users that does not exist (relation author); create that row first",
    ({ db }) => db.posts.create({ data: { id: "1", authorId: `x${secret}`, title: secret } }),
  ],
  [
    "RowReferencedError",
    "users.delete: a row of posts refers to the row (relation author); delete or change that row first, or define the relation with another onDelete",
    async ({ db }) => {
      await db.posts.create({ data: { id: "1", authorId: secret, title: secret } });
      await db.users.delete({ where: { id: secret } });
    },
  ],
  [
    "ReferenceRequiredError",
    "owners.update: data.pets.set: a row of pets refers to the row, and ownerId cannot be empty; delete that row, or connect it to another one",
    async ({ kv }) => {
      const id = z.string();
      const Pet = define({
        name: "pets",
        schema: z.object({ id, ownerId: id }),
        primaryKey: "id",
        indexes: { byOwner: { key: "ownerId" } },
      });
      const Owner = define({
        name: "owners",
        schema: z.object({ id }),
        primaryKey: "id",
        relations: { pets: hasMany("pets", "ownerId") },
      });
      const { owners } = untyped(
        await createDatabase({ kv, models: { pets: Pet, owners: Owner } as never }),
      );
      await owners!.create!({ data: { id: secret, pets: { create: { id: secret } } } });
      await owners!.update!({ where: { id: secret }, data: { pets: { set: [] } } });
    },
  ],
  [
    "AmountInvalidError",
    "places.create: price cannot be added to its sum, which holds decimal numbers with at most 2 digits after the point; round the value",
    async ({ kv }) => {
      const Place = define({
        name: "places",
        schema: z.object({ id: z.string(), price: z.string() }),
        primaryKey: "id",
        sum: [decimal("price", 2)],
      });
      const db = await createDatabase({ kv, models: { places: Place } as never });
      await untyped(db).places!.create!({ data: { id: "1", price: secret } });
    },
  ],
  [
    "ComputedFieldError",
    "places.create: the computed field label has no value: its function threw an error, which is the cause; correct the function",
    async ({ kv }) => {
      const Place = define({
        name: "places",
        schema: z.object({ id: z.string() }),
        primaryKey: "id",
        computed: {
          label: () => {
            throw new Error(secret);
          },
        },
      });
      const db = await createDatabase({ kv, models: { places: Place } as never });
      await untyped(db).places!.create!({ data: { id: "1" } });
    },
  ],
  [
    "IndexKeyError",
    "places.create: the index byAt cannot hold at, whose type is object; a key holds strings, numbers, bigints, booleans, Uint8Arrays and dates",
    async ({ kv }) => {
      const Place = define({
        name: "places",
        schema: z.object({ id: z.string(), at: z.any() }),
        primaryKey: "id",
        indexes: { byAt: { key: "at" } },
      });
      const db = await createDatabase({ kv, models: { places: Place } as never });
      await untyped(db).places!.create!({ data: { id: "1", at: { [secret]: secret } } });
    },
  ],
  [
    "UnknownIndexError",
    'users.findMany: there is no index "byEmial"; did you mean "byEmail"?',
    ({ calls }) => calls.users!.findMany!({ where: { email: secret }, index: "byEmial" }),
  ],
  [
    "IndexNotReadyError",
    "users.findMany: the index byName cannot be read: it is not built yet; run migrate",
    async ({ kv }) => {
      const later = define({
        ...User,
        relations: {},
        indexes: { ...User.indexes, byName: { key: "name" } },
      });
      const db = await createDatabase({ kv, models: { users: later } as never });
      await untyped(db).users!.findMany!({ where: { name: secret } });
    },
  ],
  [
    "IndexChangedError",
    'users.create: the database has another definition of the index byRole: its key was ["role"] and is ["name"]; run migrate to rebuild it, or give the new definition another name',
    async ({ kv }) => {
      const later = define({
        ...User,
        relations: {},
        indexes: { ...User.indexes, byRole: { key: "name", prefix: "users_by_role" } },
      });
      const db = await createDatabase({ kv, models: { users: later } as never });
      await untyped(db).users!.create!({ data: { ...ada, id: "2" } });
    },
  ],
  [
    "UnindexedQueryError",
    'users.count: no index serves "age"; add byAge: { key: "age" } or move the condition into filter, which reads every row',
    ({ calls }) => calls.users!.count!({ where: { age: 1 } }),
  ],
  [
    "InvalidQueryError",
    'users.findUnique: emial is not valid: the model has no such field; did you mean "email"?',
    ({ calls }) => calls.users!.findUnique!({ where: { emial: secret } }),
  ],
  [
    "InvalidArgumentError",
    'users.findMany: wehre is not valid: findMany has no such option; did you mean "where"?',
    ({ calls }) => calls.users!.findMany!({ wehre: { email: secret } }),
  ],
  [
    "ReadLimitError",
    "users.findMany: the query needs more reads of the index byRole than maxReads allows (1); lower take, narrow where, or raise maxReads",
    ({ db }) => db.users.findMany({ where: { role: "member" }, maxReads: 1 }),
  ],
  [
    "InvalidCursorError",
    "users.findMany: the cursor belongs to another query, or was changed; pass the cursor of the last page with the same where, orderBy and index",
    ({ db }) => db.users.findMany({ where: { email: secret }, cursor: secret }),
  ],
  [
    "LiveQueryUnavailableError",
    "users.watch: this database cannot watch ranges of keys, as a live query must; define the model with live: true",
    async ({ kv }) => {
      const db = await open(denoKv(kv));
      db.users.watchMany({ where: { role: "member" } });
    },
  ],
  [
    "TransactionConflictError",
    "transaction: other commits changed what it had read in each of its 3 attempts, in the last one rows of users, and nothing was written; read less in it, or call it again",
    async ({ db }) => {
      await db.transaction(
        async (tx) => {
          const where = { id: secret };
          const user = await tx.users.findUnique({ where });
          await db.users.update({ where, data: { name: `${user?.name}!` } });
          await tx.users.update({ where, data: { age: 1 } });
        },
        { maxAttempts: 3, allowOutsideWrites: true },
      );
    },
  ],
  [
    "IsolationUnavailableError",
    'transaction: this database cannot check ranges of keys, as isolation: "serializable" needs; leave out the option, or use a database that can',
    async ({ kv }) => {
      const db = await open(denoKv(kv));
      await db.transaction(() => db.users.create({ data: ada }), { isolation: "serializable" });
    },
  ],
  [
    "SnapshotReadOnlyError",
    "users.create: the view of a snapshot has only methods that read once; call it on the database",
    ({ db }) => db.snapshot((view) => (view as unknown as typeof db).users.create({ data: ada })),
  ],
  [
    "SnapshotEndedError",
    "snapshot: its function has ended, and the call read nothing; await all calls of the view within the function",
    async ({ db }) => {
      const view = await db.snapshot(async (it) => ({ users: it.users }));
      await view.users.findUnique({ where: { id: "ada" } });
    },
  ],
  [
    "LogUnavailableError",
    "users.history: this database cannot keep a log of its commits; use one that openKv has opened",
    async ({ kv }) => {
      const db = await open(denoKv(kv));
      await db.users.history({ where: { id: secret } });
    },
  ],
  [
    "PastUnreadableError",
    "users: a migration has replaced its rows or indexes since; choose a later moment",
    async () => {
      await using kv = await openKv(":memory:", { log: {} });
      const db = await open(kv);
      const { key } = contextOf(db, "users").catalog.snapshot.check;
      const { value } = await kv.get(key);
      const { versionstamp } = await kv.set(key, { ...(value as object), place: "users_2" });
      await kv.set(key, value);
      await db.at(versionstamp, async (past) => past.users.scan());
    },
  ],
  [
    "RowVersionNotFoundError",
    "users.restoreRow: the log has no commit 00000000000000070000: it is from before the log began, or was removed from it; take a version that history returns with a time",
    async () => {
      await using kv = await openKv(":memory:", { log: {} });
      const db = await open(kv);
      await db.users.restoreRow({ where: { id: secret }, versionstamp: "00000000000000070000" });
    },
  ],
  [
    "TransactionBypassedError",
    "users.create: it was called on the database within a transaction, and would not be part of it; call it on the tx of the transaction, or after the transaction, or pass { allowOutsideWrites: true } to the transaction",
    ({ db }) => db.transaction(() => db.users.create({ data: ada })),
  ],
  [
    "TransactionNotAwaitedError",
    "transaction: its function returned before all of its writes had ended, and nothing was written; await each call of tx",
    ({ db }) =>
      db.transaction(async (tx) => {
        void tx.users.update({ where: { id: secret }, data: { age: 3 } });
      }),
  ],
  [
    "TransactionEndedError",
    "transaction: it has already ended, and the call did nothing; await all of its calls within its function",
    async ({ db }) => {
      const users = await db.transaction(async (tx) => tx.users);
      await users.findUnique({ where: { id: secret } });
    },
  ],
  [
    "StaleSchemaError",
    "users.create: the database has a schema that this program does not know: the index byAdult is in the database only; deploy the program that has this schema, or run migrate to give the database this program's models",
    async ({ kv }) => {
      const { byAdult: _, ...indexes } = User.indexes;
      const older = define({ ...User, relations: {}, indexes });
      const db = await createDatabase({ kv, models: { users: older } as never });
      await untyped(db).users!.create!({ data: { ...ada, id: "2" } });
    },
  ],
  [
    "ModelDroppedError",
    "users: the model was dropped from the database, and its rows are being removed; remove it from this program's models, and run migrate to complete the removal",
    async ({ kv }) => {
      const key = ["__keywright", "catalog", "users"];
      const { value } = await kv.get<object>(key);
      await kv.set(key, { ...value, format: 0 });
      await open(kv);
    },
  ],
  [
    "SystemEntryError",
    'users: the internal entry ["__keywright", "catalog", "users"] is not valid (indexes), so something other than Keywright has written it; restore it from a backup',
    async ({ kv }) => {
      await kv.set(["__keywright", "catalog", "users"], { format: 1, indexes: secret });
      await open(kv);
    },
  ],
  [
    "PrimaryKeyDiffersError",
    'users.findUnique: the database stores the rows by the primary key ["id"], and this program\'s model has ["email"]; give the model the primary key ["id"], or run migrate to store the rows by ["email"]',
    async ({ kv }) => {
      const later = define({ ...User, relations: {}, primaryKey: "email" });
      const db = await createDatabase({ kv, models: { users: later } as never });
      await untyped(db).users!.findUnique!({ where: { email: secret } });
    },
  ],
  [
    "SchemaNotMigratedError",
    'users.create: the database does not have this program\'s schema yet ("phone" is new and required: it needs a default, or a migration that fills it in); run migrate',
    async ({ kv }) => {
      const schema = User.schema.extend({ phone: z.string() });
      const later = define({ ...User, relations: {}, schema });
      const db = await createDatabase({ kv, models: { users: later } as never });
      await untyped(db).users!.create!({ data: { ...ada, id: "2", phone: secret } });
    },
  ],
  [
    "RowUpgradeError",
    "notes.findUnique: a row of an earlier schema (rowId says which) cannot be upgraded: its migration threw (cause says why); correct the row or the migration",
    async ({ kv }) => {
      const from = z.object({ id: z.string(), title: z.string() });
      const to = z.object({ id: z.string(), title: z.number() });
      const Note = (schema: z.ZodObject) => define({ name: "notes", schema, primaryKey: "id" });
      const first = await createDatabase({ kv, models: { notes: Note(from) } as never });
      await untyped(first).notes!.create!({ data: { id: "1", title: secret } });
      const up = ({ title }: { title: string }) => {
        throw new Error(`${title} is not a number`);
      };
      const migrations = [defineMigration({ model: Note(to), from, to, up } as never)];
      const db = await createDatabase({ kv, models: { notes: Note(to) } as never, migrations });
      await untyped(db).notes!.findUnique!({ where: { id: "1" } });
    },
  ],
  [
    "MigrationMissingError",
    'users.findUnique: a stored row does not fit this program\'s schema ("phone" is new and required: it needs a default, or a migration that fills it in); write the migration with `keywright migrate new`, and run migrate',
    async ({ kv }) => {
      const schema = User.schema.extend({ phone: z.string() });
      const later = define({ ...User, relations: {}, schema });
      const db = await createDatabase({ kv, models: { users: later } as never });
      await untyped(db).users!.findUnique!({ where: { id: secret } });
    },
  ],
  [
    "ScopeError",
    'users: indexes.byEmail: its values are unique among all rows, so the model cannot be scoped by name; declare byEmail: { key: ["name", "email"], unique: true }',
    async ({ kv }) => {
      const db = await createDatabase({
        kv,
        models: { users: define({ ...User, relations: {} }) } as never,
      });
      (db as { scope(values: object): unknown }).scope({ name: secret });
    },
  ],
  // `migrate` does not throw it: its result has the status "lost".
  [
    "LeaseLostError",
    "migrate: another runner has taken over the migration, because this one was silent for too long; let that one finish, or call again",
    () => Promise.reject(new orm.LeaseLostError()),
  ],
  [
    "JobDefinitionError",
    "jobs.send-mail: name: jobs has a property stored; name it otherwise",
    async ({ kv }) => await createDatabase({ kv, models, jobs: { stored: SendMail } }),
  ],
  [
    "JobPayloadError",
    "jobs.send-mail: the payload does not fit the schema: userId (Invalid ULID)",
    async ({ kv }) => {
      const db = await createDatabase({ kv, models, jobs: { sendMail: SendMail } });
      await db.jobs.sendMail.enqueue({ userId: secret });
    },
  ],
  // The errors of a run are seen only by its handler, as the reason of its signal.
  [
    "JobLostError",
    "jobs.send-mail: the run of the job 01J9ZK4T0000000000000000ZZ no longer has it, because its lease or the job has ended, and nothing was written; end the handler",
    () => Promise.reject(new orm.JobLostError("send-mail", mailId)),
  ],
  [
    "JobInterruptedError",
    "jobs.send-mail: the process that ran the job 01J9ZK4T0000000000000000ZZ ended or stood still until the lease of the job had ended",
    () => Promise.reject(new orm.JobInterruptedError("send-mail", mailId)),
  ],
  [
    "JobTimeoutError",
    "jobs.send-mail: the job 01J9ZK4T0000000000000000ZZ has not ended within 5000 ms; end the handler when its signal is aborted, call heartbeat in it, or raise timeout",
    () => Promise.reject(new orm.JobTimeoutError("send-mail", mailId, 5000)),
  ],
  [
    "JobCancelledError",
    "jobs.send-mail: the job 01J9ZK4T0000000000000000ZZ was cancelled; end the handler",
    () => Promise.reject(new orm.JobCancelledError("send-mail", mailId)),
  ],
  [
    "WorkerStoppedError",
    "the worker stops and gives its jobs back, so that they wait again; end the handler",
    () => Promise.reject(new orm.WorkerStoppedError()),
  ],
];

describe("the message of each error says what is wrong, where, and what to do", () => {
  it.each(cases)("%s", async (name, text, provoke) => {
    const error = await errorOf(provoke);
    expect(String(error)).toBe(`${name}: ${text}`);
    expect(orm.ormErrorCodes).toContain((error as orm.OrmError).code);
    await messageOf(provoke);
  });

  it("of every class, and every code has a class", async () => {
    const bases: unknown[] = [orm.KeywrightError, orm.OrmError, orm.JobError];
    const classes = Object.values<unknown>(orm).filter(
      (value): value is ErrorConstructor =>
        Object.prototype.isPrototypeOf.call(Error, value as object) && !bases.includes(value),
    );
    const names = cases.map(([name]) => name);
    expect(names.toSorted()).toEqual(classes.map(({ name }) => name).toSorted());
    const codes = [];
    for (const [, , provoke] of cases) codes.push(((await errorOf(provoke)) as orm.OrmError).code);
    expect(codes.toSorted()).toEqual([...orm.ormErrorCodes].toSorted());
  });
});

it("is the example of the code in docs/errors.md", async () => {
  const docs = await readFile(new URL("../../../docs/errors.md", import.meta.url), "utf8");
  for (const [name, text] of cases) {
    const section = docs.split("\n### ").find((part) => part.includes(`\n\n\`${name}\``));
    const examples = [...(section ?? "").matchAll(/```text\n(.*?)\n```/gs)].map(
      ([, each]) => each!,
    );
    const lines = examples.flatMap((each) => each.split("\n"));
    expect([...examples, ...lines], name).toContain(text);
  }
});

describe("a message about a row that does not fit", () => {
  const fit = "users.create: the row does not fit the schema: ";
  it.each<[string, object]>([
    ['unknown field "emial"; did you mean "email"?', { emial: secret }],
    ["address.city (expected string)", { address: { city: 1, zips: [] } }],
    ["address.zips[1] (expected string)", { address: { city: secret, zips: [secret, 5] } }],
    // The keys of a record are data.
    ["scores.… (expected number)", { scores: { [secret]: secret } }],
    ['role (expected one of "admin"|"member")', { role: secret }],
  ])("%s", async (text, data) => {
    const create: Provoke = ({ calls }) =>
      calls.users!.create!({ data: { ...ada, id: "2", email: `x${secret}`, ...data } });
    expect(await messageOf(create)).toBe(fit + text);
  });

  it.each<[string, z.ZodType, unknown]>([
    [
      "at (a condition of the schema does not hold)",
      z.string().refine((value) => value === "", { error: ({ input }) => `not ${input}` }),
      secret,
    ],
    [
      "at (a condition of the schema does not hold)",
      z.string().superRefine((message, { addIssue }) => addIssue({ code: "custom", message })),
      secret,
    ],
    ["at (Invalid email address)", z.email({ error: ({ input }) => `not ${input}` }), `${secret}!`],
    ["at (expected number)", z.number({ error: ({ input }) => `not ${input}` }), secret],
    ["at (expected string to have >=99 characters)", z.string().min(99), secret],
    ["at (fits none of the alternatives, or several)", z.union([z.number(), z.boolean()]), secret],
    ['at (Invalid string: must start with "x")', z.string().startsWith("x"), secret],
    ["at (has unknown properties)", z.strictObject({}), { [secret]: 1 }],
    ["at.… (Invalid key in record)", z.record(z.url(), z.number()), { [secret]: 1 }],
    ["at.… (expected number)", z.map(z.string(), z.number()), new Map([[secret, secret]])],
    ["at (expected number)", z.set(z.number()), new Set([secret])],
    ["at.… (expected number)", z.object({}).catchall(z.number()), { [secret]: secret }],
    [
      "at[0].b (expected number)",
      z.tuple([z.lazy(() => z.object({ b: z.number() }).nullable())]),
      [{ b: secret }],
    ],
    [
      "at.a (expected number)",
      z.preprocess((x) => x, z.intersection(z.object({ a: z.number() }), z.object({}))),
      { a: secret },
    ],
  ])("%s", async (text, at, value) => {
    const create: Provoke = async ({ kv }) => {
      const schema = z.object({ id: z.string(), at });
      const Note = define({ name: "notes", schema, primaryKey: "id" });
      const db = await createDatabase({ kv, models: { notes: Note } as never });
      await untyped(db).notes!.create!({ data: { id: secret, at: value } });
    };
    expect(await messageOf(create)).toBe(`notes.create: the row does not fit the schema: ${text}`);
  });

  it("names the row of an atomic createMany, and an operation that a field does not allow", async () => {
    const create =
      (row: object): Provoke =>
      async ({ calls }) =>
        await calls.users!.createMany!({
          data: [
            { ...ada, id: "2", email: `x${secret}` },
            { ...ada, id: "3", ...row },
          ],
          atomic: true,
        });
    expect(await messageOf(create({ age: secret }))).toBe(
      "users.createMany: data[1]: the row does not fit the schema: age (expected number)",
    );
    expect(await messageOf(create({}))).toBe(
      "users.createMany: data[1]: email is already taken (unique index byEmail); use another value, or change the row that has it",
    );
    const increment: Provoke = ({ calls }) =>
      calls.users!.update!({ where: { id: secret }, data: { age: { increment: secret } } });
    expect(await messageOf(increment)).toBe(
      "users.update: the row does not fit the schema: age (increment must be a number or a bigint)",
    );
  });
});

describe("a message suggests the nearest name", () => {
  it.each<[string, Provoke]>([
    ['email"?', ({ calls }) => calls.users!.findMany!({ where: { emial: secret } })],
    ['email"?', ({ calls }) => calls.users!.findMany!({ orderBy: { emal: "asc" } })],
    [
      'email"?',
      ({ calls }) => calls.users!.findMany!({ where: { email: secret }, select: { emial: true } }),
    ],
    [
      'posts"?',
      ({ calls }) => calls.users!.findMany!({ where: { email: secret }, include: { post: true } }),
    ],
    [
      'take"?',
      ({ calls }) =>
        calls.users!.findMany!({ where: { email: secret }, include: { posts: { taek: 1 } } }),
    ],
    ['data"?', ({ calls }) => calls.users!.create!({ dta: { email: secret } })],
    [
      'startsWith"?',
      ({ calls }) => calls.users!.findMany!({ where: { email: { startWith: secret } } }),
    ],
    ['unique"?', () => define({ ...User, indexes: { byEmail: { key: "email", uniqe: true } } })],
    ['indexes"?', () => define({ ...User, indexs: {} })],
    ['email"?', () => define({ ...User, primaryKey: "e-mail" })],
  ])("%s", async (name, provoke) => {
    expect(await messageOf(provoke)).toContain(`; did you mean "${name}`);
  });

  it("or lists the names if none is near", async () => {
    const select: Provoke = ({ calls }) =>
      calls.posts!.findMany!({ where: { authorId: secret }, select: { nothing: true } });
    expect(await messageOf(select)).toBe(
      "posts.findMany: select.nothing is not valid: the schema has no such field; the fields are id, authorId, title",
    );
  });

  it.each([
    ["emial", "email"],
    ["EMAIL", "email"],
    ["mail", "email"],
    ["favouriteColor", "favoriteColor"],
    ["byCreatedAt", "byCreated"],
    ["", undefined],
    ["x", undefined],
    ["phone", undefined],
  ])("of %j", (name, nearest) => {
    const known = ["id", "email", "emails", "favoriteColor", "byCreated"];
    expect(nearestName(name, known)).toBe(nearest);
  });
});

describe("a message suggests another call that has all rows of the query", () => {
  it.each<[string, string, object]>([
    [
      "update",
      'no unique key consists of "role"; call updateMany({ where: { role } }) (every row that matches, or one with take: 1)',
      { role: "admin" },
    ],
    [
      "delete",
      'no unique key consists of "name"; call deleteMany({ filter }) whose filter tests name and reads every row (every row that matches, or one with take: 1)',
      { name: secret },
    ],
    [
      "findUnique",
      'no unique key consists of "role"; call findFirst({ where: { role } })',
      { role: "admin" },
    ],
    [
      "findUnique",
      'no unique key consists of "id" and "name"; call findFirst({ where: { id }, filter }) whose filter tests name',
      { id: secret, name: secret },
    ],
    [
      "findUnique",
      'no unique key consists of "tags"; tags is an array, so call findFirst with where: { tags: { has: … } }',
      { tags: secret },
    ],
    [
      "findUniqueOrThrow",
      'no unique key consists of "name"; add byName: { key: "name" } and call findFirstOrThrow({ where: { name } })',
      { name: secret },
    ],
    [
      "upsert",
      'no unique key consists of "role"; add byRole2: { key: "role", unique: true } if no two rows share a value, or in a transaction call findFirst({ where: { role } }), then update or create',
      { role: "admin" },
    ],
    [
      "findMany",
      'no index serves "name"; add byName: { key: "name" } or move the condition into the filter of scan(), which reads every row',
      { name: secret },
    ],
    [
      "updateMany",
      'no index serves "name" and "age"; add byNameAndAge: { key: ["name", "age"] } or move the conditions into filter, which reads every row',
      { name: secret, age: 1 },
    ],
    [
      "findMany",
      'no index serves "role" and "name"; add byRoleAndName: { key: ["role", "name"] } or move name into filter: byRole serves the rest',
      { role: "admin", name: secret },
    ],
    [
      "findMany",
      'no index serves "email" and "age"; move age into filter: byEmail serves the rest',
      { email: { gt: secret }, age: { gt: 1 } },
    ],
  ])("of %s: %s", async (method, text, where) => {
    const data = { data: {}, create: {}, update: {} };
    const options =
      { update: ["data"], updateMany: ["data"], upsert: ["create", "update"] }[method] ?? [];
    const provoke: Provoke = ({ calls }) =>
      calls.users![method]!({
        where,
        ...Object.fromEntries(Object.entries(data).filter(([name]) => options.includes(name))),
      });
    expect(await messageOf(provoke)).toBe(`users.${method}: ${text}`);
  });

  it("or says which rows an index leaves out that has the field", async () => {
    const provoke: Provoke = async ({ kv }) => {
      const Task = defineModel({
        name: "tasks",
        schema: z.object({ id: z.string(), title: z.string(), due: z.number().optional() }),
        primaryKey: "id",
        indexes: { byTitle: { key: ["title", "due"] } },
      });
      const db = await createDatabase({ kv, models: { tasks: Task } });
      await db.tasks.findMany({ where: { title: secret } } as never);
    };
    expect(await messageOf(provoke)).toBe(
      'tasks.findMany: no index serves "title"; add byTitle2: { key: "title" }, because byTitle leaves out rows that lack due, or move the condition into the filter of scan(), which reads every row',
    );
  });

  it("or says which rows the suggested index leaves out", async () => {
    const byAge: Provoke = ({ calls }) => calls.users!.findMany!({ orderBy: { age: "asc" } });
    expect(await messageOf(byAge)).toBe(
      'users.findMany: no index serves "age"; add byAge: { key: "age" } and use index: "byAge", which leaves out rows that lack age',
    );
  });
});

describe("a message about a definition or an option says what it must be", () => {
  const index =
    (definition: object): Provoke =>
    () =>
      define({ ...User, indexes: { byX: definition } });
  it.each<[string, Provoke]>([
    [
      "users: indexes.byX.unique is not valid: it must be true or false",
      index({ key: "email", unique: secret }),
    ],
    [
      'users: indexes.byX.key is not valid: a key cannot hold the values of the field "tags"; add each: true',
      index({ key: "tags" }),
    ],
    [
      'users: primaryKey is not valid: the field "age" may be absent; make it required',
      () => define({ ...User, primaryKey: "age" }),
    ],
    [
      "users: relations.email is not valid: the schema has a field of this name; rename the relation",
      () => define({ ...User, relations: { email: belongsTo("users", "id") } }),
    ],
    [
      "createDatabase: kv is not valid: it must be a database",
      () => createDatabase({ kv: secret, models } as never),
    ],
    [
      "createDatabase: kv is not valid: it is a promise; write kv: await openKv(…)",
      () => createDatabase({ kv: openKv(), models } as never),
    ],
    [
      "createDatabase: models is not valid: it has to be an object: { users: User }",
      ({ kv }) => createDatabase({ kv, models: [User] } as never),
    ],
    [
      "transaction: argument is not valid: it must be a function of tx",
      ({ db }) => db.transaction([] as never),
    ],
    [
      "defineMigration: model is not valid: it must be a model that defineModel returned",
      () => defineMigration({ model: secret } as never),
    ],
    [
      "users.findMany: maxReads is not valid: it must be a number of at least 0",
      ({ calls }) => calls.users!.findMany!({ where: { role: "admin" }, maxReads: secret }),
    ],
    [
      "users.findMany: email is not valid: it is a number, but the field holds strings",
      ({ calls }) => calls.users!.findMany!({ where: { email: 5 } }),
    ],
    [
      "users.findMany: email is not valid: it is undefined; give a value, or leave the field out",
      ({ calls }) => calls.users!.findMany!({ where: { email: undefined } }),
    ],
    [
      "users.findMany: argument is not valid: it has no where, orderBy or index; add one, or read every row with scan()",
      ({ calls }) => calls.users!.findMany!(undefined as never),
    ],
    [
      "users.findMany: AND is not valid: the model has no such field; all conditions of a where apply, so write them in one object",
      ({ calls }) => calls.users!.findMany!({ where: { AND: [{ role: secret }] } }),
    ],
    [
      "users.findMany: NOT is not valid: the model has no such field; test it in filter: (row) => …",
      ({ calls }) => calls.users!.findMany!({ where: { NOT: { role: secret } } }),
    ],
    [
      "users.findMany: tags is not valid: it is an array; ask for an element with { has: … }",
      ({ calls }) => calls.users!.findMany!({ where: { tags: secret } }),
    ],
    [
      "users.findMany: filter is not valid: it returned a promise; it must be synchronous",
      ({ calls }) =>
        calls.users!.findMany!({ where: { role: "member" }, filter: async () => secret }),
    ],
    [
      "users.findMany: take is not valid: it must be a positive integer",
      ({ calls }) => calls.users!.findMany!({ where: { role: "admin" }, take: secret }),
    ],
  ])("%s", async (text, provoke) => {
    expect((await messageOf(provoke)).startsWith(text)).toBe(true);
  });
});

it("a version conflict is retryable only if the same call may succeed", async () => {
  const where = { id: secret };
  const decided = await errorOf(({ db }) =>
    db.users.update({ where, data: { age: 1 }, ifVersion: "0".repeat(20) }),
  );
  expect(decided).toMatchObject({ retryable: false, attempts: 1 });
  const raced = await errorOf(async ({ kv, db }) => {
    const change = async () =>
      void (await db.users.update({ where, data: { age: Math.random() } }));
    const writer = await open(interferingKv(kv, change));
    await writer.users.update({ where, data: { name: secret } });
  });
  expect(raced).toMatchObject({ retryable: true, attempts: 100 });
  expect(raced.message).toBe(
    "users.update: other writers changed the row during each of 100 attempts; call again",
  );
});

it("a stored value that is not a row can be deleted, with and without validateReads", async () => {
  for (const validateReads of [false, true]) {
    const kv = await openKv();
    try {
      const db = await createDatabase({ kv, models, validateReads });
      const where = { id: secret };
      await kv.set(["users", secret], secret);
      await expect(db.users.findUnique({ where })).rejects.toMatchObject({
        code: "KW_STORED_ROW_INVALID",
      });
      await db.users.delete({ where });
      expect((await kv.get(["users", secret])).versionstamp).toBeNull();
    } finally {
      await kv.close();
    }
  }
});
