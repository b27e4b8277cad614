import type { AtomicCheck } from "@keywright/core";
import type { AnyRow, CompiledIndex } from "../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { findPage } from "../../read/find/find-rows.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { Page } from "../../state/context/page.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { withReadView } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { readPage } from "../../state/rows/read-page.js";
import { foundRow, readRows, readStored } from "../../state/rows/read-rows.js";
import { type JobRow, type JobState, jobModel, type StoredJob } from "./job-model.js";

/** Returns the jobs with these ids. Undefined for those that do not exist. */
export async function readJobs(
  context: TableContext,
  ids: readonly string[],
): Promise<(StoredJob | undefined)[]> {
  if (ids.length === 0) return [];
  const keys = ids.map((id) => [id]);
  return await withReadView(context, [], async (view) => {
    const entries = await readRows(view, keys);
    return keys.map((key, i) => foundRow(view, key, entries[i]!) as StoredJob | undefined);
  });
}

/** Returns jobs of a name in a state, in the order of their ranks and times. */
export async function listJobs(
  context: TableContext,
  topic: string,
  state: JobState,
  { until, ...options }: Pick<AnyQuery, "take" | "cursor" | "order"> & { until?: number } = {},
): Promise<Page<StoredJob>> {
  const range = until === undefined ? {} : { rank: 0, time: { lte: until } };
  const where: AnyRow = { topic, state, ...range };
  const { order = "asc", ...within } = options;
  const query = { where, index: "byOrder", orderBy: orderOf(order), forWrite: true, ...within };
  const meter = new ReadMeter(jobModel.name, Number.POSITIVE_INFINITY);
  const page = await withReadView(context, [], (view) => findPage(view, query, meter));
  return page as Page<FoundRow> as unknown as Page<StoredJob>;
}

function orderOf(order: "asc" | "desc"): readonly Record<string, "asc" | "desc">[] {
  return [{ rank: order }, { time: order }];
}

/** The jobs that have unique keys. */
export class KeyOwners {
  /** The owners by their keys, as {@link ownedText} writes them. */
  readonly #owners: Map<string, KeyOwner>;

  private constructor(owners: Map<string, KeyOwner>) {
    this.#owners = owners;
  }

  /** Reads which jobs have the keys of others. */
  static async of(context: TableContext, rows: readonly JobRow[]): Promise<KeyOwners> {
    const owners = new Map<string, KeyOwner>();
    const keyed = rows.filter(({ key }) => key !== null);
    if (keyed.length === 0) return new KeyOwners(owners);
    const index = indexOf(context, "byUnique");
    const keys = keyed.map(({ topic, key }) => [index.place, topic, key!]);
    const entries = await readStored(context, keys);
    for (const [i, row] of keyed.entries()) {
      const { versionstamp, value } = entries[i]!;
      const id = idOfEntry(context, index, value);
      if (versionstamp === null || id === undefined) continue;
      owners.set(ownedText(row), { id, check: { key: keys[i]!, versionstamp } });
    }
    return new KeyOwners(owners);
  }

  /** Returns the job that has the key of another one. Undefined if none has it. */
  get(row: JobRow): KeyOwner | undefined {
    return row.key === null ? undefined : this.#owners.get(ownedText(row));
  }

  /** Records that a job gets its key by the same commit. */
  add(row: JobRow): void {
    if (row.key !== null) this.#owners.set(ownedText(row), { id: row.id });
  }
}

interface KeyOwner {
  readonly id: string;
  /** Holds as long as the job has the key. Absent if it gets the key by the same commit. */
  readonly check?: AtomicCheck;
}

function ownedText({ topic, key }: JobRow): string {
  return JSON.stringify([topic, key]);
}

/**
 * Returns the ids of the first jobs of a name that wait. It reads only the index: whoever takes a
 * job reads its row in the commit.
 */
export async function waitingIds(
  context: TableContext,
  topic: string,
  limit: number,
): Promise<string[]> {
  const index = indexOf(context, "byOrder");
  const prefix = [index.place, topic, "waiting"];
  const options = { limit, reverse: false, withValues: true };
  const entries = await readPage(context, { prefix }, options);
  return entries.map(({ value }) => idOfEntry(context, index, value)!);
}

/** Returns the places that running jobs of a name have. */
export async function takenSlots(context: TableContext, topic: string): Promise<Set<number>> {
  const { place } = indexOf(context, "bySlot");
  const taken = new Set<number>();
  for await (const { key } of context.kv.list({ prefix: [place, topic] }))
    taken.add(key[2] as number);
  return taken;
}

function indexOf({ model }: TableContext, name: string): CompiledIndex {
  return model.indexes.find((index) => index.name === name)!;
}

function idOfEntry(
  { model }: TableContext,
  index: CompiledIndex,
  value: unknown,
): string | undefined {
  return primaryKeyOfEntry(model, index, value)?.[0] as string | undefined;
}
