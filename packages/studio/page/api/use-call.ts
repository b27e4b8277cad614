import { useCallback, useEffect, useState } from "preact/hooks";
import type { StudioCalls } from "../../src/protocol/studio-calls.js";
import type { StudioError } from "../../src/protocol/studio-error.js";
import { encode } from "../../src/protocol/wire.js";
import { call } from "./call.js";
import { errorDetails } from "./call-error.js";

export interface Called<Output> {
  /** Null until the first answer. The last answer if the call fails or while it is awaited. */
  readonly data: Output | null;
  readonly error: StudioError | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** Calls the server when the view is shown and whenever the input changes. */
export function useCall<Name extends keyof StudioCalls>(
  name: Name,
  input: StudioCalls[Name]["input"],
): Called<StudioCalls[Name]["output"]> {
  type Output = StudioCalls[Name]["output"];
  const [state, setState] = useState<Omit<Called<Output>, "reload">>({
    data: null,
    error: null,
    isLoading: true,
  });
  const [attempt, setAttempt] = useState(0);
  const body = encode(input);

  // `body` stands for the input.
  useEffect(() => {
    let isCurrent = true;
    setState((last) => ({ ...last, isLoading: true }));
    call(name, input).then(
      (data) => isCurrent && setState({ data, error: null, isLoading: false }),
      (error) => {
        if (!isCurrent) return;
        setState((last) => ({ ...last, error: errorDetails(error), isLoading: false }));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [name, body, attempt]);

  const reload = useCallback(() => setAttempt((last) => last + 1), []);
  return { ...state, reload };
}
