import { type AnyDatabase, type VerifiedModel, verifyIndexes } from "@keywright/orm";
import type { FoundDamage, Job, StudioCalls } from "../protocol/protocol.js";
import { JobRunningError } from "../source/errors.js";
import type { Source } from "../source/source.js";
import { studioError } from "../source/studio-error.js";
import { runMigration, tryMigration } from "./run-migration.js";
import type { WorkOptions, WorkProgress } from "./try-rows.js";

interface RunningJob {
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

type JobResult = { readonly outcome: string } & Partial<Pick<Job, "found" | "tried">>;

type Work = (database: AnyDatabase, options: WorkOptions) => Promise<JobResult>;

const beginning = {
  ...{ state: "running", progress: null, outcome: null, error: null, found: [], tried: [] },
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
    return this.#start("migrate", (database, options) => {
      return runMigration(this.#source, database, input, options);
    });
  }

  tryRows(): Job {
    return this.#start("try", (database, options) => {
      return tryMigration(this.#source, database, options);
    });
  }

  verify({ isRepair }: StudioCalls["verify"]["input"]): Job {
    return this.#start(isRepair ? "repair" : "verify", async (database, options) => {
      const result = await verifyIndexes(database, { ...options, repair: isRepair });
      return { outcome: result.status, found: result.models.flatMap(foundDamage) };
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

  #start(kind: Job["kind"], work: Work): Job {
    if (this.#isClosed || this.#running !== undefined) throw new JobRunningError();
    const { database } = this.#source;
    if (database === undefined) throw new TypeError("There are no models to work on.");
    const abort = new AbortController();
    const job: Job = { kind, ...beginning };
    this.#job = job;
    const onProgress = (progress: WorkProgress) => {
      const { secondsLeft = null } = progress;
      this.#job = { ...this.#job!, progress: { ...progress, secondsLeft } };
    };
    const ended = work(database, { signal: abort.signal, onProgress }).then(
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

function foundDamage({ model, indexes, rows, findings }: VerifiedModel): FoundDamage[] {
  return indexes.map((index) => {
    const count = (kind: "missing" | "dangling" | "mismatched") =>
      findings.filter((finding) => finding.index === index && finding.kind === kind).length;
    const kinds = { missing: count("missing"), dangling: count("dangling") };
    return { model, rows, index, ...kinds, mismatched: count("mismatched") };
  });
}
