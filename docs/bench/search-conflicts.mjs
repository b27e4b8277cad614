// Counts the commits that fail because others have changed the same entries, while many writers
// write rows that share their words, and prints the table of docs/search.md: without an index, with
// an index of a field, and with a full-text index.
//
// `npm run bench:search-conflicts -- 4000` sets the writes of each measurement.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const writes = Number(process.argv[2] ?? 4000);
const writers = 64;
const rows = 500;

const indexes = {
  "no index": {},
  "an index of a field": { byWord: { key: "word" } },
  "a full-text index": { search: { text: ["word", "body"], language: "english" } },
};
const words = ["quick", "brown", "fox", "lazy", "dog", "jumping", "over", "the"];

/** The same numbers for each measurement. */
function random(seed) {
  let state = seed;
  return (size) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * size);
  };
}

/** Returns the database with counters of its commits. */
function counted(kv, counts) {
  return new Proxy(kv, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== "atomic") return typeof value === "function" ? value.bind(target) : value;
      return () => {
        const operation = target.atomic();
        const set = operation.set.bind(operation);
        const commit = operation.commit.bind(operation);
        let isOfRow = false;
        operation.set = (key, ...others) => {
          isOfRow ||= key[0] === "docs";
          return set(key, ...others);
        };
        operation.commit = async () => {
          const result = await commit();
          if (!result.ok) counts[isOfRow ? "writes" : "upkeep"]++;
          return result;
        };
        return operation;
      };
    },
  });
}

async function measure(index, kind) {
  const folder = await mkdtemp(join(tmpdir(), "search-"));
  const kv = await openKv(folder, { durability: "relaxed" });
  try {
    const counts = { writes: 0, upkeep: 0 };
    const Doc = defineModel({
      name: "docs",
      schema: z.object({ id: z.string(), word: z.string(), body: z.string() }),
      primaryKey: "id",
      indexes: indexes[index],
    });
    const db = await createDatabase({ kv: counted(kv, counts), models: { docs: Doc } });
    const next = random(1);
    const dataOf = () => ({
      word: words[next(words.length)],
      body: Array.from({ length: 20 }, () => words[next(words.length)]).join(" "),
    });
    await db.docs.createMany({
      data: Array.from({ length: rows }, (_, i) => ({ id: `d${i}`, ...dataOf() })),
    });
    Object.assign(counts, { writes: 0, upkeep: 0 });
    let done = 0;
    const writer = async () => {
      for (let i = done++; i < writes; i = done++) {
        if (kind === "creates") await db.docs.create({ data: { id: `n${i}`, ...dataOf() } });
        else await db.docs.update({ where: { id: `d${next(rows)}` }, data: dataOf() });
      }
    };
    await Promise.all(Array.from({ length: writers }, writer));
    return counts;
  } finally {
    await kv.close();
    await rm(folder, { recursive: true });
  }
}

console.log(`${writes} writes by ${writers} writers at the same time, ${rows} rows before\n`);
console.log("| commits that failed | creates | updates of random rows | folds and merges |");
console.log("| --- | --- | --- | --- |");
for (const index of Object.keys(indexes)) {
  const creates = await measure(index, "creates");
  const updates = await measure(index, "updates");
  const upkeep = creates.upkeep + updates.upkeep;
  console.log(`| ${index} | ${creates.writes} | ${updates.writes} | ${upkeep} |`);
}
