import type { KvKey } from "@keywright/core";
import { docsPerGoneList, goneListKey, type TextGroup } from "../text-keys.js";

/** Some documents of a segment that do not count any longer, and the key of their list. */
interface GoneList {
  readonly segment: number;
  readonly key: KvKey;
  readonly docs: readonly number[];
}

/** Distributes documents of a segment among the lists that they belong to. */
export function goneLists(
  group: TextGroup,
  segment: number,
  docs: Iterable<number>,
): readonly GoneList[] {
  const lists = new Map<number, number[]>();
  for (const doc of docs) {
    const list = Math.floor(doc / docsPerGoneList);
    const ofList = lists.get(list) ?? [];
    lists.set(list, ofList);
    ofList.push(doc);
  }
  return [...lists.values()].map((ofList) => {
    return { segment, key: goneListKey(group, segment, ofList[0]!), docs: ofList };
  });
}
