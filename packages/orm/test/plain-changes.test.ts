import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel } from "../src/index.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Owner = defineModel({
  name: "owners",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
});

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.string(),
    batch: z.int(),
    ownerId: z.string().nullable(),
    ownerName: z.string().default("none"),
    note: z.string(),
    done: z.boolean(),
    rank: z.int(),
    at: z.date(),
    tags: z.array(z.string()),
  }),
  primaryKey: "id",
  indexes: {
    byBatch: { key: "batch" },
    byOwner: { key: ["ownerId", "at"] },
    byOpen: { key: "rank", where: { done: false } },
    byTag: { key: "tags", each: true },
  },
  relations: { owner: belongsTo("owners", "ownerId", { copy: { ownerName: "name" } }) },
});

const models = { owners: Owner, tasks: Task };

async function filled(kv: Awaited<ReturnType<typeof openKv>>) {
  const db = await createDatabase({ kv, models });
  await db.owners.createMany({ data: ["a", "b"].map((id) => ({ id, name: `name of ${id}` })) });
  const task = (i: number) => ({
    id: `t${i}`,
    batch: i % 2,
    ownerId: [null, "a", "b"][i % 3]!,
    note: "",
    done: i % 4 === 0,
    rank: i,
    at: new Date(i),
    tags: [`x${i}`, "y"],
  });
  await db.tasks.createMany({ data: Array.from({ length: 250 }, (_, i) => task(i)) });
  return db;
}

interface Case {
  readonly on: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly ownerName?: string;
}

it.each<Case>([
  { on: "nothing", data: { note: "changed" } },
  { on: "the rows of an index", data: { done: true } },
  { on: "a key", data: { rank: -1 } },
  { on: "the place of a reference in an index", data: { at: new Date(5000) } },
  { on: "the entries of its elements", data: { tags: ["z"] } },
  { on: "a reference and its copies", data: { ownerId: "b" }, ownerName: "name of b" },
  { on: "a reference that is removed", data: { ownerId: null }, ownerName: "none" },
  { on: "the key by which the rows are found", data: { batch: 7 } },
])("updateMany changes what depends on a field: $on", async ({ data, ownerName }) => {
  await using kv = await openKv();
  const db = await filled(kv);
  const before = (await db.tasks.scan()).items;
  const { count } = await db.tasks.updateMany({ where: { batch: 1 }, data: data as never });
  expect(count).toBe(125);
  for (const model of Object.values(models)) await expectIndexesToMatch(kv, model);
  const copies = ownerName === undefined ? {} : { ownerName };
  const changed = (row: (typeof before)[number]) => ({ ...row, ...data, ...copies });
  const expected = before.map((row) => (row.batch === 1 ? changed(row) : row));
  expect((await db.tasks.scan()).items).toEqual(expected);
});
