const shortest = 20;
const longest = 500;

/** Returns a random delay before the attempt after `attempt`, from 0, in milliseconds. */
export function retryDelay(attempt: number): number {
  return Math.min(shortest * 2 ** attempt, longest) * (0.5 + Math.random() / 2);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
