// Migrates the database at a path as transform-models.ts has it, from the start or where an earlier
// process was killed: transform-crash.test.ts starts it. It prints the phase behind each batch.
import { openKv } from "@keywright/core";
import * as z from "zod";
import { createDatabase, defineMigration, defineModel, migrate } from "../dist/index.js";

const indexes = {
  byEmail: { key: "email", unique: true },
  byVisits: { key: "visits", count: true },
  byEmailCopy: { key: "email", store: "copy" },
  // It states a version, so it is rebuilt after the rows have been changed.
  byVersion: { key: (member) => member.visits, version: 1 },
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

const [path, rows] = process.argv.slice(2);
const kv = await openKv(path, { durability: "relaxed" });
if ((await kv.get(["filled"])).value === null) {
  const old = await createDatabase({ kv, models: { members: OldMember } });
  const data = Array.from({ length: Number(rows) }, (_, i) => ({
    id: `m${String(i).padStart(5, "0")}`,
    name: `Name ${i}`,
    email: `m${i}@example.com`,
    visits: i % 7,
  }));
  await old.members.createMany({ data });
  await kv.set(["filled"], true);
}
const db = await createDatabase({ kv, models: { members: Member }, migrations });
const onProgress = ({ phase }) => process.stdout.write(`${phase}\n`);
const { status } = await migrate(db, { onProgress });
await kv.close();
process.exitCode = status === "done" ? 0 : 1;
