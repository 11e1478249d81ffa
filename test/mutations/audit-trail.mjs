// I4, I7: the trail has every committed transition once, without gaps, in order, and replays to the states.

/** @type {import('./fault.js').Fault[]} */
export const FAULTS = [
  {
    name: 'a written turn has no audit events',
    file: 'src/storage/sqlite/turns.store.ts',
    find: '    this.trail.append(workspace, events);\n',
    replace: '',
    specs: ['test/contract/turn-writes.spec.ts'],
  },
  {
    name: 'a search misses what is not projected yet',
    file: 'src/storage/sqlite/trail-projection.ts',
    find: '    if (!this.firstSeqs.has(workspace)) this.firstSeqs.set(workspace, seq);\n',
    replace: '',
    specs: ['src/storage/sqlite/trail-projection.spec.ts'],
  },
  {
    name: 'the projection forgets what came while it worked',
    file: 'src/storage/sqlite/trail-projection.ts',
    find: '    if (this.cursor < this.newestRow) return;\n',
    replace: '',
    specs: ['src/storage/sqlite/trail-projection.spec.ts'],
  },
  {
    name: 'the projection goes on behind a row that was taken back',
    file: 'src/storage/sqlite/trail-projection.ts',
    find: '      if (rows.length === 0) return;\n',
    replace: '      if (rows.length === 0) {\n        this.cursor = end;\n        return;\n      }\n',
    specs: ['src/storage/sqlite/trail-projection.spec.ts'],
  },
  {
    name: 'a sequence number that was rolled back is not given again',
    file: 'src/storage/sqlite/trail-log.ts',
    find: 'for (const [workspace, seq] of this.before) this.lastSeqs.set(workspace, seq);',
    replace: '',
    specs: ['src/storage/sqlite/trail-projection.spec.ts'],
  },
  {
    name: 'a sequence number is skipped',
    file: 'src/storage/sqlite/trail-log.ts',
    find: 'this.lastSeq(workspace) + 1, events)',
    replace: 'this.lastSeq(workspace) + (events.length > 1 ? 2 : 1), events)',
    specs: ['test/contract/turn-writes.spec.ts', 'test/contract/audit.spec.ts'],
  },
  {
    name: 'a repeated file write is audited twice',
    file: 'src/storage/sqlite/files.store.ts',
    find: "if (outcome === 'made') this.trail.append",
    replace: "if (outcome !== 'refused') this.trail.append",
    specs: ['test/contract/files.spec.ts'],
  },
  {
    name: 'a refused file write is audited',
    file: 'src/storage/sqlite/files.store.ts',
    find: "if (outcome === 'made') this.trail.append",
    replace: "if (outcome !== 'made before') this.trail.append",
    specs: ['test/contract/files.spec.ts'],
  },
  {
    name: 'a late result is not audited',
    file: 'src/turns/state/call-reports.ts',
    find: `  if (objection)\n    draft.record(objection.ok ? 'DuplicateResult' : 'LateResult', call, clientId, report.summary);\n  else if`,
    replace: `  if (objection) return draft.answer;\n  else if`,
    specs: ['src/turns/state/turn-state.spec.ts'],
  },
  {
    name: 'the end of a turn is not audited',
    file: 'src/turns/state/turn-draft.ts',
    find: `    if (status !== 'open') events.push(turnEnd(turn, cancelled));\n`,
    replace: '',
    specs: ['src/turns/state/turn-state-several-calls.spec.ts'],
  },
  {
    name: 'a turn that fails at acceptance has no end in the trail',
    file: 'src/turns/engine/turn-builder.ts',
    find: `turn.status === 'open' ? [] : [turnEnd(turn)]`,
    replace: '[]',
    specs: ['test/e2e/audit-turns.spec.ts'],
  },
  {
    name: 'a commit wakes nobody who follows the trail',
    file: 'src/storage/sqlite/trail-log.ts',
    find: '    this.database.noteGrowth(workspace);\n',
    replace: '',
    specs: ['test/contract/change-feed.spec.ts'],
  },
  {
    name: 'a commit during the read of a follower does not wake it',
    file: 'src/events/change-feed.ts',
    find: `    const waiter = this.wait(workspaceId, afterSeq);
    signal.addEventListener('abort', waiter.wake);
    try {
      const events = await this.after(workspaceId, afterSeq, limit);`,
    replace: `    const events = await this.after(workspaceId, afterSeq, limit);
    const waiter = this.wait(workspaceId, afterSeq);
    signal.addEventListener('abort', waiter.wake);
    try {`,
    specs: ['test/contract/change-feed.spec.ts'],
  },
  {
    name: 'an event without a state change is not audited',
    file: 'src/turns/engine/turn-mailbox.ts',
    find: `    if (events.length > 0) await this.store.record(turn.workspaceId, events);\n`,
    replace: '',
    specs: ['test/turns/turn-mailbox.spec.ts', 'test/e2e/turns.spec.ts'],
  },
];
