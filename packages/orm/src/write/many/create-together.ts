import type { KvCommitError, KvCommitResult } from "@keywright/core";
import { hasCopies } from "../../derived/copies/plan-with-copies.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { primaryKeyOf, rowKey } from "../../model/keys/primary-key.js";
import { yieldToEventLoop } from "../../promises/yield-to-event-loop.js";
import { capabilitiesOf } from "../../state/catalog/capabilities-of.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import { withJoinedReads } from "../../state/context/kv/with-joined-reads.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { writableCatalog } from "../../state/context/writable-catalog.js";
import { readStored } from "../../state/rows/read-rows.js";
import { planChange } from "../commit/plan-change.js";
import type { WriteOptions } from "../input/write-options.js";
import { newRow } from "../rows/create-row.js";
import { isDuplicate } from "./creation-order.js";
import {
  canCommitGroups,
  groupOperation,
  isPlainCatalog,
  type PlannedRow,
  refersToItself,
} from "./group-operation.js";
import { TakenKeys } from "./taken-keys.js";
import { groupsAtOnce, isOfCall, type RowResult, rowsPerGroup } from "./write-each.js";

/** A row that was parsed, or the error of its data. */
export type ParsedRow = { readonly row: AnyRow } | { readonly error: unknown };

/** Rows whose change is one operation. */
interface Group {
  readonly parsed: readonly ParsedRow[];
  readonly catalog: CatalogSnapshot;
  readonly planned: readonly PlannedRow[];
}

/**
 * True if one operation can create a group of rows: no row can refer to another row of the group,
 * and no row has copied fields.
 */
export function canCreateTogether(context: TableContext, options: WriteOptions): boolean {
  return !hasCopies(context) && !refersToItself(context) && canCommitGroups(context, options);
}

/**
 * Creates rows in groups, each by one operation. Some rows are created one by one, so that each
 * gets its own result: rows with the same key as an earlier row of the group, and all rows of a
 * group whose operation fails.
 *
 * @param createEach creates parsed rows as if each were created by a separate call, in their order.
 * @returns the results in the order of `data`.
 */
export async function createTogether(
  context: TableContext,
  data: readonly unknown[],
  createEach: (rows: readonly ParsedRow[]) => Promise<readonly RowResult[]>,
): Promise<RowResult[]> {
  const joined = withJoinedReads(context, (keys) => readStored(context, keys));
  const results: RowResult[] = [];
  const begun: Promise<readonly RowResult[]>[] = [];
  const finishFirst = async (): Promise<void> => {
    for (const result of await begun[0]!) {
      if (!result.ok && isOfCall(context, result.error)) throw result.error;
      results.push(result);
    }
    void begun.shift();
  };
  const finishAll = async (): Promise<void> => {
    while (begun.length > 0) await finishFirst();
  };
  const taken = new TakenKeys();
  // Rows that exist often come together, and the operation of their group fails.
  let hasDuplicates = false;
  const noteDuplicates = (created: readonly RowResult[]): readonly RowResult[] => {
    hasDuplicates = created.some((each) => !each.ok && isDuplicate(context.model, each.error));
    return created;
  };
  try {
    for (let from = 0; from < data.length; from += rowsPerGroup) {
      if (from > 0) await yieldToEventLoop();
      const parsed = await parseRows(context, data.slice(from, from + rowsPerGroup));
      const group = await planGroup(joined, parsed);
      const isAlone = group === undefined || !takeKeys(context, group.planned, taken.ofNextGroup());
      // Rows with the same key are created in their order.
      if (isAlone) await finishAll();
      const created =
        isAlone || hasDuplicates ? createEach(parsed) : createGroup(context, group, createEach);
      const noted = created.then(noteDuplicates);
      // Awaited in its turn.
      noted.catch(() => undefined);
      begun.push(noted);
      if (isAlone) await finishAll();
      else if (begun.length === groupsAtOnce) await finishFirst();
    }
    await finishAll();
  } finally {
    await Promise.allSettled(begun);
  }
  return results;
}

/** Parses rows. Those whose schema has to wait are parsed at the same time. */
async function parseRows(context: TableContext, data: readonly unknown[]): Promise<ParsedRow[]> {
  const begun: (ParsedRow | Promise<ParsedRow>)[] = [];
  for (const input of data) {
    try {
      const row = newRow(context, input);
      begun.push(
        row instanceof Promise ? row.then((result) => ({ row: result }), failedRow) : { row },
      );
    } catch (error) {
      begun.push({ error });
    }
  }
  const parsed: ParsedRow[] = [];
  for (const each of begun) parsed.push(each instanceof Promise ? await each : each);
  return parsed;
}

/** Returns undefined if the rows have to be created one by one. */
async function planGroup(
  context: TableContext,
  parsed: readonly ParsedRow[],
): Promise<Group | undefined> {
  if (capabilitiesOf(context.kv).turns.isUsed) return undefined;
  let catalog: CatalogSnapshot;
  try {
    catalog = await writableCatalog(context);
  } catch {
    // The write of each row reports the reason.
    return undefined;
  }
  if (!isPlainCatalog(catalog)) return undefined;
  const view = viewOf(context, catalog);
  const plans: (PlannedRow | Promise<PlannedRow>)[] = [];
  for (const each of parsed) {
    if ("error" in each) {
      plans.push(each);
      continue;
    }
    try {
      const { row } = each;
      const primaryKey = primaryKeyOf(context.model, row);
      const plan = planChange(context, catalog, { primaryKey, before: null, row }, view);
      plans.push(plan instanceof Promise ? plan.catch(failedRow) : plan);
    } catch (error) {
      plans.push({ error });
    }
  }
  const planned: PlannedRow[] = [];
  for (const plan of plans) planned.push(plan instanceof Promise ? await plan : plan);
  const hasUpkeep = planned.some((each) => "effects" in each && each.effects.upkeep.length > 0);
  return hasUpkeep ? undefined : { parsed, catalog, planned };
}

function failedRow(error: unknown): { readonly error: unknown } {
  return { error };
}

/** Adds the unique keys of rows to those that are taken. Returns false if one of them was taken. */
function takeKeys(
  { model }: TableContext,
  planned: readonly PlannedRow[],
  taken: TakenKeys,
): boolean {
  let areFree = true;
  for (const each of planned) {
    if ("error" in each) continue;
    if (!taken.add(rowKey(model, each.primaryKey))) areFree = false;
    for (const { key } of each.effects.claims) if (!taken.add(key)) areFree = false;
  }
  return areFree;
}

/** Begins the commit of a group. What is not needed after it is not kept until it ends. */
function createGroup(
  context: TableContext,
  { parsed, catalog, planned }: Group,
  createEach: (rows: readonly ParsedRow[]) => Promise<readonly RowResult[]>,
): Promise<readonly RowResult[]> {
  const committedAt = performance.now();
  let commit: Promise<KvCommitResult | KvCommitError>;
  try {
    commit = groupOperation(context, catalog, planned).commit();
  } catch {
    return createEach(parsed);
  }
  const rows = planned.map((each) =>
    "error" in each ? each : { primaryKey: each.primaryKey, row: each.row! },
  );
  const created = ({ versionstamp }: KvCommitResult): readonly RowResult[] => {
    context.catalog.confirm(catalog, committedAt, versionstamp);
    return rows.map((each) =>
      "error" in each
        ? { ok: false, error: each.error }
        : { ok: true, row: { primaryKey: each.primaryKey, row: each.row, versionstamp } },
    );
  };
  return commit.then(
    (result) => (result.ok ? created(result) : createEach(parsed)),
    () => createEach(parsed),
  );
}
