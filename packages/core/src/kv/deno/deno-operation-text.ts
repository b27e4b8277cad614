import { decodeValue } from "../../values/decode-value.js";
import { KvU64 } from "../../values/kv-u64.js";
import type { DenoMessage } from "./deno-message.js";
import type { DenoValue } from "./deno-value.js";
import type { DenoCheck, DenoMutation, DenoWrite } from "./deno-write.js";

type Format = (value: unknown) => string;

/** Returns the text of an atomic operation as `Deno.inspect` has it. */
export function denoOperationText(write: DenoWrite, format: Format): string {
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

function mutationText(mutation: DenoMutation, format: Format): string {
  const key = format(mutation.key);
  if (mutation.type === "delete") return `delete(${key})`;
  const value = format(valueToShow(mutation.value));
  const expireIn = mutation.type === "set" ? mutation.expireIn : undefined;
  const options = expireIn === undefined ? "" : `, { expireIn: ${expireIn} }`;
  return `${mutation.type}(${key}, ${value}${options})`;
}

function messageText(message: DenoMessage, format: Format): string {
  const { payload, delay, keysIfUndelivered: keys, backoffSchedule } = message;
  const options: string[] = [];
  if (delay !== 0) options.push(`delay: ${delay}`);
  if ((keys as unknown[]).length > 0) options.push(`keysIfUndelivered: ${format(keys)}`);
  if (backoffSchedule !== undefined) options.push(`backoffSchedule: ${format(backoffSchedule)}`);
  const last = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
  return `enqueue(${format(decodeValue(payload))}${last})`;
}

function valueToShow(value: DenoValue): unknown {
  if (value.kind === "u64") return new KvU64(value.value);
  return value.kind === "bytes" ? value.bytes : decodeValue(value.encoded);
}
