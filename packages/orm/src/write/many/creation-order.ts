import type { KvKey, KvKeyPart } from "@keywright/core";
import { takenError } from "../../derived/entries/duplicates/claim-unique-key.js";
import { UniqueConstraintError } from "../../errors/row-errors.js";
import type { AnyRow, CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { indexKeys } from "../../model/keys/index-entries.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { keyText } from "../../model/keys/key-text.js";
import { pointerOf, primaryKeyOf, rowKey } from "../../model/keys/primary-key.js";
import { awaitAll } from "../../promises/await-all.js";
import type { TableContext } from "../../state/context/table-context.js";
import { referencedKey } from "../../state/references/referenced-key.js";
import { isHookError } from "../input/row-hooks.js";

/** Why a row cannot have a key. Undefined if the key is free. */
type Taken = UniqueConstraintError | undefined;

/** `"created"`, or the error of a row that was not created. */
type Outcome = "created" | { readonly error: unknown };

/** What identifies a row: its primary key, or its key in a unique index. */
interface UniqueKey {
  readonly text: string;
  readonly key: KvKey;
  /** Undefined for the primary key. */
  readonly index: CompiledIndex | undefined;
}

/** A row whose creation has begun. */
class Entrant {
  /** True as soon as its keys are known, or it is known to be invalid. */
  isParsed = false;
  primaryKey: readonly KvKeyPart[] = [];
  unique: readonly UniqueKey[] = [];
  /** The primary keys of the rows of the same model to which it refers. */
  referenced: readonly string[] = [];
  /** Called when it has got a place, if it waits for one. */
  onPlaced: (() => void) | undefined;
  /** What it waits for. Undefined if there is nothing. */
  turn: Promise<Taken> | undefined;
  #outcome: Outcome | undefined;
  #ended: Promise<Outcome> | undefined;
  #onEnd: ((outcome: Outcome) => void) | undefined;

  end(outcome: Outcome): void {
    this.#outcome = outcome;
    this.#onEnd?.(outcome);
  }

  get ended(): Promise<Outcome> {
    this.#ended ??= new Promise((resolve) => {
      if (this.#outcome === undefined) this.#onEnd = resolve;
      else resolve(this.#outcome);
    });
    return this.#ended;
  }
}

/** The last row with a key. */
interface Holder {
  readonly entrant: Entrant;
  readonly key: UniqueKey;
  readonly before: Holder | undefined;
  /** Resolves with whether the key is taken after this row. Undefined until a row waits for it. */
  taken?: Promise<Taken>;
}

/**
 * Gives rows that are created at the same time the results that they would have one after the
 * other. A row waits for each earlier row that has the same unique key, or to which it refers.
 * Other rows do not wait.
 */
export class CreationOrder {
  readonly #context: TableContext;
  readonly #entrants: Entrant[] = [];
  /** How many rows, from the first, have got a place after the rows that they wait for. */
  #placed = 0;
  readonly #holders = new Map<string, Holder>();

  constructor(context: TableContext) {
    this.#context = context;
  }

  /**
   * Creates a row in its turn. Call it in the order of the rows.
   *
   * @param parse returns the parsed row.
   * @param insert stores it.
   * @throws {UniqueConstraintError} if a row before it has one of its keys.
   * @throws what `parse` and `insert` throw.
   */
  async create<T>(
    parse: () => AnyRow | Promise<AnyRow>,
    insert: (row: AnyRow) => Promise<T>,
  ): Promise<T> {
    const entrant = new Entrant();
    const position = this.#entrants.push(entrant);
    try {
      const row = await this.#parsed(entrant, parse);
      if (this.#placed < position) {
        await new Promise<void>((resolve) => {
          entrant.onPlaced = resolve;
        });
      }
      const taken = entrant.turn && (await entrant.turn);
      if (taken !== undefined) throw taken;
      const created = await insert(row);
      entrant.end("created");
      return created;
    } catch (error) {
      entrant.end({ error });
      throw error;
    }
  }

  async #parsed(entrant: Entrant, parse: () => AnyRow | Promise<AnyRow>): Promise<AnyRow> {
    try {
      const row = await parse();
      Object.assign(entrant, keysOf(this.#context, row));
      return row;
    } finally {
      entrant.isParsed = true;
      this.#placeNext();
    }
  }

  /** Gives a place to all rows before the first one whose keys are not known yet. */
  #placeNext(): void {
    for (; this.#entrants[this.#placed]?.isParsed; this.#placed++) {
      const entrant = this.#entrants[this.#placed]!;
      this.#place(entrant);
      entrant.onPlaced?.();
    }
  }

  #place(entrant: Entrant): void {
    const earlier = entrant.unique.flatMap(({ text }) => this.#holders.get(text) ?? []);
    const targets = entrant.referenced.flatMap((text) => this.#holders.get(text) ?? []);
    if (earlier.length + targets.length > 0) entrant.turn = this.#turnAfter(earlier, targets);
    for (const key of entrant.unique) {
      this.#holders.set(key.text, { entrant, key, before: this.#holders.get(key.text) });
    }
  }

  async #turnAfter(earlier: readonly Holder[], targets: readonly Holder[]): Promise<Taken> {
    const taken = await awaitAll(earlier.map((holder) => this.#takenAfter(holder)));
    await awaitAll(targets.map((holder) => this.#takenAfter(holder)));
    return taken.find((error) => error !== undefined);
  }

  async #takenAfter(holder: Holder): Promise<Taken> {
    const { entrant, key, before } = holder;
    holder.taken ??= (async () => {
      // If the key is taken, this row cannot be created, so the next one need not wait for it.
      const earlier = before && (await this.#takenAfter(before));
      return earlier ?? takenBy(this.#context, entrant, key, await entrant.ended);
    })();
    return await holder.taken;
  }
}

/** True if a row was refused because another row has its primary key or a unique value. */
export function isDuplicate(
  { name }: CompiledModel,
  error: unknown,
): error is UniqueConstraintError {
  return error instanceof UniqueConstraintError && error.model === name && !isHookError(error);
}

type Keys = Pick<Entrant, "primaryKey" | "unique" | "referenced">;

function keysOf(context: TableContext, row: AnyRow): Keys {
  const { model, catalog, links } = context;
  try {
    const primaryKey = primaryKeyOf(model, row);
    const keys: UniqueKey[] = [];
    const add = (key: KvKey, index?: CompiledIndex) =>
      keys.push({ text: keyText(key), key, index });
    add(rowKey(model, primaryKey));
    for (const index of catalog.snapshot.maintained) {
      if (!index.unique) continue;
      for (const key of indexKeys(model, index, row, primaryKey)) add(key, index);
    }
    const referenced: string[] = [];
    for (const { relation, target } of links.relations.values()) {
      if (relation.kind !== "belongsTo" || target.name !== model.name) continue;
      const key = referencedKey(relation.fields, row);
      if (key !== undefined) referenced.push(keyText(rowKey(model, key)));
    }
    return { primaryKey, unique: keys, referenced };
  } catch {
    // The write reports what is wrong, such as a value that no key can hold.
    return { primaryKey: [], unique: [], referenced: [] };
  }
}

/** Returns the error of the next row with a key. */
function takenBy(
  { model, catalog }: TableContext,
  { primaryKey }: Entrant,
  { key, index }: UniqueKey,
  outcome: Outcome,
): Taken {
  if (outcome === "created") {
    if (index !== undefined) return takenError(model, { index, key, owner: primaryKey });
    return new UniqueConstraintError(model.name, {
      index: "primaryKey",
      fields: model.primaryKey,
      value: primaryKey,
      ownerId: pointerOf(primaryKey),
    });
  }
  const { error } = outcome;
  const name = index?.name ?? "primaryKey";
  if (!isDuplicate(model, error) || error.index !== name) return undefined;
  // While an index is replaced, two have its name, and the error does not say which one it is.
  const named = catalog.snapshot.maintained.filter((other) => other.name === name);
  if (named.length > 1 || !isSameKey(error.value, key.slice(1))) return undefined;
  return error;
}
