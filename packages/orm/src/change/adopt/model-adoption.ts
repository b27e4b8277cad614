import { type KvKey, ProgressMeter } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import type { TableLimits } from "../../state/context/model-store.js";
import type { TableContext } from "../../state/context/table-context.js";
import { isLimitError, limitErrorOf } from "../../state/transaction/limit-error-of.js";
import { isRefusal } from "../../write/many/commit-together.js";
import { commitRows } from "../transform/commit-rows.js";
import type { AdoptProgress, BrokenEntry } from "./adopt-result.js";
import {
  type DocumentPlan,
  type ParsedDocument,
  parseDocuments,
  planDocuments,
  planFailure,
  type RowAdoption,
} from "./adopt-rows.js";
import type { AdoptRun } from "./adopt-run.js";
import {
  type AdoptRecord,
  type AdoptState,
  addRecord,
  maxReports,
  nextPass,
  type Reports,
  reportKey,
} from "./adopt-state.js";
import { findDanglingEntries, findMissingEntries } from "./check-entries.js";
import { keysToRetry, setFailedKeys } from "./failed-keys.js";
import { type PageProgress, pageProgress, withMore } from "./page-progress.js";
import { documentsOf } from "./source/read-documents.js";
import type {
  LeftEntries,
  SourceDocument,
  SourceEntry,
  SourceLayout,
} from "./source/source-layout.js";
import type { PagedReader } from "./source/source-reader.js";

export interface ModelSource {
  readonly reader: PagedReader;
  readonly layout: SourceLayout;
  readonly map: ((value: unknown, id: RowId) => unknown) | undefined;
  /** True if the documents are the model's own rows. */
  readonly inPlace: boolean;
}

/** Documents in memory at a time. Those that are stored in pieces may be large. */
const documentsAtOnce = 100;
const piecedAtOnce = 20;
const entriesAtOnce = 100;

/** The adoption of one model: its record, and the steps that advance it. */
export class ModelAdoption {
  readonly #context: TableContext;
  readonly #source: ModelSource;
  readonly #run: AdoptRun;
  readonly #meter: ProgressMeter<AdoptProgress["phase"], { readonly model: string }>;
  readonly #adoption: RowAdoption;
  #record: AdoptRecord;

  constructor(context: TableContext, source: ModelSource, run: AdoptRun, record: AdoptRecord) {
    this.#context = context;
    this.#source = source;
    this.#run = run;
    this.#record = record;
    const { map, inPlace } = source;
    this.#adoption = { map, inPlace, dryRun: run.dryRun, restoreDeleted: run.restoreDeleted };
    this.#meter = new ProgressMeter(run.onProgress, { model: context.model.name });
    this.#beginPhase(record.state.stage === "entries" ? "entries" : "rows");
  }

  get record(): AdoptRecord {
    return this.#record;
  }

  /** Stores that the adoption has begun, and deletes the reports of an earlier one. */
  async begin(): Promise<void> {
    await this.#save(this.#record.state, {}, ["failed", "broken"]);
  }

  /** Continues after a run that has ended, with the documents that failed there. */
  async retry(): Promise<void> {
    const { state } = this.#record;
    if (state.failedCount === 0) await this.#save({ ...state, stage: "done" });
    else await this.#beginPass();
  }

