// Changes all rows of the database at a path as transform-models.ts has it, from the start or where an earlier process was
// killed: transform-crash.test.ts starts it. It prints `batch` behind each batch.
import { openKv, ulid } from "@keywright/core";
import * as z from "zod";
import { catalogKey, rowManifestKey, transformMarkKey } from "../dist/catalog/catalog-entry.js";
import { tableContexts } from "../dist/database/database.js";
import { createDatabase, defineModel } from "../dist/index.js";
import { takeLease } from "../dist/migrate/lease.js";
import { migrationRun } from "../dist/migrate/migration-run.js";
import { transformRows } from "../dist/migrate/transform-rows.js";
import { defineMigration } from "../dist/schema/define-migration.js";

const indexes = {
  byEmail: { key: "email", unique: true },
  byVisits: { key: "visits", count: true },
  byEmailCopy: { key: "email", store: "copy" },
};
const from = z.object({ id: z.string(), name: z.string(), email: z.string(), visits: z.int() });
const to = z.object({
  id: z.string(),
  fullName: z.string().min(1),
  email: z.string(),
  visits: z.int(),
  closed: z.boolean().default(false),
});
const model = { name: "members", primaryKey: "id", indexes, count: true };
const OldMember = defineModel({ ...model, schema: from });
const Member = defineModel({ ...model, schema: to });
const up = ({ name, ...row }) => ({
  ...row,
  fullName: name,
  visits: row.visits + 1,
  closed: false,
});
const migrations = [defineMigration({ model: Member, from, to, changes: ["visits"], up })];

const kv = await openKv(process.argv[2], { durability: "relaxed" });

async function openNew() {
  const db = await createDatabase({ kv, models: { members: Member }, migrations });
  return tableContexts(db).get("members");
}

if ((await kv.get(["begun"])).value === null) {
  const old = await createDatabase({ kv, models: { members: OldMember } });
  const rows = Array.from({ length: 600 }, (_, i) => ({
    id: `m${String(i).padStart(5, "0")}`,
    name: `Name ${i}`,
    email: `m${i}@example.com`,
    visits: i % 7,
  }));
  await old.members.createMany({ data: rows });
  const context = await openNew();
  const { entry, check } = context.catalog.snapshot;
  const { manifest } = context.catalog.ownRows;
  const id = ulid();
  await kv
    .atomic()
    .check(check)
    .set(catalogKey(context.model), {
      ...entry,
      schema: { hash: manifest.hash, accepts: [] },
      transform: { id, from: entry.schema.hash },
    })
    .set(rowManifestKey(context.model, manifest.hash), manifest)
    .set(transformMarkKey(context.model, id), true)
    .set(["begun"], true)
    .commit();
}
const lease = await takeLease(kv, { wait: true });
const onProgress = ({ phase }) => {
  if (phase === "transforming") process.stdout.write("batch\n");
};
const run = migrationRun(lease, { onProgress });
const status = await transformRows(await openNew(), { ...run, batchRows: 10 });
await lease.release();
await kv.close();
process.exitCode = status === "done" ? 0 : 1;
