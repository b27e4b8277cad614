import type { AtomicCheck, KvKey, KvKeyPart } from "@keywright/core";
import type { ReadView } from "../../state/context/read-view.js";
import { readStored } from "../../state/rows/read-rows.js";
import { compareBytes } from "./format/compare-bytes.js";
import {
  decodeKeys,
  decodeLengths,
  decodeNumbers,
  docsPerLengths,
  isExpired,
  lastUpTo,
} from "./format/segment-docs.js";
import { bytesIn, damageOf } from "./stored-bytes.js";
import {
  docsKey,
  documentKey,
  firstKeysKey,
  freshKey,
  goneKey,
  goneListKey,
  guardKey,
  lengthsKey,
  stateKey,
  type TextGroup,
} from "./text-keys.js";
import { type TextState, textState } from "./text-state.js";

type Reads = Pick<ReadView, "kv" | "model" | "limits">;

/** A mark that a document is gone, and the number to which 1 is to be added with it. */
export interface GoneMark {
  readonly mark: KvKey;
  readonly guard: KvKey;
}

/** Where the words of a row are. */
export interface LocatedRow {
  /** The marks to write, so that what segments have of the row counts no longer. */
  readonly marks: readonly GoneMark[];
  /** Fails if the row moves from the fresh ones to a segment, or to another segment. */
  readonly check: AtomicCheck;
}

/** Finds the words of a row, which are fresh or in a segment. */
export async function locateRow(
  reads: Reads,
  group: TextGroup,
  primaryKey: readonly KvKeyPart[],
): Promise<LocatedRow> {
  const [stored, fresh] = await readStored(reads, [stateKey(group), freshKey(group, primaryKey)]);
  const check = { key: stateKey(group), versionstamp: stored!.versionstamp };
  if (fresh!.versionstamp !== null) return { marks: [], check };
  const state = textState(reads.model, stored!);
  return { marks: await marksOf(reads, group, state, documentKey(primaryKey)), check };
}

/**
 * Returns the marks that a document lacks to be gone from all segments.
 *
 * @param expiredBy leaves out segments in which the document has expired by then, in milliseconds
 * since 1970.
 * @throws {SystemEntryError} if an entry of a segment is damaged.
 */
export async function marksOf(
  reads: Reads,
  group: TextGroup,
  state: TextState,
  document: Uint8Array,
  expiredBy?: number,
): Promise<GoneMark[]> {
  try {
    return await lackingMarks(reads, group, state, document, expiredBy);
  } catch (error) {
    throw damageOf(error, reads.model, stateKey(group));
  }
}

async function lackingMarks(
  reads: Reads,
  group: TextGroup,
  { segments }: TextState,
  document: Uint8Array,
  expiredBy: number | undefined,
): Promise<GoneMark[]> {
  const firstKeys = await readStored(
    reads,
    segments.map(({ id }) => firstKeysKey(group, id)),
  );
  const blocks = segments.flatMap(({ id, docsPerBlock }, i) => {
    const block = lastUpTo(decodeKeys(bytesIn(reads.model, firstKeys[i]!)), document);
    return block < 0 ? [] : [{ id, docsPerBlock, block }];
  });
  const read = await readStored(
    reads,
    blocks.map(({ id, block }) => docsKey(group, id, block)),
  );
  const all = blocks.flatMap(({ id, docsPerBlock, block }, i) => {
    const keys = decodeKeys(bytesIn(reads.model, read[i]!));
    const position = lastUpTo(keys, document);
    const isFound = position >= 0 && compareBytes(keys[position]!, document) === 0;
    return isFound ? [{ id, doc: block * docsPerBlock + position }] : [];
  });
  const found = expiredBy === undefined ? all : await unexpired(reads, group, all, expiredBy);
  const gone = await readStored(
    reads,
    found.flatMap(({ id, doc }) => [goneListKey(group, id, doc), goneKey(group, id, doc)]),
  );
  return found.flatMap(({ id, doc }, i) => {
    const list = gone[2 * i]!;
    const isListed =
      list.versionstamp !== null && decodeNumbers(bytesIn(reads.model, list)).includes(doc);
    const mark = gone[2 * i + 1]!;
    if (isListed || mark.versionstamp !== null) return [];
    return [{ mark: mark.key, guard: guardKey(group, id) }];
  });
}

interface FoundDoc {
  readonly id: number;
  readonly doc: number;
}

/** Returns those of some documents of segments that have not expired at a time. */
async function unexpired(
  reads: Reads,
  group: TextGroup,
  docs: readonly FoundDoc[],
  now: number,
): Promise<FoundDoc[]> {
  const stored = await readStored(
    reads,
    docs.map(({ id, doc }) => lengthsKey(group, id, Math.floor(doc / docsPerLengths))),
  );
  return docs.filter(({ doc }, i) => {
    const lengths = new Int32Array(docsPerLengths);
    const times = decodeLengths(bytesIn(reads.model, stored[i]!), lengths, 0);
    return !isExpired(times?.[doc % docsPerLengths], now);
  });
}
