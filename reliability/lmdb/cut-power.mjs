import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compareCommits } from "../shared/compare-commits.mjs";
import { openDatabase } from "../shared/open-database.mjs";
import { buildPreload } from "../shared/preload.mjs";
import { fates, fileAfterCut, readEvents } from "./file-after-cut.mjs";

const source = fileURLToPath(new URL("record-writes.c", import.meta.url));
const program = fileURLToPath(new URL("../power/commit-under-record.mjs", import.meta.url));
/** Processes that commit to one database, each of which continues with the file after a cut. */
const rounds = 2;

/**
 * Records the writes of two processes that commit to an LMDB file one after the other, and cuts the
 * power at random times of both. After each cut, all acknowledged commits must be there and whole.
 *
 * @returns how many cuts were right, and the problems in words.
 */
export async function cutPowerOfLmdb({ durability, commits, valueBytes, cuts, random }) {
  const root = await mkdtemp(join(tmpdir(), "keywright-lmdb-power-"));
  const problems = [];
  let whole = 0;
  try {
    const library = join(root, "record-writes.so");
    buildPreload(source, library);
    let before = await newFile(join(root, "first.mdb"));
    let acknowledgedBefore = new Map();
    for (let round = 0; round < rounds; round++) {
      const work = { durability, commits, valueBytes, round, closes: random.next() < 0.5 };
      const events = await recordCommits(join(root, `round-${round}`), before, library, work);
      for (let i = 0; i < cuts / rounds; i++) {
        const cut = pickCut(events, random);
        const fate = random.pick(fates);
        const content = fileAfterCut(before, events, cut, fate, random);
        const acknowledged = acknowledgedAt(events, cut, acknowledgedBefore);
        const found = await examine(join(root, `cut-${round}-${i}`), content, acknowledged);
        if (found.length === 0) whole++;
        for (const problem of found)
          problems.push(`after ${cut} of ${events.length} events, ${fate}: ${problem}`);
      }
      const cut = pickCut(events, random);
      acknowledgedBefore = acknowledgedAt(events, cut, acknowledgedBefore);
      before = fileAfterCut(before, events, cut, random.pick(fates), random);
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  return { whole, problems };
}

async function newFile(path) {
  const kv = await openDatabase(path);
  await kv.close();
  return readFileSync(path);
}

async function recordCommits(folder, content, library, work) {
  await mkdir(folder);
  const path = join(folder, "data.mdb");
  const log = join(folder, "log");
  await writeFile(path, content);
  execFileSync(process.execPath, [program, JSON.stringify({ ...work, path, log })], {
    env: { ...process.env, LD_PRELOAD: library, KW_POWER_FILE: path, KW_POWER_LOG: log },
    stdio: ["ignore", "inherit", "inherit"],
    timeout: 120_000,
  });
  return readEvents(log);
}

/** Half of the cuts are beside a sync or a write that is on disk at once. */
function pickCut(events, random) {
  if (random.next() < 0.5) return random.below(events.length + 1);
  const syncs = events.flatMap(({ kind }, i) => ("bed".includes(kind) ? [i] : []));
  return Math.max(0, Math.min(events.length, random.pick(syncs) + random.below(3) - 1));
}

function acknowledgedAt(events, cut, before) {
  const acknowledged = new Map(before);
  for (const { kind, bytes } of events.slice(0, cut)) {
    if (kind !== "a") continue;
    const [, id, versionstamp] = bytes.toString().trim().split(" ");
    acknowledged.set(id, versionstamp);
  }
  return acknowledged;
}

async function examine(folder, content, acknowledged) {
  await mkdir(folder);
  const path = join(folder, "data.mdb");
  await writeFile(path, content);
  try {
    const kv = await openDatabase(path);
    try {
      const { problems } = await compareCommits(kv, acknowledged);
      const { damages } = await kv.verifyFiles();
      return [...problems, ...damages.map(({ reason }) => reason)];
    } finally {
      await kv.close();
    }
  } catch (error) {
    return [`${error.code}: ${error.message}`];
  } finally {
    await rm(folder, { recursive: true });
  }
}
