import { addOperation } from "../../errors/orm-error.js";
import { InvalidArgumentError } from "../../errors/query-errors.js";
import type { AnyQuery } from "../../state/context/any-query.js";
import { CallReport } from "../../state/context/call-report.js";
import { ReadMeter } from "../../state/context/read-meter.js";
import { type ReadView, viewOf, withReadView } from "../../state/context/read-view.js";
import type { TableContext } from "../../state/context/table-context.js";

/**
 * Reads the state of a live query. `maxReads` applies to each such read, and `onQuery` is called
 * for each.
 */
export async function measuredRead<T>(
  context: TableContext,
  query: AnyQuery,
  read: (view: ReadView, meter: ReadMeter) => Promise<T>,
): Promise<T> {
  const { model, settings } = context;
  const meter = new ReadMeter(model.name, query.maxReads ?? settings.maxReads);
  const { onQuery } = settings;
  const report = onQuery && new CallReport(model.name, "watch", onQuery);
  try {
    // The catalog may have changed between its last read and the beginning of the watch.
    await viewOf(context).reload();
    return await withReadView(context, [], (view) => read(view, meter));
  } catch (error) {
    addOperation(error, "watch");
    if (report !== undefined) report.error = error;
    throw error;
  } finally {
    report?.end(meter);
  }
}

/** @throws {InvalidArgumentError} within a transaction, whose state other clients do not see. */
export function beginWatch<T>({ model, transaction }: TableContext, begin: () => T): T {
  try {
    if (transaction !== undefined) {
      const reason = "a transaction has no live queries; call watch on the database";
      throw new InvalidArgumentError(model.name, "watch", reason);
    }
    return begin();
  } catch (error) {
    addOperation(error, "watch");
    throw error;
  }
}
