import type * as z from "zod";

export type Schema = z.core.$ZodType;
export type Check = z.core.$ZodCheck<never>;

/** The definition of a schema or a check of any type. Each type has some of the properties. */
export interface SchemaDefinition {
  readonly type: string;
  readonly check?: string;
  readonly checks?: readonly Check[];
  readonly coerce?: boolean;
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly value?: unknown;
  readonly values?: readonly unknown[];
  readonly entries?: Readonly<Record<string, string | number>>;
  readonly inclusive?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly size?: number;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly catchall?: Schema;
  readonly element?: Schema;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
  readonly items?: readonly Schema[];
  readonly rest?: Schema | null;
  readonly options?: readonly Schema[];
  readonly discriminator?: string;
  readonly left?: Schema;
  readonly right?: Schema;
  readonly innerType?: Schema;
  readonly in?: Schema;
  readonly out?: Schema;
  readonly transform?: unknown;
}

export function definitionOf(schema: Schema): SchemaDefinition {
  return schema._zod.def as unknown as SchemaDefinition;
}

export function lazySchema(schema: Schema): Schema {
  return (schema as z.core.$ZodLazy)._zod.innerType;
}
