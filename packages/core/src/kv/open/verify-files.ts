import { resolve } from "node:path";
import type { FileReport } from "../../engine/files/file-report.js";
import { verifyDatabaseFiles } from "../../engine/level/files/verify-database-files.js";
import type { VerifyFilesOptions } from "../kv.js";

/**
 * Verifies the checksums of all files of the LevelDB database at a path. It opens no database, so
 * the database may be open in any process, and it may be damaged.
 *
 * ```ts
 * const { damages } = await verifyFiles("./data");
 * ```
 */
export async function verifyFiles(
  path: string,
  options: VerifyFilesOptions = {},
): Promise<FileReport> {
  return await verifyDatabaseFiles(resolve(path), options.onProgress);
}
