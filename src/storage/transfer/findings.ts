/** What a check can find: what is said of it, and what mends it. A fault does not go away by itself. */
const KINDS = {
  structure: { isFault: true, what: 'The database is damaged', mend: 'Restore a backup.' },
  declared: {
    isFault: true,
    what: 'Not there as this Patchbay declares it',
    mend: 'Do what stands behind each of them, while no server runs.',
  },
  unreadable: { isFault: true, what: 'Can not be read', mend: 'Restore a backup.' },
  gap: { isFault: true, what: 'Audit events are missing from a trail', mend: 'Restore a backup.' },
  double: { isFault: true, what: 'Audit events have a number twice', mend: 'Restore a backup.' },
  bytes: { isFault: true, what: 'Bytes are not those of their hash', mend: 'Restore a backup.' },
  missing: { isFault: true, what: 'Something is gone that others refer to', mend: 'Restore a backup.' },
  counts: {
    isFault: true,
    what: 'Usage is counted wrong, in all or of a member',
    mend: 'patchbay-admin check --repair counts it again.',
  },
  recounted: { isFault: false, what: 'Usage was counted wrong', mend: 'It is set to what is there now.' },
  waiting: {
    isFault: false,
    what: 'Audit events wait to come into their trail',
    mend: 'A server that runs brings them there, within a minute of its start.',
  },
  orphans: {
    isFault: false,
    what: 'Nothing refers to something',
    mend: 'A server that runs removes it, within a day.',
  },
} as const;

export type FindingKind = keyof typeof KINDS;

/** So many of a kind are named; the others are counted. */
const EXAMPLES = 3;

/** What a check has found so far: bounded, however much that is. */
export class Findings {
  private readonly found = new Map<FindingKind, { count: number; examples: string[] }>();

  /** @param example names one, for whoever is to look at it. */
  add(kind: FindingKind, example: string): void {
    const { count, examples } = this.found.get(kind) ?? { count: 0, examples: [] };
    const kept = examples.length < EXAMPLES ? [...examples, example] : examples;
    this.found.set(kind, { count: count + 1, examples: kept });
  }

  get hasUnreadable(): boolean {
    return this.found.has('unreadable');
  }

  get hasFaults(): boolean {
    return [...this.found.keys()].some((kind) => KINDS[kind].isFault);
  }

  /** A paragraph for each kind; "" where nothing was found. */
  toString(): string {
    return [...this.found]
      .map(([kind, { count, examples }]) => {
        const { what, mend } = KINDS[kind];
        const more = count > examples.length ? `\n  … and ${count - examples.length} more` : '';
        return `${what} (${count}). ${mend}\n${examples.map((one) => `  ${one}`).join('\n')}${more}`;
      })
      .join('\n');
  }
}
