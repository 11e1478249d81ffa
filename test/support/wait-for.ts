/** Looks again after so long, in ms, and each time longer: what is there at once is seen at once, what takes long costs little. */
const PAUSES = { first: 4, longest: 50 };

/** Resolves once the condition holds; fails, and says what was waited for, after `timeoutMs`. */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 10_000,
): Promise<void> {
  const end = Date.now() + timeoutMs;
  for (let pauseMs = PAUSES.first; !(await condition()); pauseMs = Math.min(1.5 * pauseMs, PAUSES.longest)) {
    if (Date.now() > end) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
