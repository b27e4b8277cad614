import { encodeKey, encodeValue } from "@keywright/core";
import { about, openModels, user } from "./models.mjs";

/**
 * Measures each operation with one call at a time, and with 64.
 *
 * @param counts the reads and commits of the engine, if they are counted.
 */
export async function measureEngine(kv, counts, { rows, seconds }) {
  const { users, posts, database } = await openModels(kv);
  const fillMs = await timeOf(async () => {
    for (let id = 0; id < rows; id += 1000) {
      const data = Array.from({ length: Math.min(1000, rows - id) }, (_, i) => user(id + i));
      await users.createMany({ data });
    }
  });
  await posts.createMany({
    data: Array.from({ length: 3000 }, (_, id) => ({ id, authorId: id % 1000, title: "Hello" })),
  });
  let next = rows;
  let row = 0;
  const any = (below = rows) => (row = (row + 7919) % below);
  const operations = {
    "one read of a key": () => kv.get(["absent"]),
    "one commit of a key": () => kv.set(["bench", next++], 1),
    "`findUnique` by id": () => users.findUnique({ where: { id: any() } }),
    "`findUnique` by a unique index": () =>
      users.findUnique({ where: { email: user(any()).email } }),
    "`findMany`, 100 rows by an index": () =>
      users.findMany({ where: { city: `city ${any(100)}` }, take: 100 }),
    "`findUnique` with `include`": () =>
      users.findUnique({ where: { id: any(1000) }, include: { posts: true } }),
    "`create`": () => users.create({ data: user(next++) }),
    "`update` of an indexed field": () =>
      users.update({ where: { id: any() }, data: { city: `city ${next++ % 100}` } }),
    "transaction, 2 reads and 1 write": () =>
      database.transaction(async (tx) => {
        const id = any();
        await tx.users.findUnique({ where: { id: any() } });
        await tx.users.findUnique({ where: { id } });
        await tx.users.update({ where: { id }, data: { about: `${about}${next++}` } });
      }),
  };
  const measured = {};
  for (const [name, operation] of Object.entries(operations)) {
    measured[name] = {
      requests: counts && (await requestsOf(operation, counts)),
      one: await measure(operation, 1, seconds),
      many: await measure(operation, 64, seconds),
    };
  }
  return { measured, fillRate: (rows / fillMs) * 1000, bytesPerRow: await bytesPerRow(kv) };
}

/** The fewest requests of several calls: some calls also read the catalog. */
async function requestsOf(operation, counts) {
  let fewest = { reads: Number.POSITIVE_INFINITY, commits: 0 };
  for (let i = 0; i < 8; i++) {
    const before = { ...counts };
    await operation();
    const reads = counts.reads - before.reads;
    const commits = counts.commits - before.commits;
    if (reads + commits < fewest.reads + fewest.commits) fewest = { reads, commits };
  }
  return fewest;
}

async function measure(operation, inFlight, seconds) {
  const latencies = [];
  const startedAt = performance.now();
  const end = startedAt + seconds * 1000;
  const worker = async () => {
    for (let at = performance.now(); at < end; ) {
      await operation();
      const now = performance.now();
      latencies.push(now - at);
      at = now;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const rate = (latencies.length / (performance.now() - startedAt)) * 1000;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.floor(latencies.length * share)];
  return { rate, median: at(0.5), p99: at(0.99) };
}

/** Bytes of keys and values that a user has: the row and its index entries. */
async function bytesPerRow(kv) {
  let bytes = 0;
  let rows = 0;
  for (const prefix of ["users", "users_by_email", "users_by_city"]) {
    for await (const { key, value } of kv.list({ prefix: [prefix] }, { limit: 1000 })) {
      bytes += encodeKey(key).length + encodeValue(value).length;
      if (prefix === "users") rows++;
    }
  }
  return bytes / rows;
}

async function timeOf(call) {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
}
