import type { FieldInfo, FieldKind } from "../../src/protocol/studio-info.js";
import { bytesIn } from "./hex-text.js";
import { untagged } from "./tagged-json.js";

/** The form that a text must have to be a value of a field. */
export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Returns the value that somebody typed for a field. */
export function parseValue(field: Pick<FieldInfo, "kind" | "choices">, text: string): Parsed {
  if (field.kind === "choice") {
    const choice = field.choices.find((each) => String(each) === text);
    return choice === undefined ? no("This is none of the values.") : yes(choice);
  }
  return parsers[field.kind](text);
}

const parsers: Readonly<Record<Exclude<FieldKind, "choice">, (text: string) => Parsed>> = {
  string: yes,
  number: (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    const isNumber = !Number.isNaN(value) || text.trim() === "NaN";
    return isNumber ? yes(value) : no("This is not a number.");
  },
  bigint: (text) => {
    const digits = text.trim().replace(/n$/, "");
    return /^-?\d+$/.test(digits) ? yes(BigInt(digits)) : no("This is not a whole number.");
  },
  boolean: (text) => {
    const isBoolean = text === "true" || text === "false";
    return isBoolean ? yes(text === "true") : no("This is neither true nor false.");
  },
  date: (text) => {
    const value = new Date(text.trim());
    const isDate = !Number.isNaN(value.getTime());
    return isDate ? yes(value) : no("This is not a date, such as 2025-01-31T12:00:00.000Z.");
  },
  bytes: (text) => attempt(() => bytesIn(text)),
  data: (text) => attempt(() => untagged(JSON.parse(text)), "This is not JSON. "),
};

function attempt(read: () => unknown, before = ""): Parsed {
  try {
    return yes(read());
  } catch (error) {
    return no(before + (error instanceof Error ? error.message : String(error)));
  }
}

function yes(value: unknown): Parsed {
  return { ok: true, value };
}

function no(message: string): Parsed {
  return { ok: false, message };
}
