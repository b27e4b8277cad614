import { describe, expect, it } from "vitest";
import * as z from "zod";
import { formatPlan } from "../src/change/plan/format-plan.js";
import type { MigrationPlan } from "../src/change/plan/migration-plan.js";
import { planModel, planModels } from "../src/change/plan/plan-migration.js";
import { compileModel } from "../src/codegen.js";
import { belongsTo, defineModel } from "../src/index.js";
import type { CatalogEntry, IndexState } from "../src/state/catalog/catalog-entry.js";
import type { MigrationStep } from "../src/state/run/migration-step.js";
import { type KnownFacts, modelFacts } from "../src/state/run/model-facts.js";
import { defineMigration } from "../src/state/schema/define-migration.js";
import { indexManifest } from "../src/state/schema/manifests/index-manifest.js";
import { relationTexts } from "../src/state/schema/manifests/model-manifest.js";
import { rowManifest } from "../src/state/schema/manifests/row-manifest.js";

const schema = z.object({ id: z.string(), email: z.string(), teamId: z.string() });
const users = {
  name: "users",
  schema,
  primaryKey: "id" as const,
  indexes: {
    byEmail: { key: "email", unique: true },
    byTeam: { key: "teamId", count: true },
  },
  relations: { team: belongsTo("teams", "teamId") },
};
const compile = (definition: object) => compileModel(defineModel(definition as never));

/** What the catalog says once a model has been migrated. */
function migrated(definition: object, states: Record<string, IndexState> = {}): CatalogEntry {
  const model = compile(definition);
  const indexes = model.indexes.map((index) => {
    const state = states[index.name] ?? ("readable" as const);
    return [index.name, { state, ...indexManifest(index) }] as const;
  });
  const counted = model.indexes.filter((index) => index.counted).map((index) => index.name);
  return {
    format: 1,
    name: model.name,
    schema: { hash: rowManifest(model.schema, model.primaryKey).hash, accepts: [] },
    relations: relationTexts(model),
    indexes: Object.fromEntries(indexes),
    counters: Object.fromEntries(counted.map((name) => [name, "readable" as const])),
  };
}

/** From a database that has been migrated to one definition, to another. */
function factsOf(before: object, now: object, part: Partial<KnownFacts> = {}): KnownFacts {
  const { schema: stored, primaryKey } = compile(before);
  const storedRow = rowManifest(stored, primaryKey);
  const model = compile(now);
  const relations = relationTexts(model);
  return {
    model,
    entry: migrated(before),
    storedRow,
    earlierRows: [],
    relations,
    migrations: [],
    ...part,
  };
}
const planOf = (...facts: KnownFacts[]): MigrationPlan => planModels(facts.map(modelFacts));
const stepsOf = (facts: KnownFacts): readonly MigrationStep[] => planModel(modelFacts(facts)).steps;
const steps = (now: object, part?: Partial<KnownFacts>) =>
  stepsOf(factsOf(users, { ...users, ...now }, part));
const without = <T extends object>(object: T, name: keyof T) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

