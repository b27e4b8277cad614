import type * as z from "zod";
import { ModelDefinitionError } from "../../errors/schema-errors.js";
import type { Model } from "../model.js";

/** The fields that `timestamps: true` maintains. */
export const timestampFields = ["createdAt", "updatedAt"] as const;

type TimestampField = (typeof timestampFields)[number];

/** How a time is written: `z.date()`, a number of milliseconds, or a text such as an ISO date. */
type TimestampForm = "date" | "milliseconds" | "text";

export type Timestamps = Readonly<Record<TimestampField, TimestampForm>>;

/**
 * Checks the fields of a model with `timestamps: true`.
 *
 * @throws {ModelDefinitionError} if the schema lacks one, or refuses every form of a time. Also if
 * the data of a write would need it, because its input has no default.
 */
export function compileTimestamps({ name, schema, timestamps }: Model): Timestamps | undefined {
  if (timestamps !== true) return undefined;
  const formOf = (field: TimestampField): TimestampForm => {
    const fail = (problem: string): never => {
      const reason = `${problem}; write ${field}: z.date().default(() => new Date())`;
      throw new ModelDefinitionError(name, "timestamps", reason);
    };
    const type: z.ZodType = schema.shape[field] ?? fail(`the schema has no field "${field}"`);
    if (type._zod.optin === undefined) fail(`the field "${field}" needs a default`);
    return acceptedForm(type) ?? fail(`the field "${field}" cannot hold a time`);
  };
  return { createdAt: formOf("createdAt"), updatedAt: formOf("updatedAt") };
}

const forms: readonly TimestampForm[] = ["date", "milliseconds", "text"];

function acceptedForm(type: z.ZodType): TimestampForm | undefined {
  const now = Date.now();
  return forms.find((form) => {
    try {
      return type.safeParse(inForm(form, now)).success;
    } catch {
      // An asynchronous part.
      return false;
    }
  });
}

/** Returns the time that a field holds, in milliseconds since 1970. Undefined if it holds none. */
export function timeIn(value: unknown): number | undefined {
  const isTime = value instanceof Date || typeof value === "number" || typeof value === "string";
  const time = isTime ? new Date(value).getTime() : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** @param now in milliseconds since 1970. */
export function inForm(form: TimestampForm, now: number): Date | number | string {
  if (form === "milliseconds") return now;
  return form === "date" ? new Date(now) : new Date(now).toISOString();
}
