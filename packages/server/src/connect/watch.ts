import { Buffer } from "node:buffer";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { create, toBinary } from "@bufbuild/protobuf";
import type { StoredEntry } from "@keywright/core";
import type { ServedDatabase } from "@keywright/core/serve";
import type { HeldBytes } from "../http/buffers.js";
import { RequestError } from "../http/request-error.js";
import { decodeMessage } from "./decode-message.js";
import {
  SnapshotReadStatus,
  WatchKeyOutputSchema,
  WatchOutputSchema,
  WatchSchema,
} from "./generated/datapath_pb.js";
import { isEntryKey, mostBytes, sentEntry } from "./snapshot-read.js";

const maxKeys = 10;
/** Milliseconds between messages that show the client that the server is there. */
const heartbeat = 5000;
const nothing: Uint8Array = new Uint8Array(4);

export function watchedKeys(body: Uint8Array): Uint8Array[] {
  const keys = decodeMessage(WatchSchema, body).keys.map(({ key }) => key);
  if (keys.length === 0 || keys.length > maxKeys)
    throw new RequestError(400, `A client can watch 1 to ${maxKeys} keys.`);
  if (!keys.every(isEntryKey)) throw new RequestError(400, "A key is outside the keys of entries.");
  return keys;
}

export interface WatchLimits {
  /** Waits until bytes may be held for the client. */
  readonly hold: (bytes: number) => Promise<HeldBytes>;
  /** How long the client may read nothing of a report that waits for it, in milliseconds. */
  readonly longestDrain: number;
}

/**
 * Writes the entries of keys to a stream, and again whenever one of them changes. Changes that come
 * faster than the client reads are written as one. Resolves when the signal is aborted. Destroys
 * the stream if the client does not read.
 */
export async function watch(
  { engine }: ServedDatabase,
  keys: readonly Uint8Array[],
  stream: Writable,
  { signal, hold, longestDrain }: WatchLimits & { readonly signal: AbortSignal },
): Promise<void> {
  let wake: () => void = () => undefined;
  let isChanged = true;
  const unwatch = engine.watch(keys, () => {
    isChanged = true;
    wake();
  });
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  const timer = setInterval(() => {
    if (!stream.writableNeedDrain) stream.write(nothing);
  }, heartbeat);
  timer.unref();
  let before: (string | undefined)[] | undefined;
  try {
    while (!signal.aborted) {
      if (!isChanged) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const held = await hold(mostBytes(keys.length));
      try {
        isChanged = false;
        const entries = await engine.getMany(keys);
        const stamps = entries.map((entry) => entry?.versionstamp);
        const isSame = before !== undefined && stamps.every((stamp, i) => stamp === before?.[i]);
        before = stamps;
        if (isSame || signal.aborted) continue;
        const body = report(entries);
        held.resize(body.length);
        const header = Buffer.alloc(4);
        header.writeUInt32LE(body.length);
        stream.write(header);
        if (!stream.write(body)) await drained(stream, signal, longestDrain);
      } finally {
        held.release();
      }
    }
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", onAbort);
    unwatch();
  }
}

function report(entries: readonly (StoredEntry | undefined)[]): Uint8Array {
  const output = create(WatchOutputSchema, {
    status: SnapshotReadStatus.SR_SUCCESS,
    // All keys, because Deno 2 takes an unchanged key for one without an entry.
    keys: entries.map((entry) =>
      create(WatchKeyOutputSchema, {
        changed: true,
        ...(entry !== undefined && { entryIfChanged: sentEntry(entry) }),
      }),
    ),
  });
  return toBinary(WatchOutputSchema, output);
}

async function drained(stream: Writable, signal: AbortSignal, longest: number): Promise<void> {
  const timer = setTimeout(() => stream.destroy(), longest).unref();
  await once(stream, "drain", { signal }).catch(() => undefined);
  clearTimeout(timer);
}