  async nextDocuments(): Promise<void> {
    const { layout, reader } = this.#source;
    const { state } = this.#record;
    const maxDocuments = layout.readValue === undefined ? documentsAtOnce : piecedAtOnce;
    const limit = Math.min(maxDocuments, this.#run.batchRows);
    const slots = await this.#nextSlots(limit);
    const entries = slots.filter((entry) => entry !== undefined);
    const documents = await documentsOf(layout, reader, entries);
    const readable = documents.filter((document) => !("error" in document)) as SourceDocument[];
    const broken = state.pass === 1 ? await findMissingEntries(layout, reader, readable) : [];
    const parsed = await parseDocuments(this.#context, documents, this.#adoption);
    const isComplete = await this.#adoptPage(slots, parsed, broken);
    this.#meter.advance(this.#record.state.rows);
    await this.#run.afterBatch(documents.length);
    if (isComplete && slots.length < limit) await this.#endPass();
  }

  /** Returns the next entries of the pass. A document that failed may be gone since. */
  async #nextSlots(limit: number): Promise<(SourceEntry | undefined)[]> {
    const { layout, reader } = this.#source;
    const { state } = this.#record;
    const { model, kv } = this.#context;
    if (state.pass === 1) return await reader.page(layout.rows, state.after, limit);
    return await reader.getMany(await keysToRetry(kv, model, state, limit));
  }

  /**
   * Commits the documents of a page, as many at a time as fit into one commit.
   *
   * @returns false if the signal stopped it before the end of the page.
   */
  async #adoptPage(
    slots: readonly (SourceEntry | undefined)[],
    documents: readonly ParsedDocument[],
    broken: readonly BrokenEntry[],
  ): Promise<boolean> {
    const context = this.#context;
    const run = this.#run;
    const rowContext = { ...context, limits: rowLimits(context.limits) };
    const pageSize = run.dryRun ? slots.length : Math.max(1, context.limits.checks - 2);
    let [from, slot, size] = [0, 0, pageSize];
    while (slot < slots.length) {
      const plans = await planDocuments(
        rowContext,
        documents.slice(from, from + size),
        this.#adoption,
      );
      const endAfter = (count: number): number => {
        const isLast = from + count === documents.length;
        const last = documents[from + count - 1]?.entry;
        return isLast || last === undefined ? slots.length : slots.indexOf(last) + 1;
      };
      const stateAfter = (count: number): PageProgress => {
        const done = slots.slice(slot, endAfter(count));
        return pageProgress(this.#record.state, done, plans.slice(0, count), broken);
      };
      const committed = await this.#commitPlans(rowContext, plans, stateAfter);
      if (committed === undefined) {
        // A writer changed a row or the catalog, or the batch was too large for one commit.
        if (!(await context.catalog.reload())) size = Math.max(1, Math.floor(size / 2));
        await run.afterBatch(0);
        if (run.signal?.aborted) return false;
        continue;
      }
      slot = endAfter(committed.rows);
      from += committed.rows;
      size = Math.min(pageSize, 2 * size);
    }
    return true;
  }

  /**
   * Commits as many plans as fit into one commit, with the state after them. If the database
   * refuses the row of a document, the document fails.
   *
   * @returns undefined if a check failed, or the commit was too large.
   */
  async #commitPlans(
    context: TableContext,
    plans: readonly DocumentPlan[],
    stateAfter: (rows: number) => PageProgress,
  ): Promise<PageProgress | undefined> {
    const { lease } = this.#run;
    if (lease === undefined) {
      const saved = stateAfter(plans.length);
      await this.#save(saved.state, saved);
      return saved;
    }
    try {
      const committed = await commitRows(this.#context, lease, plans, {
        mutations: 1 + 2 * plans.length + maxReports,
        write: (operation, rows) => {
          const saved = stateAfter(rows);
          const { model } = this.#context;
          setFailedKeys(operation, model, this.#record.state, saved.failedKeys);
          return { saved, record: addRecord(operation, model, this.#record, saved.state, saved) };
        },
      });
      if (committed !== undefined) this.#record = committed.record;
      return committed?.saved;
    } catch (error) {
      if (!isLimitError(error) && !isRefusal(error)) throw error;
      const planned = plans.filter(({ operation }) => operation !== undefined);
      const [single] = planned;
      if (single === undefined) throw error;
      if (planned.length > 1) return undefined;
      const failure = planFailure(context, single.document, limitErrorOf(error));
      const others = plans.map((plan) => (plan === single ? failure : plan));
      return await this.#commitPlans(context, others, stateAfter);
    }
  }

  async nextEntries(): Promise<void> {
    const { layout, reader } = this.#source;
    const { state } = this.#record;
    const leaves = layout.leaves ?? [];
    const left = leaves[state.index - layout.indexes.length];
    const prefix = layout.indexes[state.index] ?? left?.prefix;
    if (prefix === undefined) {
      await this.#save({ ...state, stage: "done", isChecked: true });
      return;
    }
    const limit = Math.min(entriesAtOnce, this.#run.batchRows);
    const entries = await reader.page(prefix, state.after, limit);
    const broken = left ? [] : await findDanglingEntries(layout, reader, entries);
    const others = left ? entries.filter(({ key }) => !isException(left, key)).length : 0;
    const isLast = entries.length < limit;
    const after: KvKey | null = isLast ? null : (entries.at(-1)?.key ?? null);
    const index = state.index + (isLast ? 1 : 0);
    const checked = state.entries + entries.length;
    const leftBehind = withMore(state.leftBehind, left?.kind ?? "", others);
    await this.#save({ ...state, index, after, entries: checked, leftBehind }, { broken });
    this.#meter.advance(checked);
    await this.#run.afterBatch(entries.length);
  }

  /** Begins a new pass if failed documents may have their rows now, or checks the entries. */
  async #endPass(): Promise<void> {
    const { state } = this.#record;
    if (state.waiting === 0 || state.adoptedInPass === 0 || this.#run.dryRun) {
      const stage = state.isChecked ? "done" : "entries";
      await this.#save({ ...state, stage, after: null });
      this.#beginPhase("entries");
      return;
    }
    await this.#beginPass();
  }

  async #beginPass(): Promise<void> {
    this.#record = { ...this.#record, failed: [] };
    await this.#save(nextPass(this.#record.state), {}, ["failed"]);
  }

  /** Stores a state and the reports of a batch, and deletes the earlier reports of some kinds. */
  async #save(
    state: AdoptState,
    reports: Reports = {},
    forgotten: readonly ("failed" | "broken")[] = [],
  ): Promise<void> {
    const { model } = this.#context;
    let record = addRecord(undefined, model, this.#record, state, reports);
    await this.#run.commit((operation) => {
      for (const kind of forgotten) {
        for (let i = 0; i < maxReports; i++) operation.delete(reportKey(model, kind, i));
      }
      record = addRecord(operation, model, this.#record, state, reports);
    });
    this.#record = record;
  }

  #beginPhase(phase: AdoptProgress["phase"]): void {
    this.#meter.begin(phase, this.#record.state[phase]);
  }
}

/** The commit of a row also has to take the lease, the state and the mark or the reports. */
function rowLimits(limits: TableLimits): TableLimits {
  return { ...limits, checks: limits.checks - 1, mutations: limits.mutations - 6 };
}

function isException({ except = [] }: LeftEntries, key: KvKey): boolean {
  return except.some((prefix) => isSameKey(key.slice(0, prefix.length), prefix));
}
