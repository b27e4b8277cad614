import type { RangeCheck } from "../../../engine/engine.js";
import {
  CommitMissingError,
  InvalidOptionError,
  RangeChecksUnsupportedError,
} from "../../../errors/core-errors.js";
import type { KvKey } from "../../../keys/key.js";
import type { KeyRange, KvListSelector } from "../../../keys/key-range.js";
import { defineInspect } from "../../../values/define-inspect.js";
import { encodeValue } from "../../../values/encode-value.js";
import { KvU64 } from "../../../values/kv-u64.js";
import { assertVersionstamp } from "../../../values/versionstamp.js";
import {
  type AtomicCheck,
  AtomicOperation,
  type KvCommitError,
  type KvCommitResult,
  type KvEnqueueOptions,
  type KvMutation,
  type KvSetKey,
  type KvSetOptions,
} from "../../atomic-operation.js";
import { denoError } from "../deno-error.js";
import { awaitsBlobs, withBlobs } from "./deno-blobs.js";
import { type DenoMessage, denoMessage } from "./deno-message.js";
import { denoOperationText } from "./deno-operation-text.js";
import { type EncodedClone, takeValue } from "./deno-value.js";
import type { DenoCheck, DenoMutation, DenoWrite } from "./deno-write.js";

const typeReason = 'must be "set", "delete", "sum", "min" or "max"';

/**
 * Collects an atomic operation as Deno does. Values and options are checked when they are passed.
 * Keys and sizes are checked at the commit. Keys and bytes are not copied before the commit, so
 * the commit sees later changes to them.
 */
export class DenoAtomicOperation extends AtomicOperation {
  static {
    defineInspect(DenoAtomicOperation, (operation, format) =>
      denoOperationText(operation.#write(), format),
    );
    // As in Deno, the exported class is the constructor of every operation.
    Object.defineProperty(DenoAtomicOperation.prototype, "constructor", { value: AtomicOperation });
  }

  readonly #commitWrite: (write: DenoWrite) => Promise<string | null>;
  readonly #rangeOf: ((selector: KvListSelector) => KeyRange) | undefined;
  readonly #rangeChecks: RangeCheck[] = [];
  readonly #checks: DenoCheck[] = [];
  readonly #mutations: DenoMutation<EncodedClone>[] = [];
  readonly #messages: DenoMessage<EncodedClone>[] = [];
  #context: Uint8Array | undefined;

  /** @param rangeOf returns the range of a selector. Undefined if ranges cannot be checked. */
  constructor(
    commitWrite: (write: DenoWrite) => Promise<string | null>,
    rangeOf?: (selector: KvListSelector) => KeyRange,
  ) {
    super();
    this.#rangeOf = rangeOf;
    this.#commitWrite = commitWrite;
  }

  check(...checks: AtomicCheck[]): this {
    // Not destructured, so that null and undefined throw the same error as in Deno.
    const copies = checks.map((each) => ({ key: each.key, versionstamp: each.versionstamp }));
    this.#checks.push(...copies);
    return this;
  }

  /** An addition to Deno KV. */
  override checkRange(selector: KvListSelector, versionstamp: string): this {
    if (this.#rangeOf === undefined) throw new RangeChecksUnsupportedError();
    assertVersionstamp(versionstamp);
    this.#rangeChecks.push({ range: this.#rangeOf(selector), versionstamp });
    return this;
  }

  /** An addition to Deno KV. */
  override context(value: unknown): this {
    this.#context = encodeValue(value);
    return this;
  }

  mutate(...mutations: KvMutation[]): this {
    // One by one, because the mutations before an invalid one stay part of the operation.
    for (const mutation of mutations) this.#mutations.push(mutationOf(mutation));
    return this;
  }

  sum(key: KvKey, n: bigint): this {
    return this.#combine("sum", key, n);
  }

  min(key: KvKey, n: bigint): this {
    return this.#combine("min", key, n);
  }

  max(key: KvKey, n: bigint): this {
    return this.#combine("max", key, n);
  }

  set(key: KvSetKey, value: unknown, options?: KvSetOptions): this {
    const expireIn = options?.expireIn;
    assertExpireIn(expireIn);
    return this.#add({ type: "set", key, value: takeValue(value), expireIn });
  }

  delete(key: KvKey): this {
    return this.#add({ type: "delete", key });
  }

  enqueue(value: unknown, options?: KvEnqueueOptions): this {
    this.#messages.push(denoMessage(value, options));
    return this;
  }

  async commit(): Promise<KvCommitResult | KvCommitError> {
    const write = this.#write();
    const versionstamp = await this.#commitWrite(
      awaitsBlobs(write) ? await withBlobs(write) : (write as DenoWrite),
    );
    return versionstamp === null ? { ok: false } : { ok: true, versionstamp };
  }

  /**
   * Makes `await` on the operation itself an error, because it means that `commit()` was forgotten.
   *
   * @throws {TypeError} always.
   */
  // biome-ignore lint/suspicious/noThenProperty: `await` must find this method.
  then(): never {
    const text = "'Deno.AtomicOperation' is not a promise: did you forget to call 'commit()'";
    throw denoError(new CommitMissingError(), text);
  }

  #write(): DenoWrite<EncodedClone> {
    return {
      checks: this.#checks,
      rangeChecks: this.#rangeChecks,
      mutations: this.#mutations,
      messages: this.#messages,
      context: this.#context,
    };
  }

