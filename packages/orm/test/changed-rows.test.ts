import { type KvLike, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { rowManifest } from "../src/codegen.js";
import {
  createDatabase,
  defineMigration,
  defineModel,
  migrate,
  type RowMigration,
} from "../src/index.js";
import { findChangedRows } from "../src/migrate.js";

const id = z.string();
const first = z.object({ id, name: z.string() });
const second = z.object({ id, fullName: z.string() });
const third = z.object({ id, fullName: z.string(), score: z.int() });

const model = (schema: z.ZodObject) =>
  defineModel({ name: "players", schema, primaryKey: "id" } as never);
const open = (kv: KvLike, schema: z.ZodObject, migrations: readonly RowMigration[] = []) =>
  createDatabase({ kv, models: { players: model(schema) }, migrations });
const manifest = (schema: z.ZodObject) => rowManifest(schema, ["id"]);

const toSecond = defineMigration({
  model: model(first),
  from: first,
  to: second,
  up: ({ name, ...row }) => ({ ...row, fullName: name }),
});
const toThird = defineMigration({
  model: model(first),
  from: second,
  to: third,
  up: (row) => ({ ...row, score: 0 }),
});

it("finds what the database has and what the program has", async () => {
  await using kv = await openKv();
  expect(await findChangedRows(await open(kv, first))).toEqual([]);
  expect(await findChangedRows(await open(kv, second))).toEqual([
    { model: "players", from: manifest(first), to: manifest(second) },
  ]);
});

it("begins where the migrations that there are end, for databases that are there already", async () => {
  await using kv = await openKv();
  await open(kv, first);
  expect(await findChangedRows(await open(kv, third, [toSecond]))).toEqual([
    { model: "players", from: manifest(second), to: manifest(third) },
  ]);
  expect(await findChangedRows(await open(kv, third, [toSecond, toThird]))).toEqual([]);
});

it("finds nothing where the database is newer, and goes side by side with the program", async () => {
  await using kv = await openKv();
  await open(kv, first);
  const newer = await open(kv, first.extend({ nick: z.string().optional() }));
  expect(await findChangedRows(newer)).toHaveLength(1);
  await migrate(newer);
  expect(await findChangedRows(await open(kv, first))).toEqual([]);
});

it("comes to an end where migrations lead in a circle", async () => {
  await using kv = await openKv();
  await open(kv, first);
  const back = defineMigration({
    model: model(first),
    from: second,
    to: first,
    up: ({ fullName, ...row }) => ({ ...row, name: fullName }),
  });
  const [found] = await findChangedRows(await open(kv, third, [toSecond, back]));
  expect(found?.from).toEqual(manifest(second));
});
