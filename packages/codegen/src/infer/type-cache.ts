import { createHash } from "node:crypto";
import { lstat, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { ImportExtension } from "../project/files/paths.js";
import { isUnchanged, type SeenFiles } from "./file-trace.js";

/** What the compiler knows about each model, in the order of the models. */
export interface KnownTypes {
  readonly references: readonly (readonly string[])[];
  readonly computed: readonly (readonly (readonly [index: string, type: string])[])[];
  readonly unread: readonly string[];
  readonly importExtension: ImportExtension;
}

interface Stored {
  readonly key: string;
  readonly seen: SeenFiles;
  readonly known: KnownTypes;
}

/**
 * Remembers what the compiler knows about the models of a project, because loading it and checking
 * takes some seconds. It is stored in `node_modules/.cache/keywright`, and valid as long as the
 * compiler would see the same files.
 */
export class TypeCache {
  readonly #path: string;
  readonly #key: string;

  /**
   * Returns the cache of a project, or undefined if the project has no folder `node_modules` of its
   * own.
   *
   * @param folder the folder of the generated files.
   * @param questions what the compiler is asked about the models.
   */
  static async find(folder: string, questions: unknown): Promise<TypeCache | undefined> {
    const modules = await modulesFolder(folder);
    if (modules === undefined) return undefined;
    const require = createRequire(import.meta.url);
    const versions = ["typescript/package.json", "../../package.json"].map(
      (name) => (require(name) as { readonly version: string }).version,
    );
    const text = JSON.stringify([versions, process.cwd(), folder, questions]);
    const key = createHash("sha256").update(text).digest("base64");
    return new TypeCache(join(modules, ".cache", "keywright", "types.json"), key);
  }

  private constructor(path: string, key: string) {
    this.#path = path;
    this.#key = key;
  }

  /** Returns what is stored, or undefined if something has changed since. */
  async read(): Promise<KnownTypes | undefined> {
    try {
      const { key, seen, known } = JSON.parse(await readFile(this.#path, "utf8")) as Stored;
      return key === this.#key && isUnchanged(seen) ? known : undefined;
    } catch {
      return undefined;
    }
  }

  /** Stores what the compiler has found. Does nothing if the folder cannot be written. */
  async write(seen: SeenFiles, known: KnownTypes): Promise<void> {
    const stored: Stored = { key: this.#key, seen, known };
    const draft = `${this.#path}-${process.pid}`;
    try {
      await mkdir(dirname(this.#path), { recursive: true });
      await writeFile(draft, JSON.stringify(stored));
      await rename(draft, this.#path);
    } catch {}
  }
}

/**
 * Returns the nearest `node_modules` that is a folder and not a link to that of another project.
 */
async function modulesFolder(folder: string): Promise<string | undefined> {
  const path = join(folder, "node_modules");
  const found = await lstat(path).catch(() => undefined);
  if (found !== undefined) return found.isDirectory() ? path : undefined;
  const above = dirname(folder);
  return above === folder ? undefined : await modulesFolder(above);
}
