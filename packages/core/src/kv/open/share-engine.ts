import type { Engine } from "../../engine/engine.js";
import { MemoryEngine } from "../../engine/memory/memory-engine.js";
import {
  CorruptionError,
  DatabaseFormatError,
  DatabaseModeError,
  DatabasePathError,
} from "../../errors/core-errors.js";
import type { OpenEngineOptions } from "./open-options.js";
import { unwritable } from "./opening-error.js";
import type { OpenedEngine } from "./own/owned-place.js";
import { SharedEngine } from "./shared-engine.js";
import { verifyMode } from "./verify-mode.js";

/** The engines that were given to `openKv`. Weak, so that an unclosed one can be collected. */
const givenEngines = new WeakMap<Engine, Promise<SharedEngine>>();

/** Opens a new database in memory. The engine is acquired for the caller. */
export async function openMemoryEngine({ mode }: OpenEngineOptions): Promise<SharedEngine> {
  const shared = new SharedEngine(new MemoryEngine(), mode, async () => undefined);
  await shared.acquire({ readOnly: false });
  return shared;
}

/** Opens or shares a database on an engine. The engine is acquired for the caller. */
export async function openGivenEngine(
  engine: Engine,
  options: OpenEngineOptions,
): Promise<SharedEngine> {
  return await share(givenEngines, engine, options, async () => {
    await verifyMode(engine, options);
    return opened(engine);
  });
}

interface EngineTable<Where> {
  get(where: Where): Promise<SharedEngine> | undefined;
  set(where: Where, engine: Promise<SharedEngine>): unknown;
  delete(where: Where): unknown;
}

/** Opens an engine, or shares the one that this process has open at a place. */
export async function share<Where>(
  engines: EngineTable<Where>,
  where: Where,
  options: OpenEngineOptions,
  open: () => Promise<OpenedEngine>,
  onOpen?: (shared: SharedEngine) => Promise<void>,
): Promise<SharedEngine> {
  const { mode, readOnly } = options;
  const path = pathOf(where);
  for (let known = engines.get(where); known; known = engines.get(where)) {
    // Another call may have failed because of its own options, so this call tries with its own.
    const shared = await known.catch(() => undefined);
    if (shared === undefined) continue;
    if (shared.closing === undefined) {
      if (shared.mode !== mode) throw new DatabaseModeError(shared.mode, path);
      if (shared.engine.isReadOnly === true && !readOnly)
        throw new DatabasePathError(path ?? "(no path)", unwritable);
      await shared.acquire(options);
      return shared;
    }
    await shared.closing.catch(() => undefined);
  }
  const forget = () => engines.delete(where);
  const opening = open().then(
    async ({ engine, release }) => {
      const onClosed = () => release().finally(forget);
      const shared = new SharedEngine(engine, mode, onClosed, path);
      await onOpen?.(shared);
      return shared;
    },
    (error) => {
      // Before the calls that wait for this one look into the table again.
      forget();
      throw withPath(error, path);
    },
  );
  engines.set(where, opening);
  const shared = await opening;
  await shared.acquire(options);
  return shared;
}

/** An engine that nothing has to be released after. */
export function opened(engine: Engine): OpenedEngine {
  return { engine, release: async () => undefined };
}

export function pathOf(where: unknown): string | undefined {
  const path = typeof where === "string" ? where : (where as { location?: unknown }).location;
  return typeof path === "string" ? path : undefined;
}

function withPath(error: unknown, path: string | undefined): unknown {
  if (error instanceof DatabaseFormatError) return new DatabaseFormatError(error.reason, path);
  if (error instanceof DatabaseModeError) return new DatabaseModeError(error.mode, path);
  if (error instanceof CorruptionError && error.path === undefined)
    return new CorruptionError(error.reason, error.key, error.cause, path, error);
  return error;
}
