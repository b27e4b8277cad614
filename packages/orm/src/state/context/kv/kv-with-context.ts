import {
  decodeValue,
  encodeValue,
  type Kv,
  type KvConsumerHandler,
  type KvDelivery,
} from "@keywright/core";
import { failureReason } from "../../../errors/failure-reason.js";
import { InvalidArgumentError } from "../../../errors/query-errors.js";
import { kvWith } from "./kv-with.js";

/**
 * Returns the same database, whose commits carry a context. A database without a log, such as Deno
 * KV, does not keep it.
 *
 * @throws {InvalidArgumentError} if the value cannot be stored. The error names no model.
 */
export function kvWithContext(kv: Kv, context: unknown): Kv {
  const copy = copyOf(context);
  const atomic = () => {
    const operation = kv.atomic();
    return operation.context?.(copy) ?? operation;
  };
  const { pages, openView, openPast, consume } = kv;
  const said = (delivery: KvDelivery): KvDelivery => ({
    ...delivery,
    atomic: () => {
      const operation = delivery.atomic();
      return operation.context?.(copy) ?? operation;
    },
  });
  return {
    ...kvWith(kv, { atomic }),
    ...(pages && { pages }),
    ...(openView && { openView: (options) => openView.call(kv, options) }),
    ...(consume && {
      consume: (name, handler: KvConsumerHandler<never>, options) =>
        consume.call(
          kv,
          name,
          (delivery) => handler(said(delivery) as KvDelivery<never>),
          options as object,
        ),
    }),
    ...(openPast && { openPast: (moment, options) => openPast.call(kv, moment, options) }),
  };
}

function copyOf(context: unknown): unknown {
  try {
    return decodeValue(encodeValue(context));
  } catch (error) {
    const reason = `the log cannot store it: ${failureReason(error)}`;
    throw new InvalidArgumentError("", "context", reason, "withContext");
  }
}
