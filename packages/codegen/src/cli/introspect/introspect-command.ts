import { resolve } from "node:path";
import { Command } from "commander";
import { escapeData } from "../../inspect/entries/escape-controls.js";
import { inferModels } from "../../introspect/infer-models.js";
import type { Inference } from "../../introspect/inferred-model.js";
import { modelsSource } from "../../introspect/models-source.js";
import { scanPlaces } from "../../introspect/scan-places.js";
import { writeNewFile } from "../../migration-source/write-new-file.js";
import { withoutNewDatabases } from "../../project/config/without-new-databases.js";
import { configFor, openPlace } from "../copy/open-place.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { shownPath, type Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { keyCount } from "../terminal/text/key-count.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";

const help = helpText(`
Reads all entries of a database, and writes a file with models and indexes that fit them: the layout
of Deno KV's guide to secondary indexes, and those of kvdex and pentagon, for which it also writes
the layouts that keywright adopt needs. If an index lacks some rows, these rows are read again to
find the condition of the index. Comments in the file say from how many entries each definition was
inferred, and which entries were not recognized. Check the file before you use it.

The database is named as in keywright copy: by a path, a URL or a setting. The default is database.
An existing file is not replaced. The database is only read.

Examples:
  $ keywright introspect                                    write introspected.ts
  $ keywright introspect kv.sqlite --out src/models/old.ts  read a file of Deno KV

Exit codes: 0 written; 1 failed, or no model was found; 2 wrong usage.`);

interface IntrospectOptions extends ResultOptions {
  readonly out: string;
}

export function introspectCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("introspect")
      .description("write models that fit the data of a database")
      .argument("[database]", "a path, a URL or a setting; the default is database")
      .option("--out <file>", "the file to write", "introspected.ts"),
  )
    .addHelpText("after", help)
    .action(async (place: string | undefined, { out, config, json }: IntrospectOptions) => {
      const inference = await infer(terminal, place, config);
      const { models, entries } = inference;
      const path = resolve(terminal.folder, out);
      if (models.length > 0) await writeNewFile(path, await modelsSource(inference));
      if (json) {
        writeJson(terminal, {
          path: models.length > 0 ? path : null,
          entries,
          models: models.map(({ name, layout, rows, indexes }) => ({
            name,
            layout,
            rows: rows.count,
            indexes: indexes.map((index) => index.name),
          })),
          notRecognized: inference.others.reduce((sum, { count }) => sum + count, 0),
        });
      } else writeText(terminal.stdout, resultText(terminal, inference, path));
      exit(models.length > 0 ? exitCodes.done : exitCodes.failed);
    });
}

async function infer(
  terminal: Terminal,
  place: string | undefined,
  configFile: string | undefined,
): Promise<Inference> {
  const config = await configFor(terminal.folder, configFile, [place]);
  const kv = await withoutNewDatabases(() =>
    openPlace(terminal.folder, config, place ?? "database"),
  );
  const count = keyCount(terminal, "entries read", false);
  try {
    return await inferModels(kv, await scanPlaces(kv, count.update));
  } finally {
    count.stop();
    await kv.close();
  }
}

function resultText(
  terminal: Terminal,
  { models, others, entries }: Inference,
  path: string,
): string {
  if (models.length === 0) {
    return `Nothing was written: no models were found in ${counted(entries, "entry", "entries")}.`;
  }
  const lines = models.map(({ name, rows, indexes }) => {
    return `  ${escapeData(name)}  ${counted(rows.count, "row")}, ${counted(indexes.length, "index", "indexes")}`;
  });
  const rest = others.reduce((sum, { count }) => sum + count, 0);
  const notRecognized = `  ${counted(rest, "entry was", "entries were")} not recognized; the file lists them`;
  return [
    `${shownPath(terminal, path)} was written from ${counted(entries, "entry", "entries")}:`,
    ...lines,
    ...(rest > 0 ? [notRecognized] : []),
    "Check the definitions before you use them.",
  ].join("\n");
}
