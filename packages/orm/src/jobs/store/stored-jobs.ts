import type { KvKey } from "@keywright/core";
import { type AnyRow, systemPrefix } from "../../model/compiled-model.js";
import { primaryKeyOfEntry } from "../../model/keys/entry-value.js";
import { findPage } from "../../read/find/find-rows.js";
import type { AnyQuery, FoundRow } from "../../state/context/any-query.js";
import type { Page } from "../../state/context/page.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { withReadView } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { foundRow, readRows } from "../../state/rows/read-rows.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import { commitChange } from "../../write/commit/commit-change.js";
import { runAtomically } from "../../write/rows/run-atomically.js";
import { type JobRow, type JobState, jobModel, type StoredJob } from "./job-model.js";

/**
 * Runs changes of jobs in one commit, or as a part of the transaction of the context. If others
 * change a job that the function has read, it runs again.
 */
export async function changeJobs<T>(
  context: TableContext,
  body: (within: TableContext) => Promise<T>,
  optimistic = false,
): Promise<T> {
  return (await runAtomically(context, body, optimistic)).result;
}

/**
 * Returns how many jobs one commit of the database can change, if they are small.
 *
 * @param checks how many checks each has at most: of its row, of its unique key and of its place.
 */
export function jobsPerCommit({ limits }: TableContext, checks = 3): number {
  return Math.max(1, Math.min(maxGroup, Math.floor((limits.checks - 1) / checks)));
}

/** Changes jobs in one commit, or in several ones if they are too large for one. */
export async function inCommits<T>(
  jobs: readonly T[],
  change: (part: readonly T[]) => Promise<void>,
): Promise<void> {
  try {
    await change(jobs);
  } catch (error) {
    if (jobs.length < 2 || !isLimitError(error)) throw error;
    const half = Math.ceil(jobs.length / 2);
    await inCommits(jobs.slice(0, half), change);
    await inCommits(jobs.slice(half), change);
  }
}

/** Larger groups gain little, and one conflict repeats all of it. */
const maxGroup = 100;

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

/** Plans the next row of a job, or its removal. Must be called within {@link changeJobs}. */
export async function writeJob(
  within: TableContext,
  id: string,
  before: StoredJob | null,
  row: JobRow | null,
): Promise<void> {
  await commitChange(within, () => ({
    primaryKey: [id],
    before: before as FoundRow | null,
    row: row as AnyRow | null,
  }));
}

/** Returns the id of the job that has a unique key. Undefined if none has it. */
export async function ownerOfKey(
  context: TableContext,
  topic: string,
  uniqueKey: string,
): Promise<string | undefined> {
  const index = context.model.indexes.find(({ name }) => name === "byUnique")!;
  const { value, versionstamp } = await context.kv.get([index.place, topic, uniqueKey]);
  if (versionstamp === null) return undefined;
  return primaryKeyOfEntry(context.model, index, value)?.[0] as string | undefined;
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
  const index = context.model.indexes.find(({ name }) => name === "byOrder")!;
  const ids: string[] = [];
  const prefix = [index.place, topic, "waiting"];
  for await (const { value } of context.kv.list({ prefix }, { limit }))
    ids.push(primaryKeyOfEntry(context.model, index, value)?.[0] as string);
  return ids;
}

/** Returns the places that running jobs of a name have. */
export async function takenSlots(context: TableContext, topic: string): Promise<Set<number>> {
  const index = context.model.indexes.find(({ name }) => name === "bySlot")!;
  const taken = new Set<number>();
  for await (const { key } of context.kv.list({ prefix: [index.place, topic] }))
    taken.add(key[2] as number);
  return taken;
}

/** How many marks there are. Databases such as Deno KV watch at most ten keys at once. */
const markCount = 8;

/** Returns the key that changes when a job of a name may run, and sometimes of another name. */
export function markOf(topic: string): KvKey {
  let hash = 0x811c_9dc5;
  for (const character of topic) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x0100_0193);
  return [systemPrefix, "jobs", ((hash ^ (hash >>> 16)) >>> 0) % markCount];
}

/** The key that changes when a running job is cancelled. */
export const cancelMark: KvKey = [systemPrefix, "jobs", "cancel"];

/** Increments a mark with the commit of a transaction. It reads nothing, so it never conflicts. */
export async function mark(within: TableContext, key: KvKey): Promise<void> {
  await within.kv.atomic().sum(key, 1n).commit();
}
