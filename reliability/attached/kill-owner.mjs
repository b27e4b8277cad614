import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../shared/open-database.mjs";

const program = fileURLToPath(new URL("own-folder.mjs", import.meta.url));
const writers = 64;
const shortestLife = 30;
const longestLife = 150;

/**
 * Kills the owner of a database again and again while this process, which is attached, commits.
 *
 * @param name the name of the database: that of an LMDB file, or of a LevelDB folder.
 * @returns the number of commits, and what is wrong in the end.
 */
export async function killOwner(kills, random, name = "kv") {
  const folder = await mkdtemp(join(tmpdir(), "keywright-attached-"));
  const path = join(folder, name);
  let owner = await startOwner(path);
  const kv = await openDatabase(path);
  const stamps = new Map();
  const problems = [];
  let next = 0;
  let isDone = false;
  const write = async () => {
    while (!isDone) {
      const n = next++;
      const result = await kv.atomic().set(["n", n], n).sum(["sum"], 1n).commit();
      stamps.set(n, result.versionstamp);
      onCommit();
    }
  };
  let onCommit = () => undefined;
  const nextCommit = () =>
    new Promise((resolve) => {
      onCommit = resolve;
    });
  try {
    if (kv.attached?.pid !== owner.pid) problems.push("the process is not attached");
    const working = Array.from({ length: writers }, () =>
      write().catch((error) => problems.push(String(error))),
    );
    for (let kill = 0; kill < kills; kill++) {
      await Promise.race([nextCommit(), ...working]);
      await sleep(shortestLife + random.below(longestLife));
      owner.kill("SIGKILL");
      await once(owner, "exit");
      owner = await startOwner(path);
    }
    isDone = true;
    await Promise.all(working);
    for await (const { key, versionstamp } of kv.list({ prefix: ["n"] })) {
      const [, n] = key;
      if (stamps.get(n) !== versionstamp) problems.push(`commit ${n} has another versionstamp`);
      stamps.delete(n);
    }
    for (const n of stamps.keys()) problems.push(`commit ${n} was acknowledged and is lost`);
    const { value } = await kv.get(["sum"]);
    if (value?.value !== BigInt(next)) problems.push(`the counter is ${value?.value}, not ${next}`);
  } finally {
    await kv.close();
    owner.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
  return { commits: next, problems };
}

export async function startOwner(path) {
  const child = spawn(process.execPath, [program, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return child;
}
