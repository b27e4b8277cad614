import { randomBytes } from "node:crypto";
import {
  DatabaseClosedError,
  LimitExceededError,
  ReadViewEndedError,
} from "../../../errors/core-errors.js";
import type { KeyRange } from "../../../keys/key-range.js";
import type {
  AtomicWrite,
  DatabaseOwner,
  Engine,
  EngineLimits,
  MaybePromise,
  OpenViewOptions,
  QueueListener,
  RangeListener,
  RangeRead,
  ReadView,
  StoredEntry,
  WriteOutcome,
} from "../../engine.js";
import type { FileReport } from "../../files/file-report.js";
import { keepAlive } from "../../keep-alive.js";
import type { DatabaseMode } from "../../level/database-header.js";
import { type Progress, ProgressMeter } from "../../progress.js";
import { type EndableView, OpenViews } from "../../read/open-views.js";
import { postponed } from "../../turns.js";
import { clientIdBytes } from "../commit-ids.js";
import {
  entryOf,
  type Greeting,
  maxKeys,
  maxWatchedBytes,
  plainBytes,
  protocolVersion,
  type WireEntry,
  type WireFileProgress,
  watchedBytes,
  wireRange,
  wireWrite,
} from "../messages.js";
import { errorOf, type WireError } from "../wire-error.js";
import { divideCommits } from "./divide-commits.js";
import { type Connect, Link, SilentOwnerError } from "./link.js";
import type { Unanswered } from "./pending-calls.js";
import { RemoteTurns } from "./remote-turns.js";
import { ownerName, unansweredError, versionError } from "./unanswered-error.js";

/** How often a read of many keys is begun again if the owner of the database changes. */
const mostAttempts = 3;

interface Watch {
  readonly call: "watch" | "watchRanges";
  readonly places: unknown;
  readonly onChange: (keys: readonly Uint8Array[] | undefined) => void;
  /** The number of the last change that was reported, or that was known when the watch began. */
  since: number;
}

interface Listener {
  readonly deliver: (value: Uint8Array) => Promise<void>;
  readonly sync: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface RemoteEngineOptions {
  readonly onClose?: () => Promise<void>;
  /** Returns the process that owns the database, if it can be known without its answer. */
  readonly findOwner?: () => Promise<number | undefined>;
  /** How long a call waits for an owner that does not answer, in milliseconds. */
  readonly patience?: number | undefined;
}

/** The engine of a database that another process owns. `engine-server.ts` is the other side. */
export class RemoteEngine implements Engine {
  readonly isShared = true;
  openView?: NonNullable<Engine["openView"]>;
  /** True if the owner is this process now. */
  hasTakenOver = false;
  readonly turns: RemoteTurns;
  readonly #link: Link;
  readonly #views = new OpenViews();
  readonly #watches = new Map<number, Watch>();
  readonly #listeners = new Map<number, Listener>();
  /** What the watches take in the owner. */
  #watchedBytes = 0;
  #nextId = 1;
  #group = 0;
  #greeting: Greeting | undefined;
  #onFileProgress: ((progress: WireFileProgress) => void) | undefined;
  readonly #onClose: () => Promise<void>;
  #isClosed = false;

  private constructor(connect: Connect, { onClose, patience }: RemoteEngineOptions) {
    this.#onClose = onClose ?? (async () => undefined);
    this.#link = new Link(
      connect,
      // The last one tells the owner that this client shows that it is there.
      [protocolVersion, randomBytes(clientIdBytes), { showsLife: true }],
      {
        onConnect: (greeting) => this.#onConnect(greeting),
        onReport: (report, args) => this.#onReport(report, args),
        errorOf: (call, cause) => this.#errorOf(call, cause),
        onOutage: (owner) => this.#warn(owner),
      },
      patience,
    );
    this.turns = new RemoteTurns(this.#link);
  }

  /**
   * Connects to the owner of a database. Rejects with the error of the stream.
   *
   * @throws {EngineUnavailableError} if the owner does not answer, or has another version.
   */
  static async open(connect: Connect, options: RemoteEngineOptions = {}): Promise<RemoteEngine> {
    const start = performance.now();
    const engine = new RemoteEngine(connect, options);
    try {
      const { hasViews } = await engine.#link.open();
      if (hasViews === true) engine.openView = (options) => engine.#openView(options);
      return engine;
    } catch (error) {
      if (!(error instanceof SilentOwnerError)) throw error;
      const pid = await options.findOwner?.();
      const waited = Math.round(performance.now() - start);
      throw unansweredError({ call: "hello", wasSent: false, waited, owner: "silent" }, pid);
    }
  }

  get limits(): EngineLimits {
    return this.#greeting!.limits;
  }

  get checksRanges(): boolean {
    return this.#greeting?.checksRanges === true;
  }

  get mode(): DatabaseMode {
    return this.#greeting!.mode;
  }

