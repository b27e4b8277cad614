import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { FileFailedError } from "../../errors/inspect-errors.js";
import { LineOutput } from "../entries/line-output.js";
import { openForWriting } from "./file-streams.js";
import { writeWholeFile } from "./whole-file.js";

/** `none` if the previous file was kept, `unread` if the reader closed the other end. */
export type ExportOutcome = "all" | "some" | "none" | "unread";

export interface ExportTarget {
  /** Aborting the signal must end `lines`. */
  write(lines: AsyncIterable<string>, signal: AbortSignal): Promise<ExportOutcome>;
}

/**
 * Opens a path as a target. A file is written completely before it replaces an existing one. If the
 * path is a link, the link stays and the file that it leads to is replaced. A device or a named
 * pipe receives the lines one after the other.
 */
export async function openExportTarget(path: string): Promise<ExportTarget> {
  try {
    const found = await unlessMissing(stat(path));
    if (found !== undefined && !found.isFile()) {
      const output = new LineOutput(await openForWriting(path), path);
      return linesTarget(output, () => output.close());
    }
    const mode = found === undefined ? undefined : found.mode & 0o777;
    const file = { path: await followLinks(path), mode };
    return {
      write: async (lines, signal) =>
        (await writeWholeFile(file, lines, signal)) ? "all" : "none",
    };
  } catch (error) {
    throw new FileFailedError({ path }, error);
  }
}

/** @param end called after the last line. */
export function linesTarget(output: LineOutput, end: () => Promise<void>): ExportTarget {
  return {
    write: async (lines, signal) => {
      for await (const line of lines) {
        await output.write(line);
        if (output.isEnded) break;
      }
      await end();
      if (output.isEnded) return "unread";
      return signal.aborted ? "some" : "all";
    },
  };
}

async function followLinks(path: string): Promise<string> {
  const real = await unlessMissing(realpath(path));
  if (real !== undefined) return real;
  const found = await unlessMissing(lstat(path));
  if (!found?.isSymbolicLink()) return path;
  return await followLinks(resolve(await realpath(dirname(path)), await readlink(path)));
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
