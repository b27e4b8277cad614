import type { Command, Option } from "commander";

/** What can stand behind a word: anything, a path, or one of these. */
export type Values = "any" | "path" | readonly string[];

export interface OptionPlace {
  /** `-y`, `--yes`. */
  readonly names: readonly string[];
  readonly description: string;
  /** What it takes; undefined where it takes nothing. */
  readonly values: Values | undefined;
}

/** A command, as far as completion goes. */
export interface CommandPlace {
  /** The words that lead there, `migrate plan`; empty for the program itself. */
  readonly at: string;
  /** The commands within it. */
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionPlace[];
  /** What its arguments are; undefined where it takes none. */
  readonly values: Values | undefined;
}

/** A program and all commands in it. */
export function commandPlaces(program: Command): CommandPlace[] {
  return placesIn(program, [], undefined);
}

function placesIn(
  command: Command,
  words: readonly string[],
  parent: Command | undefined,
): CommandPlace[] {
  const help = command.createHelp();
  const within = help.visibleCommands(command);
  const place: CommandPlace = {
    at: words.join(" "),
    commands: within.map((each) => ({ name: each.name(), description: each.description() })),
    options: help.visibleOptions(command).map(optionPlace),
    values: argumentValues(command, parent),
  };
  return [place, ...within.flatMap((each) => placesIn(each, [...words, each.name()], command))];
}

function optionPlace(option: Option): OptionPlace {
  const { short, long, description, flags, argChoices } = option;
  const takesValue = option.required || option.optional;
  return {
    names: [short, long].filter((name) => name !== undefined),
    description,
    values: takesValue ? valuesOf(flags, argChoices) : undefined,
  };
}

function argumentValues(command: Command, parent: Command | undefined): Values | undefined {
  const [first] = command.registeredArguments;
  if (first === undefined) return undefined;
  if (command.name() === "help") return parent?.commands.map((each) => each.name());
  return valuesOf(`<${first.name()}>`, first.argChoices);
}

function valuesOf(shown: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined) return choices;
  return /[<[](path|file|folder)[\]>]/.test(shown) ? "path" : "any";
}
