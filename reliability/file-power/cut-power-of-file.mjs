import { compareCommits } from "../shared/compare-commits.mjs";
import { openDatabase } from "../shared/open-database.mjs";
import { FilePowerRun } from "./file-power-run.mjs";
import { fates } from "./files-after-cut.mjs";

/** Processes that commit to one database, each of which continues with the files after a cut. */
const rounds = 2;

/**
 * Records the writes of two processes that commit to a file one after the other, and cuts the power
 * at random times of both. After each cut the database must open, without damage and without half a
 * commit. All acknowledged commits must be there, or only a prefix of the commits if
 * `mayLoseLatest`.
 *
 * @param name the name of the file, which says which engine it is of.
 * @returns how many cuts left all acknowledged commits, how many a prefix, and the problems in
 * words.
 */
export async function cutPowerOfFile(name, { cuts, random, mayLoseLatest = false, ...work }) {
  const problems = [];
  const counts = { whole: 0, prefix: 0 };
  const run = await FilePowerRun.begin(name, random);
  try {
    let before = new Map();
    for (let round = 0; round < rounds; round++) {
      await run.commit({ ...work, closes: random.next() < 0.5 });
      for (let i = 0; i < cuts / rounds; i++) {
        const cut = run.pickCut();
        const fate = random.pick(fates);
        const found = await run.withDisk(cut, fate, (path, notes) =>
          examine(path, acknowledgedIn(notes, before)),
        );
        if (found.kind === "whole" || (found.kind === "prefix" && mayLoseLatest)) {
          counts[found.kind]++;
          continue;
        }
        for (const problem of found.problems)
          problems.push(`after ${cut} of ${run.events} events, ${fate}: ${problem}`);
      }
      const cut = run.pickCut();
      // The next process has to find all commits that are expected after it.
      const fate = mayLoseLatest ? "everything" : random.pick(fates);
      before = acknowledgedIn(run.notesBefore(cut), before);
      run.continueAfter(cut, fate);
    }
  } finally {
    await run.end();
  }
  return { ...counts, problems };
}

function acknowledgedIn(notes, before) {
  const acknowledged = new Map(before);
  for (const [, id, versionstamp] of notes) acknowledged.set(id, versionstamp);
  return acknowledged;
}

async function examine(path, acknowledged) {
  try {
    const kv = await openDatabase(path);
    try {
      const { kind, problems } = await compareCommits(kv, acknowledged);
      const { damages } = await kv.verifyFiles();
      if (damages.length === 0) return { kind, problems };
      return { kind: "wrong", problems: [...problems, ...damages.map(({ reason }) => reason)] };
    } finally {
      await kv.close();
    }
  } catch (error) {
    return { kind: "wrong", problems: [`${error.code}: ${error.message}`] };
  }
}
