import { parentPort, workerData } from "node:worker_threads";
import { checkTables } from "./check-tables.js";
import type { TableFile } from "./database-files.js";

export interface CheckWorkerData {
  readonly folder: string;
  readonly tables: readonly TableFile[];
  readonly bytesPerSecond: number;
}

const { folder, tables, bytesPerSecond } = workerData as CheckWorkerData;
for await (const checked of checkTables(folder, tables, { bytesPerSecond, keepsAlive: true }))
  parentPort?.postMessage(checked);
parentPort?.postMessage(null);
