import type { Shop } from "./database.js";

/** A line of a supplier's list. */
export interface ListedProduct {
  readonly sku: string;
  readonly name: string;
  readonly category: string;
  readonly cents: number;
  readonly stock: number;
}

/** What an import has done. `failed` has the positions of the lines that were refused. */
export interface Imported {
  readonly created: number;
  readonly skipped: number;
  readonly failed: readonly number[];
}

/** Creates the products that the shop does not have. An import can be repeated. */
export async function importProducts(shop: Shop, list: ListedProduct[]): Promise<Imported> {
  const { count, skipped, results } = await shop.products.createMany({
    data: list,
    skipDuplicates: true,
  });
  const failed = results.flatMap((result) => (result.ok ? [] : [result.position]));
  return { created: count, skipped, failed };
}
