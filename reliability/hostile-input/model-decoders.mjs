import { copyKv, decodeValue, encodeValue, openKv } from "@keywright/core";
import { migrate, migrationStatus } from "@keywright/orm";
import { verifyIndexes } from "@keywright/orm/migrate";
import { openModels } from "../shared/models.mjs";

const queries = [
  { where: { team: "team 0" } },
  { orderBy: { points: "desc" } },
  { where: { points: { gte: 2 } } },
  { where: { id: { in: ["user 1", "user 2", "user 3"] } } },
];

/** The cursors of queries, and the internal entries of models. */
export async function openModelDecoders() {
  const kv = await openKv();
  const db = await openModels(kv, "old");
  for (let i = 0; i < 9; i++)
    await db.users.create({
      data: { id: `user ${i}`, email: `${i}@example.com`, team: `team ${i % 2}`, points: i },
    });
  const pages = await Promise.all(queries.map((query) => db.users.findMany({ ...query, take: 2 })));
  return [
    {
      name: "cursors of queries",
      weight: 0.5,
      seeds: pages.map(({ cursor }) => Buffer.from(cursor)),
      decode: async (bytes, seed) => {
        const cursor = Buffer.from(bytes).toString("latin1");
        await db.users.findMany({ ...queries[seed], take: 2, cursor });
      },
      close: () => kv.close(),
    },
    await entryDecoder(kv),
  ];
}

/** An internal entry that is changed, in a database that is then opened and migrated. */
async function entryDecoder(kv) {
  const entries = await entriesWhileMigrating(kv);
  const own = entries.filter(({ key }) => key[0] === "__keywright");
  return {
    name: "internal entries",
    weight: 0.05,
    seeds: own.map(({ value }) => encodeValue(value)),
    decode: async (bytes, seed) => {
      const value = decodeValue(bytes);
      const copy = await openKv();
      try {
        for (const entry of entries) await copy.set(entry.key, entry.value);
        await copy.set(own[seed].key, value);
        const db = await openModels(copy, "new");
        await migrationStatus(db);
        await migrate(db, { accept: true });
        await verifyIndexes(db);
      } finally {
        await copy.close();
      }
    },
  };
}

/** Returns the entries of a copy whose migration to the new schema was stopped. */
async function entriesWhileMigrating(source) {
  const kv = await openKv();
  try {
    await copyKv(source, kv);
    const stopped = new AbortController();
    const db = await openModels(kv, "new");
    const onProgress = () => stopped.abort();
    await migrate(db, { accept: true, batchSize: 2, signal: stopped.signal, onProgress });
    return await entriesOf(kv);
  } finally {
    await kv.close();
  }
}

async function entriesOf(kv) {
  const entries = [];
  for await (const entry of kv.list({ prefix: [] })) entries.push(entry);
  return entries;
}
