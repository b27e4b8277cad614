import type { CityRow } from "./generated/index.js";

/** The result of a call, and how long it took. */
export async function timed<T>(
  call: () => Promise<T>,
): Promise<{ result: T; milliseconds: number }> {
  const startedAt = performance.now();
  const result = await call();
  return { result, milliseconds: performance.now() - startedAt };
}

export function heading(text: string, milliseconds?: number): void {
  const time = milliseconds === undefined ? "" : `  (${milliseconds.toFixed(2)} ms)`;
  console.log(`\n${text}${time}`);
}

export function perSecond(what: string, rows: number, milliseconds: number): string {
  const rate = Math.round((rows / milliseconds) * 1000).toLocaleString("en");
  return `${rows.toLocaleString("en")} ${what} in ${(milliseconds / 1000).toFixed(1)} s (${rate} rows/s)`;
}

export function table(rows: readonly CityRow[]): void {
  const columns = rows.map(({ name, country, population, location, cityId }) => ({
    name,
    country,
    population: population.toLocaleString("en"),
    location: `${location.latitude}, ${location.longitude}`,
    cityId,
  }));
  console.table(columns);
}
