import type { JsonSchema } from "@keywright/orm/codegen";
import { dateSource, literalSource, UnwritableError } from "./literal-source.js";

/** Zod's number schemas with fixed bounds, and the type and bounds in a manifest. */
const presets: readonly (readonly [source: string, type: string, least: number, most: number])[] = [
  ["z.int32()", "integer", -(2 ** 31), 2 ** 31 - 1],
  ["z.uint32()", "integer", 0, 2 ** 32 - 1],
  ["z.float64()", "number", -Number.MAX_VALUE, Number.MAX_VALUE],
];

export function numberSource(schema: JsonSchema): string {
  const { type, minimum, maximum } = schema;
  const preset = presets.find(
    ([, ofType, min, max]) => type === ofType && minimum === min && maximum === max,
  );
  const isSafe = type === "integer";
  const base = preset?.[0] ?? (isSafe ? "z.int()" : "z.number()");
  const impliedBounds =
    preset?.slice(2) ?? (isSafe ? [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] : []);
  return [
    base,
    ...bounds.map(([word, method]) =>
      schema[word] === undefined || impliedBounds.includes(schema[word] as number)
        ? ""
        : `.${method}(${literalSource(schema[word])})`,
    ),
    ...divisorsOf(schema).map((divisor) => `.multipleOf(${literalSource(divisor)})`),
  ].join("");
}

export function bigintSource(schema: JsonSchema): string {
  const { format, multipleOf } = schema;
  const base = format === "int64" || format === "uint64" ? `z.${format}()` : "z.bigint()";
  const divisors = Array.isArray(multipleOf) ? (multipleOf as readonly unknown[]) : [];
  return [
    base,
    ...bounds.map(([word, method]) =>
      schema[word] === undefined ? "" : `.${method}(${bigintLiteral(schema[word])})`,
    ),
    ...divisors.map((divisor) => `.multipleOf(${bigintLiteral(divisor)})`),
  ].join("");
}

export function dateSchemaSource(schema: JsonSchema): string {
  const conditions = bounds.map(([word, method]) => {
    if (schema[word] === undefined) return "";
    const bound = dateSource(new Date(String(schema[word])));
    return method === "min" || method === "max"
      ? `.${method}(${bound})`
      : `.check(z.${method}(${bound}))`;
  });
  return ["z.date()", ...conditions].join("");
}

const bounds = [
  ["minimum", "min"],
  ["exclusiveMinimum", "gt"],
  ["maximum", "max"],
  ["exclusiveMaximum", "lt"],
] as const;

function divisorsOf({ multipleOf, allOf }: JsonSchema): readonly unknown[] {
  const others = Array.isArray(allOf) ? (allOf as readonly JsonSchema[]) : [];
  return [multipleOf, ...others.map((other) => other.multipleOf)].filter(
    (divisor) => divisor !== undefined,
  );
}

function bigintLiteral(text: unknown): string {
  if (typeof text === "string" && /^-?\d+$/.test(text)) return `${text}n`;
  throw new UnwritableError("it is no bigint");
}
