import { TypeInexpressibleError } from "../errors/codegen-errors.js";
import { type Alternatives, textOf } from "./alternatives.js";
import { pascalCase } from "./identifiers.js";
import { maxSchemaDepth } from "./is-optional.js";
import { objectProperties, type Property } from "./object-type.js";
import type { Place } from "./place.js";
import { referredType, type Side } from "./place.js";
import { renamed, type TypeNames } from "./type-names.js";
import { typeOf } from "./type-of.js";
import type { Definition, Writer, ZodSchema } from "./writer.js";

export type ObjectSchema = ZodSchema & { readonly _zod: { readonly def: Definition<"object"> } };

/** A field whose type was spelled out although a reference to it is possible. */
export interface SpelledField {
  readonly side: Side;
  /** The fields that lead to it, followed by its own name. */
  readonly path: readonly string[];
  readonly type: string;
  readonly reference: string;
}

export interface WriterOptions {
  readonly side: Side;
  readonly model: string;
  readonly baseName: string;
  readonly names: TypeNames;
  /** The references to write although the types could be spelled out. */
  readonly referred: ReadonlySet<string>;
  readonly any: "any" | "unknown";
}

/** The reason in the error about a schema that nests without end. */
export const endlessSchemaReason =
  "it is nested without end; declare the schema as a constant, so that its getter returns the same schema each time";

interface OpenType {
  readonly path: readonly string[];
  /** Set when the schema occurs again within itself. */
  name?: string;
}

/**
 * Spells out the types of schemas. If a schema does not show its type at run time, as with the
 * result of a transform, the type becomes a reference at the nearest place that a type can refer
 * to.
 *
 * Types that exist only at compile time, such as brands, do not show here. The compiler finds them,
 * and `referred` contains the references to write for them.
 */
export class TypeWriter implements Writer {
  readonly side: Side;
  readonly any: "any" | "unknown";
  hasReferences = false;
  readonly #options: WriterOptions;
  readonly #names = new Map<ZodSchema, string>();
  readonly #open = new Map<ZodSchema, OpenType>();
  #fields: SpelledField[] = [];
  #rowName: string | undefined;
  #isRecursive = false;

  constructor(options: WriterOptions) {
    this.side = options.side;
    this.any = options.any;
    this.#options = options;
  }

  /**
   * Returns the properties of a row, or undefined if they cannot be written.
   *
   * @param name the name of the row's type. It is written where the schema contains itself.
   */
  rowProperties(schema: ObjectSchema, place: Place, name: string): readonly Property[] | undefined {
    this.#rowName = name;
    this.#names.set(schema, name);
    return objectProperties(this, schema._zod.def, place);
  }

  /** Nested fields come before the field that contains them. */
  get fields(): readonly SpelledField[] {
    return this.#fields;
  }

  get isRecursive(): boolean {
    return this.#isRecursive;
  }

  writeField(schema: ZodSchema, place: Place): Alternatives | undefined {
    const [reference] = this.#referenceTo(place);
    if (reference !== undefined && this.#options.referred.has(reference)) return this.refer(place);
    const type = this.write(schema, place);
    if (type === undefined) return this.refer(place);
    if (reference !== undefined) {
      this.#fields.push({ side: this.side, path: place.path, type: textOf(type), reference });
    }
    return type;
  }

  write(schema: ZodSchema | undefined, place: Place): Alternatives | undefined {
    if (schema === undefined) {
      throw this.fault(place, "it is undefined, perhaps because two modules import each other");
    }
    if (schema._zod === undefined) throw this.fault(place, "it is not a schema of Zod 4");
    const name = this.#names.get(schema);
    if (name === this.#rowName && name !== undefined) this.#isRecursive = true;
    if (name !== undefined) return [name];
    const outer = this.#open.get(schema);
    if (outer !== undefined) {
      outer.name ??= this.#claimName(outer.path);
      return [outer.name];
    }
    if (this.#open.size > maxSchemaDepth) {
      throw this.fault({ ...place, path: place.path.slice(0, 3) }, endlessSchemaReason);
    }
    return this.#writeNew(schema, place);
  }

  refer(place: Place): Alternatives | undefined {
    const type = this.#referenceTo(place);
    if (type.length === 0) return undefined;
    this.hasReferences = true;
    return type;
  }

  isName(member: string): boolean {
    return this.#isOpen(member) || [...this.#names.values()].includes(member);
  }

  mayBeUndefined(member: string): boolean {
    if (this.#isOpen(member)) return true;
    const type = this.#options.names.typeOf(member) ?? [member];
    return type.some(
      (part) =>
        part === "undefined" ||
        part === "unknown" ||
        part === "any" ||
        (part !== member && this.isName(part) && this.mayBeUndefined(part)),
    );
  }

  fault({ path }: Place, reason: string, cause?: unknown): TypeInexpressibleError {
    return new TypeInexpressibleError(
      { model: this.#options.model, path: path.join("."), reason },
      cause,
    );
  }

  #writeNew(schema: ZodSchema, place: Place): Alternatives | undefined {
    const { names } = this.#options;
    const open: OpenType = { path: place.path };
    const [namesBefore, fieldsBefore] = [names.declared.length, this.#fields.length];
    this.#open.set(schema, open);
    const type = typeOf(this, schema, place);
    this.#open.delete(schema);
    if (type === undefined) {
      // Types that were declared within it may use its name, which will not be declared.
      this.#forget(names.forget(namesBefore));
      this.#fields.length = fieldsBefore;
      return undefined;
    }
    if (open.name === undefined) return type;
    // A type that was declared within it may use its name, so the name must stay.
    const declaresNoOthers = names.declared.length === namesBefore;
    const name = names.declare(open.name, type, declaresNoOthers);
    if (name !== open.name) this.#rename(open.name, name, fieldsBefore);
    this.#names.set(schema, name);
    return [name];
  }

  #isOpen(member: string): boolean {
    return [...this.#open.values()].some(({ name }) => name === member);
  }

  #referenceTo({ reference }: Place): string[] {
    return reference === undefined ? [] : [referredType(reference, this.side)];
  }

  #claimName(path: readonly string[]): string {
    const suffix = this.side === "input" ? "Input" : "";
    return this.#options.names.claim(
      this.#options.baseName + path.map(pascalCase).join(""),
      suffix,
    );
  }

  #rename(name: string, newName: string, fieldsBefore: number): void {
    const nestedFields = this.#fields.splice(fieldsBefore);
    this.#fields.push(
      ...nestedFields.map((field) => ({ ...field, type: renamed(field.type, name, newName) })),
    );
  }

  #forget(forgotten: ReadonlySet<string>): void {
    for (const [schema, name] of this.#names) {
      if (forgotten.has(name)) this.#names.delete(schema);
    }
  }
}
