import type { FileCheckProgress } from "../../file-report.js";
import type { TableFile } from "./database-files.js";

/** Returns a function that is called with the bytes of each checked file and reports progress. */
export function progressCounter(
  tables: readonly TableFile[],
  onProgress: (progress: FileCheckProgress) => void,
): (bytes: number) => void {
  const bytesTotal = bytesOf(tables);
  let files = 0;
  let bytes = 0;
  return (added) => {
    files++;
    bytes += added;
    onProgress({ files, filesTotal: tables.length, bytes, bytesTotal });
  };
}

export function bytesOf(tables: readonly TableFile[]): number {
  return tables.reduce((sum, { bounds }) => sum + bounds.size, 0);
}
