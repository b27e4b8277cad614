import { type Engine, isRangeEnd } from "../../engine/engine.js";
import {
  consumerLeaseKey,
  consumerNameOf,
  consumerPositionKey,
  consumerPositions,
} from "../../engine/log/consumer-keys.js";
import { logRecordsAfter } from "../../engine/log/log-keys.js";
import { readLogState } from "../log/log-state.js";
import type { ConsumerStore } from "./consumer-hold.js";
import { decodeLease, decodePosition } from "./consumer-records.js";

const pageSize = 200;
const mostPending = 1000;

/** A consumer of the log as the database knows it. */
export interface KvConsumer {
  readonly name: string;
  /** The versionstamp of the last commit that it has handled, or that was of no interest to it. */
  readonly position: string;
  /** How many commits the log has after the position, of all keys. At most 1,000 are counted. */
  readonly pending: number;
  /** True if the log no longer has all commits after the position. */
  readonly isTruncated: boolean;
  /** The process that has it. Undefined if none has, but it may also have ended a moment ago. */
  readonly holder: { readonly host: string; readonly pid: number } | undefined;
}

/** Returns all consumers of the database, by name. */
export async function listConsumers({
  engine,
}: Pick<ConsumerStore, "engine">): Promise<KvConsumer[]> {
  const state = await readLogState(engine);
  const consumers: KvConsumer[] = [];
  for (let range = consumerPositions; ; ) {
    const page = await engine.getRange({ range, limit: pageSize, reverse: false });
    for (const { key, value } of page) {
      const name = consumerNameOf(key);
      const { position } = decodePosition(value);
      const lease = await engine.get(consumerLeaseKey(name));
      const { host, pid } = (lease && decodeLease(lease.value)) ?? {};
      consumers.push({
        name,
        position,
        pending: await pendingAfter(engine, position),
        isTruncated: state === undefined || position < state.since,
        holder: host === undefined || pid === undefined ? undefined : { host, pid },
      });
    }
    if (isRangeEnd(page, pageSize)) return consumers;
    range = { start: Uint8Array.of(...page.at(-1)!.key, 0), end: range.end };
  }
}

/** Returns how many commits the log has after a position, at most {@link mostPending}. */
async function pendingAfter(engine: Engine, position: string): Promise<number> {
  let range = logRecordsAfter(position);
  for (let pending = 0; ; ) {
    const limit = Math.min(pageSize, mostPending - pending);
    const page = await engine.getRange({ range, limit, reverse: false });
    pending += page.length;
    if (isRangeEnd(page, limit) || pending === mostPending) return pending;
    range = logRecordsAfter(page.at(-1)!.versionstamp);
  }
}

/** Forgets the position of a consumer. Returns false if there is no such consumer. */
export async function removeConsumer(store: ConsumerStore, name: string): Promise<boolean> {
  const key = consumerPositionKey(name);
  if ((await store.engine.get(key)) === undefined) return false;
  const keys = [key, consumerLeaseKey(name)];
  const mutations = keys.map((each) => ({ type: "delete", key: each }) as const);
  await store.commit({ checks: [], mutations, sync: true });
  return true;
}
