// Measures what ranks cost writers, and prints the table of docs/aggregates.md: creates per second,
// the time of the processor for each, and how many commits were repeated, with and without
// `ranked: true`.
//
// `npm run bench:ranks -- 4000` sets the rows of each measurement.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const rows = Number(process.argv[2] ?? 4000);

const modelWith = (ranked) =>
  defineModel({
    name: "players",
    schema: z.object({ id: z.string(), score: z.int() }),
    primaryKey: "id",
    indexes: { byScore: { key: "score", count: true, ranked } },
  });

/** Returns the database with counters of its commits. */
function counted(kv, counts) {
  return new Proxy(kv, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== "atomic") return typeof value === "function" ? value.bind(target) : value;
      return () => {
        const operation = target.atomic();
        const commit = operation.commit.bind(operation);
        operation.commit = async () => {
          const result = await commit();
          counts.commits++;
          if (!result.ok) counts.failed++;
          return result;
        };
        return operation;
      };
    },
  });
}

async function measure(where, ranked, writers, scoreOf) {
  const folder = where === "LevelDB" ? await mkdtemp(join(tmpdir(), "ranks-")) : undefined;
  const kv = await openKv(folder);
  try {
    const counts = { commits: 0, failed: 0 };
    const models = { players: modelWith(ranked) };
    const db = await createDatabase({ kv: counted(kv, counts), models });
    let next = 0;
    const write = async () => {
      for (let i = next++; i < rows; i = next++)
        await db.players.create({ data: { id: `p${i}`, score: scoreOf(i) } });
    };
    const start = performance.now();
    const before = process.cpuUsage();
    await Promise.all(Array.from({ length: writers }, write));
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(before);
    const micros = Math.round((user + system) / rows);
    return { perSecond: Math.round(rows / seconds), micros, ...counts };
  } finally {
    await kv.close();
    if (folder !== undefined) await rm(folder, { recursive: true });
  }
}

const orders = {
  random: (i) => (i * 2654435761) % 1_000_003,
  ascending: (i) => i,
};
// The first measurement would include the compilation of the functions.
for (const ranked of [false, true]) await measure("memory", ranked, 8, orders.random);
console.log("| | writers | scores | not ranked | ranked | repeated commits |");
console.log("| --- | ---: | --- | ---: | ---: | ---: |");
const textOf = ({ perSecond, micros }) => `${perSecond}/s, ${micros} µs`;
for (const where of ["memory", "LevelDB"]) {
  for (const writers of [1, 8, 64]) {
    for (const [name, scoreOf] of Object.entries(orders)) {
      const plain = await measure(where, false, writers, scoreOf);
      const ranked = await measure(where, true, writers, scoreOf);
      const share = ((100 * ranked.failed) / ranked.commits).toFixed(1);
      console.log(
        `| ${where} | ${writers} | ${name} | ${textOf(plain)} | ${textOf(ranked)} | ${share} % |`,
      );
    }
  }
}
