import { relative, sep } from "node:path";
import { styleText } from "node:util";
import type { Command } from "commander";
import { escapeData } from "../../inspect/entries/escape-controls.js";
import type { ExitCode } from "./process/exit-codes.js";

/** The streams of a command and the folder in which it runs. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** The absolute path of the folder. Paths on the command line are relative to it. */
  readonly folder: string;
  readonly enter: (folder: string) => void;
  /** True if the command line has `--json`. Then standard output is for JSON only. */
  readonly isJson?: boolean;
}

/** Creates a command of the program. The command passes its exit code to `exit`. */
export type MakeCommand = (terminal: Terminal, exit: (code: ExitCode) => void) => Command;

/** True if the user can be asked. */
export function isInteractive({ stdin, stdout, isJson }: Terminal): boolean {
  return stdin.isTTY === true && stdout.isTTY === true && isJson !== true;
}

type Style = Parameters<typeof styleText>[0];

export function styled(stream: NodeJS.WriteStream, style: Style, text: string): string {
  return hasColors(stream) ? styleText(style, text, { validateStream: false }) : text;
}

/** True if a stream supports styles and the environment does not turn them off. */
export function hasColors(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, TERM } = process.env;
  return stream.isTTY === true && !NO_COLOR && TERM !== "dumb";
}

/** Returns a path for display: relative to the command's folder if it is inside that folder. */
export function shownPath({ folder }: Terminal, path: string): string {
  const shown = relative(folder, path);
  return escapeData(shown === "" || shown.startsWith(`..${sep}`) ? path : shown);
}

/** Removes the command's folder from the absolute paths in a text. */
export function withShownPaths({ folder }: Terminal, text: string): string {
  const posixFolder = folder.replaceAll("\\", "/");
  return text.replaceAll(folder + sep, "").replaceAll(`${posixFolder}/`, "");
}
