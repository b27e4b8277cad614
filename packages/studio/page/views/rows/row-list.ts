import type { RowsQuery, VersionedRow } from "../../../src/protocol/rows.js";
import type { StudioError } from "../../../src/protocol/studio-error.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { errorDetails } from "../../api/call-error.js";
import { keyId } from "../../navigation/links.js";

/** The first page is small, so that the list appears at once. */
const firstPage = 100;
const laterPage = 500;

/** A row of the list, and what became of it since it was read. */
export interface ShownRow {
  readonly id: string;
  readonly row: VersionedRow["row"];
  readonly versionstamp: string;
  readonly state: "same" | "changed" | "gone";
  /** When the change was seen, in milliseconds. */
  readonly seenAt: number;
}

/**
 * Holds the rows of a query that were loaded so far. The list is changed in place and tells it with
 * `onChange`: a copy for each page would take longer and longer.
 */
export class RowList {
  readonly rows: ShownRow[] = [];
  error: StudioError | null = null;
  isLoading = false;
  /** True if there are no more rows. */
  isComplete = false;
  readonly #model: ModelInfo;
  readonly #query: RowsQuery;
  readonly #onChange: () => void;
  readonly #places = new Map<string, number>();
  #cursor: string | null = null;

  constructor(model: ModelInfo, query: RowsQuery, onChange: () => void) {
    this.#model = model;
    this.#query = query;
    this.#onChange = onChange;
  }

  /** Loads the next page, unless one is being loaded or the list is complete. */
  async loadMore(): Promise<void> {
    if (this.isLoading || this.isComplete) return;
    this.isLoading = true;
    this.error = null;
    this.#onChange();
    try {
      const cursor = this.#cursor;
      const take = cursor === null ? firstPage : laterPage;
      const query = { ...this.#query, take, ...(cursor !== null && { cursor }) };
      const page = await call("rows", { property: this.#model.property, query });
      for (const item of page.items) this.#add(item);
      this.#cursor = page.cursor;
      this.isComplete = page.cursor === null;
    } catch (error) {
      this.error = errorDetails(error);
    }
    this.isLoading = false;
    this.#onChange();
  }

  has(id: string): boolean {
    return this.#places.has(id);
  }

  find(id: string): ShownRow | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.rows[place];
  }

  /** Shows a row as it is now, or as gone if it is null. */
  update(id: string, now: VersionedRow | null): void {
    const place = this.#places.get(id);
    const shown = place === undefined ? undefined : this.rows[place];
    if (place === undefined || shown === undefined) return;
    const seenAt = Date.now();
    if (now === null) this.rows[place] = { ...shown, state: "gone", seenAt };
    else if (now.versionstamp !== shown.versionstamp || shown.state === "gone") {
      this.rows[place] = { id, ...now, state: "changed", seenAt };
    }
    this.#onChange();
  }

  /** A row that moved in the index while pages were loaded can come twice. */
  #add(item: VersionedRow): void {
    const id = keyId(this.#model, item.row);
    if (!this.#places.has(id)) this.#places.set(id, this.rows.length);
    this.rows.push({ id, ...item, state: "same", seenAt: 0 });
  }
}
