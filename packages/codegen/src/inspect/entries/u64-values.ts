import { type Kv, type KvKey, KvU64 } from "@keywright/core";

type U64Class = new (value: bigint) => object;

/** Where a number stands while its class is found out. */
const probeKey: KvKey = ["__keywright", "import", "u64"];

/**
 * Values as a database takes them. Each implementation has a class of its own for 64-bit integers and takes no other one; it is
 * not always exported, but a number that is read has it.
 */
export class U64Values {
  readonly #kv: Kv;
  #class: U64Class | undefined;

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  /** A value with which `set` stores what it says. */
  async ownOf(value: unknown): Promise<unknown> {
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
