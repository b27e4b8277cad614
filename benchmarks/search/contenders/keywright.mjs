// Keywright's full-text index, on the engines that its users choose.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import { ClassicLevel } from "classic-level";
import * as z from "zod";

export const title = "Keywright on LevelDB";

const definition = {
  name: "docs",
  schema: z.object({ id: z.string(), title: z.string(), body: z.string() }),
  primaryKey: "id",
};
const Plain = defineModel(definition);
const Searched = defineModel({
  ...definition,
  indexes: {
    search: { text: ["title", "body"], language: "english", weights: { title: 4 } },
  },
});

/** Rows are loaded before the index exists, and a migration builds it: many rows are loaded so. */
export async function open(folder, { hasIndex }) {
  const kv = await openKv(folder, { durability: "relaxed" });
  let db = await createDatabase({ kv, models: { docs: Plain } });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await kv.close();
    isOpen = false;
  };
  return {
    load: async (documents) => {
      const { results } = await db.docs.createMany({ data: documents });
      if (results.some(({ ok }) => !ok)) throw new Error("A document was not stored.");
    },
    create: (document) => db.docs.create({ data: document }),
    finish: async () => {
      if (!hasIndex) return;
      db = await createDatabase({ kv, models: { docs: Searched } });
      await migrate(db);
    },
    /** LevelDB keeps what was overwritten until it compacts, so it compacts first. */
    bytes: async () => {
      await close();
      const level = new ClassicLevel(folder, { keyEncoding: "buffer", valueEncoding: "buffer" });
      await level.open({ createIfMissing: false });
      await level.compactRange(Buffer.alloc(0), Buffer.alloc(8, 0xff));
      await level.close();
      return readdirSync(folder)
        .filter((file) => file.endsWith(".ldb"))
        .reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
    },
    canAnswer: () => true,
    search: async (query, take) => {
      const { items } = await db.docs.search({
        query: textOf(query),
        typos: query.typo !== undefined,
        take,
      });
      return items.map(({ row }) => Number(row.id));
    },
    close,
  };
}

function textOf({ words, phrase, prefix, typo }) {
  if (phrase !== undefined) return `"${phrase.join(" ")}"`;
  if (prefix !== undefined) return `${prefix}*`;
  return typo ?? words.join(" ");
}
