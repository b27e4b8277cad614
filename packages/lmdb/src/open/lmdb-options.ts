import { InvalidOptionError } from "@keywright/core";

/** Options of `lmdbEngine`. */
export interface LmdbOptions {
  /**
   * The path of the file. LMDB keeps a second file next to it, with `-lock` at the end of its name,
   * and `openKv` a folder with `-owner` at the end of its name. All must be on a disk of this
   * machine.
   */
  readonly path: string;
  /** Creates a missing file. The default is true. */
  readonly createIfMissing?: boolean | undefined;
  /**
   * The number of reads of the file that can be open at the same time, in all threads of the
   * process that owns it. The default is 1,024.
   */
  readonly maxReaders?: number | undefined;
  /**
   * Checks all entries when the database is opened, and once a day: those of a file of up to 8 MiB
   * before it is open, those of a larger one in the background. The default is true.
   */
  readonly checkEntries?: boolean | undefined;
}

const names: ReadonlySet<string> = new Set([
  "path",
  "createIfMissing",
  "maxReaders",
  "checkEntries",
]);

/** @throws {InvalidOptionError} if an option is unknown or not valid. */
export function assertOptions(options: LmdbOptions): void {
  if (typeof options !== "object" || options === null)
    throw invalid("options", "must be an object");
  for (const name of Object.keys(options)) {
    if (!names.has(name))
      throw invalid(
        name,
        `is not an option${hintFor(name)}; the options are ${[...names].join(", ")}`,
      );
  }
  const { path, createIfMissing, maxReaders, checkEntries } = options;
  if (typeof path !== "string" || path === "") throw invalid("path", "must be the path of a file");
  for (const [name, value] of Object.entries({ createIfMissing, checkEntries }))
    if (value !== undefined && typeof value !== "boolean")
      throw invalid(name, "must be true or false");
  if (maxReaders !== undefined && !(Number.isInteger(maxReaders) && maxReaders > 0))
    throw invalid("maxReaders", "must be a whole number above 0");
}

/** The options that `openKv` has for all databases. */
function hintFor(name: string): string {
  return name === "readOnly" || name === "attach" ? " here, but of openKv" : "";
}

function invalid(option: string, reason: string): InvalidOptionError {
  return new InvalidOptionError(option, reason, "lmdbEngine");
}
