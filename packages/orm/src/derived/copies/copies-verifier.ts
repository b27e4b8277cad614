import type { KvEntry, KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { keyText } from "../../model/keys/key-text.js";
import { pointerOf } from "../../model/keys/primary-key.js";
import { viewOf } from "../../state/context/read-view.js";
import type { RelatedStore } from "../../state/context/table-context.js";
import { foundRow, readWithSchema } from "../../state/rows/read-rows.js";
import type { RenewRows } from "../maintenance.js";
import type { OutdatedCopy, Verification } from "../verify/verification.js";
import type { Confirmed, Suspect, Verifier } from "../verify/verifier.js";
import {
  compareAgain,
  compareCopies,
  copyRelations,
  type SuspectCopies,
} from "./compare-copies.js";

/** The rows of a model whose copied fields a verification found wrong. */
export interface CheckedCopies {
  /** The number of rows with wrong copies. */
  readonly count: number;
  /** The first 100. A row is listed once for each relation. */
  readonly first: readonly OutdatedCopy[];
  /** How many of these rows were written again. */
  readonly repaired: number;
}

/**
 * Compares the copied fields of rows with the rows that they copy. A row that is wrong is written
 * again by a commit that checks both rows.
 */
export class CopiesVerifier implements Verifier<SuspectCopies> {
  readonly #store: RelatedStore;
  readonly #verification: Verification;
  readonly #renewRows: RenewRows | undefined;

  /** @param renewRows repairs rows. Undefined to only report them. */
  constructor(store: RelatedStore, verification: Verification, renewRows: RenewRows | undefined) {
    this.#store = store;
    this.#verification = verification;
    this.#renewRows = renewRows;
  }

  async compareRows(page: readonly KvEntry<AnyRow>[]): Promise<Suspect<SuspectCopies>[]> {
    if (!this.#verification.isSumming) return [];
    const suspects = await suspectCopies(this.#store, page);
    return suspects.map((suspect) => async () => {
      const fields = await compareAgain(this.#store, suspect);
      return fields.length === 0 ? undefined : { ...suspect, fields };
    });
  }

  async settle(confirmed: readonly Confirmed<SuspectCopies>[]): Promise<void> {
    const found = confirmed.map((one) => one.found);
    const ids = primaryKeysOf(found);
    const { copies } = this.#verification.state;
    copies.count += ids.length;
    copies.repaired += (await this.#renewRows?.(ids)) ?? 0;
    const { name: model } = this.#store.model;
    for (const { primaryKey, copying, fields } of found) {
      const id = pointerOf(primaryKey);
      this.#verification.list("copy", { model, id, relation: copying.name, fields });
    }
  }
}

/** Returns the rows of a page whose copies differ, by each relation. */
export async function suspectCopies(
  store: RelatedStore,
  page: readonly KvEntry<AnyRow>[],
): Promise<SuspectCopies[]> {
  const relations = copyRelations(store);
  if (relations.length === 0) return [];
  const view = viewOf(store);
  const entries = await readWithSchema(view, async () => [...page]);
  const found = entries.flatMap((entry) => {
    const primaryKey = entry.key.slice(1);
    if (primaryKey.length !== store.model.primaryKey.length) return [];
    return foundRow(view, primaryKey, entry, true) ?? [];
  });
  const suspects: SuspectCopies[] = [];
  for (const copying of relations) suspects.push(...(await compareCopies(store, copying, found)));
  return suspects;
}

/** Returns the primary keys of rows, each once. */
export function primaryKeysOf(suspects: readonly SuspectCopies[]): (readonly KvKeyPart[])[] {
  return [...new Map(suspects.map(({ primaryKey }) => [keyText(primaryKey), primaryKey])).values()];
}
