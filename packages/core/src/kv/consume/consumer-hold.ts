import { hostname, pid, randomUUID } from "#platform";
import type { AtomicWrite, Engine, StoredEntry, StoredMutation } from "../../engine/engine.js";
import { consumerLeaseKey, consumerPositionKey } from "../../engine/log/consumer-keys.js";
import { ConsumerLostError } from "../../errors/log-errors.js";
import {
  type ConsumerLease,
  decodeLease,
  decodePosition,
  encodeLease,
  encodePosition,
} from "./consumer-records.js";

/** Where the positions and leases of consumers are stored. */
export interface ConsumerStore {
  readonly engine: Engine;
  readonly commit: (write: AtomicWrite) => Promise<string | null>;
}

let idOfProcess: string | undefined;
/**
 * Identifies this process among those that have the database open. Drawn by the first call, because
 * workerd refuses random numbers while modules are loaded.
 */
export function currentProcess(): string {
  idOfProcess ??= randomUUID();
  return idOfProcess;
}

/** The calls of `consume` in this process that may hold a consumer. */
export const activeHolders: Set<string> = new Set();

/** A consumer that this process has. It renews the lease until it is released or lost. */
export class ConsumerHold {
  readonly name: string;
  /** Aborted when another process has taken the consumer over, or may have. */
  readonly lost: AbortSignal;
  readonly #store: ConsumerStore;
  readonly #lease: ConsumerLease;
  readonly #losing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #position: string;
  /** The versionstamps of the entries of the position and of the lease. */
  #positionVersion: string;
  #leaseVersion: string;
  #heldUntil: number;
  #storedAt = performance.now();
  #renewing: Promise<void> | undefined;
  /** Changes of the position happen one after another. */
  #work: Promise<unknown> = Promise.resolve();

  private constructor(
    store: ConsumerStore,
    name: string,
    lease: ConsumerLease,
    stored: { readonly position: string; readonly versionstamp: string; readonly at: number },
  ) {
    this.name = name;
    this.lost = this.#losing.signal;
    this.#store = store;
    this.#lease = lease;
    this.#position = stored.position;
    this.#positionVersion = stored.versionstamp;
    this.#leaseVersion = stored.versionstamp;
    this.#heldUntil = stored.at + lease.timeToLive;
    this.#timer = setInterval(() => this.#renewSoon(), lease.timeToLive / 3);
  }

  /**
   * Takes a consumer if its entries are as they were read. Returns undefined if they have changed.
   *
   * @param position the position of a new consumer, or the one that is stored.
   */
  static async take(
    store: ConsumerStore,
    name: string,
    position: string,
    versions: readonly [position: string | null, lease: string | null],
    timeToLive: number,
  ): Promise<ConsumerHold | undefined> {
    const holder = randomUUID();
    const lease = { holder, process: currentProcess(), host: hostname(), pid, timeToLive };
    const [positionKey, leaseKey] = [consumerPositionKey(name), consumerLeaseKey(name)];
    const at = performance.now();
    activeHolders.add(holder);
    let versionstamp: string | null = null;
    try {
      versionstamp = await store.commit({
        checks: [
          { key: positionKey, versionstamp: versions[0] },
          { key: leaseKey, versionstamp: versions[1] },
        ],
        mutations: [
          { type: "set", key: positionKey, value: encodePosition({ position, holder }) },
          { type: "set", key: leaseKey, value: encodeLease(lease) },
        ],
        sync: versions[0] === null,
      });
    } finally {
      if (versionstamp === null) activeHolders.delete(holder);
    }
    if (versionstamp === null) return undefined;
    return new ConsumerHold(store, name, lease, { position, versionstamp, at });
  }

  /** The versionstamp of the last commit that was handled. */
  get position(): string {
    return this.#position;
  }

  /** Milliseconds until the position should be stored, if commits of no interest were passed. */
  get dueIn(): number {
    return this.#storedAt + this.#lease.timeToLive / 3 - performance.now();
  }

  /** @throws {ConsumerLostError} if this process no longer has the consumer. */
  assertHeld(): void {
    if (this.lost.aborted) throw this.lost.reason;
  }

