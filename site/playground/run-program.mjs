/** How long a program may take until its last statement has run, in milliseconds. */
export const timeLimit = 5000;
/** How long a program may keep its thread busy after that. */
export const silenceLimit = 3000;
const pulse = 500;

/**
 * Runs a program in a worker that has reported `ready`, and ends the worker if the program exceeds
 * a limit. A program that has finished continues to react to timers, buttons and live queries until
 * it is stopped.
 *
 * @param onMessage is called with each message of the worker, and with one of the type `stopped` and
 * a `reason` if the program has exceeded a limit.
 */
export function runProgram(worker, program, onMessage) {
  let unanswered;

  function stop() {
    clearTimeout(limit);
    clearInterval(pings);
    worker.removeEventListener("message", receive);
    worker.terminate();
  }

  function exceed(reason) {
    stop();
    onMessage({ type: "stopped", reason });
  }

  function receive({ data }) {
    if (data.type === "pong") unanswered = undefined;
    else if (data.type === "done") finish(data);
    else onMessage(data);
  }

  let pings;
  function finish(message) {
    clearTimeout(limit);
    pings = setInterval(ping, pulse);
    onMessage(message);
  }

  function ping() {
    if (unanswered === undefined) {
      unanswered = performance.now();
      worker.postMessage({ type: "ping" });
    } else if (performance.now() - unanswered > silenceLimit) {
      exceed(`it kept its thread busy for ${silenceLimit / 1000} seconds`);
    }
  }

  const limit = setTimeout(
    () => exceed(`it had not finished after ${timeLimit / 1000} seconds`),
    timeLimit,
  );
  worker.addEventListener("message", receive);
  worker.postMessage({ type: "run", program });
  return {
    stop,
    press: (button) => worker.postMessage({ type: "press", button }),
  };
}
