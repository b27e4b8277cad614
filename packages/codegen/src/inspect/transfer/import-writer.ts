import { createHash } from "node:crypto";
import { type Kv, type KvKey, type KvLimits, KvU64 } from "@keywright/core";
import { ImportRefusedError } from "../../errors/inspect-errors.js";
import { formatKey } from "../entries/format-key.js";
import {
  determineFates,
  type Fate,
  type ImportedEntry,
  type StoredEntry,
} from "./determine-fates.js";

export interface ImportSettings {
  readonly overwrite?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface ImportCounts extends Readonly<Record<Fate, number>> {
  /** The keys of the first refused entries, at most 10. */
  readonly refusedKeys: readonly KvKey[];
}

/** The limits of Deno KV, for databases that report none, and the maximum for others. */
const batchLimits = {
  keys: 10,
  checks: 10,
  mutations: 1000,
  totalMutationBytes: 819_200,
  totalKeyBytes: 81_920,
};
/** A reserve of a quarter, because another database's encoding may be longer. */
const usedShare = 0.75;
const maxListed = 10;

/** Collects entries and writes them in commits that fit the limits of the database. */
export class ImportWriter {
  readonly #kv: Kv;
  readonly #settings: ImportSettings;
  readonly #limits: typeof batchLimits;
  readonly #tellsExpiry: boolean;
  readonly #u64Values: U64Values;
  readonly #dryRunWrites: DryRunWrites | undefined;
  readonly #counts = { created: 0, replaced: 0, unchanged: 0, expired: 0, refused: 0 };
  readonly #refusedKeys: KvKey[] = [];
  #pending = new Map<string, ImportedEntry>();
  #pendingBytes = 0;
  #pendingKeyBytes = 0;

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

  /** Adds an entry. First writes the entries before it if they leave no room for it. */
  async add(entry: ImportedEntry): Promise<void> {
    const id = entry.encodedKey.toString("latin1");
    const bytes = entry.encodedKey.length + entry.encodedValue.length;
    if (!this.#hasRoom(bytes, entry.encodedKey.length) || this.#pending.has(id)) {
      await this.flush();
    }
    this.#pending.set(id, entry);
    this.#pendingBytes += bytes;
    this.#pendingKeyBytes += entry.encodedKey.length;
  }

  async flush(): Promise<void> {
    const entries = [...this.#pending.values()];
    this.#pending = new Map();
    this.#pendingBytes = 0;
    this.#pendingKeyBytes = 0;
    if (entries.length > 0) await this.#write(entries);
  }

  #hasRoom(bytes: number, keyBytes: number): boolean {
    const { mutations, checks, totalMutationBytes, totalKeyBytes } = this.#limits;
    return (
      this.#pending.size < (this.#settings.overwrite ? mutations : Math.min(mutations, checks)) &&
      this.#pendingBytes + bytes <= totalMutationBytes &&
      this.#pendingKeyBytes + keyBytes <= totalKeyBytes
    );
  }

  /** Writes entries in one commit. If the database does not accept it, writes them in halves. */
  async #write(entries: readonly ImportedEntry[]): Promise<void> {
    try {
      await this.#writeTogether(entries);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [{ line, key }] = entries as [ImportedEntry];
      if (entries.length === 1) throw new ImportRefusedError({ line, key: formatKey(key) }, error);
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
      wouldBeStored: (entry: ImportedEntry) => this.#dryRunWrites?.entryFor(entry),
    };
    for (;;) {
      const fates = await determineFates(this.#kv, entries, settings);
      const written = entries.filter((_, index) => isWritten(fates[index]!));
      // The commit fails if another program has written one of the keys. The fates are then
      // determined again.
      if (written.length > 0 && !(await this.#commit(written, !overwrite))) continue;
      for (const [index, fate] of fates.entries()) this.#count(fate, entries[index]!.key);
      return;
    }
  }

  async #commit(entries: readonly ImportedEntry[], mustBeAbsent: boolean): Promise<boolean> {
    if (this.#dryRunWrites !== undefined) {
      for (const entry of entries) this.#dryRunWrites.add(entry);
      return true;
    }
    const operation = this.#kv.atomic();
    for (const { key, value, expireAt } of entries) {
      if (mustBeAbsent) operation.check({ key, versionstamp: null });
      // The entry may have expired since its fate was determined. Then it lives for a moment.
      const expireIn = expireAt && Math.max(expireAt - Date.now(), 1);
      const stored = await this.#u64Values.toStorable(value);
      operation.set(key, stored, expireIn === undefined ? {} : { expireIn });
    }
    return (await operation.commit()).ok;
  }

  #count(fate: Fate, key: KvKey): void {
    this.#counts[fate]++;
    if (fate === "refused" && this.#refusedKeys.length < maxListed) this.#refusedKeys.push(key);
  }
}

function isWritten(fate: Fate): boolean {
  return fate === "created" || fate === "replaced";
}

function limitsOf(reported: KvLimits | undefined): typeof batchLimits {
  const countLimit = (name: keyof typeof batchLimits) =>
    reported === undefined ? batchLimits[name] : Math.min(reported[name], batchLimits.mutations);
  const byteLimit = (name: "totalMutationBytes" | "totalKeyBytes") =>
    Math.min(reported?.[name] ?? Number.POSITIVE_INFINITY, batchLimits[name]) * usedShare;
  return {
    keys: countLimit("keys"),
    checks: countLimit("checks"),
    mutations: countLimit("mutations"),
    totalMutationBytes: byteLimit("totalMutationBytes"),
    totalKeyBytes: byteLimit("totalKeyBytes"),
  };
}

function isRefusal(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  // `@deno/kv` reports violated limits with this code.
  return (error as { code?: unknown } | undefined)?.code === "GenericFailure";
}

type U64Class = new (value: bigint) => object;

/** The key of the number that is written to find out its class. */
const probeKey: KvKey = ["__keywright", "import", "u64"];

/**
 * Converts values to those that a database accepts. Each implementation has its own class of 64-bit
 * integers and rejects the others. It may not export that class, but numbers that are read from it
 * are instances.
 */
class U64Values {
  readonly #kv: Kv;
  #class: U64Class | undefined;

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  /** Returns a value with which `set` stores the input. */
  async toStorable(value: unknown): Promise<unknown> {
    if (!(value instanceof KvU64)) return value;
    this.#class ??= "limits" in this.#kv ? KvU64 : await this.#probe();
    return new this.#class(value.value);
  }

  async #probe(): Promise<U64Class> {
    await this.#kv.atomic().sum(probeKey, 0n).commit();
    const { value } = await this.#kv.get<object>(probeKey);
    await this.#kv.delete(probeKey);
    return (value as object).constructor as U64Class;
  }
}

/** A file may contain a key twice. Stores digests, because values may not fit in memory. */
class DryRunWrites {
  readonly #written = new Map<
    string,
    { readonly digest: string; readonly expireAt: number | undefined }
  >();

  add({ encodedKey, encodedValue, expireAt }: ImportedEntry): void {
    this.#written.set(encodedKey.toString("latin1"), { digest: digestOf(encodedValue), expireAt });
  }

  entryFor({ encodedKey }: ImportedEntry): StoredEntry | undefined {
    const written = this.#written.get(encodedKey.toString("latin1"));
    if (written === undefined) return undefined;
    const { digest, expireAt } = written;
    return { hasValue: (encodedValue) => digestOf(encodedValue) === digest, expireAt };
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}
