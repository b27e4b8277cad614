import { CommitQueue } from "../../engine/commit/commit-queue.js";
import type { AtomicWrite, Engine, QueueListener, Turns } from "../../engine/engine.js";
import type { DatabaseMode } from "../../engine/level/database-header.js";
import type { EngineServer } from "../../engine/remote/server/engine-server.js";
import type { ServedDatabase } from "../../engine/remote/server/served-database.js";
import { TurnLine } from "../../engine/turns.js";
import { denoOrder, specificationOrder } from "../../keys/key-order.js";
import { encodeValue } from "../../values/encode-value.js";
import { maxGroupSize } from "../../values/versionstamp.js";
import { dueAtOfHint, isHintKey } from "../expiry/expiry-hint.js";
import { ExpirySweeper } from "../expiry/expiry-sweeper.js";
import type { QueueHandler } from "../kv.js";
import { CommitLog } from "../log/commit-log.js";
import { isMessageKey } from "../queue/message-key.js";
import { MessageQueue } from "../queue/message-queue.js";
import { RemoteMessages } from "../queue/remote-messages.js";
import { checkForeignWrite } from "../write/check-foreign-write.js";
import { MoveFence } from "./marks/move-fence.js";
import { restoreMarkKey, unfinishedError } from "./marks/restore-mark.js";

/** What a user does with the database. */
export interface EngineUse {
  readonly readOnly: boolean;
  /** True if the database may have a restore that has not finished. */
  readonly isRestoring?: boolean | undefined;
  /** True if the database may have been moved to another place. */
  readonly allowMoved?: boolean | undefined;
}

/** What a process does for its database, unless another process owns it. */
interface OwnWork {
  readonly messages: MessageQueue;
  readonly sweeper: ExpirySweeper;
}

/** An engine with its commit queue, message queue and expiry sweeper, and a count of its users. */
export class SharedEngine {
  readonly engine: Engine;
  readonly mode: DatabaseMode;
  /**
   * Commits as {@link CommitQueue.commit} does, and logs the commit if the database keeps a log.
   */
  readonly commit: (write: AtomicWrite) => Promise<string | null>;
  readonly path: string | undefined;
  readonly log: CommitLog;
  /** Refuses commits while the database is moved to another place, and after that. */
  readonly fence: MoveFence;
  /** The line for turns, which all handles share. */
  readonly turns: Turns;
  /** The same, if this process has it. */
  readonly #line: TurnLine | undefined;
  readonly #queue: CommitQueue;
  /** Undefined if another process owns the database. */
  readonly #work: OwnWork | undefined;
  readonly #messages: MessageQueue | RemoteMessages;
  readonly #onClosed: () => Promise<void>;
  #appliedCommits = 0;
  #server: EngineServer | undefined;
  #stopServing: (() => Promise<void>) | undefined;
  #users = 0;
  #opening: Promise<void> | undefined;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  /** @param onClosed is called when the last user has released the engine and it is closed. */
  constructor(engine: Engine, mode: DatabaseMode, onClosed: () => Promise<void>, path?: string) {
    this.engine = engine;
    this.mode = mode;
    this.#line = engine.turns === undefined ? new TurnLine() : undefined;
    this.turns = engine.turns ?? this.#line!;
    this.#queue = new CommitQueue(engine, maxGroupSize, (write) => this.#onApplied(write));
    this.log = new CommitLog(engine, this.#queue, mode);
    this.fence = new MoveFence(engine, this.log, path);
    this.log.onSwitched = async () => {
      await this.fence.reload();
      this.fence.assertOpen();
    };
    this.commit = (write) => this.fence.commit(write);
    if (engine.listen === undefined) {
      const messages = new MessageQueue(engine, this.commit);
      this.#work = { messages, sweeper: new ExpirySweeper(engine, this.commit) };
      this.#messages = messages;
      this.fence.onMoved((error) => messages.fail(error));
    } else {
      this.#work = undefined;
      this.#messages = new RemoteMessages(engine.listen.bind(engine));
    }
    this.#onClosed = onClosed;
    this.path = path;
  }

  /** How many commits were made through this process since it opened the database. */
  get appliedCommits(): number {
    return this.#appliedCommits;
  }

  get closing(): Promise<void> | undefined {
    return this.#closing;
  }

  /** True if other processes may have the database open. */
  get isShared(): boolean {
    return this.engine.isShared === true || (this.#server?.connections ?? 0) > 0;
  }

  /**
   * Returns the server for other processes. It has no connection until it is given a stream.
   *
   * @param create creates it. A browser has none, so its bundles have no server.
   */
  serverBy(create: (database: ServedDatabase) => EngineServer): EngineServer {
    const order = this.mode === "deno" ? denoOrder : specificationOrder;
    this.#server ??= create({
      engine: this.engine,
      mode: this.mode,
      turns: this.#line,
      check: (write) => checkForeignWrite(write, order, this.engine.limits),
      commit: this.commit,
      listen: (deliver, sync) => this.#listen((value) => deliver(encodeValue(value)), sync, true),
    });
    return this.#server;
  }

