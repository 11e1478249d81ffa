/**
 * Keeps a command alive after its reader, such as `head`, has closed the pipe: further output is lost, the work is
 * finished. A command that only prints checks `stdout.destroyed`.
 */
export function surviveBrokenPipes(streams: readonly NodeJS.WriteStream[]): void {
  for (const stream of streams) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    });
  }
}
