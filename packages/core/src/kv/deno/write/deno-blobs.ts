import { types } from "node:util";
import { awaitAll } from "../../../values/await-all.js";
import type { DenoMessage } from "./deno-message.js";
import type { DenoValue, EncodedClone } from "./deno-value.js";
import type { DenoCheck, DenoMutation, DenoWrite } from "./deno-write.js";

/** True if the bytes of a `Blob` in the operation are still being read. */
export function awaitsBlobs(write: DenoWrite<EncodedClone>): boolean {
  return (
    write.messages.some(({ payload }) => payload instanceof Promise) ||
    write.mutations.some((mutation) => mutation.type !== "delete" && isPending(mutation.value))
  );
}

/** Returns an operation as it was when this function was called, with the bytes of its blobs. */
export async function withBlobs(write: DenoWrite<EncodedClone>): Promise<DenoWrite> {
  const { rangeChecks = [], context } = write;
  const kept = { rangeChecks: [...rangeChecks], context };
  const [checks, mutations, messages] = [
    write.checks.map(copyCheck),
    write.mutations.map(readMutation),
    write.messages.map(readMessage),
  ];
  const [readMutations, readMessages] = await awaitAll([awaitAll(mutations), awaitAll(messages)]);
  return { ...kept, checks, mutations: readMutations, messages: readMessages };
}

function isPending(value: DenoValue<EncodedClone>): boolean {
  return value.kind === "clone" && value.encoded instanceof Promise;
}

function copyCheck({ key, versionstamp }: DenoCheck): DenoCheck {
  return { key: copyOf(key), versionstamp };
}

async function readMutation(mutation: DenoMutation<EncodedClone>): Promise<DenoMutation> {
  const key = copyOf(mutation.key);
  if (mutation.type === "delete") return { ...mutation, key };
  return { ...mutation, key, value: await readValue(mutation.value) };
}

async function readValue(value: DenoValue<EncodedClone>): Promise<DenoValue> {
  if (value.kind === "bytes") return isShared(value.bytes) ? value : copyOfBytes(value.bytes);
  return value.kind === "u64" ? value : { ...value, encoded: await value.encoded };
}

async function readMessage(message: DenoMessage<EncodedClone>): Promise<DenoMessage> {
  return { ...message, payload: await message.payload };
}

/** True for bytes that the commit will refuse. */
function isShared(bytes: Uint8Array): boolean {
  return types.isSharedArrayBuffer(bytes.buffer);
}

function copyOfBytes(bytes: Uint8Array): DenoValue {
  return { kind: "bytes", bytes: new Uint8Array(bytes) };
}

function copyOf<Key>(key: Key): Key {
  return Array.isArray(key) ? ([...key] as Key) : key;
}
