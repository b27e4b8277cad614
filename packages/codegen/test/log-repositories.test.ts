import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { loadConfig } from "../src/project/config/load-config.js";
import { compile } from "./compile.js";
import { config, createProject, type Project } from "./project.js";

const models = `import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({ tenantId: z.string(), id: z.string(), name: z.string() }),
  primaryKey: ["tenantId", "id"],
});
export const Count = defineModel({
  name: "counts",
  schema: z.object({ versionstamp: z.string(), n: z.int() }),
  primaryKey: "versionstamp",
});
`;

const usage = `import { openKv } from "@keywright/core";
import { openRepositories, type RowChanges } from "./db/index.js";
import type { UserRow } from "./db/users.js";
const db = await openRepositories(await openKv());
for await (const { changes, context } of db.users.changes({ where: { name: "Ada" }, live: false })) {
  const [change] = changes;
  export const row: UserRow | null | undefined = change?.after;
  const key: { tenantId: string; id: string } | undefined = change?.key;
  void [key, context];
}
const page = await db.users.history("a", "1", { take: 1 });
const restored: UserRow = await db.users.restoreRow("a", "1", page.items[0]!.versionstamp, {});
await db.counts.restoreRow("key", "00000000000000010000");
void restored;
await db.at(new Date(), async (past) => {
  const found: UserRow | null = await past.users.findByTenantIdAndId("a", "1");
  // @ts-expect-error: a past state has no log.
  void past.users.history;
  return found;
});
await db.consume(
  "names",
  async ({ commit, transaction }) => {
    const changes: readonly RowChanges[] = commit.changes;
    for (const change of changes)
      if (change.model === "users") void change.after?.name;
    await transaction(async (tx) => {
      await tx.counts.create({ versionstamp: commit.versionstamp, n: changes.length });
    });
  },
  { models: ["users"] },
);
// @ts-expect-error: there is no such model.
void db.consume("names", () => undefined, { models: ["people"] });
`
  .replace("  export const row", "  const row")
  .replace("void [key, context]", "void [key, context, row]");

// biome-ignore lint/suspicious/noExplicitAny: the module is made by the test; its types are compiled in "usage.ts".
type Opened = any;

let project: Project;
let generated: Opened;
let openKv: (where: string, options: object) => Promise<Opened>;
let kv: Opened;
let db: Opened;

beforeAll(async () => {
  project = await createProject({
    "keywright.config.ts": config,
    "models/all.ts": models,
    "usage.ts": usage,
    "open-kv.ts": 'export { openKv } from "@keywright/core";\n',
  });
  expect((await project.run(["generate"])).exitCode).toBe(0);
  const { loadModule } = await loadConfig(project.folder);
  generated = await loadModule(project.path("db/index.ts"));
  // The project's own: the test has another copy of the package.
  ({ openKv } = (await loadModule(project.path("open-kv.ts"))) as Opened);
});
afterAll(() => project.remove());
beforeEach(async () => {
  kv = await openKv(":memory:", { log: { keep: "7 days" } });
  db = await generated.openRepositories(kv);
});
afterEach(() => kv.close());

const ada = { tenantId: "a", id: "1", name: "Ada" };

it("have types", () => {
  expect(compile([project.path("usage.ts")])).toEqual([]);
});

it("follow changes, return and restore versions, and read an earlier moment", async () => {
  await db.users.create(ada);
  await db.users.update("a", "1", { name: "Ada L." });
  const types: unknown[] = [];
  for await (const { changes } of db.users.changes({ live: false, where: { name: "Ada" } }))
    for (const { type, key } of changes) types.push([type, key]);
  const key = { tenantId: "a", id: "1" };
  expect(types).toEqual([
    ["create", key],
    ["delete", key],
  ]);
  const { items } = await db.users.history("a", "1");
  expect(items.map(({ row }: Opened) => row)).toEqual([{ ...ada, name: "Ada L." }, ada]);
  const { versionstamp } = items[1];
  const stale = db.users.restoreRow("a", "1", versionstamp, { ifVersion: versionstamp });
  await expect(stale).rejects.toMatchObject({ code: "KW_VERSION_CONFLICT" });
  expect(await db.users.restoreRow("a", "1", versionstamp)).toEqual(ada);
  await db.users.delete("a", "1");
  const past = await db.at(versionstamp, (view: Opened) =>
    view.users.findByTenantIdAndId("a", "1"),
  );
  expect(past).toEqual(ada);
  expect(await db.users.findByTenantIdAndId("a", "1")).toBeNull();
});

it("return whole rows of the log also if they select fields of others", async () => {
  await db.users.create(ada);
  const { items } = await db.users.select({ name: true }).history("a", "1");
  expect(items[0].row).toEqual(ada);
  const { versionstamp } = items[0];
  expect(await db.users.select({ name: true }).restoreRow("a", "1", versionstamp)).toEqual(ada);
});

it("consume the log, with transactions of generated repositories", async () => {
  await db.users.create(ada);
  await db.users.update("a", "1", { name: "Ada L." });
  const stopping = new AbortController();
  const names: unknown[] = [];
  await db.consume(
    "names",
    async ({ commit, transaction }: Opened) => {
      for (const { model, after } of commit.changes) names.push([model, after.name]);
      const { versionstamp } = commit;
      await transaction((tx: Opened) => tx.counts.create({ versionstamp, n: names.length }));
      if (names.length === 2) stopping.abort();
    },
    { signal: stopping.signal },
  );
  expect(names).toEqual([
    ["users", "Ada"],
    ["users", "Ada L."],
  ]);
  expect(await db.counts.count()).toBe(2);
});
