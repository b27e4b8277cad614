import type { KvKey } from "@keywright/core";
import type { TableContext } from "../context/table-context.js";
import type { RowId } from "../errors/orm-error.js";
import type { AdoptedModel, AdoptFailure, AdoptProgress, BrokenEntry } from "./adopt-result.js";
import { adoptRows, type RowAdoption } from "./adopt-rows.js";
import type { AdoptRun } from "./adopt-run.js";
import {
  type AdoptRecord,
  type AdoptState,
  firstRecord,
  maxReports,
  nextPass,
  reportKey,
  stateKey,
  storedRecord,
} from "./adopt-state.js";
import { findDanglingEntries, findMissingEntries } from "./check-entries.js";
import { keysToRetry, writeFailedKeys } from "./failed-keys.js";
import { documentsOf } from "./source/read-documents.js";
import { idText, type SourceDocument, type SourceLayout } from "./source/source-layout.js";
import type { PagedReader } from "./source/source-reader.js";

/** The source of one model. */
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

/**
 * Adopts the documents of one model in batches, then checks the index entries of the source. The
 * progress is stored after each batch, so that a run that was stopped or killed resumes there. Rows
 * of a batch whose progress was not stored are found in the database and skipped.
 */
export async function adoptModel(
  context: TableContext,
  source: ModelSource,
  run: AdoptRun,
): Promise<AdoptedModel> {
  const { model } = context;
  const stored = run.dryRun
    ? undefined
    : await storedRecord(context.kv, model, source.layout, source.reader);
  const record = stored ?? firstRecord(source.layout);
  // What an adoption from another source has stored does not apply here. `begin` replaces it.
  const adoption = new ModelAdoption(context, source, run, record);
  if (stored === undefined) await adoption.begin();
  else if (stored.state.stage === "ended") await adoption.retry();
  while (adoption.record.state.stage !== "done") {
    if (run.signal?.aborted) return modelResult(model.name, "stopped", adoption.record);
    if (adoption.record.state.stage === "rows") await adoption.nextDocuments();
    else await adoption.nextEntries();
  }
  return modelResult(model.name, "done", adoption.record);
}

export function modelResult(
  model: string,
  status: AdoptedModel["status"],
  { state, failed, brokenEntries }: AdoptRecord,
): AdoptedModel {
  const { rows, adopted, skipped, failedCount, brokenCount } = state;
  return { model, status, rows, adopted, skipped, failedCount, failed, brokenCount, brokenEntries };
}

class ModelAdoption {
  readonly #context: TableContext;
  readonly #source: ModelSource;
  readonly #run: AdoptRun;
  /** In milliseconds, by the monotonic clock of this process. */
  readonly #startedAt: Record<AdoptProgress["phase"], number>;
  readonly #doneBefore: Readonly<Record<AdoptProgress["phase"], number>>;
  #record: AdoptRecord;

  constructor(context: TableContext, source: ModelSource, run: AdoptRun, record: AdoptRecord) {
    this.#context = context;
    this.#source = source;
    this.#run = run;
    this.#record = record;
    this.#startedAt = { rows: performance.now(), entries: performance.now() };
    this.#doneBefore = { rows: record.state.rows, entries: record.state.entries };
  }

  get record(): AdoptRecord {
    return this.#record;
  }

  /** Stores that the adoption has begun, and deletes the reports of an earlier one. */
  async begin(): Promise<void> {
    await this.#save(this.#record.state, [], [], ["failed", "broken"]);
  }

  /** Continues after a run that has ended, with the documents that failed there. */
  async retry(): Promise<void> {
    const { state } = this.#record;
    if (state.failedCount === 0) await this.#save({ ...state, stage: "done" }, [], []);
    else await this.#beginPass();
  }

