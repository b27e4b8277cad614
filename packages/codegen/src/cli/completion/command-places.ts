import type { Command, Option } from "commander";

/** The words that can follow a word: any, a path, or one of a list. */
export type Values = "any" | "path" | readonly string[];

export interface OptionPlace {
  readonly names: readonly string[];
  readonly description: string;
  /** The values that the option accepts. Undefined if it has no value. */
  readonly values: Values | undefined;
}

export interface CommandPlace {
  /** The words that lead to the command, such as `migrate plan`. Empty for the program itself. */
  readonly at: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionPlace[];
  /** The values of the arguments. Undefined if the command has none. */
  readonly values: Values | undefined;
}

export function commandPlaces(program: Command): CommandPlace[] {
  return placesIn(program, [], undefined);
}

function placesIn(
  command: Command,
  words: readonly string[],
  parent: Command | undefined,
): CommandPlace[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const place: CommandPlace = {
    at: words.join(" "),
    commands: subcommands.map((each) => ({ name: each.name(), description: each.description() })),
    options: help.visibleOptions(command).map(optionPlace),
    values: argumentValues(command, parent),
  };
  return [
    place,
    ...subcommands.flatMap((each) => placesIn(each, [...words, each.name()], command)),
  ];
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
