import type { GoneDocs } from "../../../derived/text/segment-source.js";
import { groupPrefix, type TextGroup } from "../../../derived/text/text-keys.js";
import { keyText } from "../../../model/keys/key-text.js";
import type { ReadView } from "../../../state/context/read-view.js";

/** A document that no segment has yet. */
export interface FreshDocument {
  /** Its primary key as bytes. */
  readonly key: Uint8Array;
  /** Its words, see `DocumentReader`. */
  readonly bytes: Uint8Array;
}

/** What has changed since the segments of a group were made. */
export interface Changes {
  /** In the order of their keys. */
  readonly fresh: readonly FreshDocument[];
  readonly gone: GoneDocs;
  /** How many entries were read. */
  readonly entries: number;
}

/** The memory of one database has about this many bytes at most. */
const maxBytes = 8_388_608;

/** What was read of groups at one commit. */
interface ReadGroups {
  readonly versionstamp: string;
  readonly groups: Map<string, Changes>;
  bytes: number;
}

const memories = new WeakMap<object, ReadGroups>();

/** Returns what was read of a group, if nothing was committed since. */
export function rememberedChanges(view: ReadView, group: TextGroup): Changes | undefined {
  const memory = memories.get(view.store.kv);
  return memory !== undefined && memory.versionstamp === view.versionstamp
    ? memory.groups.get(nameOf(group))
    : undefined;
}

/** Remembers what was read of a group until the next commit. */
export function rememberChanges(view: ReadView, group: TextGroup, changes: Changes): void {
  const { versionstamp } = view;
  if (versionstamp === undefined) return;
  const { kv } = view.store;
  let memory = memories.get(kv);
  if (memory?.versionstamp !== versionstamp) {
    memory = { versionstamp, groups: new Map(), bytes: 0 };
    memories.set(kv, memory);
  }
  const bytes = bytesOf(changes);
  if (memory.bytes + bytes > maxBytes) return;
  memory.bytes += bytes;
  memory.groups.set(nameOf(group), changes);
}

function nameOf(group: TextGroup): string {
  return keyText(groupPrefix(group));
}

function bytesOf({ fresh, entries }: Changes): number {
  let bytes = 500 + 200 * entries;
  for (const document of fresh) bytes += document.key.length + document.bytes.length;
  return bytes;
}