  async nextDocuments(): Promise<void> {
    const { layout, reader, map, inPlace } = this.#source;
    const { model, kv } = this.#context;
    const { state } = this.#record;
    const isFirst = state.pass === 1;
    const maxDocuments = layout.readValue === undefined ? documentsAtOnce : piecedAtOnce;
    const limit = Math.min(maxDocuments, this.#run.batchRows);
    const retryKeys = isFirst ? [] : await keysToRetry(kv, model, state, limit);
    const entries = isFirst
      ? await reader.page(layout.rows, state.after, limit)
      : (await reader.getMany(retryKeys)).filter((entry) => entry !== undefined);
    const documents = await documentsOf(layout, reader, entries);
    const adoption: RowAdoption = { map, inPlace, dryRun: this.#run.dryRun };
    const result = await adoptRows(this.#context, documents, adoption);
    const readable = documents.filter((document) => !("error" in document)) as SourceDocument[];
    const broken = isFirst ? await findMissingEntries(layout, reader, readable) : [];
    const failed = new Set(result.failed.map(({ id }) => idText(id)));
    const firstAdopted = readable.find(({ id }) => !failed.has(idText(id)))?.entry;
    const origin = firstAdopted && {
      key: firstAdopted.key,
      versionstamp: firstAdopted.versionstamp,
    };
    const failedEntries = entries.filter(({ key }) => {
      const id = layout.idOf(key);
      return id !== undefined && failed.has(idText(id));
    });
    await writeFailedKeys(
      this.#context,
      this.#run,
      state,
      failedEntries.map(({ key }) => key),
    );
    await this.#save(
      {
        ...state,
        origin: state.origin ?? origin ?? null,
        after: isFirst ? (entries.at(-1)?.key ?? state.after) : null,
        retried: state.retried + retryKeys.length,
        rows: state.rows + (isFirst ? documents.length : 0),
        adopted: state.adopted + result.adopted,
        skipped: state.skipped + result.skipped,
        adoptedInPass: state.adoptedInPass + result.adopted,
        waiting: state.waiting + result.waiting,
      },
      result.failed,
      broken,
    );
    this.#report("rows");
    await this.#run.afterBatch(documents.length);
    if ((isFirst ? entries : retryKeys).length < limit) await this.#endPass();
  }

  async nextEntries(): Promise<void> {
    const { layout, reader } = this.#source;
    const { state } = this.#record;
    const prefix = layout.indexes[state.index];
    if (prefix === undefined) {
      await this.#save({ ...state, stage: "done", isChecked: true }, [], []);
      return;
    }
    const limit = Math.min(entriesAtOnce, this.#run.batchRows);
    const entries = await reader.page(prefix, state.after, limit);
    const broken = await findDanglingEntries(layout, reader, entries);
    const isLast = entries.length < limit;
    const after: KvKey | null = isLast ? null : (entries.at(-1)?.key ?? null);
    const index = state.index + (isLast ? 1 : 0);
    const checked = state.entries + entries.length;
    await this.#save({ ...state, index, after, entries: checked }, [], broken);
    this.#report("entries");
    await this.#run.afterBatch(entries.length);
  }

  /** Begins a new pass if failed documents may have their rows now, or checks the entries. */
  async #endPass(): Promise<void> {
    const { state } = this.#record;
    this.#startedAt.entries = performance.now();
    if (state.waiting === 0 || state.adoptedInPass === 0 || this.#run.dryRun) {
      const stage = state.isChecked ? "done" : "entries";
      await this.#save({ ...state, stage, after: null }, [], []);
      return;
    }
    await this.#beginPass();
  }

  async #beginPass(): Promise<void> {
    this.#record = { ...this.#record, failed: [] };
    await this.#save(nextPass(this.#record.state), [], [], ["failed"]);
  }

  /** Stores a state and the reports of a batch, and deletes the earlier reports of some kinds. */
  async #save(
    state: AdoptState,
    failed: readonly AdoptFailure[],
    broken: readonly BrokenEntry[],
    forgotten: readonly ("failed" | "broken")[] = [],
  ): Promise<void> {
    const { model } = this.#context;
    const newFailed = failed.slice(0, maxReports - this.#record.failed.length);
    const newBroken = broken.slice(0, maxReports - this.#record.brokenEntries.length);
    const next: AdoptState = {
      ...state,
      failedCount: state.failedCount + failed.length,
      brokenCount: state.brokenCount + broken.length,
    };
    await this.#run.commit((operation) => {
      operation.set(stateKey(model), next);
      for (const kind of forgotten) {
        for (let i = 0; i < maxReports; i++) operation.delete(reportKey(model, kind, i));
      }
      for (const [i, failure] of newFailed.entries()) {
        operation.set(reportKey(model, "failed", this.#record.failed.length + i), failure);
      }
      for (const [i, entry] of newBroken.entries()) {
        operation.set(reportKey(model, "broken", this.#record.brokenEntries.length + i), entry);
      }
    });
    this.#record = {
      state: next,
      failed: [...this.#record.failed, ...newFailed],
      brokenEntries: [...this.#record.brokenEntries, ...newBroken],
    };
  }

  #report(phase: AdoptProgress["phase"]): void {
    const done = this.#record.state[phase];
    const seconds = (performance.now() - this.#startedAt[phase]) / 1000;
    const perSecond = seconds > 0 ? (done - this.#doneBefore[phase]) / seconds : 0;
    this.#run.onProgress({ model: this.#context.model.name, phase, done, perSecond });
  }
}
