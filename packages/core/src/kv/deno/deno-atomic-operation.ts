import { CommitMissingError, InvalidOptionError } from "../../errors/core-errors.js";
import type { KvKey } from "../../keys/key.js";
import { KvU64 } from "../../values/kv-u64.js";
import type {
  AtomicCheck,
  AtomicOperation,
  KvCommitError,
  KvCommitResult,
  KvEnqueueOptions,
  KvMutation,
  KvSetKey,
  KvSetOptions,
} from "../kv.js";
import { denoError } from "./deno-error.js";
import { type DenoMessage, denoMessage } from "./deno-message.js";
import { takeValue } from "./deno-value.js";
import type { DenoCheck, DenoMutation, DenoWrite } from "./deno-write.js";

const maxU64 = 2n ** 64n - 1n;

/**
 * Gathers an atomic operation as Deno does: values and options are checked when they are handed over, keys and sizes at the
 * commit, and of keys and bytes the state at the commit counts.
 */
export class DenoAtomicOperation implements AtomicOperation {
  readonly #commitWrite: (write: DenoWrite) => Promise<string | null>;
  readonly #checks: DenoCheck[] = [];
  readonly #mutations: DenoMutation[] = [];
  readonly #messages: DenoMessage[] = [];

  constructor(commitWrite: (write: DenoWrite) => Promise<string | null>) {
    this.#commitWrite = commitWrite;
  }

  check(...checks: AtomicCheck[]): this {
    for (const { key, versionstamp } of checks.map(ownCheck)) {
      this.#checks.push({ key, versionstamp });
    }
    return this;
  }

  mutate(...mutations: KvMutation[]): this {
    // One after another: those before a wrong one are part of the operation.
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
    this.#mutations.push({ type: "set", key, value: takeValue(value), expireIn });
    return this;
  }

  delete(key: KvKey): this {
    this.#mutations.push({ type: "delete", key });
    return this;
  }

  enqueue(value: unknown, options?: KvEnqueueOptions): this {
    this.#messages.push(denoMessage(value, options));
    return this;
  }

  async commit(): Promise<KvCommitResult | KvCommitError> {
    const versionstamp = await this.#commitWrite({
      checks: this.#checks,
      mutations: this.#mutations,
      messages: this.#messages,
    });
    return versionstamp === null ? { ok: false } : { ok: true, versionstamp };
  }

  /**
   * Not a promise: `await` on the operation itself, where `commit()` was forgotten, is an error.
   *
   * @throws {TypeError} always.
   */
  // biome-ignore lint/suspicious/noThenProperty: it is there to be found by `await`.
  then(): never {
    const text = "'Deno.AtomicOperation' is not a promise: did you forget to call 'commit()'";
    throw denoError(new CommitMissingError(), text);
  }

  #combine(type: "sum" | "min" | "max", key: KvKey, n: bigint): this {
    assertU64(n);
    this.#mutations.push({ type, key, value: takeValue(new KvU64(n)) });
    return this;
  }
}

function ownCheck(check: AtomicCheck): DenoCheck {
  return { key: check.key, versionstamp: check.versionstamp };
}

function mutationOf(mutation: KvMutation): DenoMutation {
  // Read one by one, so that what is no object throws what it throws in Deno.
  const key = mutation.key;
  const type = mutation.type;
  switch (type) {
    case "delete":
      if ((mutation as { value?: unknown }).value) {
        throw invalid("value", "Invalid mutation 'delete' with value");
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
      throw invalid("type", "Invalid mutation type");
  }
}

function assertValue(mutation: KvMutation): void {
  if (!Object.hasOwn(mutation, "value")) {
    throw invalid("value", `Invalid mutation '${mutation.type}' without value`);
  }
}

/** @throws {TypeError} for a number that is not one, is negative or has a fraction. */
function assertExpireIn(expireIn: number | undefined): void {
  if (expireIn === undefined || (Number.isInteger(expireIn) && expireIn >= 0)) return;
  throw invalid("expireIn", `expireIn must be a non-negative integer: received ${expireIn}`);
}

/** Of a `KvU64` itself too, but with Deno's texts. */
function assertU64(n: unknown): asserts n is bigint {
  if (typeof n !== "bigint") throw invalid("n", `Value must be a bigint: received ${typeof n}`);
  if (n >= 0n && n <= maxU64) return;
  const text =
    n < 0n
      ? `Value must be a positive bigint: received ${n}`
      : "Value must fit in a 64-bit unsigned integer";
  throw denoError(new InvalidOptionError("n", text), text, RangeError);
}

function invalid(option: string, text: string): Error {
  return denoError(new InvalidOptionError(option, text), text);
}
