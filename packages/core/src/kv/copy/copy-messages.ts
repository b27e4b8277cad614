import { CopyFailedError } from "../../errors/copy-errors.js";
import type { KvKey } from "../../keys/key.js";
import type { Kv } from "../kv.js";
import type { CopyWriter } from "./copy-writer.js";
import { messagesKey } from "./own-keys.js";
import type { QueuedMessage } from "./queued-message.js";

/** Ids of messages that were copied together. */
interface CopiedList {
  readonly key: KvKey;
  readonly ids: readonly string[];
}

/** Returns what an earlier run has stored about the messages that it has copied. */
export async function copiedLists(to: Kv): Promise<CopiedList[]> {
  const lists: CopiedList[] = [];
  for await (const { key, value } of to.list<string[]>({ prefix: messagesKey }))
    lists.push({ key: [...key], ids: value });
  return lists;
}

/**
 * Puts messages into the queue of the target, each once: their ids are stored in the same commit,
 * until the copy has ended.
 *
 * @param lists those of an earlier run. New ones are added.
 * @throws {CopyFailedError} if an earlier run has copied a message that the source has delivered
 * since, or if the target refuses a message.
 */
export async function copyMessages(
  messages: readonly QueuedMessage[],
  lists: CopiedList[],
  writer: CopyWriter,
): Promise<void> {
  const copied = new Set(lists.flatMap(({ ids }) => ids));
  writer.addMessages(copied.size);
  assertWaiting(copied, messages);
  for (const batch of batchesOf(
    messages.filter(({ id }) => !copied.has(id)),
    writer.limits,
  )) {
    const key = [...messagesKey, lists.length];
    await writer.writeMessages(batch, key);
    lists.push({ key, ids: [] });
  }
}

function assertWaiting(copied: ReadonlySet<string>, messages: readonly QueuedMessage[]): void {
  const waiting = new Set(messages.map(({ id }) => id));
  const delivered = [...copied].filter((id) => !waiting.has(id)).length;
  if (delivered === 0) return;
  const counted = delivered === 1 ? "1 message" : `${delivered} messages`;
  throw new CopyFailedError(
    `the target has ${counted} that an earlier run has copied and that the source has delivered since; copy into an empty database`,
    messagesKey,
  );
}

/** Divides messages so that each part fits into a commit. */
function* batchesOf(
  messages: readonly QueuedMessage[],
  { mutations, totalMutationBytes }: CopyWriter["limits"],
): Generator<QueuedMessage[]> {
  let batch: QueuedMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    if (
      batch.length > 0 &&
      (batch.length + 1 > mutations || bytes + message.bytes > totalMutationBytes)
    ) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += message.bytes;
  }
  if (batch.length > 0) yield batch;
}
