import { studioInfo } from "../describe/model-info.js";
import type { StudioCalls } from "../protocol/studio-calls.js";
import { ReadOnlyStudioError } from "../source/errors.js";
import { knownDamage } from "../source/known-damage.js";
import type { Source } from "../source/source.js";
import type { CallsOf } from "./calls-of.js";
import { Jobs } from "./jobs/jobs.js";
import { keyCalls } from "./key-calls.js";
import { logCalls } from "./log-calls.js";
import { measureModel } from "./measure-model.js";
import { migrationCalls } from "./migration-calls.js";
import { previewDelete } from "./preview-delete.js";
import { rowCalls } from "./row-calls.js";
import { searchRows } from "./search-rows.js";
import { workCalls } from "./work-calls.js";

type AnyCall = (input: never) => Promise<unknown>;

/** The calls that change the database. A verification stores its progress. */
const writing: ReadonlySet<keyof StudioCalls> = new Set([
  ...(["create", "update", "delete", "restore", "restoreVersion", "migrate", "verify"] as const),
  ...(["retryJobs", "discardJobs"] as const),
]);

/** Returns the calls by their names, and a function that stops the job that runs. */
export function studioCalls(source: Source): {
  readonly calls: ReadonlyMap<string, (input: unknown) => Promise<unknown>>;
  close(): Promise<void>;
} {
  const jobs = new Jobs(source);
  const all: CallsOf<keyof StudioCalls> = {
    info: () => studioInfo(source),
    ...rowCalls(source),
    search: (input) => searchRows(source, input),
    previewDelete: (input) => previewDelete(source, input),
    measure: ({ property }) => measureModel(source, property),
    ...logCalls(source),
    ...workCalls(source),
    ...keyCalls(source),
    ...migrationCalls(source),
    migrate: async (input) => jobs.migrate(input),
    tryRows: async () => jobs.tryRows(),
    verify: async (input) => jobs.verify(input),
    checkFiles: async () => jobs.checkFiles(),
    damage: () => knownDamage(source),
    stop: async () => jobs.stop(),
    job: async () => jobs.current,
  };
  const calls = Object.entries<AnyCall>(all).map(([name, call]) => {
    const isRefused = source.isReadOnly && writing.has(name as keyof StudioCalls);
    const refuse = async () => {
      throw new ReadOnlyStudioError();
    };
    return [name, (isRefused ? refuse : call) as (input: unknown) => Promise<unknown>] as const;
  });
  return { calls: new Map(calls), close: () => jobs.close() };
}
