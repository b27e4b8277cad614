import type { CompiledModel } from "../model/compiled-model.js";
import { isPlainObject } from "../model/is-plain-object.js";
import { copyInput } from "../model/rows/copy-of-data.js";
import type { DatabaseCall, Middleware } from "../state/context/database-call.js";
import type { TableContext } from "../state/context/table-context.js";

/** Returns one function that calls middleware in order: the first is the outermost. */
export function composed(list: readonly Middleware[]): Middleware | undefined {
  const [first, ...others] = list;
  if (first === undefined) return undefined;
  const rest = composed(others);
  if (rest === undefined) return first;
  return (call, next) => first(call, () => rest(call, next));
}

/**
 * Makes a call through the middleware of the database. Without middleware, it is made directly.
 *
 * @param make makes the call with the argument, which middleware may have delayed.
 */
export async function callThrough<T>(
  { model, settings, transaction, snapshot }: TableContext,
  call: Pick<DatabaseCall, "operation" | "args" | "result">,
  make: (args: unknown) => Promise<T>,
): Promise<T> {
  const { middleware } = settings;
  if (middleware === undefined) return await make(call.args);
  const { operation, result } = call;
  // A write copies its data when it begins, which middleware may delay.
  const args = withCopiedData(model, call.args);
  const isInTransaction = transaction !== undefined || snapshot !== undefined;
  const reported = { model: model.name, operation, args, isInTransaction, result };
  // The type of the method is that of the call. Middleware that returns something else is at fault.
  return (await middleware(reported, () => make(args))) as T;
}

function withCopiedData(model: CompiledModel, args: unknown): unknown {
  if (!isPlainObject(args)) return args;
  const copy: Record<string, unknown> = { ...args };
  for (const name of ["data", "create", "update"]) {
    const data = copy[name];
    if (Array.isArray(data)) copy[name] = data.map((row) => copyInput(model, row));
    else if (data !== undefined) copy[name] = copyInput(model, data);
  }
  return copy;
}
