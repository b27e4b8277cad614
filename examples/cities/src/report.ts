import type { CityRow } from "./generated/index.js";

/** Returns the result of a call and how long the call took. */
export async function measureTime<T>(
  call: () => Promise<T>,
): Promise<{ result: T; milliseconds: number }> {
  const startedAt = performance.now();
  const result = await call();
  return { result, milliseconds: performance.now() - startedAt };
}

export function printHeading(text: string, milliseconds?: number): void {
  const time = milliseconds === undefined ? "" : `  (${milliseconds.toFixed(2)} ms)`;
  console.log(`\n${text}${time}`);
}

/** Prints the columns that fit into a terminal of 60 columns. */
export function printTable(rows: readonly CityRow[]): void {
  const columns = rows.map(({ name, country, population }) => ({
    name,
    country,
    population: population.toLocaleString("en"),
  }));
  console.table(columns);
}
