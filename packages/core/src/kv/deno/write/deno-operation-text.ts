import { decodeValue } from "../../../values/decode-value.js";
import { KvU64 } from "../../../values/kv-u64.js";
import type { DenoMessage } from "./deno-message.js";
import type { DenoValue, EncodedClone } from "./deno-value.js";
import type { DenoCheck, DenoMutation, DenoWrite } from "./deno-write.js";

type Format = (value: unknown) => string;

/** Returns the text of an atomic operation as `Deno.inspect` has it. */
export function denoOperationText(write: DenoWrite<EncodedClone>, format: Format): string {
  const calls = [
    ...write.checks.map((check) => checkText(check, format)),
    ...write.mutations.map((mutation) => mutationText(mutation, format)),
    ...write.messages.map((message) => messageText(message, format)),
  ];
  if (calls.length === 0) return "AtomicOperation (empty)";
  return ["AtomicOperation", ...calls].join("\n  ");
}

function checkText({ key, versionstamp }: DenoCheck, format: Format): string {
  const stamp = versionstamp === null ? "null" : `"${versionstamp}"`;
  return `check({ key: ${format(key)}, versionstamp: ${stamp} })`;
}

function mutationText(mutation: DenoMutation<EncodedClone>, format: Format): string {
  const key = format(mutation.key);
  if (mutation.type === "delete") return `delete(${key})`;
  const value = format(valueToShow(mutation.value));
  const expireIn = mutation.type === "set" ? mutation.expireIn : undefined;
  const options = expireIn === undefined ? "" : `, { expireIn: ${expireIn} }`;
  return `${mutation.type}(${key}, ${value}${options})`;
}

function messageText(message: DenoMessage<EncodedClone>, format: Format): string {
  const { payload, original, delay, keysIfUndelivered: keys, backoffSchedule } = message;
  const options: string[] = [];
  if (delay !== 0) options.push(`delay: ${delay}`);
  if ((keys as unknown[]).length > 0) options.push(`keysIfUndelivered: ${format(keys)}`);
  if (backoffSchedule !== undefined) options.push(`backoffSchedule: ${format(backoffSchedule)}`);
  const last = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
  const value = payload instanceof Promise ? original : decodeValue(payload);
  return `enqueue(${format(value)}${last})`;
}

function valueToShow(value: DenoValue<EncodedClone>): unknown {
  if (value.kind === "u64") return new KvU64(value.value);
  if (value.kind === "bytes") return value.bytes;
  return value.encoded instanceof Promise ? value.original : decodeValue(value.encoded);
}
