import type { Kv } from "@keywright/core";
import { openRepositories } from "./generated/index.js";
import { heading, table, timed } from "./report.js";

const parisInGeoNames = 2988507;

/** Prints what the first indexes are for: one row by each of its keys, and the first page of a country. */
export async function explore(kv: Kv): Promise<void> {
  const { cities } = await openRepositories(kv);

  const paris = await timed(() => cities.findByCityId(parisInGeoNames));
  heading(`cities.findByCityId(${parisInGeoNames})`, paris.milliseconds);
  table(paris.result ? [paris.result] : []);

  const id = paris.result?.id ?? "";
  const same = await timed(() => cities.findById(id));
  heading(`cities.findById("${id}")`, same.milliseconds);
  table(same.result ? [same.result] : []);

  const page = await timed(() => cities.listByCountry("IS", { take: 5 }));
  heading('cities.listByCountry("IS", { take: 5 })', page.milliseconds);
  table(page.result.items);
  console.log(`cursor of the next page: ${page.result.cursor}`);
}
