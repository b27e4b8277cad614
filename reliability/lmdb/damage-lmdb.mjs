import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fillFile } from "./damaged-models.mjs";

const program = fileURLToPath(new URL("compare-damaged.mjs", import.meta.url));
const zeroedBytes = 4096;

/**
 * Damages copies of an LMDB file at random places and compares what they then contain.
 *
 * @returns how many damages were `reported`, had `nothing` as their effect, or `ended` the process,
 * and the problems in words.
 */
export async function damageLmdb(damages, random) {
  const folder = await mkdtemp(join(tmpdir(), "keywright-lmdb-damage-"));
  const original = join(folder, "original.mdb");
  const counts = { reported: 0, nothing: 0, ended: 0 };
  const problems = [];
  try {
    await fillFile(original);
    const { size } = statSync(original);
    const places = Array.from({ length: damages }, (_, number) => {
      const zeros = random.next() < 0.5 ? zeroedBytes : 0;
      return `${number} ${random.below(size * 8)} ${zeros}`;
    });
    for (let next = 0; next < damages; ) {
      const answered = await answersOf(places.slice(next), original, folder, (place, outcome) => {
        if (outcome in counts) counts[outcome]++;
        else problems.push(`${place}: ${outcome}`);
      });
      next += answered;
      if (next === damages) break;
      counts.ended++;
      next++;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return { counts, problems };
}

/** Returns for how many places a process has answered before it ended. */
async function answersOf(places, original, folder, onAnswer) {
  // LMDB prints why it ends the process.
  const stdio = ["pipe", "pipe", "ignore"];
  const child = spawn(process.execPath, [program, original, folder], { stdio });
  const exit = once(child, "exit");
  child.stdin.on("error", () => undefined);
  child.stdin.end(places.map((place) => `${place}\n`).join(""));
  let answered = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, outcome] = /^\d+ (.*)$/.exec(line);
    onAnswer(places[answered++], outcome);
  }
  const [code] = await exit;
  if (code !== null && code !== 0) throw new Error(`compare-damaged.mjs ended with ${code}`);
  return answered;
}
