import { createHash } from "node:crypto";
import { encodeKey, type KvKey, type KvKeyPart } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import { key as keyShape, object, text } from "../../model/shape.js";
import type { SystemShape } from "../../state/catalog/system-value.js";
import { adoptAgain } from "./adopt-state.js";
import type { SourceEntry } from "./source/source-layout.js";

/**
 * Records that a document has become a row. It is written with the row, expires with the row, and
 * stays when the row is deleted. So no later run creates the row again.
 */
export interface AdoptedMark {
  /** The document, as it was. */
  readonly key: KvKey;
  readonly versionstamp: string;
}

export const adoptedMarkShape: SystemShape<AdoptedMark> = {
  problemOf: object({ key: keyShape, versionstamp: text }),
  remedy: adoptAgain,
};

/** The hash is short, while a primary key may be as long as the longest key. */
export function adoptedMarkKey(model: CompiledModel, primaryKey: readonly KvKeyPart[]): KvKey {
  const hash = createHash("sha256").update(encodeKey(primaryKey)).digest().subarray(0, 16);
  return [systemPrefix, "adopted", model.prefix, new Uint8Array(hash)];
}

export function adoptedMark({ key, versionstamp }: SourceEntry): AdoptedMark {
  return { key, versionstamp };
}
