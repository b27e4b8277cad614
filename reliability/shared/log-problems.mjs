import { inspect, isDeepStrictEqual } from "node:util";

/**
 * Applies all commits of a log that was begun with the database, and compares the result with the
 * database. Each change must begin with the value that the commits before it have left.
 *
 * @returns what is wrong in words.
 */
export async function logProblems(kv) {
  const problems = [];
  const replica = new Map();
  let last = "";
  for await (const { versionstamp, changes } of kv.changes({ live: false })) {
    if (versionstamp <= last) problems.push(`the log has ${versionstamp} after ${last}`);
    last = versionstamp;
    for (const { key, before, after } of changes) {
      const name = inspect(key);
      if (!isDeepStrictEqual(before, replica.get(name) ?? null))
        problems.push(`the log has another value of ${name} before ${versionstamp}`);
      if (after === null) replica.delete(name);
      else replica.set(name, after);
    }
  }
  for await (const { key, value, versionstamp } of kv.list({ prefix: [] })) {
    const name = inspect(key);
    const logged = replica.get(name);
    replica.delete(name);
    if (!isDeepStrictEqual(logged?.value, value) || logged.versionstamp !== versionstamp)
      problems.push(`lost: the change ${versionstamp} of ${name} is not in the log`);
  }
  for (const [name, { expireAt }] of replica)
    if (expireAt === undefined) problems.push(`the log has ${name}, which does not exist`);
  return problems.slice(0, 5);
}