  #combine(type: "sum" | "min" | "max", key: KvKey, n: bigint): this {
    return this.#add({ type, key, value: { kind: "u64", value: operandOf(n) } });
  }

  #add(mutation: DenoMutation<EncodedClone>): this {
    this.#mutations.push(mutation);
    return this;
  }
}

function mutationOf(mutation: KvMutation): DenoMutation<EncodedClone> {
  // Read in Deno's order, so that null and undefined throw the same error as in Deno.
  const key = mutation.key;
  const type = mutation.type;
  switch (type) {
    case "delete":
      if ((mutation as { value?: unknown }).value) {
        const text = "Invalid mutation 'delete' with value";
        throw invalid("value", "must not be given for delete", text);
      }
      return { type, key };
    case "set": {
      const expireIn = typeof mutation.expireIn === "number" ? mutation.expireIn : undefined;
      assertExpireIn(expireIn);
      assertValue(mutation);
      return { type, key, value: takeValue(mutation.value), expireIn };
    }
    case "sum":
    case "min":
    case "max":
      assertValue(mutation);
      return { type, key, value: takeValue(mutation.value) };
    default:
      throw invalid("type", typeReason, "Invalid mutation type");
  }
}

function assertValue(mutation: KvMutation): void {
  if (!Object.hasOwn(mutation, "value")) {
    const text = `Invalid mutation '${mutation.type}' without value`;
    throw invalid("value", "must be given for every mutation except delete", text);
  }
}

function assertExpireIn(expireIn: number | undefined): void {
  if (expireIn === undefined || (Number.isInteger(expireIn) && expireIn >= 0)) return;
  const text = `expireIn must be a non-negative integer: received ${expireIn}`;
  throw invalid("expireIn", "must be a non-negative integer", text);
}

/** Returns the operand of a `sum`, `min` or `max`. The texts of `KvU64` are those of Deno. */
function operandOf(n: bigint): bigint {
  try {
    return new KvU64(n).value;
  } catch (error) {
    const own = new InvalidOptionError("n", "must be a bigint from 0 to 2 ** 64 - 1");
    const type = error instanceof RangeError ? RangeError : TypeError;
    throw denoError(own, (error as Error).message, type);
  }
}

function invalid(option: string, reason: string, text: string): Error {
  return denoError(new InvalidOptionError(option, reason), text);
}
