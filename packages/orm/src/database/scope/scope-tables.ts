import { ScopeError } from "../../errors/scope-error.js";
import { jobModel } from "../../jobs/store/job-model.js";
import type { CompiledModel } from "../../model/compiled-model.js";
import { isPlainObject } from "../../model/is-plain-object.js";
import { keyPartOf } from "../../model/keys/key-parts.js";
import { isScopedBy, type Scope } from "../../state/context/scope.js";
import type { TableContext } from "../../state/context/table-context.js";

/** The tables of a scope. */
export interface ScopedTables {
  /** All tables, with the scope of those that have its fields. */
  readonly tables: ReadonlyMap<string, TableContext>;
  /** The names of the models in the scope. */
  readonly names: readonly string[];
}

/**
 * Returns the tables of a database within a scope. A context passes its scope to every call and to
 * the contexts of other models. So the scope is checked in only two places: one for reads and one
 * for writes. A model without the fields has no scope. Its rows can only be referred to.
 *
 * @throws {ScopeError} if the values are not valid, or if a model with the fields cannot be scoped.
 */
export function scopeTables(
  tables: ReadonlyMap<string, TableContext>,
  values: unknown,
): ScopedTables {
  const scope = scopeOf(values);
  const fields = Object.keys(scope);
  const scoped = new Map<string, TableContext>();
  const names: string[] = [];
  for (const [name, context] of tables) {
    const { model } = context;
    // Jobs are outside of every scope, whatever their fields are called.
    const isIncluded =
      name !== jobModel.name && fields.every((field) => Object.hasOwn(model.schema.shape, field));
    if (!isIncluded) {
      scoped.set(name, { ...context, tables: scoped, isOutside: true });
      continue;
    }
    if (context.isOutside) {
      scoped.set(name, { ...context, tables: scoped });
      continue;
    }
    assertScopable(model, fields);
    names.push(name);
    scoped.set(name, { ...context, tables: scoped, scope: combined(context, scope) });
  }
  if (names.length > 0) return { tables: scoped, names };
  const reason = `no model has ${fields.join(", ")}; name fields that models have`;
  throw new ScopeError("", "scope", reason);
}

function scopeOf(values: unknown): Scope {
  const fail = (reason: string): never => {
    throw new ScopeError("", "scope", reason);
  };
  if (!isPlainObject(values) || Object.keys(values).length === 0)
    return fail("it must be an object of values, such as { tenantId: id }");
  for (const [field, value] of Object.entries(values)) {
    if (keyPartOf(value) === undefined)
      fail(`the value of ${field} must be one that a key can hold, and not null or undefined`);
  }
  return { ...values };
}

function combined({ scope = {}, model }: TableContext, values: Scope): Scope {
  for (const field of Object.keys(values)) {
    if (!Object.hasOwn(scope, field) || Object.is(scope[field], values[field])) continue;
    throw new ScopeError(model.name, `scope.${field}`, "the scope already has another value of it");
  }
  return { ...scope, ...values };
}

/**
 * Refuses two kinds of models: one with a unique index over rows of all scopes, and one that copies
 * a field of the scope. A new row needs the values of the scope before it copies fields.
 */
function assertScopable(model: CompiledModel, fields: readonly string[]): void {
  for (const field of fields) {
    const copied = model.copied.get(field);
    if (copied === undefined) continue;
    const reason = `it copies ${field}, so the model cannot be scoped by it; take it out of copy`;
    throw new ScopeError(model.name, `relations.${copied.relation}`, reason);
  }
  for (const index of model.indexes) {
    if (!index.unique || isScopedBy(index, fields)) continue;
    const key = [...fields, ...index.fields].map((field) => JSON.stringify(field)).join(", ");
    const reason = `its values are unique among all rows, so the model cannot be scoped by ${fields.join(", ")}; declare ${index.name}: { key: [${key}], unique: true }`;
    throw new ScopeError(model.name, `indexes.${index.name}`, reason);
  }
}
