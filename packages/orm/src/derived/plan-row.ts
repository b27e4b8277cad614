import type { KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../model/compiled-model.js";
import { rowKey } from "../model/keys/primary-key.js";
import type { RowExpiry } from "../model/rows/time.js";
import { whenReady } from "../promises/when-ready.js";
import type { ReadView } from "../state/context/read-view.js";
import type { References, ReferringChange } from "../state/references/plan-references.js";
import type { RowChange } from "./derived.js";
import { Effects } from "./effects.js";
import { rowEntries } from "./entries/row-entries.js";
import { planDerived } from "./plan-derived.js";

/** A change of one row, with everything that is committed with it. */
export interface PlannedChange {
  readonly primaryKey: readonly KvKeyPart[];
  /** The versionstamp of the row on which the change is based. Null if there was none. */
  readonly versionstamp: string | null;
  /** The row after the change. Null if it is deleted. */
  readonly row: AnyRow | null;
  /** All that is checked and written: also the changes of rows that copy fields of this row. */
  readonly effects: Effects;
}

/** A row to write, and the row on which the change is based. */
export interface PlannedRow extends ReferringChange {
  /** When the row expires. Undefined to keep its expiry time. */
  readonly expiry?: RowExpiry | undefined;
}

/**
 * Plans a change of a row and of everything that is derived from the row. Returns a promise only if
 * something has to be read.
 *
 * @param references what keeps the references of the row valid, and the row to store.
 */
export function planRow(
  view: ReadView,
  planned: PlannedRow,
  { row, checks, guards, deletes }: References,
): PlannedChange | Promise<PlannedChange> {
  const { primaryKey, before } = planned;
  const expiry = row === null ? undefined : expiryOf(planned);
  const key = rowKey(view.model, primaryKey);
  const versionstamp = before?.versionstamp ?? null;
  const effects = new Effects([{ key, versionstamp }, ...checks]);
  if (row === null) effects.writes.push({ type: "delete", key });
  else effects.writes.push({ type: "set", key, value: row, expiry });
  for (const key of guards) effects.writes.push({ type: "sum", key, by: 1n });
  for (const key of deletes) effects.writes.push({ type: "delete", key });
  const entries = rowEntries(view, { ...planned, row, expiry });
  const stored = before && (before.stored ?? before.row);
  const change: RowChange = {
    primaryKey,
    before: stored === null ? undefined : { row: stored, entries: entries.before },
    after: row === null ? undefined : { row, entries: entries.after },
    beforeExpires: planned.isNew === true || before?.expireAt !== undefined,
    expiry,
    entries: entries.changes,
    isSeen: false,
  };
  return whenReady(planDerived(change, view, effects), () => {
    return { primaryKey, versionstamp, row, effects };
  });
}

/** Returns when a row that is stored expires. */
function expiryOf({ before, isNew, expiry }: PlannedRow): RowExpiry | undefined {
  if (expiry !== undefined) return expiry;
  if (isNew || before?.expireAt === undefined) return undefined;
  return { expireAt: before.expireAt };
}