  /** @param stop is called before the engine is closed. It keeps new clients away. */
  stopServingWith(stop: () => Promise<void>): void {
    this.#stopServing = stop;
  }

  /** Delivers messages of the queue to a handler of this process. */
  listen(handler: QueueHandler, sync: boolean): QueueListener {
    return this.#listen(handler, sync, false);
  }

  /**
   * Adds a user. Expired entries are not swept before there is a user that may write.
   *
   * @throws {RestoreUnfinishedError} if a restore has not finished, unless the user restores.
   * @throws {MoveUnfinishedError} if a move into the database has not finished, unless the user
   * moves.
   * @throws {DatabaseMovedError} if the database was moved, unless the user allows it.
   */
  async acquire(use: EngineUse): Promise<void> {
    const { readOnly, isRestoring = false, allowMoved = false } = use;
    this.#users++;
    try {
      this.#opening ??= this.#open();
      await this.#opening;
      const unfinished = isRestoring ? undefined : await this.engine.get(restoreMarkKey);
      if (unfinished !== undefined) throw unfinishedError(unfinished, this.path);
      if (!allowMoved) this.fence.assertNotMoved();
      if (readOnly) return;
      this.#starting ??= this.#work?.sweeper.start();
      await this.#starting;
    } catch (error) {
      await this.release().catch(() => undefined);
      throw error;
    }
  }

  /** Removes a user. If it was the last one, closes the engine after the waiting commits. */
  async release(): Promise<void> {
    this.#users--;
    if (this.#users === 0) this.#closing = this.#close();
    await (this.#closing ?? this.#queue.idle());
  }

  async #open(): Promise<void> {
    await this.log.open();
    await this.fence.open();
  }

  #listen(handler: QueueHandler, sync: boolean, isRemote: boolean): QueueListener {
    return this.#messages.listen(handler, sync, isRemote);
  }

  /** Schedules the sweep of entries that expire, and wakes the queue for new messages. */
  #onApplied({ mutations }: AtomicWrite): void {
    this.#appliedCommits++;
    if (this.#work === undefined) return;
    const { messages, sweeper } = this.#work;
    for (const { key, type } of mutations) {
      if (key[0] !== 0 || type !== "set") continue;
      if (isHintKey(key)) sweeper.schedule(dueAtOfHint(key));
      else if (isMessageKey(key)) messages.wake(key);
    }
  }

  async #close(): Promise<void> {
    try {
      await this.#starting;
      await this.#stopServing?.();
      await this.#server?.close();
      await this.#work?.messages.close();
      await this.#work?.sweeper.close();
      await this.log.close();
      await this.fence.close();
      await this.#queue.idle();
      await this.engine.close();
    } finally {
      await this.#onClosed();
    }
  }
}
