const days = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const months = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");

/** The names and the limits of each field of Deno. */
const fieldRules: readonly { readonly names: readonly string[]; min: number; max: number }[] = [
  { names: [], min: 0, max: 59 },
  { names: [], min: 0, max: 23 },
  { names: [], min: 1, max: 31 },
  { names: months, min: 1, max: 12 },
  { names: days, min: 1, max: 7 },
];

/**
 * Writes ranges whose end is before their beginning as two: `FRI-MON` as `6-7,1-2`. Deno accepts
 * them, and the parser does not.
 */
export function unwrapRanges(fields: readonly string[]): string[] {
  return fields.map((field, i) => {
    const rule = fieldRules[i];
    if (rule === undefined) return field;
    return field
      .split(",")
      .map((part) => unwrap(part, rule))
      .join(",");
  });
}

function unwrap(part: string, { names, min, max }: (typeof fieldRules)[number]): string {
  const [, first, last] = /^(\w+)-(\w+)$/.exec(part) ?? [];
  if (first === undefined || last === undefined) return part;
  const numberOf = (text: string) => {
    const index = names.indexOf(text.toUpperCase());
    return index === -1 ? Number(text) : index + min;
  };
  const [start, end] = [numberOf(first), numberOf(last)];
  if (!(start > end) || start > max || end < min) return part;
  return `${start}-${max},${min}-${end}`;
}
