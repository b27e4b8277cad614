import type { KvEntry, KvKeyPart, KvLoggedValue } from "@keywright/core";
import { rowKey } from "../../model/keys/primary-key.js";
import { catalogKey } from "../../state/catalog/catalog-entry.js";
import type { CatalogSnapshot } from "../../state/catalog/catalog-snapshot.js";
import type { FoundRow } from "../../state/context/any-query.js";
import { viewOf } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";
import { foundRow } from "../../state/rows/read-rows.js";
import type { CommitLog } from "./commit-log.js";

/** An entry of the catalog as it was from a commit on. */
interface Epoch {
  readonly entry: Pick<KvEntry<unknown>, "value" | "versionstamp">;
  /** How the program reads rows that were written then. Made when it is needed. */
  snapshot?: Promise<CatalogSnapshot>;
}

/**
 * Decodes the rows in the log. A row may have been stored under an earlier schema. The catalog
 * entry of that time says which, and the log has it.
 */
export class LoggedRows {
  readonly #context: TableContext;
  readonly #log: CommitLog;
  /** From the newest to the oldest, as far as they were read. */
  readonly #epochs: Epoch[] = [];
  /** True if the log has no catalog entry before the oldest of them. */
  #isComplete = false;

  /** @param context also reads rows that are marked as deleted. */
  constructor(context: TableContext, log: CommitLog) {
    this.#context = context;
    this.#log = log;
  }

  /**
   * Returns a row of the log by the program's schema. Undefined if there was none, or if it is
   * outside of the scope.
   *
   * @throws {RowUpgradeError} if it cannot be upgraded, and `MigrationMissingError` if the program
   * lacks the migration.
   */
  async rowOf(
    primaryKey: readonly KvKeyPart[],
    stored: KvLoggedValue | null,
  ): Promise<FoundRow | undefined> {
    if (stored === null) return undefined;
    const view = viewOf(this.#context, await this.#snapshotAt(stored.versionstamp));
    return foundRow(view, primaryKey, { key: rowKey(view.model, primaryKey), ...stored });
  }

  /** Returns how the program reads rows that a commit has written. */
  async #snapshotAt(versionstamp: string): Promise<CatalogSnapshot> {
    const { catalog } = this.#context;
    let current = catalog.snapshot;
    while (!(await catalog.determinesSchema(current, [versionstamp]))) current = catalog.snapshot;
    const { versionstamp: since } = current.check;
    if (since === null || since <= versionstamp) return current;
    const epoch = await this.#epochAt(versionstamp, { value: current.entry, versionstamp: since });
    if (epoch === undefined) return current;
    epoch.snapshot ??= catalog.snapshotOf(epoch.entry);
    return await epoch.snapshot;
  }

  /** Returns the epoch of a commit. Undefined if the log has no change of the catalog since. */
  async #epochAt(versionstamp: string, current: Epoch["entry"]): Promise<Epoch | undefined> {
    const epochs = this.#epochs;
    if (epochs[0]?.entry.versionstamp !== current.versionstamp) {
      // The catalog has changed, or nothing was read yet.
      epochs.length = 0;
      epochs.push({ entry: current });
      this.#isComplete = false;
    }
    for (;;) {
      const found = epochs.find(({ entry }) => entry.versionstamp <= versionstamp);
      if (found !== undefined) return found;
      if (this.#isComplete) return epochs.length === 1 ? undefined : epochs.at(-1);
      await this.#readEarlier(epochs);
    }
  }

  async #readEarlier(epochs: Epoch[]): Promise<void> {
    const oldest = epochs.at(-1)!;
    const key = catalogKey(this.#context.model);
    const commit = await this.#log.commitAt(oldest.entry.versionstamp, { key });
    const before = commit?.changes[0]?.before;
    if (epochs.at(-1) !== oldest) return;
    if (before) epochs.push({ entry: before });
    else this.#isComplete = true;
  }
}
