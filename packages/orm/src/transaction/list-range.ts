import { Buffer } from "node:buffer";
import {
  decodeKey,
  InvalidSelectorError,
  type KeyOrder,
  type KvKey,
  type KvListSelector,
} from "@keywright/core";
import { boundOf, bytesOfId, copyOfKey, type KeyId } from "./key-id.js";

/** A range of ids: `start` inclusive, `end` exclusive. */
export interface IdRange {
  readonly start: KeyId;
  readonly end: KeyId;
}

/** No tag of a key part is as low or as high as these, so that they bound the keys that extend a prefix. */
const belowEveryTag = "\u0000";
const aboveEveryTag = "\u00ff";

/** The first key after another is the one with this part more. */
const lowestPart = new Uint8Array();

/** The ids of the keys that a selector means, which the database has accepted. */
export function idRangeOf(selector: KvListSelector, order: KeyOrder): IdRange {
  const { prefix, start, end } = partsOf(selector);
  const prefixId = boundOf(prefix ?? [], order);
  return {
    start: start === undefined ? prefixId + belowEveryTag : boundOf(start, order),
    end: end === undefined ? prefixId + aboveEveryTag : boundOf(end, order),
  };
}

/** A copy of a selector, whose keys the caller may change. */
export function copyOfSelector(selector: KvListSelector): KvListSelector {
  const { prefix, start, end } = partsOf(selector);
  return {
    ...(prefix && { prefix: copyOfKey(prefix) }),
    ...(start && { start: copyOfKey(start) }),
    ...(end && { end: copyOfKey(end) }),
  } as KvListSelector;
}

/** What is left of a selector's range behind one of its keys. */
export function selectorBehind(
  selector: KvListSelector,
  key: KvKey,
  reverse: boolean,
): KvListSelector {
  const { prefix, start, end } = partsOf(selector);
  const bounds = reverse ? { start, end: key } : { start: [...key, lowestPart], end };
  if (bounds.start !== undefined && bounds.end !== undefined) {
    return { start: bounds.start, end: bounds.end };
  }
  const bound = bounds.start === undefined ? { end: bounds.end } : { start: bounds.start };
  return { prefix, ...bound } as KvListSelector;
}

/** The cursor that stands at an id: its bytes in URL-safe base64. */
export function cursorAt(id: KeyId): string {
  return Buffer.from(id, "latin1").toString("base64url");
}

/**
 * The key at which a cursor stands.
 *
 * @throws {InvalidSelectorError} for a cursor of another range, or none at all.
 */
export function keyAtCursor(cursor: string, range: IdRange, order: KeyOrder): KvKey {
  const id = Buffer.from(cursor, "base64url").toString("latin1");
  const isWithin = cursorAt(id) === cursor && id >= range.start && id < range.end;
  const key = isWithin ? decoded(id, order) : undefined;
  if (key === undefined) {
    throw new InvalidSelectorError("the cursor is not one of this selector's");
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

function partsOf(selector: KvListSelector): { prefix?: KvKey; start?: KvKey; end?: KvKey } {
  return selector;
}
