import { countText, type Progress, sizeText } from '@patchbay/workspace/sync';

const BAR_WIDTH = 24;
const BAR_EVERY_MS = 100;
const LINE_EVERY_MS = 5_000;

/** A bar on a terminal; elsewhere a plain line every few seconds, and none for short work. */
export class StreamProgress implements Progress {
  private total = { what: '', files: 0, bytes: 0 };
  private done = { files: 0, bytes: 0 };
  private shownAt = 0;
  private hasBar = false;

  constructor(
    private readonly stream: NodeJS.WriteStream,
    private readonly now: () => number = Date.now,
  ) {}

  begin(what: string, files: number, bytes: number): void {
    this.total = { what, files, bytes };
    this.done = { files: 0, bytes: 0 };
    this.shownAt = this.now();
  }

  advance(files: number, bytes: number): void {
    this.done = { files: this.done.files + files, bytes: this.done.bytes + bytes };
    if (this.now() - this.shownAt < (this.stream.isTTY ? BAR_EVERY_MS : LINE_EVERY_MS)) return;
    this.shownAt = this.now();
    this.show();
  }

  end(): void {
    if (this.hasBar) this.stream.write('\r\u001b[K');
    this.hasBar = false;
  }

  private show(): void {
    const { what, files, bytes } = this.total;
    const share = bytes > 0 ? Math.min(1, this.done.bytes / bytes) : 1;
    const text = `${what} ${countText(this.done.files)} of ${countText(files)} files, ${sizeText(this.done.bytes)} of ${sizeText(bytes)}`;
    if (!this.stream.isTTY) return void this.stream.write(`${text}\n`);
    const filled = Math.round(share * BAR_WIDTH);
    const bar = `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
    const percent = `${Math.floor(share * 100)}%`.padStart(4);
    this.stream.write(`\r${bar} ${percent}  ${text}`.slice(0, this.stream.columns || 80) + '\u001b[K');
    this.hasBar = true;
  }
}
