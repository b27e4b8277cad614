// A web worker that runs one program. The page ends the worker to stop the program.
import { compile } from "./compile.mjs";
import { failureOf } from "./failure-of.mjs";
import { modulesOf } from "./modules.mjs";
import { storedEntries } from "./stored-entries.mjs";
import { textOfCall } from "./text-of.mjs";

const mostLines = 500;
const mostRows = 50;
const mostFailures = 20;
// So that a stack contains the line of the program below the calls of Keywright.
Error.stackTraceLimit = 50;

const places = new Map();
const buttons = [];
/** For each database: a function that shows its entries. */
const shown = [];
let views = 0;
let lines = 0;
let failures = 0;

const send = (type, message) => postMessage({ type, ...message });

function fail(error) {
  failures += 1;
  if (failures <= mostFailures) send("failure", { failure: failureOf(error) });
}

function print(...values) {
  lines += 1;
  if (lines <= mostLines) send("line", { text: textOfCall(values) });
  else if (lines === mostLines + 1)
    send("line", { text: `… The page shows the first ${mostLines} lines.` });
}
const console = Object.fromEntries(
  ["log", "info", "debug", "warn", "error", "table", "dir"].map((name) => [name, print]),
);

/** The module "playground" of programs. */
const playground = {
  show(title, query) {
    const view = views++;
    send("view", { view, title, ...tableOf([]) });
    follow(query, (report) => send("view", { view, title, ...tableOf(report) })).catch(fail);
  },
  button(label, action) {
    send("button", { button: buttons.push(action) - 1, label });
  },
};

/** Calls a function with each report of a stream. Not `for await`, which Safari lacks here. */
async function follow(stream, onReport) {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    await onReport(value);
  }
}

/** The report of a live query as columns and cells: rows, one row, or the page of a search. */
function tableOf(report) {
  const rows = [report?.items ?? report ?? []].flat().map((item) => item?.row ?? item);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows
    .slice(0, mostRows)
    .map((row) => columns.map((column) => textOfCall([row[column]])));
  return { columns, cells, left: rows.length - cells.length };
}

/** Shows the entries of a database, again after each change of it, and before it is closed. */
function showEntries(kv) {
  const database = shown.length;
  let isOpen = true;
  const report = async () => {
    if (isOpen) send("entries", { database, ...(await storedEntries(kv, places)) });
  };
  // One report at a time, so that none overtakes another.
  let last = Promise.resolve();
  const reportNext = () => {
    last = last.then(report);
    return last;
  };
  const close = kv.close.bind(kv);
  kv.close = async () => {
    await reportNext();
    isOpen = false;
    await last;
    await close();
  };
  shown.push(reportNext);
  follow(kv.watchRange([{ prefix: [] }]), reportNext).catch(fail);
}

async function run(program) {
  const started = performance.now();
  try {
    const body = compile(program);
    await body(modulesOf({ onOpen: showEntries, places, playground }), {}, console);
  } catch (error) {
    fail(error);
  }
  const milliseconds = performance.now() - started;
  await Promise.all(shown.map((reportNext) => reportNext())).catch(fail);
  send("done", { milliseconds });
}

async function press(button) {
  try {
    await buttons[button]();
  } catch (error) {
    fail(error);
  }
}

addEventListener("message", ({ data }) => {
  if (data.type === "run") void run(data.program);
  else if (data.type === "press") void press(data.button);
  else send("pong");
});
addEventListener("error", (event) => {
  event.preventDefault();
  fail(event.error);
});
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  fail(event.reason);
});
send("ready");
