import type { Kv, KvKey, KvLimits } from "@keywright/core";
import { ImportRefusedError } from "../../errors/inspect-errors.js";
import { formatKey } from "../entries/format-key.js";
import { U64Values } from "../entries/u64-values.js";
import { DryRunWrites } from "./dry-run-writes.js";
import { type Fate, fatesOf, type ImportedEntry } from "./import-fates.js";

/** How entries are written. */
export interface ImportSettings {
  /** Entries take the place of others under their keys. Without it those stay. */
  readonly overwrite?: boolean | undefined;
  /** Nothing is written, and what would be is counted. */
  readonly dryRun?: boolean | undefined;
}

/** What became of the entries: how many had each fate. */
export interface ImportCounts extends Readonly<Record<Fate, number>> {
  /** The first of the keys that were refused, ten at the most. */
  readonly refusedKeys: readonly KvKey[];
}

/** What Deno KV takes at once, as databases do that do not tell. Commits are not made larger where more is taken. */
const denoLimits = {
  keys: 10,
  checks: 10,
  mutations: 1000,
  totalMutationBytes: 819_200,
  totalKeyBytes: 81_920,
};
/** Of the bytes: the rest is for values that are longer in the encoding of another database. */
const usedShare = 0.75;
const namedKeys = 10;

/** Gathers entries and writes them in commits that the database takes. */
export class ImportWriter {
  readonly #kv: Kv;
  readonly #settings: ImportSettings;
  readonly #limits: typeof denoLimits;
  readonly #tellsExpiry: boolean;
  readonly #u64Values: U64Values;
  readonly #dryRunWrites: DryRunWrites | undefined;
  readonly #counts = { created: 0, replaced: 0, unchanged: 0, expired: 0, refused: 0 };
  readonly #refusedKeys: KvKey[] = [];
  #gathered = new Map<string, ImportedEntry>();
  #gatheredBytes = 0;
  #gatheredKeyBytes = 0;

  constructor(kv: Kv & { readonly limits?: KvLimits }, settings: ImportSettings) {
    this.#kv = kv;
    this.#settings = settings;
    this.#limits = limitsOf(kv.limits);
    this.#tellsExpiry = kv.limits !== undefined;
    this.#u64Values = new U64Values(kv);
    this.#dryRunWrites = settings.dryRun ? new DryRunWrites() : undefined;
  }

  get counts(): ImportCounts {
    return { ...this.#counts, refusedKeys: [...this.#refusedKeys] };
  }

  /**
   * Takes an entry, after those before it are written where there is no room for it beside them.
   *
   * @throws {ImportRefusedError} where the database does not take one of those.
   */
  async add(entry: ImportedEntry): Promise<void> {
    const id = entry.encodedKey.toString("latin1");
    const bytes = entry.encodedKey.length + entry.encodedValue.length;
    if (!this.#hasRoom(bytes, entry.encodedKey.length) || this.#gathered.has(id)) {
      await this.flush();
    }
    this.#gathered.set(id, entry);
    this.#gatheredBytes += bytes;
    this.#gatheredKeyBytes += entry.encodedKey.length;
  }

  /**
   * Writes what was gathered.
   *
   * @throws {ImportRefusedError} where the database does not take an entry.
   */
  async flush(): Promise<void> {
    const entries = [...this.#gathered.values()];
    this.#gathered = new Map();
    this.#gatheredBytes = 0;
    this.#gatheredKeyBytes = 0;
    if (entries.length > 0) await this.#write(entries);
  }

  #hasRoom(bytes: number, keyBytes: number): boolean {
    const { mutations, checks, totalMutationBytes, totalKeyBytes } = this.#limits;
    return (
      this.#gathered.size < (this.#settings.overwrite ? mutations : Math.min(mutations, checks)) &&
      this.#gatheredBytes + bytes <= totalMutationBytes &&
      this.#gatheredKeyBytes + keyBytes <= totalKeyBytes
    );
  }

  /** Writes entries together or, where that is too much for the database, in halves. */
  async #write(entries: readonly ImportedEntry[]): Promise<void> {
    try {
      await this.#writeTogether(entries);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [{ line, key }] = entries as [ImportedEntry];
      if (entries.length === 1) throw new ImportRefusedError(line, formatKey(key), error);
      const middle = Math.ceil(entries.length / 2);
      await this.#write(entries.slice(0, middle));
      await this.#write(entries.slice(middle));
    }
  }

  async #writeTogether(entries: readonly ImportedEntry[]): Promise<void> {
    const { overwrite = false } = this.#settings;
    const settings = {
      overwrite,
      tellsExpiry: this.#tellsExpiry,
      keys: this.#limits.keys,
      wouldBeStored: (entry: ImportedEntry) => this.#dryRunWrites?.under(entry),
    };
    for (;;) {
      const fates = await fatesOf(this.#kv, entries, settings);
      const written = entries.filter((_, index) => isWritten(fates[index]!));
      // Where another has written to one of the keys meanwhile, its entry has another fate.
      if (written.length > 0 && !(await this.#commit(written, !overwrite))) continue;
      for (const [index, fate] of fates.entries()) this.#count(fate, entries[index]!.key);
      return;
    }
  }

  async #commit(entries: readonly ImportedEntry[], areNew: boolean): Promise<boolean> {
    if (this.#dryRunWrites !== undefined) {
      for (const entry of entries) this.#dryRunWrites.add(entry);
      return true;
    }
    const operation = this.#kv.atomic();
    for (const { key, value, expireAt } of entries) {
      if (areNew) operation.check({ key, versionstamp: null });
      // It may have expired since its fate was told, and lives on for a moment then.
      const expireIn = expireAt && Math.max(expireAt - Date.now(), 1);
      const own = await this.#u64Values.ownOf(value);
      operation.set(key, own, expireIn === undefined ? {} : { expireIn });
    }
    return (await operation.commit()).ok;
  }

  #count(fate: Fate, key: KvKey): void {
    this.#counts[fate]++;
    if (fate === "refused" && this.#refusedKeys.length < namedKeys) this.#refusedKeys.push(key);
  }
}

function isWritten(fate: Fate): boolean {
  return fate === "created" || fate === "replaced";
}

function limitsOf(own: KvLimits | undefined): typeof denoLimits {
  const least = (name: keyof typeof denoLimits) =>
    own === undefined ? denoLimits[name] : Math.min(own[name], denoLimits.mutations);
  const bytes = (name: "totalMutationBytes" | "totalKeyBytes") =>
    Math.min(own?.[name] ?? Number.POSITIVE_INFINITY, denoLimits[name]) * usedShare;
  return {
    keys: least("keys"),
    checks: least("checks"),
    mutations: least("mutations"),
    totalMutationBytes: bytes("totalMutationBytes"),
    totalKeyBytes: bytes("totalKeyBytes"),
  };
}

/** Whether the database does not take what it was given, as opposed to one that does not work. */
function isRefusal(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  // So `@deno/kv` reports its limits.
  return (error as { code?: unknown } | undefined)?.code === "GenericFailure";
}
