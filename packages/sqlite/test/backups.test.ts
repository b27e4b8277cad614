import { createRequire } from "node:module";
import { setImmediate } from "node:timers/promises";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import { verifyIndexes } from "@keywright/orm/migrate";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { sqliteEngine } from "../src/index.js";
import { openRaw } from "./raw-file.js";
import { temporaryFile } from "./temporary-file.js";

let path: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ path, remove } = await temporaryFile());
});

afterEach(() => remove());

const members = defineModel({
  name: "members",
  schema: z.object({ id: z.int(), email: z.string(), group: z.int() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byGroup: { key: "group", count: true } },
});

const open = async (file: string) => await openKv(await sqliteEngine({ path: file }));
const databaseOn = async (kv: EmbeddedKv) => await createDatabase({ kv, models: { members } });

/** Changes some rows while the file is copied. */
async function changeRowsDuring(file: string, copy: () => Promise<unknown>): Promise<void> {
  const kv = await open(file);
  const db = await databaseOn(kv);
  const row = (id: number) => ({ id, email: `${id}@example.com`, group: id % 7 });
  await db.members.createMany({ data: Array.from({ length: 3000 }, (_, id) => row(id)) });
  const copying = copy();
  for (let id = 0; id < 30; id++) {
    await db.members.update({ where: { id }, data: { email: `new ${id}`, group: id % 5 } });
    await setImmediate();
  }
  // An online backup begins again after each commit, so it ends only after the last one.
  await copying;
  await kv.close();
}

async function expectWhole(file: string): Promise<void> {
  const kv = await open(file);
  try {
    const db = await databaseOn(kv);
    expect(await db.members.count()).toBe(3000);
    expect((await kv.verifyFiles())?.damages).toEqual([]);
    expect(await verifyIndexes(db)).toMatchObject({ status: "clean" });
    await db.members.create({ data: { id: 9999, email: "new@example.com", group: 1 } });
  } finally {
    await kv.close();
  }
}

it("VACUUM INTO of a file in use is a database whose indexes verify", async () => {
  const copy = `${path}-copy`;
  await changeRowsDuring(path, async () => {
    const connection = await openRaw(path);
    connection.prepare("VACUUM INTO ?").run(copy);
    connection.close();
  });
  await expectWhole(copy);
});

it("the online backup of a file in use is a database whose indexes verify", async () => {
  const copy = `${path}-copy`;
  await changeRowsDuring(path, () => backUp(path, copy));
  await expectWhole(copy);
});

/** Copies some pages at a time, so commits are made in between. */
async function backUp(from: string, to: string): Promise<void> {
  const { Database, backup } = await onlineBackup();
  const source = new Database(from);
  await backup(source, to);
  source.close();
}

interface Source {
  close(): void;
}

interface OnlineBackup {
  readonly Database: new (path: string) => Source;
  readonly backup: (source: Source, to: string) => Promise<unknown>;
}

async function onlineBackup(): Promise<OnlineBackup> {
  const name = "node:sqlite";
  const node = await import(name).catch(() => undefined);
  if (node?.backup !== undefined) {
    const { DatabaseSync: Database, backup } = node;
    return { Database, backup: (source, to) => backup(source, to, { rate: 10 }) };
  }
  const Database = createRequire(import.meta.url)("better-sqlite3");
  return {
    Database,
    backup: (source, to) =>
      (source as Source & { backup(path: string, options: object): Promise<unknown> }).backup(to, {
        progress: () => 10,
      }),
  };
}
