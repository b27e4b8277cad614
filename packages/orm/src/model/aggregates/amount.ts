import type { SummedField } from "./summed-field.js";

/** The bits of a limb. The sum of a limb over fewer than 2^31 rows fits into 64 bits. */
const limbBits = 32n;
const limbMask = (1n << limbBits) - 1n;
/** The limbs of a value of each type: enough for a safe integer, or for 127 bits. */
const limbCounts = { number: 2, bigint: 4, string: 4 } as const;
const maxAmount = (1n << 127n) - 1n;

/** The position of the counter of the rows that have a value, before those of the limbs. */
export const valueCount = -1;

/** Returns the positions of the counters that hold a sum. */
export function limbsOf({ type, scale, isOptional }: SummedField): number[] {
  const count = scale > 0 ? limbCounts.string : limbCounts[type];
  const limbs = Array.from({ length: count }, (_, limb) => limb);
  return isOptional ? [valueCount, ...limbs] : limbs;
}

/**
 * Returns a value as the integer that is added to the sum. Undefined if it cannot be added: an
 * absent value, or one that was written without the schema.
 */
export function amountOf({ type, scale }: SummedField, value: unknown): bigint | undefined {
  if (typeof value !== type) return undefined;
  let amount: bigint | undefined;
  if (typeof value === "bigint") amount = value;
  else if (scale > 0 || typeof value === "string") amount = scaledAmount(String(value), scale);
  else if (Number.isSafeInteger(value)) amount = BigInt(value as number);
  if (amount === undefined || amount > maxAmount || amount < -maxAmount) return undefined;
  return amount;
}

const decimalNumber = /^([+-]?)(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/;

function scaledAmount(text: string, scale: number): bigint | undefined {
  const [, sign, whole = "", fraction = "", exponent = "0"] = decimalNumber.exec(text) ?? [];
  if (sign === undefined) return undefined;
  // The digits after the point of the integer that is stored. They must all be zero.
  const left = fraction.length - Number(exponent) - scale;
  const digits = whole + fraction;
  if (left <= 0) return signed(sign, BigInt(digits) * 10n ** BigInt(-left));
  const divisor = 10n ** BigInt(left);
  const value = BigInt(digits);
  return value % divisor === 0n ? signed(sign, value / divisor) : undefined;
}

function signed(sign: string, value: bigint): bigint {
  return sign === "-" ? -value : value;
}

/** Returns what an amount adds to each limb that it changes. */
export function limbsOfAmount(amount: bigint): (readonly [limb: number, by: bigint])[] {
  const limbs: (readonly [number, bigint])[] = [];
  const isNegative = amount < 0n;
  let rest = isNegative ? -amount : amount;
  for (let limb = 0; rest > 0n; limb++) {
    const by = rest & limbMask;
    if (by !== 0n) limbs.push([limb, isNegative ? -by : by]);
    rest >>= limbBits;
  }
  return limbs;
}

/** Returns a limb's part of the sum, by the stored 64 bits of the limb. */
export function amountOfLimb(limb: number, stored: bigint): bigint {
  const amount = BigInt.asIntN(64, stored);
  return limb === 0 ? amount : amount << (BigInt(limb) * limbBits);
}

/**
 * Returns a sum as a value of the field's type.
 *
 * @param refuse throws an error if the sum is a number that is not a safe integer.
 */
export function sumAsValue(
  { type, scale }: SummedField,
  sum: bigint,
  refuse: () => never,
): number | bigint | string {
  if (type === "bigint") return sum;
  if (type === "string" || scale > 0) {
    const text = decimalText(sum, scale);
    return type === "string" ? text : Number(text);
  }
  const value = Number(sum);
  return Number.isSafeInteger(value) ? value : refuse();
}

export function averageOf({ scale }: SummedField, sum: bigint, count: bigint): number {
  // With one more limb of digits, the quotient is as exact as a number can be.
  const digits = 20;
  const quotient = (sum * 10n ** BigInt(digits)) / count;
  return Number(`${quotient}e-${digits + scale}`);
}

function decimalText(sum: bigint, scale: number): string {
  const sign = sum < 0n ? "-" : "";
  const digits = String(sum < 0n ? -sum : sum).padStart(scale + 1, "0");
  if (scale === 0) return sign + digits;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
