import {
  denoOrder,
  isKeywrightError,
  type KeyOrder,
  type Kv,
  type KvLimits,
  type KvView,
  specificationOrder,
  TurnLine,
  type Turns,
} from "@keywright/core";

/** Deno KV's limits, the lowest of all its releases, for databases that state none. */
export const defaultLimits: KvLimits = {
  keyBytes: 2048,
  valueBytes: 65_536,
  keys: 10,
  batchSize: 500,
  watchedKeys: 10,
  checks: 10,
  mutations: 1000,
  totalMutationBytes: 819_200,
  totalKeyBytes: 81_920,
};

/** The reads of a database, of a transaction, or of one state of a database. */
export type KvReads = Pick<Kv, "get" | "getMany" | "list" | "pages">;

type ExtendedKv = Kv & {
  readonly limits?: KvLimits;
  readonly isShared?: boolean;
  readonly lastVersionstamp?: string | undefined;
};

/** In which ways a database differs from others with the interface `Kv`. */
export class Capabilities {
  readonly limits: KvLimits;
  /** True if entries have their expiry times, as those of databases that state their limits do. */
  readonly returnsExpiry: boolean;
  readonly #kv: ExtendedKv;
  #keyOrder: KeyOrder | undefined;
  #turns: Turns | undefined;
  /** False if a view was opened and had to be waited for. */
  #mayOpenView = true;

  constructor(kv: ExtendedKv) {
    this.#kv = kv;
    this.limits = kv.limits ?? defaultLimits;
    this.returnsExpiry = kv.limits !== undefined;
  }

  /** True if only this process uses the database now, as far as the database tells. */
  get isLocal(): boolean {
    return this.returnsExpiry && this.#kv.isShared !== true;
  }

  /**
   * Opens reads of one state of the database: that of the first read, if the database asks a server
   * for it. Returns undefined if it has none, or if they have to be waited for.
   */
  openView(): KvView | undefined {
    if (!this.#mayOpenView) return undefined;
    const view = this.#kv.openView?.({ atFirstRead: true });
    if (view !== undefined && !(view instanceof Promise)) return view;
    this.#mayOpenView = false;
    view?.then(
      (late) => late?.close(),
      () => undefined,
    );
    return undefined;
  }

  /** False if {@link openView} returns undefined. */
  get hasViews(): boolean {
    return this.#mayOpenView && this.#kv.openView !== undefined;
  }

  /** True if many entries can be read as pages. */
  get hasPages(): boolean {
    return this.#kv.pages !== undefined;
  }

  /** True if pages are read without a promise. Two of them, one after another, see one state. */
  get listsAtOnce(): boolean {
    return this.#kv.pages?.listsAtOnce === true;
  }

  /** The last commit, if two reads of keys with the same one before them see the same state. */
  get lastVersionstamp(): string | undefined {
    return this.#kv.lastVersionstamp;
  }

  /** True if a transaction can notice what others add to a range that it has read. */
  get checksRanges(): boolean {
    return this.#kv.checksRanges === true && this.#mayOpenView;
  }

  /** The line of the database, or one of this object if the database has none. */
  get turns(): Turns {
    this.#turns ??= this.#kv.turns ?? new TurnLine();
    return this.#turns;
  }

  get keyOrder(): KeyOrder {
    this.#keyOrder ??= findKeyOrder(this.#kv);
    return this.#keyOrder;
  }
}

/**
 * Tests the order with a range from a bigint to a number. If numbers sort before bigints, its start
 * is after its end, and `list` refuses it. Nothing is read.
 */
function findKeyOrder(kv: Kv): KeyOrder {
  try {
    kv.list({ start: [0n], end: [0] });
    return denoOrder;
  } catch (error) {
    // The database may belong to another copy of the package, which has classes of its own.
    if (isKeywrightError(error) && error.code === "KW_SELECTOR_INVALID") return specificationOrder;
    throw error;
  }
}

const known = new WeakMap<Kv, Capabilities>();
/** The property of objects that have the capabilities of another one. */
const shared: unique symbol = Symbol("capabilities");

export function capabilitiesOf(kv: Kv & { readonly [shared]?: Capabilities }): Capabilities {
  if (kv[shared] !== undefined) return kv[shared];
  let capabilities = known.get(kv);
  if (capabilities === undefined) {
    capabilities = new Capabilities(kv);
    known.set(kv, capabilities);
  }
  return capabilities;
}

/** Records that an object reads and writes another database, and so has its capabilities. */
export function shareCapabilities(kv: Kv, database: Kv): void {
  // A property, because an entry of a `WeakMap` for each transaction would cost more.
  (kv as { [shared]?: Capabilities })[shared] = capabilitiesOf(database);
}
