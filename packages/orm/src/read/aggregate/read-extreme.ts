import type { KvKeyPart } from "@keywright/core";
import type { CompiledIndex } from "../../model/compiled-model.js";
import { isAbsent } from "../../model/keys/index-entries.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import { namedIndex } from "../../state/schema/named-index.js";
import { rowSourceOf } from "../find/find-rows.js";

/** The smallest or largest value of a field among some rows. */
export interface Extreme {
  readonly value: unknown;
  /** The value as a key holds it, by which values are compared. */
  readonly part: KvKeyPart;
}

/** Returns the index that has the rows in the order of a field. */
export async function readableExtreme(view: ReadView, name: string): Promise<CompiledIndex> {
  const index = namedIndex(view.model, name);
  if (!view.canRead(index)) await view.assertReadable(index);
  return index;
}

/**
 * Returns the smallest or largest value of the last field of an index, among the rows with the same
 * values of the fields before it. Undefined if no row has a value. Costs two reads.
 */
export async function readExtreme(
  view: ReadView,
  index: CompiledIndex,
  equals: readonly KvKeyPart[],
  kind: "min" | "max",
  meter: ReadMeter,
): Promise<Extreme | undefined> {
  const { field, descending } = index.parts.at(-1)!;
  const segments = [{ equals, interval: {} }];
  const reverse = (kind === "max") !== descending;
  const plan = { model: view.model, index, segments, reverse };
  const source = rowSourceOf(view, { plan, after: undefined }, {}, meter, false);
  for (;;) {
    const [found] = await source.next(1);
    if (found === undefined) return undefined;
    const part = found.entryKey[1 + equals.length];
    const value = found.row[field];
    if (part !== undefined && !isAbsent(value)) return { value, part };
  }
}
