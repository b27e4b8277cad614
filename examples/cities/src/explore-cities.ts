import type { Kv } from "@keywright/core";
import { openRepositories } from "./generated/index.js";
import { measureTime, printHeading, printTable } from "./report.js";

const parisInGeoNames = 2988507;

/** Prints what the first indexes find: one row by each of its keys, and one page of a country. */
export async function explore(kv: Kv): Promise<void> {
  const { cities } = await openRepositories(kv);
  printHeading("Three queries, with the time of the first call of each");

  const paris = await measureTime(() => cities.findByCityId(parisInGeoNames));
  printHeading(`cities.findByCityId(${parisInGeoNames})`, paris.milliseconds);
  printTable(paris.result ? [paris.result] : []);

  const id = paris.result?.id ?? "";
  const same = await measureTime(() => cities.findById(id));
  printHeading(`cities.findById("${id}")`, same.milliseconds);
  printTable(same.result ? [same.result] : []);

  const page = await measureTime(() => cities.listByCountry("IS", { take: 5 }));
  printHeading('cities.listByCountry("IS", { take: 5 })', page.milliseconds);
  printTable(page.result.items);
  console.log(`Cursor of the next page: ${page.result.cursor}`);
}
