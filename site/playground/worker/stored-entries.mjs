import { textOf } from "./text-of.mjs";

const most = 200;
const longestValue = 300;
/** The first part of the keys of what Keywright stores about models. */
const ownPrefix = "__keywright";

/**
 * Lists a database as the page shows it: groups of entries with the same first part of their keys,
 * each with what it is.
 *
 * @param places first part of a key → what has this place, such as `index byEmail of users`.
 */
export async function storedEntries(kv, places) {
  const groups = new Map();
  let count = 0;
  for await (const { key, value } of kv.list({ prefix: [] }, { limit: most + 1 })) {
    count += 1;
    if (count > most) break;
    const [first] = key;
    const group = groups.get(first) ?? { what: whatIs(first, places), entries: [] };
    groups.set(first, group);
    group.entries.push({ key: textOf(key), value: textOf(value, longestValue) });
  }
  const own = groups.get(ownPrefix);
  groups.delete(ownPrefix);
  return {
    groups: [...groups.values(), ...(own === undefined ? [] : [own])],
    isComplete: count <= most,
  };
}

function whatIs(first, places) {
  if (first === ownPrefix) return "Keywright's own entries: the catalog of models and indexes";
  return places.get(first) ?? "other entries";
}
