import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import type Typescript from "typescript";

/** What a program saw of the disk. */
export interface SeenFiles {
  /** The hash of the content of each file that was read, or null if there was none. */
  readonly contents: Readonly<Record<string, string | null>>;
  /** True for paths of files that exist, false for those that were looked for in vain. */
  readonly files: Readonly<Record<string, boolean>>;
  readonly folders: Readonly<Record<string, boolean>>;
  /** The real paths of symbolic links. */
  readonly links: Readonly<Record<string, string>>;
}

/** Records what the compiler sees of the disk, also where it finds nothing. */
export class FileTrace {
  readonly #restore: () => void;
  readonly #seen = {
    contents: {} as Record<string, string | null>,
    files: {} as Record<string, boolean>,
    folders: {} as Record<string, boolean>,
    links: {} as Record<string, string>,
  };
  #isComplete = true;

  /** @param sys the functions of the compiler, which are replaced until `stop`. */
  constructor(sys: Typescript.System) {
    const { readFile, fileExists, directoryExists, realpath, readDirectory, getDirectories } = sys;
    const { contents, files, folders, links } = this.#seen;
    this.#restore = () => {
      Object.assign(sys, { readFile, fileExists, directoryExists, realpath });
      Object.assign(sys, { readDirectory, getDirectories });
    };
    sys.readFile = (path, encoding) => {
      const text = readFile(path, encoding);
      contents[path] = text === undefined ? null : hashOf(path);
      return text;
    };
    sys.fileExists = (path) => (files[path] ??= fileExists(path));
    sys.directoryExists = (path) => (folders[path] ??= directoryExists(path));
    if (realpath !== undefined) sys.realpath = (path) => (links[path] ??= realpath(path));
    // Which files a folder has cannot be compared as cheaply.
    sys.readDirectory = (...args) => {
      this.#isComplete = false;
      return readDirectory(...args);
    };
    sys.getDirectories = (path) => {
      this.#isComplete = false;
      return getDirectories(path);
    };
  }

  /** Ends the recording. Returns undefined if it is not complete. */
  stop(): SeenFiles | undefined {
    this.#restore();
    return this.#isComplete ? this.#seen : undefined;
  }
}

/** True if a program would see the same again. */
export function isUnchanged({ contents, files, folders, links }: SeenFiles): boolean {
  return (
    holds(files, (path) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false) &&
    holds(folders, (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false) &&
    holds(links, realPathOf) &&
    holds(contents, hashOf)
  );
}

function holds<T>(expected: Readonly<Record<string, T>>, actual: (path: string) => T): boolean {
  return Object.entries(expected).every(([path, value]) => actual(path) === value);
}

function hashOf(path: string): string | null {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("base64");
  } catch {
    return null;
  }
}

/** Returns the real path, or the path itself if there is none, as the compiler does. */
function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
