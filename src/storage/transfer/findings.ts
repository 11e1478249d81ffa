/** The kinds of findings: message and remedy. A fault does not disappear by itself. */
const KINDS = {
  structure: { isFault: true, what: 'The database is damaged', mend: 'Restore a backup.' },
  declared: {
    isFault: true,
    what: 'Missing, or different from what this release declares',
    mend: 'Run the command that is shown with each, while no server runs.',
  },
  unreadable: { isFault: true, what: 'Cannot be read', mend: 'Restore a backup.' },
  gap: { isFault: true, what: 'Audit events are missing from a trail', mend: 'Restore a backup.' },
  double: { isFault: true, what: 'Audit events have the same number', mend: 'Restore a backup.' },
  bytes: { isFault: true, what: 'Bytes do not match their hash', mend: 'Restore a backup.' },
  missing: { isFault: true, what: 'A record is missing that others refer to', mend: 'Restore a backup.' },
  counts: {
    isFault: true,
    what: 'The usage count of a workspace or member is wrong',
    mend: 'Run patchbay-admin check --repair.',
  },
  recounted: { isFault: false, what: 'A usage count was wrong', mend: 'It has been corrected.' },
  waiting: {
    isFault: false,
    what: 'Audit events are not in their trail yet',
    mend: 'A running server adds them within a minute of its start.',
  },
  orphans: {
    isFault: false,
    what: 'Data that nothing refers to',
    mend: 'A running server removes it within a day.',
  },
} as const;

export type FindingKind = keyof typeof KINDS;

/** Examples per kind; further findings are only counted. */
const EXAMPLES = 3;

/** The findings of a check, bounded in size. */
export class Findings {
  private readonly findings = new Map<FindingKind, { count: number; examples: string[] }>();

  /** @param example names one finding. */
  add(kind: FindingKind, example: string): void {
    const { count, examples } = this.findings.get(kind) ?? { count: 0, examples: [] };
    const shown = examples.length < EXAMPLES ? [...examples, example] : examples;
    this.findings.set(kind, { count: count + 1, examples: shown });
  }

  get hasUnreadable(): boolean {
    return this.findings.has('unreadable');
  }

  get hasFaults(): boolean {
    return [...this.findings.keys()].some((kind) => KINDS[kind].isFault);
  }

  /** A paragraph per kind; "" without findings. */
  toString(): string {
    return [...this.findings]
      .map(([kind, { count, examples }]) => {
        const { what: message, mend: remedy } = KINDS[kind];
        const more = count > examples.length ? `\n  … and ${count - examples.length} more` : '';
        return `${message} (${count}). ${remedy}\n${examples.map((text) => `  ${text}`).join('\n')}${more}`;
      })
      .join('\n');
  }
}
