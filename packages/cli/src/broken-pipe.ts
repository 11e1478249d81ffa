/**
 * Lets a command go on whose reader has gone, such as `head`: what it prints from then on is lost, what it does is not.
 * A command that only prints looks at `stdout.destroyed`.
 */
export function surviveBrokenPipes(streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    });
  }
}
