/** How many more keys a large commit sets. LevelEngine writes so many in several turns. */
export const largeCommit = 2100;

/** True if the commit with a number sets many keys, `["many", id, n]`. */
export function isLarge(number) {
  return number % 100 === 50;
}

/**
 * Compares a database with the commits that were acknowledged before the power was cut. Each commit
 * set two keys, `["left", id]` and `["right", id]`, and added one to `["commits"]`.
 *
 * @param acknowledged the versionstamps of the commits by their ids.
 * @returns the outcome: `whole`, `prefix` (commits are missing at the end) or `wrong`, and the
 * problems in words.
 */
export async function compareCommits(kv, acknowledged) {
  const [left, right] = [await versionstamps(kv, "left"), await versionstamps(kv, "right")];
  const counted = (await kv.get(["commits"])).value?.value ?? 0n;
  const { versionstamp: next } = await kv.set(["next"], 1);
  const problems = [];
  if (counted !== BigInt(left.size))
    problems.push(`half: ${left.size} commits are there, and ${counted} were counted`);
  for (const id of new Set([...left.keys(), ...right.keys()]))
    if (left.get(id) !== right.get(id)) problems.push(`half: ${id}`);
  for (const [id, count] of await largeCommits(kv))
    if (count !== largeCommit || !left.has(id)) problems.push(`half: ${count} keys of ${id}`);
  const last = [...left.values()].sort().at(-1) ?? "";
  if (next <= last) problems.push(`the versionstamp ${next} is not after ${last}`);
  const lost = [...acknowledged].filter(([id, versionstamp]) => left.get(id) !== versionstamp);
  for (const [id, versionstamp] of lost)
    if (versionstamp <= last) problems.push(`lost from the middle: ${id} of ${versionstamp}`);
  if (problems.length > 0) return { kind: "wrong", problems };
  if (lost.length === 0) return { kind: "whole", problems };
  return { kind: "prefix", problems: [`${lost.length} acknowledged commits are lost`] };
}

async function versionstamps(kv, prefix) {
  const found = new Map();
  for await (const { key, versionstamp } of kv.list({ prefix: [prefix] }, { batchSize: 500 }))
    found.set(key[1], versionstamp);
  return found;
}

/** Returns how many keys of each large commit are there. */
async function largeCommits(kv) {
  const counts = new Map();
  for await (const { key } of kv.list({ prefix: ["many"] }, { batchSize: 500 }))
    counts.set(key[1], (counts.get(key[1]) ?? 0) + 1);
  return counts;
}
