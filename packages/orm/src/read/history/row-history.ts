import type { KvChange, KvKeyPart, KvLoggedCommit, KvLoggedValue } from "@keywright/core";
import { InvalidCursorError } from "../../errors/query-errors.js";
import type { AnyRow } from "../../model/compiled-model.js";
import { rowKey } from "../../model/keys/primary-key.js";
import { assertArgument, is } from "../../model/shape.js";
import type { Page } from "../../state/context/page.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { TableContext } from "../../state/context/table-context.js";
import { takeOf } from "../find/find-rows.js";
import { resultRow } from "../find/rows/shaped-result.js";
import { type CommitLog, logOf } from "./commit-log.js";
import { LoggedRows } from "./logged-rows.js";

/** Which versions of a row are returned, for any model. */
export interface AnyHistoryQuery {
  readonly take?: number | undefined;
  readonly cursor?: string | null | undefined;
  readonly maxScan?: number | undefined;
}

/** A version of a row, for any model. */
export interface AnyRowVersion {
  readonly versionstamp: string;
  readonly time: Date | null;
  readonly context: unknown;
  readonly row: AnyRow | null;
}

/** How many commits are read to find out when a row was deleted. */
const defaultMaxScan = 10_000;

const count = is<number>(
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  "a whole number",
);

/** Where the next older version is. */
type Next =
  /** It is this value. The commit that has set it is found by its versionstamp. */
  | { readonly at: "value"; readonly value: KvLoggedValue }
  /** It is searched for in the log, before a commit or from its end. */
  | { readonly at: "search"; readonly before: string | undefined }
  | { readonly at: "end" };

/** Reads the versions of one row. */
class RowHistory {
  readonly #context: TableContext;
  readonly #log: CommitLog;
  readonly #rows: LoggedRows;
  readonly #primaryKey: readonly KvKeyPart[];
  readonly #query: AnyHistoryQuery;
  readonly #meter: ReadMeter;

  constructor(
    context: TableContext,
    primaryKey: readonly KvKeyPart[],
    query: AnyHistoryQuery,
    meter: ReadMeter,
  ) {
    this.#context = context;
    this.#log = logOf(context);
    this.#rows = new LoggedRows(context, this.#log);
    this.#primaryKey = primaryKey;
    this.#query = query;
    this.#meter = meter;
  }

  get #key(): KvKeyPart[] {
    return [...rowKey(this.#context.model, this.#primaryKey)];
  }

  /** Returns the newest version, or the one that a cursor leads to. */
  async first(): Promise<Next> {
    const { cursor } = this.#query;
    if (cursor === undefined || cursor === null) {
      const entry = await this.#context.kv.get(this.#key);
      if (entry.versionstamp === null) return { at: "search", before: undefined };
      return { at: "value", value: entry };
    }
    const [, kind, versionstamp] = /^([bs])([0-9a-f]{20})$/.exec(cursor) ?? [];
    if (versionstamp === undefined) throw new InvalidCursorError(this.#context.model.name, cursor);
    if (kind === "s") return { at: "search", before: versionstamp };
    const commit = await this.#log.commitAt(versionstamp, { key: this.#key });
    return this.#before(commit);
  }

  /** Returns a version and where the one before it is. Undefined instead if there is none. */
  async read(next: Next): Promise<[AnyRowVersion | undefined, Next, string | null]> {
    this.#meter.add(1);
    if (next.at === "value") return await this.#readValue(next.value);
    const before = next.at === "search" ? next.before : undefined;
    const { maxScan: maxCommits = defaultMaxScan } = this.#query;
    const { commit, readTo } = await this.#log.lastChange(this.#key, { before, maxCommits });
    if (commit === undefined)
      return [undefined, { at: "end" }, readTo === undefined ? null : `s${readTo}`];
    const change = lastOf(commit);
    if (change.after !== null) return await this.#readValue(change.after);
    const { versionstamp, time, context } = commit;
    const deleted = await this.#rows.rowOf(this.#primaryKey, change.before);
    const isSeen = deleted !== undefined || this.#context.scope === undefined;
    const version = isSeen ? { versionstamp, time, context, row: null } : undefined;
    return [version, this.#before(commit), `b${versionstamp}`];
  }

  async #readValue(
    value: KvLoggedValue,
  ): Promise<[AnyRowVersion | undefined, Next, string | null]> {
    const { versionstamp } = value;
    const [commit, found] = await Promise.all([
      this.#log.commitAt(versionstamp, { key: this.#key }),
      this.#rows.rowOf(this.#primaryKey, value),
    ]);
    const { time = null, context } = commit ?? {};
    const row = found && (await resultRow(this.#context, found.row));
    const version = row && { versionstamp, time, context, row };
    return [version, this.#before(commit), `b${versionstamp}`];
  }

  /** Returns where the version before a commit is. */
  #before(commit: KvLoggedCommit | undefined): Next {
    if (commit === undefined) return { at: "end" };
    const { before } = firstOf(commit);
    if (before !== null) return { at: "value", value: before };
    // The row was created, or the engine does not tell which row has expired.
    const mayBeBefore = this.#query.maxScan !== undefined || firstOf(commit).type === "expire";
    return mayBeBefore ? { at: "search", before: commit.versionstamp } : { at: "end" };
  }
}

/**
 * Returns a page of the versions of a row, newest first.
 *
 * @param context also reads a row that is marked as deleted.
 */
export async function readHistory(
  context: TableContext,
  primaryKey: readonly KvKeyPart[],
  query: AnyHistoryQuery,
  meter: ReadMeter,
): Promise<Page<AnyRowVersion>> {
  const { model } = context;
  if (query.maxScan !== undefined) assertArgument(model.name, "maxScan", query.maxScan, count);
  const take = takeOf(model, query);
  const history = new RowHistory(context, primaryKey, query, meter);
  const items: AnyRowVersion[] = [];
  let cursor: string | null = null;
  for (let next = await history.first(); next.at !== "end"; ) {
    const [version, before, position]: Awaited<ReturnType<RowHistory["read"]>> =
      await history.read(next);
    if (version !== undefined) items.push(version);
    next = before;
    cursor = position;
    if (items.length === take) return { items, cursor: next.at === "end" ? null : cursor };
  }
  // A search that has read enough can be continued.
  return { items, cursor: cursor?.startsWith("s") ? cursor : null };
}

/** Returns the first change of the only key of a commit. Some engines log several. */
function firstOf({ changes }: KvLoggedCommit): KvChange {
  return changes[0]!;
}

function lastOf({ changes }: KvLoggedCommit): KvChange {
  return changes.at(-1)!;
}