describe("the plan of a model", () => {
  it("is empty where nothing has changed", () => {
    const plan = planOf(factsOf(users, users));
    expect(plan).toEqual({
      models: [{ model: "users", steps: [] }],
      steps: [],
      leftValues: [],
      warnings: [],
      databaseOnly: [],
      isEmpty: true,
      isBreaking: false,
      needsMigration: false,
    });
    expect(formatPlan(plan)).toBe("Nothing to migrate.");
  });

  it("registers a model of which the database does not know what its rows are", () => {
    const entry = without(
      without(migrated(users), "schema" as never),
      "relations" as never,
    ) as unknown as CatalogEntry;
    expect(steps({}, { entry, storedRow: undefined })).toMatchObject([
      { id: "users: register", class: "safe", sideBySide: true },
    ]);
  });

  it("renames a model, and the relations to it with that", () => {
    const now = {
      ...users,
      name: "people",
      prefix: "users",
      relations: { team: belongsTo("groups", "teamId") },
    };
    const teams = { name: "teams", schema: z.object({ id: z.string() }), primaryKey: "id" };
    // What a relation is to goes by the rows' prefix.
    const groups = { ...teams, name: "groups", prefix: "teams" };
    const relations = relationTexts(compile(now), [compile(now), compile(groups)]);
    const plan = planOf(factsOf(users, now, { relations }), factsOf(teams, groups));
    expect(plan.steps).toMatchObject([
      { id: "people: rename-model", class: "safe", sideBySide: true },
      { id: "groups: rename-model" },
    ]);
  });

  it.each<[string, object, object]>([
    [
      "added",
      { a: belongsTo("as", "email"), ...users.relations },
      {
        kind: "add-relation",
        class: "safe",
        sideBySide: false,
        id: "users.email → as: add-relation",
      },
    ],
    ["gone", {}, { kind: "drop-relation", class: "breaking", sideBySide: false }],
    [
      "of another rule",
      { team: belongsTo("teams", "teamId", { onDelete: "cascade" }) },
      { kind: "change-relation", class: "safe", sideBySide: false },
    ],
  ])("has a step for a relation that is %s", (_, relations, step) => {
    expect(steps({ relations })).toMatchObject([step]);
  });

  it.each<[string, z.ZodObject, object[]]>([
    [
      "optional",
      schema.extend({ a: z.string().optional() }),
      [{ id: "users.a: add-field", class: "safe", sideBySide: true }],
    ],
    [
      "defaulted",
      schema.extend({ a: z.string().default("x") }),
      [
        { id: "users.a: add-field", class: "backfill", sideBySide: false },
        {
          id: "users: transform-rows",
          class: "backfill",
          reason: 'Fills in "a" in every row that lacks it.',
        },
      ],
    ],
    [
      "required",
      schema.extend({ a: z.string() }),
      [
        {
          id: "users.a: add-field",
          class: "data",
          blocked: expect.stringContaining("({ ...row, a: … })"),
        },
      ],
    ],
    [
      "another",
      schema.extend({ email: z.number() }),
      [
        {
          id: "users.email: change-field",
          class: "data",
          blocked: expect.stringContaining("defineMigration"),
        },
      ],
    ],
    [
      "wider",
      schema.extend({ email: z.string().nullable() }),
      [{ id: "users.email: change-field", class: "safe", sideBySide: false }],
    ],
    [
      "another primary key",
      schema.extend({ id: z.number() }),
      [{ id: "users.id: change-primary-key", class: "breaking", blocked: expect.any(String) }],
    ],
  ])("has a step for a field that is %s", (_, now, expected) => {
    expect(steps({ schema: now })).toMatchObject(expected);
  });

  it("asks for somebody's word where a field is gone, and then leaves the rows", () => {
    const before = { ...users, schema: schema.extend({ old: z.string() }) };
    const plan = planOf(factsOf(before, users));
    expect(plan.steps).toMatchObject([{ id: "users.old: remove-field", class: "breaking" }]);
    expect(plan).toMatchObject({ isBreaking: true, needsMigration: false });
    expect(plan.steps[0]).not.toHaveProperty("blocked");
  });

  it("says of a rename what has to be written, and that it is written", () => {
    const now = {
      ...users,
      schema: schema.omit({ email: true }).extend({ mail: z.string() }),
      indexes: { byMail: { key: "mail" }, byTeam: users.indexes.byTeam },
    };
    const facts = factsOf(users, now);
    const blocked = planOf(facts);
    expect(blocked).toMatchObject({ needsMigration: true, isBreaking: true });
    expect(blocked.steps[0]?.blocked).toContain("up: ({ email, ...row }) => ({ ...row, mail: … })");
    const migration = defineMigration({
      model: defineModel(now as never),
      from: schema,
      to: now.schema,
      up: ({ email, ...row }: z.output<typeof schema>) => ({ ...row, mail: email }),
    } as never);
    const plan = planOf({ ...facts, migrations: [migration] });
    expect(plan.needsMigration).toBe(false);
    expect(plan.steps.map(({ id }) => id)).toEqual([
      "users: transform-rows",
      "users.byEmail: drop-index",
      "users.byMail: build-index",
    ]);
    expect(plan.steps[0]).toMatchObject({
      class: "data",
      sideBySide: false,
      reason: expect.stringContaining("Changes every row by users:"),
    });
  });

  it("says of migrations that do not lead there in what they differ", () => {
    const now = {
      ...users,
      schema: schema.extend({ email: z.int() }),
    };
    const migration = (name: string, from: z.ZodObject, to: z.ZodObject = now.schema) =>
      defineMigration({
        model: defineModel(now as never),
        name,
        from,
        to,
        up: (row: object) => row,
      } as never);
    const blockedWith = (...migrations: ReturnType<typeof migration>[]) =>
      steps(now, { migrations })[0]?.blocked?.split("\n");
    const foreign = { ...migration("foreign", schema), model: "others" };
    expect(blockedWith(foreign)?.[0]).toBe("Write a migration:");
    const near = migration("near", schema.extend({ teamId: z.int() }));
    const far = migration("far", schema.extend({ teamId: z.int(), email: z.int(), more: z.int() }));
    expect(blockedWith(near)?.slice(0, 2)).toEqual([
      'The migration "near" does not lead from the stored rows to the model: its from differs from the stored schema in "teamId".',
      "Write a migration:",
    ]);
    expect(blockedWith(far, near)?.[0]).toBe(
      'No migration ("far", "near") leads from the stored rows to the model: the from of "near" differs from the stored schema in "teamId".',
    );
    const elsewhere = migration("elsewhere", schema, schema.extend({ email: z.boolean() }));
    expect(blockedWith(elsewhere)?.[0]).toBe(
      'The migration "elsewhere" does not lead from the stored rows to the model: its to differs from the model in "email".',
    );
  });

  it("names the migrations that lead there backwards and have no way back", () => {
    const numbers = schema.extend({ email: z.int() });
    const flags = schema.extend({ email: z.boolean() });
    const oneWay = (name: string, from: z.ZodObject, to: z.ZodObject, part: object = {}) =>
      defineMigration({
        model: defineModel(users as never),
        name,
        from,
        to,
        up: (row: object) => row,
        ...part,
      } as never);
    const first = oneWay("first", schema, numbers);
    const second = oneWay("second", numbers, flags);
    const back = (before: z.ZodObject, ...migrations: (typeof first)[]) =>
      stepsOf(factsOf({ ...users, schema: before }, users, { migrations }))[0]?.blocked;
    expect(back(numbers, first)).toBe(
      'The migration "first" leads from the model\'s schema to the stored rows, and has no down. Add one.',
    );
    expect(back(flags, first, second)).toBe(
      'The migrations "second", "first" lead from the model\'s schema to the stored rows, and have no down. Add one to each.',
    );
    const withDown = oneWay("second", numbers, flags, { down: (row: object) => row });
    expect(back(flags, first, withDown)).toMatch(
      /^The migration "first" leads from the model's schema/,
    );
    expect(back(flags, second)).toMatch(/does not lead from the stored rows to the model/);
  });

  it("says of a field that a migration takes away, and takes more loosely than it is stored, both", () => {
    const stored = { ...users, schema: schema.extend({ title: z.string().min(1) }) };
    const migration = defineMigration({
      model: defineModel(users as never),
      from: schema.extend({ title: z.string() }),
      to: schema,
      up: ({ title, ...row }: Record<string, unknown>) => row,
    } as never);
    expect(stepsOf(factsOf(stored, users, { migrations: [migration] }))).toMatchObject([
      { id: "users.title: change-field", class: "safe" },
      { id: "users: transform-rows", reason: expect.stringContaining('"title" is gone') },
    ]);
  });

  it("changes the entries of indexes of changed fields with the rows", () => {
    const now = { ...users, schema: schema.extend({ email: z.string().min(1) }) };
    const migration = defineMigration({
      model: defineModel(now as never),
      from: schema,
      to: now.schema,
      up: (row: object) => row,
    } as never);
    expect(stepsOf(factsOf(users, now, { migrations: [migration] }))).toMatchObject([
      {
        kind: "transform-rows",
        class: "data",
        reason: expect.stringMatching(
          /The entries of the index byEmail change with the rows\..* is reported as a failed row\.$/,
        ),
      },
    ]);
  });

  it.each<[string, object, { indexState?: IndexState; isInterrupted?: boolean }]>([
    ["states a version", { normalize: String, version: 1 }, {}],
    ["does not keep values unique yet", {}, { indexState: "unique-pending" }],
    ["is changed by another change of rows that is under way", {}, { isInterrupted: true }],
  ])("rebuilds a unique index that %s", (_, index, { indexState, isInterrupted }) => {
    const before = { ...users, indexes: { byEmail: { key: "email", unique: true, ...index } } };
    const now = { ...before, schema: schema.extend({ email: z.string().min(1) }) };
    const migration = defineMigration({
      model: defineModel(now as never),
      from: schema,
      to: now.schema,
      up: (row: object) => row,
    } as never);
    const facts = factsOf(before, now, { migrations: [migration] });
    const entry = migrated(before, indexState ? { byEmail: indexState } : {});
    const interrupted = { ...entry, transform: { id: "1", from: entry.schema!.hash } };
    const { storedRow } = facts;
    const changed = isInterrupted
      ? { ...facts, entry: interrupted, earlierRows: [storedRow] }
      : { ...facts, entry };
    const steps = stepsOf(changed);
    expect(steps.find(({ kind }) => kind === "rebuild-index")).toMatchObject({
      id: "users.byEmail: rebuild-index",
      class: "breaking",
      reason: expect.stringMatching(
        /changes? the entries of .*rows can take values that other rows have/,
      ),
    });
    expect(steps.find(({ kind }) => kind === "transform-rows")?.reason).not.toContain("byEmail");
  });

  it("says where a function may change the entries of an index with the rows, and asks nobody's word where none is unique", () => {
    const key = (row: { email: string }) => row.email.length;
    const byLength = { key, version: 1 };
    const before = { ...users, indexes: { byLength, byTeam: users.indexes.byTeam } };
    const now = { ...before, schema: schema.extend({ role: z.string().default("member") }) };
    expect(stepsOf(factsOf(before, now))).toMatchObject([
      { kind: "add-field" },
      { kind: "transform-rows", class: "backfill" },
      {
        id: "users.byLength: rebuild-index",
        class: "rebuild",
        reason: expect.stringContaining(
          "may change the entries of the index byLength, because a function",
        ),
      },
    ]);
  });

  it("names a migration that it leaves out", () => {
    const stored = { ...users, schema: schema.extend({ due: z.date().optional() }) };
    const now = { ...stored, schema: stored.schema.extend({ note: z.string().optional() }) };
    const dueIsRequired = defineMigration({
      name: "due is required",
      model: defineModel(users as never),
      from: stored.schema,
      to: schema.extend({ due: z.date() }),
      up: (row: object) => ({ due: new Date(0), ...row }),
    } as never);
    expect(stepsOf(factsOf(stored, now, { migrations: [dueIsRequired] }))).toMatchObject([
      {
        id: "users.note: add-field",
        class: "safe",
        reason: expect.stringContaining(
          'The migration "due is required" is left out, because the model',
        ),
      },
    ]);
  });

  it("is breaking where it goes back", () => {
    const later = { ...users, schema: schema.extend({ email: z.number() }) };
    const back = (row: object) => ({ ...row, email: "" });
    const migration = defineMigration({
      model: defineModel(later as never),
      from: schema,
      to: later.schema,
      up: (row: object) => row,
      down: back,
    } as never);
    const facts = factsOf(later, users, { migrations: [migration] });
    expect(stepsOf(facts)).toMatchObject([
      {
        kind: "transform-rows",
        class: "breaking",
        reason: expect.stringContaining("The entries of the index byEmail change with the rows."),
      },
    ]);
  });

  it("leaves rows alone beside whose schema the program may write", () => {
    const entry = migrated(users);
    const { hash } = rowManifest(users.schema, ["id"]);
    expect(steps({}, { entry: { ...entry, schema: { hash: "newer", accepts: [hash] } } })).toEqual(
      [],
    );
  });

  it("is blocked where the database does not tell what its rows are", () => {
    const entry = { ...migrated(users), schema: { hash: "other", accepts: [] } };
    expect(steps({}, { entry, storedRow: undefined })).toMatchObject([
      { kind: "transform-rows", blocked: expect.any(String) },
    ]);
  });

  it("tells of a change of rows that is under way", () => {
    const entry = { ...migrated(users), transform: { id: "1", from: "x" } };
    expect(steps({}, { entry, earlierRows: [undefined] })).toMatchObject([
      { id: "users: transform-rows", reason: expect.stringContaining("is not complete") },
    ]);
  });
});

