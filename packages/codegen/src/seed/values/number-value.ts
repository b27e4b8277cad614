import { checksOf, type Definition, type Place } from "./place.js";

/** The range of a number that the schema does not limit. */
const span = 1000;
const integerFormats: ReadonlySet<string> = new Set(["safeint", "int32", "uint32"]);
const bigintFormats: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
};

/** Plausible ranges by the name of a field. */
const rangesByName: readonly (readonly [RegExp, readonly [number, number]])[] = [
  [/age$/i, [18, 90]],
  [/year$/i, [1990, 2025]],
  [/month$/i, [1, 12]],
  [/(day|dayOfMonth)$/i, [1, 28]],
  [/(percent|percentage|progress)$/i, [0, 100]],
  [/(rating|stars|priority)$/i, [1, 5]],
  [/(quantity|qty)$/i, [1, 10]],
  [/(lat|latitude)$/i, [-90, 90]],
  [/(lng|lon|longitude)$/i, [-180, 180]],
];

interface Limits<N> {
  readonly low: N | undefined;
  readonly high: N | undefined;
  readonly steps: readonly N[];
}

export function numberValue(def: Definition, place: Place): number {
  const checks = checksOf(def);
  const isInteger = checks.some(({ format }) => integerFormats.has(format ?? ""));
  const isUnsigned = checks.some(({ format }) => format === "uint32");
  const { low, high, steps } = limitsOf<number>(checks, isInteger ? 1 : 0);
  const named = rangesByName.find(([name]) => name.test(String(place.path.at(-1))))?.[1];
  const [lowest, highest] = rangeOf(isUnsigned ? Math.max(low ?? 0, 0) : low, high, named);
  const { faker } = place.fakes;
  const step = steps[place.attempt % Math.max(1, steps.length)];
  if (step !== undefined) {
    const [first, last] = [Math.ceil(lowest / step), Math.floor(highest / step)];
    const multiple = faker.number.int({ min: first, max: Math.max(first, last) });
    return rounded(multiple * step, decimalsOf(step));
  }
  if (isInteger) {
    const [min, max] = [Math.ceil(lowest), Math.floor(highest)];
    return faker.number.int({ min, max: Math.max(min, max) });
  }
  const value = faker.number.float({ min: lowest, max: highest });
  // Two decimals look like an amount. A narrow range, or a failure, needs all of them.
  const decimals = place.decimals ?? (highest - lowest >= 1 && place.attempt === 0 ? 2 : undefined);
  if (decimals === undefined) return isExact(checks) ? Math.fround(value) : value;
  const short = rounded(value, decimals);
  return isExact(checks) ? Math.fround(short) : short;
}

/** True if the number must be one of 32 bits. */
function isExact(checks: readonly Definition[]): boolean {
  return checks.some(({ format }) => format === "float32");
}

export function bigintValue(def: Definition, { fakes }: Place): bigint {
  const checks = checksOf(def);
  const limits = limitsOf<bigint>(checks, 1n);
  const [least, most] = checks
    .map(({ format }) => bigintFormats[format ?? ""])
    .find((range) => range !== undefined) ?? [undefined, undefined];
  const low = limits.low ?? (limits.high === undefined ? 0n : limits.high - BigInt(span));
  const min = least !== undefined && least > low ? least : low;
  const high = limits.high ?? min + BigInt(span);
  const max = most !== undefined && most < high ? most : high;
  const [step] = limits.steps;
  if (step === undefined) return fakes.faker.number.bigInt({ min, max: max < min ? min : max });
  const first = min / step + (min > 0n && min % step !== 0n ? 1n : 0n);
  const last = max / step - (max < 0n && max % step !== 0n ? 1n : 0n);
  return fakes.faker.number.bigInt({ min: first, max: last < first ? first : last }) * step;
}

/** @param unit what the value above an exclusive limit differs by. 0 for fractions. */
function limitsOf<N extends number | bigint>(checks: readonly Definition[], unit: N): Limits<N> {
  let [low, high]: [N | undefined, N | undefined] = [undefined, undefined];
  const steps: N[] = [];
  for (const { check, value, inclusive } of checks) {
    const limit = value as N;
    if (check === "greater_than") {
      const first = (inclusive ? limit : limit + (unit as never)) as N;
      if (low === undefined || first > low) low = first;
    } else if (check === "less_than") {
      const last = (inclusive ? limit : limit - (unit as never)) as N;
      if (high === undefined || last < high) high = last;
    } else if (check === "multiple_of") steps.push((limit < 0 ? -limit : limit) as N);
  }
  return { low, high, steps };
}

/** Completes the limits of the schema. A range by name is used if the schema allows all of it. */
function rangeOf(
  low: number | undefined,
  high: number | undefined,
  named: readonly [number, number] | undefined,
): readonly [number, number] {
  if (named !== undefined) {
    const [first, last] = [
      Math.max(low ?? named[0], named[0]),
      Math.min(high ?? named[1], named[1]),
    ];
    if (first < last) return [first, last];
  }
  const start = low ?? (high === undefined ? 0 : high - span);
  return [start, Math.max(start, high ?? start + span)];
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}

/** `0.05` → 2. */
function decimalsOf(step: number): number {
  const [digits = "", exponent = "0"] = String(step).split("e");
  return Math.min(100, Math.max(0, (digits.split(".")[1] ?? "").length - Number(exponent)));
}
