/** How many rows of each model: of all models, or of those that are named. */
export type RowCounts = number | Readonly<Record<string, number>>;

/** `100` → the same number for all models. `users=100,posts=500` → a number for each of these. */
export function parseRowCounts(text: string): RowCounts | undefined {
  if (isCount(text)) return Number(text);
  const counts: Record<string, number> = {};
  for (const part of text.split(",")) {
    const [name = "", count = "", ...rest] = part.trim().split("=");
    if (name === "" || !isCount(count) || rest.length > 0 || Object.hasOwn(counts, name)) {
      return undefined;
    }
    counts[name] = Number(count);
  }
  return counts;
}

function isCount(text: string): boolean {
  return /^[0-9]{1,12}$/.test(text);
}
