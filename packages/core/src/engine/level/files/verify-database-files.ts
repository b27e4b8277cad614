import type { FileDamage, FileReport } from "../../files/file-report.js";
import { type Progress, ProgressMeter } from "../../progress.js";
import { systemFailure } from "../system-failure.js";
import { checkInWorker } from "./check-in-worker.js";
import { bytesOf, readDatabaseFiles, readTables } from "./database-files.js";

/**
 * Checks all files of the LevelDB database in a folder, which may be open.
 *
 * @throws {EngineFailedError} if a file cannot be read.
 */
export async function verifyDatabaseFiles(
  folder: string,
  onProgress: (progress: Progress<"checking">) => void = () => undefined,
): Promise<FileReport> {
  try {
    return await verifyAll(folder, onProgress);
  } catch (error) {
    throw systemFailure(error, "read", folder);
  }
}

async function verifyAll(
  folder: string,
  onProgress: (progress: Progress<"checking">) => void,
): Promise<FileReport> {
  const { tables, damages } = await readDatabaseFiles(folder);
  const found = [...damages];
  const meter = new ProgressMeter(onProgress);
  meter.begin("checking");
  let total = 0;
  const options = { bytesPerSecond: Number.POSITIVE_INFINITY, keepsAlive: true };
  const absent = new Set<string>();
  await checkInWorker(folder, tables, options, ({ name, bytes, damages: others }) => {
    if (bytes === undefined) absent.add(name);
    found.push(...others);
    total += bytes ?? 0;
    meter.advance(total, bytesOf(tables));
  }).done;
  if (damages.length === 0) found.push(...(await missingTables(folder, absent)));
  return { files: tables.length, bytes: total, damages: found };
}

/** Returns the absent tables that the manifest still states, as damage. */
export async function missingTables(
  folder: string,
  absent: ReadonlySet<string>,
): Promise<FileDamage[]> {
  if (absent.size === 0) return [];
  const tables = await readTables(folder);
  return tables.flatMap(({ name, bounds: { firstKey, lastKey } }) =>
    absent.has(name) ? [{ file: name, offset: 0, reason: "it is missing", firstKey, lastKey }] : [],
  );
}
