import type { EmbeddedKv } from "@keywright/core";
import { createDatabase, type Database, defineModel } from "@keywright/orm";
import * as z from "zod";

const Note = defineModel({
  name: "notes",
  schema: z.object({ id: z.string(), team: z.string(), title: z.string(), body: z.string() }),
  primaryKey: "id",
  indexes: {
    byTeam: { key: "team" },
    search: { text: ["title", "body"], language: "english", stopWords: ["the"] },
    ofTeam: { text: "body", key: "team" },
  },
});

export const searched = { notes: Note };

/** Fills a database with 45 notes on foxes, of two teams, and one on dogs. */
export async function fillNotes(kv: EmbeddedKv): Promise<Database<typeof searched>> {
  const db = await createDatabase({ kv, models: searched });
  const foxes = Array.from({ length: 45 }, (_, i) => ({
    id: `note-${String(i).padStart(2, "0")}`,
    team: i % 9 === 0 ? "red" : "blue",
    title: i === 7 ? "Jumping <b>foxes</b>" : `Note ${i}`,
    body: `${"Nothing of interest here. ".repeat(12)}Then a fox\u202e came, and the fox left.`,
  }));
  const dogs = { id: "dogs", team: "red", title: "Dogs", body: "A lazy dog." };
  await db.notes.createMany({ data: [...foxes, dogs] });
  return db;
}
