import {
  decodeKey,
  InvalidSelectorError,
  type KeyOrder,
  type KvKey,
  type KvListSelector,
} from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import { keyAfter } from "../../../model/keys/key-parts.js";
import { boundIdOf, bytesOfId, copyOfKey, type KeyId } from "./key-id.js";

/** A range of ids: `start` inclusive, `end` exclusive. */
export interface IdRange {
  readonly start: KeyId;
  readonly end: KeyId;
}

interface Bounds {
  readonly prefix?: KvKey;
  readonly start?: KvKey;
  readonly end?: KvKey;
}

/** The tags of key parts lie between these two, so they bound the keys that extend a prefix. */
const belowEveryTag = "\u0000";
const aboveEveryTag = "\u00ff";

export function idRangeOf(selector: KvListSelector, order: KeyOrder): IdRange {
  const { prefix, start, end }: Bounds = selector;
  const prefixId = boundIdOf(prefix ?? [], order);
  return {
    start: start === undefined ? prefixId + belowEveryTag : boundIdOf(start, order),
    end: end === undefined ? prefixId + aboveEveryTag : boundIdOf(end, order),
  };
}

export function copyOfSelector(selector: KvListSelector): KvListSelector {
  const { prefix, start, end }: Bounds = selector;
  return {
    ...(prefix && { prefix: copyOfKey(prefix) }),
    ...(start && { start: copyOfKey(start) }),
    ...(end && { end: copyOfKey(end) }),
  } as KvListSelector;
}

/** Returns the part of a selector's range after a key. In reverse, the part before it. */
export function selectorAfter(
  selector: KvListSelector,
  key: KvKey,
  reverse: boolean,
): KvListSelector {
  const { prefix, start, end }: Bounds = selector;
  const bounds = reverse ? { start, end: key } : { start: keyAfter(key), end };
  return narrowed(prefix, bounds);
}

function narrowed(
  prefix: KvKey | undefined,
  { start, end }: { start: KvKey | undefined; end: KvKey | undefined },
): KvListSelector {
  if (start !== undefined && end !== undefined) return { start, end };
  return { prefix, ...(start === undefined ? { end } : { start }) } as KvListSelector;
}

/** Returns the part of a selector's range up to a key and with it. In reverse, the part from it. */
export function selectorUpTo(
  selector: KvListSelector,
  key: KvKey,
  reverse: boolean,
): KvListSelector {
  const { prefix, start, end }: Bounds = selector;
  const bounds = reverse ? { start: key, end } : { start, end: keyAfter(key) };
  return narrowed(prefix, bounds);
}

export function cursorAt(id: KeyId): string {
  return Buffer.from(id, "latin1").toString("base64url");
}

export function keyAtCursor(cursor: string, range: IdRange, order: KeyOrder): KvKey {
  const id = Buffer.from(cursor, "base64url").toString("latin1");
  const isWithin = cursorAt(id) === cursor && id >= range.start && id < range.end;
  const key = isWithin ? decoded(id, order) : undefined;
  if (key === undefined) {
    throw new InvalidSelectorError("the cursor must be from a list with the same selector");
  }
  return key;
}

function decoded(id: KeyId, order: KeyOrder): KvKey | undefined {
  try {
    return decodeKey(bytesOfId(id), order);
  } catch {
    return undefined;
  }
}
