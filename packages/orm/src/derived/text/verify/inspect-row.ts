import { type AtomicCheck, encodeKey, type KvKey, type KvKeyPart } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../../model/compiled-model.js";
import { expectedEntries } from "../../../model/keys/expected-entries.js";
import { rowKey } from "../../../model/keys/primary-key.js";
import { currentTime, storedTime } from "../../../model/rows/time.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import { viewOf } from "../../../state/context/read-view.js";
import { readStored } from "../../../state/rows/read-rows.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import { setUntil } from "../../../state/transaction/buffer/set-until.js";
import type { EntryFinding } from "../../entries/verify/inspect-entry.js";
import { rowExpireAt } from "../../expiry/row-expiry.js";
import { compareBytes } from "../format/compare-bytes.js";
import { freshValue } from "../fresh-value.js";
import { type GoneMark, marksOf } from "../locate.js";
import {
  documentKey,
  freshKey,
  groupOf,
  groupPrefix,
  stateKey,
  type TextGroup,
} from "../text-keys.js";
import { textState } from "../text-state.js";

/** A row of which a text index has something else than it should. */
export interface TextInspection {
  readonly index: CompiledIndex;
  readonly primaryKey: readonly KvKeyPart[];
  /** The groups in which there is something of the row. */
  readonly groups: readonly TextGroup[];
  readonly finding: EntryFinding;
}

/** What a text index has and should have of a row, and what has to stay the same to repair it. */
interface RowWords {
  readonly row: AnyRow | undefined;
  readonly expireAt: number | undefined;
  /** The group that should have the row. */
  readonly expected: TextGroup | undefined;
  readonly inGroups: readonly {
    readonly group: TextGroup;
    readonly fresh: unknown;
    readonly marks: readonly GoneMark[];
  }[];
  readonly checks: readonly AtomicCheck[];
}

/**
 * Compares what a text index has of a row with the row, with everything read in one state. Returns
 * undefined if it is right.
 *
 * @param groups where else something of the row may be.
 * @param isWrong true for a segment that is known to have other words of the row.
 */
export async function inspectTextRow(
  store: ModelStore,
  index: CompiledIndex,
  primaryKey: readonly KvKeyPart[],
  groups: readonly TextGroup[],
  isWrong = false,
): Promise<TextInspection | undefined> {
  const { model } = store;
  const words = await readRowWords(store, index, primaryKey, groups);
  const { row, expected, inGroups } = words;
  const finding = (kind: EntryFinding["kind"], group: TextGroup): TextInspection => {
    const key = freshKey(group, primaryKey);
    const base = { kind, model: model.name, index: index.name, key, primaryKey, repaired: false };
    return { index, primaryKey, groups: inGroups.map((one) => one.group), finding: base };
  };
  for (const { group, fresh, marks } of inGroups) {
    const count = marks.length + (fresh === null ? 0 : 1);
    if (group !== expected) {
      if (count > 0) return finding("dangling", group);
      continue;
    }
    if (count === 0) return finding("missing", group);
    const value = fresh === null ? undefined : freshValue(index.text!, row!, words.expireAt);
    const isSame =
      value === undefined || (fresh instanceof Uint8Array && compareBytes(fresh, value) === 0);
    if (count > 1 || !isSame || (isWrong && fresh === null)) return finding("mismatched", group);
  }
  return undefined;
}

/** Writes what an index should have of a row. Returns false if something has changed. */
export async function repairTextRow(
  store: ModelStore,
  run: MigrationRun,
  { index, primaryKey, groups }: TextInspection,
): Promise<boolean> {
  const { kv, catalog } = store;
  catalog.snapshot.assertWritable();
  const words = await readRowWords(store, index, primaryKey, groups);
  const operation = kv.atomic().check(catalog.snapshot.check, ...words.checks);
  for (const { group, fresh, marks } of words.inGroups) {
    const key = freshKey(group, primaryKey);
    for (const { mark, guard } of marks) operation.set(mark, true).sum(guard, 1n);
    if (group === words.expected) {
      const { expireAt } = words;
      const value = freshValue(index.text!, words.row!, expireAt);
      const time = storedTime(expireAt);
      operation.set(key, value, time === undefined ? {} : setUntil(time, currentTime()));
    } else if (fresh !== null) operation.delete(key);
  }
  return (await run.lease.commit(operation)).ok;
}

async function readRowWords(
  store: ModelStore,
  index: CompiledIndex,
  primaryKey: readonly KvKeyPart[],
  others: readonly TextGroup[],
): Promise<RowWords> {
  const { kv, model } = store;
  for (;;) {
    const stored = await kv.get<AnyRow>(rowKey(model, primaryKey));
    const row = stored.versionstamp === null ? undefined : stored.value;
    const [entry] = row === undefined ? [] : expectedEntries(model, [index], row, primaryKey);
    const expected = entry && groupOf(index, entry.key);
    const groups = expected === undefined ? others : [...withoutGroup(others, expected), expected];
    const time = stored.versionstamp === null ? undefined : storedTime(stored.expireAt);
    const expireAt = await rowExpireAt(viewOf(store), { primaryKey, expireAt: time });
    const checks: AtomicCheck[] = [stored];
    const inGroups = [];
    for (const group of groups) {
      const [state, fresh] = await readStored(store, [
        stateKey(group),
        freshKey(group, primaryKey),
      ]);
      // What a segment has of a row that has expired is there until the segment is merged.
      const segments = textState(model, state!);
      const document = documentKey(primaryKey);
      const marks = await marksOf(store, group, segments, document, currentTime());
      checks.push(state!, fresh!);
      inGroups.push({ group, fresh: fresh!.value, marks });
    }
    const again = await readStored(
      store,
      checks.map(({ key }) => key),
    );
    if (again.every(({ versionstamp }, i) => versionstamp === checks[i]!.versionstamp))
      return { row: row ?? undefined, expireAt, expected, inGroups, checks };
  }
}

function withoutGroup(groups: readonly TextGroup[], group: TextGroup): TextGroup[] {
  const id = (one: TextGroup): KvKey => groupPrefix(one);
  const own = encodeKey([...id(group)]);
  return groups.filter((one) => compareBytes(encodeKey([...id(one)]), own) !== 0);
}
