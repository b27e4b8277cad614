import {
  type CorruptionError,
  decodeKey,
  type FileDamage,
  isKeywrightError,
  verifyFiles as verifyFilesAt,
} from "@keywright/core";
import { formatKey } from "../../inspect/entries/format-key.js";
import { loadDatabaseConfig, withKv } from "../../project/open-project.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, shownNumber } from "../terminal/text/counted.js";

/** A damaged place of a file. Its keys are texts. */
export interface ReportedDamage {
  readonly file: string;
  readonly offset: number;
  readonly reason: string;
  readonly firstKey: string | null;
  readonly lastKey: string | null;
}

/** The result of `verify --files`. `"unsupported"` if the database has no files to verify. */
export interface FilesReport {
  readonly status: "clean" | "damaged" | "unsupported";
  readonly files: number;
  readonly bytes: number;
  readonly damages: readonly ReportedDamage[];
}

/** Verifies the files of a project's database, also if it cannot be opened because of them. */
export async function verifyFiles(
  terminal: Terminal,
  config: string | undefined,
): Promise<FilesReport> {
  const loaded = await loadDatabaseConfig(terminal.folder, config);
  const report = await withKv(loaded, async (kv) => await kv.verifyFiles?.()).catch(
    (error: unknown) => {
      const path = pathOfDamaged(error);
      if (path === undefined) throw error;
      return verifyFilesAt(path);
    },
  );
  if (report === undefined) return { status: "unsupported", files: 0, bytes: 0, damages: [] };
  const { files, bytes, damages } = report;
  const status = damages.length === 0 ? "clean" : "damaged";
  return { status, files, bytes, damages: damages.map(reportedDamage) };
}

export function filesText({ stdout }: Terminal, report: FilesReport): string {
  const { status, files, bytes, damages } = report;
  if (status === "unsupported")
    return `${styled(stdout, "yellow", "Nothing was checked.")} The database has no files that can be verified: it is not in a folder, or was opened with checkFiles: false.`;
  const size = `${counted(files, "table")}, ${shownNumber(bytes)} bytes`;
  if (status === "clean")
    return `${styled(stdout, "green", "Clean.")} All files are intact: ${size}.`;
  return [
    ...damages.map(damageLine),
    `${styled(stdout, "red", "Damaged.")} Keep a copy of the files, and restore a backup, or use keywright repair --rescue. ${size}.`,
  ].join("\n");
}

/** Formats a damage as a line, and its keys as another one if they are known. */
export function damageLine({ file, offset, reason, firstKey, lastKey }: ReportedDamage): string {
  const keys =
    firstKey === null && lastKey === null ? "" : `\n    keys ${rangeText(firstKey, lastKey)}`;
  return `  ${file}, byte ${shownNumber(offset)}: ${reason}${keys}`;
}

function rangeText(firstKey: string | null, lastKey: string | null): string {
  return `from ${firstKey ?? "the first"} to ${lastKey ?? "the last"}`;
}

function pathOfDamaged(error: unknown): string | undefined {
  if (!isKeywrightError(error) || error.code !== "KW_CORRUPTION") return undefined;
  return (error as CorruptionError).path;
}

export function reportedDamage({ firstKey, lastKey, ...damage }: FileDamage): ReportedDamage {
  return { ...damage, firstKey: keyText(firstKey), lastKey: keyText(lastKey) };
}

/** Keys of the database itself, and keys in another order, are shown as bytes. */
function keyText(key: Uint8Array | undefined): string | null {
  if (key === undefined) return null;
  try {
    return formatKey(decodeKey(key));
  } catch {
    return `bytes ${[...key].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }
}
