import type { KvKey, KvLike } from "@keywright/core";
import { formatKey } from "../inspect/entries/format-key.js";
import { listOthers } from "../inspect/stats/own-keys.js";
import { EntryPlace } from "./entry-place.js";

export const kvdexPrefix = "__kvdex__";

const kvdexKinds: readonly unknown[] = ["__id__", "__index_primary__", "__index_secondary__"];

export interface ScannedPlaces {
  readonly places: readonly EntryPlace[];
  readonly entries: number;
}

/** Reads all entries once, and groups them by the beginning and the length of their keys. */
export async function scanPlaces(
  kv: KvLike,
  onProgress: (entries: number) => void = () => undefined,
): Promise<ScannedPlaces> {
  const places = new Map<string, EntryPlace>();
  let entries = 0;
  for await (const entry of listOthers(kv, {})) {
    entries++;
    onProgress(entries);
    const prefix = prefixOf(entry.key);
    const parts = entry.key.length - prefix.length;
    const id = `${parts} ${formatKey(prefix)}`;
    let place = places.get(id);
    if (place === undefined) {
      place = new EntryPlace(prefix, parts);
      places.set(id, place);
    }
    place.add(entry);
  }
  return { places: [...places.values()], entries };
}

/**
 * Returns the part of a key that is the same in all rows of a model, or all entries of an index.
 */
function prefixOf(key: KvKey): KvKey {
  if (key.length === 1) return [];
  if (key[0] !== kvdexPrefix) return key.slice(0, 1);
  const position = key.findIndex((part) => kvdexKinds.includes(part));
  // History, messages and segments.
  if (position === -1) return key.slice(0, 2);
  return key.slice(0, position + (key[position] === "__id__" ? 1 : 2));
}
