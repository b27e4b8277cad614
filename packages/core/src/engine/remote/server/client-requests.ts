import { LimitExceededError, ReadOnlyError } from "../../../errors/core-errors.js";
import type {
  Engine,
  EngineLimits,
  MaybePromise,
  ReadView,
  StoredEntry,
  WriteOutcome,
} from "../../engine.js";
import { postponed } from "../../turns.js";
import { clientIdBytes, withoutCommitIds } from "../commit-ids.js";
import {
  bytesOf,
  type Greeting,
  keyOf,
  listOf,
  malformed,
  maxKeys,
  numberOf,
  protocolVersion,
  type Report,
  rangeOf,
  turnOf,
  type WireFileProgress,
  wireEntry,
  writeOf,
} from "../messages.js";
import { type WireError, wireError } from "../wire-error.js";
import { BufferedBytes } from "./buffered-bytes.js";
import { readMany } from "./read-many.js";
import type { Access, ConnectionHost } from "./served-database.js";
import { ServedQueue } from "./served-queue.js";
import { ServedTurns, type TurnAnswer } from "./served-turns.js";
import { ServedViews } from "./served-views.js";
import { ServedWatches } from "./served-watches.js";

/**
 * At most this many keys are read at once. More keys are read in parts, until the bytes of their
 * values reach the limit of a range.
 */
const fewKeys = 16;
const maxEntries = 10_000;

/** The connection of a client, as its requests use it. */
export interface ClientChannel {
  /** The bytes that the client has sent. */
  readonly bytesReceived: number;
  /** True if the client has not read what was sent to it. */
  readonly isSlow: boolean;
  report(report: Report, ...args: unknown[]): void;
  /** Runs a read when the client has room for its answer. */
  read<T>(read: () => Promise<T>): Promise<T>;
  /** Waits for an answer that does not count toward the requests that a client may have. */
  waitFor<T>(answer: Promise<T>): Promise<T>;
  destroy(): void;
}

/** Answers the requests of one client, which `messages.ts` describes. */
export class ClientRequests {
  readonly #channel: ClientChannel;
  readonly #server: ConnectionHost;
  readonly #access: Access;
  readonly #watches: ServedWatches;
  readonly #views: ServedViews;
  /** Undefined if another process has the line for turns. */
  readonly #turns: ServedTurns | undefined;
  readonly #queue: ServedQueue;
  #clientId: Uint8Array | undefined;
  #showsLife = true;
  #isLeaving = false;