describe("indexes", () => {
  const { byEmail, byTeam } = users.indexes;
  it.each<[string, object, object[]]>([
    [
      "new",
      { ...users.indexes, byTeamEmail: { key: ["teamId", "email"] } },
      [{ id: "users.byTeamEmail: build-index", class: "backfill", sideBySide: true }],
    ],
    [
      "gone",
      { byTeam },
      [{ id: "users.byEmail: drop-index", class: "breaking", sideBySide: false }],
    ],
    [
      "unique no more",
      { byTeam, byEmail: { key: "email" } },
      [
        {
          id: "users.byEmail: rebuild-index",
          class: "rebuild",
          reason: expect.stringContaining("no longer unique"),
        },
      ],
    ],
    [
      "over another key",
      { byTeam, byEmail: { key: "id", unique: true } },
      [
        {
          reason: expect.stringContaining('byEmail changes: its key was ["email"] and is ["id"].'),
        },
      ],
    ],
    [
      "somewhere else",
      { byTeam, byEmail: { ...byEmail, prefix: "mails" } },
      [{ kind: "rebuild-index", reason: expect.stringContaining("prefix was") }],
    ],
    [
      "under another name",
      { byTeam, byMail: { ...byEmail, prefix: "users_by_email" } },
      [{ id: "users.byMail: rename-index", class: "safe", sideBySide: false }],
    ],
    [
      "under another name and elsewhere",
      { byTeam, byMail: byEmail },
      [
        {
          id: "users.byEmail: drop-index",
          reason: expect.stringContaining('prefix: "users_by_email"'),
        },
        { id: "users.byMail: build-index", class: "backfill" },
      ],
    ],
    [
      "another in the same place",
      { byTeam, byMail: { key: "id", prefix: "users_by_email" } },
      [
        { kind: "drop-index" },
        {
          kind: "build-index",
          reason: expect.stringContaining("after the entries of the index byEmail"),
        },
      ],
    ],
  ])("that are %s have their steps", (_, indexes, expected) => {
    expect(steps({ indexes })).toMatchObject(expected);
    expect(steps({ indexes })).toHaveLength(expected.length);
  });

  it("whose functions have changed say so", () => {
    const before = {
      ...users,
      indexes: { byEmail: { ...byEmail, normalize: (v: string) => v.trim() } },
    };
    const now = {
      ...users,
      indexes: { byEmail: { ...byEmail, normalize: (v: string) => v.toLowerCase() } },
    };
    expect(stepsOf({ ...factsOf(before, now) })).toMatchObject([
      { kind: "rebuild-index", reason: expect.stringContaining("give the index a version") },
    ]);
  });

  it.each<[string, object, object, string]>([
    [
      "its functions have changed",
      { unique: true, normalize: (email: string) => email },
      { unique: true, normalize: String },
      "breaking",
    ],
    ["it has functions now", { unique: true }, { unique: true, normalize: String }, "rebuild"],
    ["it is unique now", {}, { unique: true }, "rebuild"],
    ["it is no longer unique", { unique: true }, {}, "rebuild"],
    [
      "it has other fields",
      { unique: true },
      { unique: true, key: ["teamId", "email"] },
      "rebuild",
    ],
  ])("are rebuilt beside their entries if a program can compute them: %s", (_, a, b, kind) => {
    const of = (index: object) => ({ ...users, indexes: { byEmail: { key: "email", ...index } } });
    const isBreaking = kind === "breaking";
    const reason = isBreaking ? "reported as duplicates" : "is rebuilt beside its entries";
    expect(stepsOf(factsOf(of(a), of(b)))).toMatchObject([
      { kind: "rebuild-index", class: kind, reason: expect.stringContaining(reason) },
    ]);
  });

  it("that are being built the first time ask for nobody's word, also where they are to be unique", () => {
    const entry = migrated(users, { byEmail: "write-only" });
    const indexes = { byTeam, byEmail: { ...byEmail, normalize: String } };
    expect(steps({ indexes }, { entry })).toMatchObject([
      { kind: "rebuild-index", class: "rebuild" },
    ]);
  });

  it.each<[IndexState, object[]]>([
    ["readable", []],
    [
      "disabled",
      [
        { kind: "drop-index", class: "safe" },
        { kind: "build-index", reason: expect.stringContaining("after its old entries") },
      ],
    ],
    ["write-only", [{ kind: "build-index", reason: expect.stringContaining("being built") }]],
    ["verifying", [{ kind: "build-index", reason: expect.stringContaining("being verified") }]],
    [
      "unique-pending",
      [
        {
          kind: "resolve-duplicates",
          class: "data",
          sideBySide: false,
          reason: expect.stringMatching(
            /^Several rows have .* A run only checks the rows again\.$/,
          ),
        },
      ],
    ],
    ["absent", [{ kind: "build-index", class: "backfill" }]],
    [
      "dropping",
      [
        { kind: "drop-index", class: "safe" },
        { kind: "build-index", reason: expect.stringContaining("after its old entries") },
      ],
    ],
  ])("that are %s have what is left to do", (state, expected) => {
    const found = steps({}, { entry: migrated(users, { byEmail: state }) });
    expect(found).toMatchObject(expected);
    expect(found).toHaveLength(expected.length);
  });

  it.each<[IndexState, string[]]>([
    ["readable", ["breaking"]],
    ["unique-pending", ["breaking"]],
    ["disabled", ["safe"]],
    ["dropping", ["safe"]],
    ["absent", []],
  ])("that the model has no more and are %s go", (state, classes) => {
    const entry = migrated(users, { byEmail: state });
    expect(steps({ indexes: { byTeam } }, { entry }).map((step) => step.class)).toEqual(classes);
  });

  it("do not take the place of one that was there without somebody's word", () => {
    const entry = migrated(users, { byEmail: "absent" });
    const indexes = { byTeam, byMail: { ...byEmail, prefix: "users_by_email" } };
    expect(steps({ indexes }, { entry })).toMatchObject([
      { id: "users.byMail: build-index", class: "breaking" },
    ]);
  });

  it("have counts", () => {
    expect(steps({ count: true })).toMatchObject([
      { id: "users.count(): build-counter", class: "backfill", sideBySide: true },
    ]);
    const indexes = { byEmail, byTeam: { key: "teamId" } };
    expect(steps({ indexes })).toMatchObject([
      { id: "users.count(byTeam): drop-counter", class: "breaking" },
    ]);
    const entry = { ...migrated(users), counters: { byTeam: "write-only" as const } };
    expect(steps({}, { entry })).toMatchObject([
      { kind: "build-counter", reason: expect.stringContaining("is being built") },
    ]);
  });
});