  /** Moves the position without other writes. */
  advance(position: string): Promise<void> {
    return this.#next(async () => {
      while (this.#position < position) {
        // A power cut may undo it. The commits since then are then handled again.
        await this.#commit({ checks: [], mutations: [], sync: false }, position);
      }
    });
  }

  /**
   * Commits a write and moves the position with it. Returns null if a check of the write failed.
   *
   * @throws {ConsumerLostError} if this process no longer has the consumer, or if the position has
   * already been moved past the commit. Nothing was written.
   */
  commit(write: AtomicWrite, position: string): Promise<string | null> {
    return this.#next(async () => {
      if (this.#position >= position) throw new ConsumerLostError(this.name, "advanced");
      const versionstamp = await this.#commit(write, position);
      if (versionstamp === null && this.#position >= position)
        throw new ConsumerLostError(this.name, "advanced");
      return versionstamp;
    });
  }

  /** Reads the position again. A commit whose answer was lost may have moved it. */
  refresh(): Promise<void> {
    return this.#next(() => this.#read());
  }

  /** Gives the consumer up, after the position was moved past commits that are of no interest. */
  async release(position: string): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    await this.#work;
    try {
      if (!this.lost.aborted) await this.#giveUp(position);
    } finally {
      activeHolders.delete(this.#lease.holder);
    }
  }

  async #giveUp(position: string): Promise<void> {
    const { name, holder } = { name: this.name, holder: this.#lease.holder };
    const [positionKey, leaseKey] = [consumerPositionKey(name), consumerLeaseKey(name)];
    const value = encodePosition({ position, holder });
    const mutations: StoredMutation[] = [{ type: "delete", key: leaseKey }];
    if (position > this.#position) mutations.push({ type: "set", key: positionKey, value });
    const checks = [
      { key: positionKey, versionstamp: this.#positionVersion },
      { key: leaseKey, versionstamp: this.#leaseVersion },
    ];
    await this.#store.commit({ checks, mutations, sync: false });
  }

  async #commit(write: AtomicWrite, position: string): Promise<string | null> {
    this.assertHeld();
    const key = consumerPositionKey(this.name);
    const value = encodePosition({ position, holder: this.#lease.holder });
    const versionstamp = await this.#store.commit({
      ...write,
      checks: [...write.checks, { key, versionstamp: this.#positionVersion }],
      mutations: [...write.mutations, { type: "set", key, value }],
    });
    if (versionstamp === null) await this.#read();
    else {
      this.#position = position;
      this.#positionVersion = versionstamp;
      this.#storedAt = performance.now();
    }
    return versionstamp;
  }

  async #read(): Promise<void> {
    this.assertHeld();
    const entry = await this.#store.engine.get(consumerPositionKey(this.name));
    const stored = entry && decodePosition(entry.value);
    if (stored?.holder !== this.#lease.holder) throw this.#lose(stored && "taken");
    this.#position = stored.position;
    this.#positionVersion = entry!.versionstamp;
  }

  #lose(reason: "taken" | "removed" = "removed"): ConsumerLostError {
    const error = new ConsumerLostError(this.name, reason);
    clearInterval(this.#timer);
    this.#losing.abort(error);
    return error;
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  #renewSoon(): void {
    this.#renewing ??= this.#renew()
      // The next renewal tries again, until the lease may be over.
      .catch(() => {
        if (performance.now() > this.#heldUntil) this.#lose("taken");
      })
      .finally(() => {
        this.#renewing = undefined;
      });
  }

  async #renew(): Promise<void> {
    const key = consumerLeaseKey(this.name);
    const value = encodeLease(this.#lease);
    const at = performance.now();
    const checks = [{ key, versionstamp: this.#leaseVersion }];
    const mutations = [{ type: "set", key, value }] as const;
    const renewed = await this.#store.commit({ checks, mutations, sync: false });
    if (renewed !== null) {
      this.#leaseVersion = renewed;
      this.#heldUntil = at + this.#lease.timeToLive;
      return;
    }
    const entry = await this.#store.engine.get(key);
    if (entry === undefined) {
      // Another process may have taken the consumer over and given it up since.
      const position = await this.#store.engine.get(consumerPositionKey(this.name));
      this.#lose(position === undefined ? "removed" : "taken");
    } else if (decodeLease(entry.value).holder !== this.#lease.holder) this.#lose("taken");
    // A renewal whose answer was lost may have been made.
    else this.#leaseVersion = entry.versionstamp;
  }
}

/** The entries of a consumer as they are stored. */
export interface StoredConsumer {
  readonly position: StoredEntry | undefined;
  readonly lease: StoredEntry | undefined;
}

export async function readConsumer(
  { engine }: Pick<ConsumerStore, "engine">,
  name: string,
): Promise<StoredConsumer> {
  const keys = [consumerPositionKey(name), consumerLeaseKey(name)];
  const [position, lease] = await engine.getMany(keys);
  return { position, lease };
}
