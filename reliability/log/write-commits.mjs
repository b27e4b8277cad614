// Commits to a database that keeps a log, with several commits in flight, until it is killed or its
// input ends. Prints each commit before it is made, and its versionstamp after it.
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../shared/open-database.mjs";
import { Random } from "../shared/random.mjs";
import { makeCommit, nextCommit } from "./script-of-commits.mjs";

const { where, durability, name, seed, hasMax, clients, pause } = JSON.parse(process.argv[2]);
const random = new Random(seed);
const print = (line) => process.stdout.write(`${line}\n`);
let hasEnded = false;
process.stdin.on("end", () => {
  hasEnded = true;
});
process.stdin.resume();

async function work(client) {
  for (let n = 0; !hasEnded; n++) {
    const commit = nextCommit(random, `${name}-${client}-${n}`, hasMax);
    print(`begin ${JSON.stringify(commit)}`);
    const versionstamp = await makeCommit(kv, commit);
    print(
      versionstamp === undefined ? `refused ${commit.id}` : `done ${commit.id} ${versionstamp}`,
    );
    await sleep(random.below(pause));
  }
}

// If the process that owns the database is killed, another one becomes the owner.
const attach = { takeOver: true };
const kv = await openDatabase(where, { durability, attach });
try {
  await Promise.all(Array.from({ length: clients }, (_, client) => work(client)));
  await kv.close();
} catch (error) {
  print(`error a commit failed: ${error.stack?.replaceAll("\n", " ")}`);
}
process.exit();
