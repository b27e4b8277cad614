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
const typeReason = 'must be "set", "delete", "sum", "min" or "max"';

/**
 * Collects an atomic operation as Deno does. Values and options are checked when they are passed.
 * Keys and sizes are checked at the commit. Keys and bytes are not copied before the commit, so
 * the commit sees later changes to them.
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
   * Makes `await` on the operation itself an error, because it means that `commit()` was forgotten.
   *
   * @throws {TypeError} always.
   */
  // biome-ignore lint/suspicious/noThenProperty: `await` must find this method.
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
  // Read in Deno's order, so that null and undefined throw the same error as in Deno.
  const key = mutation.key;
  const type = mutation.type;
  switch (type) {
    case "delete":
      if ((mutation as { value?: unknown }).value) {
        throw invalid(
          "value",
          "must not be given for delete",
          "Invalid mutation 'delete' with value",
        );
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

/** @throws {TypeError} unless it is undefined or a non-negative integer. */
function assertExpireIn(expireIn: number | undefined): void {
  if (expireIn === undefined || (Number.isInteger(expireIn) && expireIn >= 0)) return;
  const text = `expireIn must be a non-negative integer: received ${expireIn}`;
  throw invalid("expireIn", "must be a non-negative integer", text);
}

/** Makes the checks of the constructor of `KvU64`, but with Deno's texts. */
function assertU64(n: unknown): asserts n is bigint {
  const reason = "must be a bigint from 0 to 2 ** 64 - 1";
  if (typeof n !== "bigint")
    throw invalid("n", reason, `Value must be a bigint: received ${typeof n}`);
  if (n >= 0n && n <= maxU64) return;
  const text =
    n < 0n
      ? `Value must be a positive bigint: received ${n}`
      : "Value must fit in a 64-bit unsigned integer";
  throw denoError(new InvalidOptionError("n", reason), text, RangeError);
}

function invalid(option: string, reason: string, text: string): Error {
  return denoError(new InvalidOptionError(option, reason), text);
}
