/** The page names a model that the program does not have. */
export class PropertyError extends Error {
  constructor(property: string) {
    super(`The program has no model ${property}. Reload the page.`);
  }
}

/** The studio was started to show only. */
export class ReadOnlyStudioError extends Error {
  constructor() {
    super("The studio was started with --read-only. Start it without to change something.");
  }
}

/** Only one migration or verification runs at a time. */
export class JobRunningError extends Error {
  constructor() {
    super("A migration or a verification already runs. Wait for it, or stop it.");
  }
}
