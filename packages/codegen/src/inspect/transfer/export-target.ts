import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { FileFailedError } from "../../errors/inspect-errors.js";
import { LineOutput } from "../entries/line-output.js";
import { openForWriting } from "./file-streams.js";
import { writeWholeFile } from "./whole-file.js";

/** What is where lines went: all of them, some, or what was there before. `unread`: nobody reads them any more. */
export type Written = "all" | "some" | "none" | "unread";

/** Where an export goes. */
export interface ExportTarget {
  /**
   * Takes lines until there are no more, or the signal that ends them is aborted.
   *
   * @throws {FileFailedError} where they cannot be written, and what `lines` throws.
   */
  write(lines: AsyncIterable<string>, signal: AbortSignal): Promise<Written>;
}

/**
 * A path as a target. A file is written as a whole, and takes the place of one that is there; a link stays one, and what it leads
 * to is written. A device or a pipe takes the lines as they come.
 *
 * @throws {FileFailedError} where the file system refuses, as for a folder.
 */
export async function openExportTarget(path: string): Promise<ExportTarget> {
  try {
    const found = await unlessMissing(stat(path));
    if (found !== undefined && !found.isFile()) {
      const output = new LineOutput(await openForWriting(path), path);
      return linesTarget(output, () => output.close());
    }
    const mode = found === undefined ? undefined : found.mode & 0o777;
    const file = { path: await behindLinks(path), mode };
    return {
      write: async (lines, signal) =>
        (await writeWholeFile(file, lines, signal)) ? "all" : "none",
    };
  } catch (error) {
    throw new FileFailedError(path, error);
  }
}

/** @param end called behind the last line. */
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

/** The path of a file, or where a link that leads nowhere yet will lead to it. */
async function behindLinks(path: string): Promise<string> {
  const real = await unlessMissing(realpath(path));
  if (real !== undefined) return real;
  const found = await unlessMissing(lstat(path));
  if (!found?.isSymbolicLink()) return path;
  return await behindLinks(resolve(await realpath(dirname(path)), await readlink(path)));
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