describe("a plan as text", () => {
  it("has a line for each step, and says why and what is to be written", () => {
    const now = {
      ...users,
      schema: schema.extend({ email: z.number(), nickname: z.string().optional() }),
      indexes: { byTeam: users.indexes.byTeam, byTeamEmail: { key: ["teamId", "email"] } },
    };
    const plan = planOf(
      factsOf(users, now),
      factsOf({ ...users, name: "others" }, { ...users, name: "others" }),
    );
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
    expect(new Set(plan.steps.map(({ id }) => id)).size).toBe(plan.steps.length);
    const text = formatPlan(plan, { columns: 80 });
    expect(text).toMatchInlineSnapshot(`
      "users
        data      change field email
                  "email" was a string and is a number: it needs a migration that
                  changes it.
                  Blocked until this is done:
                  Write a migration:
                  defineMigration({
                    model: …, // the model "users"
                    from: z.object({ … }), // its old schema
                    to: z.object({ … }), // its new schema
                    up: (row) => ({ ...row, email: … }),
                  })
        safe      add field nickname
                  "nickname" is new and optional: rows stay as they are.
        breaking  drop index byEmail
                  The model no longer has the index byEmail. Its entries are removed,
                  and queries of other programs that use it fail. Programs that have
                  this unique index can no longer write, because its values may be
                  repeated from now on.
                  To accept it: "users.byEmail: drop-index"
        backfill  build index byTeamEmail
                  The new index byTeamEmail is built from the rows. It can be read
                  after that.

      4 steps. 1 of them is blocked: do first what the plan says. 1 of them is
      breaking and must be accepted. Programs with the old models cannot write
      afterwards."
    `);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it("says once what several steps wait for", () => {
    const now = {
      ...users,
      schema: schema.extend({ email: z.number(), age: z.int(), nickname: z.string().optional() }),
    };
    const text = formatPlan(planOf(factsOf(users, now)));
    expect(text.match(/defineMigration/g)).toHaveLength(1);
    expect(text.match(/Blocked until the same is done/g)).toHaveLength(1);
  });
});
