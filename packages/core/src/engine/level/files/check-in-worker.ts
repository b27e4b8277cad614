import { Worker } from "node:worker_threads";
import { type CheckedTable, checkTables, type TableCheckOptions } from "./check-tables.js";
import type { CheckWorkerData } from "./check-worker.js";
import type { TableFile } from "./database-files.js";

export interface TableCheck {
  /** Resolves when all tables have been checked. Rejects if a file cannot be read. */
  readonly done: Promise<void>;
  /** Ends the check. `done` then stays pending. */
  readonly stop: () => Promise<void>;
}

/**
 * Verifies tables in a worker, so that the event loop does not wait for it. If no worker can be
 * started, for example because its file is not part of a bundle, the caller's thread checks one
 * table at a time.
 */
export function checkInWorker(
  folder: string,
  tables: readonly TableFile[],
  options: TableCheckOptions,
  onChecked: (checked: CheckedTable) => void,
): TableCheck {
  const { bytesPerSecond } = options;
  let isOver = false;
  let worker: Worker | undefined;
  const done = new Promise<void>((resolve, reject) => {
    let position = 0;
    const checkRest = async () => {
      for await (const checked of checkTables(folder, tables.slice(position), options)) {
        if (isOver) return;
        onChecked(checked);
      }
      resolve();
    };
    let hasFailed = false;
    const onFailure = () => {
      if (isOver || hasFailed) return;
      hasFailed = true;
      checkRest().catch(reject);
    };
    try {
      const workerData: CheckWorkerData = { folder, tables, bytesPerSecond };
      worker = new Worker(workerFile(), { workerData });
      if (!options.keepsAlive) worker.unref();
      worker.on("message", (checked: CheckedTable | null) => {
        if (isOver) return;
        if (checked === null) {
          isOver = true;
          resolve();
        } else {
          position++;
          onChecked(checked);
        }
      });
      worker.on("error", onFailure);
      worker.on("exit", onFailure);
    } catch {
      onFailure();
    }
  });
  return {
    done,
    stop: async () => {
      isOver = true;
      await worker?.terminate();
    },
  };
}

/**
 * Returns the compiled worker. The path also leads there from the sources, which the tests import.
 *
 * @throws {TypeError} in a CommonJS bundle, which has no `import.meta.url`.
 */
function workerFile(): URL {
  // A bundler that finds a constant path here would add the file to the bundle, as a script.
  const path = ["../../../../dist/engine/level/files", "check-worker.js"].join("/");
  return new URL(path, import.meta.url);
}
