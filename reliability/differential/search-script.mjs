import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const Note = defineModel({
  name: "notes",
  schema: z.object({ id: z.string(), text: z.string() }),
  primaryKey: "id",
  indexes: { search: { text: ["text"] } },
});
/** The words of the notes. The first ones are much more frequent. */
const words = Array.from({ length: 60 }, (_, i) => `w${i}`);
/** As many notes are created before the first search, so that segments are merged. */
const created = 2400;
/** So many calls for one search. */
const callsOfSearch = 40;

/** Opens the model, and a map of its rows that are searched one by one. */
export async function openBoth() {
  const kv = await openKv();
  const db = await createDatabase({ kv, models: { notes: Note } });
  return { kv, db, rows: new Map() };
}

/**
 * Writes random notes, and searches them in both.
 *
 * @returns the first search whose results differ, as text. Empty if there is none.
 */
export async function runSearches({ db, rows }, random, calls) {
  for (let i = 0; i < calls; i++) {
    await write(db.notes, rows, random, i < created);
    if (i >= created && i % callsOfSearch === 0) {
      const query = newQuery(random);
      const [mine, theirs] = [await searchModel(db.notes, query.text), searchRows(rows, query)];
      if (mine.join() !== theirs.join())
        return [`${query.text}\n  ours: ${differenceOf(mine, theirs)}`];
    }
  }
  return [];
}

async function write(notes, rows, random, creates) {
  const id = `note ${random.below(creates ? 1_000_000 : 3000)}`;
  const known = creates ? id : (random.pick([...rows.keys()].slice(0, 500)) ?? id);
  if (!creates && random.below(3) === 0) {
    rows.delete(known);
    await notes.deleteMany({ where: { id: known } });
    return;
  }
  const text = newText(random);
  rows.set(known, text);
  const where = { id: known };
  await notes.upsert({ where, create: { id: known, text }, update: { text } });
}

function newText(random) {
  const word = () => words[Math.floor(words.length * random.next() ** 2)];
  return Array.from({ length: 1 + random.below(6) }, word).join(" ");
}

/** Words that a note must have, one of which may be excluded or have an alternative. */
function newQuery(random) {
  const [first, second] = [random.pick(words), random.pick(words)];
  return random.pick([
    { text: first, all: [[first]], none: [] },
    { text: `${first} ${second}`, all: [[first], [second]], none: [] },
    { text: `${first} OR ${second}`, all: [[first, second]], none: [] },
    { text: `${first} -${second}`, all: [[first]], none: [second] },
  ]);
}

/** Returns the ids of the notes that a search finds, on all pages. */
async function searchModel(notes, query) {
  const ids = [];
  let cursor;
  do {
    const page = await notes.search({ query, take: 500, ...(cursor ? { cursor } : {}) });
    ids.push(...page.items.map(({ row }) => row.id));
    cursor = page.cursor;
  } while (cursor);
  return ids.sort();
}

function searchRows(rows, { all, none }) {
  const isFound = (text) => {
    const own = new Set(text.split(" "));
    return all.every((some) => some.some((word) => own.has(word))) && !none.some((w) => own.has(w));
  };
  return [...rows]
    .filter(([, text]) => isFound(text))
    .map(([id]) => id)
    .sort();
}

function differenceOf(mine, theirs) {
  const missing = theirs.filter((id) => !mine.includes(id));
  const more = mine.filter((id) => !theirs.includes(id));
  return `${mine.length} rows, without ${missing.slice(0, 5)}, and with ${more.slice(0, 5)}`;
}