  constructor(channel: ClientChannel, server: ConnectionHost, access: Access) {
    this.#channel = channel;
    this.#server = server;
    this.#access = access;
    const { changes, database } = server;
    const watched = access.watched ?? new BufferedBytes(Number.POSITIVE_INFINITY);
    this.#watches = new ServedWatches(changes, watched, {
      isSlow: () => channel.isSlow,
      send: (id, keys) => channel.report("changed", id, keys, changes.counter),
    });
    const { engine, turns } = database;
    this.#views = new ServedViews(engine);
    this.#turns = turns && new ServedTurns(turns, engine, () => channel.bytesReceived);
    this.#queue = new ServedQueue(database, {
      message: (...message) => channel.report("message", ...message),
      ended: (id, error) =>
        channel.report("listenerEnded", id, error === undefined ? null : wireError(error)),
    });
  }

  /** True if a client that sends nothing is gone. Those of older versions are silent for long. */
  get showsLife(): boolean {
    return this.#showsLife;
  }

  /** True if the client waits for its turn. */
  get isAwaitingTurn(): boolean {
    return this.#turns?.isAwaited === true;
  }

  /** @throws {FrameError} if the request is not one of the protocol. */
  answer(call: unknown, args: readonly unknown[]): unknown {
    if (call === "hello") return this.#hello(args);
    if (this.#clientId === undefined) throw malformed();
    const { engine } = this.#server.database;
    switch (call) {
      case "get":
        return this.#get(engine, args);
      case "getMany":
        return this.#getMany(args[0]);
      case "range":
        return this.#range(engine, args);
      case "openView":
        if (engine.openView === undefined) throw malformed();
        return this.#views.open(numberOf(args[0]));
      case "viewGet":
        return this.#views.use(numberOf(args[0]), (view) => this.#get(view, args.slice(1)));
      case "viewGetMany":
        return this.#views.use(numberOf(args[0]), (view) => this.#getMany(args[1], view));
      case "viewRange":
        return this.#views.use(numberOf(args[0]), (view) => this.#range(view, args.slice(1)));
      case "closeView":
        this.#views.close(numberOf(args[0]));
        return null;
      case "commit":
        return this.#commit(this.#clientId, args);
      case "watch":
      case "watchRanges":
        this.#watches.add(call, numberOf(args[0]), args[1], numberOf(args[2]));
        return null;
      case "unwatch":
        this.#watches.remove(numberOf(args[0]));
        return null;
      case "listen":
        return this.#listen(numberOf(args[0]), args[1] === true);
      case "unlisten":
        return this.#queue.unlisten(numberOf(args[0])).then(() => null);
      case "delivered":
        this.#queue.delivered(numberOf(args[0]), args[1] === true);
        return null;
      case "verifyFiles":
        return this.#verifyFiles();
      case "takeTurn":
        return this.#takeTurn(args);
      case "endTurn":
        this.#turns?.end(numberOf(args[0]));
        return null;
      case "bye":
        this.#isLeaving = true;
        return null;
      default:
        throw malformed();
    }
  }

  /** Sends the changes that waited for the client to read. */
  flush(): void {
    this.#watches.flush();
  }

  /** Ends all that the client has open. */
  close(): void {
    this.#views.closeAll();
    this.#turns?.endAll();
    this.#watches.removeAll();
    this.#queue.end();
    if (this.#clientId !== undefined) this.#server.leave(this.#clientId, this.#isLeaving);
  }

  #hello([version, clientId, options]: readonly unknown[]): Greeting {
    const id = bytesOf(clientId);
    if (this.#clientId !== undefined || id.length !== clientIdBytes) throw malformed();
    const { database, instance } = this.#server;
    const { engine, mode } = database;
    if (version === protocolVersion) {
      this.#clientId = id.slice();
      this.#showsLife = (options as { showsLife?: unknown } | undefined)?.showsLife === true;
      this.#server.join(this.#clientId, () => this.#channel.destroy());
    }
    return {
      version: protocolVersion,
      instance,
      pid: process.pid,
      mode,
      limits: servedLimits(engine),
      hasViews: engine.openView !== undefined,
      opensViewsAtOnce: true,
      checksRanges: engine.checksRanges === true,
      queuesTurns: this.#turns !== undefined && this.#access.canWrite,
      maxMessageBytes: this.#access.maxMessageBytes,
    };
  }

  #get(reads: Pick<ReadView, "get">, [key]: readonly unknown[]): MaybePromise<unknown> {
    const read = reads.get(keyOf(key));
    return read instanceof Promise ? read.then(wireEntry) : wireEntry(read);
  }

  /** @param view the view of the client, or else one that is opened for more than a few keys. */
  #getMany(list: unknown, view?: ReadView): MaybePromise<unknown> {
    const keys = listOf(list).map(keyOf);
    if (keys.length > maxKeys) throw new LimitExceededError("keys", maxKeys, keys.length);
    const wire = (entries: readonly (StoredEntry | undefined)[]) => entries.map(wireEntry);
    const { engine } = this.#server.database;
    if (keys.length <= fewKeys) {
      const read = (view ?? engine).getMany(keys);
      return read instanceof Promise ? read.then(wire) : wire(read);
    }
    return this.#channel.read(async () => {
      if (view !== undefined) return wire(await readMany(view, keys));
      if (engine.openView === undefined) return wire(await engine.getMany(keys));
      const own = await engine.openView();
      try {
        return wire(await readMany(own, keys));
      } finally {
        own.close();
      }
    });
  }

  #range(
    reads: Pick<ReadView, "getRange">,
    [wireRange, wireLimit, reverse]: readonly unknown[],
  ): Promise<unknown[]> {
    const limit = Math.max(1, Math.floor(numberOf(wireLimit)));
    if (limit > maxEntries) throw new LimitExceededError("batchSize", maxEntries, limit);
    const range = withoutCommitIds(rangeOf(wireRange));
    return this.#channel.read(async () => {
      const entries = await reads.getRange({ range, limit, reverse: reverse === true });
      return entries.map((entry) => [entry.key, ...wireEntry(entry)!]);
    });
  }

  #listen(id: number, sync: boolean): null {
    if (this.#access.canWrite) this.#queue.listen(id, sync);
    else this.#channel.report("listenerEnded", id, wireError(new ReadOnlyError("listenQueue")));
    return null;
  }

  #commit(clientId: Uint8Array, [group, wire, isRepeated]: readonly unknown[]): unknown {
    const list = listOf(wire);
    const request = {
      group: numberOf(group),
      writes: list.map(writeOf),
      turns: list.map(turnOf),
      isRepeated: isRepeated === true,
    };
    if (!this.#access.canWrite) throw new ReadOnlyError("commit");
    return this.#server.commit(clientId, request).then((outcomes) => {
      for (const [i, turn] of request.turns.entries())
        if (turn !== undefined && typeof outcomes[i] === "string") this.#turns?.end(turn);
      return outcomes.map(wireOutcome);
    });
  }

  /** Takes a turn. A client that waits for it can send any number of other requests. */
  #takeTurn([number, reads, writes]: readonly unknown[]): Promise<TurnAnswer> {
    if (this.#turns === undefined || !this.#access.canWrite) throw malformed();
    return this.#channel.waitFor(this.#turns.take(numberOf(number), reads, writes));
  }

  async #verifyFiles(): Promise<unknown> {
    const { engine } = this.#server.database;
    return await engine.verifyFiles?.(({ done, total = done }) => {
      const progress: WireFileProgress = {
        files: 0,
        filesTotal: 0,
        bytes: done,
        bytesTotal: total,
      };
      this.#channel.report("fileProgress", progress);
    });
  }
}

/** Returns false for a postponed write. */
function wireOutcome(outcome: WriteOutcome): string | null | false | WireError {
  if (outcome === postponed) return false;
  return outcome instanceof Error ? wireError(outcome) : outcome;
}

/** Without views, a client cannot divide a read of many keys. */
function servedLimits({ limits, openView }: Engine): EngineLimits {
  if (openView !== undefined) return limits;
  return { ...limits, keys: Math.min(limits.keys ?? maxKeys, maxKeys) };
}
