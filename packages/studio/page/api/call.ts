import type { StudioCalls } from "../../src/protocol/studio-calls.js";
import type { StudioError } from "../../src/protocol/studio-error.js";
import { decode, encode } from "../../src/protocol/wire.js";
import { CallError, plainError } from "./call-error.js";

/**
 * Calls the server.
 *
 * @throws {CallError} if the answer is an error, or if there is none.
 */
export async function call<Name extends keyof StudioCalls>(
  name: Name,
  input: StudioCalls[Name]["input"],
): Promise<StudioCalls[Name]["output"]> {
  const response = await fetch(`/api/${name}`, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: encode(input),
  }).catch(() => {
    throw new CallError(plainError("The studio does not answer. Its process may have ended."));
  });
  const text = await response.text();
  if (response.status === 200) return decode(text);
  const isReason = text !== "" && text.length < 200 && response.status !== 500;
  const reason = isReason ? text : `The studio answers ${response.status}.`;
  throw new CallError(errorIn(text) ?? plainError(reason));
}

/** The answer may come from something between, which knows no studio errors. */
function errorIn(text: string): StudioError | null {
  try {
    const error = decode<Partial<StudioError> | null>(text);
    if (typeof error?.message !== "string") return null;
    const { code = null, message, issues = [], damagedKey = null, owner = null } = error;
    return { code, message, issues, damagedKey, owner };
  } catch {
    return null;
  }
}
