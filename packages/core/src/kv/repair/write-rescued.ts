import { ClassicLevel } from "classic-level";
import { type AtomicWrite, hasExpired, type StoredEntry } from "../../engine/engine.js";
import type { DatabaseMode } from "../../engine/level/database-header.js";
import { type LevelDatabase, LevelEngine } from "../../engine/level/level-engine.js";
import type { NewestWrites } from "../../engine/level/repair/newest-writes.js";
import { maxGroupSize } from "../../values/versionstamp.js";
import { expiryHint, isHintKey } from "../expiry/expiry-hint.js";

const maxGroupBytes = 8 * 1024 * 1024;

/**
 * Writes rescued entries into a new database. Each commit is repeated with the entries that are
 * left of it, so that they have equal versionstamps again.
 *
 * @param folder a folder that does not exist.
 * @returns the number of entries, apart from those that have expired.
 */
export async function writeRescued(
  folder: string,
  mode: DatabaseMode,
  newest: NewestWrites,
): Promise<number> {
  const level = new ClassicLevel(folder, { keyEncoding: "view", valueEncoding: "view" });
  await level.open();
  try {
    const database = level as unknown as LevelDatabase;
    const engine = await LevelEngine.open(database, { mode, copiesWrites: true });
    let entries = 0;
    for await (const commits of groupsOf(newest)) {
      const now = Date.now();
      await commitAll(
        engine,
        commits.map((commit) => atomicWrite(commit, now)),
      );
      for (const commit of commits) entries += commit.length;
    }
    return entries;
  } finally {
    await level.close();
  }
}

async function commitAll(engine: LevelEngine, writes: readonly AtomicWrite[]): Promise<void> {
  for (const outcome of await engine.commit(writes)) if (outcome instanceof Error) throw outcome;
}

/** Yields the entries of many commits at once, so that they share one sync. */
async function* groupsOf(newest: NewestWrites): AsyncGenerator<StoredEntry[][]> {
  let group: StoredEntry[][] = [];
  let bytes = 0;
  for await (const entry of newest.inCommitOrder()) {
    // The hints of expiry are written again with their entries.
    if (isHintKey(entry.key) || hasExpired(entry, Date.now())) continue;
    const commit = group.at(-1);
    if (commit?.[0]?.versionstamp === entry.versionstamp) commit.push(entry);
    else {
      if (bytes >= maxGroupBytes || group.length === maxGroupSize) {
        yield group;
        group = [];
        bytes = 0;
      }
      group.push([entry]);
    }
    bytes += entry.key.length + entry.value.length;
  }
  if (group.length > 0) yield group;
}

function atomicWrite(entries: readonly StoredEntry[], now: number): AtomicWrite {
  const mutations = entries.flatMap(({ key, value, expireAt }) => {
    if (expireAt === undefined) return [{ type: "set" as const, key, value }];
    const set = { type: "set" as const, key, value, expireAt };
    return [set, expiryHint(set, now)];
  });
  return { checks: [], mutations, sync: true };
}
