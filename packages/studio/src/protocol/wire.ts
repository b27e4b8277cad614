import { parse, stringify } from "devalue";

/**
 * Encodes a value as text, with dates, bigints, bytes, maps and sets.
 *
 * @param textOf returns the text of a value that the format does not have, otherwise undefined.
 */
export function encode(
  value: unknown,
  textOf: (value: unknown) => string | undefined = () => undefined,
): string {
  return stringify(value, {
    KvU64: (each) => isU64(each) && [each.value],
    Text: (each) => {
      const text = each instanceof WireText ? each.text : textOf(each);
      return text !== undefined && [text];
    },
  });
}

/**
 * Decodes what {@link encode} returned.
 *
 * @param u64Of makes a 64-bit integer: on the server that of the database.
 */
export function decode<T>(
  text: string,
  u64Of: (value: bigint) => unknown = (value) => new WireU64(value),
): T {
  return parse(text, {
    KvU64: ([value]: [bigint]) => u64Of(value),
    Text: ([shown]: [string]) => new WireText(shown),
  }) as T;
}

/** A `KvU64` without the code of the database, for the page. */
export class WireU64 {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A value that can only be shown. */
export class WireText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

function isU64(value: unknown): value is { readonly value: bigint } {
  if (typeof value !== "object" || value === null) return false;
  const { name } = value.constructor ?? { name: "" };
  if (name !== "WireU64" && name !== "KvU64") return false;
  return typeof (value as { readonly value?: unknown }).value === "bigint";
}
