import { encodeKey, type Kv, type KvKey } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import type { AnyIndexDefinition } from "../model/indexes/index-definition.js";
import type { Model } from "../model/model.js";

type AnyRow = Readonly<Record<string, unknown>>;

/** The options of an index or a model that maintain counters. */
type Counting = Pick<AnyIndexDefinition, "count" | "sum" | "min" | "max" | "ranked">;

const systemKey = ["__keywright", "count"] as const;
/** The last part of the key that counts the rows that have a value. */
const valueCount = -1;

/** The counters that rows should have: of an index, or of all rows of a model. */
export class ExpectedCounters {
  readonly #prefix: string;
  readonly #options: Counting;
  readonly #shape: Model["schema"]["shape"];
  readonly #totals = new Map<string, { readonly key: KvKey; value: bigint }>();

  constructor(model: Model, prefix: string, options: Counting) {
    this.#prefix = prefix;
    this.#options = options;
    this.#shape = model.schema.shape;
  }

  /** @param parts the key of the row in the index. None for all rows. */
  add(row: AnyRow, parts: KvKey): void {
    if (isCounted(this.#options)) this.#increase([this.#prefix, ...parts], 1n);
    for (const { field, scale, prefix } of sumsOf(this.#prefix, this.#options)) {
      const value = row[field];
      if (value === undefined || value === null) continue;
      this.#increase([prefix, ...parts], scaled(value, scale));
      const isOptional = this.#shape[field]!.safeParse(undefined).success;
      if (isOptional) this.#increase([prefix, ...parts, valueCount], 1n);
    }
  }

  #increase(rest: KvKey, by: bigint): void {
    const key = [...systemKey, ...rest];
    const id = Buffer.from(encodeKey(key)).toString("hex");
    this.#totals.set(id, { key, value: (this.#totals.get(id)?.value ?? 0n) + by });
  }

  /** Returns the counters that are not 0. */
  get expected(): { readonly key: KvKey; readonly value: bigint }[] {
    return [...this.#totals.values()].filter(({ value }) => value !== 0n);
  }

  /** Returns the stored counters that are not 0. The limbs of a sum are added up. */
  async stored(kv: Kv): Promise<{ readonly key: KvKey; readonly value: bigint }[]> {
    const found = new Map<string, { readonly key: KvKey; value: bigint }>();
    const add = (key: KvKey, value: bigint) => {
      const id = Buffer.from(encodeKey(key)).toString("hex");
      found.set(id, { key, value: (found.get(id)?.value ?? 0n) + value });
    };
    for await (const { key, value } of counterEntries(kv, this.#prefix)) add(key, value.value);
    for (const { prefix } of sumsOf(this.#prefix, this.#options)) {
      for await (const { key, value } of counterEntries(kv, prefix)) {
        const limb = key.at(-1) as number;
        if (limb === valueCount) add(key, value.value);
        else add(key.slice(0, -1), BigInt.asIntN(64, value.value) << BigInt(32 * limb));
      }
    }
    return [...found.values()].filter(({ value }) => value !== 0n);
  }
}

function isCounted({ count, sum, min, max, ranked }: Counting): boolean {
  return (
    count === true || ranked === true || [sum, min, max].some((list) => (list?.length ?? 0) > 0)
  );
}

function sumsOf(prefix: string, { sum = [] }: Counting) {
  return sum.map((one) => {
    const [field, scale] = typeof one === "string" ? [one, 0] : [one.decimal, one.scale];
    const name = scale === 0 ? `sum(${field})` : `sum(${field}, ${scale})`;
    return { field, scale, prefix: `${prefix} ${name}` };
  });
}

function scaled(value: unknown, scale: number): bigint {
  if (typeof value === "bigint") return value;
  return scale === 0 ? BigInt(value as number) : BigInt(Math.round(Number(value) * 10 ** scale));
}

async function* counterEntries(kv: Kv, prefix: string) {
  const own = [...systemKey, prefix];
  const exact = await kv.get<{ value: bigint }>(own);
  if (exact.versionstamp !== null) yield exact;
  yield* kv.list<{ value: bigint }>({ prefix: own });
}
