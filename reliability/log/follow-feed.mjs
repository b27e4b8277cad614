// Builds a replica of a database from its feed, until it is killed or its input ends. The position
// is stored with each commit, and is where the next process resumes. When the input ends, it reads
// the rest of the feed.
import { openKv } from "@keywright/core";
import { openDatabase } from "../shared/open-database.mjs";
import { addChange } from "./script-of-commits.mjs";

const { where, replicaPath } = JSON.parse(process.argv[2]);
const print = (line) => process.stdout.write(`${line}\n`);
const end = new AbortController();
process.stdin.on("end", () => end.abort());
process.stdin.resume();

async function follow(options) {
  const { value, versionstamp } = await replica.get(["position"]);
  let version = versionstamp;
  let applied = 0;
  for await (const commit of kv.changes({ ...options, after: value ?? undefined })) {
    const operation = replica
      .atomic()
      .check({ key: ["position"], versionstamp: version })
      .check({ key: ["seen", commit.versionstamp], versionstamp: null })
      .set(["position"], commit.versionstamp)
      .set(["seen", commit.versionstamp], commit.context?.id ?? "");
    for (const change of commit.changes) addChange(operation, change);
    const result = await operation.commit();
    if (!result.ok) throw new Error(`the feed has ${commit.versionstamp} twice`);
    version = result.versionstamp;
    if (applied++ % 20 === 0) print(`applied ${commit.versionstamp}`);
  }
}

const replica = await openKv(replicaPath, { durability: "relaxed" });
// If the process that owns the database is killed, another one becomes the owner.
const attach = { takeOver: true };
const kv = await openDatabase(where, { attach });
try {
  try {
    await follow({ signal: end.signal });
  } catch (error) {
    if (!end.signal.aborted) throw error;
  }
  await follow({ live: false });
  await replica.close();
  await kv.close();
} catch (error) {
  print(`error the feed failed: ${error.stack?.replaceAll("\n", " ")}`);
}
process.exit();
