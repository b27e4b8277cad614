import { type Kv, type KvKey, KvU64 } from "@keywright/core";

type U64Class = new (value: bigint) => object;

/** The key of the number that is written to find out its class. */
const probeKey: KvKey = ["__keywright", "import", "u64"];

/**
 * Converts values to those that a database accepts. Each implementation has its own class of 64-bit
 * integers and rejects the others. It may not export that class, but numbers that are read from it
 * are instances.
 */
export class U64Values {
  readonly #kv: Kv;
  #class: U64Class | undefined;

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  /** Returns a value with which `set` stores the input. */
  async toStorable(value: unknown): Promise<unknown> {
    if (!(value instanceof KvU64)) return value;
    this.#class ??= "limits" in this.#kv ? KvU64 : await this.#probe();
    return new this.#class(value.value);
  }

  async #probe(): Promise<U64Class> {
    await this.#kv.atomic().sum(probeKey, 0n).commit();
    const { value } = await this.#kv.get<object>(probeKey);
    await this.#kv.delete(probeKey);
    return (value as object).constructor as U64Class;
  }
}
