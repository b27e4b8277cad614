import type { AnyDatabase } from "@keywright/orm";
import { type VerifiedModel, verifyIndexes } from "@keywright/orm/migrate";
import type { FoundDamage, Job, JobProgress } from "../../protocol/maintenance.js";
import type { StudioCalls } from "../../protocol/studio-calls.js";
import { JobRunningError } from "../../source/errors.js";
import { isCorruption } from "../../source/known-damage.js";
import type { Source } from "../../source/source.js";
import { studioError } from "../../source/studio-error.js";
import { checkFiles } from "./check-files.js";
import { runMigration, tryMigration } from "./run-migration.js";
import type { WorkOptions } from "./try-rows.js";

interface RunningJob {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

type JobResult = { readonly outcome: string } & Partial<Pick<Job, "found" | "tried" | "files">>;

type Work = (options: WorkOptions) => Promise<JobResult>;

const beginning = {
  ...{ state: "running", progress: null, outcome: null, error: null, found: [], tried: [] },
  files: null,
} as const satisfies Partial<Job>;

/** Runs one migration, verification or repair at a time, and reports it to the page. */
export class Jobs {
  readonly #source: Source;
  #job: Job | null = null;
  #running: RunningJob | undefined;
  #isClosed = false;

  constructor(source: Source) {
    this.#source = source;
  }

  get current(): Job | null {
    return this.#job;
  }

  migrate(input: StudioCalls["migrate"]["input"]): Job {
    const database = this.#database;
    return this.#start("migrate", (options) => {
      return runMigration(this.#source, database, input, options);
    });
  }

  tryRows(): Job {
    const database = this.#database;
    return this.#start("try", (options) => tryMigration(this.#source, database, options));
  }

  verify({ isRepair }: StudioCalls["verify"]["input"]): Job {
    const database = this.#database;
    return this.#start(isRepair ? "repair" : "verify", async (options) => {
      try {
        const result = await verifyIndexes(database, { ...options, repair: isRepair });
        return { outcome: result.status, found: result.models.flatMap(foundDamage) };
      } catch (error) {
        if (!isCorruption(error)) throw error;
        const files = await checkFiles(this.#source, options);
        // If the files are intact, a record is not: the error contains its key.
        if (files === null || files.damages.length === 0) throw error;
        return { outcome: "damaged-files", files };
      }
    });
  }

  checkFiles(): Job {
    return this.#start("files", async (options) => {
      // The check cannot be stopped, so nobody waits for its result.
      const checked = checkFiles(this.#source, options);
      const files = await Promise.race([checked, aborted(options.signal)]);
      if (files === "aborted") return { outcome: "stopped" };
      if (files === null) return { outcome: "no-files" };
      return { outcome: files.damages.length === 0 ? "intact" : "damaged", files };
    });
  }

  /** Stops after the batch that is at work. */
  stop(): Job | null {
    if (this.#running === undefined || this.#job === null) return this.#job;
    this.#running.abort.abort();
    this.#job = { ...this.#job, state: "stopping" };
    return this.#job;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.stop();
    await this.#running?.ended;
  }

  get #database(): AnyDatabase {
    const { database } = this.#source;
    if (database === undefined) throw new TypeError("There are no models to work on.");
    return database;
  }

  #start(kind: Job["kind"], work: Work): Job {
    if (this.#isClosed || this.#running !== undefined) throw new JobRunningError();
    const abort = new AbortController();
    const job: Job = { kind, ...beginning };
    this.#job = job;
    const onProgress = (progress: JobProgress) => {
      if (abort.signal.aborted && kind === "files") return;
      this.#job = { ...this.#job!, progress };
    };
    const ended = work({ signal: abort.signal, onProgress }).then(
      (result) => this.#end({ ...this.#job!, state: "ended", ...result }),
      (error) => {
        const failure = studioError(this.#source, error);
        this.#end({ ...this.#job!, state: "failed", error: failure });
      },
    );
    this.#running = { abort, ended };
    return job;
  }

  #end(job: Job): void {
    this.#job = job;
    this.#running = undefined;
  }
}

function aborted(signal: AbortSignal): Promise<"aborted"> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
}

function foundDamage(verified: VerifiedModel): FoundDamage[] {
  const { model, indexes, rows, findings, counters, copies } = verified;
  const ofIndexes = indexes.map((index) => {
    const count = (kind: "missing" | "dangling" | "mismatched") =>
      findings.filter((finding) => finding.index === index && finding.kind === kind).length;
    const kinds = { missing: count("missing"), dangling: count("dangling") };
    return { model, rows, index, ...kinds, mismatched: count("mismatched") };
  });
  const others = [
    { index: "counts, sums and ranks", mismatched: counters.count },
    { index: "copied fields", mismatched: copies.count },
  ];
  const found = others.filter(({ mismatched }) => mismatched > 0);
  return [
    ...ofIndexes,
    ...found.map((other) => ({ model, rows, missing: 0, dangling: 0, ...other })),
  ];
}