  get owner(): DatabaseOwner | undefined {
    return this.hasTakenOver ? undefined : { pid: this.#greeting!.pid };
  }

  /** True if another thread of this process owns the database. */
  get isOwnedByThread(): boolean {
    return this.#greeting?.pid === process.pid;
  }

  async get(key: Uint8Array): Promise<StoredEntry | undefined> {
    return entryOf(key, (await this.#link.call("get", key)) as WireEntry | null);
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(StoredEntry | undefined)[]> {
    if (keys.length <= maxKeys || this.openView === undefined) {
      const entries = entriesOf(keys, await this.#link.call("getMany", keys));
      if (entries.length === keys.length) return entries;
    }
    // More than one answer can have, so the parts are read from one view.
    for (let attempt = 1; ; attempt++) {
      const view = await this.#openView();
      try {
        return await view.getMany(keys);
      } catch (error) {
        const isLost = error instanceof ReadViewEndedError && attempt < mostAttempts;
        if (!isLost || this.#isClosed) throw error;
      } finally {
        view.close();
      }
    }
  }

  async getRange(read: RangeRead): Promise<StoredEntry[]> {
    return rangeEntriesOf(await this.#link.call("range", ...wireRead(read)));
  }

  async commit(writes: readonly AtomicWrite[]): Promise<WriteOutcome[]> {
    const outcomes: WriteOutcome[] = [];
    for (const group of divideCommits(writes, this.#greeting!.maxMessageBytes)) {
      const answer = await this.#commitGroup(group);
      for (const i of group.keys()) outcomes.push(Array.isArray(answer) ? answer[i]! : answer);
      if (Array.isArray(answer) || answer instanceof LimitExceededError) continue;
      // Later writes must not be applied without those that the owner may not have received.
      while (outcomes.length < writes.length) outcomes.push(answer);
      break;
    }
    return outcomes;
  }

  /** Returns an error if the owner has not answered. */
  async #commitGroup(writes: readonly AtomicWrite[]): Promise<WriteOutcome[] | Error> {
    const group = ++this.#group;
    try {
      const outcomes = await this.#link.call("commit", group, writes.map(wireWrite));
      return (outcomes as (string | null | false | WireError)[]).map((outcome, i) => {
        if (outcome === false) return postponed;
        const { turn } = writes[i]!;
        if (typeof outcome === "string" && turn !== undefined) this.turns.committed(turn);
        return typeof outcome === "object" && outcome !== null ? errorOf(outcome) : outcome;
      });
    } catch (error) {
      return error as Error;
    }
  }

  /**
   * The owner holds the state. It is freed there if this process ends. With `atFirstRead`, the
   * reads follow the request to open the view, and its answer is not waited for.
   */
  #openView({ atFirstRead = false }: OpenViewOptions = {}): MaybePromise<ReadView> {
    const id = this.#nextId++;
    const view = this.#viewOf(id);
    const opened = this.#link.call("openView", id).then((versionstamp) => {
      if (typeof versionstamp === "string") view.versionstamp = versionstamp;
      return view;
    });
    if (!atFirstRead || this.#greeting?.opensViewsAtOnce !== true) return opened;
    // Its reads fail too, and say why.
    opened.catch(() => undefined);
    return view;
  }

  #viewOf(id: number): EndableView {
    const link = this.#link;
    return this.#views.open(
      {
        get: async (key) => entryOf(key, (await link.call("viewGet", id, key)) as WireEntry | null),
        getMany: async (keys) => {
          const entries: (StoredEntry | undefined)[] = [];
          while (entries.length < keys.length) {
            const part = keys.slice(entries.length, entries.length + maxKeys);
            entries.push(...entriesOf(part, await link.call("viewGetMany", id, part)));
          }
          return entries;
        },
        getRange: async (read) =>
          rangeEntriesOf(await link.call("viewRange", id, ...wireRead(read))),
      },
      () => link.notify("closeView", id),
    );
  }

  watch(keys: readonly Uint8Array[], onChange: () => void): () => void {
    return this.#watch("watch", keys, onChange);
  }

  watchRanges(ranges: readonly KeyRange[], onChange: RangeListener): () => void {
    return this.#watch("watchRanges", ranges.map(wireRange), onChange);
  }

  async verifyFiles(onProgress: (progress: Progress<"checking">) => void): Promise<FileReport> {
    const meter = new ProgressMeter(onProgress);
    meter.begin("checking");
    this.#onFileProgress = ({ bytes, bytesTotal }) => meter.advance(bytes, bytesTotal);
    return (await this.#link.call("verifyFiles")) as FileReport;
  }

  listen(deliver: (value: Uint8Array) => Promise<void>, sync: boolean): QueueListener {
    const id = this.#nextId++;
    const letGo = keepAlive();
    const done = new Promise<void>((resolve, reject) => {
      this.#listeners.set(id, { deliver, sync, resolve, reject });
    }).finally(letGo);
    this.#link.notify("listen", id, sync);
    this.#keepConnected();
    const end = () => {
      if (!this.#listeners.has(id)) return;
      this.#link.call("unlisten", id).then(
        () => this.#endListener(id),
        () => this.#endListener(id),
      );
    };
    return { done, end };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#views.close();
    this.#watches.clear();
    for (const id of [...this.#listeners.keys()]) this.#endListener(id);
    this.turns.connect(false);
    this.#link.close();
    await this.#onClose();
  }

  #watch(call: Watch["call"], places: readonly unknown[], onChange: RangeListener): () => void {
    const id = this.#nextId++;
    const since = this.#link.counter;
    const bytes = watchedBytes(places);
    const total = this.#watchedBytes + bytes;
    if (total > maxWatchedBytes)
      throw new LimitExceededError("watchedBytes", maxWatchedBytes, total);
    this.#watchedBytes = total;
    this.#watches.set(id, { call, places, onChange, since });
    this.#link.notify(call, id, places, since);
    this.#keepConnected();
    return () => {
      if (!this.#watches.delete(id)) return;
      this.#watchedBytes -= bytes;
      this.#link.notify("unwatch", id);
      this.#keepConnected();
    };
  }

  #keepConnected(): void {
    this.#link.keepConnected(this.#watches.size > 0 || this.#listeners.size > 0);
  }

  /** Begins the watches and listeners again on a new connection. */
  #onConnect(greeting: Greeting): Error | undefined {
    if (greeting.version !== protocolVersion) return versionError();
    const isSame = this.#greeting?.instance === greeting.instance;
    this.#greeting = greeting;
    this.turns.connect(greeting.queuesTurns === true);
    for (const [id, watch] of this.#watches) {
      // Another owner has numbers of its own, also if this connection is lost before its report.
      if (!isSame) watch.since = -1;
      this.#link.notify(watch.call, id, watch.places, watch.since);
    }
    for (const [id, { sync }] of this.#listeners) this.#link.notify("listen", id, sync);
    return undefined;
  }

  #onReport(report: unknown, args: readonly unknown[]): void {
    switch (report) {
      case "changed": {
        const [id, keys, counter] = args as [number, readonly Uint8Array[] | null, number];
        const watch = this.#watches.get(id);
        if (watch === undefined) return;
        watch.since = counter;
        watch.onChange(keys?.map(plainBytes));
        return;
      }
      case "message": {
        const [id, delivery, value] = args as [number, number, Uint8Array];
        const deliver = this.#listeners.get(id)?.deliver ?? (() => Promise.reject(new Error()));
        const { connections } = this.#link;
        const settle = (isTaken: boolean) => {
          // On a later connection, the number would be that of another message.
          if (this.#link.connections === connections)
            this.#link.notify("delivered", delivery, isTaken);
        };
        deliver(plainBytes(value)).then(
          () => settle(true),
          () => settle(false),
        );
        return;
      }
      case "listenerEnded": {
        const [id, error] = args as [number, WireError | null];
        this.#endListener(id, error === null ? undefined : errorOf(error));
        return;
      }
      case "fileProgress":
        this.#onFileProgress?.(args[0] as WireFileProgress);
    }
  }

  #endListener(id: number, error?: unknown): void {
    const listener = this.#listeners.get(id);
    this.#listeners.delete(id);
    this.#keepConnected();
    if (error === undefined) listener?.resolve();
    else listener?.reject(error);
  }

  /** Says what watches and listeners wait for, because they have no error. */
  #warn(owner: Unanswered["owner"]): void {
    const waiting = [
      ...(this.#watches.size > 0 ? ["Watches"] : []),
      ...(this.#listeners.size > 0 ? ["listeners of its queue"] : []),
    ].join(" and ");
    const who = ownerName(this.#greeting?.pid);
    const state = owner === "gone" ? "has ended" : "does not answer";
    process.emitWarning(
      `${waiting} of a database wait: ${who} ${state}. They continue when there is an answer.`,
      { type: "KeywrightWarning", code: "KW_ENGINE_UNAVAILABLE" },
    );
  }

  #errorOf(call: Unanswered, cause?: Error): Error {
    if (this.#isClosed) return new DatabaseClosedError(call.call);
    return unansweredError(call, this.#greeting?.pid, cause);
  }
}

function wireRead({ range, limit, reverse }: RangeRead): unknown[] {
  // A limit may be infinite, which is a number that no message needs.
  return [wireRange(range), Math.min(limit, Number.MAX_SAFE_INTEGER), reverse];
}

function entriesOf(keys: readonly Uint8Array[], wire: unknown): (StoredEntry | undefined)[] {
  return (wire as (WireEntry | null)[]).map((entry, i) => entryOf(keys[i]!, entry));
}

function rangeEntriesOf(wire: unknown): StoredEntry[] {
  const entries = wire as [key: Uint8Array, ...entry: WireEntry][];
  return entries.map(([key, ...entry]) => entryOf(plainBytes(key), entry)!);
}
